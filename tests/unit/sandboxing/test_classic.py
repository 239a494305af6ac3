"""What BuildKit added is rewritten where it has an equal, and refused with its line where not."""

from __future__ import annotations

import json

import pytest

from workbench.sandboxing.classic import translate
from workbench.sandboxing.dockerfile import parse


def lines(text: str) -> list[str]:
    return translate(parse(text)).text.splitlines()


def test_a_plain_dockerfile_is_left_as_it_is() -> None:
    text = "# syntax=docker/dockerfile:1\nFROM a\n\nRUN x \\\n  && y\nCOPY skills /s\n"
    made = translate(parse(text))
    assert (made.text, made.notes, made.refusals) == (text, [], [])


def test_a_heredoc_script_becomes_the_argument_of_the_current_shell() -> None:
    made = lines(
        'FROM a\nSHELL ["/bin/bash", "-o", "pipefail", "-c"]\nRUN <<\'EOF\'\nset -e\necho "$x"\nEOF\nUSER b\n'
    )
    assert made[2].startswith("RUN ")
    assert json.loads(made[2][4:]) == ["/bin/bash", "-o", "pipefail", "-c", 'set -e\necho "$x"\n']
    assert made[3] == "USER b"


def test_a_heredoc_beside_a_command_is_left_to_the_shell() -> None:
    made = lines("FROM a\nRUN mkdir x && \\\n cat > x/f <<'E'\nCOPY\nE\n")
    shell, script = json.loads(made[1][4:])[:2], json.loads(made[1][4:])[2]
    assert shell == ["/bin/sh", "-c"]
    assert script.endswith("<<'E'\nCOPY\nE\n")


def test_a_heredoc_with_an_interpreter_is_run_by_it() -> None:
    words = json.loads(lines("FROM a\nRUN <<EOF\n#!/usr/bin/env python3\nprint(1)\nEOF\n")[1][4:])
    assert words[-1] == "#!/usr/bin/env python3\nprint(1)\n"


def test_copied_heredocs_become_files_of_the_context() -> None:
    made = translate(
        parse("FROM a\nENV W=world\nCOPY <<hi.txt <<'raw.txt' /etc/\nit's $W\nhi.txt\n$W\nraw.txt\n")
    )
    assert sorted(made.files.values()) == [b"$W\n", b"it's world\n"]
    copied = made.text.splitlines()[2].split()
    assert copied[0] == "COPY"
    assert set(copied[1:-1]) == set(made.files)
    assert copied[-1] == "/etc/"


def test_cache_mounts_and_link_are_left_out() -> None:
    made = translate(
        parse("FROM a\nRUN --mount=type=cache,target=/c pip install x\nCOPY --link --chown=u a /b\n")
    )
    assert made.text.splitlines()[1:] == ["RUN pip install x", "COPY --chown=u a /b"]
    assert made.refusals == []
    assert made.notes == ["line 2: RUN cache mount left out"]


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        ("RUN --mount=type=secret,id=x cat /run/secrets/x", "line 2: RUN --mount=type=secret,id=x"),
        ("RUN --mount=type=bind,source=.,target=/s make", "--mount=type=bind"),
        ("RUN --network=none x", "RUN --network"),
        ("COPY --chmod=755 a /b", "COPY --chmod"),
        ("ADD --checksum=sha256:0 https://x/y /z", "ADD --checksum"),
    ],
)
def test_what_has_no_equal_is_refused_with_its_line(instruction: str, reason: str) -> None:
    (refusal,) = translate(parse(f"FROM a\n{instruction}\n")).refusals
    assert reason in refusal
    assert refusal.endswith("needs BuildKit")


def test_a_base_is_replaced_in_every_stage_that_starts_from_it() -> None:
    text = "FROM python:3 AS b\nRUN x\nFROM --platform=linux/amd64 python:3\nCOPY --from=b /x /x\n"
    made = translate(parse(text), {"python:3": "ours"}).text.splitlines()
    assert made == ["FROM ours AS b", "RUN x", "FROM ours", "COPY --from=b /x /x"]
