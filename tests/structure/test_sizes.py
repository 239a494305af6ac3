"""A file is a room with one noun: at most 400 lines, function bodies at most 50."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "workbench"
FILES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_functions_are_small_enough_to_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
            assert lines <= 50, f"{node.name} has a body of {lines} lines"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_public_name_says_what_it_promises(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "module docstring"
    for node in tree.body:
        if isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        ) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} has no docstring"


def test_no_utils_room_and_no_public_list_to_keep_in_step() -> None:
    assert not [p for p in ROOT.rglob("*") if p.stem in {"utils", "util", "helpers", "misc", "common"}]
    listed = re.compile(r"^__all__\b", re.MULTILINE)
    assert not [p for p in FILES if listed.search(p.read_text(encoding="utf-8"))]
