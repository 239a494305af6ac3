"""Files of queries, relevance and rankings: read as shipped, written so that they can be read again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.errors import ContentError
from workbench.core.types import Ranking, ranked
from workbench.metrics.scoring import Relevance
from workbench.routing import runs
from workbench.routing.router import Query

ODD_IDS = [
    "my skill/α#1",
    "hello",
    "hello ",
    "tab\there",
    "line\nbreak",
    "100%",
    "%41",
    "a%2Fb",
    "表格",
    "\udc80",
]
Rankings = st.dictionaries(
    st.text(min_size=1, max_size=8),
    st.dictionaries(
        st.text(min_size=1, max_size=8),
        st.floats(allow_nan=False, allow_infinity=False),
        min_size=1,
        max_size=6,
    ).map(lambda scores: ranked(scores.items())),
    min_size=1,
    max_size=4,
)


def test_odd_ids_survive_a_run_and_qrels(tmp_path: Path) -> None:
    ranking = ranked((skill, 1.0 + place) for place, skill in enumerate(ODD_IDS))
    runs.write_run(tmp_path / "r.run", {"task #1 é": ranking}, tag="my router")
    text = (tmp_path / "r.run").read_bytes()
    assert text.isascii()
    assert all(len(line.split(b" ")) == 6 for line in text.splitlines())
    assert runs.read_rankings(tmp_path / "r.run") == {"task #1 é": ranking}
    relevance = {"task #1 é": Relevance(tuple(ODD_IDS), dict.fromkeys(ODD_IDS, 2.0))}
    runs.write_qrels(tmp_path / "r.qrels", relevance)
    assert runs.read_relevance(tmp_path / "r.qrels") == relevance


@settings(max_examples=60, deadline=None)
@given(Rankings)
def test_any_run_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, found: dict[str, Ranking]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.run"
    runs.write_run(path, found, tag="x")
    assert runs.read_rankings(path) == found


def test_a_run_is_ordered_by_score_and_id_and_a_repeated_id_keeps_its_best(tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    path.write_text("t Q0 b 1 0.5 x\nt Q0 a 2 0.5 x\nt Q0 c 3 0.9 x\nt Q0 b 4 0.7 x\n")
    assert runs.read_rankings(path) == {"t": (("c", 0.9), ("b", 0.7), ("a", 0.5))}


def test_predictions_are_read_and_written_in_the_benchmarks_format(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"t": ["b", "a", "b"], "empty": []}))
    found = runs.read_rankings(path)
    assert [entry.id for entry in found["t"]] == ["b", "a"]
    assert found["empty"] == ()
    runs.write_predictions(path, found)
    assert json.loads(path.read_text()) == {"t": ["b", "a"], "empty": []}


def test_queries_are_read_plain_and_compressed(tmp_path: Path) -> None:
    tasks = [
        {"task_id": "a", "instruction_text": "Do it", "domain": "x"},
        {"task_id": "b", "instruction_text": ""},
    ]
    lines = "\n\n".join(json.dumps(task) for task in tasks) + "\n"
    (tmp_path / "q.jsonl").write_text("\ufeff" + lines, encoding="utf-8")
    (tmp_path / "q.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    expected = [Query("a", "Do it"), Query("b", "")]
    assert runs.read_queries(tmp_path / "q.jsonl") == expected
    assert runs.read_queries(tmp_path / "q.jsonl.gz") == expected


def test_relevance_is_read_by_the_benchmarks_rules(tmp_path: Path) -> None:
    entries = {
        "core": {"gt_skill_ids": ["a", "pdf"], "core_gt_ids": ["a"], "relevance": {"a": 3, "pdf": 3, "d": 1}},
        "all": {"gt_skill_ids": ["b"]},
        "generic": {"gt_skill_ids": ["pdf"], "core_gt_ids": [], "task_type": "generic_only"},
    }
    (tmp_path / "r.json").write_text(json.dumps(entries))
    found = runs.read_relevance(tmp_path / "r.json")
    assert found["core"] == Relevance(("a",), {"a": 3.0, "pdf": 3.0, "d": 1.0})
    assert found["all"] == Relevance(("b",))
    assert not found["generic"].counted


def test_equal_judgements_twice_are_one(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("t 0 a 2\nt 0 a 2\nt 0 b 0\n")
    assert runs.read_relevance(tmp_path / "q") == {"t": Relevance(("a",), {"a": 2.0, "b": 0.0})}
    (tmp_path / "r.json").write_text('{"t": {"gt_skill_ids": ["a"]}, "t": {"gt_skill_ids": ["a"]}}')
    assert runs.read_relevance(tmp_path / "r.json") == {"t": Relevance(("a",))}


BAD = [
    (
        runs.read_queries,
        b'{"task_id": "a", "instruction_text": "x"}\n{"task_id": "a"}\n',
        ":2: instruction_text: is required",
    ),
    (
        runs.read_queries,
        b'{"task_id": 3, "instruction_text": "x"}\n',
        ":1: task_id: must be a text",
    ),
    (
        runs.read_queries,
        b'{"task_id": "a", "instruction_text": "x"}\n' * 2,
        ":2: task_id: 'a' stands in it twice",
    ),
    (runs.read_queries, b"\n{task}\n", ":2: Invalid JSON"),
    (runs.read_queries, b"\n \n", ": has no queries"),
    (runs.read_queries, b"{}\n\xff\n", ":2: is not UTF-8"),
    (
        runs.read_relevance,
        b'{"t": {}, \n"u": {"relevance": {"a": "x"}}}',
        ":2: u: relevance.a: must be a number",
    ),
    (
        runs.read_relevance,
        b'{"t": {"gt_skill_ids": "a"}}',
        ":1: t: gt_skill_ids: must be a list",
    ),
    (
        runs.read_relevance,
        b'{"t": {"relevance": {"a": 1,\n"a": 3}}}',
        ":2: 'a' stands in it twice, and differs",
    ),
    (runs.read_relevance, b'{"t": \n}', ":2: not valid JSON: Expecting value"),
    (runs.read_relevance, b'{"a":' * 100_000, ": not valid JSON"),
    (runs.read_relevance, b"t 0 a 1\nt 0 a 2\n", ":2: 'a' has two grades for 't'"),
    (runs.read_relevance, b"t 0 a\n", ":1: has 3 columns; must be `task 0 skill grade`"),
    (runs.read_relevance, b"t 0 a high\n", ":1: grade 'high' is not a number"),
    (runs.read_rankings, b"t Q0 a 1 nan x\n", ":1: score 'nan' is not a number"),
    (runs.read_rankings, b"t Q0 a 1 0.5\n", ":1: has 5 columns"),
    (runs.read_rankings, b'{"t": ["a"],\n "u": "b"}', ":2: u: must be a list of skill ids"),
    (runs.read_rankings, b'{"t": ["a", 3]}', ":1: t: must be a list of skill ids"),
]


@pytest.mark.parametrize(("read", "data", "message"), BAD)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, read: object, data: bytes, message: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(ContentError) as caught:
        read(path)  # type: ignore[operator]
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}:")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data", [b"not gzip", gzip.compress(b"x" * 500, mtime=0)[:-20], b"\x1f\x8b\x08\x00junk junk junk"]
)
def test_a_damaged_archive_is_one_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "q.jsonl.gz").write_bytes(data)
    with pytest.raises(ContentError, match="cannot be read"):
        runs.read_queries(tmp_path / "q.jsonl.gz")


def test_a_missing_file_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="cannot be read: No such file"):
        runs.read_rankings(tmp_path / "none.run")
