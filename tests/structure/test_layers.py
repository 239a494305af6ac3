"""Arrows go down only; Inspect is known in few rooms; rooms on one floor do not know each other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "workbench"
FLOOR = {
    "core": 0,
    "skills": 1,
    "metrics": 1,
    "stats": 1,
    "routing": 2,
    "disclosure": 2,
    "benchmarks": 2,
    "sandboxing": 2,
    "models": 2,
    "evaluation": 3,
    "reporting": 3,
    "cli": 4,
}
KNOWS_INSPECT = {
    "_registry",
    "_inspect_options",
    "cli",
    "evaluation",
    "reporting",
    "disclosure",
    "benchmarks",
    "sandboxing",
    "models",
}
HEAVY = {
    "torch",
    "transformers",
    "faiss",
    "litellm",
    "pandas",
    "pyarrow",
    "numpy",
    "bm25s",
    "docker",
    "scipy",
}
FILES = sorted(ROOT.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[str, bool]]:
    """(module, at import time?) for every import in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: list[tuple[str, bool]] = []

    def visit(node: ast.AST, eager: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import):
                found.extend((alias.name, eager) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}: relative import"
                found.append((child.module or "", eager))
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            visit(child, eager and not inside)

    visit(tree, True)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_imports_only_rooms_below_its_own(path: Path) -> None:
    own = room(path)
    if own not in FLOOR:
        return
    for module, _ in imports(path):
        parts = module.split(".")
        if parts[0] != "workbench" or len(parts) < 2 or parts[1] == own or parts[1] not in FLOOR:
            continue
        assert FLOOR[parts[1]] < FLOOR[own], f"{path.name} ({own}) imports {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_inspect_is_imported_only_where_it_may_be(path: Path) -> None:
    if room(path) not in KNOWS_INSPECT:
        assert not [m for m, _ in imports(path) if m.split(".")[0] == "inspect_ai"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_packages_are_imported_only_inside_functions(path: Path) -> None:
    heavy = [m for m, eager in imports(path) if eager and m.split(".")[0] in HEAVY]
    assert not heavy, f"{path.relative_to(ROOT)} imports {heavy} at import time"
