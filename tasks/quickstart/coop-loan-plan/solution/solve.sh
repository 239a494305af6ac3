#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import json
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SKILLS_DIR"], "meridian-loan-plans", "scripts"))
from schedule import schedule


def row(row):
    money = {name: float(getattr(row, name)) for name in ("interest", "principal", "dividend", "balance")}
    return {"no": row.no, "date": row.date.isoformat(), **money}


with open("loans.json") as file:
    plans = {loan["id"]: schedule(loan) for loan in json.load(file)}
answer = {
    loan: {
        "instalment": float(plan.instalment),
        "total_interest": float(plan.total_interest),
        "rows": [row(r) for r in plan.rows],
    }
    for loan, plan in plans.items()
}
with open("plans.json", "w") as file:
    json.dump(answer, file, indent=1)
PY
