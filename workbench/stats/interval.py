"""A two-sided interval, the form in which every uncertainty leaves this room."""

from __future__ import annotations

from dataclasses import dataclass

LEVEL = 0.95
"""Confidence level wherever none is given."""


@dataclass(frozen=True, slots=True)
class Interval:
    """`low` <= `high`, in the unit of the estimate, at confidence `level` in (0, 1)."""

    low: float
    high: float
    level: float = LEVEL

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """`high` minus `low`."""
        return self.high - self.low
