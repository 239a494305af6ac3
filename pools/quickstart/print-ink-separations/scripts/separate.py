"""Web colours to CMYK separations."""

from typing import NamedTuple


class Inks(NamedTuple):
    """Cyan, magenta, yellow and black in per cent."""

    c: int
    m: int
    y: int
    k: int


def separate(colour: str, limit: int = 220) -> Inks:
    """Separations of a hex colour within a total coverage.

    Raises:
        ValueError: not a colour of the form ``#RRGGBB``.
    """
    if len(colour) != 7 or colour[0] != "#":
        raise ValueError(f"not a colour: {colour}")
    parts = [1 - int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    black = min(parts)
    rest = [0.0 if black == 1 else (part - black) / (1 - black) for part in parts]
    inks = Inks(*(round(100 * part) for part in (*rest, black)))
    while coverage(inks) > limit:
        largest = max(inks[:3])
        inks = Inks(*(ink - 1 if ink == largest else ink for ink in inks[:3]), inks.k)
    return inks


def coverage(inks: Inks) -> int:
    """Total coverage in per cent."""
    return sum(inks)
