"""Files around routing: queries, relevance, rankings.

Read: queries and relevance as the SkillRouter benchmark ships them, its predictions, TREC runs
and qrels. Written: its predictions, TREC runs and qrels. Every bad file is a `ContentError` with
file and line.

TREC files separate by blanks, so ids are percent-encoded in them: blanks, ``#``, ``%`` and
everything outside ASCII. Reading decodes again; an id without ``%`` is itself.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from workbench.core.atomic import write_text
from workbench.core.content import plain
from workbench.core.errors import ContentError, suggestion
from workbench.core.terminal import safe
from workbench.core.types import Ranking, ranked
from workbench.metrics.metric import dedupe
from workbench.metrics.scoring import Relevance
from workbench.routing.router import Query

_KEPT = "/.:@+,=!*()"
_GENERIC = "generic_only"
_JSON = {"model_type": "must be an object", "dict_type": "must be an object"}
"""Where JSON's words are other than YAML's."""


class _Task(BaseModel):
    """One line of a queries file; other keys are ignored."""

    model_config = ConfigDict(frozen=True)

    task_id: str = Field(min_length=1)
    instruction_text: str


class _Entry(BaseModel):
    """One entry of a relevance file; other keys are ignored."""

    model_config = ConfigDict(frozen=True)

    gt_skill_ids: tuple[str, ...] = ()
    core_gt_ids: tuple[str, ...] | None = None
    relevance: dict[str, FiniteFloat] = {}
    task_type: str = ""


def read_queries(path: Path) -> list[Query]:
    """Queries of a JSON Lines file (``task_id``, ``instruction_text``), plain or gzip, in its order."""
    queries: dict[str, Query] = {}
    for line, text in _lines(path):
        try:
            task = _Task.model_validate_json(text)
        except ValidationError as error:
            raise ContentError(path, line, _first(error)) from None
        if task.task_id in queries:
            raise ContentError(path, line, f"task_id: '{safe(task.task_id)}' stands in it twice")
        queries[task.task_id] = Query(task.task_id, task.instruction_text)
    if not queries:
        raise ContentError(path, None, "has no queries")
    return list(queries.values())


def read_relevance(path: Path) -> dict[str, Relevance]:
    """Task -> relevance: SkillRouter's ``relevance.json``, or TREC qrels.

    Of the former, gold is ``core_gt_ids`` (``gt_skill_ids`` where there is none), and tasks of
    type ``generic_only`` are not counted. Of qrels, gold is every id with a grade above 0.
    """
    text = _text(path)
    if not text.lstrip().startswith("{"):
        return _qrels(path)
    relevance: dict[str, Relevance] = {}
    for task, value in _object(path, text).items():
        try:
            entry = _Entry.model_validate(value)
        except ValidationError as error:
            raise ContentError(path, _line_of(text, task), f"{safe(task)}: {_first(error)}") from None
        gold = entry.gt_skill_ids if entry.core_gt_ids is None else entry.core_gt_ids
        relevance[task] = Relevance(dedupe(gold), entry.relevance, entry.task_type != _GENERIC)
    return relevance


def read_rankings(path: Path) -> dict[str, Ranking]:
    """Task -> ranking: SkillRouter's predictions (lists of ids, best first), or a TREC run.

    A repeated id keeps its best place. A run is ordered by score, then id; its ranks are not
    looked at, as in trec_eval. Predictions have no scores and get 1 / rank.
    """
    text = _text(path)
    if not text.lstrip().startswith("{"):
        return _run(path)
    rankings = {}
    for task, ids in _object(path, text).items():
        if not isinstance(ids, list) or not all(isinstance(skill, str) for skill in ids):
            raise ContentError(path, _line_of(text, task), f"{safe(task)}: must be a list of skill ids")
        rankings[task] = ranked((skill, 1 / rank) for rank, skill in enumerate(dedupe(ids), start=1))
    return rankings


def read_predicted_ids(path: Path) -> dict[str, list[str]]:
    """Task -> ids as they stand in a file of predictions, repetitions and all; of a run, its ranking.

    For `metrics.compat`, which scores as the benchmark's authors do.
    """
    text = _text(path)
    if text.lstrip().startswith("{"):
        read_rankings(path)
        return {task: list(ids) for task, ids in _object(path, text).items()}
    return {task: [entry.id for entry in ranking] for task, ranking in _run(path).items()}


def read_field(path: Path, name: str) -> dict[str, str]:
    """Task -> the value of a field of its line in a queries file, as text; tasks without it are left out.

    Raises:
        ContentError: no line has the field.
    """
    values: dict[str, str] = {}
    names: set[str] = set()
    for number, text in _lines(path):
        try:
            line = json.loads(text)
        except ValueError as error:
            raise ContentError(path, number, f"not valid JSON: {error}") from None
        names.update(line)
        if isinstance(value := line.get(name), str | int | float | bool):
            values[line["task_id"]] = str(value)
    if not values:
        raise ContentError(
            path, None, f"no query has a single value in '{safe(name)}'{suggestion(name, names)}"
        )
    return values


def write_predictions(path: Path, rankings: Mapping[str, Ranking]) -> None:
    """Write SkillRouter's format: a JSON object, task -> list of ids, best first."""
    ids = {task: [entry.id for entry in ranking] for task, ranking in rankings.items()}
    write_text(path, json.dumps(ids, indent=2, ensure_ascii=False) + "\n")


def write_run(path: Path, rankings: Mapping[str, Ranking], tag: str) -> None:
    """Write a TREC run: ``task Q0 skill rank score tag``, scores to the last digit."""
    lines = [
        f"{_encode(task)} Q0 {_encode(entry.id)} {rank} {entry.score!r} {_encode(tag)}\n"
        for task, ranking in rankings.items()
        for rank, entry in enumerate(ranking, start=1)
    ]
    write_text(path, "".join(lines))


def write_qrels(path: Path, relevance: Mapping[str, Relevance]) -> None:
    """Write TREC qrels: ``task 0 skill grade``; gold without a grade gets 1."""
    lines = [
        f"{_encode(task)} 0 {_encode(skill)} {grade:g}\n"
        for task, entry in relevance.items()
        for skill, grade in (dict.fromkeys(entry.gold, 1.0) | dict(entry.grades)).items()
    ]
    write_text(path, "".join(lines))


def _qrels(path: Path) -> dict[str, Relevance]:
    grades: dict[str, dict[str, float]] = {}
    for line, text in _lines(path):
        task, _, skill, value = _columns(path, line, text, 4, "task 0 skill grade")
        grade, known = _number(path, line, value, "grade"), grades.setdefault(task, {})
        if known.setdefault(skill, grade) != grade:
            raise ContentError(path, line, f"'{safe(skill)}' has two grades for '{safe(task)}'")
    return {task: Relevance(tuple(s for s, g in of.items() if g > 0), of) for task, of in grades.items()}


def _run(path: Path) -> dict[str, Ranking]:
    scores: dict[str, list[tuple[str, float]]] = {}
    for line, text in _lines(path):
        task, _, skill, _, value, _ = _columns(path, line, text, 6, "task Q0 skill rank score tag")
        scores.setdefault(task, []).append((skill, _number(path, line, value, "score")))
    return {task: ranked(pairs) for task, pairs in scores.items()}


def _columns(path: Path, line: int, text: str, count: int, form: str) -> list[str]:
    columns = text.split()
    if len(columns) != count:
        raise ContentError(path, line, f"has {len(columns)} columns; must be `{form}`")
    return [unquote(column, errors="surrogatepass") for column in columns]


def _number(path: Path, line: int, text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ContentError(path, line, f"{what} '{safe(text, 40)}' is not a number")
    return value


def _encode(text: str) -> str:
    return quote(text, safe=_KEPT, errors="surrogatepass")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of every line that is not blank."""
    for line, text in enumerate(_text(path).split("\n"), start=1):
        if text.strip():
            yield line, text


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise ContentError(
            path, None, f"cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None
    except UnicodeDecodeError as error:
        raise ContentError(path, data[: error.start].count(b"\n") + 1, "is not UTF-8") from None


def _object(path: Path, text: str) -> dict[str, Any]:
    """A JSON object; a key may be repeated only with the same value."""

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        known: dict[str, Any] = {}
        for key, value in pairs:
            if key in known and known[key] != value:
                raise ContentError(
                    path, _line_of(text, key), f"'{safe(key)}' stands in it twice, and differs"
                )
            known[key] = value
        return known

    try:
        value: dict[str, Any] = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise ContentError(path, error.lineno, f"not valid JSON: {error.msg}") from None
    except RecursionError:
        raise ContentError(path, None, "not valid JSON: nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise ContentError(path, None, f"not valid JSON: {error}") from None
    return value


def _line_of(text: str, key: str) -> int | None:
    """The last line on which a JSON object has `key`."""
    spelled = {re.escape(json.dumps(key, ensure_ascii=ascii_only)) for ascii_only in (True, False)}
    found = [match.start() for match in re.finditer(rf"(?:{'|'.join(spelled)})\s*:", text)]
    return text.count("\n", 0, found[-1]) + 1 if found else None


def _first(error: ValidationError) -> str:
    """A pydantic error in one line: where, and what."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    what = _JSON.get(first["type"]) or plain(first)
    return f"{safe(where)}: {what}" if where else what
