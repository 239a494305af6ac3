"""YAML content -> frozen pydantic model, with errors that name file, line, key and nearest match."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from workbench.core.errors import ContentError, suggestion

_MAX_BYTES = 4 * 1024 * 1024


class Content(BaseModel):
    """Base of every model read from a content file: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


ModelT = TypeVar("ModelT", bound=BaseModel)


def load_content(path: Path, model: type[ModelT]) -> ModelT:
    """Read a YAML file into a model.

    Raises:
        ContentError: unreadable, not YAML, not a mapping, an unknown key or a bad value; the
            message starts with ``FILE:LINE``.
    """
    node = _compose(path)
    return validate(_value(node, path), model, path, node)


def load_mapping(path: Path) -> dict[str, Any]:
    """Read a YAML file whose keys are somebody else's. Raises ContentError as `load_content` does."""
    return _value(_compose(path), path)


def _value(node: yaml.Node, path: Path) -> dict[str, Any]:
    try:
        _refuse_repeated_keys(node, path)
        value: dict[str, Any] = yaml.constructor.SafeConstructor().construct_document(node)
    except yaml.YAMLError as error:
        raise _broken(path, error) from None
    except RecursionError:
        raise ContentError(path, None, "not valid YAML: nested too deeply") from None
    except ValueError as error:  # a date that is none, a number of thousands of digits
        raise ContentError(path, None, f"not valid YAML: {error}") from None
    return value


def validate(value: Any, model: type[ModelT], path: Path, node: yaml.Node | None = None) -> ModelT:
    """Check a value against a model; errors name the place in `path` (by `node` where given)."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
        location = tuple(part for part in first["loc"] if not _is_tag(part))
        where = ".".join(str(part) for part in location)
        line = None if node is None else _line_of(node, location)
        raise ContentError(path, line, f"{where or 'document'}: {_explain(first, model)}") from None


class _NoAliasLoader(yaml.SafeLoader):
    """Refuses aliases: content files have no use for them, and a few lines of them can grow without end."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not allowed", mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node


def _compose(path: Path) -> yaml.Node:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ContentError(path, None, f"larger than {_MAX_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
        node = yaml.compose(text, Loader=_NoAliasLoader)
    except OSError as error:
        raise ContentError(path, None, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ContentError(path, None, f"is not UTF-8 (byte {error.start})") from error
    except yaml.YAMLError as error:
        raise _broken(path, error) from None
    except RecursionError:
        raise ContentError(path, None, "not valid YAML: nested too deeply") from None
    if not isinstance(node, yaml.MappingNode):
        raise ContentError(path, 1, "must be a mapping (key: value)")
    return node


def _broken(path: Path, error: yaml.YAMLError) -> ContentError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return ContentError(path, None if mark is None else mark.line + 1, f"not valid YAML: {problem}")


def _refuse_repeated_keys(node: yaml.Node, path: Path) -> None:
    """YAML readers keep the last of two equal keys in silence; here it is an error."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise ContentError(path, key.start_mark.line + 1, f"{key.value}: is given twice")
            seen.add(str(key.value))
            _refuse_repeated_keys(value, path)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(item, path)


def _is_tag(part: object) -> bool:
    """Whether a location part is pydantic's own (a union's member), not a key of the file."""
    return isinstance(part, str) and ("[" in part or part in {"str", "int", "float", "bool"})


def _line_of(node: yaml.Node, location: tuple[int | str, ...]) -> int:
    """Line of the deepest part of `location` that exists (for an unknown key: of that key)."""
    line = node.start_mark.line + 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    line, node = key.start_mark.line + 1, value
                    break
            else:
                break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _explain(error: Mapping[str, Any], model: type[BaseModel]) -> str:
    """One pydantic error in our words."""
    if error["type"] == "extra_forbidden":
        key = str(error["loc"][-1])
        known = _fields_at(model, error["loc"][:-1])
        return f"unknown key{suggestion(key, known, limit=30, both=True)}"
    found = error.get("input")
    shown = "" if isinstance(found, dict | list | tuple) or found is None else f" (found {found!r})"
    return f"{plain(error)}{shown}"


def plain(error: Mapping[str, Any]) -> str:
    """What pydantic found wrong, in the words of a file instead of Python's."""
    said = _PLAIN.get(error["type"], "").format(**error.get("ctx", {}))
    return said or str(error["msg"]).removeprefix("Value error, ")


_PLAIN = {
    "missing": "is required",
    "model_type": "must be a mapping (key: value)",
    "dict_type": "must be a mapping (key: value)",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number",
    "greater_than": "must be above {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be below {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
    "too_short": "must have at least {min_length}, and has {actual_length}",
}
"""Type of error -> words, filled with pydantic's own bounds."""


def _fields_at(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Names of the fields allowed at a location, as far as the annotations tell."""
    current: Any = model
    for part in location:
        if isinstance(part, str) and isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(part)
            current = None if field is None else field.annotation
        current = _model_in(current)
        if current is None:
            return []
    return list(current.model_fields) if isinstance(current, type) and issubclass(current, BaseModel) else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The first model named inside an annotation such as ``list[Model] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        if (found := _model_in(inner)) is not None:
            return found
    return None
