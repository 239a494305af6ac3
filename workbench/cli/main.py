"""`workbench COMMAND`: one file per command in this folder, imported only when asked for.

Exit codes: 0 done · 1 the command or its input is wrong · 2 a check that was asked for did not
hold · 3 the machine lacks something · 4 trials are incomplete or excluded · 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click

from workbench import __version__
from workbench.core.errors import UnknownNameError, WorkbenchError
from workbench.core.plugins import load_plugin, plugin_names
from workbench.core.terminal import filled, safe

_PACKAGE = "workbench.cli"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EIO}


class _Commands(click.Group):
    """Commands by file name; a typing error names the nearest one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in plugin_names(_PACKAGE) if name != "main"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = load_plugin(_PACKAGE, cmd_name, "command").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            raise UnknownNameError("command", args[0], known, "See: workbench --help")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Evaluations run through Inspect: inspect eval workbench/quickstart --router bm25",
)
@click.version_option(__version__, prog_name="workbench")
def workbench() -> None:
    """Does this skill router make this agent succeed more often, and is the difference real?"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command and exit with its code; every foreseeable error is one message on stderr."""
    sys.exit(run(argv))


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        result: Any = workbench.main(
            args=None if argv is None else list(argv), prog_name="workbench", standalone_mode=False
        )
        sys.stdout.flush()
    except WorkbenchError as error:
        return _fail(str(error), error.exit_code)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 1
    except click.ClickException as error:
        hint = (
            f" See: {error.ctx.command_path} --help"
            if isinstance(error, click.UsageError) and error.ctx
            else ""
        )
        message = error.format_message()
        return _fail(message + ("." if hint and not message.endswith((".", "?")) else "") + hint, 1)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", 130)
    except OSError as error:
        return _unheard(error)
    return result if isinstance(result, int) else 0


def _unheard(error: OSError) -> int:
    """The exit code where the output goes nowhere: its reader has left, or its disk is full.

    Raises:
        OSError: as given, where it is about something else.
    """
    left = isinstance(error, BrokenPipeError)
    if not left and (error.filename is not None or error.errno not in _FULL):
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left cannot be flushed either
    if left:
        return 0
    return _fail(f"cannot write: {error.strerror}; free some space or send the output elsewhere", 3)


def _fail(message: str, code: int) -> int:
    """One message on stderr: a line for programs, at a terminal words that are not torn apart."""
    said = f"workbench: {safe(message)}"
    if sys.stderr.isatty():
        width = max(shutil.get_terminal_size().columns, 20)
        said = "\n".join(filled(line, width) for line in said.splitlines())
    click.echo(said, err=True)
    return code
