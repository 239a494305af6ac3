"""(query, document) -> relevance, by a causal language model that answers yes or no.

The prompt is that of Qwen3-Reranker, which SkillRouter's reranker was trained from and with
(appendix G and the released model's card).
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from workbench.core.errors import UsageError
from workbench.routing.encoder import placement
from workbench.routing.weights import ModelChoice, Weights, loading, require

_SYSTEM = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the "
    'Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
_ANSWER = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


class Reranker:
    """A yes/no cross-encoder, loaded. Thread-safe; one call runs at a time."""

    def __init__(self, weights: Weights, choice: ModelChoice, instruction: str) -> None:
        require()
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        dtype, self._device = placement(choice)
        with loading(choice, weights):
            self._tokenizer: Any = AutoTokenizer.from_pretrained(weights.folder)
            self._model: Any = AutoModelForCausalLM.from_pretrained(
                weights.folder, dtype=dtype, use_safetensors=True
            )
        self._model.to(self._device).eval()
        self._instruction = instruction
        self._before = self._frame(_SYSTEM)
        self._after = self._frame(_ANSWER)
        self._room = choice.max_tokens - len(self._before) - len(self._after)
        self._yes, self._no = self._answers(choice.model)
        self._lock = Lock()
        if self._room < 1:
            raise UsageError(
                f"max_tokens of '{choice.model}' is {choice.max_tokens}: no room beside the prompt"
            )

    def score(self, query: str, documents: Sequence[str], batch: int) -> list[float]:
        """logit(yes) - logit(no) for each document, in order; `batch` documents at a time."""
        with self._lock:
            rows = [self._before + self._prompt(query, document) + self._after for document in documents]
            scores: list[float] = []
            for at in range(0, len(rows), batch):
                scores += self._forward(rows[at : at + batch])
        return scores

    def _prompt(self, query: str, document: str) -> list[int]:
        """The user's turn, cut at its end to the model's input.

        A query that fills the input alone would leave nothing of the document and make all
        scores equal; it is cut to half.
        """
        head = f"<Instruct>: {self._instruction}\n\n<Query>: {query}\n\n"
        tail = f"<Document>: {document}"
        whole = self._tokens(head + tail)
        if len(whole) <= self._room:
            return whole
        query_only = self._tokens(head)
        if len(query_only) < self._room:
            return whole[: self._room]
        half = self._room // 2
        return query_only[:half] + self._tokens(tail)[: self._room - half]

    def _forward(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """Scores of one batch. Padding goes to the left, so that every row ends where the answer begins."""
        import torch

        width = max(len(row) for row in rows)
        ids = torch.tensor([[0] * (width - len(row)) + list(row) for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
        with torch.inference_mode():
            logits = self._model(
                input_ids=ids.to(self._device),
                attention_mask=mask.to(self._device),
                position_ids=positions.to(self._device),
                logits_to_keep=1,
            ).logits[:, -1, :]
            margin = (logits[:, self._yes] - logits[:, self._no]).float().cpu()
        scores: list[float] = margin.tolist()
        return scores

    def _frame(self, text: str) -> list[int]:
        """Tokens of the prompt's own text, control tokens included."""
        ids: list[int] = self._tokenizer(text, add_special_tokens=False, split_special_tokens=False)[
            "input_ids"
        ]
        return ids

    def _tokens(self, text: str) -> list[int]:
        """Tokens of what a task or a skill says: a skill cannot end its turn and answer for the model."""
        ids: list[int] = self._tokenizer(text, split_special_tokens=True)["input_ids"]
        return ids

    def _answers(self, model: str) -> tuple[int, int]:
        known = self._tokenizer.get_vocab()
        if "yes" not in known or "no" not in known:
            raise UsageError(
                f"'{model}' is no yes/no reranker: its tokeniser has no single token for both answers"
            )
        return known["yes"], known["no"]
