"""Single files read and written by a small shell script run as the user, with exit codes of its own.

The scripts use a fixed PATH, so that nothing the agent put into the image's PATH answers for
them. A file that its owner has made unreadable or read-only is refused to its owner also when
that is root, whom the kernel would let through.
"""

from __future__ import annotations

import errno
import posixpath

from workbench.sandboxing.container import Container, Finished

_PIN = "PATH=/usr/sbin:/usr/bin:/sbin:/bin; export PATH\n"
_OWNER_MAY = r"""
owner_may() { # the owner's own mode bit, which does not bind root
  [ -O "$2" ] || return 0
  case $(ls -ldn -- "$2") in $1) return 0;; esac
  return 1
}
"""
READ = (
    _PIN
    + _OWNER_MAY
    + r"""
if [ -d "$1" ]; then exit 41; fi
if ! [ -e "$1" ]; then
  parent=$(dirname -- "$1")
  if [ -d "$parent" ] && ! [ -x "$parent" ]; then exit 42; fi
  exit 40
fi
[ -r "$1" ] && owner_may '?r*' "$1" || exit 42
[ -f "$1" ] || exit 43
exec head -c "$2" < "$1"
"""
)
WRITE = (
    _PIN
    + _OWNER_MAY
    + r"""
if [ -d "$1" ]; then exit 41; fi
parent=$(dirname -- "$1")
[ -d "$parent" ] || mkdir -p -- "$parent" || exit 44
if [ -e "$1" ]; then
  [ -w "$1" ] && owner_may '??w*' "$1" || exit 42
elif ! [ -w "$parent" ]; then exit 42; fi
cat > "$1" || exit 44
"""
)


class TransferError(OSError):
    """A file could not be moved for another reason than its path: disk full, device, broken tools."""


async def read(container: Container, path: str, *, shown: str, user: str | None, limit: int) -> bytes:
    """At most `limit` + 1 bytes of a regular file.

    Args:
        path: absolute; `shown` is how the caller called it.

    Raises:
        FileNotFoundError, IsADirectoryError, PermissionError: as they say.
        TransferError: not a regular file, or it cannot be read.
    """
    command = ["/bin/sh", "-c", READ, "sh", path, str(limit + 1)]
    done = await container.run(command, cwd="/", user=user, limit=limit + 4096)
    _check(done, shown, "read")
    return done.out.data()


async def write(container: Container, path: str, data: bytes, *, shown: str, user: str | None) -> None:
    """Write a whole file; missing parents are made. Raises as `read`."""
    command = ["/bin/sh", "-c", WRITE, "sh", path]
    _check(await container.run(command, given=data, cwd="/", user=user), shown, "write")


def absolute(path: str, workdir: str) -> str:
    """A path relative to the working directory; a trailing slash or dot is kept for its meaning."""
    joined = posixpath.join(workdir, path)
    clean = posixpath.normpath(joined)
    return clean + "/." if joined.endswith(("/", "/.")) and clean != "/" else clean


def _check(done: Finished, shown: str, what: str) -> None:
    if done.started and done.code == 0:
        return
    said = done.err.data().decode("utf-8", "replace").strip()
    if done.code == 40:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", shown)
    if done.code == 41:
        raise IsADirectoryError(errno.EISDIR, "Is a directory", shown)
    if done.code == 42 or "ermission denied" in said:
        raise PermissionError(errno.EACCES, "Permission denied", shown)
    if done.code == 43:
        raise TransferError(errno.EINVAL, "Not a regular file", shown)
    if "No space left" in said:
        raise TransferError(errno.ENOSPC, "No space left in the sandbox", shown)
    if "ot a directory" in said:
        raise NotADirectoryError(errno.ENOTDIR, "A parent is not a directory", shown)
    raise TransferError(errno.EIO, f"cannot {what} (exit code {done.code}): {said[:300]}", shown)
