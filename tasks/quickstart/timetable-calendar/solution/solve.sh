#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import json
import os
import sys

cleaner = os.path.join(os.environ["SKILLS_DIR"], "timetable-export-cleaner", "scripts")
fixer = os.path.join(os.environ["SKILLS_DIR"], "registry-calendar-fixer", "scripts")


def cleaned():
    sys.path.insert(0, cleaner)
    from clean import read_events

    for event in read_events("timetable.ics"):
        times = {name: getattr(event, name).strftime("%Y-%m-%dT%H:%M") for name in ("start", "end")}
        yield {**vars(event), **times}


def fixed():
    sys.path.insert(0, fixer)
    from fixcal import fix

    with open("timetable.ics", encoding="utf-8", newline="") as file:
        return fix(file.read())


# The faculty office and the registry follow the same conventions: either will do.
planner = list(cleaned() if os.path.isdir(cleaner) else fixed())
with open("planner.json", "w", encoding="utf-8") as file:
    json.dump(planner, file, indent=1)
PY
