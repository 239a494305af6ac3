"""Inline SVG. Pictures repeat what their table says in words, so they are hidden from screen readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from workbench.core.types import FunnelStage
from workbench.reporting.numbers import Estimate, PassEstimate
from workbench.reporting.page.markup import Content, Html, el, number
from workbench.reporting.schema import Front, FrontPoint
from workbench.reporting.wording import amount, arm_name

Place = Callable[[float], float]
"""A value's place in pixels."""

WIDTH = 216
ROW = 34
_PAD = 10


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
    """The axis, for a table's head."""
    labels = [
        el("text", _tick(tick), x=scale.x(tick), y=13, text_anchor="middle", class_="tick")
        for tick in scale.ticks
    ]
    return _svg(WIDTH, 18, labels)


def interval(found: Estimate, scale: Scale, tone: str, bounds: tuple[float, float] | None = None) -> Html:
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
        parts.append(el("line", x1=low, x2=high, y1=middle, y2=middle, class_=f"reach {tone}"))
    if found.value is not None:
        parts.append(el("circle", cx=scale.x(found.value), cy=middle, r=5, class_=f"point {tone}"))
    return _svg(WIDTH, ROW, parts)


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
            label = el("text", count, x=left + drawn / 2, y=21, text_anchor="middle", class_="inside")
            parts.append(label)
        left += size
    return _svg(width, ROW, parts)


def pareto(front: Front, tones: dict[str, str]) -> Html:
    """Price against success, intervals both ways, the best joined by a line."""
    width, height, left, bottom = 1040, 380, 52, 46
    most = max(max(p.price.value or 0, p.price.high or 0) for p in front.points) or 1.0
    top, step = _round_up(most)

    def x(value: float) -> float:
        return left + min(value / top, 1) * (width - left - 190)

    def y(value: float) -> float:
        return height - bottom - value * (height - bottom - 26)

    parts: list[Content] = [_frame(x, y, top, step, front.unit)]
    best = sorted((p for p in front.points if p.best), key=lambda p: p.price.value or 0)
    steps = " ".join(f"{number(x(p.price.value or 0))},{number(y(p.success.value or 0))}" for p in best)
    parts.append(el("polyline", points=steps, class_="front"))
    parts += [_cross(p, x, y, tones[p.arm]) for p in front.points]
    parts += _names([(x(p.price.value or 0), y(p.success.value or 0), p) for p in front.points])
    return _svg(width, height, parts, class_="wide")


def curves(arms: Sequence[tuple[str, str, Sequence[PassEstimate]]]) -> Html:
    """pass@k (solid, rising) and pass^k (dashed, falling) over k; `arms` are (name, tone, estimates)."""
    width, height, left, bottom = 1040, 300, 52, 40
    most = max(found.k for _, _, passes in arms for found in passes)

    def x(k: float) -> float:
        return left + (k - 1) / max(most - 1, 1) * (width - left - 190)

    def y(value: float) -> float:
        return height - bottom - value * (height - bottom - 14)

    parts: list[Content] = [
        el("line", x1=left - 6, x2=width - 184, y1=y(t), y2=y(t), class_="grid") for t in RATE.ticks
    ]
    parts += [
        el("text", _tick(t), x=left - 14, y=y(t) + 4, text_anchor="end", class_="tick") for t in RATE.ticks
    ]
    parts += [
        el("text", f"k = {k}" if k == 1 else k, x=x(k), y=height - 16, text_anchor="middle", class_="tick")
        for k in range(1, most + 1)
    ]
    ends: list[tuple[float, float, str, str]] = []
    for name, tone, passes in arms:
        for kind in ("any", "all"):
            line = [p for p in passes if p.estimate.value is not None and (p.kind == kind or p.k == 1)]
            points = " ".join(f"{number(x(p.k))},{number(y(p.estimate.value or 0))}" for p in line)
            parts.append(el("polyline", points=points, class_=f"curve {kind} {tone}"))
            parts += [
                el("circle", cx=x(p.k), cy=y(p.estimate.value or 0), r=3, class_=f"point {tone}")
                for p in line
            ]
            if kind == "any" and line:
                ends.append((x(line[-1].k), y(line[-1].estimate.value or 0), name, tone))
    parts += _spread(ends)
    return _svg(width, height, parts, class_="wide")


def _spread(ends: list[tuple[float, float, str, str]]) -> list[Html]:
    """Names beside the ends of lines, moved apart."""
    placed, last = [], -100.0
    for x, y, name, tone in sorted(ends, key=lambda end: end[1]):
        last = max(y, last + 15)
        placed.append(el("text", name, x=x + 10, y=last + 4, class_=f"name {tone}"))
    return placed


def _frame(x: Place, y: Place, top: float, step: float, unit: str) -> list[Html]:
    parts = []
    for tick in RATE.ticks:
        parts.append(el("line", x1=x(0), x2=x(top), y1=y(tick), y2=y(tick), class_="grid"))
        parts.append(el("text", _tick(tick), x=x(0) - 8, y=y(tick) + 4, text_anchor="end", class_="tick"))
    for n in range(round(top / step) + 1):
        value = n * step
        parts.append(el("line", x1=x(value), x2=x(value), y1=y(0), y2=y(1), class_="grid"))
        parts.append(
            el(
                "text",
                amount(value, unit).removesuffix(".0"),
                x=x(value),
                y=y(0) + 18,
                text_anchor="middle",
                class_="tick",
            )
        )
    title = {"cost_usd": "US dollars per trial", "tokens": "tokens per trial", "seconds": "seconds per trial"}
    parts.append(el("text", title[unit], x=x(top / 2), y=y(0) + 37, text_anchor="middle", class_="axis"))
    return parts


def _cross(point: FrontPoint, x: Place, y: Place, tone: str) -> Html:
    at, up = x(point.price.value or 0), y(point.success.value or 0)
    parts = []
    if point.price.low is not None and point.price.high is not None:
        low, high = x(point.price.low), x(point.price.high)
        parts.append(el("line", x1=low, x2=high, y1=up, y2=up, class_=f"thin {tone}"))
    if point.success.low is not None and point.success.high is not None:
        low, high = y(point.success.low), y(point.success.high)
        parts.append(el("line", x1=at, x2=at, y1=low, y2=high, class_=f"thin {tone}"))
    parts.append(el("circle", cx=at, cy=up, r=6, class_=f"point {tone}{'' if point.best else ' hollow'}"))
    return el("g", parts)


def _names(points: Sequence[tuple[float, float, FrontPoint]]) -> list[Html]:
    """Names beside points, each moved down until it is clear of those above it."""
    placed: list[tuple[float, float]] = []
    drawn = []
    for x, y, point in sorted(points, key=lambda entry: (entry[1], entry[0])):
        down = y - 8
        while any(abs(down - other) < 15 and abs(x - at) < 130 for at, other in placed):
            down += 15
        placed.append((x, down))
        drawn.append(el("text", arm_name(point.arm), x=x + 11, y=down, class_="name"))
    return drawn


def _round_up(value: float) -> tuple[float, float]:
    """An axis end not below `value`, and the step of its ticks."""
    power = 10.0
    while power > value:
        power /= 10
    while power * 10 <= value:
        power *= 10
    step = next(power * m for m in (0.2, 0.25, 0.5, 1, 2, 2.5, 5, 10) if power * m * 5 >= value)
    count = -int(-value // step)
    return max(count, 1) * step, step


def _tick(value: float) -> str:
    return f"{value:+g}" if value < 0 else f"{value:g}"


def _svg(width: int, height: int, content: Content, class_: str = "plot") -> Html:
    box = f"0 0 {width} {height}"
    return el("svg", content, viewBox=box, width=width, height=height, class_=class_, aria_hidden="true")
