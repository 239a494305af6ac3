"""Findings about rotated logs from a long directory listing on standard input."""

import argparse
import re
import sys
from collections import defaultdict
from datetime import date, timedelta
from statistics import median

LINE = re.compile(r"-\S+\s+\d+\s+\S+\s+\S+\s+(\d+)\s+(\d{4}-\d\d-\d\d)\s+\S+(?:\s+[+-]\d{4})?\s+(\S+)$")
FAMILY = re.compile(r"(.*?\.log)(?:[.-]\d+)?(?:\.gz)?$")


def families(lines):
    """(name, size, day) of the files of each log."""
    found = defaultdict(list)
    for line in lines:
        entry = LINE.match(line.strip())
        family = FAMILY.match(entry.group(3)) if entry else None
        if family:
            found[family.group(1)].append(
                (entry.group(3), int(entry.group(1)), date.fromisoformat(entry.group(2)))
            )
    return found


def findings(files, keep):
    """(kind, what) for the files of one log."""
    days = sorted({day for _, _, day in files})
    last = days[-1]
    for before, after in zip(days, days[1:]):
        missing = (after - before).days - 1
        if missing:
            yield "gap", f"{before + timedelta(days=1)} ({missing} days without a file)"
    usual = median(size for _, size, _ in files) or 1
    for name, size, day in sorted(files):
        if size > 5 * usual:
            yield "large", f"{name} is {size / usual:.1f} times the median"
        if size == 0:
            yield "empty", name
        if not name.endswith(".gz") and last - day > timedelta(days=1):
            yield "plain", f"{name} is older than a day and not compressed"
    if len(files) > keep:
        yield "excess", f"{len(files) - keep} files beyond {keep}"


def main():
    """Audit the listing on standard input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=int, default=30)
    asked = parser.parse_args()
    for family, files in sorted(families(sys.stdin).items()):
        days = [day for _, _, day in files]
        print(f"{family:10} {len(files)} files, {min(days)} to {max(days)}")
        for kind, what in findings(files, asked.keep):
            print(f"  {kind:9} {what}")


if __name__ == "__main__":
    main()
