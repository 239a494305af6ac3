"""Checks batch_sheet.json to the step of the scales; the weights were worked out in a separate sheet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from verdict import expect, judge, near, read_json

WANTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
RAISING = {"yeast", "baking soda", "baking powder"}


def batch(recipe: str) -> dict[str, Any]:
    """One recipe of the answer."""
    found = read_json("batch_sheet.json", dict).get(recipe)
    expect(isinstance(found, dict), f"{recipe} is not on the sheet")
    return found


def every_recipe_lists_its_ingredients() -> None:
    expect(sorted(read_json("batch_sheet.json", dict)) == sorted(WANTED), "other recipes than those ordered")
    for recipe, wanted in WANTED.items():
        expect(sorted(batch(recipe)) == sorted(wanted), f"{recipe} has other ingredients")


def plain_ingredients_weigh_what_they_should() -> None:
    _weights_are_right(lambda name: name not in RAISING | {"salt"})


def raising_agents_are_held_back() -> None:
    _weights_are_right(lambda name: name in RAISING)


def salt_stays_within_its_limit() -> None:
    _weights_are_right(lambda name: name == "salt")


def _weights_are_right(chosen: Any) -> None:
    for recipe, wanted in WANTED.items():
        found = batch(recipe)
        for name in filter(chosen, wanted):
            expect(
                near(found.get(name), wanted[name], 0.01),
                f"{recipe}: {name} {found.get(name)}, not {wanted[name]}",
            )


if __name__ == "__main__":
    judge(
        [
            every_recipe_lists_its_ingredients,
            plain_ingredients_weigh_what_they_should,
            raising_agents_are_held_back,
            salt_stays_within_its_limit,
        ]
    )
