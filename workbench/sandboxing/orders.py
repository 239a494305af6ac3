"""Where the programs of an image take their orders from: paths that a verifier trusts, as tables of patterns.

The shell, loader, interpreters, pytest and installers of an image read their code and settings from these
places. `sweep` decides by them what of an agent's changes may stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

Reason = Literal[
    "places",
    "cache",
    "installs",
    "loader",
    "program",
    "library",
    "python",
    "package",
    "pytest",
    "tools",
    "jobs",
]
Table = tuple[tuple[Reason, re.Pattern[str]], ...]
QUIET = frozenset(("places", "cache", "installs"))
"""Reasons that say nothing of how an agent works; they are no incident."""
PLACES = ("/tests", "/solution", "/logs/verifier")
"""Where nothing of the agent's may lie: tests, reference solution, reward."""
LOADER_CACHE = "/etc/ld.so.cache"
VERIFIERS_PROGRAMS = frozenset(("pytest", "py.test", "uv", "uvx"))
"""Programs that a verifier installs for itself or finds in the image, but never takes from an agent."""

_HOME = r"/(?:root|home/[^/]+)/"
_PACKAGES = r".*/(?:site|dist)-packages/"
_ELSEWHERE = r"(?!.*/(?:site|dist)-packages/)"
_PYTHON = r"(?P<home>.*/lib(?:64)?/python[\d.]*)/(?!(?:site|dist)-packages(?:/|$))"
_PYTEST = (
    r"(?:_pytest|pytest|pytest_[a-z_]+|pluggy|iniconfig|packaging|pygments|exceptiongroup|tomli|argcomplete)"
)
_INSTALLERS = r"(?:pip|setuptools|_distutils_hack|pkg_resources|wheel|uv)"
_NEVER: tuple[tuple[Reason, str], ...] = (
    ("places", "(?:" + "|".join(map(re.escape, PLACES)) + r")(?:/.*)?"),
    ("cache", re.escape(LOADER_CACHE)),
    ("loader", r"/etc/ld\.so\..*"),
    ("loader", r"/etc/(?:nsswitch\.conf|ssl/openssl\.cnf)"),
    ("loader", r".*/(?:ld-linux[^/]*|ld-[\d.]+|ld-musl[^/]*|lib(?:c|dl|m|pthread|rt)(?:-[\d.]+)?)\.so[^/]*"),
    ("loader", r".*/gconv(?:/.*)?/gconv-modules[^/]*(?:/.*)?"),
    ("python", r".*/(?:site|user)customize(?:\.[^/]*|/.*)?"),
    ("pytest", _ELSEWHERE + r".*/(?:conftest\.py|\.?pytest\.ini)"),
    ("pytest", r"/(?:pyproject\.toml|tox\.ini|setup\.cfg|setup\.py)"),
    ("pytest", rf".*/{_PYTEST}(?:\.py|/__init__\.py)"),
    ("pytest", _PACKAGES + rf"{_PYTEST}(?:/.*|-[^/]*\.(?:dist|egg)-info(?:/.*)?)?"),
    ("tools", _PACKAGES + rf"{_INSTALLERS}(?:/.*|\.py|-[^/]*\.(?:dist|egg)-info(?:/.*)?)?"),
    ("tools", r"/etc/(?:dpkg/dpkg\.cfg(?:\.d)?|perl)(?:/.*)?"),
    ("tools", _HOME + r"\.dpkg\.cfg"),
    ("tools", _HOME + r"\.(?:curlrc|wgetrc|netrc|npmrc|pydistutils\.cfg)"),
    ("tools", _HOME + r"\.(?:pip|config/pip|config/uv)(?:/.*)?"),
    ("tools", _HOME + r"\.local/bin/(?:uvx?|env(?:\.[^/]*)?|py\.?test)"),
    ("tools", r"/etc/(?:pip\.conf|wgetrc|uv(?:/.*)?|apt/(?:apt\.conf|auth\.conf)(?:\.d)?(?:/.*)?)"),
    ("installs", r"/etc/apt/.+|/var/(?:lib/(?:dpkg|apt)|cache/(?:apt|debconf))(?:/.*)?"),
    ("installs", r"/usr/(?:local/)?(?:lib|share)(?:/[^/]+)?/(?:perl|perl5|perl-base|site_perl)(?:/.*)?"),
    ("cache", _HOME + r"\.cache/(?:pip|uv)(?:/.*)?"),
)
_KEPT_BY_SYSTEM = r"(?!.*(?:\.cache|/locale-archive)$)"
JOBS = re.compile(r"/var/spool/(?:cron|at|anacron)(?:/.*)?|/etc/(?:crontab|anacrontab|cron\.[^/]*(?:/.*)?)")
"""What a scheduler that an ENTRYPOINT starts would run beside the verifier."""
STANDARD = re.compile(_PYTHON + r"(?!.*__pycache__).*")
"""The standard library of the Python at ``home``, in which a new package would hide a module of its name."""
TO_READ = re.compile(_PACKAGES + r"(?:[^/]*\.pth|[^/]*\.(?:dist|egg)-info/entry_points\.txt)")
"""Files that may tell Python or pytest to run something."""
COMPILED = re.compile(r"(?P<folder>.*)/__pycache__/(?P<name>[^/.]+)\.[^/]*\.pyc")


def never(prefixes: Iterable[str]) -> Table:
    """Reason -> paths that may neither be added nor changed.

    Args:
        prefixes: folders that hold a ``bin`` and a ``lib``, such as ``/usr``.
    """
    places = r"/(?:lib(?:64)?/python\d+\.zip(?:/.*)?|(?:s?bin/)?pyvenv\.cfg)"
    return _compiled((("python", f"(?:{_any_of(prefixes)}){places}"), *_NEVER))


def owned(prefixes: Iterable[str]) -> Table:
    """Reason -> files that are the image's to change; new ones may be added.

    Args:
        prefixes: as for `never`.
    """
    libraries = f"{_prefix(prefixes)}/lib(?:32|64|x32|exec)?/"
    return _compiled(
        (
            ("loader", libraries + r".*\.so(?:\.[^/]*)?"),
            ("loader", r"/etc/ssl/certs/ca-certificates\.crt"),
            ("python", _PYTHON + r".*|.*/pyvenv\.cfg"),
            ("program", r".*/bin/python[\d.]*|/etc/alternatives/.*"),
            ("library", _KEPT_BY_SYSTEM + libraries + r".*"),
            ("library", r"/usr/(?:local/)?share/(?:python|debconf|dpkg|nodejs|java|ruby)[^/]*/.*"),
        )
    )


def package_pattern(prefixes: Iterable[str]) -> re.Pattern[str]:
    """Paths below the package folders of an image's Pythons; groups: ``folder``, ``top`` (first name)."""
    return re.compile(
        rf"(?P<folder>(?:{_prefix(prefixes)}|{_HOME}\.local)/lib(?:64)?/python[\d.]*/(?:site|dist)-packages)"
        r"/(?P<top>[^/]+)(?:/.*)?"
    )


def folder_pattern(prefixes: Iterable[str]) -> re.Pattern[str]:
    """Folders of libraries that must still be folders, or nothing below them is what it seems."""
    within = r"(?:/[^/]*-linux-[^/]*|/python[\d.]*(?:/(?:site|dist)-packages)?)?"
    return re.compile(rf"{_prefix(prefixes)}/lib(?:32|64|x32|exec)?{within}")


def searched_after(folder: str) -> tuple[str, ...]:
    """Package folders in which Python looks for a module after this one, as CPython and Debian order them.

    Source: https://docs.python.org/3/library/site.html and Debian's Python policy, section 2.5.
    """
    version = folder.split("/")[-2]
    debian = ("/usr/lib/python3/dist-packages", f"/usr/lib/{version}/dist-packages")
    local = tuple(f"/usr/local/lib/{version}/{name}-packages" for name in ("site", "dist"))
    if "/.local/" in folder:
        return (*local, *debian)
    return debian if folder == local[1] else ()


def _prefix(prefixes: Iterable[str]) -> str:
    return rf"(?:{_any_of(prefixes)}|/opt/[^/]+)"


def _any_of(prefixes: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(prefixes)))


def _compiled(rows: Iterable[tuple[Reason, str]]) -> Table:
    return tuple((reason, re.compile(pattern, re.DOTALL)) for reason, pattern in rows)
