"""Content digests. One canonical form, so that equal things have equal names everywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any


def digest_bytes(data: bytes) -> str:
    """sha256 of bytes, hex."""
    return hashlib.sha256(data).hexdigest()


def git_blob(data: bytes) -> str:
    """The name that git gives a file of these bytes: sha1 over its length and content, hex."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def digest_text(text: str) -> str:
    """sha256 of a text's UTF-8 bytes, hex. Lone surrogates are kept apart, not refused."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def digest_json(value: Any) -> str:
    """sha256 of a JSON value in canonical form (sorted keys, no spaces, UTF-8), hex."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return digest_text(canonical)


def digest_parts(parts: Iterable[str | bytes]) -> str:
    """sha256 over a sequence, each part framed by its length so that no two sequences collide."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()


def short(digest: str) -> str:
    """The first 12 hex digits: for names and tables, never for equality."""
    return digest[:12]
