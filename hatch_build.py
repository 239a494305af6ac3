"""What the wheel holds besides the package: content folders, and the start-up line for ``inspect``.

An editable install gets the start-up line alone and reads content from the checkout.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CONTENT = ("pools", "routers", "tasks", "sandboxes", "results/published")
STARTUP = "workbench_inspect.pth"


class ContentHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds ``_content/`` and the ``.pth`` file to wheels."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling with ``standard`` or ``editable``."""
        if version == "editable":
            build_data["force_include_editable"][STARTUP] = STARTUP
            return
        build_data["force_include"][STARTUP] = STARTUP
        for name in CONTENT:
            build_data["force_include"][name] = f"workbench/_content/{name}"
