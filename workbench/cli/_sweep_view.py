"""How a sweep is shown: what it would cost, how far it is, where it stands."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console, Group, RenderableType
from rich.text import Text

from workbench.cli._sweep_ledger import Cell, Ledger, Progress
from workbench.cli._sweep_prices import Prices
from workbench.core.terminal import safe
from workbench.reporting.drawing import Column, grid
from workbench.reporting.wording import plural, rate

_RECENT = 50
_FIRST_LINE, _BETWEEN_LINES = 5.0, 30.0


def forecast(cells: Mapping[Cell, Progress], pilot: Prices, width: int) -> RenderableType:
    """Trials, model calls, tokens, cost and hours that a sweep still takes, as far as a pilot tells."""
    columns = [
        Column("", numeric=False),
        Column("trials"),
        Column("done"),
        Column("calls"),
        Column("tokens"),
        Column("cost"),
        Column("hours"),
    ]
    rows, sums = [], [0.0, 0.0, 0.0, 0.0]
    unknown = [False] * 4
    for cell, count in cells.items():
        left, price = count.left, pilot.cells.get(cell)
        values = [None] * 4 if price is None else [price.turns, price.tokens, price.cost, price.seconds]
        expected = [0.0 if not left else None if value is None else value * left for value in values]
        for place, value in enumerate(expected):
            sums[place] += value or 0.0
            unknown[place] |= value is None
        rows.append(
            [Text(_name(cell)), Text(f"{count.planned:,}"), Text(f"{count.scored:,}"), *_expected(expected)]
        )
    total = [None if lacks else value for value, lacks in zip(sums, unknown, strict=True)]
    planned = sum(count.planned for count in cells.values())
    done = sum(count.scored for count in cells.values())
    rows.append([Text("in all", style="bold"), Text(f"{planned:,}"), Text(f"{done:,}"), *_expected(total)])
    parts: list[RenderableType] = [grid(columns, rows, width)]
    if any(unknown):
        text = "-: not known. Give logs of such trials as a pilot: --pilot RUN; or run with trials: 1 first."
        parts.append(Text(text, style="dim"))
    if pilot.bounded:
        parts.append(Text("! the pilot ran under other limits, so its prices may not hold", style="yellow"))
    return Group(*parts)


def _expected(values: list[float | None]) -> list[Text]:
    calls, tokens, cost, seconds = values
    return [
        Text("-" if calls is None else f"{calls:,.0f}"),
        Text("-" if tokens is None else f"{tokens:,.0f}"),
        Text("-" if cost is None else f"${cost:,.2f}"),
        Text("-" if seconds is None else f"{seconds / 3600:,.2f}"),
    ]


def standing(cells: Mapping[Cell, Progress], width: int, live: bool = True) -> RenderableType:
    """A row per cell: done, running (which only a `live` view knows), excluded, success so far, spend."""
    columns = [
        Column("", numeric=False),
        Column("done", numeric=False),
        Column("", numeric=False, optional=True),
        *([Column("running")] if live else []),
        Column("excluded"),
        Column("success"),
        Column("cost"),
    ]
    rows = [_row(cell, count, live) for cell, count in cells.items()]
    return grid(columns, rows, width)


def _row(cell: Cell, count: Progress, live: bool) -> list[Text]:
    filled = 0 if not count.planned else round(12 * min(count.done / count.planned, 1))
    return [
        Text(_name(cell)),
        Text(f"{count.done}/{count.planned}"),
        Text("━" * filled + "·" * (12 - filled), style="cyan"),
        *([Text(str(count.running) if count.running else "")] if live else []),
        Text(str(count.excluded) if count.excluded else "", style="yellow"),
        Text(rate(count.reward / count.scored) if count.scored else "-"),
        Text(_paid(count)),
    ]


def _paid(count: Progress) -> str:
    """``$0.40``, ``-`` where nothing is known, ``$0.40 for 3 of 8`` where some is."""
    if count.cost is None:
        return "-"
    known = f" for {count.done - count.unpriced} of {count.done}" if count.unpriced else ""
    return f"${count.cost:,.2f}{known}"


def _name(cell: Cell) -> str:
    model, agent, arm = cell
    shown = [model.removesuffix("/none"), "" if agent == "auto" else agent, arm]
    return safe(" ".join(part for part in shown if part))


class Board:
    """Drawn again by rich while a sweep runs."""

    def __init__(self, ledger: Ledger, width: int) -> None:
        self.ledger = ledger
        self.width = width
        self.started = time.monotonic()

    def __rich__(self) -> RenderableType:
        with self.ledger.lock:
            return Group(standing(dict(self.ledger.cells), self.width), Text(self.line(), style="dim"))

    def line(self) -> str:
        """One line: trials, spend, time left. The ledger must be held."""
        cells = self.ledger.cells.values()
        planned, done = sum(c.planned for c in cells), sum(c.done for c in cells)
        costs = [c.cost for c in cells if c.cost is not None]
        parts = [f"{done:,} of {planned:,} trials", f"{sum(c.running for c in cells)} running"]
        unknown = sum(c.unpriced for c in cells)
        more = f" and {plural(unknown, 'trial')} of unknown cost" if unknown else ""
        parts += [f"${sum(costs):,.2f} spent{more}"] if costs else []
        if not self.ledger.ended and not any(count.running for count in cells):
            parts.append("preparing images and sandboxes")
        if (left := self._left(planned - done)) is not None:
            parts.append(f"about {_duration(left)} left")
        return " · ".join(parts)

    def _left(self, trials: int) -> float | None:
        """Seconds, by the pace of the latest trials."""
        recent = self.ledger.ended[-_RECENT:]
        if len(recent) < 3 or trials <= 0:
            return None
        return trials * (time.monotonic() - recent[0]) / len(recent)


def watching(ledger: Ledger, console: Console) -> AbstractContextManager[object]:
    """A live table where a person is watching, else a line now and then."""
    from rich.live import Live

    board = Board(ledger, console.width)
    if console.is_terminal:
        return Live(board, console=console, refresh_per_second=2, transient=True)
    return _lines(board, console)


@contextmanager
def _lines(board: Board, console: Console) -> Iterator[None]:
    from threading import Event, Thread

    stop = Event()

    def report() -> None:
        wait = _FIRST_LINE
        while not stop.wait(wait):
            wait = _BETWEEN_LINES
            with board.ledger.lock:
                line = board.line()
            console.print(line)

    thread = Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def moved(entries: list[tuple[str, str]]) -> Text:
    """What was put into quarantine."""
    shown = "; ".join(f"{safe(name)}: {safe(reason)}" for name, reason in entries[:3])
    return Text(f"! {plural(len(entries), 'log')} set aside in quarantine/ ({shown})", style="yellow")
