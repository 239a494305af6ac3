"""SKILL.md files with every defect seen in public collections, each as a small file of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from workbench.skills.reader import ReadResult, read_skill

WILD = Path(__file__).resolve().parents[2] / "data" / "skills" / "wild"
DESCRIPTION = "Makes charts. Use when: there is data"


@dataclass(frozen=True)
class Kept:
    """What a file that is kept must read as; the defaults are those of ``plain.md``."""

    repairs: tuple[str, ...] = ()
    name: str = "demo"
    description: str = DESCRIPTION
    body: str = "# Demo\n\nDo it."
    extra: Any = None
    notes: tuple[str, ...] = ()


KEPT = {
    "plain": Kept(),
    "bom": Kept(("bom",)),
    "crlf": Kept(("crlf",)),
    "lone-cr": Kept(("lone_cr",)),
    "leading-blank-lines": Kept(("leading_blank_lines",)),
    "spaces-behind-fences": Kept(),
    "folded": Kept(),
    "literal": Kept(),
    "unquoted-colon": Kept(("unquoted_colon",)),
    "quoted-and-broken": Kept(("broken_value",), extra={"note": '"a" b'}),
    "wrapped": Kept(("broken_value",), description="Makes charts from tables, and more"),
    "flow-map": Kept(extra={"metadata": {"clawdbot": {"emoji": "📈", "requires": {"bins": ["gnuplot"]}}}}),
    "broken-flow-map": Kept(("broken_value",), extra={"metadata": '{"clawdbot":{"emoji":"📈"}'}),
    "list-as-key": Kept(("broken_value",)),
    "brackets": Kept(("broken_value",), extra={"argument-hint": '[date] [reason] - e.g. "today"'}),
    "comma-first": Kept(("broken_value",), description=", it might predict the next word"),
    "merge-markers": Kept(("conflict_markers",), extra={"metadata": {"author": "me"}}),
    "control-character": Kept(("broken_value",), description="Makes \x80charts"),
    "tab-indent": Kept(("broken_value",)),
    "duplicate-key": Kept(("duplicate_key",)),
    "unknown-keys": Kept(extra={"version": "1.2.0", "triggers": ["chart", "plot"], "author": "me"}),
    "many-shapes": Kept(
        extra={
            "allowed-tools": ["Read", "Bash"],
            "metadata": {"version": "1.0", "beta": "true", "since": "2024-01-01"},
        }
    ),
    "scalars-as-written": Kept(name="123", description="yes"),
    "list-description": Kept(("not_text",), description="Makes charts, and tables"),
    "dashes-inside": Kept(
        description="Makes charts --- fast", body="# Demo\n\n---\n\nname: other\n\n---", extra={}
    ),
    "no-frontmatter": Kept(
        ("missing_frontmatter",),
        name="folder",
        description="Makes charts from tables.",
        body="# Chart maker\n\n![badge](x.svg)\n\nMakes charts\nfrom tables.\n\n## Use\n\nRun it.",
    ),
    "prose-only": Kept(
        ("missing_frontmatter",),
        name="folder",
        description="Makes charts from tables.",
        body="Makes charts from tables.",
    ),
    "heading-first": Kept(
        ("text_before_frontmatter",), body="<!-- https://example.org -->\n# Demo\n\n\nDo it."
    ),
    "no-opening-fence": Kept(("missing_opening_fence",)),
    "no-fences": Kept(("missing_opening_fence", "unterminated_frontmatter")),
    "unterminated": Kept(("unterminated_frontmatter",)),
    "unterminated-with-rule": Kept(
        ("unterminated_frontmatter",), body="# Demo\n\nDo it.\n\nMore text.\n\n---\n\nEnd."
    ),
    "no-name": Kept(("missing_name",), name="folder"),
    "empty-name": Kept(("missing_name",), name="folder"),
    "no-description": Kept(
        ("missing_description",), description="Makes charts.", body="# Demo\n\n> Makes charts."
    ),
    "empty-description": Kept(description="", notes=("empty_description",)),
    "only-frontmatter": Kept(body="", notes=("empty_body",)),
    "long-frontmatter": Kept(),
    "path-as-name": Kept(name="../../home/user/.ssh", description="Writes where it should not"),
}
REJECTED = {
    "empty": ("empty_file", None),
    "blank": ("empty_file", None),
    "latin-1": ("not_utf8", 3),
    "utf-16": ("not_utf8", 1),
    "nul": ("nul", 6),
    "http-error": ("no_frontmatter", 1),
    "html-error": ("no_frontmatter", 1),
    "json-error": ("no_frontmatter", 1),
    "one-word": ("no_frontmatter", 1),
    "no-yaml": ("bad_yaml", 2),
    "alias-bomb": ("too_complex", 2),
    "undefined-alias": ("too_complex", 3),
    "merge-key": ("too_complex", 3),
    "python-tag": ("too_complex", 2),
    "brackets-bomb": ("too_complex", 2),
    "nested-maps": ("too_complex", 3),
}


def read(case: str) -> ReadResult:
    return read_skill((WILD / f"{case}.md").read_bytes(), "folder")


def test_every_file_has_an_expectation() -> None:
    assert {path.stem for path in WILD.iterdir()} == KEPT.keys() | REJECTED.keys()


@pytest.mark.parametrize("case", KEPT)
def test_a_defect_is_repaired_and_named(case: str) -> None:
    found, wanted = read(case), KEPT[case]
    assert (found.name, found.description, found.body) == (wanted.name, wanted.description, wanted.body)
    assert found.repairs == wanted.repairs
    assert found.status == ("repaired" if wanted.repairs else "accepted")
    assert set(wanted.notes) <= set(found.notes)
    assert wanted.extra is None or found.extra == wanted.extra


@pytest.mark.parametrize("case", REJECTED)
def test_what_cannot_be_read_is_refused_with_a_reason_and_a_line(case: str) -> None:
    found = read(case)
    assert found.status == "rejected"
    assert found.problem is not None
    assert (found.problem.reason, found.problem.line) == REJECTED[case]
    assert found.problem.detail
    assert (found.name, found.description, found.body) == ("", "", "")
