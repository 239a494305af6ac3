"""The normal form of a skill's texts, and a SKILL.md made from them.

Reading what `render_skill` wrote gives back the same name, description and body, provided they
are in normal form; `reader` and the record sources both bring their texts into it.
"""

from __future__ import annotations

import json
import re

_NEWLINES = re.compile(r"\r\n?")
_LEADING_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")
_NOT_IN_YAML = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def unix_newlines(text: str) -> str:
    """``\\r\\n`` and lone ``\\r`` as ``\\n``."""
    return _NEWLINES.sub("\n", text) if "\r" in text else text


def normal_name(text: str) -> str:
    """One line, words separated by single spaces."""
    return " ".join(text.split())


def normal_description(text: str) -> str:
    """``\\n`` newlines, no white space around it."""
    return unix_newlines(text).strip()


def normal_body(text: str) -> str:
    """``\\n`` newlines, no blank lines before it, no white space behind it."""
    return _LEADING_BLANK_LINES.sub("", unix_newlines(text)).rstrip()


def render_skill(name: str, description: str, body: str) -> bytes:
    """The SKILL.md of a skill that came as text alone. Same texts, same bytes.

    Args:
        name: not empty.
    """
    head = f"---\nname: {_quoted(name)}\ndescription: {_quoted(description)}\n---\n"
    return f"{head}\n{body}\n".encode() if body else head.encode()


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar. JSON's form is one, but for characters that YAML refuses or folds."""
    return _NOT_IN_YAML.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(text, ensure_ascii=False))
