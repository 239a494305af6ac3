"""BM25: the formulas, the fields, the order, the evidence."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import bm25s
import numpy as np
import pytest
import Stemmer

from tests.routing import pools
from tests.unit.routing.conftest import MakeRouter
from workbench.routing.router import Query
from workbench.routing.words import words
from workbench.skills.pool import Pool

TASK = "Extract the tables of a PDF and write clean CSV data, then draw charts"


def terms(text: str) -> list[str]:
    stem = Stemmer.Stemmer("english").stemWord
    stop = bm25s.stopwords.STOPWORDS_EN
    return [stem(word) for word in words(text) if word not in stop and len(word) > 1]


def by_definition(docs: list[list[str]], query: list[str], variant: str, k1: float, b: float) -> list[float]:
    """Kamphuis et al. 2020, table 1, written out, without the constant of unmatched terms."""
    size, mean = len(docs), sum(map(len, docs)) / len(docs)
    scores = []
    for doc in docs:
        total = 0.0
        for term in query:
            df = sum(term in other for other in docs)
            tf = doc.count(term)
            if not df or not tf:
                continue
            norm = k1 * (1 - b + b * len(doc) / mean)
            if variant == "lucene":
                total += math.log(1 + (size - df + 0.5) / (df + 0.5)) * tf / (tf + norm)
            elif variant == "robertson":
                total += math.log(max(1, (size - df + 0.5) / (df + 0.5))) * tf / (tf + norm)
            elif variant == "atire":
                total += math.log(size / df) * tf * (k1 + 1) / (tf + norm)
            elif variant == "bm25+":
                total += math.log((size + 1) / df) * tf * (k1 + 1) / (tf + norm)
            elif variant == "bm25l":
                c = tf / (1 - b + b * len(doc) / mean)
                value = (k1 + 1) * (c + 0.5) / (k1 + c + 0.5) - (k1 + 1) * 0.5 / (k1 + 0.5)
                total += math.log((size + 1) / (df + 0.5)) * value
        scores.append(total)
    return scores


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
def test_scores_are_those_of_the_formula_summed_over_fields(
    make_router: MakeRouter, pool: Pool, variant: str
) -> None:
    router = make_router(f"- bm25: {{variant: {variant}, k1: 1.2, b: 0.6, weights: {{name: 2, body: 0.5}}}}")
    skills = list(pool.skills())
    expected = np.zeros(len(skills))
    for field, weight in (("name", 2), ("description", 1), ("body", 0.5)):
        docs = [terms(getattr(skill, field)) for skill in skills]
        expected += weight * np.array(by_definition(docs, terms(TASK), variant, 1.2, 0.6))
    found = dict(router.route([Query("t", TASK)], 50)[0])
    assert found.keys() == {skill.id for skill, value in zip(skills, expected, strict=True) if value > 1e-9}
    for skill, value in zip(skills, expected, strict=True):
        assert found.get(skill.id, 0.0) == pytest.approx(value, abs=1e-5)


def test_scores_of_one_field_are_those_of_bm25s(make_router: MakeRouter, pool: Pool) -> None:
    router = make_router("- bm25: {weights: {name: 0, description: 0}}")
    docs = [terms(skill.body) for skill in pool.skills()]
    index = bm25s.BM25(k1=1.5, b=0.75)
    index.index(docs, show_progress=False)
    expected = dict(zip(pool.ids(), index.get_scores(terms(TASK)).tolist(), strict=True))
    found = router.route([Query("t", TASK)], 50)[0]
    assert found
    for entry in found:
        assert entry.score == pytest.approx(expected[entry.id], rel=1e-6)


def test_scores_of_the_whole_text_are_those_of_bm25s_over_all_three_fields(
    make_router: MakeRouter, pool: Pool
) -> None:
    docs = [terms(f"{skill.name} {skill.description} {skill.body}") for skill in pool.skills()]
    index = bm25s.BM25(k1=1.5, b=0.75)
    index.index(docs, show_progress=False)
    expected = dict(zip(pool.ids(), index.get_scores(terms(TASK)).tolist(), strict=True))
    found = make_router("- bm25: {fields: text}").route([Query("t", TASK)], 50)[0]
    assert {entry.id for entry in found} == {skill for skill, score in expected.items() if score > 0}
    for entry in found:
        assert entry.score == pytest.approx(expected[entry.id], rel=1e-6)


def test_a_word_that_the_query_repeats_counts_as_often(make_router: MakeRouter) -> None:
    router = make_router("- bm25:")
    once, twice = router.route([Query("1", "mesh"), Query("2", "mesh mesh")], 5)
    assert twice[0].score == pytest.approx(2 * once[0].score, rel=1e-6)


def test_name_and_description_alone_do_not_see_the_body(make_router: MakeRouter) -> None:
    task = Query("t", "volume")
    assert make_router("- bm25: {fields: full}").route([task], 5)[0][0].id == "gt/mesh-analysis"
    assert make_router("- bm25: {fields: nd}").route([task], 5) == [()]


def test_chinese_is_found_by_pairs_of_characters(make_router: MakeRouter) -> None:
    assert [e.id for e in make_router("- bm25:").route([Query("t", "请处理这些表格")], 5)[0]] == ["zh/表格"]


def test_skills_of_equal_text_are_ordered_by_id(make_router: MakeRouter) -> None:
    ranking = make_router("- bm25:").route([Query("t", "advice about invoices")], 2)[0]
    assert [entry.id for entry in ranking] == ["data/copy-a", "data/copy-b"]
    assert ranking[0].score == ranking[1].score


def test_only_skills_that_share_a_word_are_returned(make_router: MakeRouter) -> None:
    for variant in ("lucene", "bm25l", "bm25+"):
        router = make_router(f"- bm25: {{variant: {variant}}}")
        assert [e.id for e in router.route([Query("t", "mesh")], 50)[0]] == ["gt/mesh-analysis"]


def test_stop_words_and_stems_can_be_switched_off(make_router: MakeRouter) -> None:
    task = [Query("t", "the mesh")]
    assert len(make_router("- bm25:").route(task, 50)[0]) == 1
    assert len(make_router("- bm25: {stop_words: null}").route(task, 50)[0]) > 1
    assert make_router("- bm25: {stemmer: null}").route([Query("t", "meshing")], 50) == [()]


def test_candidates_limit_what_may_be_chosen(make_router: MakeRouter) -> None:
    router = make_router("- gold:\n- bm25:")
    task = Query("t", TASK, gold=("data/charts", "gt/mesh-analysis"))
    assert [entry.id for entry in router.route([task], 10)[0]] == ["data/charts"]


def test_a_pool_of_one_skill_and_a_pool_without_words_are_answered(
    make_router: MakeRouter, tmp_path: Path
) -> None:
    one = pools.write(tmp_path / "one.pool", {"a/pdf": ("pdf", "", "")})
    assert [e.id for e in make_router("- bm25:", one).route([Query("t", "a pdf")], 5)[0]] == ["a/pdf"]
    blank = pools.write(tmp_path / "blank.pool", {"a/x": ("x", "", "")})
    assert make_router("- bm25:", blank).route([Query("t", "a pdf")], 5) == [()]


def test_the_index_depends_on_options_and_pool_and_not_on_weights(
    make_router: MakeRouter, tmp_path: Path
) -> None:
    plain = make_router("- bm25:")
    other = pools.write(tmp_path / "other.pool", {"a/pdf": ("pdf", "", "")})
    assert make_router("- bm25:").index_fingerprint == plain.index_fingerprint
    assert make_router("- bm25:", other).index_fingerprint != plain.index_fingerprint
    assert make_router("- bm25: {k1: 2}").index_fingerprint != plain.index_fingerprint
    weighted = make_router("- bm25: {weights: {name: 3}}")
    assert weighted.index_fingerprint == plain.index_fingerprint
    assert weighted.fingerprint != plain.fingerprint


def test_a_long_query_is_answered(make_router: MakeRouter) -> None:
    long = " ".join(f"{TASK} {place}" for place in range(1500))
    assert len(long) > 100_000
    assert make_router("- bm25:").route([Query("t", long)], 3)[0][0].id == "gt/pdf-tables"


def test_answers_do_not_depend_on_the_hash_seed(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "routers").mkdir()
    (tmp_path / "routers" / "r.yaml").write_text("description: d\nstages:\n  - bm25:\n", encoding="utf-8")
    script = (
        "import sys; from pathlib import Path\n"
        "from workbench.core.workspace import Workspace\n"
        "from workbench.routing.load import load_router\n"
        "from workbench.routing.router import Query\n"
        "from workbench.skills.pool import Pool\n"
        "pool, root, cache, task = sys.argv[1:]\n"
        "w = Workspace((Path(root),), Path(root), Path(cache))\n"
        "print(load_router('r', Pool(Path(pool)), w).route([Query('t', task)], 9))\n"
    )
    answers = Counter(
        subprocess.run(
            [sys.executable, "-c", script, str(pool.path), str(tmp_path), str(tmp_path / seed), TASK],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "4")
    )
    assert len(answers) == 1
