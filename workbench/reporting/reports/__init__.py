"""One file per report."""
