"""Rotating shift patterns to a wall planner."""

import argparse
from datetime import date, timedelta

HOURS = {"E": ("06:00", "14:00"), "L": ("14:00", "22:00"), "N": ("22:00", "06:00")}
REST_HOURS = 11


def letters(pattern, start, days, ahead, closed):
    """The letter of each day for somebody who is some days ahead in the pattern."""
    for n in range(days):
        day = start + timedelta(days=n)
        yield "x" if day.isoformat() in closed else pattern[(n + ahead) % len(pattern)]


def too_short(one, other, hours):
    """Whether the rest between two following days' shifts is too short."""
    if one not in hours or other not in hours:
        return False
    (begin, end), (next_begin, _) = hours[one], hours[other]
    ends = _minutes(end) + (1440 if _minutes(end) <= _minutes(begin) else 0)
    return _minutes(next_begin) + 1440 - ends < REST_HOURS * 60


def _minutes(clock):
    return int(clock[:2]) * 60 + int(clock[3:])


def main():
    """Print a wall planner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern")
    parser.add_argument("--start", type=date.fromisoformat, required=True)
    parser.add_argument("--days", type=int, default=28)
    parser.add_argument("--team", default="A,B,C")
    parser.add_argument("--shift", type=int, default=0)
    parser.add_argument("--letter", action="append", default=[], help="D=09:00-17:00")
    parser.add_argument("--closed", action="append", default=[])
    parser.add_argument("--cover", type=int, default=0)
    asked = parser.parse_args()
    hours = dict(HOURS)
    for given in asked.letter:
        name, _, span = given.partition("=")
        hours[name] = tuple(span.split("-"))
    team = asked.team.split(",")
    rows = {
        who: list(letters(asked.pattern, asked.start, asked.days, n * asked.shift, set(asked.closed)))
        for n, who in enumerate(team)
    }
    dates = [asked.start + timedelta(days=n) for n in range(asked.days)]
    print(" " * 6 + " ".join(f"{day:%d}" for day in dates))
    for who, row in rows.items():
        print(f"{who:6}" + "  ".join(row))
        for day, one, other in zip(dates, row, row[1:]):
            if too_short(one, other, hours):
                raise SystemExit(f"{who} has less than {REST_HOURS} hours of rest after {day}")
    for n, day in enumerate(dates if asked.cover else []):
        today = [row[n] for row in rows.values()]
        lacking = [name for name in "ELN" if today.count(name) < asked.cover]
        if lacking and "x" not in today:
            raise SystemExit(f"{day}: nobody for {', '.join(lacking)}")


if __name__ == "__main__":
    main()
