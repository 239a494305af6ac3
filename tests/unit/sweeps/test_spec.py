"""A sweep's spec stands for jobs: baselines once, exclusions, one job for each router and setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli._sweep_spec import FURTHER, Own, SweepSpec, expand, read_spec
from workbench.core.content import load_content, validate
from workbench.core.errors import ContentError, UsageError
from workbench.evaluation.arguments import KNOWN


def spec(**values: object) -> SweepSpec:
    return SweepSpec.model_validate({"suite": "quickstart", "routers": ["bm25", "random"], **values})


def test_baselines_run_once_per_model_whatever_the_routers_and_settings() -> None:
    jobs = expand(spec(models=["a", "b"], k=[1, 5], pools=["p", "q"]))
    baselines = [job for job in jobs if job.router is None]
    assert [(job.model, job.condition) for job in baselines] == [
        ("a", "none"),
        ("a", "gold"),
        ("b", "none"),
        ("b", "gold"),
    ]
    assert len(jobs) == 4 + 2 * 2 * 2 * 2


def test_gold_runs_once_per_way_of_showing_skills_and_no_skills_once() -> None:
    jobs = [job for job in expand(spec(disclosure=["progressive", "full"])) if job.router is None]
    assert [(job.disclosure, job.condition) for job in jobs] == [
        (None, "none"),
        ("progressive", "gold"),
        ("full", "gold"),
    ]


def test_excluded_cells_are_left_out_and_baselines_stay() -> None:
    jobs = expand(spec(k=[1, 5], exclude=[{"router": "random", "k": 1}]))
    routed = [(job.router, job.k) for job in jobs if job.condition == "routed"]
    assert routed == [("bm25", 1), ("bm25", 5), ("random", 5)]
    without_b = expand(spec(models=["a", "b"], exclude=[{"model": "b"}]))
    assert {job.model for job in without_b} == {"a"}


@pytest.mark.parametrize(
    ("key", "values", "said"),
    [
        ("models", ["a", "a"], "models: names 'a' more than once"),
        ("agents", ["oracle", "workbench/oracle"], "agents: names 'oracle' more than once"),
        ("routers", ["bm25", "bm25 "], "routers: names 'bm25' more than once"),
        ("k", [5, 5], "k: names '5' more than once"),
        ("pools", ["p", "p"], "pools: names 'p' more than once"),
        ("disclosure", ["full", "full"], "disclosure: names 'full' more than once"),
        ("conditions", ["none", "none"], "conditions: names 'none' more than once"),
        ("tasks", ["t", "t"], "tasks: names 't' more than once"),
        ("routers", ["bm25", ""], "routers.1: is empty"),
    ],
)
def test_a_value_that_is_there_twice_is_refused_on_every_axis(
    key: str, values: list[object], said: str
) -> None:
    """It was forecast twice and run once."""
    with pytest.raises(ContentError, match=said):
        validate({"suite": "quickstart", "routers": ["bm25"], key: values}, SweepSpec, Path("s.yaml"))


def test_every_argument_that_bears_on_the_answer_is_given_and_no_other() -> None:
    wanted = spec(k=[3], pools=["p"], tasks=["x*"], seed=7, arguments={"verifier": "shared", "picks": 2})
    none, gold, routed = expand(wanted)[:3]
    further = {"tasks": ["x*"], "verifier": "shared"}
    assert none.arguments(wanted) == {"conditions": ["none"], **further}
    assert gold.arguments(wanted) == {
        "conditions": ["gold"],
        "disclosure": "progressive",
        "picks": 2,
        **further,
    }
    assert routed.arguments(wanted) == {
        "conditions": ["routed"],
        "disclosure": "progressive",
        "router": "bm25",
        "router_k": 3,
        "pool": "p",
        "seed": 7,
        "picks": 2,
        **further,
    }


def test_what_says_the_same_makes_the_same_jobs() -> None:
    """Another order of conditions once ran both baselines again, and counted both."""

    def arguments(**values: object) -> list[dict[str, object]]:
        wanted = spec(**values)
        jobs = expand(wanted, Own(k=5, pool="quickstart"))
        return sorted((job.arguments(wanted) for job in jobs), key=str)

    plain = arguments(tasks=["a", "b"])
    assert arguments(tasks=["b", "a"], conditions=["routed", "gold", "none"]) == plain
    assert arguments(tasks=["a", "b"], k=[5], pools=["quickstart"]) == plain
    some = arguments(disclosure=["full", "progressive"])
    assert arguments(disclosure=["progressive", "full"]) == some
    of_baselines = [given for given in arguments(seed=3) if given["conditions"] != ["routed"]]
    assert of_baselines == [given for given in arguments() if given["conditions"] != ["routed"]]
    assert all(given in arguments() for given in arguments(conditions=["gold"]))


def test_the_further_arguments_are_those_of_a_suite_that_have_no_key_of_their_own() -> None:
    own = {"router", "router_k", "pool", "conditions", "disclosure", "data", "tasks", "budget", "seed"}
    assert set(FURTHER) == set(KNOWN) - own
    with pytest.raises(ContentError, match="arguments: has no 'verifer'; did you mean 'verifier'"):
        validate({"suite": "quickstart", "arguments": {"verifer": "x"}}, SweepSpec, Path("s.yaml"))


def test_a_wrong_key_names_file_line_and_the_nearest(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("suite: quickstart\nrouter: [bm25]\n")
    with pytest.raises(ContentError, match=r"s\.yaml:2: router: .*did you mean 'routers'"):
        load_content(file, SweepSpec)


def test_flags_say_the_same_as_a_file(tmp_path: Path) -> None:
    flags = {"suite": "quickstart", "routers": "bm25, random", "trials": "5", "k": "1,5", "models": None}
    found, text, name = read_spec(None, flags)
    assert found == spec(trials=5, k=[1, 5])
    assert name.startswith("sweep-quickstart-")
    file = tmp_path / "again.yaml"
    file.write_text(text)
    assert read_spec(file, {})[0] == found


def test_a_file_and_flags_together_or_neither_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not both"):
        read_spec(tmp_path / "s.yaml", {"suite": "quickstart"})
    with pytest.raises(UsageError, match="--suite NAME"):
        read_spec(None, {})
    with pytest.raises(ContentError, match="trials"):
        read_spec(None, {"suite": "quickstart", "trials": "many"})


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{router: bm52}", "no router 'bm52' in routers; did you mean 'bm25'"),
        ("{}", "is empty; give one or more of: model, agent, router, k, pool, disclosure"),
        ("{agent: orcale}", "no agent 'orcale' in agents; did you mean 'oracle'"),
        ("{router: bm25, k: 7}", "no k '7' in k; there are: 1, 5"),
        ("{pool: p}", "no pool 'p' in pools; there is none"),
    ],
)
def test_an_exclusion_that_leaves_nothing_out_is_refused_with_its_line(
    tmp_path: Path, rule: str, said: str
) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "suite: quickstart\n"
        "agents: [oracle]\n"
        "exclude:\n"
        "  - {router: random, k: 1}\n"
        f"  - {rule}\n"
        "routers: [bm25, random]\n"
        "k: [1, 5]\n"
    )
    with pytest.raises(ContentError) as caught:
        load_content(file, SweepSpec)
    assert f"s.yaml:5: exclude.1: {'' if rule == '{}' else 'matches nothing: '}{said}" in str(caught.value)


def test_an_exclusion_of_a_routers_setting_without_routed_trials_is_refused() -> None:
    with pytest.raises(ValueError, match="no condition is 'routed'"):
        spec(conditions=["none"], exclude=[{"router": "bm25"}])


def test_an_agent_is_the_same_with_and_without_its_package() -> None:
    """`workbench/oracle` was another agent than `oracle`, so an exclusion of it did nothing."""
    jobs = expand(spec(agents=["oracle", "workbench/nop"], exclude=[{"agent": "workbench/oracle"}]))
    assert {job.agent for job in jobs} == {"nop"}


@pytest.mark.parametrize("key", ["trials: true", "k: [true]", "seed: false", "limits: {seconds: true}"])
def test_true_is_no_number(tmp_path: Path, key: str) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(f"suite: quickstart\nrouters: [bm25]\n{key}\n")
    with pytest.raises(ContentError, match=r"s\.yaml:3: .*must be a number, not true or false"):
        load_content(file, SweepSpec)
