"""What a trial's steps tell each other, kept in Inspect's sample store (ids and digests only)."""

from __future__ import annotations

from inspect_ai.util import StoreModel
from pydantic import Field

from workbench.core.record import Exposure, Load, RouteInfo


class TrialState(StoreModel):
    """One trial, from routing to verification. Each step fills in its part.

    Attributes:
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
    agent: str = "custom"
    blind: bool = False
    incidents: list[str] = Field(default_factory=list)
    sandbox: str = ""
    image: str | None = None
    notes: list[str] = Field(default_factory=list)
    setup_seconds: float | None = None
    agent_seconds: float | None = None
