"""Speed and memory of `bm25` beside bare bm25s, tantivy and rank_bm25, on one pool in one run.

Run: python bench/routing.py --skills 110000 [--source POOL] [--queries FILE]

The pool is made by recombining the skills of a source pool: each new body keeps four fifths of
one body and takes the rest from another, with three more words in the description and two ids of
its own. Every engine runs in a process of its own, and ratios are of CPU time, which other work on
the machine disturbs least. tantivy and rank_bm25 are measured where they are installed; rank_bm25
on three queries, because it takes seconds for each.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import click

from workbench.core.workspace import Workspace, find_workspace
from workbench.routing.load import load_router
from workbench.routing.router import Query
from workbench.routing.runs import read_queries
from workbench.skills.opening import open_pool
from workbench.skills.pool import Pool
from workbench.skills.writer import Entry, text_entry, write_pool

K = 50
Search = Callable[[str], Any]


def recombined(source: Pool, count: int) -> Iterator[Entry]:
    """The skills of `source`, then new ones made from them until there are `count`."""
    rng = random.Random(0)
    skills = list(source.skills())
    words = [skill.body.split(" ") for skill in skills]
    for skill in skills[:count]:
        yield text_entry(skill.id, skill.name, skill.description, skill.body)
    for number in range(count - len(skills)):
        place, other = rng.randrange(len(skills)), rng.choice(words)
        body = list(words[place])
        for _ in range(len(body) // 5):
            body[rng.randrange(len(body))] = rng.choice(other)
        body += [f"id{rng.randrange(10**9)}", f"ref{rng.randrange(10**9)}"]
        description = " ".join([skills[place].description, *rng.choices(other, k=3)])
        yield text_entry(f"made/{number:06d}", skills[place].name, description, " ".join(body))


def texts(pool: Pool) -> Iterator[str]:
    """Each skill's three fields as one text."""
    return (f"{skill.name} {skill.description} {skill.body}" for skill in pool.skills())


def ours(pool: Pool, folder: Path) -> Search:
    """`bm25` as shipped: built, or opened where `folder` has its index."""
    workspace = Workspace(find_workspace().roots, folder, folder / "cache")
    router = load_router("bm25", pool, workspace)
    router.prepare()
    return lambda text: router.route([Query("q", text)], K)


def bm25s_bare(pool: Pool, folder: Path) -> Search:
    """bm25s' own calls on one text per skill, with its stop words and a stemmer."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    index.index(bm25s.tokenize(list(texts(pool)), stemmer=stemmer, show_progress=False), show_progress=False)
    return lambda text: index.retrieve(
        bm25s.tokenize(text, stemmer=stemmer, show_progress=False), k=K, show_progress=False
    )


def tantivy(pool: Pool, folder: Path) -> Search:
    """tantivy over three stemmed fields, one writer thread."""
    import tantivy as engine

    schema = engine.SchemaBuilder()
    fields = ["name", "description", "body"]
    for field in fields:
        schema.add_text_field(field, stored=False, tokenizer_name="en_stem")
    index = engine.Index(schema.build())
    writer = index.writer(heap_size=256_000_000, num_threads=1)
    for skill in pool.skills():
        writer.add_document(engine.Document(**{field: [getattr(skill, field)] for field in fields}))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    return lambda text: searcher.search(index.parse_query_lenient(text, fields)[0], K)


def rank_bm25(pool: Pool, folder: Path) -> Search:
    """rank_bm25's Okapi on lower-cased words."""
    import re

    from rank_bm25 import BM25Okapi  # type: ignore[import-untyped, unused-ignore]

    def split(text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    index = BM25Okapi([split(text) for text in texts(pool)])
    return lambda text: index.get_top_n(split(text), range(len(pool)), K)


ENGINES: dict[str, Callable[[Pool, Path], Search]] = {
    "ours, cold": ours,
    "ours, warm": ours,
    "bm25s": bm25s_bare,
    "tantivy": tantivy,
    "rank_bm25": rank_bm25,
}


def measure(engine: str, pool: Pool, folder: Path, queries: Sequence[str]) -> dict[str, float]:
    """Seconds until ready, CPU milliseconds a query, and the highest memory of this process."""
    start, cpu = time.perf_counter(), time.process_time()
    search = ENGINES[engine](pool, folder)
    ready, used = time.perf_counter() - start, time.process_time() - cpu
    times = []
    for text in queries:
        start = time.process_time()
        search(text)
        times.append(1000 * (time.process_time() - start))
    p95 = quantiles(times, n=20, method="inclusive")[-1]
    return {"ready": ready, "cpu": used, "median": median(times), "p95": p95, "peak": peak_memory()}


def peak_memory() -> float:
    """The most memory that this process has had, in MB; NaN where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), float("nan"))


def report(pool: Path, folder: Path, queries: Sequence[str], quick: bool) -> None:
    """Measure every engine that is installed, one after the other, and print a table."""
    (folder / "queries.json").write_text(json.dumps(list(queries)), encoding="utf-8")
    click.echo(f"{'engine':12}{'ready s':>10}{'CPU s':>10}{'query ms':>10}{'p95 ms':>10}{'peak MB':>10}")
    found: dict[str, dict[str, float]] = {}
    for engine in ENGINES:
        if engine in ("tantivy", "rank_bm25") and quick:
            continue
        if engine in ("tantivy", "rank_bm25") and find_spec(engine) is None:
            continue
        child = [sys.executable, __file__, "--engine", engine, "--folder", str(folder), "--source", str(pool)]
        output = subprocess.run(child, check=True, capture_output=True, text=True).stdout
        row = found[engine] = json.loads(output.splitlines()[-1])
        click.echo(
            f"{engine:12}{row['ready']:10.2f}{row['cpu']:10.2f}{row['median']:10.2f}{row['p95']:10.2f}{row['peak']:10.0f}"
        )
    build = found["ours, cold"]["cpu"] / found["bm25s"]["cpu"]
    query = found["ours, warm"]["median"] / found["bm25s"]["median"]
    click.echo(f"ours to bm25s: {build:.2f} of the build's CPU time, {query:.2f} of a query's time")


@click.command()
@click.option("--skills", default=110_000, show_default=True, help="Size of the pool.")
@click.option("--source", default="quickstart", show_default=True, help="Pool to recombine.")
@click.option(
    "--queries", type=click.Path(path_type=Path), help="JSON Lines; default: 40 bodies' first words."
)
@click.option("--quick", is_flag=True, help="Leave out tantivy and rank_bm25.")
@click.option("--engine", type=click.Choice(list(ENGINES)), hidden=True)
@click.option("--folder", type=click.Path(path_type=Path), hidden=True)
def main(
    skills: int, source: str, queries: Path | None, quick: bool, engine: str | None, folder: Path | None
) -> None:
    """Compare engines on a pool of recombined skills."""
    pool = open_pool(source, find_workspace())
    if engine and folder:
        asked = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
        click.echo(json.dumps(measure(engine, pool, folder, asked[:3] if engine == "rank_bm25" else asked)))
        return
    if queries:
        asked = [query.text for query in read_queries(queries)]
    else:
        asked = [" ".join(skill.body.split()[:150]) for skill in pool.skills(pool.ids()[:40])]
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary, "recombined.pool")
        header = write_pool(path, "recombined", recombined(pool, skills))
        click.echo(
            f"{header.count:,} skills, {header.text_bytes / 1e6:.0f} MB of text, {len(asked)} queries, k {K}"
        )
        report(path, Path(temporary), asked, quick)


if __name__ == "__main__":
    main()
