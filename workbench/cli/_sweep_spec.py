"""A sweep as written (``SPEC.yaml``), and the jobs that it stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from workbench.core.content import Content, load_content, validate
from workbench.core.digest import digest_text, short
from workbench.core.errors import UsageError, suggestion
from workbench.core.types import CONDITIONS, TASK_PREFIX, ConditionName

DEFAULT_AGENT = "auto"


def _no_truth(value: Any) -> Any:
    """Pydantic reads ``true`` as 1."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


def _named(name: str) -> str:
    if not name:
        raise ValueError("is empty; give a name, or leave the comma out")
    return name


def _plain_agent(name: str) -> str:
    """An agent of the workbench is known by its short name, as logs and reports have it."""
    return name.removeprefix(TASK_PREFIX)


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """A cell that is there twice would run once and be forecast twice."""
    if twice := [value for number, value in enumerate(values) if value in values[:number]]:
        raise ValueError(f"names '{twice[0]}' more than once; name each once")
    return values


FURTHER = ("subset", "judge", "toolqa", "nudge", "catalogue", "picks", "verifier", "unpriced")
"""Task arguments that the spec has no key of its own for."""


def _known_argument(given: dict[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in FURTHER:
            raise ValueError(f"has no '{name}'{suggestion(name, FURTHER)}")
    return given


Whole = Annotated[int, BeforeValidator(_no_truth)]
Count = Annotated[Whole, Field(ge=1, le=100)]
Amount = Annotated[float, BeforeValidator(_no_truth)]
Name = Annotated[str, AfterValidator(_named)]
Agent = Annotated[str, AfterValidator(_plain_agent), AfterValidator(_named)]
Once = AfterValidator(_once)
Names = Annotated[tuple[Name, ...], Once]


class Excluded(Content):
    """Cells left out: those that match every value given."""

    model: str | None = Field(default=None, description="model name")
    agent: Agent | None = Field(default=None, description="agent name")
    router: str | None = Field(default=None, description="router name")
    k: Whole | None = Field(default=None, description="skills given to the agent")
    pool: str | None = Field(default=None, description="pool name")
    disclosure: str | None = Field(default=None, description="way of showing skills")


def _matching(rule: Excluded, info: ValidationInfo) -> Excluded:
    """A rule that leaves nothing out is a slip. Fields before `exclude` that are wrong are told first."""
    given, spec = rule.model_dump(exclude_none=True), info.data
    if not given:
        raise ValueError(f"is empty; give one or more of: {', '.join(Excluded.model_fields)}")
    if "routed" not in spec.get("conditions", CONDITIONS) and given.keys() & {"router", "k", "pool"}:
        raise ValueError("matches nothing; no condition is 'routed'")
    for name, value in given.items():
        there = spec.get(_LISTS[name])
        if there is not None and value not in there:
            raise ValueError(
                f"matches nothing: no {name} '{value}' in {_LISTS[name]}"
                f"{suggestion(str(value), map(str, there))}"
            )
    return rule


_LISTS = {
    "model": "models",
    "agent": "agents",
    "router": "routers",
    "k": "k",
    "pool": "pools",
    "disclosure": "disclosure",
}
Rule = Annotated[Excluded, AfterValidator(_matching)]


class Limits(Content):
    """Bounds on one trial; none is Inspect's default, no bound."""

    messages: Whole | None = Field(default=None, ge=1, description="messages in the conversation")
    tokens: Whole | None = Field(default=None, ge=1, description="tokens, input and output")
    seconds: Whole | None = Field(default=None, ge=1, description="wall-clock seconds")
    cost_usd: Amount | None = Field(default=None, gt=0, allow_inf_nan=False, description="US dollars")

    def by_option(self) -> dict[str, int | float | None]:
        """By Inspect's names."""
        return {
            "message_limit": self.messages,
            "token_limit": self.tokens,
            "time_limit": self.seconds,
            "cost_limit": self.cost_usd,
        }


class SweepSpec(Content):
    """The product of models, agents, routers, k, pools and disclosures, each cell `trials` times."""

    description: str = Field(default="", description="what it is to find out")
    suite: str = Field(description="the suite of tasks")
    models: Names = Field(default=("none",), min_length=1, description="as for --model")
    agents: Annotated[tuple[Agent, ...], Once] = Field(
        default=(DEFAULT_AGENT,), min_length=1, description="as for --solver; 'workbench/NAME' is 'NAME'"
    )
    routers: Names = Field(default=(), description="recipes in routers/")
    k: Annotated[tuple[Count, ...], Once] = Field(
        default=(), description="skills given; empty: the suite's own number"
    )
    pools: Names = Field(default=(), description="pools to route in; empty: the suite's own")
    disclosure: Names = Field(default=("progressive",), min_length=1, description="ways of showing skills")
    conditions: Annotated[tuple[ConditionName, ...], Once] = Field(
        default=CONDITIONS, min_length=1, description="treatments"
    )
    trials: Whole = Field(default=1, ge=1, le=1000, description="trials of every task in every cell")
    tasks: Names = Field(default=(), description="task ids or patterns; empty is all")
    data: str | None = Field(default=None, description="local copy of the suite's tasks")
    seed: Whole = Field(default=0, ge=0, description="of stochastic routers")
    arguments: Annotated[dict[str, Any], AfterValidator(_known_argument)] = Field(
        default={}, description="further task arguments, as for -T, e.g. {verifier: shared}"
    )
    budget: Amount | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="US dollars that one start may spend"
    )
    exclude: tuple[Rule, ...] = Field(default=(), description="cells to leave out")
    limits: Limits = Field(default=Limits(), description="bounds on one trial")
    generate: dict[str, Any] = Field(default={}, description="sampling settings, e.g. temperature")
    model_base_url: str | None = Field(default=None, description="endpoint of the models")
    model_args: dict[str, Any] = Field(default={}, description="as for -M")


def read_spec(path: Path | None, flags: Mapping[str, str | None]) -> tuple[SweepSpec, str, str]:
    """(spec, its text, a name for it) of a file or of flags, each ``NAME,NAME`` as typed.

    Raises:
        ContentError: the file is wrong; names file, line and key.
        UsageError: both or neither are given, or a flag has no such value.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    if path is not None and given:
        raise UsageError(f"give {path} or --{', --'.join(given)}, not both")
    if path is not None:
        return load_content(path, SweepSpec), path.read_text(encoding="utf-8"), path.stem
    if "suite" not in given:
        raise UsageError("give a SPEC.yaml, or --suite NAME; see: workbench sweep --help")
    lists = {
        name: [part.strip() for part in value.split(",")]
        for name, value in given.items()
        if name not in {"suite", "trials"}
    }
    single = {name: given[name] for name in ("suite", "trials") if name in given}
    spec = validate({**single, **lists}, SweepSpec, Path("command line"))
    text = yaml.safe_dump(spec.model_dump(mode="json", exclude_defaults=True), sort_keys=False)
    return spec, text, f"sweep-{spec.suite}-{short(digest_text(text))}"


@dataclass(frozen=True)
class Own:
    """A suite's own depth and pool."""

    k: int | None = None
    pool: str | None = None


@dataclass(frozen=True)
class Job:
    """One Inspect task of a sweep: baselines, or one router in one setting.

    Attributes:
        disclosure: ``None`` without skills, which are shown in no way.
        k, pool: ``None`` for baselines, which do not depend on them, and for the suite's own.
    """

    model: str
    agent: str
    condition: ConditionName
    disclosure: str | None
    router: str | None = None
    k: int | None = None
    pool: str | None = None

    @property
    def label(self) -> str:
        """For people."""
        setting = [f"k={self.k}" if self.k else "", f"pool={self.pool}" if self.pool else ""]
        return " ".join([self.router or self.condition, *(part for part in setting if part)])

    def arguments(self, spec: SweepSpec) -> dict[str, Any]:
        """Task arguments: every one that bears on the answer, none that does not, in one spelling."""
        told = {"nudge", "catalogue", "picks"} if self.disclosure is None else set()
        given = {
            "conditions": [self.condition],
            "disclosure": self.disclosure,
            "router": self.router,
            "router_k": self.k,
            "pool": self.pool,
            "data": spec.data,
            "tasks": sorted(spec.tasks) or None,
            "seed": None if self.router is None else spec.seed,
            **{name: value for name, value in spec.arguments.items() if name not in told},
        }
        return {name: value for name, value in given.items() if value is not None}


def expand(spec: SweepSpec, own: Own = Own()) -> list[Job]:
    """Jobs in order: for each model and agent its baselines once, then every router in every setting.

    No skills, gold and each router have jobs of their own, so that what is added later runs alone.

    Args:
        own: what the suite has where nothing is said. Said all the same, it makes no other job.
    """
    jobs = []
    for model, agent in product(spec.models, spec.agents):
        jobs += [*_baselines(spec, model, agent), *_routed(spec, model, agent, own)]
    return jobs


def _baselines(spec: SweepSpec, model: str, agent: str) -> Iterator[Job]:
    """No skills once, gold skills once per way of showing them."""
    shown = [
        disclosure
        for disclosure in spec.disclosure
        if not _left_out(spec, Excluded(model=model, agent=agent, disclosure=disclosure))
    ]
    if "none" in spec.conditions and shown:
        yield Job(model, agent, "none", None)
    if "gold" in spec.conditions:
        yield from (Job(model, agent, "gold", disclosure) for disclosure in shown)


def _routed(spec: SweepSpec, model: str, agent: str, own: Own) -> Iterator[Job]:
    if "routed" not in spec.conditions:
        return
    pools: tuple[str | None, ...] = spec.pools or (None,)
    ks: tuple[int | None, ...] = spec.k or (None,)
    for disclosure, pool, k, router in product(spec.disclosure, pools, ks, spec.routers):
        cell = Excluded(model=model, agent=agent, router=router, k=k, pool=pool, disclosure=disclosure)
        if not _left_out(spec, cell):
            setting = (None if k == own.k else k, None if pool == own.pool else pool)
            yield Job(model, agent, "routed", disclosure, router, *setting)


def _left_out(spec: SweepSpec, cell: Excluded) -> bool:
    own = cell.model_dump()
    rules = (rule.model_dump(exclude_none=True) for rule in spec.exclude)
    return any(rule and all(own[name] == value for name, value in rule.items()) for rule in rules)
