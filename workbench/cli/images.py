"""`workbench images`: the images that the workbench made, and no others."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from workbench.cli import build
from workbench.cli._numbers import Age, age
from workbench.core.errors import MachineError, UnknownNameError, UsageError
from workbench.core.terminal import print_table, safe
from workbench.reporting.wording import plural

if TYPE_CHECKING:
    from workbench.sandboxing.engine import Engine
    from workbench.sandboxing.inventory import OwnImage


class _Images(click.Group):
    """Commands that need an engine; one that goes away meanwhile is the machine's matter."""

    def invoke(self, ctx: click.Context) -> Any:
        from workbench.sandboxing.engine import EngineGoneError

        try:
            return super().invoke(ctx)
        except EngineGoneError as gone:
            raise MachineError(gone.detail) from None


@click.group(cls=_Images, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List (the default), build and prune the images that the workbench made; others are never touched."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_images)


command.add_command(build.command)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON array on standard output.")
def list_images(as_json: bool) -> None:
    """Show our images: their tasks, age, size, and whether they are in use.

    Size is with the base that an image shares with others, "alone" without: what removing it frees.
    """
    from workbench.sandboxing.inventory import inventory

    found = inventory(_engine())
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps([asdict(image) for image in found], indent=2))
        return
    if not found:
        click.echo("no images yet; they are built when an evaluation starts")
        return
    _show(found)
    used = sum(image.in_use for image in found)
    click.echo(f"\n{_images(found)}, {used} in use\nwhat may go: workbench images prune --dry-run")


@command.command("build-base")
@click.option("--force", is_flag=True, help="Build it again, from fresh packages.")
def build_base(force: bool) -> None:
    """Build the base image from Debian packages, for machines that can pull none."""
    import anyio

    from workbench.core.terminal import console
    from workbench.sandboxing.builder import BuildError
    from workbench.sandboxing.debian import DEBIAN_PYTHON, build_debian_python

    engine = _engine()
    out = console(stderr=True)

    def said(line: str) -> None:
        out.print(safe(line), markup=False, style="dim")

    async def build() -> str:
        return await build_debian_python(engine, force=force, said=said)

    try:
        made = anyio.run(build)
    except BuildError as error:
        raise MachineError(error.detail) from None
    click.echo(f"{DEBIAN_PYTHON} {made[7:19]}")


@command.command()
@click.option("--older-than", type=Age(), help="Only those not wanted for so long, e.g. 12h, 7d, 2w.")
@click.option("--suite", metavar="NAME", help="Only those of a suite's tasks.")
@click.option("--all", "everything", is_flag=True, help="Base images too.")
@click.option("--dry-run", is_flag=True, help="Say what would go and what it frees; remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def prune(older_than: float | None, suite: str | None, everything: bool, dry_run: bool, yes: bool) -> None:
    """Remove our images that no container and no run uses; they are built again when needed."""
    from workbench.sandboxing.inventory import inventory, remove

    engine = _engine()
    found = inventory(engine)
    unused = [image for image in _of_suite(found, suite) if not image.in_use]
    if not everything:
        unused = [image for image in unused if image.kind != "base"]
    if older_than is not None:
        unused = [image for image in unused if time.time() - image.used >= older_than]
    if not unused:
        click.echo("nothing to remove")
        return
    _show(unused)
    click.echo("")
    if dry_run:
        click.echo(f"would remove {_images(unused)}, which is freed at least; nothing was removed")
        return
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(f"{_images(unused)} would be removed; add --yes, or --dry-run to look only")
        click.confirm(f"Remove {_images(unused)}?", abort=True)
    removed, kept = remove(engine, unused)
    click.echo(f"removed {plural(len(removed), 'image')}")
    for name, reason in kept.items():
        click.echo(f"kept {safe(name)}: {safe(reason)}", err=True)


def _of_suite(found: list[OwnImage], suite: str | None) -> list[OwnImage]:
    if suite is None:
        return found
    known = {name for image in found for name in image.suites}
    if suite not in known:
        raise UnknownNameError("suite with images", suite, known, "See: workbench images list")
    return [image for image in found if image.suites == (suite,)]


def _images(found: list[OwnImage]) -> str:
    """How many there are, and what they take alone."""
    sizes = [image.own_bytes for image in found]
    taken = sum(size for size in sizes if size is not None)
    alone = f", {taken >> 20:,} MiB of their own" if None not in sizes else ""
    return f"{plural(len(found), 'image')}{alone}"


def _show(found: list[OwnImage]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("image", no_wrap=True)
    table.add_column("task", overflow="fold", ratio=1)
    for column in ("built", "wanted", "MiB", "alone"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("in use", overflow="fold")
    now = time.time()
    for image in found:
        alone = "?" if image.own_bytes is None else f"{image.own_bytes >> 20:,}"
        ages = (age(now - image.built), age(now - image.used))
        size = f"{image.size_bytes >> 20:,}"
        table.add_row(
            image.id.removeprefix("sha256:")[:12], safe(_what(image)), *ages, size, alone, _by(image)
        )
    print_table(table)


def _mebibytes(size: int | None) -> str:
    if size is None:
        return "?"
    return "<1" if 0 < size < 1 << 20 else f"{size >> 20:,}"


def _what(image: OwnImage) -> str:
    """Its tasks, at most three, or its name."""
    if not image.tasks:
        return image.name.removeprefix("skill-workbench/") if image.kind == "base" else "not known here"
    more = f", {len(image.tasks) - 3} more" if len(image.tasks) > 3 else ""
    swapped = f" (without {', '.join(image.substitutes)})" if image.substitutes else ""
    return ", ".join(image.tasks[-3:]) + more + swapped


def _by(image: OwnImage) -> str:
    users = [plural(image.containers, "container")] if image.containers else []
    return ", ".join([*users, "a run"] if image.by_a_run else users)


def _engine() -> Engine:
    """The engine, or one line that says why there is none."""
    from workbench.sandboxing.availability import engine_status
    from workbench.sandboxing.engine import Engine

    status = engine_status()
    if not status.ok:
        raise MachineError(status.reason)
    return Engine(status.url)
