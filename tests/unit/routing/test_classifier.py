"""Cross-encoders with a head for sequences, random and tiny, against the plainest forward pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.routing import tiny_models
from tests.unit.routing.conftest import MakeRouter
from workbench.core.errors import ContentError, UsageError
from workbench.routing.reranker import Classifier
from workbench.routing.router import Query
from workbench.routing.weights import ModelChoice, find_weights

DOCUMENTS = ["Extract tables from PDF", "Draw charts. " * 30, "x", "Clean CSV data and check its schema"]
TASK = Query("t", "Extract the tables of a PDF, write clean CSV data, draw charts")


def load(folder: Path, **options: int) -> Classifier:
    choice = ModelChoice(model="tiny/classifier", path=str(folder), device="cpu", dtype="float32", **options)  # type: ignore[arg-type]
    return Classifier(find_weights(choice, folder), choice)


@pytest.fixture(scope="module", params=[1, 2])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT-like reranker with one output, or with two."""
    tiny_models.require_dense()
    return tiny_models.save_classifier(tmp_path_factory.mktemp("classifier"), outputs=request.param)


def one_by_one(folder: Path, query: str) -> list[float]:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).float().eval()
    scores = []
    for document in DOCUMENTS:
        inputs = tokenizer(query, document, return_tensors="pt", truncation="longest_first", max_length=2048)
        with torch.no_grad():
            logits = model(**inputs).logits[0]
        scores.append(float(logits[-1] - logits[0]) if len(logits) == 2 else float(logits[0]))
    return scores


@pytest.mark.parametrize("batch", [1, 3, 20])
def test_scores_are_the_heads_whatever_the_batch(folder: Path, batch: int) -> None:
    found = load(folder, max_tokens=512).score("the task", DOCUMENTS, batch)
    assert found == pytest.approx(one_by_one(folder, "the task"), abs=1e-5)
    assert len(set(found)) == len(DOCUMENTS)


def test_a_pair_too_long_is_cut_on_its_longer_side(folder: Path) -> None:
    scores = load(folder, max_tokens=64).score("Extract tables " * 900, ["Draw charts", "Clean CSV data"], 2)
    assert scores[0] != pytest.approx(scores[1], abs=1e-7)


def test_a_recipe_reranks_with_it(make_router: MakeRouter, folder: Path) -> None:
    options = f"{{kind: classifier, model: tiny/classifier, path: {folder}, top: 3, max_tokens: 512}}"
    recipe = f"- bm25:\n- rerank: {options}"
    before, found = (make_router(stages).route([TASK], 9)[0] for stages in ("- bm25:", recipe))
    assert {entry.id for entry in found[:3]} == {entry.id for entry in before[:3]}
    assert [entry.id for entry in found[3:]] == [entry.id for entry in before[3:]]


def test_a_model_for_many_classes_is_refused(tmp_path: Path) -> None:
    tiny_models.require_dense()
    with pytest.raises(UsageError, match="is no reranker: it has 5 outputs"):
        load(tiny_models.save_classifier(tmp_path / "many", outputs=5))


@pytest.mark.parametrize("options", ["kind: classifier, instruction: x", "kind: yes_no"])
def test_an_instruction_belongs_to_models_that_read_one(make_router: MakeRouter, options: str) -> None:
    with pytest.raises(ContentError, match="`instruction` is for kind yes_no"):
        make_router(f"- bm25:\n- rerank: {{model: a/b, {options}}}")
