"""What the kernel counted in a container: processes killed for want of memory, and forks refused."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.sandboxing.container import Container

_SCRIPT = """
count() { [ -r "$1" ] && while read -r key value; do [ "$key" = "$2" ] && echo "$3 $value"; done < "$1"; }
for root in /sys/fs/cgroup /sys/fs/cgroup/memory /sys/fs/cgroup/pids; do
  count $root/memory.events oom_kill memory
  count $root/memory.oom_control oom_kill memory
  count $root/pids.events max pids
done
"""
"""POSIX shell, builtins only; for both versions of cgroups."""


@dataclass(frozen=True)
class Counts:
    """How often a container met a limit since it was started; 0 also where the kernel does not say.

    Attributes:
        memory: processes killed because memory ran out.
        pids: forks refused because there were too many processes.
    """

    memory: int = 0
    pids: int = 0


async def count(container: Container) -> Counts:
    """Ask the kernel, as root. Raises what `Container.run` raises."""
    done = await container.run(["/bin/sh", "-c", _SCRIPT], cwd="/", user="0", timeout=20, fast=False)
    lines = (line.split() for line in done.out.data().decode("ascii", "replace").splitlines())
    found = {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdigit()}
    return Counts(found.get("memory", 0), found.get("pids", 0))
