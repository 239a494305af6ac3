"""The default agent's own tools: a shell and Python in the task's sandbox.

Inspect's ``bash`` runs a login shell, which resets PATH in many images; Harbor runs ``bash -c``,
and so do these.
"""

from __future__ import annotations

import re

from inspect_ai.tool import Tool, ToolError, tool
from inspect_ai.util import ExecResult, sandbox

DEFAULT_SECONDS = 180
MAX_OUTPUT = 16_000
_LEFT_OUT = re.compile(r"\[\.\.\. (\d+) bytes of output left out \.\.\.\]")


@tool
def bash(seconds: int = DEFAULT_SECONDS) -> Tool:
    """A shell command in the sandbox, cut off after `seconds`."""

    async def execute(command: str) -> str:
        """Run a bash command in the task's environment.

        Args:
            command: The command to run.
        """
        return await _run(["bash", "-c", command], seconds)

    return execute


@tool
def python(seconds: int = DEFAULT_SECONDS) -> Tool:
    """A Python program in the sandbox, cut off after `seconds`."""

    async def execute(code: str) -> str:
        """Run a Python program in the task's environment. Print what you want to see.

        Args:
            code: The program.
        """
        return await _run(["python3", "-"], seconds, code)

    return execute


async def _run(command: list[str], seconds: int, stdin: str | None = None) -> str:
    try:
        result = await sandbox().exec(command, input=stdin, timeout=seconds, timeout_retry=False)
    except TimeoutError:
        raise ToolError(f"The command did not end within {seconds} seconds and was stopped.") from None
    return _shown(result)


def _shown(result: ExecResult[str]) -> str:
    """Output as the model sees it: both streams, cut in the middle with a note, and the exit code."""
    text = result.stdout + (f"\n[stderr]\n{result.stderr}" if result.stderr else "")
    if len(text) > MAX_OUTPUT:
        half = MAX_OUTPUT // 2
        text = f"{text[:half]}\n[... {_counted(text[half:-half])} left out ...]\n{text[-half:]}"
    return text if result.success else f"{text}\n[exit code {result.returncode}]"


def _counted(text: str) -> str:
    """How much a text is, with what the sandbox had left out of it already."""
    bytes_before = sum(map(int, _LEFT_OUT.findall(text)))
    return f"{len(text)} characters" + (f" and {bytes_before} bytes" if bytes_before else "")
