"""Floor 1: ranked list + gold -> number. Pure; one file per metric."""
