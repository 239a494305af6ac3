"""Large pictures: price against success, and repeated trials. Their tables say the same in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from workbench.reporting.numbers import PassEstimate
from workbench.reporting.page.markup import Content, Html, el, number
from workbench.reporting.page.plots import RATE, point, svg, tick
from workbench.reporting.page.view import Look
from workbench.reporting.schema import Front, FrontPoint
from workbench.reporting.wording import amount, arm_name

Place = Callable[[float], float]
"""A value's place in pixels."""

_WIDTH, _LEFT, _RIGHT = 1040, 66, 270
_LINE = 15
"""Pixels between the names at the ends of lines."""
_NAME, _BESIDE = 28, 18
"""Characters of a name that fit beside a point, and beside a line that ends before its time."""
_PANEL, _FOOT, _TOP = 240, 46, 14
"""Width of the lines in each half of the second picture, and the space below and above them."""
_UNITS = {"cost_usd": "US dollars per trial", "tokens": "tokens per trial", "seconds": "seconds per trial"}


@dataclass(frozen=True)
class Line:
    """An arm's pass@k and pass^k, to be drawn."""

    name: str
    look: Look
    passes: Sequence[PassEstimate]


@dataclass(frozen=True)
class _End:
    """Where a line ends, and what is written there."""

    x: float
    y: float
    text: str
    tone: str


def figure(drawn: Html, caption: str, label: str) -> Html:
    """A picture that keeps its size and scrolls in its box where the window is narrow."""
    box = el("div", drawn, class_="scroll drawn", tabindex="0", role="group", aria_label=label)
    return el("figure", box, el("figcaption", caption))


def pareto(front: Front, looks: Mapping[str, Look], success: str) -> Html:
    """Price against success, intervals both ways, the best joined by a line.

    Args:
        success: what the upright axis shows.
    """
    height = 380
    most = max(max(p.price.value or 0, p.price.high or 0) for p in front.points) or 1.0
    top, step = _round_up(most)

    def x(value: float) -> float:
        return _LEFT + min(value / top, 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return height - _FOOT - value * (height - _FOOT - 26)

    parts: list[Content] = [_frame(x, y, top, step, front.unit), _upright(success, 14.0, y(0.5))]
    best = sorted((p for p in front.points if p.best), key=lambda p: p.price.value or 0)
    steps = " ".join(f"{number(x(p.price.value or 0))},{number(y(p.success.value or 0))}" for p in best)
    parts.append(el("polyline", points=steps, class_="front"))
    parts += [_cross(p, x, y, looks[p.arm]) for p in front.points]
    parts += _names([(x(p.price.value or 0), y(p.success.value or 0), p) for p in front.points], y(0))
    return svg(_WIDTH, height, parts, class_="wide")


def curves(lines: Sequence[Line]) -> Html:
    """pass@k on the left and pass^k on the right over k, every line named where it ends.

    Where trials not scored leave a range instead of a number, the line ends and the range is drawn upright.
    """
    height = max(300, _FOOT + _TOP + _LINE * len(lines))
    panels = [
        _panel(lines, kind, f"{sign}k", left, height)
        for kind, sign, left in (("any", "pass@", 0), ("all", "pass^", _WIDTH / 2))
    ]
    return svg(_WIDTH, height, panels, class_="wide")


def _panel(lines: Sequence[Line], kind: str, title: str, left: float, height: float) -> list[Content]:
    """One half of the picture; k = 1 belongs to both."""
    most = max(found.k for line in lines for found in line.passes)

    def x(k: float) -> float:
        return left + _LEFT + (k - 1) / max(most - 1, 1) * _PANEL

    def y(value: float) -> float:
        return height - _FOOT - value * (height - _FOOT - _TOP)

    parts: list[Content] = [_ruled(x(1) - 6, x(most) + 6, y), _upright(title, left + 14, y(0.5))]
    parts += [_below(k, x(k), y(0)) for k in range(1, most + 1)]
    parts.append(_title("k trials of a task", x((1 + most) / 2), y(0)))
    ends: list[_End] = []
    for place, line in enumerate(lines):
        shift = (place - (len(lines) - 1) / 2) * 4
        own = [found for found in line.passes if found.kind == kind or found.k == 1]
        known = [found for found in own if found.estimate.value is not None]
        parts += [_range(p, x(p.k) + shift, y, line.look) for p in own if p.estimate.value is None]
        parts += _curve(known, x, y, line.look)
        if known:
            last, short = known[-1], len(known) < len(own)
            text = f"{_short(line.name, _BESIDE)}, then ranges" if short else _short(line.name, _NAME)
            ends.append(_End(x(last.k), y(last.estimate.value or 0), text, line.look.tone))
    parts += _spread(ends, x(most), y(1), y(0))
    return parts


def _curve(known: Sequence[PassEstimate], x: Place, y: Place, look: Look) -> list[Html]:
    places = [(x(p.k), y(p.estimate.value or 0)) for p in known]
    steps = " ".join(f"{number(at)},{number(up)}" for at, up in places)
    line = el("polyline", points=steps, class_=f"curve {look.tone}")
    return [line, *(point(at, up, 3.5, look) for at, up in places)]


def _range(found: PassEstimate, x: float, y: Place, look: Look) -> Html | None:
    if found.lowest is None or found.highest is None:
        return None
    return el("line", x1=x, x2=x, y1=y(found.lowest), y2=y(found.highest), class_=f"thin {look.tone}")


def _spread(ends: Sequence[_End], right: float, top: float, bottom: float) -> list[Html]:
    """Names beside the ends of lines, moved apart and kept between the axes; a thin line leads to each."""
    ordered = sorted(ends, key=lambda end: (end.y, end.x))
    places = [end.y for end in ordered]
    for n in range(1, len(places)):
        places[n] = max(places[n], places[n - 1] + _LINE)
    over = max(0.0, places[-1] - bottom) if places else 0.0
    if over:
        places[-1] -= over
        for n in range(len(places) - 2, -1, -1):
            places[n] = max(min(places[n], places[n + 1] - _LINE), top)
    drawn: list[Html] = []
    for end, place in zip(ordered, places, strict=True):
        lead = f"{number(end.x + 7)},{number(end.y)} {number(right + 18)},{number(place)}"
        drawn.append(el("polyline", points=lead, class_=f"lead-line {end.tone}"))
        drawn.append(el("text", end.text, x=right + 22, y=place + 4, class_=f"name {end.tone}"))
    return drawn


def _ruled(left: float, right: float, y: Place) -> list[Html]:
    """Level lines at the rates of the upright axis, with their numbers."""
    lines = [el("line", x1=left, x2=right, y1=y(t), y2=y(t), class_="grid") for t in RATE.ticks]
    numbers = [
        el("text", tick(t), x=left - 8, y=y(t) + 4, text_anchor="end", class_="tick") for t in RATE.ticks
    ]
    return [*lines, *numbers]


def _upright(title: str, x: float, middle: float) -> Html:
    """The title of the upright axis."""
    turned = f"rotate(-90 {number(x)} {number(middle)})"
    return el("text", title, x=x, y=middle, transform=turned, text_anchor="middle", class_="axis")


def _title(title: str, x: float, y: float) -> Html:
    return el("text", title, x=x, y=y + 37, text_anchor="middle", class_="axis")


def _below(text: Content, x: float, y: float) -> Html:
    return el("text", text, x=x, y=y + 18, text_anchor="middle", class_="tick")


def _frame(x: Place, y: Place, top: float, step: float, unit: str) -> list[Html]:
    parts = _ruled(x(0), x(top), y)
    for n in range(round(top / step) + 1):
        value = n * step
        parts.append(el("line", x1=x(value), x2=x(value), y1=y(0), y2=y(1), class_="grid"))
        parts.append(_below(amount(value, unit).removesuffix(".0"), x(value), y(0)))
    return [*parts, _title(_UNITS[unit], x(top / 2), y(0))]


def _cross(found: FrontPoint, x: Place, y: Place, look: Look) -> Html:
    at, up = x(found.price.value or 0), y(found.success.value or 0)
    parts = []
    if found.price.low is not None and found.price.high is not None:
        low, high = x(found.price.low), x(found.price.high)
        parts.append(el("line", x1=low, x2=high, y1=up, y2=up, class_=f"thin {look.tone}"))
    if found.success.low is not None and found.success.high is not None:
        low, high = y(found.success.low), y(found.success.high)
        parts.append(el("line", x1=at, x2=at, y1=low, y2=high, class_=f"thin {look.tone}"))
    parts.append(point(at, up, 6, look, "" if found.best else " hollow"))
    return el("g", parts)


def _names(points: Sequence[tuple[float, float, FrontPoint]], bottom: float) -> list[Html]:
    """Names beside points, each where it is clear of those placed before, and above the axis."""
    placed: list[tuple[float, float]] = []
    drawn = []
    for x, y, found in sorted(points, key=lambda entry: (entry[1], entry[0])):
        near = (y - 8 + step * sign * _LINE for step in range(len(points) + 1) for sign in (1, -1))
        clear = (
            place
            for place in near
            if place < bottom
            and not any(abs(place - other) < _LINE and abs(x - at) < 160 for at, other in placed)
        )
        place = next(clear, y - 8)
        placed.append((x, place))
        drawn.append(el("text", _short(arm_name(found.arm), _NAME), x=x + 11, y=place, class_="name"))
    return drawn


def _short(name: str, most: int) -> str:
    """A name cut where it would leave the picture; the table has it in full."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


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
