"""Prices of Northline parcels from the customer tariff."""

import argparse
import csv
from pathlib import Path
from typing import Dict, Sequence, Tuple

LONG_CM, LONGEST_CM, LONG_FEE, REMOTE_FEE, CM3_PER_KG = 120, 180, 8.50, 6.20, 5000
NAMES = {"E": "economy", "Q": "quick", "S": "signed for", "R": "returns"}


def price(
    service: str, zone: int, kg: float, cm: Sequence[float], remote: bool = False
) -> Tuple[float, Dict[str, float]]:
    """(charged weight, items of the price).

    Raises:
        ValueError: too long, or heavier than the tariff goes.
    """
    if max(cm) > LONGEST_CM:
        raise ValueError(f"longer than {LONGEST_CM} cm")
    charged = max(kg, cm[0] * cm[1] * cm[2] / CM3_PER_KG)
    items = {"base": _base(service, 0 if service == "R" else zone, charged)}
    if max(cm) > LONG_CM:
        items["long"] = LONG_FEE
    if remote:
        items["remote"] = REMOTE_FEE
    return charged, items


def _base(service: str, zone: int, charged: float) -> float:
    path = Path(__file__).resolve().parent.parent / "references" / "tariff.csv"
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["service"] == service and int(row["zone"]) == zone and charged <= float(row["to_kg"]):
                return float(row["price"])
    raise ValueError(f"the tariff has no price for {charged:.1f} kg")


def main() -> None:
    """Price one parcel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--service", choices=sorted(NAMES), required=True)
    parser.add_argument("--zone", type=int, default=1)
    parser.add_argument("--kg", type=float, required=True)
    parser.add_argument("--cm", required=True, help="LxWxH")
    parser.add_argument("--remote", action="store_true")
    asked = parser.parse_args()
    sides = [float(side) for side in asked.cm.split("x")]
    charged, items = price(asked.service, asked.zone, asked.kg, sides, asked.remote)
    print(f"{NAMES[asked.service]}, zone {asked.zone}: {charged:.1f} kg charged")
    for name, amount in [*items.items(), ("total", sum(items.values()))]:
        print(f"  {name:10}{amount:8.2f}")


if __name__ == "__main__":
    main()
