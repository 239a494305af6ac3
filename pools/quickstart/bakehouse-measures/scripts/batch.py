"""Kitchen measures to grams, and recipes to batches, by the rules of the bench (see SKILL.md)."""

from __future__ import annotations

import csv
import json
import math
import sys
from pathlib import Path
from typing import Any, Dict, Mapping

SPARE = 0.02
RAISING = frozenset({"yeast", "baking powder", "baking soda"})
RAISING_POWER, RAISING_FROM = 0.9, 2
SALT_LIMIT = 0.019
EGG_GRAMS = 48.0
STEPS = ((100, 0.5), (1000, 2), (math.inf, 10))


def _read_measures() -> Dict[str, Dict[str, float]]:
    path = Path(__file__).resolve().parent.parent / "references" / "measures.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {row.pop("ingredient"): {k: float(v) for k, v in row.items() if v} for row in rows}


MEASURES = _read_measures()


def grams(name: str, amount: float, measure: str) -> float:
    """Weight of an amount of an ingredient.

    Raises:
        KeyError: the vessel was never weighed with this ingredient.
    """
    if measure == "g":
        return float(amount)
    if measure == "piece" and name == "egg":
        return amount * EGG_GRAMS
    return amount * MEASURES[name][measure]


def scale(recipe: Mapping[str, Any], pieces: int) -> Dict[str, float]:
    """Grams of each ingredient for an order, rounded as the scales show them."""
    factor = math.ceil(round(pieces * (1 + SPARE), 6)) / recipe["yields"]
    weights: Dict[str, float] = {}
    for line in recipe["ingredients"]:
        raising = line["name"] in RAISING and factor > RAISING_FROM
        times = factor**RAISING_POWER if raising else factor
        weights[line["name"]] = grams(line["name"], line["amount"], line["measure"]) * times
    flour = sum(weight for name, weight in weights.items() if "flour" in name)
    if "salt" in weights:
        weights["salt"] = min(weights["salt"], SALT_LIMIT * flour)
    return {name: shown(weight) for name, weight in weights.items()}


def shown(weight: float) -> float:
    """A weight in the steps of the scales, halves up."""
    step = next(step for limit, step in STEPS if weight < limit)
    return float(math.floor(round(weight / step, 6) + 0.5) * step)


def main() -> None:
    """Print the batch sheet of one recipe."""
    if len(sys.argv) != 3:
        sys.exit("usage: batch.py RECIPE.json PIECES")
    with open(sys.argv[1], encoding="utf-8") as file:
        recipe = json.load(file)
    for name, weight in scale(recipe, int(sys.argv[2])).items():
        print(f"{name:20}{weight:10.1f} g")


if __name__ == "__main__":
    main()
