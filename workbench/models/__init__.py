"""Floor 2: the LiteLLM model API for Inspect."""
