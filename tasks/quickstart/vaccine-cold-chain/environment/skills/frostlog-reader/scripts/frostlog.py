"""Reader for FrostLog 2 temperature files (format: references/format.md)."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import List, Optional

DIGITS = "0123456789ABCDEFGHJKMNPQRTUVWXYZ"
RISES, FALLS = "abcdefghijklm", "nopqrstuvwxyz"
ZERO = 500
_LINE = re.compile(r"\|((\d+)(=.*)):(..)$")
_SAMPLE = re.compile(r"=(...)|\*(\d)|([a-z.!])")


@dataclass
class Log:
    """One logger's run. `values` are degrees C after calibration, ``None`` where unknown."""

    logger: str
    start: datetime
    step_minutes: int
    values: List[Optional[float]] = field(default_factory=list)
    door_open: List[bool] = field(default_factory=list)

    def time(self, sample: int) -> datetime:
        """When a sample (from 0) was taken, UTC."""
        return self.start + timedelta(minutes=self.step_minutes * sample)


def read(path: str) -> Log:
    """Read one file.

    Raises:
        ValueError: not a FrostLog 2 file, or a line of an unknown kind.
    """
    with open(path, encoding="ascii") as file:
        lines = [line.strip() for line in file if line.strip()]
    if lines[:1] != ["FROSTLOG 2"]:
        raise ValueError(f"{path}: not a FrostLog 2 file")
    _, logger, key = lines[1].split()
    _, start, step = lines[2].split()
    log = Log(logger, datetime.strptime(start, "%Y-%m-%dT%H:%MZ"), int(step))
    shift = int(key[1:]) * (1 if key[0] == "K" else -1)
    openings = []
    for line in lines[3:]:
        if line.startswith("D "):
            openings.append([int(part) for part in line.split()[1:]])
        else:
            log.values += _values(line, shift)
    log.door_open = [any(a <= n < a + k for a, k in openings) for n in range(1, len(log.values) + 1)]
    return log


def check_digits(text: str) -> str:
    """The two check digits of a data line's text between ``|`` and ``:``."""
    total = sum(place * ord(sign) for place, sign in enumerate(text, start=1)) % 1024
    return DIGITS[total // 32] + DIGITS[total % 32]


def _values(line: str, shift: int) -> List[Optional[float]]:
    """The samples of one data line, or as many unknowns when it cannot be trusted."""
    parts = _LINE.match(line)
    if parts is None:
        raise ValueError(f"unknown line: {line}")
    text, count, samples, sent = parts.group(1), int(parts.group(2)), parts.group(3), parts.group(4)
    tenths = _tenths(samples) if check_digits(text) == sent else []
    if len(tenths) != count:
        return [None] * count
    return [None if value is None else round((value + shift) / 10, 1) for value in tenths]


def _tenths(samples: str) -> List[Optional[int]]:
    found: List[Optional[int]] = []
    last = 0
    for absolute, again, sign in _SAMPLE.findall(samples):
        if absolute:
            last = int(sum(DIGITS.index(d) * 32**p for p, d in enumerate(reversed(absolute)))) - ZERO
        elif again:
            found += [last] * int(again)
            continue
        elif sign == "!":
            found.append(None)
            continue
        elif sign in RISES:
            last += RISES.index(sign) + 1
        elif sign in FALLS:
            last -= FALLS.index(sign) + 1
        found.append(last)
    return found


def main() -> None:
    """Print a file as CSV."""
    if len(sys.argv) != 2:
        sys.exit("usage: frostlog.py FILE.flog")
    log = read(sys.argv[1])
    print("time,celsius,door")
    for n, (value, is_open) in enumerate(zip(log.values, log.door_open)):
        print(f"{log.time(n):%Y-%m-%dT%H:%MZ},{'' if value is None else value},{'open' if is_open else ''}")


if __name__ == "__main__":
    main()
