"""Texts -> unit vectors, by a transformers encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakValueDictionary

from workbench.routing.weights import ModelChoice, Weights, loading, require

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

Pooling = Literal["last", "mean", "cls"]
_REMEMBERED = 256
"""Texts read alone, the latest ones, that are not read again."""


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
        batch_tokens: most tokens in a batch, padding included; by default what was fastest: few on
            a CPU, whose caches are small, many on a GPU.
    """

    def __init__(
        self, weights: Weights, choice: ModelChoice, pooling: Pooling, batch_tokens: int | None = None
    ) -> None:
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
        self._batch_tokens = batch_tokens or (65_536 if self._device.type == "cuda" else 2_048)
        self._lock = Lock()
        self.alone = lru_cache(_REMEMBERED)(self._alone)

    def _alone(self, text: str, max_tokens: int | None = None) -> NDArray[Any]:
        """The vector (1 x dimensions) of a text in a batch of its own."""
        vectors = self.encode([text], max_tokens).vectors
        vectors.flags.writeable = False
        return vectors

    def encode(self, texts: Sequence[str], max_tokens: int | None = None) -> Encoded:
        """One vector per text, in order. Batches hold texts of like length, the longest first.

        Args:
            max_tokens: a lower limit than the model's own.
        """
        import numpy as np

        with self._lock:
            # Split: what looks like a control token in a text is text.
            tokens = self._tokenizer(
                list(texts),
                truncation=True,
                max_length=min(max_tokens or self._max_tokens, self._max_tokens),
                split_special_tokens=True,
            )
            rows = [row or [0] for row in tokens["input_ids"]]  # a text of no tokens still needs one
            cut = [bool(encoding.overflowing) for encoding in tokens.encodings]
            vectors = np.zeros((len(texts), self._model.config.hidden_size), dtype=np.float32)
            for places in batches([len(row) for row in rows], self._batch_tokens):
                vectors[places] = self._forward([rows[place] for place in places])
        return Encoded(vectors, cut)

    def windows(self, text: str, max_tokens: int | None = None) -> list[str]:
        """A text in consecutive parts, each as long as the input takes; the text itself if it fits.

        Args:
            max_tokens: a lower limit than the model's own.
        """
        limit = min(max_tokens or self._max_tokens, self._max_tokens)
        with self._lock:
            room = max(limit - self._tokenizer.num_special_tokens_to_add(), 1)
            found = self._tokenizer(
                text,
                add_special_tokens=False,
                split_special_tokens=True,
                return_offsets_mapping=True,
                verbose=False,
            )
        places: list[tuple[int, int]] = found["offset_mapping"]
        if len(places) <= room:
            return [text]
        starts = range(0, len(places), room)
        return [text[places[at][0] : places[min(at + room, len(places)) - 1][1]] for at in starts]

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


_SHARED: WeakValueDictionary[tuple[object, ...], Encoder] = WeakValueDictionary()
_SHARING = Lock()


def shared_encoder(
    weights: Weights, choice: ModelChoice, pooling: Pooling, batch_tokens: int | None = None
) -> Encoder:
    """The one of its kind in this process: stages over the same weights load them, and read a query, once."""
    placed = tuple(str(part) for part in placement(choice))
    key = (str(weights.folder), weights.identity, *placed, choice.max_tokens, pooling, batch_tokens)
    with _SHARING:
        found = _SHARED.get(key)
        if found is None:
            found = _SHARED[key] = Encoder(weights, choice, pooling, batch_tokens)
        return found


def forget_texts() -> None:
    """Read every text anew, for whoever measures how long that takes."""
    with _SHARING:
        for encoder in list(_SHARED.values()):
            encoder.alone.cache_clear()


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
        name = (
            "bfloat16"
            if device.startswith("cuda") or (device == "cpu" and _has_matrix_units())
            else "float32"
        )
    dtype: torch.dtype = getattr(torch, name)
    return dtype, torch.device(device)


def _has_matrix_units() -> bool:
    """Whether this CPU multiplies bfloat16 matrices in hardware; without, it is slower than float32."""
    import torch

    supported = getattr(torch.cpu, "_is_amx_tile_supported", None)
    return bool(supported and supported())
