"""Skill workbench: does this router, with this skill pool, make this agent succeed more often?"""

__version__ = "0.1.0"
