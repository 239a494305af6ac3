"""The whole path in real containers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.evaluation.conftest import Bench

pytestmark = pytest.mark.docker

REWARD = "echo {} > /logs/verifier/reward.txt"


def test_one_image_serves_every_condition_and_the_treatment_is_proven(docker: Bench) -> None:
    docker.inspect("eval", "workbench/quickstart", "--router", "bm25", "-T", "tasks=waybill-repair")
    records = docker.records()
    assert {name: r.outcome.reward for name, r in records.items()} == {
        "waybill-repair@none": 0.0,
        "waybill-repair@gold": 1.0,
        "waybill-repair@routed-bm25": 1.0,
    }
    assert {r.sandbox for r in records.values()} == {"docker-sdk"}
    images = {r.image for r in records.values()}
    assert len(images) == 1
    assert str(images.pop()).startswith("sha256:")
    assert records["waybill-repair@gold"].exposure.installed[0].folder == "northline-waybill-check"


def test_the_agent_has_no_network_and_the_verifier_has_its_own(docker: Bench, suite_of) -> None:  # type: ignore[no-untyped-def]
    task = suite_of(docker.folder, "ls /sys/class/net > seen.txt; echo done > done.txt\n")
    suite = task.parent / "suite.yaml"
    suite.write_text(suite.read_text() + "verifier_network: public\n")
    (task / "tests" / "test.sh").write_text(
        "#!/bin/bash\nmkdir -p /logs/verifier\n"
        "if ! grep -q eth /app/seen.txt && ls /sys/class/net | grep -q eth; then R=1; else R=0; fi\n"
        + REWARD.format("$R")
    )
    docker.inspect("eval", "workbench/own", "--conditions", "gold")
    assert docker.records()["only@gold"].outcome.reward == 1.0


def test_one_failing_build_excludes_its_task_and_no_other(docker: Bench, suite_of) -> None:  # type: ignore[no-untyped-def]
    task = suite_of(docker.folder, "echo done > done.txt\n")
    broken = task.parent / "broken"
    shutil.copytree(task, broken)
    (broken / "environment" / "Dockerfile").write_text(
        "FROM python:3.12-slim\nRUN echo no such luck && exit 3\nCOPY skills /opt/.claude/skills\n"
    )
    docker.inspect("eval", "workbench/own", "--conditions", "gold", exits=4)
    log = docker.logs()[-1]
    outcomes = {str(s.id): s for s in log.samples or []}
    assert outcomes["only@gold"].error is None
    error = outcomes["broken@gold"].error
    assert error is not None
    assert "[infra:build]" in error.message
    assert "no such luck" in error.message
    report = docker.run("workbench", "report", exits=4)
    assert "infra:build" in report.stdout


def test_a_skill_that_the_image_brings_along_stops_the_run(docker: Bench, suite_of) -> None:  # type: ignore[no-untyped-def]
    task = suite_of(docker.folder, "echo done > done.txt\n")
    dockerfile = task / "environment" / "Dockerfile"
    dockerfile.write_text(dockerfile.read_text() + "RUN mkdir -p /opt/x && touch /opt/x/SKILL.md\n")
    done = docker.inspect("eval", "workbench/own", "--conditions", "none,gold", "--max-samples", "1", exits=4)
    causes = sorted(str(r.outcome.cause) for r in docker.records().values())
    assert causes == ["invalid_treatment", "stopped"]
    assert "no further trials are started" in done.stderr
    assert all(r.outcome.reward is None for r in docker.records().values())


def test_a_process_that_the_agent_left_behind_does_not_outlive_the_trial(docker: Bench, suite_of) -> None:  # type: ignore[no-untyped-def]
    import docker as sdk

    suite_of(docker.folder, "setsid sleep 1000 & echo done > done.txt\n")
    docker.inspect("eval", "workbench/own", "--conditions", "gold")
    record = docker.records()["only@gold"]
    assert record.outcome.reward == 1.0
    client = sdk.from_env()
    try:
        left = client.containers.list(all=True, filters={"ancestor": record.image})
    finally:
        client.close()
    assert left == []


def test_F36_an_agent_that_changes_its_skills_is_scored_and_told_apart(docker: Bench, suite_of) -> None:  # type: ignore[no-untyped-def]
    suite_of(
        docker.folder,
        "for s in /opt/.claude/skills/*/SKILL.md; do echo x >> $s; done; echo done > done.txt\n",
    )
    docker.inspect("eval", "workbench/own", "--conditions", "none,gold")
    outcomes = {name: record.outcome for name, record in docker.records().items()}
    assert outcomes["only@gold"].reward == 1.0
    assert outcomes["only@gold"].incidents == ("skills_changed",)
    assert "skills_changed" not in outcomes["only@none"].incidents


def test_F27_a_container_that_the_agent_used_up_is_scored_0_by_its_name_and_not_run_again(
    docker: Bench,
    suite_of,  # type: ignore[no-untyped-def]
) -> None:
    task = suite_of(docker.folder, "echo 1000 > /proc/1/oom_score_adj; cat /dev/zero > /dev/shm/x\n")
    (task / "task.toml").write_text('version = "1.0"\n[environment]\nmemory_mb = 32\n')
    docker.inspect("eval", "workbench/own", "--conditions", "gold")
    outcome = docker.records()["only@gold"].outcome
    assert (outcome.status, outcome.reward, outcome.cause) == ("scored", 0.0, "agent_resource")
    assert "out of memory" in outcome.detail
    (sample,) = docker.logs()[-1].samples or ()
    assert sample.error is None
    assert "1/1" in docker.run("workbench", "report").stdout


def test_F47_tests_that_ran_out_of_memory_say_so_and_the_trial_is_no_result(
    docker: Bench,
    suite_of,  # type: ignore[no-untyped-def]
) -> None:
    task = suite_of(docker.folder, "echo done > done.txt\n")
    (task / "task.toml").write_text('version = "1.0"\n[environment]\nmemory_mb = 32\n')
    (task / "tests" / "test.sh").write_text("#!/bin/bash\npython3 -c 'bytearray(1 << 30)'\nexit $?\n")
    docker.inspect("eval", "workbench/own", "--conditions", "gold", exits=4)
    outcome = docker.records()["only@gold"].outcome
    assert (outcome.status, outcome.reward, outcome.cause) == ("excluded", None, "verifier_error:resource")
    assert "memory ran out while the tests ran" in outcome.detail


def test_images_can_be_built_ahead_and_are_not_built_again(docker: Bench, suite_of) -> None:  # type: ignore[no-untyped-def]
    suite_of(docker.folder, "echo done > done.txt\n")
    assert "1 of 1 images are ready" in docker.run("workbench", "build", "own").stdout
    again = docker.run("workbench", "build", "own")
    assert "built" not in again.stderr
    broken = Path(docker.folder / "tasks" / "own" / "only" / "environment" / "Dockerfile")
    broken.write_text("FROM python:3.12-slim\nRUN exit 7\n")
    done = docker.run("workbench", "build", "own", exits=None)
    assert done.returncode == 2
    assert "0 of 1 images are ready" in done.stdout


HOSTILE = r"""#!/bin/bash
loot() { echo "$*" >> /app/loot; }
cat /tests/test.sh /solution/../tests/* 2> /dev/null && loot tests
find / -xdev -name 'test.sh' 2> /dev/null | grep -q . && loot test.sh
python3 - <<'PY' && loot network
import socket, sys
from concurrent.futures import ThreadPoolExecutor
def reached(at):
    try:
        return bool(socket.create_connection(at, 2))
    except OSError:
        return False
hosts = ["172.17.0.1", "169.254.169.254", "1.1.1.1", "pypi.org", "host.docker.internal"]
targets = [(host, port) for host in hosts for port in (22, 53, 80, 2375)]
sys.exit(not any(ThreadPoolExecutor(32).map(reached, targets)))
PY
env | grep -q CANARY-51f3 && loot environment
cat /proc/*/environ 2> /dev/null | grep -aq CANARY-51f3 && loot environ
ls /var/run/docker.sock 2> /dev/null && loot socket
mount -t tmpfs x /mnt 2> /dev/null && loot mount
packages=$(python3 -c 'import site; print(site.getsitepackages()[0])')
mkdir -p $packages/evil-1.dist-info
printf '[pytest11]\nevil = evil\n' > $packages/evil-1.dist-info/entry_points.txt
cd $packages; printf 'import os; os._exit(0)\n' | tee sitecustomize.py usercustomize.py > evil.pth; cd /app
printf 'import pytest\n' | tee /conftest.py > /app/conftest.py
printf '#!/bin/sh\nexit 0\n' | tee /usr/local/bin/grep > /usr/local/bin/pytest; chmod +x /usr/local/bin/*
cp /usr/local/bin/grep /usr/bin/grep.new; mv /usr/bin/grep.new /usr/bin/grep
printf '#!/bin/sh\necho 1\n' > /usr/bin/bash.new; chmod +x /usr/bin/bash.new
real=$(readlink -f $(command -v python3)); cp /bin/true $real.new; mv $real.new $real
echo /app/evil.so > /etc/ld.so.preload; export LD_PRELOAD=/app/evil.so
rm -rf /logs/verifier /tests; mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; ln -s /app /tests
cat > /app/again <<'LOOP'
while :; do mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; done
LOOP
setsid env -i sh /app/again > /dev/null 2>&1 &
mv /usr/bin/bash.new /usr/bin/bash
"""
ACTS = {
    "forks": "f() { f | f & }; f 2> /dev/null & while :; do :; done\n",
    "disk": "head -c 400M /dev/zero > /app/fill; sleep 60\n",
}
HOW_IT_ENDED = {
    "forks": {"agent_timeout"},
    "disk": {"solution_failed", "disk_limit"},
}
MAY_BE_MET = {"forks": {"pids_limit"}, "disk": set()}
"""On a busy machine the time may be over before there are too many processes."""
JUDGE = r"""#!/bin/bash
R=0
found() { R=1; echo "the agent got: $*"; }
[ -s /app/loot ] && found "$(cat /app/loot)"
[ -e /etc/ld.so.preload ] && found the loader
[ -e /conftest.py ] && found pytest
command -v pytest && found a program
[ -L /tests ] && found a link
[ "$(python3 -c 'print(6 * 7)')" = 42 ] || found the interpreter
[ "$(printf 'a\nb\n' | grep -c b)" = 1 ] || found grep
cat /proc/[0-9]*/cmdline | grep -aq 'agai[n]' && found a process
echo $R > /logs/verifier/reward.txt
"""


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("verifier", ["fresh", "shared"])
def test_F46_a_hostile_agent_gets_nothing_and_is_scored_for_what_it_did(
    docker: Bench,
    suite_of,  # type: ignore[no-untyped-def]
    verifier: str,
    act: str,
) -> None:
    task = suite_of(docker.folder, HOSTILE + ACTS[act])
    (task / "tests" / "test.sh").write_text(JUDGE)
    limits = "[agent]\ntimeout_sec = 7\n[verifier]\ntimeout_sec = 20\n[environment]\nstorage_mb = 64\n"
    (task / "task.toml").write_text(f'version = "1.0"\n{limits}')
    docker.env["CANARY"] = "CANARY-51f3"
    docker.inspect("eval", "workbench/own", "--conditions", "gold", "-T", f"verifier={verifier}")
    outcome = docker.records()["only@gold"].outcome
    (sample,) = docker.logs()[-1].samples or ()
    said = (sample.scores or {})["workbench"].explanation
    assert (outcome.status, outcome.reward, outcome.cause) == ("scored", 0.0, None), said
    swept = {"swept:loader", "swept:program", "swept:pytest", "swept:python"}
    ended = set(outcome.incidents) - swept
    assert swept <= set(outcome.incidents)
    assert HOW_IT_ENDED[act] <= ended <= HOW_IT_ENDED[act] | MAY_BE_MET[act]


LOOK = r"""
{
  env; hostname; cat /etc/hostname /etc/hosts /proc/mounts; cat /proc/[0-9]*/environ | tr '\0' '\n'
  cat /proc/[0-9]*/cmdline | tr '\0' ' '; ls -laR /app /logs /tmp /var/tmp /home /srv /opt /mnt /media
} > /app/world.txt 2>&1
"""


def test_F42_an_agent_cannot_see_which_trial_it_is_in(docker: Bench, suite_of) -> None:  # type: ignore[no-untyped-def]
    task = suite_of(docker.folder, LOOK)
    suite = task.parent / "canary-task"
    task.rename(suite)
    (suite / "environment" / "skills" / "finisher").rename(suite / "environment" / "skills" / "canary-skill")
    (suite / "tests" / "test.sh").write_text(
        "#!/bin/bash\n[ -s /app/world.txt ] || exit 1\n"
        "if grep -iE 'canary|finisher|workbench|inspect|@none|baseline|condition' /app/world.txt; "
        "then R=0; else R=1; fi\n" + REWARD.format("$R") + "\n"
    )
    docker.inspect("eval", "workbench/own", "--conditions", "none")
    (record,) = docker.records().values()
    assert record.task == "canary-task"
    assert record.outcome.reward == 1.0, record.outcome.detail
