"""Any iCalendar file to a plain list of events."""

import argparse
import csv
import json
import re
import sys
from datetime import datetime, timedelta
from typing import List, NamedTuple


class Event(NamedTuple):
    """One event, in local time."""

    start: datetime
    end: datetime
    summary: str
    place: str
    rule: str


def read_events(path: str, offset_hours: float = 0) -> List[Event]:
    """The events of a file, newest revisions only, sorted by start."""
    with open(path, encoding="utf-8", newline="") as file:
        text = re.sub(r"\r?\n[ \t]", "", file.read())
    newest = {}
    for block in re.findall(r"BEGIN:VEVENT(.*?)END:VEVENT", text, re.S):
        pairs = (line.partition(":") for line in block.strip().splitlines())
        raw = {name.partition(";")[0]: re.sub(r"\\(.)", r"\1", value) for name, _, value in pairs}
        uid = raw.get("UID", block)
        if uid not in newest or int(raw.get("SEQUENCE", 0)) >= int(newest[uid].get("SEQUENCE", 0)):
            newest[uid] = raw
    events = {}
    for raw in newest.values():
        if raw.get("STATUS") != "CANCELLED":
            start, end = (_time(raw[key], offset_hours) for key in ("DTSTART", "DTEND"))
            summary = raw.get("SUMMARY", "")
            events.setdefault(
                (start, summary), Event(start, end, summary, raw.get("LOCATION", ""), raw.get("RRULE", ""))
            )
    return sorted(events.values())


def _time(text: str, offset_hours: float) -> datetime:
    if len(text) == 8:
        return datetime.strptime(text, "%Y%m%d")
    moment = datetime.strptime(text.rstrip("Z"), "%Y%m%dT%H%M%S")
    return moment + timedelta(hours=offset_hours) if text.endswith("Z") else moment


def main() -> None:
    """List the events of a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--offset", type=float, default=0, help="hours ahead of UTC")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    events = read_events(asked.file, asked.offset)
    rows = [{**e._asdict(), "start": e.start.isoformat(), "end": e.end.isoformat()} for e in events]
    if asked.json:
        print(json.dumps(rows, indent=1))
    else:
        table = csv.DictWriter(sys.stdout, Event._fields, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
