"""The content model of ``routers/<name>.yaml``.

::

    description: what it does, in one line
    source: where it is from                 (optional)
    stages:                                  each a method and its options
      - bm25: {k1: 1.2}
      - rerank:
          model: org/name

Options are checked by the method's own ``Config``. A method that combines others has, for each
channel, a list of stages of the same form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from workbench.core.content import Content, load_content, validate
from workbench.core.digest import digest_json
from workbench.core.errors import ContentError, UnknownNameError, suggestion
from workbench.core.plugins import load_plugin, plugin_names

METHODS = "workbench.routing.methods"


@dataclass(frozen=True)
class StageSpec:
    """One stage of a recipe, checked.

    Attributes:
        method: its module's name.
        module: the module (see `stage.Stage` for what it exports).
        options: an instance of the module's ``Config``.
        channels: for a method that combines others, the stages of each channel.
    """

    method: str
    module: ModuleType
    options: Content
    channels: tuple[tuple[StageSpec, ...], ...] = ()

    def nested(self) -> Iterator[StageSpec]:
        """Itself, then the stages of its channels."""
        yield self
        for channel in self.channels:
            for spec in channel:
                yield from spec.nested()

    @property
    def digest(self) -> str:
        """Digest of method, revision and options, those of the channels included."""
        return digest_json(self._described())

    def _described(self) -> list[Any]:
        inner = [[spec._described() for spec in channel] for channel in self.channels]
        options = self.options.model_dump(mode="json", exclude={"channels": {"__all__": {"stages"}}})
        return [self.method, self.module.REVISION, options, inner]


@dataclass(frozen=True)
class Recipe:
    """A router's recipe, checked: name, one line about it, its source, its stages."""

    name: str
    description: str
    source: str
    stages: tuple[StageSpec, ...]

    def specs(self) -> Iterator[StageSpec]:
        """All stages, each before those of its channels."""
        for spec in self.stages:
            yield from spec.nested()


class _File(Content):
    """The top level of the file."""

    description: str
    source: str = ""
    stages: Any


def load_recipe(path: Path) -> Recipe:
    """Read a recipe.

    Raises:
        ContentError: unreadable, or an unknown key, method or option, or a bad value; says
            file and line, and the nearest name.
    """
    head = load_content(path, _File)
    root: Any = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    return Recipe(path.stem, head.description, head.source, _stages(_child(root, "stages"), path))


def _stages(node: yaml.Node, path: Path) -> tuple[StageSpec, ...]:
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        raise ContentError(path, _line(node), "stages: must be a list of `- method: {options}`, at least one")
    specs = tuple(_stage(item, path) for item in node.value)
    for place, (spec, item) in enumerate(zip(specs, node.value, strict=True)):
        if what := _misplaced(spec, specs[:place]):
            raise ContentError(path, _line(item), f"{spec.method}: {what}")
    if getattr(specs[-1].module, "REWRITES", False):
        last = specs[-1].method
        raise ContentError(path, _line(node.value[-1]), f"{last}: cannot stand last; put a stage behind it")
    return specs


def _misplaced(spec: StageSpec, earlier: Sequence[StageSpec]) -> str:
    """Why a stage cannot stand behind these; empty if it can."""
    before = earlier[-1].module if earlier else None
    if getattr(spec.module, "REFINES", False) and not getattr(before, "IS_SPACE", False):
        if getattr(before, "REFINES", False):
            return (
                "refines the vectors of `dense`, but the one before must be the last to do so; put it first"
            )
        return "refines the vectors of `dense`; put it directly behind that stage"
    ranked = any(not getattr(other.module, "REWRITES", False) for other in earlier)
    if getattr(spec.module, "NEEDS_CANDIDATES", False) and not ranked:
        return "orders what another stage has ranked; put one before it"
    return ""


def _stage(node: yaml.Node, path: Path) -> StageSpec:
    if not isinstance(node, yaml.MappingNode) or len(node.value) != 1:
        raise ContentError(path, _line(node), "stages: each must be one `method: {options}`")
    key, options_node = node.value[0]
    method = str(key.value)
    try:
        module = load_plugin(METHODS, method, "routing method")
    except UnknownNameError as error:
        known = suggestion(method, error.known, limit=30, both=True)
        what = f"stages: unknown routing method '{' '.join(method.split())}'{known}"
        raise ContentError(path, _line(key), what) from None
    options = _options(method, module, options_node, path)
    channels = tuple(_stages(stages, path) for stages in _channel_nodes(options_node))
    return StageSpec(method, module, options, channels)


def _options(method: str, module: ModuleType, node: yaml.Node, path: Path) -> Content:
    value = yaml.constructor.SafeConstructor().construct_document(node)
    try:
        options: Content = validate({} if value is None else value, module.Config, path, node)
    except ContentError as error:
        where, _, what = error.what.partition(": ")
        place = method if where == "document" else f"{method}.{where}"
        raise ContentError(path, error.line, f"{place}: {what}") from None
    return options


def _channel_nodes(options: yaml.Node) -> Iterator[yaml.Node]:
    """The node of each channel's stages; options that passed their Config have them all."""
    channels = _child(options, "channels") if isinstance(options, yaml.MappingNode) else None
    for channel in channels.value if isinstance(channels, yaml.SequenceNode) else ():
        yield _child(channel, "stages")


def _child(node: yaml.Node, name: str) -> Any:
    return next((value for key, value in node.value if key.value == name), None)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def method_names() -> list[str]:
    """Names of the routing methods, sorted."""
    return plugin_names(METHODS)
