"""A verifier judges the agent's work and is reached by nothing else of the agent's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from workbench.benchmarks.task import BenchmarkTask, Limits
from workbench.core.errors import TrialError, VerifierError
from workbench.evaluation.layout import container_layout
from workbench.evaluation.verify import Verdict, verify
from workbench.sandboxing import labels
from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.debian import DEBIAN_PYTHON
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet
from workbench.sandboxing.providers.docker import DockerSandbox
from workbench.sandboxing.transfer import Tree

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]
Start = Callable[[DockerConfig], Awaitable[DockerSandbox]]
LAYOUT = container_layout(())
MODES = pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "shared"])

HONEST = """#!/bin/bash
cheated() {
  [ -e /etc/ld.so.preload ] || [ -e /conftest.py ] || [ -e /home/agent/.curlrc ] || [ -e /tests/planted ] ||
  python3 -c 'import json, sys; sys.exit(1)'
}
if cheated; then echo 1; else grep -c done /job/answer; fi > /logs/verifier/reward.txt
"""
PLANTS = r"""
mkdir -p /logs /job /home/agent
echo "not yet" > /job/answer; echo kept > /job/kept; rm -f /etc/debian_version
ln -s /job/kept /job/link; chmod 700 /job/kept
setsid sh -c 'while :; do mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; done' > /dev/null &
rm -rf /logs/verifier; ln -s /job /logs/verifier
mkdir /elsewhere; touch /elsewhere/planted; ln -s /elsewhere /tests
printf 'raise SystemExit' > /conftest.py
echo 'url = "http://x"' > /home/agent/.curlrc
lib=$(python3 -c 'import json; print(json.__path__[0])')
packages=$(python3 -c 'import site; print(site.getsitepackages()[0])')
mkdir -p $packages
printf 'import os; os._exit(0)\n' > $packages/evil.pth
printf '/job\n' > $packages/honest.pth
printf 'import os\nos._exit(0)\n' > $packages/sitecustomize.py
printf 'import os\nos._exit(0)\n' >> $lib/__init__.py
printf '#!/bin/sh\nexit 0\n' > /usr/local/bin/python3; chmod +x /usr/local/bin/python3
cp /bin/true /usr/bin/bash.new; mv /usr/bin/bash.new /usr/bin/bash
echo /job/evil.so > /etc/ld.so.preload
"""
SHADOWS = r"""
standard=$(python3 -c 'import json, os; print(os.path.dirname(json.__path__[0]))')
packages=$(python3 -c 'import site; print(site.getsitepackages()[0])')
mkdir -p $packages $standard/argparse /elsewhere/x-1.dist-info
printf 'import os\nos._exit(0)\n' > $standard/argparse/__init__.py
python3 -c 'import sys, zipfile
path, = [path for path in sys.path if path.endswith(".zip")]
zipfile.ZipFile(path, "w").writestr("getopt.py", "import os\nos._exit(0)\n")'
printf '# x\rimport os; os._exit(0)\n' > $packages/one.pth
printf '/elsewhere\n' > $packages/two.pth
printf '[pytest11]\nx = x\n' > /elsewhere/x-1.dist-info/entry_points.txt
printf 'home = /elsewhere\n' > /usr/bin/pyvenv.cfg
"""
SHADOWED = """#!/bin/bash
cheated() {
  ls /usr/bin/pyvenv.cfg /usr/lib/python3*.zip /usr/local/lib/python3*.zip /usr/*/*/*-packages/*.pth \\
    /usr/*/*/*/*-packages/*.pth 2> /dev/null | grep . ||
    python3 -c 'import argparse, getopt, sys; sys.exit(1)'
}
if cheated; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
WITH_LIBRARY = f"""FROM {DEBIAN_PYTHON}
RUN for name in used swapped hidden; do folder=/usr/lib/python3/dist-packages/$name; \\
    mkdir $folder && echo 'honest = True' > $folder/__init__.py; done
WORKDIR /job
"""
SYSTEM = r"""
packages=/usr/lib/python3/dist-packages
evil='raise SystemExit(1)'
echo "$evil" >> $packages/used/__init__.py; echo "$evil" > $packages/used/extra.py
mkdir -p /elsewhere/json; mv $packages/swapped /elsewhere/swapped; ln -s /elsewhere/swapped $packages/swapped
echo "$evil" >> /elsewhere/swapped/__init__.py
own=$(python3 -c 'import site; print(site.getusersitepackages())'); mkdir -p $own/hidden $own/mine
echo "$evil" > $own/hidden/__init__.py; echo 'honest = True' > $own/mine/__init__.py
standard=$(python3 -c 'import json, os; print(os.path.dirname(json.__path__[0]))')
echo "$evil" > /elsewhere/json/__init__.py; mv $standard/json /elsewhere/was
ln -s /elsewhere/json $standard/json
printf '#!/bin/sh\necho evil\n' > /elsewhere/awk; chmod +x /elsewhere/awk
ln -sf /elsewhere/awk /etc/alternatives/awk
echo 'exit 1' > /var/lib/dpkg/info/evil.postinst; echo evil >> /var/lib/dpkg/status
echo 'deb [trusted=yes] file:/elsewhere ./' > /etc/apt/sources.list.d/evil.list
perl=$(perl -e 'print((grep m{perl5/}, @INC)[0])'); mkdir -p $perl; echo 'exit 1;' > $perl/strict.pm
echo 'openssl_conf = evil' > /etc/ssl/openssl.cnf
sed "s#:$HOME:#:/elsewhere:#" /etc/passwd > /etc/passwd.new; mv /etc/passwd.new /etc/passwd
"""
THE_IMAGES = """#!/bin/bash
honest() {
  python3 -c 'import json, used, swapped, hidden, mine; json.dumps' &&
  ! python3 -c 'import used.extra' 2> /dev/null &&
  [ ! -L /usr/lib/python3/dist-packages/swapped ] && [ "$(awk 'BEGIN {print 1}')" = 1 ] &&
  ! grep -q evil /var/lib/dpkg/status && [ ! -e /var/lib/dpkg/info/evil.postinst ] &&
  [ ! -e /etc/apt/sources.list.d/evil.list ] && perl -e 'use strict; exit 0' &&
  ! grep -q evil /etc/ssl/openssl.cnf && [ "$HOME" != /elsewhere ]
}
if honest; then echo 0; else echo 1; fi > /logs/verifier/reward.txt
"""
HOOKS = r"""
packages=/usr/lib/python3/dist-packages
mkdir -p /elsewhere/x.egg/EGG-INFO /elsewhere/y-1.dist-info
evil='import os; os.system("echo evil >> /job/said")'
plugin='[pytest11]
x = x
'
printf %s "$plugin" > /elsewhere/x.egg/EGG-INFO/entry_points.txt
printf %s "$plugin" > /elsewhere/y-1.dist-info/entry_points.txt
mkdir $packages/Z-1.DIST-INFO; printf %s "$plugin" > $packages/Z-1.DIST-INFO/entry_points.txt
ln -s /elsewhere/y-1.dist-info $packages/y-1.dist-info
echo "$evil" > $packages/$(printf '\377').pth
echo /elsewhere/x.egg > $packages/egg.pth; echo '/elsewhere   ' > $packages/blank.pth
printf '\357\273\277/elsewhere\n' > $packages/mark.pth; echo /none/../elsewhere > $packages/up.pth
touch /elsewhere/zip; echo /elsewhere/zip > $packages/zip.pth
mkdir /job/mine; echo /job/mine > $packages/mine.pth
echo "$evil" | tee $packages/apport_python_hook.py /usr/local/bin/re.py > $packages/pluggy.pyc
mkdir /usr/local/bin/json; echo "$evil" > /usr/local/bin/json/__init__.py
printf '#!/usr/bin/python3\nimport re, json\n' > /usr/local/bin/asks; chmod +x /usr/local/bin/asks
printf '%s\n' lib > /usr/bin/python3._pth
cp /lib/x86_64-linux-gnu/libz.so.1 /usr/local/lib/libother.so.1
cp /usr/local/lib/libother.so.1 /usr/lib/x86_64-linux-gnu/libz.so.1.99
mkdir -p /usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v2
cp /usr/local/lib/libother.so.1 /usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v2/libz.so.1; ldconfig
rm -f /job/said
"""
HOOKED = r"""#!/bin/bash
packages=/usr/lib/python3/dist-packages
whole() {
  asks
  python3 -c 'import sys; sys.exit("/job/mine" not in sys.path or "elsewhere" in str(sys.path))' &&
  [ ! -e /job/said ] && [ "$(ls $packages/*.pth | grep -v distutils)" = $packages/mine.pth ] &&
  ! ls -d $packages/*[yY]-1* $packages/[zZ]-1* $packages/pluggy* /usr/bin/*._pth 2> /dev/null | grep . &&
  ! { ldconfig; ldconfig -p; } | grep 'libz.so.1 ' | grep -v ' => /lib/x86_64-linux-gnu/libz.so.1$' &&
  [ ! -e $(dirname $(readlink -f /lib/x86_64-linux-gnu/libz.so.1))/libz.so.1.99 ]
}
if whole; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
WHOLE = """#!/bin/bash
[ ! -L /usr/local ] && [ ! -L /etc/apt ] && [ -e /etc/ssl/openssl.cnf ] && [ -d /opt ] &&
  [ ! -e ~/.config ] && [ ! -e ~/.local ] && whole=1
echo ${whole:-0} > /logs/verifier/reward.txt
"""
FAILED = '{"results": {"tests": [{"name": "a", "status": "failed"}]}}'
PRELUDE = "#!/bin/bash\nreward=/logs/verifier/reward\n"
INCIDENTS = ["swept:loader", "swept:program", "swept:pytest", "swept:python", "swept:tools"]


def task(folder: Path, script: str, seconds: float = 30) -> BenchmarkTask:
    """A task that has nothing but this test.sh."""
    tests = folder / "tests"
    tests.mkdir(exist_ok=True)
    (tests / "test.sh").write_text(script)
    (tests / "expected.txt").write_text("1\n")
    limits = Limits(verifier_seconds=seconds)
    return BenchmarkTask("t", "s", folder, "i", (), folder, tests, None, limits=limits)


async def judged(box: DockerSandbox, made: BenchmarkTask, *, fresh: bool) -> tuple[Verdict, list[str]]:
    """The verdict, and what was swept."""
    async with box.judged("none", fresh=fresh) as (where, swept):
        return await verify(where, made, LAYOUT, shared=not fresh), swept.incidents


@pytest.fixture(scope="module")
def image_with_library(planned: Callable[[str], BuildPlan]) -> BuildPlan:
    return planned(WITH_LIBRARY)


@pytest.fixture
async def box(
    start: Start, fleet: Fleet, root_image: BuildPlan, monkeypatch: pytest.MonkeyPatch
) -> DockerSandbox:
    monkeypatch.setattr(DockerSandbox, "fleet", classmethod(lambda cls: fleet))
    return await start(DockerConfig(build=root_image))


async def sh(box: DockerSandbox, script: str) -> str:
    done = await box.exec(["/bin/sh", "-c", script], timeout=60)
    assert done.success, done.stderr
    return done.stdout


@MODES
async def test_F45_F46_nothing_that_an_agent_planted_reaches_the_verdict(
    box: DockerSandbox, tmp_path: Path, fresh: bool
) -> None:
    await box.exec(["/bin/sh", "-c", PLANTS], timeout=60)
    verdict, incidents = await judged(box, task(tmp_path, HONEST), fresh=fresh)
    assert verdict.reward == 0.0, verdict.output
    assert incidents == INCIDENTS


@MODES
async def test_F46_what_stands_before_pythons_own_modules_is_taken_away(
    box: DockerSandbox, tmp_path: Path, fresh: bool
) -> None:
    await sh(box, SHADOWS)
    verdict, incidents = await judged(box, task(tmp_path, SHADOWED), fresh=fresh)
    assert verdict.reward == 0.0, verdict.output
    assert incidents == ["swept:python"]


@MODES
async def test_F46_programs_and_libraries_of_the_image_are_its_own_before_a_verifier(
    start: Start,
    fleet: Fleet,
    image_with_library: BuildPlan,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    fresh: bool,
) -> None:
    monkeypatch.setattr(DockerSandbox, "fleet", classmethod(lambda cls: fleet))
    box = await start(DockerConfig(build=image_with_library))
    await sh(box, SYSTEM)
    verdict, incidents = await judged(box, task(tmp_path, THE_IMAGES), fresh=fresh)
    assert verdict.reward == 0.0, verdict.output
    assert incidents == ["swept:loader", "swept:package", "swept:program", "swept:python"]


async def test_F31_a_file_full_of_holes_costs_the_agent_its_trial_not_the_host_its_disk(
    fleet: Fleet, start: Start, root_image: BuildPlan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(DockerSandbox, "fleet", classmethod(lambda cls: fleet))
    box = await start(DockerConfig(build=root_image, storage_mb=512))
    await sh(box, "truncate -s 4G /job/big")
    with pytest.raises(TrialError, match="agent_resource.*files of 4096 MB, of which 512 MB are allowed"):
        await judged(box, task(tmp_path, HONEST), fresh=True)


@MODES
async def test_F46_paths_beyond_what_an_engine_reads_are_the_agents_failure_not_the_machines(
    box: DockerSandbox, tmp_path: Path, fresh: bool
) -> None:
    deeper = "mkdir $name && cd -P $name"
    await sh(box, f"name=$(printf %0200d 0); i=0; while [ $i -lt 40 ]; do {deeper}; i=$((i+1)); done")
    with pytest.raises(TrialError, match="agent_resource.*paths that are too long"):
        await judged(box, task(tmp_path, HONEST), fresh=fresh)


async def test_F27_an_agent_cannot_end_its_container_by_a_signal(box: DockerSandbox) -> None:
    for name in ("TERM", "INT", "HUP", "QUIT", "KILL"):
        await box.exec(["/bin/sh", "-c", f"kill -{name} 1"], timeout=20)
    assert await sh(box, "echo here") == "here\n"


@MODES
async def test_the_agents_own_work_reaches_the_verifier_as_it_is(
    box: DockerSandbox, tmp_path: Path, fresh: bool
) -> None:
    await sh(box, "adduser --disabled-password --gecos '' someone > /dev/null")
    await sh(
        box, "echo done > answer; ln -s answer link; ln answer hard; mkdir -m 750 own; chown someone own"
    )
    await sh(
        box,
        "rm /etc/debian_version; cd /usr/local/bin; printf '#!/bin/sh\necho hi' > mine; chmod +x mine",
    )
    script = r"""#!/bin/bash
set -e
[ "$(readlink link)" = answer ] && [ answer -ef hard ] && [ "$(stat -c '%a %U' own)" = '750 someone' ]
[ ! -e /etc/debian_version ] && [ "$(mine)" = hi ] && [ "$PWD" = /job ]
grep -c done answer > /logs/verifier/reward.txt
"""
    verdict, incidents = await judged(box, task(tmp_path, script), fresh=fresh)
    assert (verdict.reward, incidents) == (1.0, [])


@MODES
async def test_F46_VF_12_no_process_of_the_agent_runs_beside_the_verifier(
    box: DockerSandbox, tmp_path: Path, fresh: bool
) -> None:
    await sh(box, "for i in 1 2 3; do setsid env -i sleep 4242 > /dev/null 2>&1 & done")
    script = "#!/bin/bash\ncat /proc/[0-9]*/cmdline | grep -aq 424[2]; echo $? > /logs/verifier/reward.txt\n"
    assert (await judged(box, task(tmp_path, script), fresh=fresh))[0].reward == 1.0


@MODES
async def test_F46_nothing_is_found_first_or_hooked_in(
    box: DockerSandbox, tmp_path: Path, fresh: bool
) -> None:
    await sh(box, HOOKS)
    verdict, incidents = await judged(box, task(tmp_path, HOOKED), fresh=fresh)
    assert verdict.reward == 1.0, verdict.output
    assert incidents == ["swept:loader", "swept:pytest", "swept:python"]


@MODES
async def test_F46_a_system_folder_that_was_swapped_is_the_images_again(
    box: DockerSandbox, tmp_path: Path, fresh: bool
) -> None:
    swaps = [
        "cp -a /usr/local /elsewhere && rm -rf /usr/local && ln -s /elsewhere /usr/local",
        "rm -rf /etc/apt && ln -s /elsewhere /etc/apt && rm -rf /etc/ssl && touch /etc/ssl",
        "rm -rf /opt && touch /opt && ln -s /elsewhere ~/.config && ln -s /elsewhere ~/.local",
        "echo done > /job/answer",
    ]
    await sh(box, " && ".join(swaps))
    verdict, incidents = await judged(box, task(tmp_path, WHOLE), fresh=fresh)
    assert verdict.reward == 1.0
    assert incidents == ["swept:system"]


@pytest.mark.parametrize("damage", ["cd /; rm -rf /job; touch /job", "cd /; rm -rf /job; ln -s /job /job"])
@MODES
async def test_F46_what_no_container_can_be_made_of_is_the_agents_failure(
    box: DockerSandbox, tmp_path: Path, damage: str, fresh: bool
) -> None:
    await sh(box, damage)
    with pytest.raises(TrialError, match="agent_damage.*though its image can"):
        await judged(box, task(tmp_path, HONEST), fresh=fresh)


async def test_F46_VF_05_what_a_test_leaves_running_does_not_change_its_reward(
    box: DockerSandbox, tmp_path: Path
) -> None:
    script = (
        "#!/bin/bash\necho 0 > /logs/verifier/reward.txt\n"
        "setsid sh -c 'sleep 1; echo 1 > /logs/verifier/reward.txt' > /dev/null 2>&1 &\n"
    )
    async with box.judged("none", fresh=True) as (where, _):
        assert (await verify(where, task(tmp_path, script), LAYOUT)).reward == 0.0
        left = await where.exec(["sh", "-c", "sleep 1.5; cat /logs/verifier/reward.txt"])
        assert left.stdout == "0\n"


async def test_F45_tests_that_changed_while_they_ran_are_tampering_in_a_shared_container(
    box: DockerSandbox, tmp_path: Path
) -> None:
    script = "#!/bin/bash\necho 0 > /tests/expected.txt; echo 1 > /logs/verifier/reward.txt\n"
    with pytest.raises(
        TrialError, match=r"tamper. /tests/expected.txt was changed or removed after they ran"
    ):
        await judged(box, task(tmp_path, script), fresh=False)


@pytest.mark.parametrize(
    "harm", ["echo 0 > /tests/expected.txt", "rm /tests/test.sh", "rm -r /tests; ln -s /job /tests"]
)
async def test_F45_tests_are_proven_by_digest_before_they_run(
    judge: DockerSandbox, tmp_path: Path, harm: str
) -> None:
    class Harmed(DockerSandbox):
        """Something changes what is copied in, as soon as it is there."""

        async def put_files(self, tree: Tree, *, user: str | None = None) -> None:
            await super().put_files(tree, user=user)
            await self.exec(["/bin/sh", "-c", harm])

    made = task(tmp_path, "#!/bin/bash\ntouch /job/ran; echo 1 > /logs/verifier/reward.txt\n")
    with pytest.raises(TrialError, match=r"tamper. /tests/.* was changed.* after they were copied in"):
        await verify(Harmed(judge.started, judge.config), made, LAYOUT)
    assert not (await judge.exec(["ls", "/job/ran"])).success


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("", "missing"),
        ("ln -s /etc/hostname $reward.txt", "missing"),
        ("mkfifo $reward.txt", "missing"),
        ("head -c 9999 /dev/zero > $reward.txt", "garbage"),
        ("echo 1 > $reward.txt; echo 0 > $reward.json", "conflict"),
        ("echo 1 > $reward.txt; exit 1", "inconsistent"),
        (
            f"printf '%s' '{FAILED}' > /logs/verifier/ctrf.json; echo 1 > $reward.txt; exit 0",
            "inconsistent",
        ),
        ("echo '1 passed in 0.1s'; echo 'reward: 1'; exit 0", "missing"),
        ("\r\necho 1\r", "bootstrap"),
        ("exit 126", "bootstrap"),
        ("no-such-runner", "bootstrap"),
        ("#!/no/such/interpreter", "bootstrap"),
        ("pytest --ctrf /logs/verifier/ctrf.json /tests; echo 0 > $reward.txt", "bootstrap"),
        ("echo '=== no tests ran in 0.01s ==='; echo 0 > $reward.txt", "bootstrap"),
        ("echo 1 > $reward.txt; sleep 60", "timeout"),
    ],
    ids=[
        *("nothing", "link", "fifo", "huge", "conflict", "exit-1", "failed", "fake-markers", "crlf"),
        *("exit-126", "exit-127", "interpreter", "no-runner", "zero-tests", "endless"),
    ],
)
async def test_F47_F48_a_verifier_that_gives_no_reward_is_an_error_of_its_own_and_never_0(
    judge: DockerSandbox, tmp_path: Path, script: str, cause: str
) -> None:
    text = (
        script if script.startswith("#!") else f"#!/bin/bash{script}" if "\r" in script else PRELUDE + script
    )
    with pytest.raises(VerifierError) as raised:
        await verify(judge, task(tmp_path, f"{text}\n", seconds=3), LAYOUT)
    assert raised.value.cause in (f"verifier_error:{cause}", f"verifier_{cause}")


@pytest.fixture(scope="module")
def judge(start: Start, root_image: BuildPlan) -> DockerSandbox:
    return anyio.run(start, DockerConfig(build=root_image))


async def test_F48_a_script_without_the_executable_bit_runs(judge: DockerSandbox, tmp_path: Path) -> None:
    script = "#!/bin/bash\necho 0.5 > /logs/verifier/reward.txt\n"
    assert (await verify(judge, task(tmp_path, script), LAYOUT)).reward == 0.5


async def test_the_files_that_were_taken_for_a_verification_are_gone_after_it(
    box: DockerSandbox, tmp_path: Path, engine: Engine, fleet: Fleet
) -> None:
    before = set(fleet.running)
    with pytest.raises(VerifierError):
        await judged(box, task(tmp_path, "#!/bin/bash\n"), fresh=True)
    assert set(fleet.running) == before
    filters = {"label": f"{labels.RUN}={fleet.run}"}
    assert engine.blocking(lambda api: api.images(filters=filters)) == []
    assert (await box.exec(["true"])).success
