"""Trees into Inspect's local sandbox, and proof of what it holds: the way that works on every provider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

from workbench.core.digest import digest_bytes
from workbench.core.errors import InfrastructureError
from workbench.sandboxing.transfer import find_files, put_tree, tree_digest, tree_digests

TREE = {
    "one/SKILL.md": (b"\xff\x00body", False),
    "one/scripts/run.sh": (b"#!/bin/sh\n", True),
    "one/with space": (b"", False),
    "one/back\\slash": (b"b", False),
    "one/new\nline": (b"n", False),
}
DIGESTS = {path: (executable, digest_bytes(data)) for path, (data, executable) in TREE.items()}


@pytest.fixture
def box() -> Iterator[LocalSandboxEnvironment]:
    sandbox = LocalSandboxEnvironment()
    yield sandbox
    sandbox.directory.cleanup()


async def test_a_tree_arrives_byte_for_byte_with_its_modes(box: LocalSandboxEnvironment) -> None:
    await put_tree(box, TREE, "skills")
    assert await tree_digest(box, "skills") == DIGESTS
    assert Path(box.directory.name, "skills/one/scripts/run.sh").stat().st_mode & 0o777 == 0o755


async def test_several_places_relative_and_absolute_get_the_same_tree(box: LocalSandboxEnvironment) -> None:
    absolute = f"{box.directory.name}/b"
    await put_tree(box, TREE, ["a", absolute])
    assert await tree_digests(box, ["a", absolute, "absent"]) == {
        "a": DIGESTS,
        absolute: DIGESTS,
        "absent": {},
    }


async def test_a_place_inside_another_is_listed_in_both(box: LocalSandboxEnvironment) -> None:
    await put_tree(box, {"x": (b"1", False)}, "a/b")
    found = await tree_digests(box, ["a", "a/b", "."])
    assert [sorted(found[folder]) for folder in ("a", "a/b", ".")] == [["b/x"], ["x"], ["a/b/x"]]


async def test_links_never_pass_for_files(box: LocalSandboxEnvironment) -> None:
    await put_tree(box, {"f": (b"1", False)}, "a")
    Path(box.directory.name, "a/link").symlink_to("f")
    assert (await tree_digest(box, "a"))["link"] == (False, "special")


async def test_an_unpacked_tree_leaves_what_was_there(box: LocalSandboxEnvironment) -> None:
    await put_tree(box, {"old": (b"1", False), "same": (b"1", False)}, "a")
    await put_tree(box, {"same": (b"2", False)}, "a")
    assert await tree_digest(box, "a") == {
        "old": (False, digest_bytes(b"1")),
        "same": (False, digest_bytes(b"2")),
    }


async def test_nothing_is_a_tree_too(box: LocalSandboxEnvironment) -> None:
    await put_tree(box, {}, "a")
    await put_tree(box, TREE, [])
    assert await tree_digests(box, []) == {}


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "", "a\0b"])
async def test_paths_that_leave_the_tree_are_refused(box: LocalSandboxEnvironment, path: str) -> None:
    with pytest.raises(ValueError, match="not a path inside a tree"):
        await put_tree(box, {path: (b"", False)}, "a")


async def test_a_place_that_cannot_be_written_is_a_transfer_failure(box: LocalSandboxEnvironment) -> None:
    await box.write_file("plain", "x")
    with pytest.raises(InfrastructureError, match="infra:transfer"):
        await put_tree(box, TREE, "plain")


async def test_files_are_found_by_name_in_any_case(box: LocalSandboxEnvironment) -> None:
    await put_tree(
        box, {"x/.y/skill.md": (b"", False), "SKILL.MD": (b"", False), "xSKILL.md": (b"", False)}, "."
    )
    assert await find_files(box, "SKILL.md", ".") == ["./SKILL.MD", "./x/.y/skill.md"]
