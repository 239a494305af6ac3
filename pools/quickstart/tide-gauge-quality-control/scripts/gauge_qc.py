"""Flags doubtful samples in a record of one-minute sea levels."""

import csv
import sys
from collections import Counter
from datetime import datetime, timedelta
from statistics import mean, median

SPIKE_M, STUCK_MIN, JUMP_M = 0.25, 40, 0.15


def flags(times, levels):
    """One flag per sample: 0 good, 1 spike, 2 stuck, 3 first after a gap, 4 day after a datum jump."""
    found = [0] * len(levels)
    for n, level in enumerate(levels):
        if abs(level - median(levels[max(0, n - 5) : n + 6])) > SPIKE_M:
            found[n] = 1
    start = 0
    for n in range(1, len(levels) + 1):
        if n == len(levels) or levels[n] != levels[start]:
            if n - start >= STUCK_MIN:
                found[start:n] = [2] * (n - start)
            start = n
    for n in range(1, len(times)):
        if times[n] - times[n - 1] > timedelta(minutes=1) and not found[n]:
            found[n] = 3
    _flag_jumps(times, levels, found)
    return found


def _flag_jumps(times, levels, found):
    days = {}
    for time, level, flag in zip(times, levels, found):
        if flag in (0, 3):
            days.setdefault(time.date(), []).append(level)
    means = {day: mean(values) for day, values in days.items()}
    for n, time in enumerate(times):
        today, before = means.get(time.date()), means.get(time.date() - timedelta(days=1))
        if not found[n] and today is not None and before is not None and abs(today - before) > JUMP_M:
            found[n] = 4


def main() -> None:
    """Flag the record named on the command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: gauge_qc.py RECORD.csv")
    with open(sys.argv[1], newline="") as file:
        rows = list(csv.DictReader(file))
    found = flags([datetime.fromisoformat(r["time"]) for r in rows], [float(r["level_m"]) for r in rows])
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["time", "level_m", "flag"])
    table.writerows([row["time"], row["level_m"], flag or ""] for row, flag in zip(rows, found))
    print(dict(Counter(found)), file=sys.stderr)


if __name__ == "__main__":
    main()
