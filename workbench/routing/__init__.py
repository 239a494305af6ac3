"""Floor 2: (query, pool) -> ranking. `router.py` holds the protocol and its law."""
