"""Grades of cold-chain records by section 7 of the quality manual (see SKILL.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

CLASSES: Dict[str, Dict[str, Any]] = json.loads(
    Path(__file__).resolve().parent.parent.joinpath("references", "classes.json").read_text(encoding="utf-8")
)
LONGEST_HOLE = 3
FREEZING = -0.5
DOSE_POWER = 1.3


@dataclass(frozen=True)
class Graded:
    """A grade with the figures behind it. `reason` is empty for an A."""

    grade: str
    minutes_out: int
    dose: float
    reason: str


def grade(
    values: Sequence[Optional[float]], door_open: Sequence[bool], step_minutes: int, product_class: str
) -> Graded:
    """Grade one record.

    Raises:
        KeyError: a class that the manual does not know.
    """
    rules = CLASSES[product_class]
    filled = fill_holes(values, (rules["low"] + rules["high"]) / 2)
    counted = [
        v for v, excused in zip(filled, _excused(filled, door_open, rules)) if v is not None and not excused
    ]
    out = [v for v in counted if not rules["low"] <= v <= rules["high"]]
    dose = round(sum(_beyond(v, rules) for v in out) * step_minutes / 60 + 1e-9, 2)
    letter, reason = _letter(filled, len(out) * step_minutes, dose, rules)
    return Graded(letter, len(out) * step_minutes, dose, reason)


def fill_holes(values: Sequence[Optional[float]], middle: float) -> List[Optional[float]]:
    """The record with short holes filled by the worse neighbour; gaps stay ``None``."""
    filled = list(values)
    place = 0
    while place < len(filled):
        end = place
        while end < len(filled) and values[end] is None:
            end += 1
        inside = 0 < place and end < len(filled)
        if 0 < end - place <= LONGEST_HOLE and inside:
            sides = [v for v in (values[place - 1], values[end]) if v is not None]
            filled[place:end] = [max(sides, key=lambda v: abs(v - middle))] * (end - place)
        place = max(end, place + 1)
    return filled


def _excused(
    values: Sequence[Optional[float]], door_open: Sequence[bool], rules: Dict[str, Any]
) -> List[bool]:
    """Which samples the door excuses: the first ones above the range in each opening."""
    flags = []
    left = 0
    was_open = False
    for value, is_open in zip(values, door_open):
        if is_open and not was_open:
            left = rules["door_samples"]
        excused = is_open and value is not None and value > rules["high"] and left > 0
        left -= excused
        flags.append(excused)
        was_open = is_open
    return flags


def _beyond(value: float, rules: Dict[str, Any]) -> float:
    if value > rules["high"]:
        return float((value - rules["high"]) ** DOSE_POWER)
    weight = 2 if rules["must_not_freeze"] else 1
    return float(weight * (rules["low"] - value) ** DOSE_POWER)


def _letter(
    values: Sequence[Optional[float]], minutes_out: int, dose: float, rules: Dict[str, Any]
) -> "tuple[str, str]":
    cold = [v is not None and v <= FREEZING for v in values]
    if rules["must_not_freeze"] and any(a and b for a, b in zip(cold, cold[1:])):
        return "D", "frozen"
    if dose > rules["dose_d"]:
        return "D", "dose"
    if dose > rules["dose_c"]:
        return "C", "dose"
    if any(v is None for v in values):
        return "C", "gap"
    return ("B", "allowance") if minutes_out > rules["allowance_min"] else ("A", "")
