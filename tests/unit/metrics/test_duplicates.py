"""Copies of a gold skill: wrong by the letter, right when equal skills are one."""

from __future__ import annotations

from workbench.metrics.duplicates import merge, same_text_groups
from workbench.metrics.scoring import Relevance, judge, score

POOL = {"pdf-a", "pdf-b", "other"}
GROUPS = same_text_groups([("pdf-b", "Read PDF files\n"), ("pdf-a", "Read PDF files"), ("other", "Draw")])


def test_a_copy_of_the_gold_skill_is_a_miss_and_a_merged_hit() -> None:
    judged = judge(["pdf-b", "other"], Relevance(("pdf-a",)), POOL)
    assert score(judged)["Hit@1"] == 0.0
    assert score(merge(judged, GROUPS))["Hit@1"] == 1.0


def test_a_group_returned_twice_counts_once_and_keeps_its_best_place() -> None:
    judged = merge(judge(["other", "pdf-b", "pdf-a"], Relevance(("pdf-a", "pdf-b")), POOL), GROUPS)
    assert judged.ranking == ("other", "pdf-a")
    assert score(judged)["Recall@10"] == 1.0


def test_a_group_has_the_best_grade_of_its_members() -> None:
    judged = judge([], Relevance(("pdf-a",), {"pdf-a": 1, "pdf-b": 3}), POOL)
    assert merge(judged, GROUPS).grades == {"pdf-a": 3.0}


def test_groups_do_not_depend_on_the_order_of_reading() -> None:
    texts = [("c", "x"), ("a", "x"), ("b", "y")]
    assert same_text_groups(texts) == same_text_groups(texts[::-1]) == {"a": "a", "b": "b", "c": "a"}


def test_skills_without_text_are_equal_to_none() -> None:
    assert same_text_groups([("a", ""), ("b", " \n")]) == {"a": "a", "b": "b"}
