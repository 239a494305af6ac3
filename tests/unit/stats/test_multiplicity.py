"""Holm and Benjamini-Hochberg, by hand and against statsmodels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from workbench.stats.multiplicity import benjamini_hochberg, holm


def test_values_worked_by_hand() -> None:
    p_values = [0.01, 0.04, 0.03, 0.005]
    assert holm(p_values) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert benjamini_hochberg(p_values) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert holm([]) == benjamini_hochberg([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=20)
def test_both_agree_with_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))
    assert benjamini_hochberg(p_values) == pytest.approx(list(multipletests(p_values, method="fdr_bh")[1]))


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="p values"):
        holm([0.5, bad])
