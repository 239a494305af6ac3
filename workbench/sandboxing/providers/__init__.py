"""One file per sandbox provider."""
