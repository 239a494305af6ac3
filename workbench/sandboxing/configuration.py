"""A configuration from what Inspect hands over: a model, a YAML file, a Dockerfile or its folder."""

from __future__ import annotations

from pathlib import Path

from inspect_ai.util import SandboxEnvironmentConfigType

from workbench.core.content import load_content
from workbench.core.errors import UsageError
from workbench.sandboxing.config import DockerConfig
from workbench.sandboxing.images import plan


def resolve(config: SandboxEnvironmentConfigType | None) -> DockerConfig:
    """The configuration that is meant.

    Raises:
        UsageError: something else, or nothing.
    """
    if isinstance(config, DockerConfig):
        return config
    if isinstance(config, str):
        path = Path(config)
        if path.suffix in (".yaml", ".yml"):
            return _without_plan(path, load_content(path, DockerConfig))
        if path.is_dir():
            return DockerConfig(build=plan(path, empty=()))
        return DockerConfig(build=plan(path.parent, dockerfile=path.name, empty=()))
    found = "nothing" if config is None else type(config).__name__
    raise UsageError(f"sandbox docker-sdk: found {found}; give a Dockerfile, a YAML file or a DockerConfig")


def _without_plan(path: Path, config: DockerConfig) -> DockerConfig:
    """Refuse a plan of a file's own, which could send any folder of this machine to the engine."""
    if config.build is not None:
        raise UsageError(f"{path}: build: give the Dockerfile, or the folder it lies in, as configuration")
    return config
