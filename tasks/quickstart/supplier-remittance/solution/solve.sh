#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import csv
import os
import sys

for skill in ("hallam-remittance-reader", "penrose-cash-allocation"):
    sys.path.insert(0, os.path.join(os.environ["SKILLS_DIR"], skill, "scripts"))
from allocate import allocate, read_ledger
from halrem import read

advice = read("W0933.rem")
matches = allocate(advice.lines, read_ledger("ledger.csv"), advice.paid_on)
with open("allocation.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["line", "invoice", "applied", "code", "left_open"])
    for match in matches:
        table.writerow([match.line, match.invoice, f"{match.applied:.2f}", match.code, f"{match.left_open:.2f}"])
PY
