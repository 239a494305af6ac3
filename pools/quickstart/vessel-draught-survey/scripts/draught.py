"""Mean draught from the marks, corrected for density."""

import argparse
from statistics import mean

SEA = 1.025


def pair(text: str) -> "tuple[float, float]":
    """Port and starboard readings."""
    port, starboard = (float(part) for part in text.split(","))
    return port, starboard


def survey(fore, mid, aft):
    """(mean of means, trim by the stern, list), metres."""
    f, m, a = mean(fore), mean(mid), mean(aft)
    return (f + 6 * m + a) / 8, a - f, abs(mid[0] - mid[1])


def main() -> None:
    """Survey one vessel."""
    parser = argparse.ArgumentParser(description=__doc__)
    for place in ("fore", "mid", "aft"):
        parser.add_argument(f"--{place}", type=pair, required=True, metavar="PORT,STARBOARD")
    parser.add_argument("--density", type=float, default=SEA)
    asked = parser.parse_args()
    draught, trim, tilt = survey(asked.fore, asked.mid, asked.aft)
    print(f"mean of means {draught:.3f} m, trim {trim:.3f} m by the stern, list {tilt:.3f} m")
    print(f"in water of {SEA}: {draught * asked.density / SEA:.3f} m")


if __name__ == "__main__":
    main()
