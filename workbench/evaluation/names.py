"""Registry names: ``workbench/<name>`` however the package was installed.

Inspect prefixes a name with its package only for packages in site-packages, or editable ones
whose distribution is named as the package; ours is not (``skill-workbench``).
"""

from __future__ import annotations

from functools import cache

from workbench.core.types import TASK_PREFIX


def qualified(name: str) -> str:
    """What to register `name` under so that it is found as ``workbench/<name>``."""
    return name if _prefixed_by_inspect() else TASK_PREFIX + name


@cache
def _prefixed_by_inspect() -> bool:
    from inspect_ai._util.package import get_installed_package_name

    return get_installed_package_name(qualified) is not None
