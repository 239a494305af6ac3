"""For programs: the summary as it is, with its schema version."""

from __future__ import annotations

import json

from workbench.reporting.report import Canvas
from workbench.reporting.schema import Summary


def render(summary: Summary, canvas: Canvas) -> str:
    """One JSON object, `schema.Summary`; what was not measured is null. ASCII, so that no pipe can spoil it."""
    del canvas
    return json.dumps(summary.model_dump(mode="json"), indent=2, allow_nan=False) + "\n"
