"""What counts as a load, and where a failed trial lost its gold skills."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.core.record import Installed
from workbench.evaluation.funnel import stage
from workbench.evaluation.layout import HOME
from workbench.evaluation.loads import Call, detect

INSTALLED = [
    Installed(id="gt/mesh", folder="mesh", digest="d"),
    Installed(id="oc/mesh-2", folder="mesh-2", digest="e"),
]
PLACES = (f"{HOME}/.claude/skills", "/app/skills")


def seen(command: str, tool: str = "bash") -> list[tuple[str, str, str]]:
    call = Call(turn=3, tool=tool, arguments={"command": command})
    return [(load.id, load.tier, load.via) for load in detect([call], INSTALLED, PLACES)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"cat {HOME}/.claude/skills/mesh/SKILL.md", [("gt/mesh", "body", "shell")]),
        ("cat ~/.claude/skills/mesh/skill.md | head", [("gt/mesh", "body", "shell")]),
        ("cat $HOME/.claude/skills/mesh-2/SKILL.md", [("oc/mesh-2", "body", "shell")]),
        ("python3 /app/skills/mesh/scripts/run.py a.stl", [("gt/mesh", "file", "shell")]),
        (f"cd {HOME} && cat '.claude/skills/mesh/SKILL.md'", [("gt/mesh", "body", "shell")]),
        (
            f"cat {HOME}/.claude/skills/*/SKILL.md",
            [("gt/mesh", "body", "shell"), ("oc/mesh-2", "body", "shell")],
        ),
        (f"cat {HOME}/.claude/skills/mesh-[0-9]/SKILL.md", [("oc/mesh-2", "body", "shell")]),
        (f"cd {HOME}/.claude/skills/mesh && cat SKILL.md", [("gt/mesh", "body", "shell")]),
        (f"cd {HOME}/.claude/skills; cd mesh; python3 scripts/run.py", [("gt/mesh", "file", "shell")]),
        (f"cd {HOME}/.claude/skills && cat mesh/SKILL.md", [("gt/mesh", "body", "shell")]),
        ("cd /app && cat SKILL.md", []),
        ("cat ./.claude/skills/mesh/./SKILL.md", [("gt/mesh", "body", "shell")]),
        (f"ls {HOME}/.claude/skills", []),
        (f"ls {HOME}/.claude/skills/mesh", []),
        (f"cat {HOME}/other/mesh/SKILL.md", []),
        (f"cat {HOME}/.claude/skills/meshes/SKILL.md", []),
        (
            f"cat {HOME}/.claude/skills/mesh/SKILL.md; cat {HOME}/.claude/skills/mesh/SKILL.md",
            [("gt/mesh", "body", "shell")],
        ),
    ],
)
def test_paths_in_commands_are_loads(command: str, expected: list[tuple[str, str, str]]) -> None:
    assert seen(command) == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "loaded"),
    [
        ("Skill", {"command": "mesh"}, ["gt/mesh"]),
        ("skill", {"command": "project:mesh-2"}, ["oc/mesh-2"]),
        ("Skill", {"command": "meshes"}, []),
        ("note", {"text": "mesh"}, []),
    ],
)
def test_an_agents_own_skill_tool_loads_what_it_names(
    tool: str, arguments: dict[str, Any], loaded: list[str]
) -> None:
    loads = detect([Call(2, tool, arguments)], INSTALLED, PLACES)
    assert [(load.id, load.tier, load.via) for load in loads] == [(i, "body", "tool") for i in loaded]


def test_paths_in_python_code_and_nested_arguments_count_too() -> None:
    assert seen("open('/app/skills/mesh/ref.md')", "python") == [("gt/mesh", "file", "python")]
    nested: dict[str, Any] = {"a": [{"b": "/app/skills/mesh/SKILL.md"}], "n": 3}
    assert [load.tier for load in detect([Call(1, "x", nested)], INSTALLED, PLACES)] == ["body"]


def test_nothing_installed_is_nothing_loaded() -> None:
    assert detect([Call(1, "bash", {"command": "cat /app/skills/mesh/SKILL.md"})], [], PLACES) == []


@pytest.mark.parametrize(
    ("reward", "in_pool", "routed", "shown", "loaded", "expected"),
    [
        (1.0, "", "", "", "", "passed"),
        (0.0, "a", "ab", "ab", "ab", "not_in_pool"),
        (0.0, "ab", "a", "ab", "ab", "not_routed"),
        (0.0, "ab", "abc", "a", "ab", "not_shown"),
        (0.0, "ab", "abc", "abc", "a", "not_loaded"),
        (0.5, "ab", "abc", "abc", "abc", "failed"),
        (0.0, "ab", "ab", None, None, "failed"),
    ],
)
def test_a_trial_stands_at_the_first_stage_that_lost_a_gold_skill(
    reward: float, in_pool: str, routed: str, shown: str | None, loaded: str | None, expected: str
) -> None:
    assert stage(reward, gold="ab", in_pool=in_pool, routed=routed, shown=shown, loaded=loaded) == expected
