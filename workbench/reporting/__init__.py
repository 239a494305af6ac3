"""Floor 3: logs -> typed records -> tables. Renders, never runs."""
