"""Text from skills, tasks and models, made safe to print; and one console per stream.

Untrusted text can hold terminal escapes, bidirectional controls and rich markup. Everything
that is printed and did not come from our own source passes `safe`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_ALLOWED = {"\n", "\t"}
_WORDS = re.compile(r"([ \t\n\r\f\v]*)([^ \t\n\r\f\v]+)")
"""Blanks and the word behind them. A no-break space is part of a word."""


def safe(text: str, limit: int | None = None) -> str:
    """`text` without control, format and surrogate characters; cut to `limit` characters.

    Characters of the Unicode categories Cc, Cf, Cs, Co and Cn become U+FFFD, so that nothing
    can move the cursor, hide or reverse text. Newline and tab stay.
    """
    shown = "".join(c if c in _ALLOWED or unicodedata.category(c)[0] != "C" else "\ufffd" for c in text)
    if limit is not None and len(shown) > limit:
        return shown[: max(limit - 1, 0)] + "…"
    return shown


def filled(text: str, width: int) -> str:
    """`text` in lines of at most `width` cells where its words allow it, the later ones indented.

    Wide characters (CJK, emoji) fill two cells, combining ones none.
    """
    from rich.cells import cell_len

    lines, used = [""], 0
    for gap, word in _WORDS.findall(text):
        size = len(gap) + cell_len(word)
        if lines[-1].strip() and used + size > width:
            lines.append(f"  {word}")
            used = 2 + cell_len(word)
        else:
            lines[-1] += " " * len(gap) + word
            used += size
    return "\n".join(lines)


def console(*, stderr: bool = False, file: IO[str] | None = None, width: int | None = None) -> Console:
    """A rich console that is plain when piped, honours NO_COLOR, and never crashes on an encoding.

    Text is printed as it is: square brackets are no markup here, since much of it is not ours.
    """
    import sys

    from rich.console import Console

    stream = file or (sys.stderr if stderr else sys.stdout)
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    columns = width or _columns(stream)
    return Console(file=stream, width=columns, markup=False, highlight=False, emoji=False, soft_wrap=False)


def print_table(table: RenderableType) -> None:
    """Print to standard output; in a pipe without the blanks that fill a table's lines."""
    out = console()
    if out.is_terminal:
        out.print(table)
        return
    with out.capture() as captured:
        out.print(table)
    out.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def _columns(stream: IO[str]) -> int | None:
    """Width for a stream that is no terminal: ``$COLUMNS`` or 80. ``None`` lets rich ask."""
    if stream.isatty():
        return None
    value = os.environ.get("COLUMNS", "")
    return int(value) if value.isdecimal() and int(value) >= 20 else 80
