"""Dockerfiles are read as the builders read them."""

from __future__ import annotations

import pytest

from workbench.core.errors import ContentError
from workbench.sandboxing.dockerfile import Instruction, assignments, expand, parse


def only(text: str) -> Instruction:
    """The one instruction after FROM."""
    (instruction,) = parse(f"FROM scratch\n{text}").stages[0].instructions
    return instruction


def test_continued_lines_are_joined_and_comments_and_blank_lines_in_them_dropped() -> None:
    run = only("RUN a \\\n  # why\n\n  && b \\\n  && c\n")
    assert (run.keyword, run.text.split(), run.line, run.end) == ("RUN", ["a", "&&", "b", "&&", "c"], 2, 6)


def test_keywords_and_stage_names_ignore_case() -> None:
    read = parse("from a as Build\ncopy x /y\nFROM b\nCOPY --from=BUILD /y /z\n")
    assert [stage.base for stage in read.stages] == ["a", "b"]
    assert read.stages[0].instructions[0].keyword == "COPY"
    assert read.base_images == ("a", "b")


def test_carriage_returns_tabs_and_a_byte_order_mark_do_not_matter() -> None:
    read = parse("\ufeffFROM a\r\nRUN x \\\r\n\t&& y\r\nWORKDIR\t/w\r\n")
    assert [i.keyword for i in read.stages[0].instructions] == ["RUN", "WORKDIR"]
    assert read.stages[0].instructions[1].text == "/w"


def test_the_escape_directive_changes_continuation() -> None:
    run = parse("# escape=`\nFROM a\nRUN dir C:\\ `\n  more\n").stages[0].instructions[0]
    assert run.text.split() == ["dir", "C:\\", "more"]


def test_a_directive_after_an_instruction_is_a_comment() -> None:
    assert parse("FROM a\n# escape=`\nRUN x \\\n y\n").stages[0].instructions[0].text.split() == ["x", "y"]


def test_a_doubled_escape_at_the_end_does_not_continue() -> None:
    assert [i.text for i in parse("FROM a\nRUN x\\\\\nRUN y\n").stages[0].instructions] == ["x\\\\", "y"]


def test_flags_are_taken_off_and_the_json_form_is_read() -> None:
    copy = only('COPY --chown=a:b --from=x ["test - demand.xlsx", "/opt/t x.xlsx"]')
    assert copy.flags == (("chown", "a:b"), ("from", "x"))
    assert copy.words == ("test - demand.xlsx", "/opt/t x.xlsx")


def test_what_only_looks_like_json_is_the_shell_form() -> None:
    assert only("RUN [ -f x ] && y").json is None
    assert only('RUN ["a", 1]').json is None


def test_heredocs_are_read_to_their_delimiter() -> None:
    run, workdir = (
        parse("FROM a\nRUN cat <<'E' > f && \\\n python3 - <<-P\nCOPY x y\nE\n\tprint(1)\n\tP\nWORKDIR /w\n")
        .stages[0]
        .instructions
    )
    assert [(h.name, h.text, h.expands) for h in run.heredocs] == [
        ("E", "COPY x y\n", False),
        ("P", "print(1)\n", True),
    ]
    assert workdir.text == "/w"


def test_a_shift_is_not_a_heredoc() -> None:
    assert only("RUN echo $((1<<2)) && echo '<<EOF'").heredocs == ()


def test_an_open_heredoc_is_an_error_at_its_line() -> None:
    with pytest.raises(ContentError, match=r"Dockerfile:2: heredoc 'EOF' is never closed"):
        parse("FROM a\nRUN <<EOF\nx\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no FROM"),
        ("RUN x\nFROM a", ":1: RUN before the first FROM"),
        ("FROM a\nRNU x", ":2: unknown instruction 'RNU'"),
        ("FROM a b", ":1: FROM takes IMAGE"),
        ("FROM $X", ":1: FROM .*no default"),
    ],
)
def test_what_is_no_dockerfile_is_an_error_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ContentError, match=message):
        parse(text)


def test_base_images_are_those_the_last_stage_needs() -> None:
    read = parse(
        "ARG V=24.04\nFROM golang AS unused\nFROM node AS build\nFROM ubuntu:$V AS base\n"
        "FROM base\nCOPY --from=build /x /x\nCOPY --from=busybox:1 /bin/sh /bin/sh\nCOPY --from=1 /y /y\n"
    )
    assert read.base_images == ("node", "ubuntu:24.04", "busybox:1")
    assert parse("FROM scratch\n").base_images == ()


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("$A/x", "1/x"),
        ("${A}b", "1b"),
        ("${B:-d}", "d"),
        ("${B-d}", ""),
        ("${C-d$A}", "d1"),
        ("${A:+yes}${B:+no}", "yes"),
        ("'$A'", "$A"),
        ('"$A b"', "1 b"),
        ("\\$A", "$A"),
        ("$", "$"),
        ('"a\\b"', "a\\b"),
    ],
)
def test_variables_and_quotes_are_replaced_as_by_the_builders(word: str, value: str) -> None:
    assert expand(word, {"A": "1", "B": ""}) == value


def test_environment_is_read_in_both_forms() -> None:
    assert assignments(only('ENV A=1 B="x y" C=a\\ b')) == [("A", "1"), ("B", '"x y"'), ("C", "a\\ b")]
    assert assignments(only("ENV A x y")) == [("A", "x y")]
    assert assignments(only("ARG A")) == [("A", None)]
