"""The law of pool sources (workbench/skills/source.py), for every file in workbench/skills/sources/."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.core.errors import UsageError
from workbench.skills.pool import Pool
from workbench.skills.reader import STATUSES, read_skill
from workbench.skills.source import Found, SourceContext, load_source, source_kinds
from workbench.skills.writer import text_entry, write_pool

HEAD = "---\nname: {0}\ndescription: About {0}\n---\n\nDo {0}.\n"
ROWS = [{"id": name, "name": name, "description": "d", "body": "b"} for name in ("one", "two")] + [
    {"name": "x"}
]


def a_folder(base: Path) -> Any:
    for name in ("one", "two"):
        (base / "skills" / name).mkdir(parents=True)
        (base / "skills" / name / "SKILL.md").write_text(HEAD.format(name))
    (base / "skills" / "bad").mkdir()
    (base / "skills" / "bad" / "SKILL.md").write_bytes(b"\xff")
    return {"path": "skills"}


def records(base: Path) -> Any:
    (base / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return {"path": "x.jsonl"}


def a_table(base: Path) -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(ROWS), base / "x.parquet")
    return {"path": "x.parquet"}


def another_pool(base: Path) -> Any:
    write_pool(base / "other.pool", "other", [text_entry("one", "one", "d", "b")])
    return "other"


def tasks(base: Path) -> Any:
    for task in ("a", "b"):
        folder = base / "tasks" / task / "environment" / "skills" / "one"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(HEAD.format(f"one of {task}"))
    return {"path": "tasks"}


def a_corpus(base: Path) -> Any:
    (base / "corpus.json").write_text(json.dumps(ROWS))
    return {"path": "corpus.json"}


EXAMPLES: dict[str, Callable[[Path], Any]] = {
    "corpus": a_corpus,
    "folder": a_folder,
    "jsonl": records,
    "parquet": a_table,
    "pool": another_pool,
    "task_skills": tasks,
}


class Example:
    """One source over an example of its own in a folder."""

    def __init__(self, kind: str, base: Path) -> None:
        self.source = load_source(kind)
        base.mkdir(exist_ok=True)
        value = EXAMPLES[kind](base)
        self.options = value if isinstance(value, str) else self.source.Options.model_validate(value)
        self.context = SourceContext(
            base, base / "downloads", lambda suite: base, lambda name: Pool(base / f"{name}.pool")
        )

    def read(self) -> list[Found]:
        return list(self.source.read(self.options, self.context))

    def signature(self) -> str:
        return self.source.signature(self.options, self.context)


@pytest.fixture(params=source_kinds())
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def example(kind: str, tmp_path: Path) -> Example:
    return Example(kind, tmp_path / "base")


def test_every_source_has_an_example_here(kind: str) -> None:
    assert kind in EXAMPLES


def test_what_is_found_is_typed_and_ids_are_unique(example: Example) -> None:
    found = example.read()
    kept = [item for item in found if item.result.problem is None]
    assert kept
    assert {item.result.status for item in found} <= set(STATUSES)
    assert len({item.id for item in kept}) == len(kept)
    for item in kept:
        assert item.id
        assert item.origin
        assert item.folder
        assert "/" not in item.folder


def test_reading_twice_finds_the_same_in_the_same_order(example: Example) -> None:
    assert example.read() == example.read()


def test_ids_and_texts_do_not_depend_on_the_place(kind: str, tmp_path: Path) -> None:
    one, other = Example(kind, tmp_path / "one"), Example(kind, tmp_path / "elsewhere")
    assert [(f.id, f.folder, f.result, f.tree) for f in one.read()] == [
        (f.id, f.folder, f.result, f.tree) for f in other.read()
    ]


def test_the_files_of_a_find_read_as_its_texts(example: Example) -> None:
    for item in example.read():
        if item.tree is not None:
            read = read_skill(item.tree.files["SKILL.md"].data, item.folder)
            assert (read.name, read.description, read.body) == (
                item.result.name,
                item.result.description,
                item.result.body,
            )


def test_the_signature_stays_while_nothing_changes(example: Example) -> None:
    before = example.signature()
    example.read()
    assert example.signature() == before


def test_the_source_says_what_it_is_in_one_line(example: Example) -> None:
    line = example.source.describe(example.options, example.context)
    assert line
    assert "\n" not in line


def test_progress_is_told(example: Example) -> None:
    told: list[str] = []
    context = SourceContext(
        example.context.base,
        example.context.downloads,
        example.context.suite_data,
        example.context.open_pool,
        progress=lambda what, done, total: told.append(what),
    )
    list(example.source.read(example.options, context))
    assert told


@pytest.mark.parametrize("kind", [kind for kind in source_kinds() if kind != "pool"])
def test_a_source_that_is_not_there_is_a_usage_error(kind: str, tmp_path: Path) -> None:
    """A pool in a pool is opened by the context, whose errors are those of `open_pool`."""
    source = load_source(kind)
    example = Example(kind, tmp_path / "base")
    with pytest.raises(UsageError):
        list(source.read(source.Options(path="nowhere"), example.context))
