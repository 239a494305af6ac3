"""Palettes and checks for colour-blind readers."""

from itertools import combinations

OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#000000")
SIGHT = {
    "ordinary": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
    "deutan": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
}
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1.0, 1.089)


def choose(names):
    """A colour of the Okabe-Ito palette for each name, in order.

    Raises:
        ValueError: more names than colours.
    """
    if len(names) > len(OKABE_ITO):
        raise ValueError(f"at most {len(OKABE_ITO)} series can be told apart by colour alone")
    return dict(zip(names, OKABE_ITO))


def contrast(one, other):
    """WCAG contrast of two colours."""
    low, high = sorted(_times(XYZ[1:2], _linear(colour))[0] for colour in (one, other))
    return round((high + 0.05) / (low + 0.05), 2)


def closest(colours):
    """The pair that is hardest to tell apart, and its distance."""
    pairs = ((_distance(a, b), a, b) for a, b in combinations(colours, 2))
    distance, one, other = min(pairs)
    return one, other, round(distance, 1)


def _distance(one, other):
    return min(_apart(_lab(one, matrix), _lab(other, matrix)) for matrix in SIGHT.values())


def _apart(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other)) ** 0.5


def _linear(colour):
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def _lab(colour, matrix):
    seen = [min(1.0, max(0.0, value)) for value in _times(matrix, _linear(colour))]
    x, y, z = (_bend(value / white) for value, white in zip(_times(XYZ, seen), WHITE))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _bend(value):
    return value ** (1 / 3) if value > 0.008856 else 7.787 * value + 4 / 29


def _times(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]
