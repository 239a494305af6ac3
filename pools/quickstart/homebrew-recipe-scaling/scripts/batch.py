"""Scales beer recipes between batch sizes."""

from typing import Any, Dict, Mapping

HOP_POWER = 0.95
YEAST_A_LITRE, YEAST_A_LITRE_LARGE, LARGE = 0.55, 0.61, 50
STEP = {"malt": 50.0, "hops": 1.0, "yeast": 1.0}


def scale(recipe: Mapping[str, Any], litres: float, efficiency: float = 75.0) -> Dict[str, float]:
    """Grams of each ingredient for a batch of some litres."""
    factor = litres / recipe["litres"]
    scaled = {}
    for line in recipe["ingredients"]:
        kind = line["kind"]
        if kind == "malt":
            weight = line["grams"] * factor * recipe["efficiency"] / efficiency
        elif kind == "hops":
            weight = line["grams"] * factor**HOP_POWER
        elif kind == "yeast":
            weight = litres * (YEAST_A_LITRE if litres <= LARGE else YEAST_A_LITRE_LARGE)
        else:
            weight = line["grams"] * factor
        step = STEP.get(kind, 0.1)
        scaled[line["name"]] = round(round(weight / step) * step, 1)
    return scaled
