"""Nobody but the model is called, and LiteLLM is not even imported before it is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.integration.models.conftest import Serve
from tests.servers.openai_server import Reply

GUARDED = """
import asyncio, sys
PORT = int(sys.argv[1])
strangers = []

def guard(event, args):
    if event == "socket.getaddrinfo" and args[0] not in ("127.0.0.1", b"127.0.0.1", None):
        strangers.append(args[0])
        raise OSError("no network here")
    if event == "socket.connect" and isinstance(args[1], tuple) and args[1][:2] != ("127.0.0.1", PORT):
        strangers.append(args[1])
        raise OSError("no network here")

sys.addaudithook(guard)
from inspect_ai.model import get_model, modelapi

@modelapi(name="litellm")
def litellm():
    from workbench.models.litellm_api import LiteLLMAPI
    return LiteLLMAPI

async def ask(name, base):
    stream = name.startswith("openai")
    async with get_model(f"litellm/{name}", base_url=base, api_key="key", stream=stream) as model:
        output = await model.generate("hi")
        assert output.completion == "hello", output
        await model.api.count_text_tokens("one two three")
        model.canonical_name()

async def main():
    await ask("openai/gpt-4o-mini", f"http://127.0.0.1:{PORT}/v1")
    await ask("anthropic/claude-sonnet-4-5", f"http://127.0.0.1:{PORT}")
    await ask("deepseek/deepseek-chat", f"http://127.0.0.1:{PORT}/v1")
    await ask("ollama_chat/llama2", f"http://127.0.0.1:{PORT}")

asyncio.run(main())
print("strangers:", strangers)
"""


def python(code: str, *args: str) -> str:
    """Run code in a fresh interpreter in which nothing tells LiteLLM to stay at home."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LITELLM")}
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        env=clean,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_connection_is_opened_but_to_the_model(serve: Serve) -> None:
    ollama = {"model": "llama2", "message": {"role": "assistant", "content": "hello"}, "done": True}
    server = serve(["hello", "hello", "hello", Reply(body=json.dumps(ollama))])
    assert "strangers: []" in python(GUARDED, str(server.port))
    assert len(server.requests) == 4


def test_a_model_is_made_without_importing_litellm() -> None:
    code = (
        "import sys; from workbench.models.litellm_api import LiteLLMAPI; "
        "LiteLLMAPI('openai/x', api_key='k').connection_key(); print('litellm' in sys.modules)"
    )
    assert python(code).strip() == "False"
