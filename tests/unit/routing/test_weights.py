"""Where weights are looked for, and what is said when they are nowhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.routing import tiny_models
from workbench.core.errors import MissingDataError
from workbench.routing.weights import ModelChoice, find_weights

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
