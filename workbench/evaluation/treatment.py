"""Installing a condition's skills into a sandbox, and proving before the first model call that
the sandbox holds exactly these and nothing else.

A no-skill sandbox must hold no SKILL.md anywhere; any other must hold, in every place, exactly
the routed trees, file by file by digest, and no SKILL.md elsewhere. A trial whose treatment
cannot be proven shows nothing and stops the run.

Skills are root's files in the container and no read-only mount: they are known only after it has started,
real agents own theirs, and scripts of skills write beside themselves. An agent of another user cannot write
them; one that is root may. That reaches no other trial, no host and no record, whose loads are of what was
installed, and is told apart as the incident ``skills_changed``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspect_ai.util import OutputLimitExceededError, SandboxEnvironment

from workbench.core.digest import digest_bytes
from workbench.core.errors import InvalidTreatmentError, TrialError
from workbench.core.record import Installed
from workbench.evaluation.layout import Layout
from workbench.sandboxing.transfer import find_files, put_tree, tree_digests
from workbench.skills.skill import SkillFile, SkillTree

if TYPE_CHECKING:
    from workbench.sandboxing.providers.docker import DockerSandbox

SKILL_FILE = "SKILL.md"


@dataclass(frozen=True)
class Treatment:
    """One skill to install: pool id, folder name in the sandbox, and its files."""

    id: str
    folder: str
    tree: SkillTree


async def install(
    sandbox: SandboxEnvironment, layout: Layout, skills: Sequence[Treatment]
) -> tuple[Installed, ...]:
    """Write every skill, whole folder and byte-exact, into every place; then prove it.

    Raises:
        InvalidTreatmentError: the sandbox does not hold exactly `skills` afterwards.
    """
    files = {path: (file.data, file.executable) for path, file in _files(skills).items()}
    await put_tree(sandbox, files, layout.skills, user=layout.user)
    await prove(sandbox, layout, skills)
    return tuple(Installed(id=s.id, folder=s.folder, digest=s.tree.digest) for s in skills)


async def prove(sandbox: SandboxEnvironment, layout: Layout, skills: Sequence[Treatment]) -> None:
    """Raise InvalidTreatmentError unless the sandbox holds exactly `skills`."""
    expected = {path: (file.executable, file.digest) for path, file in _files(skills).items()}
    if expected:
        for place, found in (await tree_digests(sandbox, layout.skills)).items():
            _compare(place, expected, found)
    own = [path for path in expected if path.lower().endswith("/skill.md")]
    allowed = {f"{place}/{path}" for place in layout.skills for path in own}
    present = set(await find_files(sandbox, SKILL_FILE, layout.scan))
    _refuse("holds", "that the condition does not", present - allowed)
    _refuse("lacks", "of the condition", allowed - present)


def fingerprint(skills: Sequence[Treatment]) -> dict[str, str]:
    """Path below a place for skills -> sha256, for `changed`."""
    return {path: file.digest for path, file in _files(skills).items()}


async def changed(box: DockerSandbox, places: Sequence[str], files: Mapping[str, str]) -> bool:
    """Whether an installed file is gone or holds other bytes by now; new files beside it do not count.

    The engine reads, so that nothing which an agent has put in a program's place can answer. A container that
    is lost is for the verifier to find.
    """
    try:
        for place in places if files else ():
            found = await box.get_files(place)
            if any(path not in found or digest_bytes(found[path][0]) != files[path] for path in files):
                return True
    except (OSError, OutputLimitExceededError):
        return True
    except TrialError as error:
        return error.cause == "infra:transfer"
    return False


def _files(skills: Sequence[Treatment]) -> dict[str, SkillFile]:
    """Every file of every skill, by its path below a place for skills."""
    return {f"{s.folder}/{path}": file for s in skills for path, file in s.tree.files.items()}


def _refuse(verb: str, which: str, paths: set[str]) -> None:
    if paths:
        raise InvalidTreatmentError(f"the sandbox {verb} {len(paths)} SKILL.md {which}: {min(paths)}")


def _compare(
    place: str, expected: Mapping[str, tuple[bool, str]], found: Mapping[str, tuple[bool, str]]
) -> None:
    both = expected.keys() & found.keys()
    for kind, paths in (
        ("lacks", sorted(expected.keys() - found.keys())),
        ("also holds", sorted(found.keys() - expected.keys())),
        ("holds another version of", sorted(path for path in both if expected[path] != found[path])),
    ):
        if paths:
            raise InvalidTreatmentError(f"{place} {kind} {len(paths)} files: {paths[0]}")
