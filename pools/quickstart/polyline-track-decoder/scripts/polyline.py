"""Decodes delta-encoded polylines."""

import argparse
import json
import math
from typing import List, Tuple


def decode(text: str, digits: int = 5) -> List[Tuple[float, float]]:
    """(latitude, longitude) of each point.

    Raises:
        ValueError: the text ends within a number.
    """
    numbers, value, shift = [], 0, 0
    for sign in text:
        bits = ord(sign) - 63
        value |= (bits & 31) << shift
        shift += 5
        if bits < 32:
            numbers.append(~(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    if shift or len(numbers) % 2:
        raise ValueError("the polyline ends within a point")
    lat = lon = 0
    points = []
    for step_lat, step_lon in zip(numbers[::2], numbers[1::2]):
        lat, lon = lat + step_lat, lon + step_lon
        points.append((lat / 10**digits, lon / 10**digits))
    return points


def length_km(points: List[Tuple[float, float]]) -> float:
    """Length of a track along great circles, km."""
    total = 0.0
    for (lat1, lon1), (lat2, lon2) in zip(points, points[1:]):
        a, b = math.radians(lat1), math.radians(lat2)
        half = math.sin((b - a) / 2) ** 2
        half += math.cos(a) * math.cos(b) * math.sin(math.radians(lon2 - lon1) / 2) ** 2
        total += 2 * 6371.0 * math.asin(math.sqrt(half))
    return round(total, 1)


def main() -> None:
    """Decode one polyline."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text")
    parser.add_argument("--digits", type=int, default=5)
    parser.add_argument("--geojson", action="store_true")
    asked = parser.parse_args()
    points = decode(asked.text, asked.digits)
    if asked.geojson:
        print(json.dumps({"type": "LineString", "coordinates": [[lon, lat] for lat, lon in points]}))
    else:
        print("lat,lon", *(f"{lat},{lon}" for lat, lon in points), sep="\n")


if __name__ == "__main__":
    main()
