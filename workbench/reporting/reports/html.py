"""For people in a browser: one file that needs no network, in light and dark, by mouse, key or ear."""

from __future__ import annotations

from pathlib import Path

from workbench import __version__
from workbench.reporting.findings import holm_words
from workbench.reporting.page import beside, causes, evidence, trials
from workbench.reporting.page.markup import Html, el
from workbench.reporting.report import Canvas
from workbench.reporting.schema import Block, Summary
from workbench.reporting.wording import DETECTABLE, plural
from workbench.reporting.wording import trials as trials_each

_PARTS = Path(__file__).parent.parent / "page"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def render(summary: Summary, canvas: Canvas) -> str:
    """The page. Its policy forbids it to load anything, and there is nothing to load."""
    del canvas
    body = [
        el("a", "Skip to the findings", href="#findings", class_="skip"),
        _masthead(summary),
        el(
            "main",
            _unreadable(summary),
            evidence.overview(summary),
            _blocks(summary),
            _ending(summary),
            id="findings",
        ),
    ]
    page = el("html", _head(summary), el("body", body, _script()), lang="en")
    return f"<!doctype html>\n{page}\n"


def _head(summary: Summary) -> Html:
    suites = ", ".join(dict.fromkeys(block.suite for block in summary.blocks)) or "no trials"
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("title", f"Skill workbench: {suites}"),
        el("link", rel="icon", href="data:,"),
        el("style", Html((_PARTS / "page.css").read_text(encoding="utf-8"))),
    )


def _script() -> Html:
    return el("script", Html((_PARTS / "page.js").read_text(encoding="utf-8")))


def _masthead(summary: Summary) -> Html:
    missing = summary.planned - summary.scored
    facts = [
        plural(summary.planned, "trial") + " planned",
        f"{summary.scored:,} scored",
        f"{missing:,} missing" if missing else "none missing",
        plural(len(summary.logs.read), "log"),
    ]
    links = [el("a", _name(block, summary), href=f"#block-{n}") for n, block in enumerate(summary.blocks)]
    theme = el("button", "Theme", type="button", id="theme", aria_label="Switch between light and dark")
    return el(
        "header",
        el("p", el("span", "Skill workbench", class_="brand"), theme, class_="top"),
        el("h1", "Does the router make the agent succeed more often?"),
        el("p", " · ".join(facts), class_="facts"),
        el("nav", links, aria_label="Blocks") if len(links) > 1 else None,
    )


def _name(block: Block, summary: Summary) -> str:
    parts = [
        value
        for name in ("suite", "model", "agent")
        if len({getattr(b, name) for b in summary.blocks}) > 1 and (value := getattr(block, name))
    ]
    return " · ".join(parts) or block.suite


def _unreadable(summary: Summary) -> Html | None:
    files = [
        el("li", f"{file.path} cannot be read ({file.reason}); its trials are not counted")
        for file in summary.logs.unreadable
    ]
    return el("ul", files, class_="flags grave") if files else None


def _blocks(summary: Summary) -> list[Html]:
    if not summary.blocks:
        return [el("p", f"No trials in {plural(len(summary.logs.read), 'log')}.", class_="verdict")]
    return [_block(block, number) for number, block in enumerate(summary.blocks)]


def _block(block: Block, number: int) -> Html:
    facts = [
        f"{plural(block.tasks, 'task')} × {trials_each(block.trials)} × {plural(len(block.arms), 'arm')}",
        f"agent {block.agent}",
        *([f"sandbox {', '.join(block.sandboxes)}"] if block.sandboxes else []),
    ]
    return el(
        "article",
        el("h2", block.suite, el("span", block.model, class_="model")),
        el("p", " · ".join(facts), class_="facts"),
        evidence.verdict(block),
        evidence.success(block),
        evidence.differences(block),
        evidence.funnel(block),
        causes.causes(block, number),
        causes.changes(block, number),
        causes.spending(block),
        evidence.passes(block),
        trials.trials(block, number),
        trials.exclusions(block, number),
        id=f"block-{number}",
    )


def _ending(summary: Summary) -> list[Html | None]:
    lines = [
        "The task is the unit of analysis: trials are averaged within it, and every interval is clustered by"
        f" task, at the {100 * summary.level:g}% level (score intervals; Fieller's for ratios).",
        f"p: exact sign-flip test over tasks{holm_words(summary)}. {DETECTABLE}",
        "Excluded and pending trials are counted, never dropped."
        f" Seed {summary.seed}. Workbench {__version__}.",
    ]
    logs = [el("li", path) for path in summary.logs.read]
    others = [el("li", f"{file.path}: {file.reason}") for file in summary.logs.foreign]
    if summary.logs.superseded:
        others.append(el("li", f"{plural(summary.logs.superseded, 'older or incomplete trial')} superseded"))
    return [
        causes.routing(summary),
        beside.published(summary),
        el(
            "section",
            el("h3", "How to read this"),
            [el("p", line) for line in lines],
            el("details", el("summary", plural(len(logs), "log") + " read"), el("ul", logs)),
            el("details", el("summary", "Not used"), el("ul", others)) if others else None,
            class_="notes",
        ),
    ]
