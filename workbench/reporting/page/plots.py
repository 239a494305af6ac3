"""Small pictures in tables. They repeat what their table says in words: screen readers are spared them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.core.types import FunnelStage
from workbench.reporting.numbers import Estimate
from workbench.reporting.page.markup import Content, Html, el, number
from workbench.reporting.page.view import Look, Shape

WIDTH = 216
ROW = 34
_PAD = 10
_CORNERS: dict[Shape, tuple[float, ...]] = {
    "diamond": (0, 90, 180, 270),
    "triangle": (-90, 30, 150),
    "square": (45, 135, 225, 315),
    "fallen": (90, 210, 330),
    "hexagon": (0, 60, 120, 180, 240, 300),
}
"""Where the corners of a point lie, in degrees."""


@dataclass(frozen=True)
class Scale:
    """A horizontal axis from `low` to `high`, with ticks; `zero` marks no difference."""

    low: float
    high: float
    ticks: tuple[float, ...]
    zero: float | None = None

    def x(self, value: float) -> float:
        """Place of a value in pixels, kept on the axis."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return _PAD + share * (WIDTH - 2 * _PAD)


RATE = Scale(0, 1, (0, 0.25, 0.5, 0.75, 1))


def signed_scale(estimates: Iterable[Estimate]) -> Scale:
    """Symmetric around no difference, wide enough for all."""
    ends = [abs(end) for e in estimates for end in (e.low, e.high, e.value) if end is not None]
    reach = next((size for size in (0.1, 0.2, 0.4, 0.6) if max(ends, default=1) <= size), 1.0)
    return Scale(-reach, reach, (-reach, -reach / 2, 0, reach / 2, reach), 0)


def axis(scale: Scale) -> Html:
    """The axis, for a table's head, and what it is for those who cannot see it."""
    labels = [
        el("text", tick(t), x=scale.x(t), y=13, text_anchor="middle", class_="tick") for t in scale.ticks
    ]
    said = el("span", f"Drawn from {tick(scale.low)} to {tick(scale.high)}", class_="aside")
    return Html(svg(WIDTH, 18, labels) + said)


def interval(found: Estimate, scale: Scale, look: Look, bounds: tuple[float, float] | None = None) -> Html:
    """A point with its interval; `bounds` are drawn thin behind it."""
    middle = ROW / 2
    parts = [
        el("line", x1=scale.x(t), x2=scale.x(t), y1=0, y2=ROW, class_="zero" if t == scale.zero else "grid")
        for t in scale.ticks
    ]
    if bounds is not None and bounds[0] < bounds[1]:
        ends = [scale.x(bound) for bound in bounds]
        parts.append(el("line", x1=ends[0], x2=ends[1], y1=middle, y2=middle, class_="bounds"))
    if found.low is not None and found.high is not None:
        low, high = scale.x(found.low), scale.x(found.high)
        parts.append(el("line", x1=low, x2=high, y1=middle, y2=middle, class_=f"reach {look.tone}"))
    if found.value is not None:
        parts.append(point(scale.x(found.value), middle, 5, look))
    return svg(WIDTH, ROW, parts)


def point(x: float, y: float, radius: float, look: Look, extra: str = "") -> Html:
    """A point of an arm's colour and shape; the shapes look alike in size."""
    classes = f"point {look.tone}{extra}"
    if look.shape == "circle":
        return el("circle", cx=x, cy=y, r=radius, class_=classes)
    reach = radius * 1.3
    corners = [math.radians(corner) for corner in _CORNERS[look.shape]]
    points = " ".join(f"{number(x + reach * math.cos(c))},{number(y + reach * math.sin(c))}" for c in corners)
    return el("polygon", points=points, class_=classes)


def stack(shares: Sequence[tuple[FunnelStage, int]], width: int = 720) -> Html:
    """Counts by stage as one bar, best first."""
    total = sum(count for _, count in shares)
    parts: list[Content] = []
    left = 0.0
    for stage, count in shares:
        if not count:
            continue
        size = width * count / total
        drawn = max(size - 1.5, 0.8)
        parts.append(el("rect", x=left, y=7, width=drawn, height=20, rx=2, class_=f"stage-{stage}"))
        if size >= 30:
            middle = left + drawn / 2
            parts.append(el("text", count, x=middle, y=21, text_anchor="middle", class_=f"on-{stage}"))
        left += size
    return svg(width, ROW, parts)


def tick(value: float) -> str:
    """A number on an axis."""
    return f"{value:+g}" if value < 0 else f"{value:g}"


def svg(width: int, height: int, content: Content, class_: str = "plot") -> Html:
    """A picture, hidden from screen readers."""
    box = f"0 0 {width} {height}"
    return el("svg", content, viewBox=box, width=width, height=height, class_=class_, aria_hidden="true")
