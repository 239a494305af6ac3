"""A sandbox holds exactly the condition's skills, or the trial is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

from tests.suites import skill_md
from workbench.core.errors import InvalidTreatmentError
from workbench.evaluation.layout import Layout, local_layout
from workbench.evaluation.treatment import Treatment, install, prove
from workbench.skills.skill import SkillFile, SkillTree

MESH = Treatment(
    "gt/mesh",
    "mesh",
    SkillTree(
        {
            "SKILL.md": SkillFile(skill_md("mesh").encode(), False),
            "scripts/run.sh": SkillFile(b"echo volume\n", True),
            "data/empty": SkillFile(b"", False),
        }
    ),
)


Place = tuple[LocalSandboxEnvironment, Layout, Path]


@pytest.fixture
def place() -> Iterator[Place]:
    """A sandbox on this machine, its layout, and its folder."""
    sandbox = LocalSandboxEnvironment()
    root = Path(sandbox.directory.name).resolve()
    yield sandbox, local_layout(str(root)), root
    sandbox.directory.cleanup()


async def test_what_is_installed_is_recorded_with_its_digest(place: Place) -> None:
    sandbox, layout, root = place
    (installed,) = await install(sandbox, layout, [MESH])
    assert (installed.id, installed.folder, installed.digest) == ("gt/mesh", "mesh", MESH.tree.digest)
    script = root / ".claude/skills/mesh/scripts/run.sh"
    assert script.read_bytes() == b"echo volume\n"
    assert script.stat().st_mode & 0o100


async def test_without_skills_an_untouched_sandbox_is_proven(place: Place) -> None:
    sandbox, layout, _ = place
    assert await install(sandbox, layout, []) == ()


SABOTAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a file is gone": (
        lambda skills: (skills / "mesh/data/empty").unlink(),
        "lacks 1 files: mesh/data/empty",
    ),
    "a file too many": (
        lambda skills: (skills / "mesh/notes.txt").write_text("hint"),
        "also holds 1 files: mesh/notes.txt",
    ),
    "another byte": (
        lambda skills: (skills / "mesh/scripts/run.sh").write_text("echo Volume\n"),
        "holds another version of 1 files: mesh/scripts/run.sh",
    ),
    "not executable any more": (
        lambda skills: (skills / "mesh/scripts/run.sh").chmod(0o644),
        "holds another version of 1 files: mesh/scripts/run.sh",
    ),
    "a link in place of a file": (
        lambda skills: (
            (skills / "mesh/data/empty").unlink(),
            (skills / "mesh/data/empty").symlink_to("/dev/null"),
        ),
        "mesh/data/empty",
    ),
    "a skill elsewhere": (
        lambda skills: (skills.parents[1] / "SKILL.md").write_text("hint"),
        "holds 1 SKILL.md that the condition does not",
    ),
    "a skill elsewhere, in lower case": (
        lambda skills: (skills.parents[1] / "skill.md").write_text("hint"),
        "holds 1 SKILL.md that the condition does not",
    ),
}


@pytest.mark.parametrize("what", SABOTAGE)
async def test_any_difference_refuses_the_trial(place: Place, what: str) -> None:
    sandbox, layout, root = place
    await install(sandbox, layout, [MESH])
    change, message = SABOTAGE[what]
    change(root / ".claude/skills")
    with pytest.raises(InvalidTreatmentError, match=message.replace(".", r"\.")):
        await prove(sandbox, layout, [MESH])


async def test_a_skill_in_a_sandbox_that_should_have_none_refuses_the_trial(place: Place) -> None:
    sandbox, layout, _ = place
    await install(sandbox, layout, [MESH])
    with pytest.raises(InvalidTreatmentError, match=r"holds 1 SKILL\.md"):
        await prove(sandbox, layout, [])
