"""Content errors say file, line, key and the nearest match."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field

from workbench.core.content import Content, load_content
from workbench.core.errors import ContentError


class Part(Content):
    k1: float = Field(default=1.5, gt=0)


class Whole(Content):
    description: str
    parts: list[Part] = []


def load(tmp_path: Path, text: str) -> Whole:
    file = tmp_path / "x.yaml"
    file.write_bytes(text.encode())
    return load_content(file, Whole)


def test_a_good_file_becomes_a_frozen_model(tmp_path: Path) -> None:
    whole = load(tmp_path, "description: d\nparts:\n  - k1: 2\n")
    assert whole.parts[0].k1 == 2
    with pytest.raises(ValueError):
        whole.description = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("description: d\nparts:\n  - k11: 2\n", 3, "parts.0.k11: unknown key; did you mean 'k1'?"),
        ("description: d\nparts:\n  - k1: -2\n", 3, "parts.0.k1: must be above 0 (found -2)"),
        ("descripton: d\n", 1, "unknown key; did you mean 'description'?"),
        ("parts: []\n", None, "description: is required"),
        ("description: [unclosed\n", 2, "not valid YAML"),
        ("description: a\ndescription: b\n", 2, "description: is given twice"),
        ("- a\n", 1, "must be a mapping"),
        ("", None, "must be a mapping"),
    ],
)
def test_a_broken_file_is_one_line_with_file_and_line(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    with pytest.raises(ContentError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert says in message
    assert "\n" not in message
    if line is not None:
        assert message.startswith(f"{tmp_path / 'x.yaml'}:{line}: ")


def test_bytes_that_are_not_utf8_are_named_by_position(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(b"description: caf\xe9")
    with pytest.raises(ContentError, match="is not UTF-8 \\(byte 16\\)"):
        load_content(file, Whole)


def test_python_tags_are_refused_and_nothing_is_executed(tmp_path: Path) -> None:
    with pytest.raises(ContentError):
        load(tmp_path, "description: !!python/object/apply:os.system ['true']\n")
