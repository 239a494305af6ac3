"""Task arguments (``-T router=bm25`` or ``--router bm25``), checked before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field

from workbench.benchmarks.judging import Rules
from workbench.core.errors import UnknownNameError, UsageError, suggestion
from workbench.core.plugins import plugin_names
from workbench.core.types import CONDITIONS, Arm, ConditionName
from workbench.core.workspace import Workspace
from workbench.disclosure.presentation import DEFAULT_BUDGET, NUDGES, Showing

Name = TypeVar("Name", bound=str)

Verifier = Literal["fresh", "shared"]
"""``fresh``: a new container with the agent's files. ``shared``: the agent's own, without the agent."""


class EvalArguments(BaseModel):
    """What one evaluation compares. Frozen; names are checked by `parse`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    routers: tuple[str, ...] = Field(description="recipes to evaluate, in order")
    k: int = Field(description="skills a router gives to the agent")
    pool: str = Field(description="name or path of the pool")
    conditions: tuple[ConditionName, ...] = Field(description="treatments, in order")
    showing: Showing = Field(description="how skills are shown")
    data: Path | None = Field(default=None, description="local copy of the suite's tasks")
    subsets: tuple[str, ...] = Field(default=(), description="parts of the suite; empty is all")
    tasks: tuple[str, ...] = Field(default=(), description="task ids or patterns; empty is all")
    judge: Rules = Field(default="workbench", description="rules that answers in words are judged by")
    toolqa: Path | None = Field(default=None, description="folder of ToolQA's tables, papers and graphs")
    budget: float | None = Field(default=None, description="US dollars that a process may spend")
    unpriced: Literal["refuse", "allow"] = Field(default="refuse", description="models without a known price")
    seed: int = Field(default=0, description="seed of stochastic routers")
    verifier: Verifier | None = Field(default=None, description="where to verify; else as the suite says")

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The treatments in order: baselines once, then one arm per router."""
        baselines = [Arm(c) for c in self.conditions if c != "routed"]
        routed = [Arm("routed", name) for name in self.routers] if "routed" in self.conditions else []
        return (*baselines, *routed)


KNOWN = (
    "router", "router_k", "pool", "conditions", "disclosure", "nudge", "catalogue", "picks",
    "data", "subset", "tasks", "judge", "toolqa", "budget", "unpriced", "seed", "verifier",
)  # fmt: skip
"""Task arguments that every suite takes."""

_UNPRICED: tuple[Literal["refuse", "allow"], ...] = ("refuse", "allow")
_RULES: tuple[Rules, ...] = get_args(Rules)


def refuse_unknown(given: Mapping[str, Any]) -> None:
    """Inspect only warns of an unknown ``-T`` key, and then runs something else; refuse it.

    Raises:
        UsageError: names the nearest known key.
    """
    for key in given:
        if key != "model":
            raise UsageError(f"unknown task argument '-T {key}=...'{suggestion(key, KNOWN)}")


def parse(given: Mapping[str, Any], workspace: Workspace, here: Path, *, pool: str, k: int) -> EvalArguments:
    """Check task arguments against what there is.

    Args:
        given: values as Inspect passes them: text, numbers, or lists (``a,b`` arrives as a list).
        here: folder that relative paths are relative to.
        pool, k: the suite's own pool and depth, used where none is given.

    Raises:
        UsageError: an unknown router, condition or disclosure (nearest match named), or a bad number.
    """
    routers = _names("router", given.get("router"), "bm25")
    for name in routers:
        workspace.find("routers", name)
    conditions = _names("conditions", given.get("conditions"), *CONDITIONS)
    for name in conditions:
        if name not in CONDITIONS:
            raise UnknownNameError("condition", name, CONDITIONS)
    return EvalArguments(
        routers=routers,
        k=_whole("router_k", given.get("router_k"), k, 1, 100),
        pool=_pool(_text("pool", given.get("pool"), pool), workspace, here),
        conditions=tuple(dict.fromkeys(c for c in CONDITIONS if c in conditions)),
        showing=_showing(given),
        data=folder("data", given, here),
        subsets=_names("subset", given.get("subset")),
        tasks=_names("tasks", given.get("tasks")),
        judge=_one_of("judge", given.get("judge"), _RULES),
        toolqa=folder("toolqa", given, here),
        budget=_dollars("budget", given.get("budget")),
        unpriced=_one_of("unpriced", given.get("unpriced"), _UNPRICED),
        seed=_whole("seed", given.get("seed"), 0, 0, 2**63 - 1),
        verifier=_verifier(given),
    )


def folder(argument: str, given: Mapping[str, Any], here: Path) -> Path | None:
    """A folder among the arguments, made absolute."""
    path = _text(argument, given.get(argument), "")
    return here / Path(path).expanduser() if path else None


def _showing(given: Mapping[str, Any]) -> Showing:
    return Showing(
        way=_one_of("disclosure", given.get("disclosure") or "progressive", disclosure_names()),
        budget=_whole("catalogue", given.get("catalogue"), DEFAULT_BUDGET, 0, 10_000_000),
        nudge=_one_of("nudge", given.get("nudge"), NUDGES),
        picks=_whole("picks", given.get("picks"), 1, 1, 100),
    )


def _verifier(given: Mapping[str, Any]) -> Verifier | None:
    known: tuple[Verifier, ...] = get_args(Verifier)
    asked = given.get("verifier")
    return None if asked is None else _one_of("verifier", asked, known)


def _one_of(argument: str, value: Any, known: Sequence[Name]) -> Name:
    """One of the names; the first where none is given.

    Raises:
        UnknownNameError: names the nearest.
    """
    text = _text(argument, value, known[0])
    for name in known:
        if name == text:
            return name
    raise UnknownNameError(argument, text, known)


def disclosure_names() -> list[str]:
    """Ways of showing skills, by file name; ``presentation`` holds the protocol and is none."""
    return [name for name in plugin_names("workbench.disclosure") if name != "presentation"]


def _names(argument: str, value: Any, *default: str) -> tuple[str, ...]:
    """``None``, ``"a"``, ``"a,b"`` or a list -> names without repetition, in order.

    Raises:
        UsageError: a name is empty.
    """
    if value is None:
        return default
    parts: Iterable[Any] = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    names = [name.strip() for part in parts for name in str(part).split(",")]
    if not all(names):
        raise UsageError(f"-T {argument}={value}: a name is empty; give NAME or NAME,NAME")
    return tuple(dict.fromkeys(names))


def _text(argument: str, value: Any, default: str) -> str:
    if value is None:
        return default
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"-T {argument}={value}: must be a text that is not empty")
    return value.strip()


def _pool(name: str, workspace: Workspace, here: Path) -> str:
    """A pool's name as it is; a path made absolute."""
    path = here / Path(name).expanduser()
    return name if name in workspace.names("pools") or not path.exists() else str(path)


def _dollars(name: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        amount = float(str(value).strip().removeprefix("$"))
    except ValueError:
        amount = math.nan
    if isinstance(value, bool) or not 0 < amount < math.inf:
        raise UsageError(f"-T {name}={value}: must be a sum in US dollars above 0")
    return amount


def _whole(name: str, value: Any, default: int, low: int, high: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UsageError(f"-T {name}={value}: must be a whole number from {low} to {high}")
    return value
