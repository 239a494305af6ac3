"""Texts -> unit vectors, by a transformers encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.routing.weights import ModelChoice, Weights, loading, require

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

Pooling = Literal["last", "mean", "cls"]


class Encoded(NamedTuple):
    """Unit vectors (texts x dimensions, float32), and which texts lost their end."""

    vectors: NDArray[Any]
    cut: list[bool]


class Encoder:
    """An encoder, loaded. Thread-safe; one call runs at a time.

    Args:
        weights: where they are.
        choice: caps, dtype and device.
        pooling: which hidden states of the last layer make the vector: the last token's, the
            mean over tokens, or the first token's.
        batch_tokens: most tokens in a batch, padding included.
    """

    def __init__(self, weights: Weights, choice: ModelChoice, pooling: Pooling, batch_tokens: int) -> None:
        require()
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        dtype, self._device = placement(choice)
        with loading(choice, weights):
            self._tokenizer: Any = AutoTokenizer.from_pretrained(weights.folder)
            self._model: Any = AutoModel.from_pretrained(weights.folder, dtype=dtype, use_safetensors=True)
        self._model.to(self._device).eval()
        self._pooling = pooling
        self._max_tokens = choice.max_tokens
        self._batch_tokens = batch_tokens
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> Encoded:
        """One vector per text, in order. Batches hold texts of like length, the longest first."""
        import numpy as np

        with self._lock:
            # Split: what looks like a control token in a text is text.
            tokens = self._tokenizer(
                list(texts), truncation=True, max_length=self._max_tokens, split_special_tokens=True
            )
            rows = [row or [0] for row in tokens["input_ids"]]  # a text of no tokens still needs one
            cut = [bool(encoding.overflowing) for encoding in tokens.encodings]
            vectors = np.zeros((len(texts), self._model.config.hidden_size), dtype=np.float32)
            for places in batches([len(row) for row in rows], self._batch_tokens):
                vectors[places] = self._forward([rows[place] for place in places])
        return Encoded(vectors, cut)

    def _forward(self, rows: Sequence[Sequence[int]]) -> NDArray[Any]:
        """Vectors of one batch. Padding goes to the right: every token keeps its own position."""
        import torch

        lengths = torch.tensor([len(row) for row in rows])
        width = int(lengths.max())
        ids = torch.zeros((len(rows), width), dtype=torch.long)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = torch.tensor(row)
        mask = (torch.arange(width)[None, :] < lengths[:, None]).long()
        with torch.inference_mode():
            output = self._model(input_ids=ids.to(self._device), attention_mask=mask.to(self._device))
            pooled = _pool(output.last_hidden_state.float().cpu(), mask, self._pooling)
            array: NDArray[Any] = torch.nn.functional.normalize(pooled, dim=1).numpy()
        return array


def _pool(states: torch.Tensor, mask: torch.Tensor, pooling: Pooling) -> torch.Tensor:
    """Hidden states (texts x tokens x dimensions), padded right -> (texts x dimensions)."""
    import torch

    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        return states[torch.arange(len(states)), mask.sum(dim=1) - 1]
    weights = mask[:, :, None].to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places of `lengths` in batches: longest first, each batch's padded size within `budget`.

    A single text longer than the budget is a batch of its own.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: (-lengths[place], place)):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def placement(choice: ModelChoice) -> tuple[torch.dtype, torch.device]:
    """The dtype and device that ``auto`` stands for on this machine."""
    require()
    import torch

    device = choice.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    name = choice.dtype
    if name == "auto":
        name = "bfloat16" if device.startswith("cuda") else "float32"
    dtype: torch.dtype = getattr(torch, name)
    return dtype, torch.device(device)
