"""Next runs of a cron expression."""

import argparse
from datetime import datetime, timedelta

FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekdays", 0, 7))
FURTHEST = timedelta(days=366 * 8)


def values(text, low, high):
    """The values that one field allows.

    Raises:
        ValueError: out of range.
    """
    found = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        start = low if span == "*" else int(first)
        end = high if span == "*" or (step and not last) else int(last or first)
        if not low <= start <= end <= high:
            raise ValueError(f"{part} is not within {low}-{high}")
        found |= set(range(start, end + 1, int(step or 1)))
    return found


def runs(expression, after):
    """The moments, from one on, at which an expression runs, for at most eight years."""
    parts = expression.split()
    minutes, hours, days, months, weekdays = (
        values(p, low, high) for p, (_, low, high) in zip(parts, FIELDS)
    )
    weekdays = {day % 7 for day in weekdays}
    either = parts[2] != "*" and parts[4] != "*"
    moment = after.replace(second=0, microsecond=0)
    while moment < after + FURTHEST:
        by_day, by_weekday = moment.day in days, moment.isoweekday() % 7 in weekdays
        fits = by_day or by_weekday if either else by_day and by_weekday
        if moment.month not in months or not fits:
            moment = (moment + timedelta(days=1)).replace(hour=0, minute=0)
            continue
        if moment.hour in hours and moment.minute in minutes:
            yield moment
        moment += timedelta(minutes=1)


def main():
    """Explain one expression."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("expression")
    parser.add_argument("--from", dest="start", type=datetime.fromisoformat, required=True)
    parser.add_argument("--count", type=int, default=5)
    asked = parser.parse_args()
    named = zip(FIELDS, asked.expression.split())
    print(", ".join(f"{name} {text}" for (name, _, _), text in named if text != "*"))
    for n, moment in enumerate(runs(asked.expression, asked.start)):
        if n == asked.count:
            break
        print(f"{moment:%Y-%m-%d %H:%M}")


if __name__ == "__main__":
    main()
