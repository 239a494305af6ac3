"""``inspect eval workbench/skillsbench --router bm25``: our options on Inspect's own command.

Inspect has no extension point for options of ``inspect eval``, so ``workbench_inspect.pth``
(one guarded line, run at start-up only when the program is ``inspect``) calls `install`. That
registers a watcher for the import of Inspect's eval command; when it is imported, options are
added that mean exactly ``-T router=...`` and so on, and logs of workbench tasks go to the
workspace's ``results/`` unless told otherwise. Whatever goes wrong here is a warning; stock
Inspect goes on as it is. Imports nothing but the standard library until the watcher fires.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

TARGET = "inspect_ai._cli.eval"
_PREFIX = "workbench/"
SECTION = "Workbench Options (tasks named workbench/...)"

OPTIONS: dict[str, tuple[str, str]] = {
    "router": ("NAME[,NAME...]", "Skill router(s) to evaluate, e.g. bm25 or bm25,random."),
    "router_k": ("N", "Skills a router gives to the agent (default: the suite's)."),
    "pool": ("NAME", "Skill pool that routers search: a name, a folder, a .jsonl or a .pool file."),
    "conditions": ("NAME[,NAME...]", "Which of none, gold, routed to run (default: all)."),
    "budget": (
        "USD",
        "Most that this command may spend, over all its tasks and models. Trials that it might not cover"
        " are not started; a retry runs them, with the sum anew.",
    ),
    "disclosure": ("MODE", "How skills are shown to the agent, e.g. progressive, selected or full."),
}
"""Task argument -> (placeholder, help)."""


def install() -> None:
    """Watch for the import of Inspect's eval command. Safe to call more than once."""
    if not any(isinstance(finder, _Watcher) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher())


class _Watcher(importlib.abc.MetaPathFinder):
    """Lets the import of one module pass through `_extend`, then leaves."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != TARGET:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            _run_after(spec.loader)
        return spec


def _run_after(loader: Any) -> None:
    original = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        original(module)
        try:
            _extend(module)
        except Exception as error:
            _warn(f"options of `inspect eval` not added ({error}); use -T router=... instead")

    loader.exec_module = exec_module


def _warn(message: str) -> None:
    sys.stderr.write(f"skill-workbench: {message}\n")


def _extend(module: Any) -> None:
    """Add the options to ``eval`` and ``eval-set``; choose log folders for all three commands."""
    module.EvalCommand.SECTIONS = {**module.EvalCommand.SECTIONS, SECTION: set(OPTIONS)}
    for command in (module.eval_command, module.eval_set_command):
        command.params.extend(_options())
        command.callback = _with_task_args(command.callback)
    retry = getattr(module, "eval_retry_command", None)
    if retry is not None:
        retry.callback = _retry_in_place(retry.callback)


def _options() -> list[Any]:
    import click

    def remember(ctx: click.Context, param: click.Parameter, value: object) -> None:
        if value is not None:
            ctx.meta.setdefault(__name__, {})[param.name] = str(value)

    return [
        click.Option(
            [f"--{name.replace('_', '-')}", name],
            type=click.IntRange(1, 100) if name == "router_k" else str,
            metavar=placeholder,
            help=help_text,
            expose_value=False,
            callback=remember,
        )
        for name, (placeholder, help_text) in OPTIONS.items()
    ]


def _with_task_args(callback: Any) -> Any:
    """The command's callback, given our options as further ``-T`` arguments.

    A command that names no workbench task passes through as it is.
    """
    import functools

    import click

    @functools.wraps(callback)
    def wrapped(*args: Any, **params: Any) -> Any:
        ctx = click.get_current_context()
        ours: dict[str, str] = ctx.meta.get(__name__, {})
        tasks = [task for task in params.get("tasks") or () if _is_ours(task)]
        if not tasks and not ours:
            return callback(*args, **params)
        _refuse_unknown_suites(ctx, tasks)
        _refuse_contradictions(ctx, ours, params.get("t") or ())
        given = [*(params.get("t") or ()), *(f"{name}={_quoted(value)}" for name, value in ours.items())]
        params["t"] = tuple(_from_here(argument) for argument in given)
        if len(tasks) == len(params.get("tasks") or ()):
            _choose_log_dir(ctx, params)
        try:
            return callback(*args, **params)
        finally:
            _exit_by_gate(ctx)

    return wrapped


def _is_ours(task: str) -> bool:
    """Whether a task is named, not filed: ``workbench/x`` may also be a folder of the user's."""
    from pathlib import Path

    return task.startswith(_PREFIX) and not task.endswith(".py") and not Path(task).exists()


def _quoted(value: str) -> str:
    """A text as Inspect's ``-T`` reads it back: a list where it has commas, else the text itself."""
    import json

    parts = value.split(",")
    return value if value.isdecimal() else json.dumps(parts if len(parts) > 1 else value)


def _from_here(argument: str) -> str:
    """A path among the arguments made absolute, so that the log can be retried from anywhere."""
    import json
    from pathlib import Path

    name, _, value = argument.partition("=")
    plain = value.strip("\"'")
    if name in {"data", "toolqa"} or (name == "pool" and plain.startswith((".", "~", "/"))):
        return f"{name}={json.dumps(str(Path(plain).expanduser().absolute()))}"
    return argument


def _exit_by_gate(ctx: Any) -> None:
    """Exit with 4 when too many trials of the run were excluded or did not run, 130 after an interrupt."""
    gate = sys.modules.get("workbench.reporting.after_run")
    raised = sys.exc_info()[1]
    ended = raised is None or getattr(raised, "exit_code", getattr(raised, "code", 1)) == 0
    if gate is not None and gate.GATE.code and ended:
        ctx.exit(gate.GATE.code)


def _refuse_unknown_suites(ctx: Any, tasks: Sequence[str]) -> None:
    """Inspect says only that it found no tasks; name the nearest suite."""
    import click

    from workbench.core.errors import suggestion
    from workbench.core.workspace import find_workspace

    known = [_PREFIX + name for name in find_workspace().names("tasks")]
    for task in tasks:
        if task not in known:
            raise click.UsageError(f"unknown suite '{task}'{suggestion(task, known)}", ctx)


def _refuse_contradictions(ctx: Any, ours: dict[str, str], given: Sequence[str]) -> None:
    import click

    for argument in given:
        name, _, value = argument.partition("=")
        key = name.replace("-", "_")
        if key in ours and ours[key] != value:
            option = f"--{key.replace('_', '-')}"
            both = f"{option} {ours[key]} and -T {argument}"
            raise click.UsageError(f"{both} contradict each other; give one", ctx)


def _is_default(ctx: Any, name: str) -> bool:
    from click.core import ParameterSource

    return bool(ctx.get_parameter_source(name) == ParameterSource.DEFAULT)


def _choose_log_dir(ctx: Any, params: dict[str, Any]) -> None:
    """A new folder for an eval; for an eval-set one that the same command finds again.

    A set's folder may hold logs of a pool or recipe that has changed since: they are not reused.
    A local folder that was given must be writable.
    """
    from pathlib import Path

    import click

    from workbench.core.errors import WorkbenchError
    from workbench.evaluation.runs import run_folder, set_folder, writable

    names = [task.removeprefix(_PREFIX) for task in params["tasks"]]
    keys = ("tasks", "t", "s", "m", "model", "model_spec", "solver", "sandbox")
    try:
        if not _is_default(ctx, "log_dir"):
            if "://" not in (given := str(params["log_dir"])):
                writable(Path(given).expanduser())
        elif ctx.info_name == "eval-set":
            params["log_dir"] = str(set_folder(names, [str(params.get(key)) for key in keys]))
            params["log_dir_allow_dirty"] = True
        else:
            params["log_dir"] = str(run_folder(names))
    except WorkbenchError as error:
        raise click.ClickException(str(error)) from None


def _retry_in_place(callback: Any) -> Any:
    """``eval-retry LOG``: the new log goes beside the old one when that lies in the workspace's results."""
    import functools
    from pathlib import Path

    import click

    @functools.wraps(callback)
    def wrapped(*args: Any, **params: Any) -> Any:
        from workbench.core.workspace import find_workspace

        logs = params.get("log_files") or ()
        folders = {Path(log).resolve().parent for log in logs if "://" not in str(log)}
        if _is_default(click.get_current_context(), "log_dir") and len(folders) == 1:
            (folder,) = folders
            if find_workspace().results.resolve() in folder.parents:
                params["log_dir"] = str(folder)
        return callback(*args, **params)

    return wrapped
