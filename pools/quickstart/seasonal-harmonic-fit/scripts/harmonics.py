"""Least-squares fit of mean, trend and waves of known periods."""

import csv
import math
import sys
from typing import List, NamedTuple, Sequence


class Wave(NamedTuple):
    """amplitude × cos(360° × t / period − phase); phase in degrees."""

    period: float
    amplitude: float
    phase: float


class Model(NamedTuple):
    """A fitted series. `left` is the standard deviation of the residuals."""

    mean: float
    trend: float
    waves: List[Wave]
    left: float

    def at(self, time: float) -> float:
        """Value of the model at a time."""
        angles = ((w, math.radians(360 * time / w.period - w.phase)) for w in self.waves)
        return self.mean + self.trend * time + sum(w.amplitude * math.cos(a) for w, a in angles)


def fit(times: Sequence[float], values: Sequence[float], periods: Sequence[float]) -> Model:
    """Fit a series.

    Raises:
        ValueError: the record is shorter than the longest period.
    """
    if max(times) - min(times) < max(periods):
        raise ValueError("the record is shorter than the longest period")
    rows = [_terms(t, periods) for t in times]
    size = len(rows[0])
    normal = [[sum(r[i] * r[j] for r in rows) for j in range(size)] for i in range(size)]
    right = [sum(r[i] * v for r, v in zip(rows, values)) for i in range(size)]
    solved = _solve(normal, right)
    waves = []
    for n, period in enumerate(periods):
        a, b = solved[2 + 2 * n : 4 + 2 * n]
        waves.append(Wave(period, math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360))
    model = Model(solved[0], solved[1], waves, 0.0)
    squares = sum((v - model.at(t)) ** 2 for t, v in zip(times, values))
    return model._replace(left=math.sqrt(squares / len(values)))


def _terms(time: float, periods: Sequence[float]) -> List[float]:
    terms = [1.0, time]
    for period in periods:
        angle = 2 * math.pi * time / period
        terms += [math.cos(angle), math.sin(angle)]
    return terms


def _solve(matrix: List[List[float]], right: List[float]) -> List[float]:
    """Gaussian elimination with pivoting."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda r: abs(rows[r][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for r in range(size):
            if r != column:
                factor = rows[r][column] / rows[column][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[column])]
    return [rows[n][size] / rows[n][n] for n in range(size)]


def main() -> None:
    """Fit a CSV file with the columns t and value."""
    if len(sys.argv) < 3:
        sys.exit("usage: harmonics.py SERIES.csv PERIOD...")
    with open(sys.argv[1], newline="") as file:
        pairs = [(float(row["t"]), float(row["value"])) for row in csv.DictReader(file)]
    model = fit(*zip(*pairs), [float(p) for p in sys.argv[2:]])
    print(f"mean {model.mean:.4g}  trend {model.trend:.4g}  left {model.left:.4g}")
    for wave in model.waves:
        print(f"period {wave.period:g}  amplitude {wave.amplitude:.4g}  phase {wave.phase:.1f}")


if __name__ == "__main__":
    main()
