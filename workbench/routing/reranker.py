"""(query, document) -> relevance, by a cross-encoder that reads both together.

Two kinds: causal language models that answer yes or no, with the prompt of Qwen3-Reranker, which
SkillRouter's reranker was trained from and with (appendix G and the released model's card); and
models with a head for classifying sequences (BERT-like rerankers), which read the pair as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Protocol, TypeVar

from workbench.core.errors import UsageError
from workbench.routing.encoder import placement
from workbench.routing.weights import ModelChoice, Weights, loading, require

R = TypeVar("R")

_SYSTEM = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the "
    'Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
_ANSWER = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


class CrossEncoder(Protocol):
    """What scores pairs. Thread-safe; no score depends on the other documents beyond rounding."""

    def score(self, query: str, documents: Sequence[str], batch: int) -> list[float]:
        """The relevance of each document to the query, in order; `batch` documents at a time."""

    def cut(self, text: str, max_tokens: int | None) -> str:
        """The start of a text that makes at most `max_tokens` tokens; all of it if ``None``."""


class Reranker:
    """A yes/no cross-encoder, loaded. Thread-safe; one call runs at a time.

    Args:
        weights: where they are.
        choice: caps, dtype and device.
        instruction: what the model is told to judge.
        separator: between instruction, query and document.
    """

    def __init__(
        self, weights: Weights, choice: ModelChoice, instruction: str, separator: str = "\n"
    ) -> None:
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
        self._separator = separator
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
        """logit(yes) - logit(no) for each document, in order.

        Documents of like length share a batch, the longest first: padding is work for nothing.
        """
        with self._lock:
            rows = [self._before + self._prompt(query, document) + self._after for document in documents]
            return by_length(rows, batch, self._forward)

    def _prompt(self, query: str, document: str) -> list[int]:
        """The user's turn, cut at its end to the model's input.

        A query that fills the input alone would leave nothing of the document and make all
        scores equal; it is cut to half.
        """
        head = f"<Instruct>: {self._instruction}{self._separator}<Query>: {query}{self._separator}"
        tail = f"<Document>: {document}"
        whole = self._tokens(head + tail)
        if len(whole) <= self._room:
            return whole
        query_only = self._tokens(head)
        if len(query_only) < self._room:
            return whole[: self._room]
        half = self._room // 2
        return query_only[:half] + self._tokens(tail)[: self._room - half]

    def cut(self, text: str, max_tokens: int | None) -> str:
        """The start of a text that makes at most `max_tokens` tokens; all of it if ``None``."""
        return _cut(self._tokenizer, text, max_tokens)

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


class Classifier:
    """A cross-encoder with a head for sequences, loaded. Thread-safe; one call runs at a time.

    With one output, that is the score; with two, the second less the first.
    """

    def __init__(self, weights: Weights, choice: ModelChoice) -> None:
        require()
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        dtype, self._device = placement(choice)
        with loading(choice, weights):
            self._tokenizer: Any = AutoTokenizer.from_pretrained(weights.folder)
            self._model: Any = AutoModelForSequenceClassification.from_pretrained(
                weights.folder, dtype=dtype, use_safetensors=True
            )
        outputs = int(self._model.config.num_labels)
        if outputs > 2:
            raise UsageError(
                f"'{choice.model}' is no reranker: it has {outputs} outputs, where 1 or 2 are meant"
            )
        self._model.to(self._device).eval()
        self._max_tokens = choice.max_tokens
        self._lock = Lock()

    def score(self, query: str, documents: Sequence[str], batch: int) -> list[float]:
        """The head's output for each pair, in order; what is too long is cut, the longer side first."""
        with self._lock:
            pairs = self._tokenizer(
                [query] * len(documents),
                list(documents),
                truncation="longest_first",
                max_length=self._max_tokens,
                split_special_tokens=True,
            )
            rows = [
                {name: values[at] for name, values in pairs.items() if name != "attention_mask"}
                for at in range(len(documents))
            ]
            return by_length(rows, batch, self._forward, lambda row: len(row["input_ids"]))

    def cut(self, text: str, max_tokens: int | None) -> str:
        """The start of a text that makes at most `max_tokens` tokens; all of it if ``None``."""
        return _cut(self._tokenizer, text, max_tokens)

    def _forward(self, rows: Sequence[dict[str, list[int]]]) -> list[float]:
        import torch

        padded = self._tokenizer.pad({"input_ids": [row["input_ids"] for row in rows]}, padding_side="right")
        width = len(padded["input_ids"][0])
        given = {"input_ids": padded["input_ids"], "attention_mask": padded["attention_mask"]}
        if "token_type_ids" in rows[0]:
            given["token_type_ids"] = [
                row["token_type_ids"] + [0] * (width - len(row["token_type_ids"])) for row in rows
            ]
        with torch.inference_mode():
            inputs = {name: torch.tensor(values).to(self._device) for name, values in given.items()}
            logits = self._model(**inputs).logits.float().cpu()
        margin = logits[:, -1] - logits[:, 0] if logits.shape[1] == 2 else logits[:, 0]
        scores: list[float] = margin.tolist()
        return scores


def by_length(
    rows: Sequence[R],
    batch: int,
    forward: Callable[[Sequence[R]], list[float]],
    length: Callable[[R], int] = len,  # type: ignore[assignment]
) -> list[float]:
    """Scores of rows in their order, computed in batches of like length, the longest first."""
    order = sorted(range(len(rows)), key=lambda place: (-length(rows[place]), place))
    scores = [0.0] * len(rows)
    for at in range(0, len(order), batch):
        places = order[at : at + batch]
        for place, score in zip(places, forward([rows[place] for place in places]), strict=True):
            scores[place] = score
    return scores


def _cut(tokenizer: Any, text: str, max_tokens: int | None) -> str:
    if max_tokens is None:
        return text
    found = tokenizer(
        text, truncation=True, max_length=max_tokens, return_offsets_mapping=True, add_special_tokens=False
    )
    ends: list[tuple[int, int]] = found["offset_mapping"]
    return text[: ends[-1][1]] if len(ends) == max_tokens else text
