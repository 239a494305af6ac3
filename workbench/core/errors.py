"""The one exception tree, and the one table that says what each kind of failure means.

    WorkbenchError                  shown as one message, never as a traceback
    ├── UsageError                  the user can fix it by typing something else        exit 1
    │   ├── ContentError            a content file is wrong: file:line: key: what
    │   ├── UnknownNameError        a name nobody has; names the nearest match
    │   └── MissingDataError        data, weights or an index are not on this machine
    ├── GateError                   a check that was asked for did not hold              exit 2
    ├── MachineError                the machine lacks something (engine, disk, rights)   exit 3
    └── TrialError                  one trial went wrong; carries a `Cause`
        ├── InfrastructureError     build, start, engine, container lost
        ├── VerifierError           no valid reward could be read
        └── InvalidTreatmentError        the container does not hold the condition's skills

What a cause means for a trial (retried? scored? valid?) is decided in `POLICY` and nowhere
else; a cause that is not in the table is a bug in the harness and never a valid result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


class WorkbenchError(Exception):
    """Base of every error with a message for people. `exit_code` is what a command exits with."""

    exit_code = 1


class UsageError(WorkbenchError):
    """The user asked for something that cannot be; the message says what can."""


class ContentError(UsageError):
    """A content file (recipe, pool, suite, task) is wrong.

    The message has the form ``FILE:LINE: KEY: what is wrong; what is allowed``.
    """

    def __init__(self, file: object, line: int | None, what: str) -> None:
        self.file = str(file)
        self.line = line
        self.what = what
        place = self.file if line is None else f"{self.file}:{line}"
        super().__init__(f"{place}: {what}")


class UnknownNameError(UsageError):
    """A name that nobody has. Says the nearest match, or the whole list where it is short."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = sorted(known)
        shown = " ".join(name.split())
        message = f"unknown {kind} '{shown}'{suggestion(name, self.known)}"
        tail = f"{'' if message.endswith('?') else '.'} {hint}" if hint else ""
        super().__init__(message + tail)


class MissingDataError(UsageError):
    """Data, weights or an index are not on this machine; the message says what to type."""


class GateError(WorkbenchError):
    """A check that was asked for did not hold (oracle check, conformance, budget of rejects)."""

    exit_code = 2


class MachineError(WorkbenchError):
    """The machine lacks something: an engine, disk space, a right, a network."""

    exit_code = 3


class TrialError(WorkbenchError):
    """One trial went wrong. ``str()`` starts with the cause so that a log can be read by machines.

    Args:
        cause: a key of `POLICY`, e.g. ``infra:build``.
        detail: what was seen, for people.
    """

    exit_code = 4

    def __init__(self, cause: str, detail: str) -> None:
        self.cause = cause
        self.detail = detail
        super().__init__(f"[{cause}] {detail}")


class InfrastructureError(TrialError):
    """The machinery failed: build, start, engine, container lost. Never the agent's fault."""


class VerifierError(TrialError):
    """The verifier gave no reward that can be believed. Not the same as a reward of 0."""


class InvalidTreatmentError(TrialError):
    """The container does not hold exactly the condition's skills, so the trial proves nothing."""

    def __init__(self, detail: str) -> None:
        super().__init__("invalid_treatment", detail)


@dataclass(frozen=True)
class Policy:
    """What a cause means for the trial that it ended.

    Attributes:
        retry: worth running again, in a new container or once its reason is gone. The sample ends
            in an error, so that Inspect's ``eval-retry`` and ``eval-set`` run it again. Others are final.
        stops_run: further trials would fail alike, so none is started.
        score: the reward of the trial; ``None``, it is no valid result: it is excluded and has no score.
    """

    retry: bool
    stops_run: bool = False
    score: float | None = None

    @property
    def valid(self) -> bool:
        """Whether the trial counts as a result."""
        return self.score is not None


POLICY: dict[str, Policy] = {
    "infra:engine": Policy(retry=True),
    "infra:image": Policy(retry=True),
    "infra:build": Policy(retry=True),
    "infra:start": Policy(retry=True),
    "infra:sandbox_lost": Policy(retry=True),
    "infra:transfer": Policy(retry=True),
    "config:auth": Policy(retry=True, stops_run=True),
    "config:model": Policy(retry=True, stops_run=True),
    "config:router": Policy(retry=True, stops_run=True),
    "api": Policy(retry=True),
    "task:environment": Policy(retry=True),
    "task:unsupported": Policy(retry=False),
    "task:setup": Policy(retry=False),
    "verifier_error:missing": Policy(retry=False),
    "verifier_error:garbage": Policy(retry=False),
    "verifier_error:conflict": Policy(retry=False),
    "verifier_error:bootstrap": Policy(retry=False),
    "verifier_error:inconsistent": Policy(retry=False),
    "verifier_error:resource": Policy(retry=False),
    "verifier_timeout": Policy(retry=False),
    "tamper": Policy(retry=False),
    "agent_resource": Policy(retry=False, score=0.0),
    "agent_damage": Policy(retry=False, score=0.0),
    "invalid_treatment": Policy(retry=True, stops_run=True),
    "stopped": Policy(retry=True),
    "cancelled": Policy(retry=True),
    "harness_bug": Policy(retry=True),
}
"""Every cause that ends a trial before a verifier has judged it (docs: README, "What counts").

``agent_resource``: the agent used up its container, by the engine's own account, so nothing is left to
judge. That is its failure and scored so; a container lost for any other reason is ``infra:sandbox_lost``.
``agent_damage``: no container can be made of what the agent left, while one of the image can.
"""


def as_trial_error(error: WorkbenchError, cause: str) -> TrialError:
    """A failure of one trial: with its own cause where it has one, else `cause`."""
    return error if isinstance(error, TrialError) else TrialError(cause, str(error))


def policy(cause: str) -> Policy:
    """The policy of a cause; an unknown cause has that of ``harness_bug``."""
    return POLICY.get(cause, POLICY["harness_bug"])


_REPR = re.compile(r"\w+\((?P<text>(['\"]).*\2),?\)", re.DOTALL)
_CAUSE = re.compile(r"\[(?P<cause>[a-z_]+(?::[a-z_]+)?)\] ?(?P<detail>.*)", re.DOTALL)


def read_fault(message: str) -> tuple[str, str]:
    """(cause, detail) of an error as a log holds it: our message, or the repr of its exception.

    An error that does not name a cause of `POLICY` is a ``harness_bug``.
    """
    text = message
    if wrapped := _REPR.fullmatch(message):
        try:
            text = str(ast.literal_eval(wrapped["text"]))
        except (SyntaxError, ValueError):
            text = message
    found = _CAUSE.fullmatch(text)
    if found is None or found["cause"] not in POLICY:
        return "harness_bug", message
    return found["cause"], found["detail"]


def suggestion(name: str, known: Iterable[str], limit: int = 12, *, both: bool = False) -> str:
    """The tail of a message about an unknown name: nearest match, else what there is; or `both`."""
    names = sorted(set(known))
    if not names:
        return "; there is none"
    listed = ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    if not close:
        return f"; there are: {listed}"
    return f"; did you mean '{close[0]}'?" + (f" There are: {listed}" if both else "")
