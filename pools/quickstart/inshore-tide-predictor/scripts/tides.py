"""Harmonic synthesis of the tide at the Harbour Office's ports (constants: references/constants.json)."""

from __future__ import annotations

import argparse
import json
import math
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Dict, List, Tuple

_TABLES: Dict[str, Any] = json.loads(
    Path(__file__)
    .resolve()
    .parent.parent.joinpath("references", "constants.json")
    .read_text(encoding="utf-8")
)
EPOCH = datetime.fromisoformat(_TABLES["epoch"])
PORTS = frozenset(_TABLES["standard"]) | frozenset(_TABLES["secondary"])


def height(port: str, when: datetime) -> float:
    """Metres above chart datum at a port; `when` is UTC without a zone.

    Raises:
        KeyError: an unknown port, or a year without nodal factors.
    """
    if port in _TABLES["standard"]:
        own = _TABLES["standard"][port]
        return float(own["mean_level_m"] + _monthly(when) + _tide(own["constants"], when))
    own = _TABLES["secondary"][port]
    leader = _TABLES["standard"][own["follows"]]
    earlier = when - timedelta(minutes=own["minutes_later"])
    return float(own["mean_level_m"] + _monthly(when) + own["ratio"] * _tide(leader["constants"], earlier))


def extremes(port: str, start: datetime, hours: int = 24) -> List[Tuple[datetime, float, str]]:
    """High and low waters from `start` on, to the minute, in order."""
    minutes = [start + timedelta(minutes=m) for m in range(-1, hours * 60 + 1)]
    levels = [height(port, minute) for minute in minutes]
    found = []
    for before, minute, here, after in zip(levels, minutes[1:], levels[1:], levels[2:]):
        if before < here >= after:
            found.append((minute, here, "high"))
        elif before > here <= after:
            found.append((minute, here, "low"))
    return found


def _monthly(when: datetime) -> float:
    return float(_TABLES["monthly_mean_m"][when.month - 1])


def _tide(constants: Dict[str, List[float]], when: datetime) -> float:
    """The tide about mean level, metres."""
    hours = (when - EPOCH).total_seconds() / 3600
    nodal = _TABLES["nodal"][str(when.year)]
    total = 0.0
    for name, (amplitude, phase) in constants.items():
        factor, angle = nodal.get(name, (1.0, 0.0))
        degrees = _TABLES["speed_deg_per_hour"][name] * hours + angle - phase
        total += factor * amplitude * math.cos(math.radians(degrees % 360))
    return total


def main() -> None:
    """Print one day of a port as CSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", choices=sorted(PORTS))
    parser.add_argument("day", type=datetime.fromisoformat, help="YYYY-MM-DD")
    parser.add_argument("--every", type=int, default=10, metavar="MINUTES")
    parser.add_argument("--extremes", action="store_true")
    asked = parser.parse_args()
    if asked.extremes:
        print("time,height_m,kind")
        for when, level, kind in extremes(asked.port, asked.day):
            print(f"{when:%Y-%m-%dT%H:%M},{level:.2f},{kind}")
        return
    print("time,height_m")
    for minute in range(0, 1440, asked.every):
        when = asked.day + timedelta(minutes=minute)
        print(f"{when:%Y-%m-%dT%H:%M},{height(asked.port, when):.2f}")


if __name__ == "__main__":
    main()
