"""A model behind the scripted endpoint, as `inspect eval` would make it; nothing is patched."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig, Model, get_model, modelapi

from tests.servers.openai_server import OpenAIServer, Script


@modelapi(name="litellm")
def litellm() -> Any:
    """Registered by name, as the package does it for an installed workbench."""
    from workbench.models.litellm_api import LiteLLMAPI

    return LiteLLMAPI


@pytest.fixture(autouse=True)
def _litellms_own_habits() -> None:
    """LiteLLM sets the first filter when it is imported; pytest takes it away again after that test.

    The socket of a stream it leaves to the garbage collector.
    """
    warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier.*")
    warnings.filterwarnings("ignore", message="unclosed <socket", category=ResourceWarning)


Serve = Callable[[Script], OpenAIServer]
Ask = Callable[..., Awaitable[Model]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start scripted servers that end with the test."""
    started: list[OpenAIServer] = []

    def start(script: Script) -> OpenAIServer:
        started.append(OpenAIServer(script).__enter__())
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture
async def model_of() -> AsyncIterator[Ask]:
    """Models by name at a server, closed when the test ends; retries are quick."""
    async with AsyncExitStack() as open_models:

        async def make(
            server: OpenAIServer,
            name: str = "openai/gpt-4o-mini",
            config: GenerateConfig | None = None,
            **model_args: Any,
        ) -> Model:
            base = server.url.removesuffix("/v1") if name.startswith("anthropic") else server.url
            args = {"api_key": "key", "backoff": 0.01, **model_args}
            made = get_model(f"litellm/{name}", base_url=base, memoize=False, config=config, **args)
            return await open_models.enter_async_context(made)

        yield make
