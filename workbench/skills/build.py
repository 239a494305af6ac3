"""Finds of all sources -> one pool file, and an account of everything that was found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from workbench.core.atomic import atomic_open, atomic_path
from workbench.core.errors import GateError, MissingDataError
from workbench.skills.reader import ReadResult
from workbench.skills.refusal import Problem
from workbench.skills.schema import BuildCounts, PoolHeader
from workbench.skills.source import Found
from workbench.skills.writer import Entry, PoolWriter

_MAX_LINKS = 1_000


class Account:
    """Counts finds, and writes one line for each that is rejected: id, origin, reason, detail, line."""

    def __init__(self, rejects: IO[bytes]) -> None:
        self._rejects = rejects
        self._totals: Counter[str] = Counter()
        self._repairs: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()
        self._links: set[str] = set()

    def take(self, found: Found, problem: Problem | None) -> None:
        """Count a find, as rejected where there is a problem."""
        self._totals["found"] += 1
        self._totals["nested"] += found.nested
        if problem is None:
            self._totals[found.result.status] += 1
            self._repairs.update(found.result.repairs)
            self._notes.update(found.result.notes)
            return
        self._totals["rejected"] += 1
        self._reasons[problem.reason] += 1
        row = {"id": found.id, "origin": found.origin, "reason": problem.reason, "detail": problem.detail}
        line = json.dumps({**row, "line": problem.line}) + "\n"
        self._rejects.write(line.encode("utf-8"))

    def link(self, link: str) -> None:
        """Take note of a link that was resolved inside a root, as ``link -> target``."""
        self._links.add(link)

    @property
    def links(self) -> tuple[str, ...]:
        """The links resolved so far, sorted; the first 1,000."""
        return tuple(sorted(self._links)[:_MAX_LINKS])

    @property
    def counts(self) -> BuildCounts:
        """The sums so far; accepted + repaired + rejected = found."""
        return BuildCounts(
            **self._totals,
            links=len(self._links),
            repairs=_sorted(self._repairs),
            reasons=_sorted(self._reasons),
            notes=_sorted(self._notes),
        )


def build_pool(
    out: Path,
    name: str,
    finds: Callable[[Account], Iterable[Found]],
    *,
    sources: tuple[str, ...],
    signature: str = "",
    check: Callable[[BuildCounts], None] = lambda counts: None,
) -> PoolHeader:
    """Write a pool file, and `rejects_file(out)` beside it.

    Args:
        finds: everything the sources hold; is given the account to report links to.
        check: looks at the counts before the pool is published; what it raises prevents that.

    Raises:
        MissingDataError: nothing was found at all.
    """
    with atomic_path(out) as temporary:
        with atomic_open(rejects_file(out)) as rejects, PoolWriter(temporary) as writer:
            account = Account(rejects)
            for found in finds(account):
                account.take(found, _add(writer, found))
            header = writer.finish(
                name, account.counts, sources=sources, signature=signature, links=account.links
            )
        if not header.counts.found:
            raise MissingDataError(f"{name}: no SKILL.md and no record found in {', '.join(sources)}")
        check(header.counts)
    return header


def rejects_file(out: Path) -> Path:
    """Where the rejects of a pool file are listed."""
    return out.with_suffix(".rejects.jsonl")


def within_budget(name: str, counts: BuildCounts, rejects: Path, budget: int, expected: int | None) -> None:
    """The check that some skill and, of all that are found, no more than `budget` rejects and
    `expected` skills are left.

    Raises:
        GateError: one of them does not hold.
    """
    reasons = ", ".join(f"{reason} {n}" for reason, n in counts.reasons.items())
    if counts.rejected == counts.found > 0:
        raise GateError(f"{name}: none of {counts.found} finds is a skill ({reasons}); see {rejects}")
    if counts.rejected > budget:
        raise GateError(
            f"{name}: {counts.rejected} of {counts.found} rejected, {budget} allowed ({reasons});"
            f" see {rejects}; to leave them out, give --max-rejects {counts.rejected}"
            f" or raise rejects_allowed in its YAML file"
        )
    kept = counts.accepted + counts.repaired
    if expected is not None and kept != expected:
        raise GateError(f"{name}: holds {kept} skills where {expected} are expected; did its source change?")


def _add(writer: PoolWriter, found: Found) -> Problem | None:
    """Write a find; why not, where it is rejected."""
    result: ReadResult = found.result
    if result.problem is not None:
        return result.problem
    entry = Entry(found.id, result.name, result.description, result.body, found.folder, found.tree)
    return None if writer.add(entry) else Problem("duplicate_id", f"'{found.id}' was found before")


def _sorted(counter: Counter[str]) -> dict[str, int]:
    """Most frequent first, then by name."""
    return dict(sorted(counter.items(), key=lambda pair: (-pair[1], pair[0])))
