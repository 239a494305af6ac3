"""A sweep's spec stands for jobs: baselines once, exclusions, one job for each router and setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli._sweep_spec import SweepSpec, expand
from workbench.core.content import load_content
from workbench.core.errors import ContentError


def spec(**values: object) -> SweepSpec:
    return SweepSpec.model_validate({"suite": "quickstart", "routers": ["bm25", "random"], **values})


def test_baselines_run_once_per_model_whatever_the_routers_and_settings() -> None:
    jobs = expand(spec(models=["a", "b"], k=[1, 5], pools=["p", "q"]))
    baselines = [job for job in jobs if job.router is None]
    assert [(job.model, job.conditions) for job in baselines] == [
        ("a", ("none", "gold")),
        ("b", ("none", "gold")),
    ]
    assert len(jobs) == 2 + 2 * 2 * 2 * 2


def test_gold_runs_once_per_way_of_showing_skills_and_no_skills_once() -> None:
    jobs = [job for job in expand(spec(disclosure=["progressive", "full"])) if job.router is None]
    assert [(job.disclosure, job.conditions) for job in jobs] == [
        ("progressive", ("none", "gold")),
        ("full", ("gold",)),
    ]


def test_excluded_cells_are_left_out_and_baselines_stay() -> None:
    jobs = expand(spec(k=[1, 5], exclude=[{"router": "random", "k": 1}]))
    assert [(job.router, job.k) for job in jobs] == [(None, None), ("bm25", 1), ("bm25", 5), ("random", 5)]
    without_b = expand(spec(models=["a", "b"], exclude=[{"model": "b"}]))
    assert {job.model for job in without_b} == {"a"}


def test_repeated_values_make_one_job() -> None:
    assert len(expand(spec(routers=["bm25", "bm25"], models=["a", "a"]))) == 2


def test_every_argument_that_bears_on_the_answer_is_given() -> None:
    wanted = spec(k=[3], pools=["p"], tasks=["x*"], seed=7)
    routed = expand(wanted)[1]
    assert routed.arguments(wanted) == {
        "conditions": ["routed"],
        "disclosure": "progressive",
        "router": "bm25",
        "router_k": 3,
        "pool": "p",
        "tasks": ["x*"],
        "seed": 7,
    }
    assert "router" not in expand(wanted)[0].arguments(wanted)


def test_a_wrong_key_names_file_line_and_the_nearest(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("suite: quickstart\nrouter: [bm25]\n")
    with pytest.raises(ContentError, match=r"s\.yaml:2: router: .*did you mean 'routers'"):
        load_content(file, SweepSpec)
