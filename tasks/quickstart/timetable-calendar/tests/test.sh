#!/bin/bash
# Checks the answer in the working directory; the verdict lands in $LOGS_DIR/verifier.
export TESTS_DIR="${TESTS_DIR:-/tests}" LOGS_DIR="${LOGS_DIR:-/logs}"
mkdir -p "$LOGS_DIR/verifier"
rm -rf "$LOGS_DIR/verifier/reward.txt" "$LOGS_DIR/verifier/ctrf.json"
# -EsS: nothing that was installed or set while the task was solved has a say in the checks.
python3 -EsSB "$TESTS_DIR/check.py"
