"""Killing everything that one exec started, also what has left its process group and session.

Every exec carries a random token in its environment, which children inherit. A second exec of
the shell, builtins only so that it works where nothing can fork any more, walks ``/proc`` for
the token and for children of what has it, stops what it finds until nothing new appears, and
kills it, until two walks in a row find nothing. A daemon that dropped its environment
(``env -i``) and its parents is known by its parent (process 1), by its age (not older than the
exec) and by having no token of another exec that runs. A container that is crowded, or in which something
new keeps coming, holds a fork bomb, which only the kernel outruns: there the user's processes
are all killed at once.
"""

from __future__ import annotations

from collections.abc import Collection

KILL_ALL_SIGNAL = "USR1"
MAIN_PROCESS = (
    "/bin/sh",
    "-c",
    f"trap '' HUP INT QUIT TERM; trap 'kill -KILL -1' {KILL_ALL_SIGNAL};"
    " while :; do command eval 'sleep 2147483647 & wait'; done",
)
"""Process 1 of every container. As process 1 it survives ``kill -9 -1``, which would end an init
whose child it kills; it reaps what is orphaned; where a fork fails it tries again (``command
eval`` keeps the shell from giving up); and asked by signal it kills everything but itself,
which works even where no new process gets a turn. Other signals by which an agent could end it
are ignored."""

TOKEN = "SANDBOX_EXEC"
"""Name of the variable that carries the token."""

SCRIPT = rf"""
token=$1 oldest=; shift
others=$* alone=0; [ "$others" ] || alone=1
crowded() {{ set -- /proc/[0-9]*; [ $# -gt 100 ]; }}
crowded && kill -KILL -1
stat() {{ # sets state, parent and born of a process
  IFS= read -r line < /proc/$1/stat || return 1
  set -- ${{line##*) }}
  state=$1 parent=$2; shift 19; born=$1
}} 2>/dev/null
owner() {{ # sets whose: mine, other, nobody, unknown
  whose=unknown
  {{ whose=nobody
    while IFS= read -r line || [ -n "$line" ]; do
      case $line in *{TOKEN}="$token"*) whose=mine; return;; esac
      for other in $others; do
        case $line in *{TOKEN}="$other"*) whose=other; return;; esac
      done
    done
  }} < /proc/$1/environ
}} 2>/dev/null
victim() {{
  case $found in *" $parent "*) return 0;; esac
  owner $1
  case $whose in
    mine) [ -n "$oldest" ] && [ "$oldest" -le "$born" ] || oldest=$born; return 0;;
    other) return 1;;
    unknown) [ $alone = 1 ] || return 1;;
  esac
  [ "$parent" = 1 ] && [ -n "$oldest" ] && [ "$born" -ge "$oldest" ]
}}
walk() {{ # stops what belongs to the exec; new=1 when something was found
  new=0
  for dir in /proc/[0-9]*; do
    p=${{dir#/proc/}}
    [ $p = 1 ] || [ $p = $$ ] && continue
    case $found in *" $p "*) continue;; esac
    stat $p || continue
    [ $state = Z ] && continue
    victim $p && kill -STOP $p 2>/dev/null && found="$found$p " new=1
  done
}}
empty=0 rounds=0
while [ $empty -lt 2 ] && [ $rounds -lt 60 ]; do
  rounds=$((rounds+1))
  if [ $rounds -gt 5 ] || crowded; then kill -KILL -1; fi
  found=' ' new=1
  while [ $new = 1 ]; do walk; done
  if [ "$found" = ' ' ]; then empty=$((empty+1)); else empty=0; kill -KILL $found 2>/dev/null; fi
done
[ $empty = 2 ]
"""
"""POSIX shell, builtins only. Arguments: the token, then those of execs that run beside it."""


def kill_command(token: str, others: Collection[str]) -> list[str]:
    """The exec that kills what the exec with this token started; fails when something keeps coming.

    Args:
        others: tokens of the execs that run beside it; any other token is a process' own invention.
    """
    return ["/bin/sh", "-c", SCRIPT, "sh", token, *sorted(others)]


KILL_OTHERS = r"""
spared=" $* "
stat() { # sets state, parent and born of a process
  IFS= read -r line < /proc/$1/stat || return 1
  set -- ${line##*) }
  state=$1 parent=$2; shift 19; born=$1
} 2>/dev/null
rounds=0 found=1
while [ "$found" ] && [ $rounds -lt 20 ]; do
  rounds=$((rounds+1)) found=
  for dir in /proc/[0-9]*; do
    p=${dir#/proc/}
    [ $p = 1 ] || [ $p = $$ ] && continue
    stat $p || continue
    [ $state = Z ] && continue
    case $spared in *" $p:$born "*|*" $parent:"*) continue;; esac
    kill -KILL $p 2>/dev/null && found=1
  done
done
[ -z "$found" ]
"""
"""POSIX shell, builtins only: kills all but process 1, those given as ``pid:start``, and their children."""

PROCESSES = r"""
for dir in /proc/[0-9]*; do
  p=${dir#/proc/}
  [ $p = 1 ] || [ $p = $$ ] && continue
  IFS= read -r line < /proc/$p/stat || continue
  set -- ${line##*) }
  shift 19
  echo $p:$1
done 2>/dev/null
"""
"""POSIX shell, builtins only: the processes of a container as ``pid:start``."""
