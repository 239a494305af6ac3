"""SkillRouter as published: its templates to the letter, and its models' arithmetic as on their cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.workspace import packaged_root
from workbench.routing.encoder import Encoder
from workbench.routing.recipe import StageSpec, load_recipe
from workbench.routing.reranker import Reranker
from workbench.routing.text import DocumentText, QueryText
from workbench.routing.weights import ModelChoice, find_weights
from workbench.skills.skill import Skill

TASK = "t" * 3000
SKILL = Skill("a/b", "name", "d" * 900, "b" * 9000, "b", "")
TEXTS = ["Extract tables from PDF files", "Draw charts. " * 30, "x", "Parse CSV data and check its schema"]


def stages(name: str) -> tuple[StageSpec, ...]:
    return load_recipe(packaged_root() / "routers" / f"{name}.yaml").stages


@pytest.mark.parametrize(
    ("name", "task", "chars", "description", "body", "tokens"),
    [
        ("skillrouter", "a task description", 1500, 300, 2500, 2048),
        ("skillrouter-emb", "a task description", 1500, 300, 2500, 2048),
        ("skillrouter-judge", "a task description", 1500, 300, 2500, 2048),
        ("skillrouter-released", "a coding task description", 2000, 500, 8000, 4096),
        ("qwen3-8b", "a task description", 1500, 300, 2500, 2048),
        ("skillreason-0.6b", "a task description", 3000, 300, 2500, 4096),
    ],
)
def test_the_encoder_reads_what_the_paper_or_its_code_says(
    name: str, task: str, chars: int, description: int, body: int, tokens: int
) -> None:
    options = stages(name)[0].options
    query, document = getattr(options, "query", None), getattr(options, "document", None)
    assert isinstance(query, QueryText)
    assert isinstance(document, DocumentText)
    assert query.render(TASK) == (
        f"Instruct: Given {task}, retrieve the most relevant skill document that would help an agent "
        f"complete the task\nQuery:{'t' * chars}"
    )
    assert document.render(SKILL) == f"name | {'d' * description} | {'b' * body}"
    assert getattr(options, "max_tokens", None) == tokens
    assert getattr(options, "pooling", None) == "last"


@pytest.mark.parametrize(
    ("name", "task"),
    [("skillrouter", "a task description"), ("skillrouter-released", "a coding task description")],
)
def test_the_reranker_reads_what_the_paper_or_its_code_says(name: str, task: str) -> None:
    options = stages(name)[1].options
    document = getattr(options, "document", None)
    assert isinstance(document, DocumentText)
    assert getattr(options, "instruction", "") == (
        f"Given {task}, judge whether the skill document is relevant and useful for completing the task"
    )
    assert document.render(SKILL) == f"name | {'d' * 500} | {'b' * 2000}"
    assert (getattr(options, "top", 0), getattr(options, "max_tokens", 0)) == (20, 4096)


def test_r3_reads_512_tokens_of_the_task_and_4096_of_the_skill() -> None:
    options = stages("r3")[0].options
    query = getattr(options, "query", None)
    assert isinstance(query, QueryText)
    instruction = "Instruct: Given a user request, retrieve the agent skill that solves it."
    assert query.render("task") == f"{instruction}\nQuery:task"
    assert (query.tokens, getattr(options, "max_tokens", 0)) == (512, 4096)


@pytest.mark.parametrize("side", ["left", "right"])
def test_vectors_are_those_of_padded_batches_pooled_at_the_last_token(models: Path, side: str) -> None:
    """The pooling of Qwen3-Embedding's card, as SkillRouter uses it, on a batch padded on either side."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = models / "tiny/encoder"
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side=side)
    model = AutoModel.from_pretrained(folder).float().eval()
    batch = tokenizer(TEXTS, padding=True, truncation=True, max_length=2048, return_tensors="pt")
    with torch.no_grad():
        states = model(**batch).last_hidden_state
    mask = batch["attention_mask"]
    if mask[:, -1].sum() == len(mask):
        pooled = states[:, -1]
    else:
        pooled = states[torch.arange(len(mask)), mask.sum(dim=1) - 1]
    expected = torch.nn.functional.normalize(pooled, p=2, dim=1).numpy()
    choice = ModelChoice(model="tiny/encoder", path=str(folder), device="cpu", dtype="float32")
    found = Encoder(find_weights(choice, folder), choice, "last").encode(TEXTS).vectors
    assert found == pytest.approx(expected, abs=1e-5)


def test_scores_are_those_of_one_left_padded_batch(models: Path) -> None:
    """The loop of SkillRouter's code: one batch, padded on the left, positions left to the model."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = models / "tiny/reranker"
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder).float().eval()
    before = tokenizer.encode(
        "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the "
        'Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n',
        add_special_tokens=False,
    )
    after = tokenizer.encode(
        "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n", add_special_tokens=False
    )
    texts = [f"<Instruct>: Judge it\n\n<Query>: the task\n\n<Document>: {text}" for text in TEXTS]
    rows = [before + tokenizer(text)["input_ids"] + after for text in texts]
    batch = tokenizer.pad({"input_ids": rows}, padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits[:, -1]
    yes, no = tokenizer.convert_tokens_to_ids("yes"), tokenizer.convert_tokens_to_ids("no")
    expected = (logits[:, yes] - logits[:, no]).tolist()
    choice = ModelChoice(model="tiny/reranker", path=str(folder), device="cpu", dtype="float32")
    found = Reranker(find_weights(choice, folder), choice, "Judge it", "\n\n").score("the task", TEXTS, 20)
    assert found == pytest.approx(expected, abs=1e-4)
    assert sorted(range(4), key=found.__getitem__) == sorted(range(4), key=expected.__getitem__)
