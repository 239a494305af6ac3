"""What loads amount to: precision, recall, distractors, unused gold, first turn, files, exactness."""

from __future__ import annotations

from workbench.core.record import Exposure, Load
from workbench.evaluation.use import use_of

BODY = Load(id="gold", tier="body", via="tool", turn=3)
OTHER = Load(id="other", tier="body", via="tool", turn=1)
FILE = Load(id="gold", tier="file", via="shell", evidence="scripts/run.py", turn=5)


def exposed(*loads: Load, blind: bool = False) -> Exposure:
    return Exposure(disclosure="progressive", routed=("gold", "spare", "other"), loads=loads, blind=blind)


def test_loads_are_held_against_gold_and_against_what_was_given() -> None:
    use = use_of(exposed(OTHER, BODY, FILE), ["gold", "spare", "lost"])
    assert use is not None
    assert (use.precision, use.recall) == (0.5, 1 / 3)
    assert (use.distractors, use.unused_gold) == (("other",), ("spare",))
    assert (use.first_turn, use.first_gold_turn) == (1, 3)
    assert use.files == ("gold",)
    assert not use.exact


def test_nothing_loaded_is_a_recall_of_zero_and_no_precision() -> None:
    use = use_of(exposed(), ["gold"])
    assert use is not None
    assert (use.precision, use.recall, use.first_turn, use.unused_gold) == (None, 0.0, None, ("gold",))
    assert use.exact


def test_without_gold_there_is_no_recall() -> None:
    use = use_of(exposed(OTHER), [])
    assert use is not None
    assert (use.precision, use.recall) == (0.0, None)


def test_what_could_not_be_observed_is_not_measured() -> None:
    assert use_of(exposed(BODY, blind=True), ["gold"]) is None
