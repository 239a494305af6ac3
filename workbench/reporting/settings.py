"""What a log's header sets for all of its trials and that changes answers, beside model, agent and arm."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from workbench.core.digest import digest_json, short
from workbench.core.types import ConditionName
from workbench.reporting.logfile import Header

Named = tuple[tuple[str, str], ...]
"""(name, value) pairs, sorted. What is not set is absent."""

UNRELATED = frozenset(
    ("max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections", "batch", "cache")
)
"""Generation settings that change how fast an answer comes, not which."""

SAMPLING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort", "reasoning_tokens")
"""Generation settings that are shown as part of the model's name."""

_ARGUMENTS = ("verifier", "judge", "catalogue", "picks")
"""Task arguments that no record holds. Another `seed` of a router is another draw of the same thing."""

_USUAL = {"judge": "workbench", "picks": "1"}
_SHOWN = frozenset(("disclosure", "nudge", "catalogue", "picks"))
_ROUTED = frozenset(("router_fingerprint", "pool", "pool_fingerprint", "k"))
_LONGEST = 40


def settings_of(header: Header) -> Named:
    """Limits, generation settings, model arguments, verifier and judge, by Inspect's and our names."""
    spec = header.eval
    generation = {
        name: value
        for name, value in spec.model_generate_config.items()
        if name not in UNRELATED and name not in SAMPLING
    }
    arguments = {name: spec.task_args.get(name) for name in _ARGUMENTS}
    given = {**spec.model_args, **generation, **arguments, **spec.config.limits}
    named = ((name, _text(value)) for name, value in given.items() if value is not None)
    return tuple(sorted((name, text) for name, text in named if _USUAL.get(name) != text))


def sampling(generation: Mapping[str, Any]) -> str:
    """Sampling settings as a suffix of the model's name, empty where none is given."""
    parts = [f"{name}={generation[name]}" for name in SAMPLING if generation.get(name) is not None]
    return f" ({', '.join(parts)})" if parts else ""


def applying(settings: Named, condition: ConditionName) -> Named:
    """Those that can change a trial of this condition: without skills, not how skills are shown."""
    if condition != "none":
        return settings
    return tuple(pair for pair in settings if pair[0] not in _SHOWN)


def own(variant: Mapping[str, str]) -> dict[str, str]:
    """The part of a treatment that is a setting of the run: neither the skills given nor how."""
    return {name: value for name, value in variant.items() if name not in _ROUTED | _SHOWN}


def alike(one: Named, other: Named, condition: ConditionName) -> bool:
    """Whether treatments share all but the skills given, so that one, of `condition`, is a baseline.

    Beside gold, skills must be shown in the same way, as far as that is known of both.
    """
    shown = condition != "none" and all("disclosure" in dict(variant) for variant in (one, other))
    left_out = _ROUTED if shown else _ROUTED | _SHOWN
    first, second = ({pair for pair in variant if pair[0] not in left_out} for variant in (one, other))
    return first == second


def skills_of(names: Iterable[str], conditions: Collection[ConditionName]) -> set[str]:
    """Names of what arms of these conditions cannot share: the skills given; beside `none`, also how."""
    return {name for name in names if name in (_ROUTED | _SHOWN if "none" in conditions else _ROUTED)}


def written(name: str, value: str) -> str:
    """``k=5``, a fingerprint by its first characters."""
    shown = short(value) if name.endswith("_fingerprint") else value
    return f"{name.removesuffix('_fingerprint')}={shown}"


def _text(value: Any) -> str:
    """A value in few characters; a long one by its digest."""
    text = str(value)
    return text if len(text) <= _LONGEST else short(digest_json(text))
