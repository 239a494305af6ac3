"""LiteLLM itself: imported when it is first needed (that takes seconds), and kept quiet.

It talks to nobody but the model: by itself it would fetch price maps, header lists and tokenisers
at import or on first use, and print advice on every error.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

_OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_OFFLINE_MODE": "True",
}


@cache
def load_litellm() -> Any:
    """The module. What the user set in the environment stays as it is."""
    for name, value in _OFFLINE.items():
        os.environ.setdefault(name, value)
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = False
    litellm.num_retries = None
    return litellm


async def close_clients() -> None:
    """Close every connection LiteLLM holds in this event loop; it opens new ones when asked again."""
    litellm = load_litellm()
    from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients

    await close_litellm_async_clients()
    litellm.in_memory_llm_clients_cache.flush_cache()
