#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import json
import os
import sys
from datetime import datetime, timedelta

sys.path.insert(0, os.path.join(os.environ["SKILLS_DIR"], "inshore-tide-predictor", "scripts"))
from tides import height


def windows(call):
    midnight = datetime.fromisoformat(call["date"])
    mark = call["sill_m"] + call["draught_m"] + call["clearance_m"]
    found = []
    for minute in (midnight + timedelta(minutes=m) for m in range(1440)):
        clock = minute.strftime("%H:%M")
        if height(call["port"], minute) < mark:
            before = False
        elif found and before:
            found[-1]["close"] = clock
        else:
            found.append({"open": clock, "close": clock})
            before = True
    return found


with open("calls.json") as file:
    calls = json.load(file)
with open("windows.json", "w") as file:
    json.dump({call["id"]: windows(call) for call in calls}, file, indent=1)
PY
