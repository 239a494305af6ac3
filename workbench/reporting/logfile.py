"""One Inspect log, as far as reports need it: its header, and its samples one at a time.

A ``.eval`` log is a zip, a ``.json`` log one document; both hold the same objects:

    _journal/start.json            eval: what was to be run; written first
    samples/<id>_epoch_<n>.json    each sample as it ended
    header.json                    eval, status, results; written last, absent after a crash

Inspect's reader builds every message and event of a sample (7 ms each, measured) and takes 1.2 s
to import. Here only named fields are built, and transcripts never reach Python: 10,000 trials
are read in seconds. A test holds both readers to the same answer on logs that Inspect wrote.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workbench.core.errors import UsageError

SCORER = "workbench"
"""Name of the one score that carries the joint record."""

_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d+)\.json", re.DOTALL)
_LARGEST = 1 << 30


class UnreadableLogError(UsageError):
    """The file is no log, or a damaged one; the message says what was found."""


class ForeignLogError(UsageError):
    """A sound file that holds no trials of this project."""


class _Logged(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())


class _Named(_Logged):
    name: str


class _Dataset(_Logged):
    sample_ids: tuple[str | int, ...] | None = None


class _Config(_Logged):
    epochs: int | None = None
    message_limit: int | None = None
    token_limit: int | None = None
    token_limit_type: str | None = None
    turn_limit: int | None = None
    time_limit: int | None = None
    working_limit: int | None = None
    cost_limit: float | None = None

    @property
    def limits(self) -> dict[str, Any]:
        """What bounds a trial, by Inspect's names; a run under other limits is another run."""
        return self.model_dump(exclude_none=True, exclude={"epochs"})


class EvalSpec(_Logged):
    """What was to be run. Names are Inspect's."""

    eval_id: str
    created: datetime
    task: str
    task_id: str = ""
    task_version: str | int = 0
    task_args: dict[str, Any] = {}
    task_args_passed: dict[str, Any] | None = None
    model: str
    model_args: dict[str, Any] = {}
    model_generate_config: dict[str, Any] = {}
    solver: str | None = None
    solver_args_passed: dict[str, Any] | None = None
    scorers: tuple[_Named, ...] | None = None
    dataset: _Dataset
    config: _Config = _Config()
    metadata: dict[str, Any] | None = None


class Header(_Logged):
    """A log without its samples. `status` is ``started`` while it runs and after a crash."""

    status: str = "started"
    eval: EvalSpec


class _Error(_Logged):
    message: str = ""


class _Score(_Logged):
    metadata: dict[str, Any] | None = None


class _Store(_Logged):
    route: Any = Field(default=None, alias="TrialState:route")


class LoggedSample(_Logged):
    """One sample as it ended.

    Attributes:
        damage: why its content could not be read, else ``None``.
    """

    id: str | int
    epoch: int
    error: _Error | None = None
    scores: dict[str, _Score] | None = None
    metadata: dict[str, Any] = {}
    store: _Store = _Store()
    invalidation: Any = None
    damage: str | None = None

    @property
    def record(self) -> Any:
        """The joint record as written, unchecked; ``None`` where there is none."""
        for name, score in (self.scores or {}).items():
            if _plain(name) == SCORER and score.metadata is not None:
                return score.metadata.get("record")
        return None


class _Document(_Logged):
    """A whole ``.json`` log."""

    samples: tuple[LoggedSample, ...] | None = None


NO_LOG = "a JSON file that is no log"


def read_header(path: Path) -> Header:
    """The header of a log of this project.

    Raises:
        UnreadableLogError: truncated, empty, or not a log.
        ForeignLogError: sound, but of another task, or a JSON file that is no log.
    """
    try:
        header = _json_header(path) if path.suffix == ".json" else _eval_header(path)
    except (UnreadableLogError, ForeignLogError):
        raise
    except Exception as error:  # whatever a damaged file makes a decoder raise
        raise UnreadableLogError(_reason(error)) from error
    if header.eval.scorers is None or SCORER not in {_plain(s.name) for s in header.eval.scorers}:
        raise ForeignLogError(f"a log of task '{header.eval.task}'")
    return header


def read_samples(path: Path) -> Iterator[LoggedSample]:
    """The samples of a log in the order in which they ended; one that is damaged says so.

    Raises:
        UnreadableLogError: the log as a whole cannot be read.
    """
    if path.suffix == ".json":
        yield from _parse(_Document, _bytes(path)).samples or ()
        return
    with _zip(path) as archive:
        for name in dict.fromkeys(archive.namelist()):
            if (match := _SAMPLE.fullmatch(name)) is None:
                continue
            try:
                yield _parse(LoggedSample, _member(archive, name))
            except Exception as error:  # one broken member must not cost the others
                yield LoggedSample(id=match["id"], epoch=int(match["epoch"]), damage=_reason(error))


def _eval_header(path: Path) -> Header:
    with _zip(path) as archive:
        names = set(archive.namelist())
        if "header.json" in names:
            return _parse(Header, _member(archive, "header.json"))
        return _parse(Header, _member(archive, "_journal/start.json"))


def _json_header(path: Path) -> Header:
    """The header, or ForeignLogError for JSON that has none (manifests, predictions)."""
    content = _bytes(path)
    try:
        return _parse(Header, content)
    except ValidationError as error:
        if _is_no_json(error):
            raise
        raise ForeignLogError(NO_LOG) from error


def _zip(path: Path) -> zipfile.ZipFile:
    if sys.version_info < (3, 14):
        import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401  teaches zipfile zstandard
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise UnreadableLogError(_reason(error)) from error


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > _LARGEST:
        raise UnreadableLogError(f"{name} is larger than {_LARGEST} bytes")
    return archive.read(name)


def _bytes(path: Path) -> bytes:
    content = path.read_bytes()
    if not content:
        raise UnreadableLogError("the file is empty")
    return content


LoggedT = TypeVar("LoggedT", bound=_Logged)


def _parse(model: type[LoggedT], content: bytes) -> LoggedT:
    """Parse strictly and fast; what only Python's parser takes (lone surrogates) by that one."""
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        if not _is_no_json(error):
            raise
        try:
            value = json.loads(content)
        except ValueError:
            raise error from None
        return model.model_validate(value)


def _is_no_json(error: ValidationError) -> bool:
    return any(part["type"] == "json_invalid" for part in error.errors(include_url=False))


def _plain(name: str) -> str:
    """A registry name without its package."""
    return name.rsplit("/", 1)[-1]


def _reason(error: Exception) -> str:
    """One line on what was found."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"{where}: {first['msg']}" if where else str(first["msg"])
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
