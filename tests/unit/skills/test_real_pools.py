"""Real collections, where they are at hand: WORKBENCH_DATA names a folder that holds ``routing/``."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.core.workspace import Workspace
from workbench.skills.opening import open_pool
from workbench.skills.reader import read_skill

DATA = Path(os.environ.get("WORKBENCH_DATA", ""), "routing")
FILES = DATA / "openclaw-skill-md.jsonl.gz"
POOL = DATA / "pool.jsonl.gz"
pytestmark = pytest.mark.skipif(
    "WORKBENCH_DATA" not in os.environ or not FILES.is_file(),
    reason="WORKBENCH_DATA names no folder with routing/openclaw-skill-md.jsonl.gz",
)


def records(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def test_of_2451_files_99_percent_are_kept_and_all_accounted_for(workspace: Workspace) -> None:
    counts = open_pool(str(FILES), workspace).header.counts
    empty = sum(not record["text"].strip() for record in records(FILES))
    assert counts.found == 2_451
    assert counts.accepted + counts.repaired + counts.rejected == counts.found
    assert counts.accepted + counts.repaired >= 0.99 * (counts.found - empty)
    assert counts.rejected == sum(counts.reasons.values())


def test_files_that_need_no_repair_read_as_another_reader_read_them() -> None:
    theirs = {record["skill_id"]: record for record in records(POOL)}
    compared = 0
    for record in records(FILES):
        folder = record["path"].rsplit("/", 2)[-2]
        found = read_skill(record["text"].encode(), folder)
        other = theirs["openclaw/" + record["path"].split("/", 1)[1].rsplit("/", 1)[0]]
        if found.status == "accepted":
            compared += 1
            assert (found.name, found.description, found.body) == (
                other["name"],
                other["description"],
                other["body"],
            )
    assert compared > 2_000


def test_the_routing_pool_opens_with_every_skill(workspace: Workspace) -> None:
    pool = open_pool(str(POOL), workspace)
    assert len(pool) == 2_636
    assert pool.header.counts.rejected == 0
    pool.verify()
