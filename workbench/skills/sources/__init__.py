"""One file per kind of pool source; the protocol is in `workbench.skills.source`."""
