"""Floor 1: numbers -> interval, test, correction. Pure; the rng is an argument."""
