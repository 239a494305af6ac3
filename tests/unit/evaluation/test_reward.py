"""A reward is one finite number in [0, 1]; anything else is a named error and never 0."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.errors import VerifierError
from workbench.evaluation.reward import check_ran, read_reward, read_tests, report_path


@pytest.mark.parametrize(
    ("text", "js", "reward"),
    [
        (b"1", None, 1.0),
        (b"0\n", None, 0.0),
        (b" 0.75 \n", None, 0.75),
        (b"1e-3", None, 0.001),
        (b".5", None, 0.5),
        (None, b'{"reward": 0.25}', 0.25),
        (None, b"1", 1.0),
        (None, b'{"accuracy": 1.0}', 1.0),
        (None, b'{"reward": 1, "detail": {"a": "b"}}', 1.0),
        (b"1", b'{"reward": 1.0}', 1.0),
        (b"", b'{"reward": 0.5}', 0.5),
    ],
)
def test_what_a_verifier_may_write(text: bytes | None, js: bytes | None, reward: float) -> None:
    assert read_reward(text, js) == reward


@pytest.mark.parametrize(
    ("text", "js", "cause"),
    [
        (None, None, "missing"),
        (b"", None, "missing"),
        (b"  \n", b"", "missing"),
        (b"1_0", None, "garbage"),
        (b"-0.5", None, "garbage"),
        (b"7", None, "garbage"),
        (b"nan", None, "garbage"),
        (b"inf", None, "garbage"),
        ("１".encode(), None, "garbage"),
        ("١".encode(), None, "garbage"),
        (b"1 1", None, "garbage"),
        (b"01", None, "garbage"),
        (b"+1", None, "garbage"),
        (b"1.", None, "garbage"),
        (b"\x0b1\x0c", None, "garbage"),
        (b"0x1", None, "garbage"),
        (b"1e999", None, "garbage"),
        (b"9" * 400, None, "garbage"),
        (b"1" + b" " * 5000, None, "garbage"),
        (b"\xff\xfe", None, "garbage"),
        (None, b"true", "garbage"),
        (None, b'{"reward": true}', "garbage"),
        (None, b'{"reward": "1"}', "garbage"),
        (None, b'{"reward": null}', "garbage"),
        (None, b'{"reward": NaN}', "garbage"),
        (None, b'{"reward": [1]}', "garbage"),
        (None, b'{"reward": 0, "reward": 1}', "garbage"),
        (None, b'{"a": 0, "b": 1}', "garbage"),
        (None, b"{}", "garbage"),
        (None, b"[" * 20000, "garbage"),
        (None, b'{"reward": 1', "garbage"),
        (b"1", b'{"reward": 0}', "conflict"),
    ],
)
def test_what_it_may_not(text: bytes | None, js: bytes | None, cause: str) -> None:
    with pytest.raises(VerifierError) as caught:
        read_reward(text, js)
    assert caught.value.cause == f"verifier_error:{cause}"


@given(st.binary(max_size=60), st.one_of(st.none(), st.binary(max_size=60)))
def test_no_bytes_raise_anything_untyped(text: bytes, js: bytes | None) -> None:
    with contextlib.suppress(VerifierError):
        assert 0.0 <= read_reward(text, js) <= 1.0


def test_per_test_results_come_from_ctrf_and_never_raise() -> None:
    tests = read_tests(b'{"results": {"tests": [{"name": "a", "status": "passed"}]}}')
    assert [(t.name, t.status) for t in tests] == [("a", "passed")]
    for broken in (None, b"", b"{}", b"[]", b'{"results": {"tests": 3}}', b"\xff"):
        assert read_tests(broken) == ()


SCRIPT = "pytest --ctrf /logs/verifier/report.json /tests/test_outputs.py -rA\n"
FAILED = b'{"results": {"tests": [{"name": "a", "status": "passed"}, {"name": "b", "status": "failed"}]}}'
PASSED = b'{"results": {"tests": [{"name": "a", "status": "passed"}]}}'
NONE = b'{"results": {"tests": []}}'
BEGAN = "=== test session starts ==="


def test_the_report_is_looked_for_where_the_script_has_it_written() -> None:
    assert report_path(SCRIPT) == "/logs/verifier/report.json"
    assert report_path("python3 /tests/check.py") is None


@pytest.mark.parametrize(
    ("reward", "report", "output", "code", "cause"),
    [
        (1.0, FAILED, BEGAN, 0, "inconsistent"),
        (1.0, PASSED, BEGAN, 1, "inconsistent"),
        (1.0, None, BEGAN, 137, "inconsistent"),
        (0.0, None, "test.sh: line 3: pytest: command not found", 0, "bootstrap"),
        (0.0, NONE, "==== no tests ran in 0.01s ====", 0, "bootstrap"),
        (0.0, b"{}", "no tests ran in 0.01s", 0, "bootstrap"),
    ],
)
def test_F47_F48_a_reward_that_no_test_gave_is_an_error(
    reward: float, report: bytes | None, output: str, code: int, cause: str
) -> None:
    with pytest.raises(VerifierError) as raised:
        check_ran(reward, SCRIPT, report, output, code)
    assert raised.value.cause == f"verifier_error:{cause}"


@pytest.mark.parametrize(
    ("reward", "script", "report", "output"),
    [
        (1.0, SCRIPT, None, BEGAN),
        (0.0, SCRIPT, FAILED, BEGAN),
        (0.0, SCRIPT, None, f"{BEGAN}\n1 error during collection"),
        (0.0, "python3 /tests/check.py", None, ""),
        (0.5, SCRIPT, FAILED, BEGAN),
    ],
    ids=["pass", "fail", "collection", "no-pytest", "partial"],
)
def test_an_honest_reward_is_believed(reward: float, script: str, report: bytes | None, output: str) -> None:
    check_ran(reward, script, report, output, 0)
    if reward < 1:
        check_ran(reward, script, report, output, 1)


@pytest.mark.parametrize("report", [None, NONE, FAILED], ids=["no-report", "empty", "failed"])
def test_F47_nothing_that_a_test_prints_turns_its_failure_into_an_exclusion(report: bytes | None) -> None:
    printed = "no tests ran in 0.01s\n==== no tests ran in 0.01s ====\npytest: command not found\n"
    check_ran(0.0, SCRIPT, report, f"{BEGAN}\n{printed}==== 1 failed, 2 passed in 0.10s ====\n{printed}", 1)
