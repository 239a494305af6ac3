"""What a cut-off log still holds: a ``.eval`` file whose end is gone, with the table of its entries.

Entries of a zip lie one after another, each behind a header of its own (APPNOTE 6.3.10, section 4.3.7), so
all that are whole can be found without the table. https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
"""

from __future__ import annotations

import shutil
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_HEADER = struct.Struct("<4s5H3L2H")
_MAGIC = b"PK\x03\x04"
_SIZES_FOLLOW, _UTF_8 = 0x08, 0x800
_START, _AT_THE_END = "_journal/start.json", frozenset(("header.json", "summaries.json", "reductions.json"))
_OF_ANOTHER_KIND = 0xFFFFFFFF
"""A length that stands elsewhere (ZIP64); Inspect writes none, an entry of 4 GiB is none of ours."""


def salvage(source: Path, target: Path) -> int:
    """Write a log of the whole entries of a cut-off one; how many there are, 0 writes nothing.

    Raises:
        OSError: it cannot be read or written.
    """
    with source.open("rb") as file:
        entries = _of_this_attempt(list(_entries(file, source.stat().st_size)))
    if not entries:
        return 0
    shutil.copyfile(source, target)
    last = entries[-1]
    with target.open("r+b") as file:
        file.truncate(last.header_offset + _length(last) + last.compress_size)
    with zipfile.ZipFile(target, "a") as archive:
        archive.filelist.extend(entries)
        archive.comment = b""  # has the table written
    return len(entries)


def _of_this_attempt(entries: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Without what an earlier attempt wrote at its end.

    Inspect goes on with a job by appending to a copy of its log: the header and the summaries of the attempt
    before lie ahead of the start of this one, and would say that it was cancelled, with other trials.
    """
    names = [entry.filename for entry in entries]
    start = max((place for place, name in enumerate(names) if name == _START), default=0)
    return [
        entry for place, entry in enumerate(entries) if place >= start or entry.filename not in _AT_THE_END
    ]


def _entries(file: BinaryIO, size: int) -> Iterator[zipfile.ZipInfo]:
    """Whole entries, in the order in which they were written."""
    while True:
        at = file.tell()
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size:
            return
        magic, version, flags, method, time, date, crc, packed, full, name_size, extra_size = _HEADER.unpack(
            head
        )
        if magic != _MAGIC or flags & _SIZES_FOLLOW or _OF_ANOTHER_KIND in (packed, full):
            return
        name = file.read(name_size).decode("utf-8" if flags & _UTF_8 else "cp437", "replace")
        extra = file.read(extra_size)
        end = file.seek(packed, 1)
        if end > size:
            return
        entry = zipfile.ZipInfo(name, _moment(date, time))
        entry.header_offset, entry.extract_version, entry.flag_bits = at, version, flags
        entry.compress_type, entry.CRC, entry.extra = method, crc, extra
        entry.compress_size, entry.file_size = packed, full
        yield entry


def _moment(date: int, time: int) -> tuple[int, int, int, int, int, int]:
    days = (date >> 9) + 1980, (date >> 5) & 15, date & 31
    return (*days, time >> 11, (time >> 5) & 63, (time & 31) * 2)


def _length(entry: zipfile.ZipInfo) -> int:
    name = entry.filename.encode("utf-8" if entry.flag_bits & _UTF_8 else "cp437")
    return _HEADER.size + len(name) + len(entry.extra)
