#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SKILLS_DIR"], "northline-waybill-check", "scripts"))
from waybill import canonical, complete, is_sound


def judge(number):
    if "?" not in number:
        return ("sound", canonical(number)) if is_sound(number) else ("unsound", "")
    fits = complete(number)
    if len(fits) == 1:
        return "restored", fits[0]
    return ("unclear", "") if fits else ("unsound", "")


with open("scans.csv", newline="") as file:
    scans = list(csv.DictReader(file))
with open("verdicts.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["scan", "verdict", "number"])
    table.writerows([scan["scan"], *judge(scan["number"])] for scan in scans)
PY
