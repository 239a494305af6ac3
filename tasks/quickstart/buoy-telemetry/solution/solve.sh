#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import json
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SKILLS_DIR"], "kelp3-frame-decoder", "scripts"))
from kelp3 import decode, repeats, without_repeats

with open("capture.bin", "rb") as file:
    capture = decode(file.read())

kept = sorted(without_repeats(capture.readings), key=lambda r: (r.buoy, r.time))
answer = {
    "readings": [{**vars(r), "time": r.time.strftime("%Y-%m-%dT%H:%M:%SZ")} for r in kept],
    "repeated": repeats(capture.readings),
    "refused": sum(capture.refused.values()),
}
with open("readings.json", "w") as file:
    json.dump(answer, file, indent=1)
PY
