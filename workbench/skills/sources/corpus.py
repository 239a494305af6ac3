"""SRA-Bench's corpus: one JSON list of skills, plain or zipped, as it lies with a suite's data."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, model_validator

from workbench.core.content import Content
from workbench.core.digest import digest_json
from workbench.core.errors import ContentError, MissingDataError
from workbench.skills.refusal import Problem
from workbench.skills.source import Found, SourceContext
from workbench.skills.sources._rows import Row, found_in_rows

_NAMES = ("corpus/corpus.json", "corpus/corpus.json.zip", "corpus.json", "corpus.json.zip")
_MAX_BYTES = 2 * 2**30


class Options(Content):
    """``corpus: {suite: NAME}`` or ``corpus: {path: DIR|FILE}``"""

    suite: str | None = Field(default=None, description="suite with whose data the corpus lies")
    path: str | None = Field(default=None, description="file, or its folder, relative to the YAML file")
    prefix: str = Field(default="", description="put before every id as it is")

    @model_validator(mode="after")
    def _one_place(self) -> Options:
        if (self.suite is None) == (self.path is None):
            raise ValueError("give either suite or path")
        return self


def describe(options: Options, context: SourceContext) -> str:
    """The suite's name or the path."""
    return f"corpus of {options.suite or options.path}"


def signature(options: Options, context: SourceContext) -> str:
    """Name, size and time of change of the file."""
    state = (file := _file(options, context)).stat()
    return digest_json([file.name, state.st_size, state.st_mtime_ns, options.prefix])


def read(options: Options, context: SourceContext) -> Iterator[Found]:
    """A find for each entry of the list, in order."""
    file = _file(options, context)
    yield from found_in_rows(_rows(file, context), options.prefix)


def _file(options: Options, context: SourceContext) -> Path:
    if options.suite is not None:
        place = context.suite_data(options.suite)
    else:
        place = context.base / Path(str(options.path)).expanduser()
    if place.is_file():
        return place
    for name in _NAMES:
        if (place / name).is_file():
            return place / name
    hint = f"workbench fetch {options.suite} brings it; or give another pool: --pool NAME"
    raise MissingDataError(
        f"{place}: no corpus/corpus.json, plain or zipped; {hint if options.suite else 'give its folder'}"
    )


def _rows(file: Path, context: SourceContext) -> Iterator[tuple[str, Row | Problem]]:
    for number, row in enumerate(_list(file), 1):
        context.progress(f"reading {file.name}", number, None)
        problem = Problem("bad_row", "not a JSON object", number)
        yield f"{file.name}:{number}", row if isinstance(row, dict) else problem


def _list(file: Path) -> list[object]:
    try:
        rows = json.loads(_bytes(file))
    except (OSError, ValueError, RecursionError, zipfile.BadZipFile, EOFError) as error:
        raise ContentError(file, None, f"cannot be read as JSON: {error}; get it again") from None
    if not isinstance(rows, list):
        raise ContentError(file, None, "is not a JSON list of skills")
    return rows


def _bytes(file: Path) -> bytes:
    """The file's content, or that of the one JSON file in a zip."""
    if file.suffix != ".zip":
        return file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        members = [
            m for m in archive.infolist() if m.filename.endswith(".json") and not m.filename.startswith("__")
        ]
        if len(members) != 1 or members[0].file_size > _MAX_BYTES:
            raise ContentError(
                file, None, f"holds {len(members)} JSON files; one of at most {_MAX_BYTES} bytes is read"
            )
        return archive.read(members[0])
