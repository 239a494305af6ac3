"""Floor 3: suite + routers + conditions -> Inspect task -> one joint record per trial."""
