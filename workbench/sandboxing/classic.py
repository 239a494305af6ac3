"""A Dockerfile rewritten so that the engine's classic builder can build it.

The docker SDK reaches the classic builder only. What BuildKit added and has an exact equal is
rewritten (heredocs, ``--link``, cache mounts); the rest is refused with line and reason.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.core.digest import digest_text, short
from workbench.sandboxing.dockerfile import Dockerfile, Heredoc, Instruction, expand
from workbench.sandboxing.landing import image

HEREDOCS = ".workbench-heredocs"
"""Folder of the context that holds what COPY heredocs write."""
_SCRIPT = 'f=/tmp/.heredoc; printf %s "$1" > $f && chmod 755 $f && $f; s=$?; rm -f $f; exit $s'
_ONLY_BUILDKIT = {
    "RUN": ("network", "security", "device"),
    "COPY": ("chmod", "parents", "exclude"),
    "ADD": ("chmod", "checksum", "exclude", "keep-git-dir", "unpack"),
}


@dataclass
class Translation:
    """The result: Dockerfile text, files to add to the context, and what was done or refused."""

    text: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)


def translate(dockerfile: Dockerfile, substitutes: Mapping[str, str] | None = None) -> Translation:
    """Rewrite a Dockerfile for the classic builder.

    Args:
        substitutes: base image as written -> image to start from in its place.
    """
    result = Translation()
    lines = dockerfile.text.split("\n")
    replaced: dict[int, tuple[int, str]] = {}
    for stage in dockerfile.stages:
        base = (substitutes or {}).get(stage.base)
        if base is not None:
            name = f" AS {stage.name}" if stage.name else ""
            replaced[stage.start.line] = (stage.start.end, f"FROM {base}{name}")
        shell = ["/bin/sh", "-c"]
        for instruction in stage.instructions:
            if instruction.keyword == "SHELL" and instruction.json:
                shell = list(instruction.json)
            text = _rewrite(dockerfile, instruction, shell, result)
            if text is not None:
                replaced[instruction.line] = (instruction.end, text)
    result.text = "\n".join(_lines(lines, replaced))
    return result


def _lines(lines: list[str], replaced: Mapping[int, tuple[int, str]]) -> list[str]:
    out: list[str] = []
    number = 1
    while number <= len(lines):
        end, text = replaced.get(number, (number, lines[number - 1]))
        out.append(text)
        number = end + 1
    return out


def _rewrite(
    dockerfile: Dockerfile, instruction: Instruction, shell: list[str], result: Translation
) -> str | None:
    """The instruction in classic form, ``None`` to leave it as it is."""
    where = f"line {instruction.line}: {instruction.keyword}"
    for flag in _ONLY_BUILDKIT.get(instruction.keyword, ()):
        if instruction.flag(flag) is not None:
            result.refusals.append(f"{where} --{flag} needs BuildKit")
    kept = tuple(flag for flag in instruction.flags if not _dropped(flag, where, result))
    if instruction.heredocs:
        write = _run_heredoc if instruction.keyword == "RUN" else _copy_heredoc
        result.notes.append(f"{where} heredoc written out")
        return write(dockerfile, instruction, shell, result)
    if kept == instruction.flags:
        return None
    words = instruction.text if instruction.json is None else json.dumps(instruction.json)
    flags = "".join(f"--{name}={value} " for name, value in kept)
    return f"{instruction.keyword} {flags}{words}"


def _dropped(flag: tuple[str, str], where: str, result: Translation) -> bool:
    """Whether a flag can go without changing the image (a cache mount leaves its cache there)."""
    name, value = flag
    if name == "link":
        return True
    if name != "mount":
        return False
    if "type=cache" in value.split(","):
        result.notes.append(f"{where} cache mount left out")
        return True
    result.refusals.append(f"{where} --mount={value} needs BuildKit")
    return False


def _run_heredoc(
    dockerfile: Dockerfile, instruction: Instruction, shell: list[str], result: Translation
) -> str:
    """``RUN <<EOF`` is a script for the shell, or with ``#!`` a program; else the shell reads heredocs."""
    if len(instruction.text.split()) == 1:
        script = instruction.heredocs[0].text
        if script.startswith("#!"):
            return "RUN " + json.dumps(["/bin/sh", "-c", _SCRIPT, "sh", script])
        return "RUN " + json.dumps([*shell, script])
    bodies = "".join(f"{heredoc.text}{heredoc.name}\n" for heredoc in instruction.heredocs)
    return "RUN " + json.dumps([*shell, f"{instruction.text}\n{bodies}"])


def _copy_heredoc(
    dockerfile: Dockerfile, instruction: Instruction, shell: list[str], result: Translation
) -> str:
    """``COPY <<name /target`` copies a file of that name that is added to the context."""
    *words, target = instruction.text.split()
    heredocs = iter(instruction.heredocs)
    known = {**dockerfile.args, **image(dockerfile).env}
    sources: list[str] = []
    for word in words:
        if "<<" in word:
            sources.append(_context_file(next(heredocs), known, dockerfile.escape, result))
        else:
            sources.append(word)
    flags = "".join(f"--{name}={value} " for name, value in instruction.flags if name != "link")
    return f"{instruction.keyword} {flags}{' '.join(sources)} {target}"


def _context_file(heredoc: Heredoc, known: Mapping[str, str], escape: str, result: Translation) -> str:
    """Add a heredoc's text to the context under its own name, and return the path."""
    text = heredoc.text
    if heredoc.expands:
        text = "".join(_expand_line(line, known, escape) for line in text.splitlines(keepends=True))
    path = posixpath.join(HEREDOCS, short(digest_text(text)), posixpath.basename(heredoc.name))
    result.files[path] = text.encode()
    return path


def _expand_line(line: str, known: Mapping[str, str], escape: str) -> str:
    """Variables of a heredoc line replaced; quotes are text there."""
    kept = line.replace("'", f"{escape}'").replace('"', f'{escape}"')
    return expand(kept, known, escape)
