"""What fills the disk is killed once, by the way that its container knows."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.sandboxing.container import Container
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.watchdog import Watchdog


@pytest.mark.parametrize(
    ("own", "signals", "commands"), [(True, 1, 0), (False, 0, 1)], ids=["ours", "entrypoint"]
)
def test_a_container_over_its_limit_is_killed_once(
    fake: Any, engine: Engine, container: Container, own: bool, signals: int, commands: int
) -> None:
    fake.answers["/containers/json"] = (200, [{"Id": "c1", "SizeRw": 11}])
    container.channels = own
    watchdog = Watchdog(engine, "run", sleep=lambda seconds: None)
    watchdog._watched["c1"] = (container, 10)
    watchdog.look()
    assert container.disk_breaches == 1
    assert fake.times("POST /containers/c1/kill") == signals
    assert fake.times("POST /containers/c1/exec") == commands
