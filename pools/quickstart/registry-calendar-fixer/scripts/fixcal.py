"""Repairs the scheduling database's class calendar for publication (conventions: SKILL.md)."""

import csv
import datetime as dt
import re
import sys

BUILDING = {
    "HH": "Harald Hall",
    "SB": "Salt Building",
    "LI": "Library",
    "OB": "Old Observatory",
    "AN": "Annexe",
    "MW": "Mill Workshop",
    "GR": "Greenhouse",
}
WING = {"A": "AN", "B": "SB", "C": "OB", "M": "MW"}
TERMS = [  # first Monday, last day, Monday of reading week, closed days
    ("2030-09-16", "2030-12-20", "2030-11-04", {"2030-10-28"}),
    ("2031-02-03", "2031-05-23", "2031-03-17", {"2031-04-18", "2031-04-21", "2031-05-01"}),
    ("2031-09-15", "2031-12-19", "2031-11-03", {"2031-10-27"}),
]
KIND = {"L": "lecture", "S": "seminar", "P": "practical", "X": "exam"}
COLUMNS = ["start", "end", "course", "kind", "week", "place", "teacher"]


def fix(text):
    """Rows (dicts with the keys of `COLUMNS`) of the classes that take place, oldest first."""
    entries = [parse(block) for block in blocks(text)]
    entries.sort(key=lambda entry: (entry["UID"], int(entry.get("SEQUENCE", 0))))
    valid = {entry["UID"]: entry for entry in entries}  # the last of each UID stays
    rows = {}
    for entry in valid.values():
        row = None if entry.get("STATUS") == "CANCELLED" else publish(entry)
        if row:
            rows.setdefault((row["start"], row["course"], row["kind"]), row)
    return [rows[key] for key in sorted(rows)]


def blocks(text):
    """The unfolded lines of each VEVENT."""
    unfolded = re.sub("\r?\n[ \t]", "", text)
    return [found.strip().splitlines() for found in re.findall("BEGIN:VEVENT(.*?)END:VEVENT", unfolded, re.S)]


def parse(lines):
    """Property values by name, parameters dropped and escapes undone."""
    pairs = (line.split(":", 1) for line in lines)
    return {name.split(";")[0]: re.sub(r"\\(.)", r"\1", value) for name, value in pairs}


def publish(entry):
    """One row, or nothing when no class is held on that day."""
    course, mark, teacher = re.match(r"(\w+) +(\w!?) +\((.*)\)", entry["SUMMARY"]).groups()
    start, end = (dt.datetime.strptime(entry[key], "%Y%m%dT%H%M%SZ") for key in ("DTSTART", "DTEND"))
    week, held = teaching_week(start.date())
    if not held and mark[0] != "X":
        return None
    if mark in ("L", "S"):
        start += dt.timedelta(minutes=15)
    return {
        "start": start.strftime("%Y-%m-%dT%H:%M"),
        "end": end.strftime("%Y-%m-%dT%H:%M"),
        "course": course,
        "kind": KIND[mark[0]],
        "week": week,
        "place": room(entry["LOCATION"]),
        "teacher": teacher,
    }


def teaching_week(day):
    """(teaching week or None in reading week, whether classes are held)."""
    for first, last, reading, closed in TERMS:
        if first <= str(day) <= last:
            monday = day - dt.timedelta(days=day.weekday())
            week = (monday - dt.date.fromisoformat(first)).days // 7 + 1
            if str(monday) == reading:
                return None, False
            return week - (str(monday) > reading), str(day) not in closed
    raise ValueError(f"{day} is in no term")


def room(code):
    """A room code as people say it."""
    if "/" in code:
        wing, number = code.split("/")
        return f"{BUILDING[WING[wing]]}, floor {number[0]}, room {number}"
    building, number = code[:2], code[4:]
    return f"{BUILDING[building]}, floor {code[2]}, room {number}"


def main():
    """Fix the calendar named on the command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: fixcal.py CALENDAR.ics")
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        rows = fix(file.read())
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)


if __name__ == "__main__":
    main()
