"""The reward grammar: what a verifier may write, and what is an error rather than a 0.

A verifier writes ``/logs/verifier/reward.txt`` (one number) or ``reward.json`` (a number, an object with
a ``reward``, or one with a single number under any name, as Harbor takes it). Accepted is one finite
decimal number in [0, 1] in ASCII. Where both files exist they must agree. Anything else is a named error:
a missing reward is not 0.
"""

from __future__ import annotations

import json
import re
from typing import Any

from workbench.core.errors import VerifierError
from workbench.core.record import TestCase

MAX_TEXT = 4 * 1024
MAX_JSON = 64 * 1024
MAX_TESTS = 2_000

_REPORT = re.compile(r"--ctrf[= ]\s*[\"']?(?P<path>/[\w./-]+)")
_SESSION = "test session starts"
_CUT = "bytes of output left out"
_NO_TESTS = re.compile(r"^(?:=+ )?no tests ran in ", re.MULTILINE)
_RAN = re.compile(r"^=* ?.*\b\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed)\b.* in \d", re.MULTILINE)
_NUMBER = re.compile(r"((0|[1-9]\d*)(\.\d+)?|\.\d+)([eE][+-]?\d{1,3})?")


def read_reward(text: bytes | None, js: bytes | None) -> float:
    """The reward of a trial from the bytes of the two files (``None``: the file is not there).

    Raises:
        VerifierError: ``verifier_error:missing``, ``:garbage`` or ``:conflict``.
    """
    found = [value for value in (_from_text(text), _from_json(js)) if value is not None]
    if not found:
        raise VerifierError("verifier_error:missing", "the verifier wrote no reward.txt and no reward.json")
    if max(found) - min(found) > 1e-9:
        raise VerifierError(
            "verifier_error:conflict", f"reward.txt says {found[0]}, reward.json says {found[1]}"
        )
    return found[0]


def _from_text(data: bytes | None) -> float | None:
    if data is None or not data.strip():
        return None
    if len(data) > MAX_TEXT:
        raise _garbage("reward.txt", f"{len(data)} bytes, at most {MAX_TEXT} are read")
    try:
        return _number(data.decode("ascii").strip(" \t\r\n"), "reward.txt")
    except UnicodeDecodeError:
        raise _garbage("reward.txt", "not ASCII") from None


def _from_json(data: bytes | None) -> float | None:
    if data is None or not data.strip():
        return None
    if len(data) > MAX_JSON:
        raise _garbage("reward.json", f"{len(data)} bytes, at most {MAX_JSON} are read")
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_no_repeats, parse_float=_Literal, parse_int=_Literal
        )
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise _garbage("reward.json", f"not JSON ({type(error).__name__})") from None
    if isinstance(value, dict):
        if "reward" not in value and len(value) != 1:
            raise _garbage("reward.json", "has no key 'reward'")
        value = value.get("reward", next(iter(value.values()), None))
    if not isinstance(value, _Literal):
        raise _garbage("reward.json", "the reward is not a number")
    return _number(value, "reward.json")


class _Literal(str):
    """A JSON number as it was written, so that one grammar checks both files."""

    __slots__ = ()


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _number(written: str, file: str) -> float:
    if _NUMBER.fullmatch(written) is None:
        raise _garbage(file, f"{written[:40]!r} is not a number in [0, 1]")
    value = float(written)
    if not 0.0 <= value <= 1.0:
        raise _garbage(file, f"{written[:40]} is not in [0, 1]")
    return value


def _garbage(file: str, what: str) -> VerifierError:
    return VerifierError("verifier_error:garbage", f"{file}: {what}")


def report_path(script: str) -> str | None:
    """Where a test.sh has its test runner write a CTRF report, ``None`` where it asks for none."""
    found = _REPORT.search(script)
    return None if found is None else found["path"]


def check_ran(reward: float, script: str, report: bytes | None, output: str, code: int) -> None:
    """A reward is believed only when tests gave it; a test.sh writes 0 also when its runner did not start.

    A 1 is refused where test.sh failed, or where the report lists failed tests. A 0 is refused where the
    report that test.sh asks for is missing and no session of pytest began, and where pytest found no test
    to run. Tests may print what they like, so nothing that is printed turns a 0 of tests that ran into
    another outcome.

    Args:
        code: exit code of test.sh, by the engine.

    Raises:
        VerifierError: ``verifier_error:inconsistent`` or ``:bootstrap``.
    """
    tests = read_tests(report)
    if reward >= 1.0:
        failed = [test.name for test in tests if test.status == "failed"]
        if failed:
            raise _inconsistent(f"{len(failed)} tests failed: {failed[0]}")
        if code != 0:
            raise _inconsistent(f"test.sh failed with exit code {code}")
        return
    if reward > 0.0 or tests:
        return
    expected = report_path(script)
    if report is None and expected is not None and _SESSION not in output and _CUT not in output:
        said = f"the reward is 0, but no test ran: {expected} was not written"
        raise VerifierError("verifier_error:bootstrap", said)
    if _NO_TESTS.search(output) and not _RAN.search(output):
        raise VerifierError("verifier_error:bootstrap", "the reward is 0, but pytest found no test to run")


def _inconsistent(what: str) -> VerifierError:
    return VerifierError("verifier_error:inconsistent", f"the reward is 1, and {what}")


def read_tests(ctrf: bytes | None) -> tuple[TestCase, ...]:
    """Per-test results from a CTRF report (https://ctrf.io); empty when there is none that can be read.

    They explain a reward and never change it, so nothing here raises.
    """
    if ctrf is None:
        return ()
    try:
        tests = json.loads(ctrf.decode("utf-8", "replace"))["results"]["tests"]
        return tuple(
            TestCase(name=str(t["name"])[:200], status=str(t["status"])[:20]) for t in tests[:MAX_TESTS]
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()
