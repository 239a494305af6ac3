"""The file system is the registry: a plugin's name is its module's name, imported when asked for."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from workbench.core.errors import UnknownNameError


def plugin_names(package: str) -> list[str]:
    """Names of the plugins in a package, sorted, without importing them. Names with `_` are private."""
    module = importlib.import_module(package)
    return sorted(m.name for m in pkgutil.iter_modules(module.__path__) if not m.name.startswith("_"))


@cache
def load_plugin(package: str, name: str, kind: str) -> ModuleType:
    """Import one plugin; the folder is looked through once for each.

    Args:
        package: dotted name of the package whose modules are the plugins.
        name: the module's name.
        kind: what it is called in messages, e.g. ``routing method``.

    Raises:
        UnknownNameError: no such plugin; names the nearest one.
    """
    names = plugin_names(package)
    if name not in names:
        raise UnknownNameError(kind, name, names)
    return importlib.import_module(f"{package}.{name}")
