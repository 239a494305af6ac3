"""Types of options that click has not."""

from __future__ import annotations

import math
import re
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


class Age(click.ParamType[float]):
    """A time span such as ``12h``, ``7d`` or ``2w``, as seconds."""

    name = "AGE"
    _UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds; fails for anything else."""
        found = re.fullmatch(r"(\d{1,6})([mhdw])", str(value).strip())
        if found is None:
            self.fail(f"must be a number and a unit, e.g. 12h, 7d or 2w, not {value!r}", param, ctx)
        return float(int(found[1]) * self._UNITS[found[2]])


def age(seconds: float) -> str:
    """A time span for people, in its largest unit: ``5 min``, ``3 h``, ``12 d``."""
    if seconds < 3600:
        return f"{max(int(seconds), 0) // 60} min"
    return f"{int(seconds) // 3600} h" if seconds < 172_800 else f"{int(seconds) // 86_400} d"
