"""ToolQA's tools over a local copy of its corpus; https://github.com/night-chen/ToolQA.

    <corpus>/
      flights/*.csv  coffee/*.csv  airbnb/*.csv  yelp/*.json       tables
      agenda/agenda_descriptions_merged.jsonl                      one {"event": ...} per line
      scirex/Preprocessed_Scirex.jsonl                             one {"content": ...} per line
      dblp/{paper,author}_net.pkl and four dictionaries            graphs

Names and arguments are ToolQA's, since its skills speak of them. Its Python interpreter is left out:
code runs only in a sandbox, and these questions have none. Texts are found by BM25, not by embeddings.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anyio import to_thread
from inspect_ai.tool import ToolDef, ToolError

from workbench.benchmarks.formulas import FormulaError, parse
from workbench.benchmarks.kits._graphs import Graphs
from workbench.benchmarks.kits._tables import TABLES, Tables
from workbench.benchmarks.kits._texts import Texts

MAX_ANSWER = 3_000
"""Characters of a tool's answer, as in SR-Agents."""

_TEXTS = {
    "agenda": ("agenda/agenda_descriptions_merged.jsonl", "event"),
    "scirex": ("scirex/Preprocessed_Scirex.jsonl", "content"),
}
_KEYWORD = {"keyword": "What to look for"}
_GRAPH = "PaperNet or AuthorNet"
_NODE = "Title or name"
_TOOLS: dict[str, tuple[str, dict[str, str]]] = {
    "Calculate": ("Calculate a formula, e.g. 3*(2+5) or mean(1, 2, 4).", {"formula": "The formula"}),
    "RetrieveAgenda": ("Find entries of the agenda.", _KEYWORD),
    "RetrieveScirex": ("Find paragraphs of machine learning papers.", _KEYWORD),
    "LoadDB": (f"Load a table: {', '.join(TABLES)}.", {"name": "The table"}),
    "FilterDB": (
        "Keep the loaded table's rows that fulfil conditions such as Date=2019-03-04, High>=100."
        " Values compare as text.",
        {"conditions": "Conditions, separated by a comma and a space"},
    ),
    "GetValue": ("Values of a column in the rows that are left.", {"column": "The column"}),
    "SQLInterpreter": (
        "Run a SELECT over the tables; NAME is there as NAME_data, with text in all columns.",
        {"sql": "One SQL statement"},
    ),
    "LoadGraph": ("Load the citation graphs: dblp.", {"name": "dblp"}),
    "NeighbourCheck": ("Neighbours of a node.", {"graph": _GRAPH, "node": _NODE}),
    "NodeCheck": ("What is known of a node.", {"graph": _GRAPH, "node": _NODE}),
    "EdgeCheck": (
        "What is known of the edge between two nodes.",
        {"graph": _GRAPH, "one": _NODE, "other": _NODE},
    ),
}
"""Name -> what the model is told, and the arguments."""

_MEANS: dict[str, Callable[[list[float]], float]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
    "sum": sum,
}


def missing(corpus: Path | None) -> str | None:
    """Why questions cannot be answered with this corpus; ``None`` when it has at least one part."""
    parts = (*TABLES, *_TEXTS, "dblp")
    if corpus is not None and any((corpus / part).is_dir() for part in parts):
        return None
    where = "is not at hand" if corpus is None else f"is not in {corpus}"
    return f"ToolQA's corpus ({', '.join(parts)}) {where}; give a local copy: -T toolqa=DIR"


def tools(corpus: Path, cache: Path) -> tuple[ToolDef, ...]:
    """The tools, with a state of their own (loaded table, filters)."""
    tables, graphs = Tables(corpus, cache), Graphs(corpus / "dblp")
    agenda, papers = (Texts.of(corpus / path, field) for path, field in _TEXTS.values())
    runs: dict[str, Callable[..., str]] = {
        "Calculate": calculate,
        "RetrieveAgenda": agenda.find,
        "RetrieveScirex": papers.find,
        "LoadDB": tables.load,
        "FilterDB": tables.filter,
        "GetValue": tables.values,
        "SQLInterpreter": tables.query,
        "LoadGraph": graphs.load,
        "NeighbourCheck": graphs.neighbours,
        "NodeCheck": graphs.node,
        "EdgeCheck": graphs.edge,
    }
    return tuple(_tool(run, name, *_TOOLS[name]) for name, run in runs.items())


def calculate(formula: str) -> str:
    """The value of a formula, at most three decimals; mean, median and sum take a list.

    Raises:
        ToolError: it is none, or cannot be calculated.
    """
    name, _, rest = formula.strip().partition("(")
    try:
        if name.strip().lower() in _MEANS and rest.endswith(")"):
            parts = [part for part in rest[:-1].split(",") if part.strip().lower() not in ("", "nan")]
            value: Any = _MEANS[name.strip().lower()]([float(parse(part).value({})) for part in parts])
        else:
            value = parse(formula).value({})
    except (FormulaError, statistics.StatisticsError, OverflowError) as error:
        raise ToolError(f"The formula cannot be calculated: {error}") from None
    rounded = round(float(value), 3)
    return str(int(rounded)) if rounded.is_integer() else str(rounded)


def _tool(run: Callable[..., str], name: str, description: str, parameters: dict[str, str]) -> ToolDef:
    """A tool that runs in a thread of its own and whose answer is cut, with a note, where it is long."""

    async def execute(**given: str) -> str:
        answer = await to_thread.run_sync(lambda: run(*(given[key] for key in parameters)))
        if len(answer) <= MAX_ANSWER:
            return answer
        return f"{answer[:MAX_ANSWER]} [cut; {len(answer)} characters in all]"

    return ToolDef(execute, name=name, description=description, parameters=_schema(parameters))


def _schema(parameters: dict[str, str]) -> Any:
    from inspect_ai.tool._tool_params import ToolParams
    from inspect_ai.util import JSONSchema

    properties = {key: JSONSchema(type="string", description=text) for key, text in parameters.items()}
    return ToolParams(properties=properties, required=list(parameters))
