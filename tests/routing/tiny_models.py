"""Random models of the Qwen3 family, small enough for tests, in the files that the hub would have."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

_TEXT = [
    "Judge whether the Document meets the requirements based on the Query and the Instruct provided.",
    "Given a task description, retrieve the most relevant skill document. The answer is yes or no.",
    "Extract tables from PDF files, draw charts, parse CSV data, check a schema and clean the result.",
    *["yes", "no"] * 20,  # often enough to be a token each, as in Qwen3's vocabulary
]
_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"]


def require_dense() -> None:
    """Skip without the dense extra; fail where WORKBENCH_REQUIRE_DENSE says that it must be there."""
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if missing and os.environ.get("WORKBENCH_REQUIRE_DENSE") == "1":
        pytest.fail(f"not installed: {missing}")
    if missing:
        pytest.skip(f"not installed: {missing}")


def save_encoder(folder: Path, seed: int = 0) -> Path:
    """An encoder whose tokeniser, like Qwen3-Embedding's, ends every text with a token of its own."""
    import torch
    from transformers import Qwen3Model

    config, tokenizer = _parts(ends=True)
    torch.manual_seed(seed)
    Qwen3Model(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_reranker(folder: Path, seed: int = 0, answers: bool = True) -> Path:
    """A causal language model; with `answers` its tokeniser has the tokens ``yes`` and ``no``."""
    import torch
    from transformers import Qwen3ForCausalLM

    config, tokenizer = _parts(ends=False, answers=answers)
    torch.manual_seed(seed)
    Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_classifier(folder: Path, outputs: int = 1, seed: int = 0) -> Path:
    """A BERT-like cross-encoder with a head of so many outputs, and a tokeniser that marks the two sides."""
    import torch
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertForSequenceClassification

    _, tokenizer = _parts(ends=False)
    marks = [("<|im_start|>", 1), ("<|im_end|>", 2)]
    tokenizer._tokenizer.post_processor = TemplateProcessing(  # type: ignore[attr-defined]
        single="<|im_start|> $A <|im_end|>",
        pair="<|im_start|> $A <|im_end|> $B:1 <|im_end|>:1",
        special_tokens=marks,
    )
    tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]  # type: ignore[attr-defined]
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer),  # type: ignore[arg-type]
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=2048,
        num_labels=outputs,
        pad_token_id=0,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)  # type: ignore[attr-defined]
    return folder


def _parts(ends: bool, answers: bool = True) -> tuple[object, object]:
    from tokenizers import Tokenizer
    from tokenizers.decoders import ByteLevel as ByteLevelDecoder
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.processors import TemplateProcessing
    from tokenizers.trainers import BpeTrainer
    from transformers import PreTrainedTokenizerFast, Qwen3Config

    raw = Tokenizer(BPE())
    raw.pre_tokenizer = ByteLevel(add_prefix_space=False)
    raw.decoder = ByteLevelDecoder()
    trainer = BpeTrainer(
        vocab_size=400 if answers else 0,  # 0: single bytes only
        initial_alphabet=ByteLevel.alphabet(),
        special_tokens=_SPECIAL,
        show_progress=False,
    )
    raw.train_from_iterator(_TEXT, trainer)
    if ends:
        raw.post_processor = TemplateProcessing(
            single="$A <|endoftext|>", special_tokens=[("<|endoftext|>", raw.token_to_id("<|endoftext|>"))]
        )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<|endoftext|>", eos_token="<|endoftext|>"
    )
    config = Qwen3Config(
        vocab_size=raw.get_vocab_size(),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=8192,
        tie_word_embeddings=False,
    )
    return config, tokenizer


def provide(root: Path, encoders: Iterable[str] = (), rerankers: Iterable[str] = ()) -> Path:
    """A folder for $SKILL_WORKBENCH_MODELS that has the models of the given names."""
    for name in encoders:
        if not (root / name).exists():
            save_encoder(root / name)
    for name in rerankers:
        if not (root / name).exists():
            save_reranker(root / name)
    return root
