"""`workbench images`: the images that the workbench made, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli import build

if TYPE_CHECKING:
    from workbench.sandboxing.engine import Engine


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List (the default), build and prune the images that the workbench made; others are never touched."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_images)


command.add_command(build.command)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON array on standard output.")
def list_images(as_json: bool) -> None:
    """Show our images, their size and what they start from."""
    from workbench.sandboxing.inventory import inventory

    found = inventory(_engine())
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps([asdict(image) for image in found], indent=2))
        return
    from rich.table import Table

    from workbench.core.terminal import console, safe

    table = Table(box=None, pad_edge=False)
    for column in ("image", "MiB", "used by", "in place of"):
        table.add_column(column, justify="right" if column == "MiB" else "left", overflow="fold")
    for image in found:
        used = f"{image.containers} containers" if image.containers else ""
        swapped = ", ".join(image.substitutes)
        table.add_row(safe(image.name), str(image.size_bytes >> 20), used, safe(swapped))
    console().print(table if found else "no images yet; they are built when an evaluation starts")


@command.command("build-base")
@click.option("--force", is_flag=True, help="Build it again, from fresh packages.")
def build_base(force: bool) -> None:
    """Build the base image from Debian packages, for machines that can pull none."""
    import anyio

    from workbench.core.errors import MachineError
    from workbench.core.terminal import console, safe
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
@click.option("--all", "everything", is_flag=True, help="Base images too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def prune(everything: bool, yes: bool) -> None:
    """Remove our images that no container uses; they are built again when needed."""
    from workbench.sandboxing.inventory import inventory, remove

    engine = _engine()
    unused = [
        image for image in inventory(engine) if not image.containers and (everything or image.kind != "base")
    ]
    if not unused:
        click.echo("nothing to remove")
        return
    if not yes:
        click.confirm(f"Remove {len(unused)} images?", abort=True)
    removed, kept = remove(engine, unused)
    click.echo(f"removed {len(removed)} images")
    for name, reason in kept.items():
        click.echo(f"kept {name}: {reason}", err=True)


def _engine() -> Engine:
    """The engine, or one line that says why there is none."""
    from workbench.core.errors import MachineError
    from workbench.sandboxing.availability import engine_status
    from workbench.sandboxing.engine import Engine

    status = engine_status()
    if not status.ok:
        raise MachineError(status.reason)
    return Engine(status.url)
