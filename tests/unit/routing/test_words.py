"""What counts as a word."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.routing.words import MAX_WORD, Vocabulary, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Extract PDF tables!", ["extract", "pdf", "tables"]),
        (
            "mesh_analysis mesh-analysis MeshAnalysis",
            ["mesh", "analysis", "mesh", "analysis", "meshanalysis"],
        ),
        ("naïve café — résumé", ["naïve", "café", "résumé"]),
        ("cafe\u0301", ["café"]),
        ("ｆｕｌｌｗｉｄｔｈ", ["fullwidth"]),
        ("表格处理", ["表格", "格处", "处理"]),
        ("用python处理", ["用", "python", "处理"]),
        ("データ 분석", ["デー", "ータ", "분석"]),
        ("done ✅ → next", ["done", "next"]),
        ("डेटा को साफ़ करें", ["डेटा", "को", "साफ़", "करें"]),
        ("ตารางข้อมูล", ["ตารางข้อมูล"]),
        ("தரவு அட்டவணை", ["தரவு", "அட்டவணை"]),
        ("x\u0304 and ❤\ufe0f", ["x\u0304", "and"]),
        ("", []),
        ("!!! ... ---", []),
        ("broken \ud800 text", ["broken", "text"]),
    ],
)
def test_text_is_split_into_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=0x2DFF), max_size=60))
def test_both_ways_of_splitting_agree(text: str) -> None:
    plain = unicodedata.normalize("NFKC", text).lower()
    shape = "".join("m" if unicodedata.category(at)[0] == "M" else _kind(at) for at in plain)
    assert words(text) == [plain[found.start() : found.end()] for found in re.finditer("w[wm]*", shape)]


def _kind(character: str) -> str:
    return "w" if re.match(r"[^\W_]", character) else "-"


def test_what_is_not_indexed_has_no_number() -> None:
    vocabulary = Vocabulary(stop_words=["the"])
    assert vocabulary.numbers(f"the a x 1 {'h' * (MAX_WORD + 1)} 表") == [vocabulary["表"]]


def test_words_of_one_stem_share_a_number() -> None:
    vocabulary = Vocabulary(stem=lambda word: word.removesuffix("s"))
    assert vocabulary.numbers("table tables chart table") == [0, 0, 1, 0]
    assert list(vocabulary.terms) == ["table", "chart"]


def test_a_closed_vocabulary_learns_nothing() -> None:
    vocabulary = Vocabulary(["table"], closed=True)
    assert vocabulary.numbers("table of unknown words") == [0]
    assert list(vocabulary.terms) == ["table"]
    assert not dict(vocabulary)
