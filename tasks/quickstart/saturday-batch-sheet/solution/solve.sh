#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import csv
import json
import os
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.environ["SKILLS_DIR"], "bakehouse-measures", "scripts"))
from batch import scale

ordered = Counter()
with open("orders.csv", newline="") as file:
    for order in csv.DictReader(file):
        ordered[order["recipe"]] += int(order["pieces"])
with open("recipes.json") as file:
    recipes = json.load(file)
with open("batch_sheet.json", "w") as file:
    json.dump({name: scale(recipes[name], pieces) for name, pieces in ordered.items()}, file, indent=1)
PY
