"""Floor 2: images built and pinned, containers started and cleaned up."""
