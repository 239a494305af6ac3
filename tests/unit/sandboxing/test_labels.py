"""A container is swept only when its process is certainly over."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from workbench.sandboxing.labels import Owner


def test_an_owner_is_written_and_read() -> None:
    owner = Owner.current()
    assert Owner.parse(str(owner)) == owner
    assert Owner.parse("somebody else's label") is None
    assert Owner.parse("a:b:c:x:1") is None


def test_this_process_is_not_gone_and_an_ended_one_is() -> None:
    here = Owner.current()
    code = "from workbench.sandboxing.labels import Owner; print(Owner.current())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ended = Owner.parse(done.stdout.strip())
    assert ended is not None
    assert not here.gone()
    assert ended.gone()


def test_a_later_process_of_the_same_number_does_not_keep_it_alive() -> None:
    assert replace(Owner.current(), start="1").gone()


def test_an_earlier_boot_is_gone_and_other_hosts_and_namespaces_are_left_alone() -> None:
    here = Owner.current()
    assert replace(here, boot="earlier").gone()
    assert not replace(here, host="other", boot="earlier").gone()
    assert not replace(here, namespace="other", pid=999_999_999).gone()


def test_labels_tell_nothing_about_the_trial() -> None:
    assert set(str(Owner.current())) <= set("0123456789abcdef:-")
