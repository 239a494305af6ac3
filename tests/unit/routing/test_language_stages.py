"""Stages that ask a language model, with one that answers by rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.routing.speakers import Said, Scripted, calling, saying
from tests.unit.routing.conftest import MakeRouter
from workbench.core.errors import ContentError, MachineError, UsageError
from workbench.routing.language import Ask
from workbench.routing.methods.expand_documents import PROMPTS
from workbench.routing.router import Query
from workbench.routing.text import DocumentText
from workbench.skills.pool import Pool

TASK = Query("t", "Extract the tables of a PDF and write clean CSV data, then draw charts")
BM25 = "- bm25:\n"
JUDGE = BM25 + "- judge: {model: some/judge, top: 3}"
SELECT = BM25 + "- llm_select: {model: some/judge, top: 4, most: 2}"
AGENT = "- agentic:\n    model: some/agent\n    calls: %d\n    channels: [{stages: [bm25: ]}]"
DENSE = "- dense:\n    model: tiny/encoder\n    path: {path}\n    device: cpu\n    dtype: float32\n"


def test_the_judges_choice_is_first_and_the_rest_keep_their_order(make_router: MakeRouter) -> None:
    before = [entry.id for entry in make_router(BM25).route([TASK], 9)[0]]
    router = make_router(JUDGE, complete=saying(" [3].\n"))
    found = [entry.id for entry in router.route([TASK], 9)[0]]
    assert found == [before[2], before[0], before[1], *before[3:]]
    assert router.notes() == ()


def test_the_judge_reads_the_papers_prompt(make_router: MakeRouter, pool: Pool) -> None:
    speaker = saying("1")
    before = make_router(BM25).route([TASK], 3)[0]
    make_router(JUDGE, complete=speaker).route([TASK], 3)
    (ask,) = speaker.asked
    first, second, third = (pool.get(entry.id) for entry in before)
    assert ask.messages[0].content == (
        "You are an expert at matching tasks to reusable skill definitions. Given a task query and a "
        "numbered list of candidate skills, identify the SINGLE most relevant skill that best solves the "
        "task.\n"
        "Respond with ONLY the number (e.g. '3') of the best matching skill, nothing else."
    )
    assert ask.messages[1].content == (
        f"{TASK.text}\n\n"
        f"[1] Name: {first.name}\nDescription: {first.description}\nBody: {first.body}\n"
        f"[2] Name: {second.name}\nDescription: {second.description}\nBody: {second.body}\n"
        f"[3] Name: {third.name}\nDescription: {third.description}\nBody: {third.body}"
    )
    assert (ask.model, ask.temperature) == ("some/judge", 0.0)


@pytest.mark.parametrize("answer", ["", "0", "4", "the first", "1 or 2", "99999"])
def test_an_answer_that_names_no_candidate_changes_nothing_and_is_counted(
    make_router: MakeRouter, answer: str
) -> None:
    router = make_router(JUDGE, complete=saying(answer))
    assert router.route([TASK], 9) == make_router(BM25).route([TASK], 9)
    router = make_router(JUDGE, complete=saying(answer))
    router.route([TASK, TASK], 9)
    assert router.notes() == ("judge: 2 of 2 answers could not be used; the order was left as it was",)


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        ("3, 1", [2, 0]),
        ("2", [1]),
        ("[4]", [3]),
        ("1,1,2", [0, 1]),
        ("9, 2", [1]),
        ("3 2 1", [2, 1]),
        ("0", []),
    ],
)
def test_a_selection_keeps_what_was_named_in_its_order(
    make_router: MakeRouter, answer: str, places: list[int]
) -> None:
    before = [entry.id for entry in make_router(BM25).route([TASK], 9)[0]]
    found = make_router(SELECT, complete=saying(answer)).route([TASK], 9)[0]
    assert [entry.id for entry in found] == [before[place] for place in places]


@pytest.mark.parametrize("answer", ["none", "", "9", "1 and 2", "-"])
def test_no_selection_leaves_the_candidates(make_router: MakeRouter, answer: str) -> None:
    router = make_router(SELECT, complete=saying(answer))
    found = router.route([TASK], 9)
    assert found == make_router(BM25).route([TASK], 9)
    assert router.notes() == (
        "llm_select: 1 of 1 answers could not be used; the candidates were left as they were",
    )


def test_hypothetical_skills_reach_the_lexical_channel(make_router: MakeRouter) -> None:
    recipe = "- expand_query: {model: some/writer}\n- bm25:"
    query = Query("t", "How large is it inside?")
    assert make_router(BM25).route([query], 5) == [()]
    found = make_router(recipe, complete=saying("Compute the volume of an STL mesh")).route([query], 5)[0]
    assert found[0].id == "gt/mesh-analysis"


def test_a_query_moves_toward_the_mean_of_its_hypothetical_skills(
    make_router: MakeRouter, models: Path
) -> None:
    dense = DENSE.format(path=models / "tiny/encoder")
    space = make_router(dense).stages()[0]
    texts = ["Extract tables from PDF files", "Draw charts from CSV data"]
    plain = space.encode([TASK])[0].astype(np.float64)  # type: ignore[attr-defined]
    mean = space.encode_skills(texts).mean(axis=0, dtype=np.float64)  # type: ignore[attr-defined]
    expected = 0.7 * plain + 0.3 * mean
    moved = space.encode([Query("t", TASK.text, hypotheses=tuple(texts), shift=0.3)])[0]  # type: ignore[attr-defined]
    assert moved == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


def test_two_texts_are_asked_for_and_empty_ones_are_counted(make_router: MakeRouter) -> None:
    speaker = Scripted(lambda ask: Said("" if "step by step" in ask.messages[0].content else "mesh"))
    router = make_router("- expand_query: {model: some/writer}\n- bm25:", complete=speaker)
    assert router.route([Query("t", "something")], 5)[0][0].id == "gt/mesh-analysis"
    assert [ask.temperature for ask in speaker.asked] == [0.3, 0.3]
    assert router.notes() == (
        "expand_query: 1 of 2 answers could not be used; the query went on without them",
    )


def test_a_rationale_is_read_by_the_encoder_and_not_by_bm25(make_router: MakeRouter, models: Path) -> None:
    speaker = saying("The user needs skills for\nPDF tables.")
    cot = "- self_cot: {model: some/reasoner}\n"
    assert make_router(cot + "- bm25:", complete=speaker).route([TASK], 5) == make_router(BM25).route(
        [TASK], 5
    )
    dense = DENSE.format(path=models / "tiny/encoder")
    found = make_router(cot + dense, complete=speaker).route([TASK], 5)
    written = (
        f"{TASK.text}\nQuery analysis: The user needs skills for PDF tables.\n"
        "In summary, the retrieval representation for this task is:"
    )
    assert found == make_router(dense).route([Query("t", written)], 5)


def test_skills_move_toward_the_mean_of_their_requests(
    make_router: MakeRouter, models: Path, pool: Pool
) -> None:
    def answer(prompt: str) -> str:
        return " ".join(prompt.split()[-6:])

    dense = DENSE.format(path=models / "tiny/encoder")
    expand = dense + "- expand_documents: {model: some/writer, weight: 0.4}"
    speaker = Scripted(lambda ask: Said(answer(ask.messages[0].content)))
    space = make_router(expand, complete=speaker).stages()[0]
    rows = make_router(dense).stages()[0].stored().rows.astype(np.float64)  # type: ignore[attr-defined]
    found = space.stored().rows.astype(np.float64)  # type: ignore[attr-defined]
    assert len(speaker.asked) == 2 * len(rows)
    for row, moved, skill in zip(rows, found, pool.skills(), strict=True):
        shown = DocumentText(separator="\n", body_chars=8000).render(skill)
        texts = [answer(prompt.format(skill=shown)) for prompt in PROMPTS]
        expected = 0.6 * row + 0.4 * space.encode_requests(texts).mean(axis=0)  # type: ignore[attr-defined]
        assert moved == pytest.approx(expected / np.linalg.norm(expected), abs=1e-3)
    again = make_router(expand, complete=Scripted(_never)).stages()[0].stored().rows  # type: ignore[attr-defined]
    assert np.array_equal(again, found.astype(np.float16))


def _never(ask: Ask) -> Said:
    raise AssertionError(f"asked again: {ask}")


def test_an_agent_searches_and_its_submission_is_the_ranking(make_router: MakeRouter) -> None:
    speaker = calling(
        [("search", {"query": "mesh volume"}), ("search", {"query": "charts"})],
        [("read", {"id": "gt/mesh-analysis"})],
        [("submit", {"ids": ["data/charts", "ghost", "gt/mesh-analysis", "data/charts"]})],
    )
    found = make_router(AGENT % 9, complete=speaker).route([TASK], 9)[0]
    assert [(entry.id, entry.score) for entry in found] == [("data/charts", 1.0), ("gt/mesh-analysis", 0.5)]
    replies = [message.content for message in speaker.asked[-1].messages if message.role == "tool"]
    assert replies[0].startswith("gt/mesh-analysis: mesh-analysis: Measure 3D meshes")
    assert "Load the STL mesh" in replies[2]
    assert replies[2].endswith("(6 calls left)")


def test_an_agent_without_submission_gets_what_it_saw_and_is_counted(make_router: MakeRouter) -> None:
    speaker = calling(*[[("search", {"query": "mesh"})]] * 5)
    router = make_router(AGENT % 2, complete=speaker)
    assert [entry.id for entry in router.route([TASK], 9)[0]] == ["gt/mesh-analysis"]
    assert len(speaker.asked) == 2
    assert router.notes() == ("agentic: 1 of 1 answers could not be used; what its searches found was taken",)


@pytest.mark.parametrize(
    ("call", "reply"),
    [
        (("search", "{broken"), "not valid JSON"),
        (("search", "[1]"), "must be an object"),
        (("search", {"query": "?!"}), "Nothing was found"),
        (("read", {"id": "ghost"}), "no skill with this id"),
        (("submit", {"ids": "data/charts"}), "must be a list"),
        (("submit", {"ids": ["ghost"]}), "none of these ids"),
        (("shell", {}), "no tool 'shell'"),
    ],
)
def test_a_wrong_call_is_answered_and_costs_a_call(
    make_router: MakeRouter, call: tuple[str, object], reply: str
) -> None:
    speaker = calling([call], [("submit", {"ids": ["data/charts"]})])
    assert [e.id for e in make_router(AGENT % 5, complete=speaker).route([TASK], 9)[0]] == ["data/charts"]
    (said,) = [message.content for message in speaker.asked[-1].messages if message.role == "tool"]
    assert reply in said


def test_an_agent_may_choose_from_the_candidates_alone(make_router: MakeRouter) -> None:
    speaker = calling(
        [("search", {"query": "mesh charts"})], [("submit", {"ids": ["gt/mesh-analysis", "data/charts"]})]
    )
    recipe = "- gold:\n" + AGENT % 5
    found = make_router(recipe, complete=speaker).route([Query("t", "x charts", gold=("data/charts",))], 9)[0]
    assert [entry.id for entry in found] == ["data/charts"]


def test_without_a_model_at_hand_the_error_says_so(make_router: MakeRouter) -> None:
    with pytest.raises(UsageError, match="judge: asks the language model 'some/judge', and none is at hand"):
        make_router(JUDGE).prepare()


def test_a_stage_that_rewrites_queries_cannot_stand_last(make_router: MakeRouter) -> None:
    with pytest.raises(ContentError, match="self_cot: cannot stand last"):
        make_router(BM25 + "- self_cot: {model: a/b}")


def test_another_model_is_another_router(make_router: MakeRouter) -> None:
    class Renamed(Scripted):
        def prepare(self) -> None:
            """Nothing to do."""

        def name(self, model: str) -> str:
            return "other/model"

    plain = make_router(JUDGE, complete=saying("1")).fingerprint
    assert make_router(JUDGE, complete=Renamed(lambda ask: Said("1"))).fingerprint != plain


@pytest.mark.parametrize(
    ("stage", "stages"),
    [
        ("judge", JUDGE),
        ("self_cot", "- self_cot: {model: some/model}\n- bm25:"),
        ("agentic", "- agentic: {model: some/model, channels: [{stages: [bm25: ]}]}"),
    ],
)
def test_a_model_that_does_not_answer_is_told_with_task_and_stage(
    make_router: MakeRouter, stage: str, stages: str
) -> None:
    def broken(ask: Ask) -> Said:
        raise MachineError("some/model: context length exceeded; ask another")

    router = make_router(stages, complete=Scripted(broken))
    with pytest.raises(MachineError) as caught:
        router.route([Query("t-7", "tables")], 5)
    assert str(caught.value) == f"task 't-7': {stage}: some/model: context length exceeded; ask another"


def test_a_model_that_does_not_answer_is_told_with_the_skill(make_router: MakeRouter, models: Path) -> None:
    def broken(ask: Ask) -> Said:
        raise MachineError("some/writer: timed out")

    dense = DENSE.format(path=models / "tiny/encoder")
    router = make_router(dense + "- expand_documents: {model: some/writer}", complete=Scripted(broken))
    with pytest.raises(
        MachineError, match=r"^skill 'data/charts': expand_documents: some/writer: timed out$"
    ):
        router.prepare()
