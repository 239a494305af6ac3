"""Floor 1: reading SKILL.md files as found in the wild, and pools of skills."""
