"""What a call costs in US dollars. Unknown is ``None``, never 0, and sums say how much they cover."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inspect_ai.model import ModelCost, ModelUsage

from workbench.models.library import load_litellm

_MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """USD per token; a cached token without a price of its own costs what any input token does."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def cost(self, usage: ModelUsage) -> float:
        """USD for a usage (whose `input_tokens` leave out the cached ones)."""
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + (usage.input_tokens_cache_read or 0) * _or(self.cache_read, self.input)
            + (usage.input_tokens_cache_write or 0) * _or(self.cache_write, self.input)
        )

    def per_million(self) -> ModelCost:
        """The same prices in Inspect's unit."""
        return ModelCost(
            input=self.input * _MILLION,
            output=self.output * _MILLION,
            input_cache_read=_or(self.cache_read, self.input) * _MILLION,
            input_cache_write=_or(self.cache_write, self.input) * _MILLION,
        )


@dataclass(frozen=True)
class Listing:
    """What LiteLLM's map lists for a model: flat prices, and the context window in tokens."""

    prices: Prices
    input_tokens: int | None


def listing(model: str) -> Listing | None:
    """LiteLLM's entry for ``provider/model``, or ``None`` where it has no price per token.

    An entry without the provider in its key counts only for that provider. (LiteLLM's own look-up
    asks the server where the provider is Ollama.)
    """
    entries = load_litellm().model_cost
    provider, _, name = model.partition("/")
    bare = entries.get(name, {})
    entry = entries.get(model) or (bare if str(bare.get("litellm_provider")).startswith(provider) else {})
    # where prices go by tiers alone, the last one is the dearest
    flat = (entry.get("tiered_pricing") or [entry])[-1]
    own = [flat.get(key) for key in ("input_cost_per_token", "output_cost_per_token")]
    cached = [flat.get(key) for key in ("cache_read_input_token_cost", "cache_creation_input_token_cost")]
    return None if None in own else Listing(Prices(*own, *cached), entry.get("max_input_tokens"))


def cost_usd(model: str, usage: ModelUsage | None, given: Prices | None = None) -> float | None:
    """USD for one call of ``provider/model``.

    Prices that the user gave win. Otherwise LiteLLM's map decides, with its prices for cached
    reads and writes and its tiers by prompt length; reasoning tokens are part of the output.

    Returns:
        ``None`` where the usage or the price is unknown.
    """
    if usage is None:
        return None
    if given is not None:
        return given.cost(usage)
    listed = listing(model)
    if listed is None or listed.prices.input == listed.prices.output == 0:
        return None if listed is None else 0.0
    litellm = load_litellm()
    read, write = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    prompt = usage.input_tokens + read + write
    counted = litellm.Usage(
        prompt_tokens=prompt,
        completion_tokens=usage.output_tokens,
        total_tokens=prompt + usage.output_tokens,
        prompt_tokens_details={"cached_tokens": read, "cache_creation_tokens": write},
        completion_tokens_details={"reasoning_tokens": usage.reasoning_tokens or 0},
        cache_read_input_tokens=read,
        cache_creation_input_tokens=write,
    )
    return float(sum(litellm.cost_per_token(model=model, usage_object=counted)))


@dataclass(frozen=True)
class Tally:
    """Sums over calls, with their coverage.

    Attributes:
        calls: calls in all; `with_usage` and `with_cost` those of which it is known.
        usage: sum of what is known, ``None`` where nothing is.
        cost_usd: sum in USD, ``None`` unless every call's cost is known.
    """

    calls: int
    with_usage: int
    with_cost: int
    usage: ModelUsage | None
    cost_usd: float | None


def tally(usages: Iterable[ModelUsage | None]) -> Tally:
    """Sum the usages of calls (``None``: the provider reported none)."""
    every = list(usages)
    known = [usage for usage in every if usage is not None]
    costs = [usage.total_cost for usage in known if usage.total_cost is not None]
    return Tally(
        calls=len(every),
        with_usage=len(known),
        with_cost=len(costs),
        usage=sum(known[1:], known[0]) if known else None,
        cost_usd=sum(costs) if len(costs) == len(every) else None,
    )


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
