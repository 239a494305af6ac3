"""Shortest safe sampling interval of a KELP-3 deployment."""

import argparse

ASLEEP_A_DAY, READING, SENDING, FIX_A_DAY = 1.9, 0.28, 0.41, 6.5
NEW_PACK, LOSS_A_DEGREE, SAFE_SHARE = 9400.0, 0.011, 0.85


def usable(water_c: float) -> float:
    """Charge of a new pack in water of a temperature, mAh."""
    return NEW_PACK * (1 - LOSS_A_DEGREE * max(0.0, 20 - water_c))


def spent(days: int, interval_min: int, repeats: int) -> float:
    """Charge of a whole deployment, mAh."""
    readings = 1440 / interval_min
    return days * (ASLEEP_A_DAY + FIX_A_DAY + readings * (READING + SENDING * (1 + repeats)))


def shortest_interval(days: int, water_c: float, repeats: int) -> int:
    """The shortest whole number of minutes that keeps within the safe share; 0 when none does."""
    budget = SAFE_SHARE * usable(water_c)
    return next((m for m in range(5, 1441) if spent(days, m, repeats) <= budget), 0)


def main() -> None:
    """Plan one deployment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, required=True)
    parser.add_argument("--water", type=float, default=10.0, help="degrees C")
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    interval = shortest_interval(asked.days, asked.water, asked.repeats)
    if not interval:
        raise SystemExit("no interval is long enough for this deployment")
    share = spent(asked.days, interval, asked.repeats) / usable(asked.water)
    print(f"sampling every {interval} min, {1440 // interval} readings a day, {share:.0%} of usable charge")
    print(f"command: SET INT={interval} RPT={asked.repeats} GPS=DAY")


if __name__ == "__main__":
    main()
