#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import json
import os
import sys

for skill in ("frostlog-reader", "excursion-grading", "disposition-notes"):
    sys.path.insert(0, os.path.join(os.environ["SKILLS_DIR"], skill, "scripts"))

with open("shipments.json") as file:
    shipments = json.load(file)


def save(name, value):
    with open(name, "w") as file:
        json.dump(value, file)


from frostlog import read

logs = {shipment["lot"]: read(shipment["log"]) for shipment in shipments}
save("readings.json", {lot: log.values for lot, log in logs.items()})

from grading import grade

graded = {}
for shipment in shipments:
    log = logs[shipment["lot"]]
    graded[shipment["lot"]] = grade(log.values, log.door_open, log.step_minutes, shipment["product_class"])
figures = ("grade", "minutes_out", "dose")
save("grades.json", {lot: {key: getattr(result, key) for key in figures} for lot, result in graded.items()})

from note import render

os.makedirs("notes", exist_ok=True)
for shipment in shipments:
    lot = shipment["lot"]
    with open(os.path.join("notes", f"{lot}.txt"), "w", encoding="utf-8") as file:
        file.write(render({**shipment, "logger": logs[lot].logger}, **vars(graded[lot])))
PY
