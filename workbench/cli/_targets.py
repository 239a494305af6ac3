"""Files that a command is asked to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.core.atomic import check_writable, write_text
from workbench.core.errors import UsageError
from workbench.core.terminal import console, safe


def check_targets(targets: Mapping[str, Path | None], logs: Sequence[Path]) -> None:
    """See that every file can be written, is one of its own and none of a run, before the first of them is.

    Args:
        targets: option without its dashes -> file, ``None`` where it was not given.
        logs: that are read.

    Raises:
        UsageError: names the option.
    """
    from workbench.reporting.find import refuse_inputs

    options: dict[Path, str] = {}
    for option, path in targets.items():
        if path is None:
            continue
        if (other := options.setdefault(path.resolve(), option)) != option:
            raise UsageError(f"{path}: is named by --{other} and by --{option}; give each a file of its own")
        refuse_inputs(path, logs)
        check_writable(path)


def write_target(path: Path, text: str) -> None:
    """Write a file whole, and say so."""
    write_text(path, text)
    say_written(path)


def say_written(path: Path) -> None:
    """One line on stderr."""
    console(stderr=True).print(f"wrote {safe(str(path))}")
