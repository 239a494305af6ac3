#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import json
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SKILLS_DIR"], "gazette-ink-picker", "scripts"))
from inks import INKS, pick

with open("charts.json") as file:
    charts = json.load(file)
answer = {}
for chart, series in charts.items():
    palette = pick(series)
    inks = {name: {"ink": code, "hex": INKS[code].hex} for name, code in palette.inks.items()}
    answer[chart] = {"series": inks, "closest": palette.closest}
with open("palette.json", "w") as file:
    json.dump(answer, file, indent=1)
PY
