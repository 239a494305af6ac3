"""Checks palette.json against inks chosen by a second program with the desk's rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from verdict import expect, judge, near, read_json

WANTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))


def chart(name: str) -> dict[str, Any]:
    """One chart of the answer, with an object for each series."""
    found = read_json("palette.json", dict).get(name)
    expect(isinstance(found, dict), f"{name} is missing")
    series = found.get("series")
    expect(isinstance(series, dict), f"{name} has no series")
    expect(all(isinstance(one, dict) for one in series.values()), f"{name}: each series must be an object")
    return found


def every_series_has_its_ink() -> None:
    for name, wanted in WANTED.items():
        found = {series: one.get("ink") for series, one in chart(name)["series"].items()}
        right = {series: ink for series, (ink, _) in wanted["series"].items()}
        wrong = sorted(
            series for series in right.keys() | found.keys() if right.get(series) != found.get(series)
        )
        expect(not wrong, f"{name}: other inks for {', '.join(map(str, wrong))}")


def the_site_shows_the_same_colours() -> None:
    for name, wanted in WANTED.items():
        for series, (_, colour) in wanted["series"].items():
            found = str(chart(name)["series"].get(series, {}).get("hex")).upper()
            expect(found == colour, f"{name}: {series} is {found[:20]}, not {colour}")


def the_closest_pair_is_reported() -> None:
    for name, wanted in WANTED.items():
        found = chart(name).get("closest")
        expect(near(found, wanted["closest"], 0.051), f"{name}: {found}, not {wanted['closest']}")


if __name__ == "__main__":
    judge([every_series_has_its_ink, the_site_shows_the_same_colours, the_closest_pair_is_reported])
