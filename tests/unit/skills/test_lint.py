"""The specification's rules, each with a skill that breaks just that one."""

from __future__ import annotations

import pytest

from workbench.skills.lint import spec_findings
from workbench.skills.reader import read_skill
from workbench.skills.skill import Skill, SkillFile, SkillTree


def breaches(head: str, folder: str = "demo") -> list[str]:
    data = f"---\n{head}---\n\nbody\n".encode()
    read = read_skill(data, folder)
    skill = Skill("id", read.name, read.description, read.body, folder, "")
    return [finding.rule for finding in spec_findings(skill, SkillTree({"SKILL.md": SkillFile(data)}))]


GOOD = "name: demo\ndescription: x\n"


def test_a_skill_that_keeps_the_specification_has_no_findings() -> None:
    every_key = "license: MIT\ncompatibility: any\nallowed-tools: Read Bash\nmetadata:\n  author: me\n"
    assert breaches(GOOD + every_key) == []


@pytest.mark.parametrize(
    ("head", "rule"),
    [
        ("name: demo\ndescription: a: b\n", "frontmatter"),
        ('name: demo\ndescription: ""\n', "description_length"),
        (f"name: demo\ndescription: {'x' * 1025}\n", "description_length"),
        (GOOD + "version: 1\n", "unknown_key"),
        (GOOD + "metadata: [a]\n", "metadata_form"),
        (GOOD + "metadata: {a: {b: c}}\n", "metadata_form"),
        (GOOD + "allowed-tools: [Read]\n", "allowed_tools_form"),
        (GOOD + f"compatibility: {'x' * 501}\n", "compatibility_length"),
    ],
)
def test_each_rule_is_reported_alone(head: str, rule: str) -> None:
    assert breaches(head) == [rule]


@pytest.mark.parametrize("name", ["Demo", "a_b", "-a", "a-", "a--b", "é", "a b"])
def test_names_have_one_form(name: str) -> None:
    assert breaches(f"name: '{name}'\ndescription: x\n", folder=name) == ["name_form"]


def test_a_name_is_the_folders_name_and_not_too_long() -> None:
    assert breaches(GOOD, folder="other") == ["name_differs_from_folder"]
    assert breaches(f"name: {'x' * 65}\ndescription: y\n", folder="x" * 65) == ["name_length"]
