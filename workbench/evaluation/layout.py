"""Where things lie in a sandbox. Harbor's places in a container; a hidden folder in `local`.

    CONTAINER                          LOCAL (Inspect's local sandbox: a temporary folder)
      /tests                             <folder>/.trial/tests
      /solution                          <folder>/.trial/solution
      /logs/verifier/reward.txt          <folder>/.trial/logs/verifier/reward.txt
      the image's places for skills      <folder>/.claude/skills
      the image's WORKDIR                <folder>

In `local` nothing may be written outside the folder, so scripts learn the places from
``TESTS_DIR``, ``LOGS_DIR`` and ``SKILLS_DIR``, which default to the container's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

HOME = "/root"
"""The home folder of a container's root, in which agents look for skills."""


@dataclass(frozen=True)
class Layout:
    """Absolute places in one sandbox.

    Attributes:
        skills: every folder that holds the condition's skills; the first is told to agents.
        scan: where SKILL.md files are looked for when the treatment is proven.
        user: who sets up and verifies; ``None`` is the sandbox's default user.
        env: variables that scripts need here.
    """

    tests: str
    solution: str
    logs: str
    skills: tuple[str, ...]
    scan: str
    user: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def reward_txt(self) -> str:
        """The verifier's number."""
        return f"{self.logs}/verifier/reward.txt"

    @property
    def reward_json(self) -> str:
        """The verifier's other way of writing it."""
        return f"{self.logs}/verifier/reward.json"

    @property
    def ctrf(self) -> str:
        """Per-test report."""
        return f"{self.logs}/verifier/ctrf.json"


def container_layout(skills: tuple[str, ...]) -> Layout:
    """Harbor's places; `skills` are those the image's Dockerfile copies skills to."""
    return Layout(
        tests="/tests",
        solution="/solution",
        logs="/logs",
        skills=skills or (f"{HOME}/.claude/skills",),
        scan="/",
        user="root",
    )


def local_layout(root: str) -> Layout:
    """Places below `root`, the absolute path of the local sandbox's temporary folder."""
    hidden = f"{root}/.trial"
    skills = f"{root}/.claude/skills"
    return Layout(
        tests=f"{hidden}/tests",
        solution=f"{hidden}/solution",
        logs=f"{hidden}/logs",
        skills=(skills,),
        scan=root,
        env={
            "TESTS_DIR": f"{hidden}/tests",
            "LOGS_DIR": f"{hidden}/logs",
            "SKILLS_DIR": skills,
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    )
