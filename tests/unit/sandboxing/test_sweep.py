"""What of an agent's changes may stand before a verifier: its work, nothing that gives a verifier orders."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.sandboxing.cleaning import Swept
from workbench.sandboxing.sweep import Change, Rules, Sweep

IMAGE = {
    "Env": ["PATH=/venv/bin:/usr/local/bin:/usr/bin:/bin"],
    "Entrypoint": ["/entry.sh"],
    "WorkingDir": "/job",
}
PACKAGES = "/usr/local/lib/python3.12/site-packages"


def sweep(*changes: tuple[str, int]) -> Sweep:
    return Rules(IMAGE).sort(Change(path, kind) for path, kind in changes)


@pytest.mark.parametrize(
    ("path", "kind", "reason"),
    [
        ("/etc/ld.so.preload", 1, "loader"),
        ("/usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v2/libz.so.1", 1, "loader"),
        ("/usr/local/lib/libc.so.6", 1, "loader"),
        ("/usr/lib/x86_64-linux-gnu/libssl.so.3", 0, "loader"),
        ("/usr/bin/bash", 0, "program"),
        ("/usr/bin/env", 2, "program"),
        ("/venv/bin/python", 0, "program"),
        ("/usr/local/bin/pytest", 1, "program"),
        ("/entry.sh", 0, "program"),
        ("/app/sitecustomize.py", 1, "python"),
        (f"{PACKAGES}/usercustomize/__init__.py", 1, "python"),
        ("/usr/lib/python3.11/json/__init__.py", 0, "python"),
        ("/conftest.py", 1, "pytest"),
        ("/pytest.toml", 1, "pytest"),
        ("/pyproject.toml", 1, "pytest"),
        (f"{PACKAGES}/pluggy.pyc", 1, "pytest"),
        (f"{PACKAGES}/pluggy-1.0.DIST-INFO/entry_points.txt", 1, "pytest"),
        ("/usr/bin/python3._pth", 1, "python"),
        ("/usr/lib/python3/dist-packages/apport_python_hook.py", 1, "python"),
        ("/usr/local/pip.conf", 1, "tools"),
        ("/etc/xdg/pip/pip.conf", 1, "tools"),
        ("/etc/ca-certificates/update.d/x", 1, "tools"),
        (f"{PACKAGES}/_pytest/main.py", 0, "pytest"),
        (f"{PACKAGES}/pluggy-1.6.0.dist-info/METADATA", 1, "pytest"),
        ("/home/agent/.curlrc", 1, "tools"),
        ("/home/agent/.config/pip/pip.conf", 1, "tools"),
        ("/home/agent/.local/bin/uvx", 1, "tools"),
        ("/etc/apt/apt.conf.d/99evil", 1, "tools"),
        ("/etc/dpkg/dpkg.cfg.d/zz", 1, "tools"),
        ("/etc/perl/Net/libnet.cfg", 0, "library"),
        (f"{PACKAGES}/pip/__init__.py", 0, "tools"),
        (f"{PACKAGES}/iniconfig/__init__.py", 0, "pytest"),
        ("/etc/nsswitch.conf", 0, "loader"),
        ("/usr/lib/python311.zip", 1, "python"),
        ("/usr/bin/pyvenv.cfg", 1, "python"),
        ("/venv/pyvenv.cfg", 0, "python"),
        ("/home/agent/env/pyvenv.cfg", 0, "python"),
        ("/usr/lib/python3.11/argparse/__init__.py", 1, "python"),
        ("/usr/lib/git-core/git-remote-https", 0, "library"),
        ("/usr/lib/x86_64-linux-gnu/gconv/gconv-modules.d/x.conf", 1, "loader"),
        ("/usr/share/debconf/frontend", 0, "library"),
        ("/etc/ssl/openssl.cnf", 0, "loader"),
        ("/etc/alternatives/awk", 0, "program"),
        ("/opt/py310/bin/python3.10", 0, "program"),
        ("/opt/conda/lib/python3.11/json/__init__.py", 0, "python"),
        ("/venv/lib/libevil.so", 0, "loader"),
    ],
)
def test_VF_07_what_a_verifier_takes_orders_from_is_the_images_again(
    path: str, kind: int, reason: str
) -> None:
    found = sweep((path, kind))
    assert (path in found.remove, path in found.restore) == (kind == 1, kind != 1)
    assert Swept(found.reasons).incidents == [f"swept:{reason}"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/app/answer.json", 1),
        ("/home/agent/.bashrc", 0),
        ("/app/pyproject.toml", 1),
        ("/etc/passwd", 0),
        ("/etc/nginx/nginx.conf", 0),
        ("/usr/share/nginx/html/index.html", 0),
        ("/var/lib/app/state", 0),
        ("/opt/tool/config.json", 0),
        ("/opt/env/pyvenv.cfg", 1),
        ("/job/lib/python3.12/os.py", 0),
        ("/job/lib/tool.so", 0),
        ("/usr/local/bin/mytool", 1),
        ("/usr/lib/x86_64-linux-gnu/libnew.so.1", 1),
        ("/app/json.py", 1),
        ("/app/pytest.py", 1),
        ("/app/tests/conftest.py", 0),
        ("/app/pytest.ini", 1),
        ("/app/packaging/__init__.py", 1),
        ("/app/venv/lib/python3.12/site-packages/pip/__init__.py", 1),
        ("/home/agent/project/lib/python/os.py", 1),
        ("/opt/project/lib/main.rb", 0),
        ("/app/musl/lib/libc.so", 1),
        ("/app/data", 2),
    ],
)
def test_the_agents_work_stays(path: str, kind: int) -> None:
    found = sweep((path, kind))
    assert (found.remove, found.restore, dict(found.reasons)) == ((), (), {})


def test_the_verifiers_places_and_caches_go_without_being_an_incident() -> None:
    found = sweep(
        ("/tests", 1),
        ("/tests/test_outputs.py", 1),
        ("/logs/verifier/reward.txt", 1),
        ("/home/agent/.cache/uv", 1),
    )
    assert found.remove == ("/home/agent/.cache/uv", "/logs/verifier/reward.txt", "/tests")
    assert Swept(found.reasons).incidents == []


def test_what_package_managers_record_is_the_images_again_without_being_an_incident() -> None:
    rows = ("/var/lib/dpkg/info/evil.postinst", "/etc/apt/sources.list.d/x.list", "/etc/ld.so.conf.d/x.conf")
    found = sweep(*((path, 1) for path in rows), ("/var/lib/dpkg/status", 0))
    assert (set(found.remove), found.restore) == (set(rows), ("/var/lib/dpkg/status",))
    assert Swept(found.reasons).incidents == []


def test_a_package_of_the_image_that_was_touched_is_the_images_as_a_whole() -> None:
    found = sweep(
        (PACKAGES, 0),
        (f"{PACKAGES}/numpy", 0),
        (f"{PACKAGES}/numpy/__init__.py", 0),
        (f"{PACKAGES}/numpy/new.py", 1),
        (f"{PACKAGES}/numpy-1.0.dist-info", 2),
        (f"{PACKAGES}/numpy-2.0.dist-info", 1),
        (f"{PACKAGES}/numpy-2.0.dist-info/RECORD", 1),
        (f"{PACKAGES}/six.py", 2),
        (f"{PACKAGES}/used", 0),
        (f"{PACKAGES}/used/__pycache__", 1),
        (f"{PACKAGES}/used/__pycache__/x.cpython-312.pyc", 1),
        ("/venv/lib/python3.12/site-packages/a/b.py", 0),
    )
    names = ("numpy", "numpy-1.0.dist-info", "six.py")
    assert found.packages == (
        *(f"{PACKAGES}/{name}" for name in names),
        "/venv/lib/python3.12/site-packages/a",
    )
    assert f"{PACKAGES}/numpy-2.0.dist-info" in found.remove
    assert found.restore == ()
    assert Swept(found.reasons).incidents == ["swept:package"]


def test_new_packages_are_looked_at_where_they_would_be_found_before_the_images() -> None:
    own, debian = "/home/agent/.local/lib/python3.12/site-packages", "/usr/local/lib/python3.12/dist-packages"
    names = ("yaml", "yaml-1.dist-info", "yaml-1.dist-info/RECORD")
    found = sweep(*((f"{folder}/{name}", 1) for folder in (own, debian, PACKAGES) for name in names))
    first = {folders[0]: modules for folders, modules in found.hiding.items()}
    assert first == {
        "/usr/local/lib/python3.12/site-packages": ((f"{own}/yaml", "yaml"),),
        "/usr/lib/python3/dist-packages": ((f"{debian}/yaml", "yaml"),),
    }
    assert (found.packages, found.remove) == ((), ())


def test_modules_beside_programs_and_before_perls_own_are_looked_at() -> None:
    found = sweep(
        ("/usr/local/bin/re.py", 1),
        ("/usr/local/bin/json", 1),
        ("/usr/local/bin/json/__init__.py", 1),
        ("/usr/local/bin/tool", 1),
        ("/usr/share/perl5/File/Spec.pm", 1),
    )
    own = IMAGE | {"Env": ["PYTHONPATH=/srv/modules:/job"]}
    changes = [Change("/srv/modules/argparse.py", 1), Change("/job/queue.py", 1)]
    names = {module.name for modules in Rules(own).sort(changes).hiding.values() for module in modules}
    assert names == {"argparse"}
    names = {module.name for modules in found.hiding.values() for module in modules}
    assert names == {"re", "json", "File/Spec.pm"}


def test_what_pytest_takes_up_stays_only_where_an_installer_recorded_it() -> None:
    record = f"{PACKAGES}/packaging-25.0.dist-info"
    rows = [(f"{PACKAGES}/{name}", 1) for name in ("pygments.py", "packaging", "packaging/__init__.py")]
    found = sweep(*rows, (record, 1), (f"{record}/RECORD", 1))
    assert found.remove == (f"{PACKAGES}/pygments.py",)
    assert Swept(found.reasons).incidents == ["swept:pytest"]


def test_what_a_task_has_its_agent_change_is_kept() -> None:
    keep = ("/usr/local/bin/tool", f"{PACKAGES}/used")
    changes = [("/usr/local/bin/tool", 0), (f"{PACKAGES}/used/a.py", 0), (f"{PACKAGES}/used/b.py", 1)]
    found = Rules(IMAGE, keep).sort(Change(*change) for change in [*changes, ("/usr/bin/env", 0)])
    assert (found.restore, found.packages) == (("/usr/bin/env",), ())


def test_names_that_cannot_be_told_go_where_they_might_give_orders() -> None:
    found = sweep((f"{PACKAGES}/\ufffd.pth", 1), ("/app/\ufffd.txt", 1))
    assert (found.remove_like, found.remove) == ((f"{PACKAGES}/\ufffd.pth",), ())


def test_a_long_path_costs_no_more_than_its_length() -> None:
    paths = [("/gconv" * 650 + str(at), 1) for at in range(200)]
    paths += [("/lib/python3.1" * 280 + str(at), 1) for at in range(200)]
    started = time.process_time()
    sweep(*paths)
    assert time.process_time() - started < 2.0


def test_a_python_that_the_agent_brought_whole_is_its_work() -> None:
    home = "/home/agent/.local/share/uv/python/cpython-3.13/lib/python3.13"
    found = sweep((home, 1), (f"{home}/os.py", 1), (f"{home}/json/__init__.py", 1))
    assert (found.remove, found.restore) == ((), ())


def test_compiled_python_goes_unless_the_agent_wrote_its_source() -> None:
    folder = f"{PACKAGES}/a"
    found = sweep(
        (folder, 1),
        (f"{folder}/__pycache__/own.cpython-312.pyc", 1),
        (f"{folder}/own.py", 1),
        (f"{folder}/__pycache__/images.cpython-312.pyc", 1),
        ("/usr/lib/python3.11/__pycache__/os.cpython-311.pyc", 0),
    )
    assert found.remove == (f"{folder}/__pycache__/images.cpython-312.pyc",)
    assert found.restore == ("/usr/lib/python3.11/__pycache__/os.cpython-311.pyc",)
    assert Swept(found.reasons).incidents == []


def test_a_folder_that_only_holds_changes_is_none_and_one_that_was_replaced_is_looked_at() -> None:
    found = sweep(("/etc/apt/apt.conf.d", 0), ("/etc/apt/apt.conf.d/1", 1), ("/usr", 0), ("/usr/bin", 0))
    assert found.restore == ()
    assert found.anchors == (Change("/usr/bin", 0),)
    assert sweep(("/home/agent/.config", 1), ("/opt", 1), ("/opt/x", 1)).anchors == (
        Change("/home/agent/.config", 1),
    )


def test_files_that_may_give_orders_are_read_before_they_are_judged() -> None:
    pth, entry = f"{PACKAGES}/x.pth", f"{PACKAGES}/evil-1.dist-info/entry_points.txt"
    found = sweep((pth, 1), (f"{PACKAGES}/evil-1.dist-info", 1), (entry, 1), ("/usr/local/bin/python3", 1))
    assert (found.path_files, found.records) == ((pth,), (f"{PACKAGES}/evil-1.dist-info",))
    assert found.programs == ("/usr/local/bin/python3",)
    assert found.remove == ()


@given(st.lists(st.tuples(st.text("/.abpy", min_size=1, max_size=12).map("/".__add__), st.integers(0, 2))))
def test_nothing_is_both_restored_and_removed_and_order_does_not_matter(rows: list[tuple[str, int]]) -> None:
    changes = [Change(*row) for row in dict(rows).items()]
    found = Rules(IMAGE).sort(changes)
    assert not set(found.remove) & set(found.restore)
    assert found == Rules(IMAGE).sort(reversed(changes))
