"""Checks readings.json against the sheet from which the capture's frames were encoded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from verdict import expect, judge, near, read_json

WANTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))


def answer() -> dict[str, Any]:
    """The answer, with a list of objects under ``readings``."""
    found = read_json("readings.json", dict)
    readings = found.get("readings")
    expect(isinstance(readings, list), "readings must be a list")
    expect(all(isinstance(r, dict) for r in readings), "each reading must be an object")
    return found


def every_sound_reading_is_there_once_and_in_order() -> None:
    found = [[r.get("buoy"), r.get("sequence"), r.get("time")] for r in answer()["readings"]]
    wanted = [[r["buoy"], r["sequence"], r["time"]] for r in WANTED["readings"]]
    expect(len(found) == len(wanted), f"{len(found)} readings, not {len(wanted)}")
    expect(found == wanted, "other buoys, sequence numbers or times, or another order")


def readings_are_calibrated() -> None:
    pairs = list(zip(answer()["readings"], WANTED["readings"]))
    expect(len(pairs) == len(WANTED["readings"]), "readings are missing")
    for found, wanted in pairs:
        for key, within in (("temperature_c", 0.002), ("salinity_psu", 0.005), ("battery_v", 0.005)):
            expect(
                near(found.get(key), wanted[key], within),
                f"{key} of buoy {wanted['buoy']} at {wanted['time']}",
            )


def sea_anchors_are_reported() -> None:
    found = [r.get("drogue") for r in answer()["readings"]]
    expect(found == [r["drogue"] for r in WANTED["readings"]], "another set of drogues")


def repeats_and_refusals_are_counted() -> None:
    found = answer()
    for key in ("repeated", "refused"):
        expect(near(found.get(key), WANTED[key], 0), f"{key} is not {WANTED[key]}")


if __name__ == "__main__":
    judge(
        [
            every_sound_reading_is_there_once_and_in_order,
            readings_are_calibrated,
            sea_anchors_are_reported,
            repeats_and_refusals_are_counted,
        ]
    )
