"""The reader is total: any bytes give a typed result, quickly, and run nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.skills.frontmatter import MAX_BYTES as MAX_HEAD_BYTES
from workbench.skills.frontmatter import MAX_NESTING, read_frontmatter
from workbench.skills.reader import MAX_BYTES, STATUSES, first_paragraph, read_skill

WILD = Path(__file__).resolve().parents[2] / "data" / "skills" / "wild"
FENCES_AND_BREAKS = ["---\n", "\n", "\r\n", "\r", "...\n", "%YAML 9.9\n", "<<<<<<< a\n"]
YAML = [
    "name: ",
    "description: ",
    "a: ",
    ": ",
    "metadata:\n",
    "  - ",
    "- ",
    "? ",
    "# x\n",
    "\t",
    "|\n  ",
    ">\n ",
]
MACHINERY = ["[", "]", "{", "}", "'", '"', "&a ", "*a ", "<<: ", "!!python/name:x "]
CHARACTERS = ["\x00", "\x85", "\u2028", "\ufeff", "é", "\\ud800", "x" * 70]
PIECES = st.sampled_from([*FENCES_AND_BREAKS, *YAML, *MACHINERY, *CHARACTERS])


def assert_typed(data: bytes) -> None:
    start = time.process_time()
    result = read_skill(data, "folder")
    assert time.process_time() - start < 1
    assert result.status in STATUSES
    assert (result.problem is None) == bool(result.name)
    for text in (result.name, result.description, result.body):
        text.encode("utf-8")


@given(st.binary(max_size=400))
def test_any_bytes_give_a_typed_result(data: bytes) -> None:
    assert_typed(data)


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=300)
def test_any_mixture_of_yaml_and_markdown_gives_a_typed_result(text: str) -> None:
    assert_typed(text.encode("utf-8"))
    assert_typed(f"---\n{text}\n---\nbody".encode())


BOMBS = {
    "brackets": "name: " + "[" * 60_000,
    "open maps": "a: " + "{a: " * 15_000,
    "questions": "? " * 30_000,
    "dashes": "- " * 30_000,
    "flow keys": "a: " + "[x]: " * 12_000,
    "short keys": "\n".join(f"k{n}:" for n in range(9_000)),
    "broken keys": "\n".join(f"k{n}: a: b" for n in range(5_000)),
    "escapes": 'name: "' + "\\n" * 30_000,
    "folded lines": "name:\n" + "  b\n" * 15_000,
    "quotes": "name: " + "'" * 60_000,
    "comments": "#\n" * 30_000,
    "anchors": "\n".join(f"k{n}: &a{n} [*a{max(n - 1, 0)}]" for n in range(2_000)),
    "big escape": 'name: "\\UFFFFFFFF"',
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_F05_no_construct_takes_a_second(bomb: str) -> None:
    assert_typed(f"---\n{BOMBS[bomb]}\n---\nbody\n".encode())


def test_F05_a_tag_runs_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    data = f'---\nname: !!python/object/apply:os.system ["touch {marker}"]\n---\n'.encode()
    assert read_skill(data, "x").status == "rejected"
    assert not marker.exists()


def test_nesting_is_allowed_to_its_bound_and_no_further() -> None:
    def nested(depth: int) -> bytes:
        return f"---\nname: x\ndescription: y\nm: {'[' * depth}{']' * depth}\n---\n".encode()

    assert read_skill(nested(MAX_NESTING - 1), "x").status == "accepted"
    assert read_skill(nested(MAX_NESTING), "x").status == "rejected"


def test_the_file_and_its_frontmatter_have_byte_bounds() -> None:
    head = b"---\nname: x\ndescription: y\n---\n"
    fits = head + b"b" * (MAX_BYTES - len(head))
    assert read_skill(fits, "x").status == "accepted"
    over = read_skill(fits + b"b", "x")
    assert over.problem is not None
    assert over.problem.reason == "too_large"
    long = read_skill(f"---\nname: x\nd: {'é' * (MAX_HEAD_BYTES // 2)}\n---\n".encode(), "x")
    assert long.problem is not None
    assert long.problem.reason == "too_large"


def test_lines_are_counted_in_the_file_as_it_is() -> None:
    found = read_skill(b"\xef\xbb\xbf\r\n\r\n---\r\nname: x\r\na: &b c\r\n---\r\n", "x")
    assert found.problem is not None
    assert (found.problem.reason, found.problem.line) == ("too_complex", 5)


def test_the_name_may_be_any_text_for_it_is_no_path() -> None:
    for name in ("../../x", "/tmp/x", "a\\b", "CON", ".", "x" * 300, "☃", "nul\\0inside"):
        quoted = f'"{name}"' if "\\0" in name else f"'{name}'"
        found = read_skill(f"---\nname: {quoted}\ndescription: y\n---\nbody\n".encode(), "x")
        assert found.name == name.replace("\\0", "\0")


def test_a_name_in_another_normal_form_is_the_folders_name() -> None:
    found = read_skill("---\nname: cafe\u0301\ndescription: y\n---\nbody\n".encode(), "caf\u00e9")
    assert found.notes == ()
    assert found.name == "cafe\u0301"


def test_the_first_paragraph_skips_what_is_no_prose() -> None:
    assert first_paragraph("# T\n\n<!-- c -->\n![b](x)\n| a |\n\n> One\n> two.\n\nThree.") == "One two."
    assert first_paragraph("## Only a heading\n\n---\n") == "Only a heading"
    assert first_paragraph("") == ""
    assert len(first_paragraph("word " * 2_000)) == 1_024


def test_a_rule_at_the_top_is_no_frontmatter() -> None:
    assert read_frontmatter("---\nSome words.\n\nMore words.\n") is None
    found = read_skill(b"---\nSome words here.\n\n# Title\n\nMore.\n\n---\n\nEnd.\n", "folder")
    assert (found.name, found.description) == ("folder", "Some words here.")


READ_WITHOUT_LIBYAML = """
import ast, sys, time
sys.modules["yaml._yaml"] = None
from workbench.skills.reader import read_skill
results, slowest = [], 0.0
for text in ast.literal_eval(sys.stdin.read()):
    start = time.process_time()
    results.append(read_skill(text, "folder").status)
    slowest = max(slowest, time.process_time() - start)
print(repr((results, slowest)))
"""


def test_without_libyaml_the_same_files_are_kept_and_the_bounds_hold() -> None:
    wild = [path.read_bytes() for path in sorted(WILD.iterdir())]
    bombs = [f"---\n{bomb}\n---\nbody\n".encode() for bomb in BOMBS.values()]
    run = subprocess.run(
        [sys.executable, "-c", READ_WITHOUT_LIBYAML],
        input=repr(wild + bombs).encode(),
        capture_output=True,
        check=True,
    )
    statuses, slowest = ast.literal_eval(run.stdout.decode())
    assert statuses[: len(wild)] == [read_skill(data, "folder").status for data in wild]
    assert slowest < 1
