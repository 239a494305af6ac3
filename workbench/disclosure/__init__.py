"""Floor 2: ranking -> what the agent sees. One file per way of showing skills."""
