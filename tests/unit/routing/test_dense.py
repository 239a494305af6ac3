"""Dense retrieval with a tiny random encoder of the Qwen3 family."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.routing import pools, tiny_models
from tests.unit.routing.conftest import MakeRouter
from workbench.routing import vectors
from workbench.routing.encoder import Encoded, Encoder, Pooling, batches, forget_texts, shared_encoder
from workbench.routing.router import Query
from workbench.routing.text import DocumentText, QueryText, sections
from workbench.routing.weights import ModelChoice, find_weights
from workbench.skills.pool import Pool
from workbench.skills.skill import Skill

TEXTS = ["Extract tables", "Draw a chart from the tables of a PDF file. " * 6, "x", "", "表格处理"]
RECIPE = (
    "- dense:\n    model: tiny/encoder\n    path: {path}\n    device: cpu\n    dtype: float32\n"
    "    query: {{prefix: 'Query:', chars: 1500}}"
)
TASK = Query("t", "Extract the tables of a PDF")


def load(folder: Path, pooling: Pooling = "last", batch_tokens: int | None = 4096, **options: Any) -> Encoder:
    choice = ModelChoice(model="tiny/encoder", path=str(folder), device="cpu", dtype="float32", **options)
    return Encoder(find_weights(choice, folder), choice, pooling, batch_tokens)


def one_by_one(folder: Path, texts: Sequence[str], pooling: Pooling) -> np.ndarray:
    """Each text alone, without padding, by the plainest use of transformers."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).float().eval()
    rows = []
    for text in texts:
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        row = {"last": states[-1], "cls": states[0], "mean": states.mean(dim=0)}[pooling]
        rows.append((row / row.norm()).numpy())
    return np.stack(rows)


@pytest.mark.parametrize("pooling", ["last", "mean", "cls"])
@pytest.mark.parametrize("batch_tokens", [16, 100, 4096])
def test_vectors_do_not_depend_on_batches_or_padding(
    models: Path, pooling: Pooling, batch_tokens: int
) -> None:
    folder = models / "tiny/encoder"
    found = load(folder, pooling, batch_tokens).encode(TEXTS).vectors
    assert found == pytest.approx(one_by_one(folder, TEXTS, pooling), abs=1e-6)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)


def test_a_text_over_the_limit_loses_its_end_but_not_its_last_token(models: Path) -> None:
    encoder = load(models / "tiny/encoder", max_tokens=16)
    both = encoder.encode(["word " * 50 + "one", "word " * 50 + "two"])
    assert both.cut == [True, True]
    assert both.vectors[0] == pytest.approx(both.vectors[1])
    assert encoder.encode(["short"]).cut == [False]


def test_batches_hold_like_lengths_within_the_budget() -> None:
    lengths = [5, 100, 7, 6, 90, 300]
    found = list(batches(lengths, 200))
    assert found == [[5], [1, 4], [2, 3, 0]]
    assert sorted(place for batch in found for place in batch) == list(range(6))
    assert list(batches([], 10)) == []


def test_text_is_rendered_with_caps_and_blanks_as_written() -> None:
    skill = Skill("a/b", "name", "description", "body text", "b", "")
    document = DocumentText(description_chars=4, body_chars=5)
    assert document.render(skill) == "name | desc | body "
    assert document.cuts(skill)
    assert not DocumentText().cuts(skill)
    assert (
        DocumentText(fields=("body", "name"), separator="\n", prefix="> ").render(skill)
        == "> body text\nname"
    )
    assert QueryText().render("broken \ud800 text") == "broken ? text"
    assert QueryText(prefix="Instruct: x\nQuery:", chars=3).render("abcdef") == "Instruct: x\nQuery:abc"


def test_a_router_ranks_by_cosine(make_router: MakeRouter, models: Path, pool: Pool) -> None:
    folder = models / "tiny/encoder"
    found = make_router(RECIPE.format(path=folder)).route([TASK], 50)[0]
    texts = [DocumentText().render(skill) for skill in pool.skills()]
    expected = one_by_one(folder, texts, "last") @ one_by_one(folder, [f"Query:{TASK.text}"], "last")[0]
    assert dict(found) == pytest.approx(dict(zip(pool.ids(), expected.tolist(), strict=True)), abs=1e-3)
    assert len(found) == len(pool)


def test_vectors_are_found_again_and_other_options_have_their_own(
    make_router: MakeRouter, models: Path, tmp_path: Path
) -> None:
    recipe = RECIPE.format(path=models / "tiny/encoder")
    first = make_router(recipe)
    assert first.route([TASK], 5) == make_router(recipe).route([TASK], 5)
    assert len(list((tmp_path / "cache" / "indexes").glob("*/vectors.npy"))) == 1
    fingerprints = {
        make_router(recipe + extra).index_fingerprint
        for extra in ("", "\n    pooling: mean", "\n    max_tokens: 99", "\n    document: {body_chars: 9}")
    }
    assert len(fingerprints) == 4
    other = tiny_models.save_encoder(tmp_path / "other", seed=1)
    assert make_router(RECIPE.format(path=other)).index_fingerprint not in fingerprints
    queried = make_router(recipe.replace("Query:", "Task:"))
    assert queried.index_fingerprint == first.index_fingerprint
    assert queried.fingerprint != first.fingerprint


def test_an_interrupted_encoding_goes_on_where_it_stopped(
    models: Path, pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counting:
        """The real encoder, with a count of texts and a power cut."""

        def __init__(self, fails_after: int = 1_000) -> None:
            self.encoder = load(models / "tiny/encoder")
            self.texts = 0
            self.fails_after = fails_after

        def encode(self, texts: Sequence[str]) -> Encoded:
            if self.texts >= self.fails_after:
                raise KeyboardInterrupt
            self.texts += len(texts)
            return self.encoder.encode(texts)

    monkeypatch.setattr(vectors, "PIECE", 4)
    whole, broken, pieces = tmp_path / "whole", tmp_path / "broken", tmp_path / "pieces"
    for folder in (whole, broken, pieces, tmp_path / "none"):
        folder.mkdir()
    told: list[tuple[str, int, int]] = []
    vectors.build(whole, tmp_path / "none", pool, Counting(), DocumentText(), lambda *step: told.append(step))  # type: ignore[arg-type]
    assert told == [("encode", 0, 10), ("encode", 4, 10), ("encode", 8, 10), ("encode", 10, 10)]
    with pytest.raises(KeyboardInterrupt):
        vectors.build(broken, pieces, pool, Counting(8), DocumentText(), lambda *step: None)  # type: ignore[arg-type]
    damaged = min(pieces.glob("*.npy"))
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    second = Counting()
    vectors.build(broken, pieces, pool, second, DocumentText(), lambda *step: None)  # type: ignore[arg-type]
    assert second.texts == 6  # the damaged piece and the missing one, not the one that was whole
    assert np.array_equal(vectors.read(broken).rows, vectors.read(whole).rows)
    assert vectors.read(broken).rows.dtype == np.float16


def test_how_many_skills_were_cut_is_said(
    make_router: MakeRouter, models: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    long = pools.write(
        tmp_path / "long.pool", {"a/long": ("long", "", "word " * 900), "a/short": ("s", "", "x")}
    )
    recipe = (
        RECIPE.format(path=models / "tiny/encoder") + "\n    document: {body_chars: 4000}\n    max_tokens: 64"
    )
    with caplog.at_level(logging.WARNING):
        make_router(recipe, long).prepare()
    assert "1 of 2 skills were cut to the encoder's input (50 %)" in caplog.text


def test_candidates_limit_what_may_be_chosen(make_router: MakeRouter, models: Path) -> None:
    router = make_router("- bm25:\n" + RECIPE.format(path=models / "tiny/encoder"))
    found = router.route([Query("t", "invoices")], 10)[0]
    assert {entry.id for entry in found} == {"data/copy-a", "data/copy-b", "data/copy-c"}
    assert len({entry.score for entry in found}) == 1


def test_a_long_query_is_read_in_windows_and_nothing_of_it_is_lost(
    make_router: MakeRouter, models: Path
) -> None:
    encoder = load(models / "tiny/encoder", max_tokens=32)
    text = " ".join(f"table {number}" for number in range(40))
    windows = encoder.windows(text)
    assert len(windows) > 2
    assert "".join(windows).replace(" ", "") == text.replace(" ", "")
    assert not any(encoder.encode(windows).cut)
    assert encoder.windows("short") == ["short"]
    recipe = RECIPE.format(path=models / "tiny/encoder") + "\n    max_tokens: 32"
    recipe = recipe.replace("prefix: 'Query:'", "long: windows")
    space = make_router(recipe).stages()[0]
    mean = encoder.encode(windows).vectors.mean(axis=0)
    found = space.encode([Query("t", text)])[0]  # type: ignore[attr-defined]
    assert found == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_a_skill_read_in_sections_has_the_score_of_its_best_one(
    make_router: MakeRouter, models: Path, tmp_path: Path
) -> None:
    bodies = {
        "a/long": "Intro\n# Tables\nExtract tables\n## Charts\nDraw charts\n```\n# hidden\n```\n",
        "a/none": "",
        "b/one": "Clean CSV data",
    }
    written = pools.write(tmp_path / "s.pool", {name: ("n", "d", body) for name, body in bodies.items()})
    folder = models / "tiny/encoder"
    recipe = RECIPE.format(path=folder) + "\n    unit: section"
    router = make_router(recipe, written)
    found = dict(router.route([TASK], 9)[0])
    query = one_by_one(folder, [f"Query:{TASK.text}"], "last")[0]
    parts = {skill.id: DocumentText().parts(skill) for skill in written.skills()}
    assert [len(texts) for texts in parts.values()] == [3, 1, 1]
    assert parts["a/long"][1] == "n | d | # Tables\nExtract tables"
    for skill, texts in parts.items():
        best = (one_by_one(folder, texts, "last") @ query).max()
        assert found[skill] == pytest.approx(float(best), abs=1e-3)
    assert router.index_fingerprint != make_router(RECIPE.format(path=folder), written).index_fingerprint
    projected = make_router(recipe + "\n- project: {generic_words: 3}", written).route([TASK], 9)[0]
    assert {entry.id for entry in projected} == set(bodies)


def test_sections_end_at_headings_and_headings_in_a_row_stay_together() -> None:
    assert sections("") == [""]
    assert sections("# A\n## B\ntext\n### C\n") == ["# A\n## B\ntext", "### C\n"]
    assert sections("~~~\n# code\n~~~\n#hash\n# D\nx") == ["~~~\n# code\n~~~\n#hash", "# D\nx"]
    assert len(sections("\n".join(f"# {n}\ntext" for n in range(500)))) == 64


def test_half_precision_changes_cosines_by_little_and_the_fingerprint(
    make_router: MakeRouter, models: Path
) -> None:
    recipe = RECIPE.format(path=models / "tiny/encoder")
    half = make_router(recipe.replace("float32", "bfloat16"))
    plain = make_router(recipe)
    assert dict(half.route([TASK], 50)[0]) == pytest.approx(dict(plain.route([TASK], 50)[0]), abs=2e-2)
    assert half.fingerprint != plain.fingerprint
    assert half.index_fingerprint != plain.index_fingerprint


def test_two_stages_over_the_same_weights_share_one_encoder_and_read_a_query_once(tmp_path: Path) -> None:
    folder = tiny_models.save_encoder(tmp_path / "tiny")
    choice = ModelChoice(model="tiny/encoder", path=str(folder), dtype="float32", device="cpu")
    weights = find_weights(choice, folder)
    one, two = (shared_encoder(weights, choice, "mean") for _ in range(2))
    other = shared_encoder(weights, choice, "cls")
    assert one is two
    assert other is not one
    first = one.alone("Extract tables")
    assert two.alone("Extract tables") is first
    assert not (one.alone("Extract tables", 2) == first).all()
    assert (one.encode(["Extract tables"]).vectors == first).all()


def test_texts_are_read_anew_where_reading_is_what_is_measured(tmp_path: Path) -> None:
    folder = tiny_models.save_encoder(tmp_path / "tiny")
    choice = ModelChoice(model="tiny/encoder", path=str(folder), dtype="float32", device="cpu")
    encoder = shared_encoder(find_weights(choice, folder), choice, "mean")
    first = encoder.alone("Extract tables")
    forget_texts()
    assert encoder.alone("Extract tables") is not first
