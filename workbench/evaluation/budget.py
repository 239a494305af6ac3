"""A sum of money that one process may spend: trials that it might not cover are not started.

A trial is admitted when what is spent, what the trials in progress may still take, and what this one
may take stay within the sum. What a trial may take is what the dearest so far took; until one has
ended, they run one by one. The trial's own ceiling is all that is left for it, so that a runaway
trial is ended (and verified) instead of the sum exceeded; a single call can pass it by its own price.

Trials that are refused count as not run, and ``inspect eval-retry`` or the same ``eval-set`` runs
them with the sum given anew.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Literal

import anyio
from inspect_ai.model import get_model, get_model_info

from workbench.core.errors import TrialError


@dataclass
class Budget:
    """One purse, in US dollars, shared by all evaluations of a process under the same sum.

    Attributes:
        spent: by trials that have ended.
        open: trials in progress -> what is set aside for each.
        dearest: cost of the dearest trial so far; ``None`` before the first has ended.
    """

    limit: float
    spent: float = 0.0
    open: dict[str, float] = field(default_factory=dict)
    dearest: float | None = None
    _changed: anyio.Condition = field(default_factory=anyio.Condition)
    _told: bool = False

    async def admit(self, trial: str) -> float:
        """Wait until the trial can be covered, and set money aside for it; returns its ceiling.

        Raises:
            TrialError: ``stopped``; it cannot be covered any more.
        """
        async with self._changed:
            while not self._covers():
                if not self.open:
                    raise self._over()
                await self._changed.wait()
            ceiling = self._left()
            self.open[trial] = ceiling if self.dearest is None else self.dearest
            return ceiling

    async def settle(self, trial: str, cost: float | None) -> None:
        """Take note that a trial has ended. A cost that is not known counts as the dearest so far."""
        async with self._changed:
            if self.open.pop(trial, None) is None:
                return
            paid = (self.dearest or 0.0) if cost is None else cost
            self.spent += paid
            self.dearest = max(paid, self.dearest or 0.0)
            self._changed.notify_all()

    def _left(self) -> float:
        return self.limit - self.spent - sum(self.open.values())

    def _covers(self) -> bool:
        if self.dearest is None:
            return not self.open and self.limit > 0
        return self._left() >= self.dearest and self._left() > 0

    def _over(self) -> TrialError:
        spent = f"${self.spent:.4g} of the budget of ${self.limit:g} are spent"
        text = f"{spent}, and a trial takes up to ${self.dearest:.4g}"
        if not self._told:
            self._told = True
            sys.stderr.write(f"skill-workbench: no further trials are started: {text}\n")
        return TrialError("stopped", f"not started: {text}")


_purses: dict[float, Budget] = {}
_shared: list[Budget] = []


def share(limit: float | None) -> None:
    """Give all evaluations of this process one purse, those without a sum of their own; ``None``: none."""
    _shared[:] = [] if limit is None else [Budget(limit)]


def budget_of(limit: float | None) -> Budget | None:
    """The purse of a sum in this process, else the shared one; ``None`` without either."""
    if limit is None:
        return _shared[0] if _shared else None
    return _purses.setdefault(limit, Budget(limit))


def priced(limit: float, unpriced: Literal["refuse", "allow"]) -> bool:
    """Whether the price of the model in use is known.

    Raises:
        TrialError: ``config:model``; it is not, and a model without a price is refused.
    """
    model = get_model()
    info = get_model_info(model)
    if str(model) == "none/none" or (info is not None and info.cost is not None):
        return True
    if unpriced == "allow":
        return False
    raise TrialError(
        "config:model",
        f"a budget of ${limit:g} cannot be kept: the price of {model} is unknown; give its price"
        " (-M input_cost_per_token=USD -M output_cost_per_token=USD, or --model-cost-config FILE),"
        " or count it as nothing: -T unpriced=allow",
    )
