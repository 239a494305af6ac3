"""What a trial's steps tell each other. It is kept in this process; the log gets the joint record."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.core.record import Bound, Exposure, Load, RouteInfo

CUSTOM = "custom"
"""Agent of a trial that was run by somebody else's solver; reports name it from the log."""

ROUTE = "TrialState:route"
"""Where a sample's store holds the route, for reports of trials that end before they are scored."""


@dataclass
class TrialState:
    """One trial, from routing to verification. Each step fills in its part.

    Attributes:
        fault: why the trial is excluded although its sample did not end in an error.
        route: set by the setup before anything is installed.
        exposure: what was installed; the agent adds what it was shown.
        places: folders that hold the skills; `skill_files` what they held: path below one -> sha256.
        loads: loads reported as they happened.
        agent: name of the agent that ran; `blind` when it is shown nothing by design.
        incidents: what happened on the way that does not change the score, each once.
        sandbox, image: provider and image of the trial's sandbox; `notes` what of it differs from
            what the task asked for; `limits` what it is held to.
    """

    route: RouteInfo | None = None
    exposure: Exposure | None = None
    places: list[str] = field(default_factory=list)
    skill_files: dict[str, str] = field(default_factory=dict)
    loads: list[Load] = field(default_factory=list)
    agent: str = CUSTOM
    blind: bool = False
    incidents: list[str] = field(default_factory=list)
    sandbox: str = ""
    image: str | None = None
    notes: list[str] = field(default_factory=list)
    limits: list[Bound] = field(default_factory=list)
    fault: str = ""
    setup_seconds: float | None = None
    setup_ended: float | None = None
    agent_seconds: float | None = None

    def incident(self, name: str) -> None:
        """Report something that happened."""
        if name not in self.incidents:
            self.incidents.append(name)
