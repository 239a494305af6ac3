"""A router taken apart: its stages and options, what it lacks here, and what each stage keeps and takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import fmean, median
from typing import Any

from workbench.core.content import Content
from workbench.core.errors import MissingDataError
from workbench.core.workspace import Workspace
from workbench.metrics.scoring import Relevance, judge
from workbench.routing.approximate import SearchChoice
from workbench.routing.language import Language
from workbench.routing.load import RecipeRouter
from workbench.routing.recipe import Recipe, StageSpec, load_recipe
from workbench.routing.router import Query
from workbench.routing.stage import SkillCollection
from workbench.routing.weights import ModelChoice, is_here

_HOW = ("batch", "batch_tokens", "device", "parallel")
"""Options that decide how fast an answer comes and not what it is."""

_WHERE = ("package", "path", "revision")
"""Options that say nothing where they are not given."""


@dataclass(frozen=True)
class StageLine:
    """One stage: its place (``1``, ``2a1`` in the first channel of the second), and its options.

    The options are all that can shape an answer, as JSON has them, those left at their default too:
    a reader cannot know the defaults.
    """

    place: str
    depth: int
    method: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Described:
    """A recipe in words.

    Attributes:
        lacks: packages and weights that it needs and this machine does not have, a line each.
        asks: the language models that it asks.
    """

    recipe: Recipe
    stages: tuple[StageLine, ...]
    lacks: tuple[str, ...]
    asks: tuple[str, ...]


@dataclass(frozen=True)
class Passage:
    """What came out of one stage, over all queries.

    Attributes:
        ranked: false for a stage that rewrites queries; it has no candidates.
        candidates: mean length of its rankings.
        gold_kept: mean share of a query's gold, as far as the pool has it, that is among them.
        hit: share of queries with gold in the first place.
        milliseconds: median over queries, each routed alone.
    """

    method: str
    ranked: bool
    candidates: float
    gold_kept: float
    hit: float
    milliseconds: float


def described(name: str, workspace: Workspace) -> Described:
    """Read a recipe and look for what it needs. Loads no model and no index."""
    recipe = load_recipe(workspace.find("routers", name))
    specs = list(recipe.specs())
    lacks = dict.fromkeys(lack for spec in specs for lack in _lacks(spec.options, workspace))
    asks = dict.fromkeys(spec.options.model for spec in specs if isinstance(spec.options, Language))
    return Described(recipe, tuple(_lines(recipe.stages, "", 0)), tuple(lacks), tuple(asks))


def passages(
    router: RecipeRouter,
    queries: Sequence[Query],
    tasks: Mapping[str, Relevance],
    pool: SkillCollection,
    k: int,
) -> list[Passage]:
    """Route each query alone, and look at what every stage gives on the way to the first `k`."""
    router.prepare()
    known = frozenset(pool.ids())
    traces = [(query, router.trace(query, k)) for query in queries]
    found = []
    for at, method in enumerate(router.methods()):
        lengths, kept, hits, seconds, ranked = [], [], [], [], False
        for query, trace in traces:
            if at >= len(trace):
                continue
            seconds.append(trace[at].seconds)
            if (ranking := trace[at].ranking) is None:
                continue
            ranked = True
            judged = judge([entry.id for entry in ranking], tasks[query.id], known)
            lengths.append(float(len(ranking)))
            if judged.gold and tasks[query.id].counted:
                kept.append(len(judged.gold.intersection(judged.ranking)) / len(judged.gold))
                hits.append(float(bool(judged.ranking) and judged.ranking[0] in judged.gold))
        numbers = (_mean(lengths), _mean(kept), _mean(hits), 1000 * median(seconds or [0.0]))
        found.append(Passage(method, ranked, *numbers))
    return found


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else float("nan")


def _lines(stages: Sequence[StageSpec], before: str, depth: int) -> Iterator[StageLine]:
    for number, spec in enumerate(stages, start=1):
        place = f"{before}{number}"
        yield StageLine(place, depth, spec.method, _options(spec.options))
        for letter, channel in zip("abcdefghijklmnopqrstuvwxyz", spec.channels, strict=False):
            yield from _lines(channel, f"{place}{letter}", depth + 1)


def _options(options: Content) -> dict[str, Any]:
    """Every option that can shape an answer, defaults and all; a fusion's channels by their weights."""
    unshown = {"channels", *_HOW}
    given: dict[str, Any] = options.model_dump(mode="json", exclude=unshown)
    shown = {name: value for name, value in given.items() if value is not None or name not in _WHERE}
    search = getattr(options, "search", None)
    if isinstance(search, SearchChoice) and search.index == "exact":
        shown["search"] = {"index": "exact"}  # the rest is for the other kinds
    weights = [channel.weight for channel in getattr(options, "channels", ()) if hasattr(channel, "weight")]
    return shown | ({"weights": weights} if weights else {})


def _lacks(options: Content, workspace: Workspace) -> Iterator[str]:
    if not isinstance(options, ModelChoice):
        return
    missing = [package for package in ("torch", "transformers") if find_spec(package) is None]
    if missing:
        yield f"{', '.join(missing)} (pip install 'skill-workbench[dense]')"
    try:
        here = is_here(options, workspace.cache)
    except MissingDataError as error:
        yield str(error)
    else:
        if not here:
            yield f"weights of {options.model} (downloaded when first used)"
