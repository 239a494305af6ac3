"""Why something that was found is not in a pool. Every refusal has one reason, a place and a detail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Reason = Literal[
    "bad_row",
    "bad_yaml",
    "duplicate_id",
    "empty_file",
    "missing_id",
    "no_frontmatter",
    "no_skill_file",
    "not_utf8",
    "nul",
    "path_not_utf8",
    "second_skill_file",
    "special_file",
    "symlink_broken",
    "symlink_cycle",
    "symlink_escape",
    "too_complex",
    "too_deep",
    "too_large",
    "too_many_files",
    "unreadable",
]
"""Every reason a find is refused for:

``bad_row``            a line or record that is no JSON object, or whose fields are no text
``bad_yaml``           a closed frontmatter in which no line can be read as ``key: value``
``duplicate_id``       the id is taken by an earlier find
``empty_file``         nothing but white space
``missing_id``         a record without an id
``no_frontmatter``     no frontmatter and no text that could describe a skill (e.g. an HTTP error)
``no_skill_file``      a folder that should be a skill has no SKILL.md
``not_utf8``           bytes that are not UTF-8, or text that cannot be written as UTF-8
``nul``                a NUL character in the text
``path_not_utf8``      a file name that is not UTF-8
``second_skill_file``  the folder has another spelling of SKILL.md that was taken
``special_file``       a FIFO, socket or device
``symlink_broken``     a link to nothing
``symlink_cycle``      a linked folder that holds the link
``symlink_escape``     a link out of the root
``too_complex``        YAML aliases, anchors, merge keys, foreign tags, nesting or keys over the bound
``too_deep``           a folder deeper than the bound; it was not searched
``too_large``          text, frontmatter or folder over the bound
``too_many_files``     a folder with more files than the bound
``unreadable``         the system refused to read it
"""

Repair = Literal[
    "bom",
    "broken_value",
    "conflict_markers",
    "crlf",
    "duplicate_key",
    "file_name",
    "leading_blank_lines",
    "lone_cr",
    "missing_description",
    "missing_frontmatter",
    "missing_name",
    "missing_opening_fence",
    "not_text",
    "text_before_frontmatter",
    "unquoted_colon",
    "unterminated_frontmatter",
]
"""Every repair. The file's bytes are never changed; only the text that routers read is.

``bom`` ``crlf`` ``lone_cr`` ``leading_blank_lines``  dropped or normalised
``broken_value``              a value that is no YAML, taken as the text it is
``unquoted_colon``            such a value, broken by ``: ``
``conflict_markers``          left-over merge markers, ignored
``duplicate_key``             the last one counts
``not_text``                  a list or mapping where a text belongs, joined with commas
``file_name``                 ``skill.md`` and the like; it is ``SKILL.md`` in the skill's tree
``missing_name``              the folder's name
``missing_description``       the body's first paragraph, or else its first heading
``missing_frontmatter``       both of these
``missing_opening_fence``     starts with ``name:`` or ``description:``
``unterminated_frontmatter``  ends at the first blank line, or line that cannot belong to it
``text_before_frontmatter``   a heading or comment stands before it; it is part of the body
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a find is refused: reason, what was seen, and the line (1-based) where there is one."""

    reason: Reason
    detail: str
    line: int | None = None


class RefusedError(Exception):
    """Carries a `Problem` inside this room; never leaves it."""

    def __init__(self, reason: Reason, detail: str, line: int | None = None) -> None:
        super().__init__(detail)
        self.problem = Problem(reason, detail, line)
