"""What the page holds, whatever draws it: order, names, numbers and the words beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from itertools import pairwise, product
from pathlib import Path

import pytest

from workbench.core.types import FunnelStage
from workbench.reporting.page.markup import el
from workbench.reporting.page.view import looks
from workbench.reporting.report import Canvas, load_report
from workbench.reporting.schema import FileNote, Summary
from workbench.reporting.summary import summarise
from workbench.reporting.trial import Trial

Make = Callable[..., Trial]


class Page(HTMLParser):
    """Tables by caption, each a list of rows, each a list of (text, data-sort); and all there is."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[tuple[str, str | None]]]] = {}
        self.marks: list[dict[str, str | None]] = []
        self.headings: list[tuple[str, str]] = []
        self.text = text
        self._open = ""
        self._rows: list[list[tuple[str, str | None]]] = []
        self._caption = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table":
            self._rows, self._caption = [], ""
        if tag == "tr":
            self._rows.append([])
        if tag in {"td", "th"}:
            self._rows[-1].append(("", given.get("data-sort")))
        if tag in {"h1", "h2", "h3"}:
            self.headings.append((tag, ""))
        if tag in {"td", "th", "h1", "h2", "h3", "caption"}:
            self._open = tag
        if tag == "br":
            self.handle_data(" ")
        if tag == "a" and (given.get("class") or "").startswith("mark"):
            self.marks.append(given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self.tables[self._caption] = self._rows
        if tag == self._open:
            self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open == "caption":
            self._caption += data
        elif self._open in {"td", "th"}:
            text, sort = self._rows[-1][-1]
            self._rows[-1][-1] = (text + data, sort)
        elif self._open:
            tag, text = self.headings[-1]
            self.headings[-1] = (tag, text + data)

    def column(self, caption: str, place: int) -> list[tuple[str, str | None]]:
        """The cells of a column below its head."""
        return [row[place] for row in self.tables[caption][1:]]


def drawn(trials: Iterable[Trial], **changes: object) -> Page:
    summary = summarise(list(trials)).model_copy(update=changes)
    return Page(load_report("html").render(summary, Canvas()))


@pytest.fixture
def make(make_record: Callable[..., object], make_trial: Callable[..., Trial]) -> Make:
    def trial(task: str, arm: str, epoch: int = 1, reward: float = 1.0, **changes: object) -> Trial:
        record = make_record(task, arm, epoch, reward, **changes)
        return make_trial(record, model=changes.get("model", "none/none"))

    return trial


def every(make: Make, arms: Iterable[str], tasks: int = 4, **changes: object) -> list[Trial]:
    return [make(f"t{n}", arm, **changes) for n, arm in product(range(tasks), arms)]


def test_the_grid_sorts_by_the_means_themselves(make: Make) -> None:
    means = {"a": 0.47, "b": 0.53, "c": 0.46, "d": 0.54}
    page = drawn(make(task, arm, 1, mean) for task, mean in means.items() for arm in ("none", "gold"))
    shown = [float(sort or "nan") for _, sort in page.column("Trials by task and arm", 1)]
    assert shown == list(means.values())


def test_a_cell_that_says_why_it_has_no_number_sorts_as_one_without(make: Make) -> None:
    page = drawn(every(make, ("none", "gold"), reward=0.0))
    found = page.column("Cost by arm", 4)
    assert found == [("no trial succeeded", "")] * 2


def test_marks_can_be_reached_by_key_where_no_script_runs(make: Make) -> None:
    assert all("tabindex" not in mark for mark in drawn(every(make, ("none", "gold"))).marks)


def test_floats_are_short_only_as_coordinates() -> None:
    assert el("line", x1=0.25) == '<line x1="0.2"/>'
    assert el("link", rel="icon", href="data:,") == '<link rel="icon" href="data:,">'


def test_no_two_blocks_have_a_caption_in_common(make: Make) -> None:
    models = ("openai/a", "openai/b")
    trials = [
        make(f"t{n}", arm, epoch, model=model, metrics={"Hit@1": 1.0} if arm == "routed-bm25" else {})
        for n, arm, epoch, model in product(range(4), ("none", "gold", "routed-bm25"), (1, 2), models)
    ]
    page = drawn(trials)
    captions = page.text.count("<caption")
    assert captions == len(page.tables) > 10
    assert "Success by arm: openai/a" in page.tables


def test_headings_go_down_by_one_level_at_a_time(make: Make) -> None:
    trials = [t for model in ("a", "b") for t in every(make, ("none", "gold", "routed-bm25"), model=model)]
    levels = [int(tag[1]) for tag, _ in drawn(trials).headings]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_no_model_is_called_that(make: Make) -> None:
    page = drawn(every(make, ("none", "gold")))
    assert ("h2", "quickstart no model") in page.headings
    assert "none/none" not in page.text


@pytest.mark.parametrize(
    ("stage", "blind", "reward", "said"),
    [
        ("failed", True, 0.0, "given, failed"),
        ("failed", False, 0.0, "loaded, failed"),
        ("failed", False, 0.5, "loaded, reward 0.50"),
        ("not_routed", False, 0.0, "failed, not routed"),
        ("passed", False, 1.0, "passed"),
    ],
)
def test_a_mark_says_how_its_trial_ended_once(
    make: Make, stage: FunnelStage, blind: bool, reward: float, said: str
) -> None:
    page = drawn(every(make, ("none", "gold"), tasks=1, reward=reward, funnel=stage, blind=blind))
    assert page.marks[-1]["title"] == f"trial 1: {said}"


def test_a_count_of_none_in_the_funnel_is_zero_with_its_interval(make: Make) -> None:
    rows = drawn(every(make, ("none", "gold"))).tables["Trials by stage, with shares and 95% intervals"]
    assert rows[1][2][0].startswith("0 0% [0, ")
    assert rows[1][2][1] == "0.0"


def test_pass_at_k_has_its_tasks_beside_it(make: Make) -> None:
    page = drawn(make(f"t{n}", arm, epoch) for n, arm, epoch in product(range(4), ("none", "gold"), (1, 2)))
    assert [cell for cell, _ in page.tables["pass@k and pass^k"][0]][:3] == ["Arm", "Of k trials", "Tasks"]
    assert {cell for cell, _ in page.column("pass@k and pass^k", 2)} == {"4"}


def test_gain_and_extra_price_have_interval_and_tasks(make: Make) -> None:
    arms = {"none": 0.0, "gold": 1.0}
    page = drawn(make(f"t{n}", arm, 1, reward) for n, (arm, reward) in product(range(4), arms.items()))
    gain = [row[4][0] for row in page.tables["Success against price"] if row[0][0] == "gold"]
    assert gain[0].startswith("+1.00 [")
    assert gain[0].endswith("] 4 tasks")


def test_a_mean_of_a_changed_task_says_of_how_many_trials(make: Make) -> None:
    page = drawn(
        make(f"t{n}", arm, 1, float(arm == "gold")) for n, arm in product(range(4), ("none", "gold"))
    )
    assert page.column("Tasks changed by gold", 1)[0] == ("1.00 of 1 trial", "1.0")
    assert "0 fell (2.0 expected by chance), 4 rose<small> of 4 tasks: +1.00 [" in page.text


def test_routing_metrics_stand_in_order_of_use_then_of_family_and_depth(make: Make) -> None:
    names = ("Recall@10", "Precision@5", "Hit@10", "Recall@3", "Hit@1", "Recall@5", "nDCG@10", "Hit@3")
    trials = every(make, ("none", "routed-bm25"), metrics=dict.fromkeys(names, 1.0))
    heads = [cell for cell, _ in drawn(trials).tables["Routing metrics"][0]]
    assert heads[:4] == ["Router", "Suite", "Gold skills", "Tasks"]
    assert heads[4:7] == ["Hit@1", "Recall@5", "nDCG@10"]
    assert heads[7:] == ["Hit@3", "Hit@10", "Precision@5", "Recall@3", "Recall@10"]


def test_nothing_is_called_complete_above_a_log_that_could_not_be_read(make: Make) -> None:
    summary = summarise(every(make, ("none", "gold")))
    unread = (FileNote(path="b.eval", reason="truncated"),)
    logs = summary.logs.model_copy(update={"unreadable": unread})
    page = drawn(every(make, ("none", "gold")), logs=logs)
    assert "none missing in the logs read · 0 logs · 1 log not read" in page.text
    assert page.text.index("b.eval cannot be read") < page.text.index('<main id="findings"')


def test_the_viewer_is_named_with_a_folder_that_a_shell_understands(
    make_record: Callable[..., object], make_trial: Callable[..., Trial]
) -> None:
    from dataclasses import replace

    trials = [
        replace(make_trial(make_record("t", arm)), log=Path("/logs/it's a run/log.eval"))
        for arm in ("none", "gold")
    ]
    assert """--log-dir '/logs/it'"'"'s a run'</code>""" in drawn(trials).text


def test_the_answer_stands_between_the_question_and_everything_else(make: Make) -> None:
    page = drawn(every(make, ("none", "gold", "routed-bm25")))
    assert page.text.index("</h1>") < page.text.index("bm25: no clear difference") < page.text.index("<h2")
    assert page.text.count("bm25: no clear difference") == 1


def test_of_many_blocks_the_strongest_answers_stand_first(make: Make) -> None:
    def reward(model: int, arm: str) -> float:
        return float(arm == "gold" or (arm == "routed-bm25" and model == 8))

    trials = [
        make(f"t{n}", arm, 1, reward(model, arm), model=f"m{model}")
        for n, arm, model in product(range(8), ("none", "gold", "routed-bm25"), range(9))
    ]
    head = drawn(trials).text.partition("<h2")[0]
    assert head.count('<p><a href="#block-') == 6
    assert "m8</a>: bm25: " in head
    assert "The strongest; 3 blocks more below." in head


def test_routed_arms_differ_by_colour_or_shape_and_look_alike_in_all_blocks(make: Make) -> None:
    arms = ("none", "gold", *(f"routed-r{n:02d}" for n in range(30)))
    summary: Summary = summarise(
        [make("t", arm, model=model) for arm, model in product(arms, ("openai/a", "openai/b"))]
    )
    found = looks(summary)
    assert len({found[arm] for arm in arms}) == len(arms)
    assert found["none"].shape == found["gold"].shape == "circle"
