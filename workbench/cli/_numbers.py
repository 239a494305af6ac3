"""Types of options that click has not."""

from __future__ import annotations

import math
from typing import Any

import click


class Finite(click.FloatRange):
    """A number in a range. Click's own range lets ``nan`` through, which no comparison refuses."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; fails for one that is none."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a number", param, ctx)
        return number


class Whole(click.IntRange):
    """A whole number in a range, refused in plain words (click's are ``x>=1``)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; fails for anything else."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            limits = f"of at least {self.min}" if self.max is None else f"from {self.min} to {self.max}"
            self.fail(f"must be a whole number {limits}, not {value!r}", param, ctx)
