"""The progress line shows in a terminal and is silent when piped."""

from __future__ import annotations

import pytest

from workbench.core.types import silent
from workbench.skills.progress import shown_progress


def test_a_pipe_gets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress() as progress:
        progress("reading skills", 1, None)
    assert progress is silent
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with shown_progress() as progress:
        progress("reading skills", 50, 200)
        progress("fetching part-0", 200, 200)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "fetching part-0" in captured.err
