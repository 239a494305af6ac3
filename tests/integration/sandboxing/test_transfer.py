"""Files in and out, and proof of what a container holds."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio
import pytest
from inspect_ai.util import OutputLimitExceededError

from workbench.core.digest import digest_bytes
from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.debian import DEBIAN_PYTHON
from workbench.sandboxing.files import TransferError
from workbench.sandboxing.providers.docker import DockerSandbox
from workbench.sandboxing.transfer import find_files, put_tree, tree_digest, tree_digests

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]
Start = Callable[[DockerConfig], Awaitable[DockerSandbox]]

SKILL = {
    "mesh/SKILL.md": (b"---\nname: mesh\n---\n\xff\xfe", False),
    "mesh/scripts/run.sh": (b"#!/bin/sh\necho ran\n", True),
    "mesh/a file with spaces": (b"", False),
    "mesh/new\nline": (b"x", False),
    "mesh/umlaut-\u00e4": (b"y", False),
}
DIGESTS = {path: (executable, digest_bytes(data)) for path, (data, executable) in SKILL.items()}


@pytest.fixture(scope="module")
def box(start: Start, root_image: BuildPlan) -> DockerSandbox:
    return anyio.run(start, DockerConfig(build=root_image))


@pytest.fixture(scope="module")
def user_box(start: Start, user_image: BuildPlan) -> DockerSandbox:
    return anyio.run(start, DockerConfig(build=user_image))


async def test_a_tree_arrives_in_all_places_byte_for_byte(box: DockerSandbox) -> None:
    places = ["/opt/.claude/skills", "/opt/.agents/skills", "/etc/claude-code/.claude/skills"]
    await put_tree(box, SKILL, places)
    assert await tree_digests(box, places) == dict.fromkeys(places, DIGESTS)
    assert (await box.exec(["/opt/.claude/skills/mesh/scripts/run.sh"])).stdout == "ran\n"


async def test_what_is_not_a_file_never_passes_for_one(box: DockerSandbox) -> None:
    await box.exec(["sh", "-c", "mkdir -p /odd && ln -s /etc/passwd /odd/link && mkfifo /odd/pipe"])
    assert await tree_digest(box, "/odd") == {"link": (False, "special"), "pipe": (False, "special")}
    assert await tree_digest(box, "/absent") == {}


async def test_files_belong_to_the_user_and_so_do_their_folders(user_box: DockerSandbox) -> None:
    await put_tree(user_box, SKILL, "/home/agent/.claude/skills")
    script = (
        "find /home/agent ! -user agent; cd /home/agent/.claude && touch mine skills/mesh/mine && echo ok"
    )
    assert (await user_box.exec(["sh", "-c", script])).stdout == "ok\n"


async def test_a_place_the_user_may_not_write_is_filled_all_the_same(user_box: DockerSandbox) -> None:
    await put_tree(user_box, SKILL, "/app/skills")
    assert await tree_digest(user_box, "/app/skills") == DIGESTS
    assert not (await user_box.exec(["touch", "/app/x"])).success


async def test_another_owner_can_be_named(user_box: DockerSandbox) -> None:
    await put_tree(user_box, {"test.sh": (b"#!/bin/sh\n", True)}, "/tests", user="root")
    assert (await user_box.exec(["stat", "-c", "%U %a", "/tests/test.sh"])).stdout == "root 755\n"


async def test_forty_files_are_one_transfer(box: DockerSandbox) -> None:
    tree = {f"s/{number}": (b"x" * 5000, False) for number in range(40)}
    await put_tree(box, tree, "/warm")
    began = time.monotonic()
    await put_tree(box, tree, "/forty")
    assert time.monotonic() - began < 1.0
    assert len(await tree_digest(box, "/forty")) == 40


async def test_read_only_files_are_replaced_by_a_tree(box: DockerSandbox) -> None:
    await box.exec(["sh", "-c", "mkdir -p /ro && echo old > /ro/f && chmod 444 /ro/f"])
    await put_tree(box, {"f": (b"new", False)}, "/ro")
    assert await box.read_file("/ro/f") == "new"


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", ""])
async def test_paths_that_leave_the_tree_are_refused(box: DockerSandbox, path: str) -> None:
    with pytest.raises(ValueError, match="not a path inside a tree"):
        await put_tree(box, {path: (b"", False)}, "/t")


async def test_skill_files_are_found_wherever_they_hide(box: DockerSandbox) -> None:
    hidden = ["/opt/.x/SKILL.md", "/dev/shm/skill.md", "/usr/lib/a b/Skill.MD"]
    await put_tree(box, {path.lstrip("/"): (b"", False) for path in hidden}, "/")
    await box.exec(["sh", "-c", "ln -s / /tmp/loop; mkdir -p /var/SKILL.md"])
    began = time.monotonic()
    found = await find_files(box, "SKILL.md")
    assert time.monotonic() - began < 2.0
    assert set(hidden) | {"/var/SKILL.md"} <= set(found)
    assert not [path for path in found if path.startswith(("/proc", "/sys", "/tmp/loop/"))]


@pytest.fixture(scope="module")
def bare(start: Start, planned: Callable[[str], BuildPlan]) -> DockerSandbox:
    """A container without `find`, with one hidden file."""
    hide = "mkdir -p '/a/.b c' && touch '/a/.b c/skill.md' && rm /usr/bin/find"
    return anyio.run(start, DockerConfig(build=planned(f"FROM {DEBIAN_PYTHON}\nRUN {hide}\n")))


async def test_an_image_without_find_is_searched_too(bare: DockerSandbox) -> None:
    assert await find_files(bare, "SKILL.md") == ["/a/.b c/skill.md"]


async def test_files_come_out_without_any_program_of_the_container(box: DockerSandbox) -> None:
    await put_tree(box, SKILL, "/out")
    await box.exec(["sh", "-c", "ln -s /etc/passwd /out/link"])
    assert await box.get_files("/out") == SKILL
    assert await box.get_files("/out/mesh/SKILL.md") == {"SKILL.md": SKILL["mesh/SKILL.md"]}
    with pytest.raises(FileNotFoundError):
        await box.get_files("/absent")
    with pytest.raises(OutputLimitExceededError):
        await box.get_files("/usr/lib", limit=1 << 20)


async def test_special_files_are_refused_and_never_waited_for(box: DockerSandbox) -> None:
    await box.exec(["mkfifo", "/tmp/pipe"])
    with pytest.raises(TransferError, match="Not a regular file"):
        await box.read_file("/tmp/pipe")
    assert "Linux" in await box.read_file("/proc/version")


async def test_a_path_through_a_file_is_an_error_with_its_name(box: DockerSandbox) -> None:
    await box.write_file("/tmp/plain", "x")
    with pytest.raises(OSError, match="/tmp/plain/below"):
        await box.write_file("/tmp/plain/below", "y")
    with pytest.raises(FileNotFoundError):
        await box.read_file("/tmp/plain/below")


async def test_planted_programs_do_not_answer_for_file_access(box: DockerSandbox) -> None:
    planted = dict.fromkeys(("head", "cat", "ls", "dirname", "find"), (b"#!/bin/sh\necho planted\n", True))
    await put_tree(box, planted, "/usr/local/bin")
    await box.write_file("/tmp/real", "real")
    assert await box.read_file("/tmp/real") == "real"
    await box.exec(["sh", "-c", "cd /usr/local/bin && rm -f head cat ls dirname find"])
