"""`inspect sandbox cleanup docker-sdk`: one line and an exit code for whatever cannot be done."""

from __future__ import annotations

from typing import Any

import click
import pytest

from workbench.core.errors import MachineError, UsageError
from workbench.sandboxing.cleanup import clean_up
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.providers.docker import DockerSandbox

OURS = [{"Id": "abcd1" + "0" * 59, "Labels": {}}, {"Id": "abcd2" + "0" * 59, "Labels": {}}]


async def test_no_engine_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/absent.sock")
    with pytest.raises(click.ClickException, match="no Docker engine at") as stopped:
        await DockerSandbox.cli_cleanup(None)
    assert stopped.value.exit_code == MachineError.exit_code


async def test_an_id_that_several_begin_with_removes_none(fake: Any, engine: Engine) -> None:
    fake.answers["/containers/json"] = (200, OURS)
    with pytest.raises(UsageError, match="several containers begin with abcd: abcd10000000, abcd20000000"):
        await clean_up(engine, "abcd")
    assert fake.times("DELETE") == 0


async def test_a_container_that_resists_is_not_said_to_be_removed(fake: Any, engine: Engine) -> None:
    fake.answers["/containers/json"] = (200, OURS[:1])
    fake.answers[f"/containers/{OURS[0]['Id']}"] = (500, {"message": "device or resource busy"})
    with pytest.raises(MachineError, match="container abcd1 cannot be removed; try: docker rm --force"):
        await clean_up(engine, "abcd1")
