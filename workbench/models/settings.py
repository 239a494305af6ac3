"""What ``-M name=value`` means for ``litellm/...``: our own settings, and everything LiteLLM knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from workbench.core.content import plain
from workbench.core.errors import UsageError
from workbench.models.prices import Prices

_OWNED = {
    "num_retries": "--max-retries N",
    "max_retries": "--max-retries N",
    "retry_policy": "--max-retries N",
    "retry_strategy": "--max-retries N",
    "fallbacks": "a run of its own for each model",
    "context_window_fallback_dict": "a run of its own for each model",
    "model": "--model litellm/PROVIDER/MODEL",
    "model_list": "a run of its own for each model",
    "messages": "the task's prompt",
    "tools": "the agent's tools",
    "tool_choice": "the agent's tools",
    "n": "--num-choices N",
    "stream_options": "-M stream=true",
    "mock_response": "a scripted endpoint",
}
"""Arguments of LiteLLM that something else decides, and what to use instead."""


class Settings(BaseModel):
    """How ``litellm/...`` asks, waits and counts.

    Attributes:
        stream: ask for a stream; ``None`` does so only when the caller wants to watch one. What a
            stream would lose (log probabilities, several choices) is never streamed.
        timeout: seconds without a byte from the model before an attempt is given up; ``None`` is
            LiteLLM's default of 600.
        drop_params: let LiteLLM leave out settings that the model does not take (recorded in the
            output's metadata); otherwise such a setting is an error.
        backoff: seconds before the first retry; doubles with each further one.
        max_wait: longest wait in seconds, also where the server asks for a longer one.
        unreadable_attempts: how often a call may be answered by something that is no reply.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    stream: bool | None = None
    timeout: float | None = Field(default=None, gt=0)
    drop_params: bool = False
    backoff: float = Field(default=3.0, gt=0)
    max_wait: float = Field(default=300.0, gt=0)
    unreadable_attempts: int = Field(default=3, ge=1)
    input_cost_per_token: float | None = Field(default=None, ge=0, description="USD")
    output_cost_per_token: float | None = Field(default=None, ge=0, description="USD")
    cache_read_input_token_cost: float | None = Field(default=None, ge=0, description="USD")
    cache_creation_input_token_cost: float | None = Field(default=None, ge=0, description="USD")

    @model_validator(mode="after")
    def _whole_price(self) -> Settings:
        if (self.input_cost_per_token is None) != (self.output_cost_per_token is None):
            raise ValueError(
                "input_cost_per_token and output_cost_per_token are given together or not at all"
            )
        return self

    @property
    def prices(self) -> Prices | None:
        """The prices given by the user, if any."""
        if self.input_cost_per_token is None or self.output_cost_per_token is None:
            return None
        return Prices(
            self.input_cost_per_token,
            self.output_cost_per_token,
            self.cache_read_input_token_cost,
            self.cache_creation_input_token_cost,
        )


def read_settings(model_args: Mapping[str, Any]) -> tuple[Settings, dict[str, Any]]:
    """Split model arguments into our settings and those passed on to LiteLLM as they are.

    Raises:
        UsageError: a value is wrong, or the argument is decided elsewhere.
    """
    for name in model_args.keys() & _OWNED.keys():
        raise UsageError(f"-M {name}: cannot be given to litellm/...; use {_OWNED[name]}")
    own = {name: value for name, value in model_args.items() if name in Settings.model_fields}
    try:
        settings = Settings(**own)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        found = f" (found {first['input']!r})" if name else ""
        raise UsageError(f"-M {name or 'prices'}: {plain(first)}{found}") from None
    return settings, {name: value for name, value in model_args.items() if name not in own}
