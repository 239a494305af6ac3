"""Parquet files with the columns of a JSONL record. Needs the extra ``parquet``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from workbench.core.errors import ContentError, UsageError
from workbench.skills.refusal import Problem
from workbench.skills.source import Found, SourceContext
from workbench.skills.sources._files import FileOptions, describe_files, files_signature, local_files
from workbench.skills.sources._rows import COLUMNS, Row, found_in_rows

SUFFIXES = (".parquet",)
_BATCH = 1_000


class Options(FileOptions):
    """``parquet: {path: ...}`` or ``parquet: {url: ..., sha256: ...}``"""


def describe(options: Options, context: SourceContext) -> str:
    """The path or address."""
    return f"parquet {describe_files(options)}"


def signature(options: Options, context: SourceContext) -> str:
    """Pinned digests for downloads; name, size and time of change for files."""
    return files_signature(options, context, SUFFIXES)


def read(options: Options, context: SourceContext) -> Iterator[Found]:
    """A find for each row, in order.

    Raises:
        UsageError: pyarrow is not installed.
    """
    for path in local_files(options, context, SUFFIXES):
        yield from found_in_rows(_rows(path, context), options.prefix)


def _rows(path: Path, context: SourceContext) -> Iterator[tuple[str, Row | Problem]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise UsageError(
            "reading Parquet needs pyarrow; type: pip install 'skill-workbench[parquet]'"
        ) from None
    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            columns = [name for name in file.schema_arrow.names if name in COLUMNS]
            for batch in file.iter_batches(batch_size=_BATCH, columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    context.progress(f"reading {path.name}", number, file.metadata.num_rows)
                    yield f"{path.name}:{number}", row
    except (pyarrow.ArrowException, OSError) as error:
        raise ContentError(path, None, f"no readable Parquet file: {str(error).splitlines()[0]}") from None
