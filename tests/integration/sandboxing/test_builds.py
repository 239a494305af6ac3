"""Images by a real engine: built once, told apart by content, and their failures readable."""

from __future__ import annotations

import re
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from workbench.core.errors import InfrastructureError
from workbench.sandboxing.builder import BuildError
from workbench.sandboxing.config import BuildPlan, DockerConfig
from workbench.sandboxing.debian import DEBIAN_PYTHON
from workbench.sandboxing.engine import Engine
from workbench.sandboxing.fleet import Fleet
from workbench.sandboxing.images import BuildResult, build, plan
from workbench.sandboxing.inventory import inventory, remove
from workbench.sandboxing.labels import token
from workbench.sandboxing.providers.docker import DockerSandbox
from workbench.sandboxing.transfer import find_files

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]


def written(context: Path, text: str) -> Path:
    """A context with a Dockerfile that starts from the base and was never built before."""
    (context / "Dockerfile").write_text(f"FROM {DEBIAN_PYTHON}\nLABEL never={token()}\n{text}\n")
    return context


async def one(engine: Engine, made: BuildPlan) -> BuildResult:
    return (await build([made], engine=engine))[made.tag]


async def test_an_image_is_built_once_and_holds_no_skill(engine: Engine, fleet: Fleet, context: Path) -> None:
    (context / "skills/gold").mkdir(parents=True)
    (context / "skills/gold/SKILL.md").write_text("gold")
    (context / "data.csv").write_text("1")
    made = plan(written(context, "WORKDIR /w\nCOPY skills /opt/.claude/skills\nCOPY data.csv .\nCOPY . /all"))
    first, second = await one(engine, made), await one(engine, made)
    assert (first.built, second.built) == (True, False)
    assert first.image_id == second.image_id
    assert first.bases.keys() == {DEBIAN_PYTHON}
    config = DockerConfig(build=made)
    box = DockerSandbox(await fleet.start(config), config)
    assert await find_files(box, "SKILL.md") == []
    assert (await box.exec(["ls", "/opt/.claude/skills", "/all/skills"])).stdout.split() == [
        "/all/skills:",
        "/opt/.claude/skills:",
    ]
    assert await box.read_file("data.csv") == "1"


async def test_a_failing_build_says_why_and_spoils_no_other(engine: Engine, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("good", "bad")]
    for folder in folders:
        folder.mkdir()
    good = plan(written(folders[0], "RUN true"))
    bad = plan(written(folders[1], "RUN echo this is the reason >&2; exit 3"))
    results = await build([good, bad], engine=engine)
    assert results[good.tag].ok
    assert not results[bad.tag].ok
    assert re.search("non-zero code: 3|exit status 3", results[bad.tag].error)
    assert "this is the reason" in results[bad.tag].error


async def test_a_failed_build_is_tried_again_only_when_it_is_expected_anew(
    engine: Engine, fleet: Fleet, context: Path
) -> None:
    config = DockerConfig(build=plan(written(context, "RUN exit 3")))
    seen = []
    for anew in (False, False, True):
        if anew:
            fleet.expect(config)
        with pytest.raises(InfrastructureError, match=r"^\[infra:build\]"):
            await fleet.start(config)
        seen.append(fleet.results[config.reference])
    assert seen[0] is seen[1]
    assert seen[1] is not seen[2]


async def test_a_build_that_takes_too_long_is_stopped(engine: Engine, context: Path) -> None:
    began = time.monotonic()
    result = await one(engine, plan(written(context, "RUN echo waiting; sleep 60"), timeout=3))
    assert time.monotonic() - began < 20
    assert "not done after 3 s" in result.error
    assert "waiting" in result.error


async def test_heredocs_are_built_by_the_classic_builder(engine: Engine, fleet: Fleet, context: Path) -> None:
    text = textwrap.dedent("""\
        SHELL ["/bin/bash", "-o", "pipefail", "-c"]
        RUN <<'EOF'
        set -eu
        x="a b"
        echo "$x" > /one
        EOF
        RUN python3 - <<PY
        open('/two', 'w').write('2')
        PY
        RUN <<EOF
        #!/usr/bin/env python3
        open('/three', 'w').write('3')
        EOF
        ENV HERE=home
        COPY <<name.txt /etc/
        from $HERE
        name.txt
        """)
    config = DockerConfig(build=plan(written(context, text)))
    box = DockerSandbox(await fleet.start(config), config)
    assert (await box.exec(["cat", "/one", "/two", "/three", "/etc/name.txt"])).stdout == "a b\n23from home\n"


async def test_a_missing_base_is_replaced_where_the_plan_allows_and_the_result_says_so(
    engine: Engine, context: Path
) -> None:
    missing = f"localhost:1/absent-{token()}:1"
    (context / "Dockerfile").write_text(f"FROM {missing}\nRUN python --version\n")
    refused = await one(engine, plan(context))
    assert f"base image {missing} is not on this machine and cannot be pulled" in refused.error
    allowed = await one(engine, plan(context, substitute_bases=True))
    assert allowed.ok, allowed.error
    assert allowed.substitutes == {missing: DEBIAN_PYTHON}
    again = await one(engine, plan(context, substitute_bases=True))
    assert (again.built, again.substitutes) == (False, {missing: DEBIAN_PYTHON})


async def test_what_needs_buildkit_is_refused_before_anything_is_sent(engine: Engine, context: Path) -> None:
    result = await one(engine, plan(written(context, "RUN --mount=type=secret,id=x true")))
    assert "classic builder cannot build this: line 3: RUN --mount=type=secret,id=x" in result.error


async def test_SB_06_too_little_space_is_an_error_before_the_build(engine: Engine, context: Path) -> None:
    from workbench.sandboxing.builder import check_space

    with pytest.raises(BuildError, match=r"MiB free under /.*workbench images prune"):
        check_space({"DockerRootDir": "/"}, 1 << 60)
    check_space({"DockerRootDir": "/"}, 0)


def test_only_our_images_are_listed_and_pruned(engine: Engine, context: Path) -> None:
    made = plan(written(context, "RUN true"))
    result = anyio.run(one, engine, made)
    stranger = f"stranger-{token()}:1"
    engine.blocking(lambda api: api.tag(result.image_id, *stranger.split(":")))
    try:
        assert made.tag not in [image.name for image in inventory(engine)]
    finally:
        engine.blocking(lambda api: api.remove_image(stranger))
    own = [image for image in inventory(engine) if image.name == made.tag]
    assert [image.kind for image in own] == ["task"]
    assert remove(engine, own) == ([made.tag], {})
    assert made.tag not in [image.name for image in inventory(engine)]


@pytest.fixture(scope="module", autouse=True)
def _pruned(engine: Engine) -> Callable[[], None]:  # type: ignore[misc]
    before = {image.id for image in inventory(engine)}
    yield  # type: ignore[misc]
    remove(engine, [image for image in inventory(engine) if image.id not in before and not image.containers])
