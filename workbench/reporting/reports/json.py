"""For programs: the summary as it is, with its schema version."""

from __future__ import annotations

import json

from workbench.reporting.report import Canvas
from workbench.reporting.schema import Summary


def render(summary: Summary, canvas: Canvas) -> str:
    """One JSON object, `schema.Summary`, in ASCII that no pipe can spoil; what was not measured is null."""
    del canvas
    return json.dumps(summary.model_dump(mode="json"), indent=2, allow_nan=False) + "\n"
