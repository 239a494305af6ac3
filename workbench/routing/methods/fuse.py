"""Several channels, each a list of stages of its own, made into one ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any, Literal, Self

from pydantic import Field as Option
from pydantic import model_validator

from workbench.core.content import Content
from workbench.core.digest import digest_json
from workbench.core.types import Ranking, ranked
from workbench.routing.pipeline import Pipeline
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage

REVISION = 1
EXAMPLE = {
    "by": "zscore",
    "channels": [
        {"weight": 0.7, "stages": [{"bm25": {}}]},
        {"weight": 0.3, "stages": [{"bm25": {"fields": "nd"}}]},
    ],
}
USES_GOLD = True  # handed on to the channels, which hide it from their stages again


class Channel(Content):
    """One channel.

    Attributes:
        weight: of its part in the sum, without unit; a channel of weight 0 is not asked.
        stages: of its own, as at the top of a recipe.
    """

    weight: float = Option(1.0, ge=0, le=1000)
    stages: Any


class Config(Content):
    """Options of the stage.

    Attributes:
        by: ``rrf`` adds 1 / (constant + rank) (Cormack et al. 2009); ``zscore`` adds scores
            standardised over what each channel returned (SkillRep, section 3.4); ``weighted``
            adds raw scores; ``round_robin`` takes one from each channel in turn (SR-Agents).
        channels: at least two; their order is the order of the turns.
        depth: how deep each channel is read. Does not depend on the results asked for.
        constant: of ``rrf``.
        missing: what ``zscore`` gives a skill that a channel did not return: ``zero``, which is
            the paper's and the channel's mean, or its ``lowest`` standardised score.
    """

    by: Literal["rrf", "zscore", "weighted", "round_robin"]
    channels: tuple[Channel, ...] = Option(min_length=2)
    depth: int = Option(100, ge=1)
    constant: float = Option(60.0, ge=0, allow_inf_nan=False)
    missing: Literal["lowest", "zero"] = "lowest"

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        if not any(channel.weight for channel in self.channels):
            raise ValueError("channels: at least one needs a weight above 0")
        return self


class Fuse(Stage):
    """Ranks the union of what the channels return."""

    def __init__(self, config: Config, channels: Sequence[Pipeline]) -> None:
        self._config = config
        self._channels = [
            channel for channel, given in zip(channels, config.channels, strict=True) if given.weight
        ]
        self._weights = [given.weight for given in config.channels if given.weight]

    @property
    def identity(self) -> str:
        """Digest of the channels' fingerprints."""
        return digest_json([channel.fingerprint for channel in self._channels])

    @property
    def index_fingerprint(self) -> str | None:
        """Digest of the channels' indexes."""
        found = [channel.index_fingerprint for channel in self._channels]
        return digest_json(found) if any(found) else None

    def prepare(self) -> None:
        """Prepare every channel."""
        for channel in self._channels:
            channel.prepare()

    def notes(self) -> tuple[str, ...]:
        """What the channels' stages have to say."""
        return tuple(note for channel in self._channels for note in channel.notes())

    def depth(self, k: int) -> int:
        """At least the depth to which each channel is read."""
        return max(k, self._config.depth)

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """Fuse the channels' rankings; at most `depth` times the number of channels per query."""
        depth = self._config.depth
        answers = [channel.run(queries, depth, candidates) for channel in self._channels]
        fused = _round_robin if self._config.by == "round_robin" else self._added
        return [fused(rankings)[:k] for rankings in zip(*answers, strict=True)]

    def _added(self, rankings: Sequence[Ranking]) -> Ranking:
        """The weighted sum over channels of each skill's part."""
        totals: dict[str, float] = {entry.id: 0.0 for ranking in rankings for entry in ranking}
        for weight, ranking in zip(self._weights, rankings, strict=True):
            parts, otherwise = self._parts(ranking)
            for skill in totals:
                totals[skill] += weight * parts.get(skill, otherwise)
        return ranked(totals.items())

    def _parts(self, ranking: Ranking) -> tuple[Mapping[str, float], float]:
        """Each returned skill's part, and that of every other skill."""
        if self._config.by == "rrf":
            return {e.id: 1 / (self._config.constant + rank) for rank, e in enumerate(ranking, start=1)}, 0.0
        if self._config.by == "weighted":
            return {entry.id: entry.score for entry in ranking}, 0.0
        parts = _standardised(ranking)
        return parts, min(parts.values(), default=0.0) if self._config.missing == "lowest" else 0.0


def _standardised(ranking: Ranking) -> dict[str, float]:
    """(score - mean) / standard deviation over the ranking; 0 where all scores are equal."""
    scores = [entry.score for entry in ranking]
    if not scores:
        return {}
    mean, spread = fmean(scores), pstdev(scores)
    return {entry.id: (entry.score - mean) / spread if spread else 0.0 for entry in ranking}


def _round_robin(rankings: Sequence[Ranking]) -> Ranking:
    """The channels' next unseen skills in turn; the score is 1 / place."""
    order: dict[str, None] = {}
    for rank in range(max(map(len, rankings))):
        for ranking in rankings:
            if rank < len(ranking):
                order.setdefault(ranking[rank].id)
    return ranked((skill, 1 / place) for place, skill in enumerate(order, start=1))


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the channels that the context brings."""
    return Fuse(config, context.channels)
