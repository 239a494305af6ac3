"""Starter feeds, worked back from the hour of the oven."""

import argparse

TIMES, DOUGH_HOURS, RIPE_HOURS, RIPE_AT, KEPT_BACK = 5, 8, 10.0, 21.0, 300
DAYS = ("Sat", "Fri", "Thu", "Wed")


def ripe_hours(room_c: float) -> float:
    """Hours until a build is ripe."""
    return max(4.0, RIPE_HOURS + (RIPE_AT - room_c) / 3 * 2)


def builds(leaven_g: float) -> list:
    """Starter, water and flour of each build, first to last, in grams."""
    needed = leaven_g + KEPT_BACK
    count = 3 if leaven_g > 20000 else 2
    weights = []
    for _ in range(count):
        seed = needed / TIMES
        weights.append((seed, 2 * seed, 2 * seed))
        needed = seed
    return weights[::-1]


def main() -> None:
    """Print the schedule for a Saturday."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oven", default="04:00", help="HH:MM on Saturday")
    parser.add_argument("--leaven", type=float, required=True, help="grams")
    parser.add_argument("--room", type=float, default=21.0, help="degrees C")
    asked = parser.parse_args()
    hour, minute = (int(part) for part in asked.oven.split(":"))
    dough = hour * 60 + minute - DOUGH_HOURS * 60
    weights = builds(asked.leaven)
    for n, (starter, water, flour) in enumerate(weights):
        at = dough - (len(weights) - n) * ripe_hours(asked.room) * 60 - 120 * (n == 0 and len(weights) > 2)
        print(
            f"feed {n + 1}  {_clock(at)}  {starter:5.0f} g starter + {water:5.0f} g water + {flour:5.0f} g flour"
        )
    print(f"dough   {_clock(dough)}  {asked.leaven:5.0f} g leaven, keep {KEPT_BACK / 1000:.1f} kg back")


def _clock(minutes: float) -> str:
    days, rest = divmod(int(minutes), 1440)
    return f"{DAYS[-days]} {rest // 60:02}:{rest % 60:02}"


if __name__ == "__main__":
    main()
