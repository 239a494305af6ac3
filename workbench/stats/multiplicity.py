"""Corrections for testing several comparisons at once. Order of the input is kept."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values that bound the chance of any false finding (Holm 1979)."""
    count = len(p_values)
    adjusted = [0.0] * count
    running = 0.0
    for rank, index in enumerate(_ascending(p_values)):
        running = max(running, min(1.0, (count - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values that bound the expected share of false findings (Benjamini & Hochberg 1995)."""
    count = len(p_values)
    adjusted = [0.0] * count
    running = 1.0
    for rank, index in reversed(list(enumerate(_ascending(p_values), start=1))):
        running = min(running, p_values[index] * count / rank)
        adjusted[index] = running
    return adjusted


def _ascending(p_values: Sequence[float]) -> list[int]:
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError("p values must be in [0, 1]")
    return sorted(range(len(p_values)), key=p_values.__getitem__)
