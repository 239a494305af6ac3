"""Where record files come from: a file, a folder of shards, or pinned downloads."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from workbench.core.content import Content
from workbench.core.digest import digest_json
from workbench.core.errors import ContentError, MissingDataError
from workbench.skills.download import Download, fetch, file_digest
from workbench.skills.source import SourceContext

_DIGEST = r"^[0-9a-f]{64}$"


class FileOptions(Content):
    """Either ``path``, or ``url`` with the digest of what it must be."""

    path: str | None = Field(default=None, description="file or folder of shards, relative to the YAML file")
    url: str | None = Field(
        default=None, pattern="^https?://", description="file; with `files`, the address they lie under"
    )
    sha256: str | None = Field(default=None, pattern=_DIGEST, description="digest of the one file, hex")
    files: dict[str, str] = Field(default={}, description="shards under `url`: name -> sha256, hex")
    prefix: str = Field(default="", description="put before every id as it is")

    @model_validator(mode="after")
    def _one_place(self) -> FileOptions:
        if (self.path is None) == (self.url is None):
            raise ValueError("give either path or url")
        if self.url is not None and (self.sha256 is None) == (not self.files):
            raise ValueError("a url needs sha256, or files with the sha256 of each")
        if self.path is not None and self.files:
            raise ValueError("files belongs to url; a path may be a folder")
        return self


def describe_files(options: FileOptions) -> str:
    """The path or address, with the number of shards."""
    shards = f" ({len(options.files)} files)" if options.files else ""
    return f"{options.path or options.url}{shards}"


def files_signature(options: FileOptions, context: SourceContext, suffixes: tuple[str, ...]) -> str:
    """Pinned digests for downloads; name, size and time of change for files."""
    if options.url is not None:
        return digest_json([options.url, options.sha256, options.files])
    states = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in _local(options, context, suffixes)]
    return digest_json(states)


def local_files(options: FileOptions, context: SourceContext, suffixes: tuple[str, ...]) -> list[Path]:
    """The files on this machine, fetched where needed, shards in order of their names.

    Raises:
        MissingDataError: not there, or not to be had.
        ContentError: not the pinned content.
    """
    if options.url is None:
        paths = _local(options, context, suffixes)
        for path in paths:
            if options.sha256 is not None and file_digest(path) != options.sha256:
                raise ContentError(path, None, f"is not the pinned file (sha256 {options.sha256})")
        return paths
    return [fetch(download, context.progress) for download in downloads(options, context.downloads)]


def downloads(options: FileOptions, folder: Path) -> list[Download]:
    """What a url source fetches, and where it is put."""
    assert options.url is not None
    if options.sha256 is not None:
        return [Download.into(folder, options.url, options.sha256)]
    base = options.url.rstrip("/")
    return [Download.into(folder, f"{base}/{name}", sha) for name, sha in sorted(options.files.items())]


def _local(options: FileOptions, context: SourceContext, suffixes: tuple[str, ...]) -> list[Path]:
    path = context.base / Path(str(options.path)).expanduser()
    if path.is_file():
        return [path]
    shards = sorted(p for p in path.glob("*") if p.is_file() and p.name.endswith(suffixes))
    if not shards:
        raise MissingDataError(f"{path}: no such file, nor a folder with {' or '.join(suffixes)} files")
    return shards
