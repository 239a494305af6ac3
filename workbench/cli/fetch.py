"""`workbench fetch SUITE`: bring a public suite's tasks onto this machine."""

from __future__ import annotations

import click


@click.command("fetch")
@click.argument("suite")
@click.option("--refresh", is_flag=True, help="Fetch again, and resolve a branch or tag anew.")
def command(suite: str, refresh: bool) -> None:
    """Fetch a suite's tasks at its pinned revision into the cache, with progress and resume."""
    from workbench.benchmarks.fetch import fetch_suite
    from workbench.core.terminal import console
    from workbench.core.workspace import find_workspace
    from workbench.skills.progress import shown_progress

    with shown_progress() as progress:
        folder, lock = fetch_suite(suite, find_workspace(), progress, refresh=refresh)
    out = console()
    out.print(
        f"{suite}: {lock.files} files, {lock.bytes / 2**20:.0f} MiB at {lock.commit[:12]}", markup=False
    )
    out.print(f"in {folder}")
    out.print(f"next: inspect eval workbench/{suite} --router bm25")
