"""HTML from Python calls. Text is escaped unless it is already `Html`, so that no log can inject any."""

from __future__ import annotations

import html
from collections.abc import Iterable

from workbench.core.terminal import safe

_VOID = frozenset(("input", "meta", "link", "br"))
_SHAPES = frozenset(("line", "circle", "rect", "polygon", "polyline"))


class Html(str):
    """Markup of our own making; any other text is escaped where it is put in."""

    __slots__ = ()


Content = str | int | None | Iterable["Content"]


def el(name: str, /, *content: Content, **attributes: str | float | bool | None) -> Html:
    """One element. ``class_`` is ``class``, ``aria_label`` is ``aria-label``; ``None`` and ``False``
    attributes are left out, ``True`` ones have no value. Floats are coordinates, and short."""
    opened = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{opened}>")
    if name in _SHAPES:
        return Html(f"<{opened}/>")
    return Html(f"<{opened}>{markup(content)}</{name}>")


def markup(content: Content) -> Html:
    """Content as markup: strings escaped, `Html` as it is, iterables joined, ``None`` nothing."""
    if content is None:
        return Html("")
    if isinstance(content, Html):
        return content
    if isinstance(content, str | int):
        return Html(html.escape(safe(str(content)), quote=False))
    return Html("".join(markup(part) for part in content))


def number(value: float) -> str:
    """A coordinate, short."""
    return f"{value:.1f}".removesuffix(".0")


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = number(value) if isinstance(value, float) else html.escape(safe(str(value)).replace("\n", " "))
    return f' {name}="{text}"'
