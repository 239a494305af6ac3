"""Lethality of steam cycles."""

from dataclasses import dataclass
from typing import Dict, Optional, Sequence

REFERENCE_C, Z_VALUE, LEAST_C = 121.1, 10.0, 100.0


@dataclass(frozen=True)
class Cycle:
    """F0 by probe in minutes, the coldest probe, and whether the load passed."""

    f0: Dict[str, float]
    coldest: str
    passed: bool


def lethality(celsius: float) -> float:
    """What a minute at a temperature counts."""
    return 10 ** ((celsius - REFERENCE_C) / Z_VALUE) if celsius >= LEAST_C else 0.0


def cycle(probes: Dict[str, Sequence[Optional[float]]], step_seconds: int, required: float = 15.0) -> Cycle:
    """Judge one cycle; a probe with unknown samples has an F0 of 0."""
    found = {}
    for name, values in probes.items():
        if any(value is None for value in values):
            found[name] = 0.0
            continue
        rates = [lethality(value) for value in values]
        area = sum((a + b) / 2 for a, b in zip(rates, rates[1:])) * step_seconds / 60
        found[name] = round(area, 1)
    coldest = min(found, key=found.__getitem__)
    return Cycle(found, coldest, found[coldest] >= required)
