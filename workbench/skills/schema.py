"""The file of a built pool: one SQLite database, written once and never changed.

    header  one row: the header as JSON, and its sha256
    skill   one row per skill, small: everything but the body; the tree's and the texts' digests
    body    the bodies, apart, so that ids and names are read without touching them
    file    the files of skills that came as folders: path, executable bit, blob
    blob    file contents, each once

A skill without rows in ``file`` came as text alone; its one file is rendered from the texts.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from workbench.core.digest import digest_json, digest_parts

SCHEMA_VERSION = 1
APPLICATION_ID = 0x534B504C
"""SQLite's application id of our files: "SKPL"."""

PAGE_SIZE = 4096

TABLES = """
CREATE TABLE header (json TEXT NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE skill (
  key INTEGER PRIMARY KEY, id TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
  folder TEXT NOT NULL, digest TEXT NOT NULL, text_digest TEXT NOT NULL
);
CREATE TABLE body (key INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE file (
  key INTEGER NOT NULL, path TEXT NOT NULL, executable INTEGER NOT NULL, blob INTEGER NOT NULL,
  PRIMARY KEY (key, path)
) WITHOUT ROWID;
CREATE TABLE blob (key INTEGER PRIMARY KEY, data BLOB NOT NULL);
"""

INDEXES = (
    "CREATE UNIQUE INDEX skill_id ON skill (id)",
    "CREATE INDEX skill_name ON skill (name, id)",
    "CREATE INDEX skill_digest ON skill (digest, id)",
)


class BuildCounts(BaseModel):
    """What was found when a pool was built: ``accepted + repaired + rejected == found``.

    Attributes:
        nested: how many of the found lie inside another skill's folder.
        links: how many links inside the root were resolved.
        repairs, reasons, notes: kind -> how many skills.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    found: int = 0
    accepted: int = 0
    repaired: int = 0
    rejected: int = 0
    nested: int = 0
    links: int = 0
    repairs: dict[str, int] = {}
    reasons: dict[str, int] = {}
    notes: dict[str, int] = {}


class PoolHeader(BaseModel):
    """What a pool file says about itself.

    Attributes:
        fingerprint: sha256 over every skill in id order; see `fingerprint_of`.
        count: skills in the pool.
        text_bytes, file_bytes: UTF-8 bytes of all bodies, bytes of all stored files.
        sources: where the skills came from, one line each.
        signature: changes when a source changes; decides whether a cached build is used again.
        links: links inside the sources' roots that were taken as what they point to; at most 1,000.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA_VERSION
    reader_version: int
    workbench_version: str
    name: str
    fingerprint: str
    count: int
    text_bytes: int
    files: int
    file_bytes: int
    sources: tuple[str, ...]
    signature: str
    counts: BuildCounts
    links: tuple[str, ...] = ()

    def sealed(self) -> tuple[str, str]:
        """The header row: JSON and its sha256."""
        value: dict[str, Any] = self.model_dump(mode="json")
        return json.dumps(value, sort_keys=True), digest_json(value)


def unseal(text: str, sha256: str) -> PoolHeader:
    """The header of a row that `PoolHeader.sealed` made.

    Raises:
        ValueError: not the sealed text, or of another schema version.
    """
    value = json.loads(text)
    if digest_json(value) != sha256:
        raise ValueError("its header does not match its checksum")
    return PoolHeader.model_validate(value)


def text_digest(name: str, description: str, body: bytes) -> str:
    """sha256 over a skill's texts as routers read them (body as UTF-8), hex."""
    return digest_parts((name, description, body))
