"""Where the programs of an image take their orders from: paths that a verifier trusts, as tables of patterns.

The shell, loader, interpreters, pytest and installers of an image read their code and settings from these
places. `sweep` decides by them what of an agent's changes may stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
    "system",
]
Rows = Sequence[tuple[Reason, str]]
QUIET = frozenset(("places", "cache", "installs"))
"""Reasons that say nothing of how an agent works; they are no incident."""
PLACES = ("/tests", "/solution", "/logs/verifier")
"""Where nothing of the agent's may lie: tests, reference solution, reward."""
LOADER_CACHE = "/etc/ld.so.cache"
VERIFIERS_PROGRAMS = frozenset(("pytest", "py.test", "uv", "uvx"))
"""Programs that a verifier installs for itself or finds in the image, but never takes from an agent."""
FETCHERS = frozenset(("curl", "wget", "pip", "pip3"))
"""Programs by which it installs them; where the image has none, neither has the agent."""
RECORDED = frozenset(("packaging", "pygments", "exceptiongroup", "tomli", "argcomplete"))
"""Modules that pytest takes up and other packages need: they stay where an installer recorded them."""
LINKERS_FOLDER = "glibc-hwcaps"

_END = r"(?:/|\Z)"
_HOME = r"/(?:root|home/[^/]+)"
_VERSION = r"python\d[\d.]*"
_NOT_PACKAGES = r"(?!(?:site|dist)-packages(?:/|\Z))"
_PYTEST = r"(?:_pytest|pytest|pytest_[a-z_]+|pluggy|iniconfig)"
_INSTALLERS = r"(?:pip|setuptools|_distutils_hack|pkg_resources|wheel|uv)"
_MODULE = rf"(?:{_END}|\.[^/]*\Z|-[^/]*\.(?i:dist|egg)-(?i:info){_END})"
_KEPT_BY_SYSTEM = r"(?!.*(?:\.cache|/locale-archive)\Z)"
JOBS = re.compile(r"/var/spool/(?:cron|at|anacron)(?:/.*)?|/etc/(?:crontab|anacrontab|cron\.[^/]*(?:/.*)?)")
"""What a scheduler that an ENTRYPOINT starts would run beside the verifier."""
STANDARD = re.compile(
    rf"(?P<home>.*/lib(?:64)?/{_VERSION})/{_NOT_PACKAGES}(?!(?:.*/)?__pycache__(?:/|\Z)).*", re.DOTALL
)
"""The standard library of the Python at ``home``, in which a new package would hide a module of its name."""
PATH_FILE = re.compile(r".*/(?:site|dist)-packages/[^/]*\.pth", re.DOTALL)
"""Files that may tell Python to run something, or where else to look."""
ENTRY_POINTS = re.compile(
    r"(?P<record>.*/(?:site|dist)-packages/[^/]*(?:[.-]info|\.egg/egg-info))/entry_points\.txt",
    re.DOTALL | re.IGNORECASE,
)
"""Files that may tell pytest to run something; their folder is the group ``record``."""
COMPILED = re.compile(r"(?P<folder>.*)/__pycache__/(?P<name>[^/.]+)\.[^/]*\.pyc", re.DOTALL)
PERL = re.compile(
    r"(?P<folder>/etc/perl|/usr/(?:local/)?(?:lib|share)(?:/[^/]+)?/(?:perl5?|site_perl)(?:/\d[\d.]*)?)/(?P<module>.+)",
    re.DOTALL,
)
"""Modules of Perl outside its own library; groups ``folder`` and ``module``."""
PERLS_OWN = ("/usr/lib/*/perl-base", "/usr/share/perl/*", "/usr/lib/*/perl/*", "/usr/lib/*/perl5/*")


class Patterns:
    """Reason -> pattern, looked up at once. The first pattern that is found tells the reason."""

    def __init__(self, rows: Rows) -> None:
        groups = (f"(?P<{reason}_{at}>{pattern})" for at, (reason, pattern) in enumerate(rows))
        self._joined = re.compile("|".join(groups), re.DOTALL)
        self._reasons: dict[str, Reason] = {f"{reason}_{at}": reason for at, (reason, _) in enumerate(rows)}

    def reason(self, path: str) -> Reason | None:
        """The reason of a path, ``None`` where no pattern is found in it."""
        match = self._joined.search(path)
        return None if match is None else self._reasons[match.lastgroup or ""]


def never(prefixes: Iterable[str]) -> Patterns:
    """Paths that may neither be added nor changed.

    Args:
        prefixes: folders that hold a ``bin`` and a ``lib``, such as ``/usr``.
    """
    own = f"(?:{_any_of(prefixes)})"
    libraries = rf"\A{own}/lib(?:32|64|x32)?/(?:[^/]+/)?"
    packages = rf"\A(?:{own}|{_HOME}/\.local)/lib(?:64)?/python[\d.]*/(?:site|dist)-packages/"
    return Patterns(
        (
            ("places", rf"\A(?:{'|'.join(map(re.escape, PLACES))}){_END}"),
            ("cache", rf"\A{re.escape(LOADER_CACHE)}\Z"),
            ("installs", rf"\A/etc/ld\.so\.conf\.d{_END}"),
            ("loader", r"\A/etc/ld\.so\.(?:conf|preload)\Z"),
            ("loader", r"\A/etc/(?:nsswitch\.conf|ssl/openssl\.cnf)\Z"),
            ("loader", libraries + r"(?:ld-linux[^/]*|ld-[\d.]+|ld-musl[^/]*)\.so[^/]*\Z"),
            ("loader", libraries + r"lib(?:c|dl|m|pthread|rt)(?:-[\d.]+)?\.so[^/]*\Z"),
            ("loader", libraries + rf"(?:{LINKERS_FOLDER}{_END}|gconv/gconv-modules)"),
            ("python", rf"/(?:site|user)customize(?:\.[^/]*)?{_END}"),
            ("python", r"\._pth\Z"),
            ("python", rf"\A{own}/lib(?:64)?/python\d+\.zip{_END}"),
            ("python", rf"\A{own}/(?:s?bin/)?(?:pyvenv\.cfg|pybuilddir\.txt)\Z"),
            ("python", rf"{packages}apport_python_hook{_MODULE}"),
            ("pytest", r"\A/(?:conftest\.py|\.?pytest\.(?:ini|toml))\Z"),
            ("pytest", r"\A/(?:pyproject\.toml|tox\.ini|setup\.cfg|setup\.py)\Z"),
            ("pytest", f"{packages}{_PYTEST}{_MODULE}"),
            ("tools", f"{packages}{_INSTALLERS}{_MODULE}"),
            ("tools", rf"\A{own}/(?:etc/)?(?:pip\.conf|npmrc)\Z"),
            ("tools", rf"\A/etc/(?:dpkg/dpkg\.cfg|apt/apt\.conf|apt/auth\.conf)(?:\.d)?{_END}"),
            ("tools", rf"\A/etc/(?:pip\.conf\Z|wgetrc\Z|uv{_END}|xdg/(?:pip|uv){_END})"),
            ("tools", rf"\A/etc/ca-certificates/update\.d{_END}"),
            ("tools", rf"\A/usr/share/python3/runtime\.d{_END}"),
            ("tools", r"\A/usr/(?:sbin/policy-rc\.d|local/sbin/(?:adduser|deluser)\.local)\Z"),
            ("tools", rf"\A{_HOME}/\.(?:curlrc|wgetrc|netrc|npmrc|dpkg\.cfg|pydistutils\.cfg)\Z"),
            ("tools", rf"\A{_HOME}/\.(?:pip|config/pip|config/uv){_END}"),
            ("tools", rf"\A{_HOME}/\.local/bin/(?:uvx?|env(?:\.[^/]*)?|py\.?test)\Z"),
            ("installs", rf"\A(?:/etc/apt|/var/lib/(?:dpkg|apt)|/var/cache/(?:apt|debconf)){_END}"),
            ("cache", rf"\A{_HOME}/\.cache/(?:pip|uv){_END}"),
        )
    )


def owned(prefixes: Iterable[str]) -> Patterns:
    """Files that are the image's to change; new ones may be added.

    Args:
        prefixes: as for `never`.
    """
    libraries = rf"\A(?:{_any_of(prefixes)})/lib(?:32|64|x32|exec)?/"
    return Patterns(
        (
            ("loader", libraries + r".*\.so(?:\.[^/]*)?\Z"),
            ("loader", r"\A/etc/ssl/certs/ca-certificates\.crt\Z"),
            ("python", rf"\A.*(?:/lib(?:64)?/{_VERSION}/{_NOT_PACKAGES}|/pyvenv\.cfg\Z)"),
            ("program", r"\A.*/bin/python[\d.]*\Z|\A/etc/alternatives/"),
            ("library", _KEPT_BY_SYSTEM + libraries),
            (
                "library",
                r"\A/etc/perl/|\A/usr/(?:local/)?share/(?:python|perl|debconf|dpkg|nodejs|java|ruby)",
            ),
        )
    )


def package_pattern(prefixes: Iterable[str]) -> re.Pattern[str]:
    """Paths below the package folders of an image's Pythons; groups: ``folder``, ``top`` (first name)."""
    return re.compile(
        rf"(?P<folder>(?:{_any_of(prefixes)}|/opt/[^/]+|{_HOME}/\.local)"
        r"/lib(?:64)?/python[\d.]*/(?:site|dist)-packages)/(?P<top>[^/]+)(?:/.*)?",
        re.DOTALL,
    )


def library_pattern(prefixes: Iterable[str]) -> re.Pattern[str]:
    """Libraries where the loader looks for them."""
    return re.compile(
        rf"(?:{_any_of(prefixes)})/lib(?:32|64|x32)?/(?:[^/]*-linux-[^/]*/)?[^/]*\.so(?:\.[^/]*)?", re.DOTALL
    )


def above_pattern(prefixes: Iterable[str], programs: Iterable[str]) -> re.Pattern[str]:
    """Folders above the places of this module: what is no folder there leads somewhere else.

    Args:
        programs: folders that ``PATH`` names.
    """
    known = {part for each in (*prefixes, *programs) for part in _parents(each)}
    python = r"python[\d.]*(?:/(?:site|dist)-packages)?"
    libraries = rf"(?:{_any_of(prefixes)})/lib(?:32|64|x32|exec)?(?:/[^/]*-linux-[^/]*|/{python})?"
    homes = rf"/home|{_HOME}(?:/\.(?:cache|config|local(?:/bin|/lib(?:64)?(?:/{python})?)?))?"
    system = (
        r"/etc(?:/(?:apt|dpkg|ssl|perl|xdg|ca-certificates|alternatives))?|/var(?:/(?:lib|cache))?|/logs|/opt"
    )
    shares = r"/usr(?:/local)?/(?:share|etc)(?:/(?:python3|debconf|dpkg|perl5?))?"
    return re.compile("|".join((_any_of(known), libraries, homes, system, shares)), re.DOTALL)


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


def searched_beside(prefixes: Iterable[str]) -> tuple[str, ...]:
    """Folders of modules that a script's own folder stands before; with ``*`` as a shell takes it."""
    homes = tuple(f"{prefix}/lib/python3*" for prefix in sorted(prefixes) if prefix)
    return homes + tuple(f"{home}/*-packages" for home in homes)


def _parents(folder: str) -> Iterable[str]:
    parts = folder.rstrip("/").split("/")
    return ("/".join(parts[:end]) for end in range(2, len(parts) + 1))


def _any_of(folders: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(folders)))
