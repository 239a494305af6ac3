"""Routing inside an evaluation: every (router, task) once, however many epochs and models there are."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

import anyio
from anyio import to_thread

from workbench.benchmarks.suite import Suite
from workbench.core.errors import WorkbenchError, as_trial_error
from workbench.core.record import Asked, RankedEntry, RouteInfo
from workbench.core.types import Arm
from workbench.evaluation.gold import Gold
from workbench.metrics.scoring import Relevance, judge, score
from workbench.models.completion import Completer, Spending
from workbench.routing.router import Query, Router
from workbench.skills.pool import Pool

DEPTH = 50
"""Rankings are recorded at least this deep, so that Recall@50 can be computed from a log."""


@dataclass
class Routes:
    """Answers `route` for every task and router, each pair computed once, off the event loop.

    A router answers as many queries at a time as is worth it; samples that wait for it hold no thread.

    Attributes:
        completers: router -> who answers what it asks of a language model.
    """

    suite: Suite
    pool: Pool
    gold: Mapping[str, Gold]
    routers: Mapping[str, Router]
    k: int
    completers: Mapping[str, Completer] = field(default_factory=dict)
    _known: dict[tuple[str, str], RouteInfo] = field(default_factory=dict)
    _busy: dict[tuple[str, str], anyio.Lock] = field(default_factory=dict)
    _limits: dict[str, anyio.CapacityLimiter] = field(default_factory=dict)

    async def route(self, arm: Arm, task_id: str) -> RouteInfo:
        """What the arm's router answers for a task; without ranking for arms without a router.

        Raises:
            TrialError: ``config:router``, the router cannot answer.
        """
        if arm.router is None:
            return self.unrouted(task_id)
        key, router = (arm.router, task_id), self.routers[arm.router]
        limit = self._limits.setdefault(arm.router, anyio.CapacityLimiter(router.parallel))
        async with self._busy.setdefault(key, anyio.Lock()):
            if key not in self._known:
                try:
                    found = await to_thread.run_sync(self._route, router, task_id, limiter=limit)
                except WorkbenchError as error:
                    raise as_trial_error(error, "config:router") from error
                self._known[key] = found
        return self._known[key]

    def chosen(self, arm: Arm, info: RouteInfo) -> tuple[str, ...]:
        """Ids that a trial of this arm gets, in order, after what the router answered."""
        if arm.condition == "none":
            return ()
        if arm.condition == "gold":
            return info.gold
        return tuple(entry.id for entry in info.ranking[: self.k])

    def unrouted(self, task_id: str) -> RouteInfo:
        """What is known of a task without asking a router."""
        gold = self.gold[task_id]
        return RouteInfo(
            router=None,
            router_fingerprint=None,
            pool=self.pool.name,
            pool_fingerprint=self.pool.fingerprint,
            pool_size=len(self.pool),
            index_fingerprint=None,
            k=self.k,
            gold=gold.ids,
            gold_in_pool=tuple(sorted(gold.in_pool)),
        )

    def _route(self, router: Router, task_id: str) -> RouteInfo:
        gold = self.gold[task_id]
        query = Query(id=task_id, text=self.suite.task(task_id).instruction, gold=gold.ids)
        completer = self.completers.get(router.name)
        started = time.monotonic()
        with completer.metered() if completer else nullcontext() as spent:
            (ranking,) = router.route([query], max(self.k, DEPTH))
        seconds = time.monotonic() - started
        judged = judge([skill.id for skill in ranking], Relevance(gold.ids), self.pool)
        return self.unrouted(task_id).model_copy(
            update={
                "router": router.name,
                "router_fingerprint": router.fingerprint,
                "index_fingerprint": router.index_fingerprint,
                "ranking": tuple(RankedEntry(id=skill.id, score=skill.score) for skill in ranking),
                "metrics": {name: value for name, value in score(judged).items() if not math.isnan(value)},
                "seconds": seconds,
                "asked": _asked(spent),
                "notes": router.notes(),
            }
        )


def _asked(spent: Spending | None) -> Asked | None:
    if spent is None or not spent.asked + spent.kept:
        return None
    known = not spent.uncounted
    return Asked(
        calls=spent.asked,
        kept=spent.kept,
        input_tokens=spent.input_tokens if known else None,
        output_tokens=spent.output_tokens if known else None,
        cost_usd=None if spent.unpriced else spent.cost_usd,
    )
