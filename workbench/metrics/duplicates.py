"""Metrics that take equal skills for one.

Community pools hold copies: the same text under several ids. A router that returns the copy of
a gold skill is wrong by the letter. Next to the strict score stands the score after every group
of equal skills has been merged into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.core.digest import digest_text
from workbench.metrics.metric import Judged, dedupe


def same_text_groups(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Id -> the first id, in id order, that has the same text; surrounding blanks do not count.

    Args:
        texts: (id, text); skills with an empty text are equal to none.
    """
    digests = {skill: digest_text(text.strip()) if text.strip() else skill for skill, text in texts}
    first: dict[str, str] = {}
    return {skill: first.setdefault(digests[skill], skill) for skill in sorted(digests)}


def merge(judged: Judged, groups: Mapping[str, str]) -> Judged:
    """`judged` with every id replaced by its group; a group keeps its best place and its best grade."""
    grades: dict[str, float] = {}
    for skill, grade in judged.grades.items():
        group = groups.get(skill, skill)
        grades[group] = max(grade, grades.get(group, 0.0))
    return Judged(
        ranking=dedupe([groups.get(skill, skill) for skill in judged.ranking]),
        gold=frozenset(groups.get(skill, skill) for skill in judged.gold),
        grades=grades,
    )
