"""What a trial's steps tell each other, kept in Inspect's sample store (ids and digests only)."""

from __future__ import annotations

from inspect_ai.util import StoreModel
from pydantic import Field

from workbench.core.record import Exposure, Load, RouteInfo

CUSTOM = "custom"
"""Agent of a trial that was run by somebody else's solver; reports name it from the log."""


class TrialState(StoreModel):
    """One trial, from routing to verification. Each step fills in its part.

    Attributes:
        fault: why the trial is excluded although its sample did not end in an error.
        route: set by the setup before anything is installed.
        exposure: what was installed; the agent adds what it was shown.
        loads: loads reported as they happened.
        agent: name of the agent that ran; `blind` when it is shown nothing by design.
        incidents: what happened on the way that does not change the score.
        sandbox, image: provider and image of the trial's sandbox; `notes` what of it differs from
            what the task asked for.
    """

    route: RouteInfo | None = None
    exposure: Exposure | None = None
    places: list[str] = Field(default_factory=list)
    loads: list[Load] = Field(default_factory=list)
    agent: str = CUSTOM
    blind: bool = False
    incidents: list[str] = Field(default_factory=list)
    sandbox: str = ""
    image: str | None = None
    notes: list[str] = Field(default_factory=list)
    fault: str = ""
    setup_seconds: float | None = None
    setup_ended: float | None = None
    agent_seconds: float | None = None
