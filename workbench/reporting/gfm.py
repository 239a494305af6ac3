"""GitHub-flavoured Markdown: text that cannot become markup, and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from workbench.core.terminal import safe

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_<>|#"})


def text(value: str) -> str:
    """Text that cannot become markup, a link or a new line."""
    return safe(value).replace("\n", " ").translate(_SPECIAL).replace("](", "]\\(")


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "", *, numeric: bool = True
) -> Iterator[str]:
    """Lines of a table under its title, nothing where there are no rows; cells are escaped.

    Args:
        numeric: columns after the first are set to the right.
    """
    if not rows:
        return
    if title:
        yield f"### {text(title)}"
        yield ""
    yield f"| {' | '.join(map(text, header))} |"
    rule = "---:" if numeric else "---"
    yield f"|---|{'|'.join([rule] * (len(header) - 1))}|"
    for row in rows:
        yield f"| {' | '.join(text(cell) for cell in row)} |"
    yield ""


def page(lines: Iterable[str]) -> str:
    """Lines as a document: no blank line twice, one newline at the end."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
