"""Floor 2: task folders -> typed tasks. `formats/` holds one file per format."""
