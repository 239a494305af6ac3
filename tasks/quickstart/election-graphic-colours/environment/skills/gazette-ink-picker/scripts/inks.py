"""The Gazette's inks, and which series gets which (rule: SKILL.md)."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

_DESK: Dict[str, Any] = json.loads(
    Path(__file__).resolve().parent.parent.joinpath("references", "inks.json").read_text(encoding="utf-8")
)
LEAST_CONTRAST = {"fill": 1.6, "line": 3.0}
CHROMA_WEIGHT = 0.7
WHITE = (0.95047, 1.0, 1.08883)
TO_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
Triple = Tuple[float, float, float]


class Ink(NamedTuple):
    """One numbered ink."""

    name: str
    hex: str
    family: str


INKS: Dict[str, Ink] = {code: Ink(*rest) for code, *rest in _DESK["inks"]}


@dataclass(frozen=True)
class Palette:
    """Ink number by series, and the distance of the two inks that are hardest to tell apart."""

    inks: Dict[str, str]
    closest: float


def pick(series: Sequence[Mapping[str, Any]]) -> Palette:
    """Inks for the series of one chart, given in the order of the stack.

    Args:
        series: ``name``, ``weight``, and optionally ``role`` and ``mark`` (``fill`` or ``line``).

    Raises:
        ValueError: no ink is left that keeps the rule.
    """
    chosen = {s["name"]: _DESK["anchors"][s["role"]] for s in series if s.get("role")}
    names = [s["name"] for s in series]
    for one in sorted(series, key=lambda s: (-s["weight"], s["name"])):
        if one["name"] not in chosen:
            place = names.index(one["name"])
            beside = names[max(0, place - 1) : place] + names[place + 1 : place + 2]
            families = {INKS[chosen[name]].family for name in beside if name in chosen}
            chosen[one["name"]] = _furthest(chosen, families, one.get("mark", "fill"))
    apart = [distance(a, b) for a, b in combinations(chosen.values(), 2)]
    return Palette({name: chosen[name] for name in names}, round(min(apart, default=0.0), 1))


def distance(one: str, other: str) -> float:
    """How far apart two inks are for the reader who finds them hardest to tell apart."""
    return min(_lab_distance(_seen(one, sight), _seen(other, sight)) for sight in _DESK["sight"].values())


def contrast(code: str) -> float:
    """Contrast of an ink with the paper, as WCAG defines it."""
    dark, light = sorted((_luminance(INKS[code].hex), _luminance(_DESK["paper"])))
    return (light + 0.05) / (dark + 0.05)


def _furthest(chosen: Mapping[str, str], families: "set[str]", mark: str) -> str:
    taken = set(chosen.values()) | set(_DESK["anchors"].values())
    free = [
        code
        for code, ink in INKS.items()
        if code not in taken and ink.family not in families and contrast(code) >= LEAST_CONTRAST[mark]
    ]
    if not free:
        raise ValueError("no ink is left that keeps the rule")
    return max(
        free,
        key=lambda code: (
            min((distance(code, used) for used in chosen.values()), default=0.0),
            -int(code[1:]),
        ),
    )


def _linear(hex_colour: str) -> Triple:
    parts = (int(hex_colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return red, green, blue


def _luminance(hex_colour: str) -> float:
    return _apply([TO_XYZ[1]], _linear(hex_colour))[0]


def _seen(code: str, sight: Sequence[Sequence[float]]) -> Triple:
    """CIELAB of an ink as one kind of sight perceives it."""
    rgb = [min(1.0, max(0.0, value)) for value in _apply(sight, _linear(INKS[code].hex))]
    x, y, z = (_bend(value / white) for value, white in zip(_apply(TO_XYZ, rgb), WHITE))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _bend(value: float) -> float:
    return value ** (1 / 3) if value > (6 / 29) ** 3 else value / (3 * (6 / 29) ** 2) + 4 / 29


def _apply(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> List[float]:
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]


def _lab_distance(one: Triple, other: Triple) -> float:
    light, a, b = (x - y for x, y in zip(one, other))
    return float((light**2 + (CHROMA_WEIGHT * a) ** 2 + (CHROMA_WEIGHT * b) ** 2) ** 0.5)


def main() -> None:
    """Print the inks for a JSON list of series."""
    if len(sys.argv) != 2:
        sys.exit("usage: inks.py SERIES.json")
    with open(sys.argv[1], encoding="utf-8") as file:
        palette = pick(json.load(file))
    for name, code in palette.inks.items():
        print(f"{name:20} {code}  {INKS[code].name:14} {INKS[code].hex}")
    print(f"closest {palette.closest}")


if __name__ == "__main__":
    main()
