"""Stopping a run: after a failure that makes further trials pointless, none is started.

Inspect has no way to end a run from a sample and keep what was finished, so trials that come
after are refused in their setup, before anything is spent, with the reason. They are excluded
as ``stopped``, and ``inspect eval-retry`` runs them once the reason is gone.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from workbench.core.errors import TrialError, policy
from workbench.core.terminal import safe


@dataclass
class Guard:
    """Shared by all trials of one evaluation."""

    reason: str | None = None

    def check(self) -> None:
        """Raise TrialError ``stopped`` once the run has been stopped."""
        if self.reason is not None:
            raise TrialError("stopped", f"not started, because the run was stopped: {self.reason}")

    def saw(self, error: TrialError, where: str) -> None:
        """Take note of a trial's failure; stop the run where its cause says so."""
        if self.reason is None and policy(error.cause).stops_run:
            self.reason = f"{error.cause} in {where}"
            sys.stderr.write(
                f"skill-workbench: no further trials are started: {safe(str(error), 500)} ({where})\n"
            )
