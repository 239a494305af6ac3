"""One file per agent; every agent is a plain Inspect solver."""
