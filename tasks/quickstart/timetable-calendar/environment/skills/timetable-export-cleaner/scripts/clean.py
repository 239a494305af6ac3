"""Cleans the iCalendar export of the college's timetable system (conventions: SKILL.md)."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

COLLEGE: Dict[str, Any] = json.loads(
    Path(__file__).resolve().parent.parent.joinpath("references", "college.json").read_text(encoding="utf-8")
)
QUARTER = timedelta(minutes=15)
_SUMMARY = re.compile(r"(?P<course>[A-Z]{3}\d{3})\s+(?P<kind>[LSPX])(?P<sharp>!?)\s+\((?P<teacher>.+)\)")
_ROOM = re.compile(r"(?P<building>[A-Z]{2})(?P<floor>\d)\.(?P<room>\d+)$")
_OLD_ROOM = re.compile(r"(?P<wing>[A-Z])/(?P<room>(?P<floor>\d)\d+)$")


@dataclass(frozen=True)
class Event:
    """One class or exam, in college time. `week` is ``None`` only in reading week."""

    course: str
    kind: str
    week: Optional[int]
    start: datetime
    end: datetime
    place: str
    teacher: str


def read_events(path: str) -> List[Event]:
    """The events of an export that really take place, sorted by start and course.

    Raises:
        ValueError: a summary, a room or a date that does not follow the college's conventions.
    """
    with open(path, encoding="utf-8", newline="") as file:
        raw = list(_raw_events(file.read()))
    newest: Dict[str, Dict[str, str]] = {}
    for event in raw:
        held = newest.get(event["UID"])
        if held is None or int(event["SEQUENCE"]) >= int(held["SEQUENCE"]):
            newest[event["UID"]] = event
    single: Dict[Any, Event] = {}
    for _, event in sorted(newest.items()):
        if event.get("STATUS") != "CANCELLED":
            made = _event(event)
            if made is not None:
                single.setdefault((made.course, made.kind, made.start), made)
    return sorted(single.values(), key=lambda e: (e.start, e.course))


def place(code: str) -> str:
    """A room code spelled out."""
    new, old = _ROOM.match(code), _OLD_ROOM.match(code)
    if new:
        building, parts = new["building"], new
    elif old:
        building, parts = COLLEGE["wings"][old["wing"]], old
    else:
        raise ValueError(f"unknown room code: {code}")
    return f"{COLLEGE['buildings'][building]}, floor {parts['floor']}, room {parts['room']}"


def _raw_events(text: str) -> Iterator[Dict[str, str]]:
    unfolded = re.sub(r"\r?\n[ \t]", "", text)
    event: Dict[str, str] = {}
    for line in unfolded.splitlines():
        name, _, value = line.partition(":")
        if line == "BEGIN:VEVENT":
            event = {"SEQUENCE": "0"}
        elif line == "END:VEVENT":
            yield event
        else:
            event[name.partition(";")[0]] = re.sub(r"\\(.)", r"\1", value)


def _event(raw: Dict[str, str]) -> Optional[Event]:
    """One event; ``None`` when the college is closed or reads."""
    summary = _SUMMARY.match(raw["SUMMARY"])
    if summary is None:
        raise ValueError(f"unknown summary: {raw['SUMMARY']}")
    start, end = (datetime.strptime(raw[key], "%Y%m%dT%H%M%SZ") for key in ("DTSTART", "DTEND"))
    kind = COLLEGE["kinds"][summary["kind"]]
    term = _term(start.date())
    week = _week(term, start.date())
    if kind != "exam" and (week is None or start.date().isoformat() in term["closed"]):
        return None
    if kind in ("lecture", "seminar") and not summary["sharp"]:
        start += QUARTER
    return Event(summary["course"], kind, week, start, end, place(raw["LOCATION"]), summary["teacher"])


def _term(day: date) -> Dict[str, Any]:
    for term in COLLEGE["terms"]:
        if term["first"] <= day.isoformat() <= term["last"]:
            return dict(term)
    raise ValueError(f"{day} is in no term")


def _week(term: Dict[str, Any], day: date) -> Optional[int]:
    number = (day - date.fromisoformat(term["first"])).days // 7 + 1
    reading = (date.fromisoformat(term["reading_week"]) - date.fromisoformat(term["first"])).days // 7 + 1
    return None if number == reading else number - (number > reading)


def main() -> None:
    """Print the events of an export."""
    if len(sys.argv) != 2:
        sys.exit("usage: clean.py EXPORT.ics")
    for event in read_events(sys.argv[1]):
        week = "" if event.week is None else f"week {event.week}"
        print(
            f"{event.start:%Y-%m-%d %H:%M}-{event.end:%H:%M}  {event.course} {event.kind}  {week}  {event.place}"
        )


if __name__ == "__main__":
    main()
