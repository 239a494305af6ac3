"""Runs a task's checks and writes the verdict: reward.txt and a CTRF report.

A check is a function without arguments that raises `Wrong` with a reason. Whatever the answer is
(nothing, a folder, a gigabyte, garbage), every check runs and a verdict is written.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import stat
import time
from pathlib import Path
from typing import Any, Callable, Sequence

MAX_BYTES = 256 * 1024
MAX_REASON = 300


class Wrong(Exception):
    """The answer is wrong; the message says how."""


def expect(holds: bool, reason: str) -> None:
    """Raise `Wrong` unless something holds."""
    if not holds:
        raise Wrong(reason)


def read_text(name: str) -> str:
    """The text of an answer file in the working directory (UTF-8, at most 256 kB)."""
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        raise Wrong(f"{name} was not written") from None
    expect(stat.S_ISREG(found.st_mode), f"{name} is not a file")
    expect(found.st_size <= MAX_BYTES, f"{name} is larger than {MAX_BYTES} bytes")
    try:
        return Path(name).read_bytes()[:MAX_BYTES].decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise Wrong(f"{name} is not UTF-8 text") from None


def read_json(name: str, kind: type) -> Any:
    """The value of a JSON answer file, which must be a `kind` (dict or list)."""
    try:
        value = json.loads(read_text(name))
    except (ValueError, RecursionError):
        raise Wrong(f"{name} is not JSON") from None
    expect(isinstance(value, kind), f"{name} must hold a {kind.__name__}")
    return value


def read_csv(name: str, header: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV answer file with exactly this header; cells are stripped."""
    text = read_text(name)
    try:
        lines = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]
    except csv.Error:
        raise Wrong(f"{name} is not CSV") from None
    expect(bool(lines) and lines[0] == list(header), f"{name} must start with the header {','.join(header)}")
    expect(all(len(row) == len(header) for row in lines), f"{name} has rows of another width than its header")
    return [dict(zip(header, row)) for row in lines[1:]]


def number(value: object) -> float:
    """A finite number, given as a JSON number or as text; nothing else counts."""
    try:
        expect(
            isinstance(value, (int, float, str)) and not isinstance(value, bool), f"{value!r} is not a number"
        )
        found = float(value)  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        raise Wrong(f"{value!r} is not a number") from None
    expect(math.isfinite(found), f"{value!r} is not a finite number")
    return found


def near(value: object, wanted: float, within: float) -> bool:
    """Whether a value is a number no further than `within` from the wanted one."""
    return abs(number(value) - wanted) <= within + 1e-9


def judge(checks: Sequence[Callable[[], None]], partial: bool = False) -> None:
    """Run the checks and write the verdict under ``$LOGS_DIR/verifier``.

    The reward is 1 when every check holds, else 0; with `partial`, the share that holds.
    """
    results = [_run(check) for check in checks]
    passed = sum(result["status"] == "passed" for result in results)
    reward = passed / len(results) if partial else float(passed == len(results))
    folder = Path(os.environ.get("LOGS_DIR") or "/logs") / "verifier"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ctrf.json").write_text(json.dumps(_ctrf(results, passed), indent=1), encoding="utf-8")
    (folder / "reward.txt").write_text(f"{reward:.4g}\n", encoding="utf-8")


def _run(check: Callable[[], None]) -> dict[str, Any]:
    started = time.monotonic()
    result: dict[str, Any] = {"name": check.__name__.replace("_", " "), "status": "passed"}
    try:
        check()
    except Exception as error:  # an answer nobody thought of is a wrong answer, not a lost verdict
        result["status"] = "failed"
        result["message"] = ascii(str(error) or type(error).__name__)[:MAX_REASON]
    result["duration"] = round((time.monotonic() - started) * 1000)
    print(f"{result['status']:6}  {result['name']}  {result.get('message', '')}".rstrip())
    return result


def _ctrf(results: list[dict[str, Any]], passed: int) -> dict[str, Any]:
    stop = round(time.time() * 1000)
    start = stop - sum(result["duration"] for result in results)
    counts = {"tests": len(results), "passed": passed, "failed": len(results) - passed}
    summary = {**counts, "pending": 0, "skipped": 0, "other": 0, "start": start, "stop": stop}
    return {
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "results": {"tool": {"name": "check.py"}, "summary": summary, "tests": results},
    }
