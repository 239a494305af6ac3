"""JSON lines: a file, plain or gzip, a folder of shards, or pinned downloads."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from workbench.core.errors import ContentError, MissingDataError
from workbench.skills.refusal import Problem
from workbench.skills.source import Found, SourceContext
from workbench.skills.sources._files import FileOptions, describe_files, files_signature, local_files
from workbench.skills.sources._rows import Row, found_in_rows

SUFFIXES = (".jsonl", ".jsonl.gz")
_MAX_LINE = 8 * 1024 * 1024


class Options(FileOptions):
    """``jsonl: {path: ...}`` or ``jsonl: {url: ..., sha256: ...}``"""


def describe(options: Options, context: SourceContext) -> str:
    """The path or address."""
    return f"jsonl {describe_files(options)}"


def signature(options: Options, context: SourceContext) -> str:
    """Pinned digests for downloads; name, size and time of change for files."""
    return files_signature(options, context, SUFFIXES)


def read(options: Options, context: SourceContext) -> Iterator[Found]:
    """A find for each line that is not blank, in order."""
    for path in local_files(options, context, SUFFIXES):
        yield from found_in_rows(_rows(path, context), options.prefix)


def _rows(path: Path, context: SourceContext) -> Iterator[tuple[str, Row | Problem]]:
    number = 0
    try:
        with _open(path) as file:
            while line := _line(file):
                number += 1
                context.progress(f"reading {path.name}", number, None)
                if line.strip():
                    yield f"{path.name}:{number}", _row(line, number)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ContentError(path, number + 1, f"damaged gzip file: {error}; get it again") from None
    except OSError as error:
        raise MissingDataError(f"{path}: cannot be read: {error.strerror}") from None


def _open(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _line(file: IO[bytes]) -> bytes:
    """The next line; of one that is too long only as much as shows that it is."""
    line = file.readline(_MAX_LINE + 1)
    rest = line
    while len(rest) > _MAX_LINE and not rest.endswith(b"\n"):
        rest = file.readline(_MAX_LINE + 1)
    return line


def _row(line: bytes, number: int) -> Row | Problem:
    if len(line) > _MAX_LINE:
        return Problem("too_large", f"a line of more than {_MAX_LINE} bytes", number)
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Problem("not_utf8", f"byte 0x{line[error.start]:02x} at offset {error.start}", number)
    except (ValueError, RecursionError) as error:
        return Problem("bad_row", f"not JSON: {str(error)[:120]}", number)
    return row if isinstance(row, dict) else Problem("bad_row", "not a JSON object", number)
