"""``litellm/<provider>/<model>``: any model that LiteLLM knows, called in this process.

Retries are Inspect's alone (LiteLLM's and the SDKs' are off), prices are LiteLLM's, and what a
failure means is decided in `errors`.
"""

from __future__ import annotations

import logging
import time
from typing import Any
from weakref import WeakSet

from anyio import to_thread
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelCall,
    ModelCost,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    RetryDecision,
    ServedModelUsage,
    record_response_headers,
    set_model_info,
)
from inspect_ai.model._model import record_and_check_model_usage
from inspect_ai.model._model_info import (
    MODEL_INFO_LOOKUP_API_KEY,
    _get_custom_model_info,
    _get_model_info_direct,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from pydantic import JsonValue
from rich.markup import escape
from tenacity.wait import wait_base

from workbench.core.digest import digest_text, short
from workbench.core.errors import UsageError
from workbench.core.terminal import safe
from workbench.models.errors import ConfigurationError, RetryableError, explain
from workbench.models.history import call_ids
from workbench.models.library import close_clients, load_litellm
from workbench.models.prices import Listing, cost_usd, listing
from workbench.models.replies import clean, to_output, to_usage
from workbench.models.requests import DROPPABLE, not_sent, to_messages, to_parameters, to_tools
from workbench.models.retries import Limits, RetryWait, limit_call
from workbench.models.settings import read_settings
from workbench.models.streams import gather, watched

logger = logging.getLogger(__name__)
_ASKING: WeakSet[LiteLLMAPI] = WeakSet()
"""Models that have asked and are not closed. Their connections are LiteLLM's, and shared."""


class LiteLLMAPI(ModelAPI):
    """Inspect's model API over ``litellm.acompletion``.

    Args:
        model_name: ``provider/model`` as LiteLLM names it.
        base_url: endpoint, in place of the provider's own (``--model-base-url``, ``-M api_base=``).
        api_key: key; without one LiteLLM reads the provider's variable (``OPENAI_API_KEY``, ...).
        config: defaults of the model.
        model_args: what ``-M`` gave; see `settings.Settings`, everything else goes to LiteLLM.

    Raises:
        PrerequisiteError: a model argument is wrong (Inspect shows its one line, no traceback).
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (Inspect's own signature)
        **model_args: Any,
    ) -> None:
        try:
            self.settings, self.passed_on = read_settings(model_args)
        except UsageError as error:
            raise PrerequisiteError(escape(safe(str(error)))) from None
        base_url = base_url or self.passed_on.pop("api_base", None)
        provider = model_name.partition("/")[0]
        super().__init__(model_name, base_url, api_key, [f"{provider.upper()}_API_KEY"], config)
        self._noted: set[str] = set()
        self._introduced = False

    async def prepare(self) -> None:
        """Import LiteLLM now, in a thread: it takes seconds that no agent's time should pay for."""
        await to_thread.run_sync(load_litellm)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> tuple[ModelOutput, ModelCall]:
        """Ask once.

        Raises:
            RetryableError: asking again may help.
            ConfigurationError: it cannot, for any trial.
            TrialError: it cannot, for this one (``api``).
        """
        load_litellm()
        _ASKING.add(self)
        tries = None if config.max_retries is None else config.max_retries + 1
        limit_call(Limits(attempts=tries, seconds=config.timeout))
        request = await self._request(input, tools, tool_choice, config)
        started = time.monotonic()
        try:
            response = await self._ask(request, config)
        except Exception as error:
            failed = explain(error, self.model_name, self.settings.unreadable_attempts)
        else:
            reply, usage = self._read(response, config)
            output = to_output(reply, usage, tools, call_ids(input))
            output.metadata = {**(output.metadata or {}), **self._left_out(request, config)} or None
            return output, ModelCall.create(request, reply, _without_media, time.monotonic() - started)
        if isinstance(failed, ModelOutput):
            return failed, ModelCall.create(request, {"error": failed.completion}, _without_media)
        # raised outside the handler: Inspect renders whole chains of causes, and LiteLLM's are
        # long enough to cost a second for every failed attempt
        raise failed

    def _read(self, response: Any, config: GenerateConfig) -> tuple[dict[str, Any], ModelUsage | None]:
        """A reply as plain data, and its usage; one without choices is billed and raised."""
        reply: dict[str, Any] = clean(response.model_dump(warnings=False))
        usage = to_usage(getattr(response, "usage", None))
        if usage is not None:
            usage.total_cost = cost_usd(self.model_name, usage, self.settings.prices)
        if not reply.get("choices"):
            self._bill(usage, config)
            what = f"{self.model_name}: unreadable answer: no choices"
            raise RetryableError(what, limit=self.settings.unreadable_attempts)
        return reply, usage

    async def _request(
        self, input: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
    ) -> dict[str, Any]:
        """What is sent, and logged. Nothing in it is secret: access is added by `_ask`."""
        return {
            "model": self.model_name,
            "messages": await to_messages(input),
            **to_tools(tools, choice),
            **to_parameters(config, bool(tools)),
        }

    async def _ask(self, request: dict[str, Any], config: GenerateConfig) -> Any:
        headers = {**(self.passed_on.get("extra_headers") or {}), **request.get("extra_headers", {})}
        access = {
            **self.passed_on,
            "api_base": self.base_url,
            "api_key": self.api_key,
            "timeout": self.settings.timeout,
            "drop_params": self.settings.drop_params,
            "max_retries": 0,
            "num_retries": 0,
        }
        asked = access | request | {"extra_headers": headers or None}
        asked = {name: value for name, value in asked.items() if value is not None}
        if self._streams(config):
            return await gather(asked, self.settings.unreadable_attempts)
        response = await load_litellm().acompletion(**asked)
        record_response_headers(getattr(response, "_hidden_params", {}).get("headers") or {})
        return response

    def _streams(self, config: GenerateConfig) -> bool:
        """Whether to stream: where it is wanted and loses nothing."""
        wanted = watched() if self.settings.stream is None else self.settings.stream
        return wanted and not config.logprobs and (config.num_choices or 1) == 1

    def _bill(self, usage: ModelUsage | None, config: GenerateConfig) -> None:
        """Count what an attempt without an output used; Inspect counts outputs only."""
        if usage is not None and self.qualified_model_name is not None:
            record_and_check_model_usage(Model(self, config), usage, output=ModelOutput(usage=usage))

    def _left_out(self, request: dict[str, Any], config: GenerateConfig) -> dict[str, Any]:
        """Settings that did not reach the model, for the output's metadata; each is warned of once."""
        left: dict[str, Any] = {}
        if ignored := not_sent(config):
            left["settings_not_sent"] = ignored
            self._note(f"{self.model_name}: not sent by litellm/...: {', '.join(ignored)}")
        if self.settings.drop_params:
            litellm = load_litellm()
            known = set(litellm.get_supported_openai_params(self.model_name) or ())
            left["settings_dropped"] = sorted((request.keys() & DROPPABLE) - known)
            if left["settings_dropped"]:
                self._note(f"{self.model_name}: dropped by LiteLLM: {', '.join(left['settings_dropped'])}")
        return left

    def _note(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            logger.warning(text)

    def should_retry(self, ex: BaseException) -> RetryDecision:
        """Only what `errors.explain` called retryable."""
        if not isinstance(ex, RetryableError):
            return RetryDecision.no()
        return RetryDecision(retry=True, kind=ex.kind, retry_after=ex.retry_after)

    def retry_wait(self) -> wait_base:
        """The waits of one logical call (Inspect asks once for each)."""
        return RetryWait(self.settings.backoff, self.settings.max_wait)

    def is_auth_failure(self, ex: Exception) -> bool:
        """Whether new credentials may help."""
        return isinstance(ex, ConfigurationError) and ex.status_code == 401

    async def refresh_credentials(self) -> None:
        """Read the key anew; it is given with every call, so no connection has to go."""
        self.initialize()

    async def aclose(self) -> None:
        """Close the connections, once no other model needs them."""
        _ASKING.discard(self)
        if not _ASKING:
            await close_clients()

    def connection_key(self) -> str:
        """Connections are counted by endpoint and key."""
        endpoint = self.base_url or self.model_name.partition("/")[0]
        return f"{endpoint} {short(digest_text(self.initial_api_key or ''))}"

    def tools_required(self) -> bool:
        """A history with tool calls is sent with its tools: some providers refuse it without."""
        return True

    async def count_text_tokens(self, text: str) -> int:
        """Tokens of a text, by the tokenisers that LiteLLM brings along (no download)."""
        return int(load_litellm().token_counter(model=self.model_name, text=text))

    def canonical_name(self) -> str:
        """``provider/model``.

        Inspect asks for it when it is about to look up what it knows about the model, so that
        is when it is told: price (a cost limit is refused without) and context window.
        """
        name, only_looked_up = self.qualified_model_name, self.initial_api_key == MODEL_INFO_LOOKUP_API_KEY
        if name is not None and not only_looked_up and not self._introduced:
            self._introduced = True
            self._introduce(name)
        return self.model_name

    def _listing(self) -> Listing | None:
        """Price and context window; prices that the user gave win."""
        listed, given = listing(self.model_name), self.settings.prices
        return listed if given is None else Listing(given, listed.input_tokens if listed else None)

    def _introduce(self, name: str) -> None:
        if _get_custom_model_info(name) is not None:
            return
        listed = self._listing()
        if listed is None:
            self._note(
                f"{name}: price unknown, so is its cost; "
                "give -M input_cost_per_token=USD -M output_cost_per_token=USD"
            )
            return
        known = _get_model_info_direct(self.model_name) or ModelInfo()
        tokens = known.input_tokens or listed.input_tokens
        set_model_info(
            name,
            known.model_copy(update={"cost": listed.prices.per_million(), "input_tokens": tokens}),
        )

    def served_model_usage(self, output: ModelOutput) -> list[ServedModelUsage] | None:
        """Hand Inspect the price of a call as it is (its own sum knows no tiers).

        A million tokens at the call's cost for a million make that cost. A price that the user
        gave to Inspect itself (``--model-cost-config``) stays Inspect's to apply.
        """
        told = _get_custom_model_info(self.qualified_model_name or "")
        listed = self._listing()
        if output.usage is None or output.usage.total_cost is None or listed is None:
            return None
        if told is not None and told.cost not in (None, listed.prices.per_million()):
            return None
        price = ModelCost(input=output.usage.total_cost, output=0, input_cache_write=0, input_cache_read=0)
        return [ServedModelUsage(self.model_name, ModelUsage(input_tokens=1_000_000), price)]


def _without_media(key: JsonValue | None, value: JsonValue) -> JsonValue:
    """Keep images and other media out of the log of raw calls."""
    if key in {"url", "data", "file_data"} and isinstance(value, str) and value.startswith("data:"):
        return f"<{len(value)} characters>"
    return value
