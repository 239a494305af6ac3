"""`workbench doctor`: what this machine has, what it lacks, and what to type next."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from workbench.sandboxing.checkup import Check

_KEYS = (
    "ANTHROPIC_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AZURE_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "HF_TOKEN",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "TOGETHERAI_API_KEY",
    "XAI_API_KEY",
)
_EXTRAS = {"dense": ("torch", "transformers", "faiss"), "parquet": ("pyarrow",)}
_MARKS = {"ok": "ok", "note": "note", "missing": "MISSING"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(as_json: bool) -> int:
    """Say what this machine has, what it lacks, and what to type next.

    Exits with 3 when something that evaluations need is missing, else with 0.
    """
    from workbench.sandboxing.checkup import engine_checks

    checks = [*_python_checks(), *engine_checks(), _keys()]
    missing = any(check.state == "missing" for check in checks)
    if as_json:
        import json
        from dataclasses import asdict

        rows = [asdict(check) for check in checks]
        click.echo(json.dumps({"ok": not missing, "checks": rows}, indent=2))
    else:
        _print(checks)
    return 3 if missing else 0


def _print(checks: list[Check]) -> None:
    from rich.table import Table
    from rich.text import Text

    from workbench.core.terminal import print_table, safe

    styles = {"ok": "green", "note": "yellow", "missing": "bold red"}
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        detail = Text(safe(check.detail))
        if check.next:
            detail.append(f"\n-> {safe(check.next)}", style="bold")
        table.add_row(check.name, Text(_MARKS[check.state], style=styles[check.state]), detail)
    print_table(table)


def _python_checks() -> list[Check]:
    return [_inspect(), _registry(), *(_extra(name, modules) for name, modules in _EXTRAS.items()), _cache()]


def _inspect() -> Check:
    import platform
    from importlib.metadata import version

    from workbench.sandboxing.checkup import Check

    return Check("inspect", "ok", f"inspect-ai {version('inspect-ai')}, Python {platform.python_version()}")


def _registry() -> Check:
    """Inspect only warns when an entry point cannot be imported; here it is an error."""
    import importlib
    from importlib.metadata import entry_points

    from workbench.sandboxing.checkup import Check

    try:
        importlib.import_module("workbench._registry")
    except Exception as error:
        what = f"workbench._registry cannot be imported: {type(error).__name__}: {error}"
        return Check("registry", "missing", what, "pip install --force-reinstall skill-workbench")
    if not any(point.name == "workbench" for point in entry_points(group="inspect_ai")):
        what = "Inspect does not see the workbench: it is not installed in this environment"
        return Check(
            "registry", "missing", what, "pip install skill-workbench (in a checkout: pip install -e .)"
        )
    return Check("registry", "ok", "Inspect finds the workbench's tasks")


def _extra(name: str, modules: tuple[str, ...]) -> Check:
    from importlib.util import find_spec

    from workbench.sandboxing.checkup import Check

    lacking = [module for module in modules if find_spec(module) is None]
    if lacking:
        what = f"not installed: {', '.join(lacking)}"
        return Check(f"extra {name}", "note", what, f"pip install 'skill-workbench[{name}]'")
    return Check(f"extra {name}", "ok", ", ".join(modules))


def _cache() -> Check:
    from workbench.core.workspace import cache_root
    from workbench.sandboxing.checkup import Check

    folder = cache_root()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(existing, os.W_OK):
        return Check("cache", "ok", str(folder))
    return Check("cache", "missing", f"{folder} cannot be written", "export SKILL_WORKBENCH_CACHE=FOLDER")


def _keys() -> Check:
    """Names only: no value is ever read further than to see that it is not empty."""
    from workbench.sandboxing.checkup import Check

    found = [name for name in _KEYS if os.environ.get(name)]
    if found:
        return Check("API keys", "ok", ", ".join(found))
    return Check("API keys", "note", "none found; the oracle needs none", "export OPENAI_API_KEY=...")
