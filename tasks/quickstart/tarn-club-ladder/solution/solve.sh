#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import csv
import json
import os
import sys

for skill in ("tarn-game-notation", "tarn-ladder-points"):
    sys.path.insert(0, os.path.join(os.environ["SKILLS_DIR"], skill, "scripts"))
from ladder import Played, update
from tarn import read_games, replay

counted = [(game, replay(game)) for game in read_games("week33.tarn")]
with open("results.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["game", "south", "north", "resigned"])
    table.writerows([game.number, r.south, r.north, r.resigned] for game, r in counted)

with open("ladder.csv", newline="") as file:
    ladder = [(row["player"], int(row["points"])) for row in csv.DictReader(file)]
results = [Played(game.south, game.north, r.south, r.north, r.resigned) for game, r in counted]
with open("ladder.json", "w") as file:
    json.dump([vars(row) for row in update(ladder, results)], file, indent=1)
PY
