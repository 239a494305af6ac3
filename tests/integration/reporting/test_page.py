"""The HTML report in a real browser: it sorts, filters, obeys keys, and asks the network for nothing."""

from __future__ import annotations

import importlib.util
import os
import re
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from workbench.core.record import Exposure, Outcome, RouteInfo, Spend, TrialRecord
from workbench.core.types import FUNNEL
from workbench.reporting.report import Canvas, load_report
from workbench.reporting.summary import summarise
from workbench.reporting.trial import Trial, split_id


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DEEP = {f"{name}@{k}": 0.5 for name in ("FullCoverage", "Precision", "Recall", "MRR") for k in (1, 3, 10, 20)}


def trial(task: int, label: str, epoch: int, model: str) -> Trial:
    """Gold passes; bm25 passes tasks below 7 and now and then others, and has part of the reward of the last
    two; task 3 is harmed; task 11 is lost."""
    name = f"task-{task:03d}"
    _, arm = split_id(f"{name}@{label}")
    lost = (task, label, epoch) == (11, "routed-bm25", 1)
    good = (
        label == "gold"
        or (label == "none" and task == 3)
        or (label == "routed-bm25" and task < 7 and task != 3)
    )
    part = {13: 0.47, 14: 0.53}.get(task) if label == "routed-bm25" else None
    reward = None if lost else part or float(good or (task * epoch) % 5 == 4)
    stage = "passed" if reward == 1 else FUNNEL[task % 5]
    outcome = (
        Outcome(status="excluded", cause="infra:start", detail="no <b>container</b> after 60 s")
        if lost
        else Outcome(status="scored", reward=reward, funnel=stage)
    )
    metrics = {"Hit@1": float(task < 7), "nDCG@10": 1 / (1 + task), **DEEP} if arm.router else {}
    route = RouteInfo(
        router=arm.router,
        router_fingerprint=arm.router,
        pool="p",
        pool_fingerprint="p",
        pool_size=9,
        index_fingerprint=None,
        k=5,
        gold=("g",),
        gold_in_pool=("g",),
        metrics=metrics,
    )
    record = TrialRecord(
        suite="suite",
        task=name,
        epoch=epoch,
        condition=arm.condition,
        router=arm.router,
        model=model,
        agent="skill_agent",
        seed=0,
        sandbox="docker-sdk",
        group={"difficulty": ("easy", "medium", "hard")[task % 3]},
        route=route,
        exposure=Exposure(disclosure="progressive", routed=("g",) if task < 7 else ()),
        outcome=outcome,
        spend=Spend(total_tokens=900 + 40 * task, cost_usd=0.01 + 0.002 * task, agent_seconds=20.0 + task),
    )
    log = Path(f"results/run/{model}.eval")
    status = "excluded" if lost else "scored"
    cause = record.outcome.cause
    return Trial(
        "suite",
        name,
        arm,
        model,
        epoch,
        status,
        f"{name}@{label}",
        log,
        model,
        cause,
        outcome.detail,
        record,
        route,
    )


ARMS = ("none", "gold", "routed-bm25", "routed-random")


def page(
    target: Path,
    tasks: int,
    epochs: int,
    models: tuple[str, ...] = ("alpha", "beta"),
    arms: Sequence[str] = ARMS,
) -> Path:
    trials = [trial(*parts) for parts in product(range(tasks), arms, range(1, epochs + 1), models)]
    target.write_text(load_report("html").render(summarise(trials), Canvas()), encoding="utf-8")
    return target


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    module = _module("browser")
    if (lacking := module.missing()) is not None:
        if os.environ.get("WORKBENCH_REQUIRE_BROWSER"):
            pytest.fail(lacking)
        # A page cannot be clicked without a browser; what it holds is tested in unit/reporting. The skip
        # names what to install; `.ci/run` does and sets the variable, so that there it is a failure.
        pytest.skip(lacking)
    with module.browser(tmp_path_factory.mktemp("profile")) as session:
        yield session


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page(tmp_path_factory.mktemp("page") / "report.html", 15, 5)


@pytest.fixture
def opened(browser: Any, report: Path) -> Any:
    for log in (browser.requests, browser.console):
        log()  # what the start-up page did
    browser.open(report)
    return browser


FIRST = (
    "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
    ".filter(r => !r.hidden).map(r => r.cells[0].textContent.trim())"
)


def rows(browser: Any, table: str) -> list[str]:
    found: list[str] = browser.run(FIRST, table)
    return found


def test_nothing_is_asked_of_the_network_and_nothing_is_complained_of(opened: Any) -> None:
    own = ("file:", "data:", "chrome:")  # the last: what the browser's first page asks of the browser itself
    assert [url for url in opened.requests() if not url.startswith(own)] == []
    assert opened.console() == []
    opened.click("#theme")
    assert opened.console() == []


def test_a_click_on_a_head_sorts_and_a_second_click_turns_it_round(opened: Any) -> None:
    head = "#tasks-0 thead th:nth-child(4)"
    truth = {f"task-{task:03d}": mean(task) for task in range(15)}
    opened.click(f"{head} button")
    shown = [truth[name] for name in rows(opened, "#tasks-0")]
    assert shown == sorted(shown)
    assert opened.run(f"return document.querySelector('{head}').ariaSort") == "ascending"
    opened.click(f"{head} button")
    shown = [truth[name] for name in rows(opened, "#tasks-0")]
    assert shown == sorted(shown, reverse=True)
    assert shown.index(0.53) < shown.index(0.47)


def mean(task: int) -> float:
    """Of bm25's five trials, as planned and not as shown."""
    found = [trial(task, "routed-bm25", epoch, "alpha").record for epoch in range(1, 6)]
    rewards = [r.outcome.reward for r in found if r is not None and r.outcome.reward is not None]
    return round(sum(rewards) / len(rewards), 9)


def test_tasks_without_a_scored_trial_come_last_whichever_way_they_are_sorted(opened: Any) -> None:
    empty = "document.querySelectorAll('#tasks-0 tbody tr')[7].cells[3]"
    opened.run(f"{empty}.dataset.sort = ''; {empty}.parentElement.id = 'unscored'")
    for _ in ("ascending", "descending"):
        opened.click("#tasks-0 thead th:nth-child(4) button")
        assert opened.run("return document.querySelector('#tasks-0 tbody tr:last-child').id") == "unscored"


def test_sorting_works_by_key_too(opened: Any) -> None:
    opened.run("document.querySelector('#tasks-0 thead button').focus()")
    opened.press("\ue007")
    opened.press("\ue007")
    assert rows(opened, "#tasks-0") == sorted(rows(opened, "#tasks-0"), reverse=True)


def test_a_filter_keeps_matching_tasks_and_says_how_many(opened: Any) -> None:
    opened.type("[data-filter='tasks-0']", "task-01")
    assert rows(opened, "#tasks-0") == [f"task-01{n}" for n in range(5)]
    count = "return document.querySelector(\"[data-filter='tasks-0'] ~ .count\").textContent"
    assert opened.run(count) == "5 of 15"


def test_harmed_tasks_can_be_chosen(opened: Any) -> None:
    choose = (
        "const s = document.querySelector(\"[data-only='tasks-0']\"); s.value = arguments[0];"
        " s.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    opened.run(choose, "harmed")
    assert rows(opened, "#tasks-0") == ["task-003"]
    opened.run(choose, "missing")
    assert rows(opened, "#tasks-0") == ["task-011"]


def test_the_grid_is_one_tab_stop_and_arrows_move_within_it(opened: Any) -> None:
    assert opened.run("return document.querySelectorAll('#tasks-0 a.mark[tabindex=\"0\"]').length") == 1
    opened.run("document.querySelector('#tasks-0 a.mark').focus()")
    opened.press("\ue014")
    assert opened.run("return document.activeElement.title").startswith("trial 2:")
    opened.press("\ue015")
    assert opened.run("return document.activeElement.closest('tr').cells[0].textContent") == "task-001"
    assert opened.run("return document.querySelectorAll('#tasks-0 a.mark[tabindex=\"0\"]').length") == 1


TABBABLE = (
    "return [...document.querySelectorAll('#tasks-0 a.mark[tabindex=\"0\"]')].map(m => !!m.offsetParent)"
)


def test_the_grid_stays_one_tab_stop_whatever_is_filtered(opened: Any) -> None:
    box = "[data-filter='tasks-0']"
    opened.type(box, "task-014")
    assert opened.run(TABBABLE) == [True]
    opened.run(f"document.querySelector(\"{box}\").value = ''")
    opened.type(box, "no such task")
    assert opened.run(TABBABLE) == []
    opened.run(f"document.querySelector(\"{box}\").value = ''")
    opened.type(box, "task")
    assert opened.run(TABBABLE) == [True]


def test_the_focus_is_never_hidden_below_a_head_that_stays(browser: Any, tmp_path: Path) -> None:
    browser.open(page(tmp_path / "tall.html", 40, 1))
    browser.run("document.querySelectorAll('#tasks-0 tbody tr')[39].querySelector('a.mark').focus()")
    seen = (
        "const m = document.activeElement, r = m.getBoundingClientRect();"
        "return document.elementFromPoint(r.left + 6, r.top + 1) === m"
    )
    for _ in range(39):
        browser.press("\ue013")
        assert browser.run(seen)
    assert browser.run("return document.activeElement.closest('tr').cells[0].textContent") == "task-000"


def test_marks_lead_to_transcripts_in_the_viewer(opened: Any) -> None:
    place = opened.run("return document.querySelector('#tasks-0 a.mark').href")
    assert place == "http://127.0.0.1:7575/#/logs/alpha.eval/samples/sample/task-000%40none/1/"


def test_every_table_is_named_and_every_picture_is_hidden_from_screen_readers(opened: Any) -> None:
    assert opened.run("return [...document.querySelectorAll('table')].filter(t => !t.caption).length") == 0
    assert opened.run("return document.querySelectorAll('svg:not([aria-hidden])').length") == 0
    assert (
        opened.run("return [...document.querySelectorAll('input, select')].filter(e => !e.ariaLabel).length")
        == 0
    )
    assert opened.run("return document.querySelectorAll('[id]').length") == opened.run(
        "return new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size"
    )


def test_the_theme_can_be_switched(opened: Any) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = opened.run(colour)
    opened.click("#theme")
    assert opened.run(colour) != before
    opened.click("#theme")
    assert opened.run(colour) == before


FIRST_COLUMN = (
    "const box = document.querySelector('#routing').parentElement.getBoundingClientRect();"
    "return [...document.querySelectorAll('#routing tr')]"
    ".every(r => Math.abs(r.cells[0].getBoundingClientRect().left - box.left) < 3)"
)


def test_every_table_fits_a_window_of_1200_pixels(browser: Any, tmp_path: Path) -> None:
    """Long names of models and routers break over lines, and the table with a column for every metric keeps
    its first in sight; on a phone the tables scroll, never the page."""
    arms = ("none", "gold", "routed-bm25", "routed-skillrouter-8b-reranked")
    models = ("litellm/anthropic/claude-sonnet-4-5", "litellm/openai/gpt-5.1")
    browser.open(page(tmp_path / "wide.html", 15, 3, models, arms))
    wide = "return [...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth)"
    names = f"{wide}.map(s => s.ariaLabel)"
    browser.resize(1200)
    assert browser.run(names) == ["Routing metrics"]
    browser.run("document.querySelector('#routing').parentElement.scrollLeft = 300")
    assert browser.run(FIRST_COLUMN)
    browser.resize(390)
    assert "Differences between arms: litellm/openai/gpt-5.1" in browser.run(names)
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    browser.resize(1280)


def test_text_from_logs_stays_text(opened: Any) -> None:
    assert "<b>container</b>" in opened.run("return document.querySelector('.detail').textContent")


def test_ten_thousand_trials_open_in_under_three_seconds(browser: Any, tmp_path: Path) -> None:
    large = page(tmp_path / "large.html", 87, 15)
    started = time.monotonic()
    browser.open(large)
    marks = browser.run("return document.querySelectorAll('a.mark').length")
    browser.run("return document.body.offsetHeight")
    assert marks == 87 * 15 * 4 * 2
    assert time.monotonic() - started < 3


BOTH = ({"prefers_color_scheme": "light"}, {"prefers_color_scheme": "dark"})


def luminance(colour: str) -> float:
    """Relative luminance of ``rgb(...)``, by WCAG 2."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", BOTH, ids=("light", "dark"))
def test_numbers_in_bars_can_be_read_on_every_stage(opened: Any, theme: dict[str, str]) -> None:
    found = (
        "return Object.fromEntries([...document.querySelectorAll('svg text[class^=on-]')].map(t =>"
        "[t.className.baseVal, [getComputedStyle(t).fill, getComputedStyle(t.previousElementSibling).fill]]))"
    )
    opened.media(**theme)
    pairs = opened.run(found)
    card = opened.run("return getComputedStyle(document.querySelector('.scroll')).backgroundColor")
    opened.media()
    assert set(pairs) == {f"on-{stage}" for stage in FUNNEL}
    assert {stage: contrast(*pair) for stage, pair in pairs.items() if contrast(*pair) < 4.5} == {}
    assert {stage for stage, (_, bar) in pairs.items() if contrast(bar, card) < 3} == set()


def test_marks_and_swatches_stay_apart_in_forced_colours(opened: Any) -> None:
    look = (
        "return [...document.querySelectorAll(arguments[0])].map(e => { const s = getComputedStyle(e);"
        "return [s.backgroundColor, s.backgroundImage, s.borderTopStyle].join(' ') })"
    )
    opened.media(forced_colors="active")
    marks = opened.run(look, "#block-0 .legend .mark")
    stages = opened.run(look, "#block-0 .legend .swatch")
    arms = opened.run(look, "#tasks-0 thead .swatch")
    opened.media()
    assert len(set(marks)) == len(marks) == 5
    assert len(set(stages)) == len(stages) == len(FUNNEL)
    assert len(set(arms)) == len(arms) == len(ARMS)


NAMELESS = """
const text = (e) => (e.innerText ?? '').trim().toLowerCase();
const faults = [];
for (const e of document.querySelectorAll('button[aria-label], a[aria-label]'))
  if (!e.ariaLabel.toLowerCase().includes(text(e))) faults.push(['label without its text', e.ariaLabel]);
for (const e of document.querySelectorAll('th'))
  if (!e.textContent.trim() || (e.firstElementChild?.matches('svg') && e.children.length < 2))
    faults.push(['head without text', e.outerHTML]);
let level = 0;
for (const e of document.querySelectorAll('h1, h2, h3, h4')) {
  if (e.tagName[1] - level > 1) faults.push(['heading skips', e.textContent]);
  level = Number(e.tagName[1]);
}
const named = [...document.querySelectorAll('nav, main, [role=region], [role=group]')]
  .map(e => e.tagName + e.ariaLabel);
for (const name of named)
  if (named.indexOf(name) !== named.lastIndexOf(name)) faults.push(['same name', name]);
for (const e of document.querySelectorAll('.scroll'))
  if (e.tabIndex < 0 && !e.querySelector('a[tabindex="0"]')) faults.push(['cannot be scrolled', e.ariaLabel]);
return faults
"""


def test_heads_headings_labels_and_regions_are_named_and_told_apart(opened: Any) -> None:
    assert opened.run(NAMELESS) == []


def size(browser: Any, width: int) -> None:
    """The page's own width in pixels, phones' included, which no window can have; 0: as at first."""
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": 0 < width < 600}
    command = "setDeviceMetricsOverride" if width else "clearDeviceMetricsOverride"
    browser.devtools(f"Emulation.{command}", **(metrics if width else {}))


def test_pictures_keep_their_size_on_a_phone_and_scroll(opened: Any) -> None:
    least = (
        "return Math.min(...[...document.querySelectorAll('svg.wide text')]"
        ".map(t => t.ownerSVGElement.clientWidth / t.ownerSVGElement.viewBox.baseVal.width"
        " * parseFloat(getComputedStyle(t).fontSize)))"
    )
    size(opened, 375)
    smallest, width = opened.run(least), opened.run("return document.documentElement.scrollWidth")
    size(opened, 0)
    assert smallest >= 10
    assert width == 375


def test_a_name_of_two_hundred_characters_does_not_widen_the_page(browser: Any, tmp_path: Path) -> None:
    arms = ("none", "gold", f"routed-{'R' * 200}")
    browser.open(page(tmp_path / "long.html", 8, 2, ("M" * 200, "N" * 200), arms))
    size(browser, 375)
    width = browser.run("return document.documentElement.scrollWidth")
    size(browser, 0)
    assert width == 375


def test_paper_is_light_shows_what_is_folded_and_cuts_nothing(opened: Any) -> None:
    inside = (
        "const s = getComputedStyle(document.querySelector('.mark.pass'));"
        "return {ink: getComputedStyle(document.body).color, kept: s.printColorAdjust,"
        " folded: document.querySelector('details:not([open])').offsetHeight,"
        " cut: [...document.querySelectorAll('table, svg')]"
        ".filter(t => t.getBoundingClientRect().right > innerWidth)"
        ".map(t => t.caption?.textContent ?? t.className.baseVal)}"
    )
    opened.run("document.querySelector('details').open = false")
    opened.media("print", prefers_color_scheme="dark")
    size(opened, 1030)
    found = opened.run(inside)
    size(opened, 0)
    opened.media()
    assert luminance(found["ink"]) < 0.05
    assert found["kept"] == "exact"
    assert found["folded"] > 100
    assert found["cut"] == []


def test_names_and_marks_of_a_task_stay_on_one_line(browser: Any, tmp_path: Path) -> None:
    browser.open(page(tmp_path / "few.html", 15, 8))
    split = (
        "return [...document.querySelectorAll('#tasks-0 tbody tr')].filter(row => {"
        "const name = new Range(); name.selectNodeContents(row.cells[0]);"
        "const low = [...row.querySelectorAll('a.mark')].some(m =>"
        " m.offsetTop > m.closest('td').querySelector('b').offsetTop + 12);"
        "return low || name.getClientRects().length > 1 }).length"
    )
    browser.resize(1200)
    found = browser.run(split)
    browser.resize(1280)
    assert found == 0
