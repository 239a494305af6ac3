"""Installing a condition's skills into a sandbox, and proving before the first model call that
the sandbox holds exactly these and nothing else.

A no-skill sandbox must hold no SKILL.md anywhere; any other must hold, in every place, exactly
the routed trees, file by file by digest, and no SKILL.md elsewhere. A trial whose treatment
cannot be proven shows nothing and stops the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspect_ai.util import SandboxEnvironment

from workbench.core.errors import InvalidTreatmentError
from workbench.core.record import Installed
from workbench.evaluation.layout import Layout
from workbench.sandboxing.transfer import find_files, put_tree, tree_digest
from workbench.skills.skill import SkillTree

SKILL_FILE = "SKILL.md"


@dataclass(frozen=True)
class Treatment:
    """One skill to install: pool id, folder name in the sandbox, and its files."""

    id: str
    folder: str
    tree: SkillTree


async def install(sandbox: SandboxEnvironment, layout: Layout, skills: Sequence[Treatment]) -> tuple[Installed, ...]:
    """Write every skill, whole folder and byte-exact, into every place; then prove it.

    Raises:
        InvalidTreatmentError: the sandbox does not hold exactly `skills` afterwards.
    """
    files = {f"{s.folder}/{path}": (f.data, f.executable) for s in skills for path, f in s.tree.files.items()}
    if files:
        for place in layout.skills:
            await put_tree(sandbox, files, place, user=layout.user)
    await prove(sandbox, layout, skills)
    return tuple(Installed(id=s.id, folder=s.folder, digest=s.tree.digest) for s in skills)


async def prove(sandbox: SandboxEnvironment, layout: Layout, skills: Sequence[Treatment]) -> None:
    """Raise InvalidTreatmentError unless the sandbox holds exactly `skills`."""
    expected = {f"{s.folder}/{path}": (f.executable, f.digest) for s in skills for path, f in s.tree.files.items()}
    if expected:
        for place in layout.skills:
            found = await tree_digest(sandbox, place, user=layout.user)
            _compare(place, expected, found)
    allowed = {
        f"{place}/{path}" for place in layout.skills for path in expected if path.lower().endswith("/skill.md")
    }
    present = set(await find_files(sandbox, SKILL_FILE, layout.scan, user=layout.user))
    if extra := sorted(present - allowed):
        raise InvalidTreatmentError(f"the sandbox holds {len(extra)} SKILL.md that the condition does not: {extra[0]}")
    if missing := sorted(allowed - present):
        raise InvalidTreatmentError(f"the sandbox lacks {len(missing)} SKILL.md of the condition: {missing[0]}")


def _compare(
    place: str, expected: Mapping[str, tuple[bool, str]], found: Mapping[str, tuple[bool, str]]
) -> None:
    for kind, paths in (
        ("lacks", sorted(expected.keys() - found.keys())),
        ("also holds", sorted(found.keys() - expected.keys())),
        ("holds another version of", sorted(p for p in expected.keys() & found.keys() if expected[p] != found[p])),
    ):
        if paths:
            raise InvalidTreatmentError(f"{place} {kind} {len(paths)} files: {paths[0]}")
