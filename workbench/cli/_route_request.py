"""What `workbench route` was asked to do: its options, checked together, and what they name read in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.core.errors import UsageError
from workbench.core.types import Progress, silent

if TYPE_CHECKING:
    from workbench.core.types import Ranking
    from workbench.core.workspace import Workspace
    from workbench.metrics.scoring import Relevance
    from workbench.routing.measure import Routed
    from workbench.routing.router import Query
    from workbench.skills.pool import Pool

_PLACE = "{router}"


@dataclass(frozen=True)
class Request:
    """The options of the command, checked together."""

    routers: str | None
    predictions: Path | None
    suite: str | None
    data: Path | None
    pool: str
    queries: Path | None
    qrels: Path | None
    k: int
    seed: int
    as_json: bool
    save_run: Path | None
    save_predictions: Path | None
    by: str | None
    scorer_compat: bool
    llm: str | None
    llm_base_url: str | None

    @classmethod
    def of(cls, workspace: Workspace, **options: Any) -> Request:
        """The options as given; a suite brings its own pool."""
        from workbench.benchmarks.suite import suite_spec

        if options["suite"] is not None and options["pool"] is None:
            options["pool"] = suite_spec(options["suite"], workspace)[1].pool
        if options["pool"] is None:
            raise UsageError(
                "give --suite NAME, or --pool, --queries and --qrels; see: workbench route --help"
            )
        return cls(**options)

    def __post_init__(self) -> None:
        if (self.routers is None) == (self.predictions is None):
            raise UsageError("give either --router NAME or --predictions FILE")
        if self.routers is not None and not self.names:
            raise UsageError("--router: no name; workbench route --list shows what there is")
        if not self.pool.strip():
            raise UsageError("--pool: no name; give a pool's name, a folder or a file")
        if self.suite is not None and (self.queries or self.qrels or self.by):
            raise UsageError(
                "--suite brings its own queries and relevance; leave out --queries, --qrels, --by"
            )
        if self.suite is None and self.qrels is None:
            raise UsageError("--qrels FILE is needed, or --suite NAME; see: workbench route --help")
        if self.routers is not None and self.queries is None and self.suite is None:
            raise UsageError("--router needs --queries FILE (task_id and instruction_text), or --suite NAME")
        if self.by is not None and self.queries is None:
            raise UsageError("--by needs --queries FILE, whose lines have the field")
        for path in (self.save_run, self.save_predictions):
            if path and len(self.names) > 1 and _PLACE not in path.name:
                raise UsageError(f"{path}: with several routers put {_PLACE} into the file's name")

    @property
    def names(self) -> list[str]:
        """The routers asked for, each once, in order."""
        return list(dict.fromkeys(name.strip() for name in (self.routers or "").split(",") if name.strip()))

    def check_recipes(self, workspace: Workspace) -> None:
        """Read every recipe now: a typing error must not cost the building of a pool."""
        from workbench.routing.recipe import load_recipe

        for name in self.names:
            load_recipe(workspace.find("routers", name))

    def open_pool(self, workspace: Workspace, progress: Progress = silent) -> Pool:
        """The pool asked for; one that holds a suite's skills finds the suite."""
        from workbench.benchmarks.suite import suite_data
        from workbench.skills.opening import open_pool

        return open_pool(
            self.pool,
            workspace,
            suite_data=lambda name: suite_data(name, workspace, self.data),
            progress=progress,
        )

    def tasks(self, pool: Pool, workspace: Workspace) -> tuple[list[Query], dict[str, Relevance]]:
        """The queries with their gold, and the relevance of each task in the list."""
        from workbench.metrics.scoring import Relevance
        from workbench.routing.runs import read_queries, read_relevance

        if self.qrels is None:
            return self._tasks_of_suite(pool, workspace)
        relevance = read_relevance(self.qrels)
        if not relevance:
            raise UsageError(f"{self.qrels}: has no tasks")
        if self.queries is None:
            return [], relevance
        queries = read_queries(self.queries)
        if not any(query.id in relevance for query in queries):
            raise UsageError(f"{self.qrels}: has none of the tasks of {self.queries}")
        tasks = {query.id: relevance.get(query.id, Relevance(())) for query in queries}
        return [replace(query, gold=tasks[query.id].gold) for query in queries], tasks

    def _tasks_of_suite(self, pool: Pool, workspace: Workspace) -> tuple[list[Query], dict[str, Relevance]]:
        """As `tasks`, from the suite's instructions and the skills that its tasks ship with."""
        from workbench.benchmarks.suite import load_suite
        from workbench.evaluation.gold import gold_of
        from workbench.metrics.scoring import Relevance
        from workbench.routing.router import Query

        suite = load_suite(self.suite or "", workspace, self.data)
        gold = gold_of(suite, pool)
        queries = [Query(task.id, task.instruction, gold=gold[task.id].ids) for task in suite.tasks]
        return queries, {query.id: Relevance(query.gold) for query in queries}

    def require_gold(self, tasks: Mapping[str, Relevance], pool: Pool) -> None:
        """Refuse a list of which no task can be scored, before anything is routed."""
        ids = frozenset(pool.ids())
        if any(found.counted and ids.intersection(found.gold) for found in tasks.values()):
            return
        without = sum(not found.counted or not found.gold for found in tasks.values())
        raise UsageError(
            f"{self.qrels or self.suite}: none of {len(tasks)} tasks can be scored: {without} without gold or"
            f" generic, {len(tasks) - without} whose gold is not in pool {pool.name}"
        )

    def slices(self) -> dict[str, str]:
        """Task -> its slice by ``--by``; empty without it."""
        from workbench.routing.runs import read_field

        return read_field(self.queries, self.by) if self.queries and self.by else {}

    def rankings(
        self, pool: Pool, queries: list[Query], workspace: Workspace, progress: Any
    ) -> Iterator[tuple[dict[str, Any], Routed]]:
        """What each router gave, or what the file holds, with a description of where it is from."""
        from workbench.models.completion import Completer
        from workbench.routing.load import load_router
        from workbench.routing.measure import Routed, route_all
        from workbench.routing.runs import read_rankings

        if self.predictions is not None:
            rankings = {task: ranking[: self.k] for task, ranking in read_rankings(self.predictions).items()}
            yield {"predictions": str(self.predictions)}, Routed(rankings, (), 0.0)
        complete = {name: Completer(workspace.cache, self.llm, self.llm_base_url) for name in self.names}
        loaded = [
            load_router(name, pool, workspace, seed=self.seed, progress=progress, complete=complete[name])
            for name in self.names
        ]
        for router in loaded:
            routed = route_all(router, queries, self.k, progress)
            about = {
                "fingerprint": router.fingerprint,
                "index_fingerprint": router.index_fingerprint,
                "notes": [*router.notes(), *filter(None, [complete[router.name].spending.line()])],
            }
            yield {"router": router.name, **about}, routed
            self._save(router.name, routed.rankings)

    def _save(self, name: str, rankings: Mapping[str, Ranking]) -> None:
        from workbench.routing.runs import write_predictions, write_run

        if self.save_run:
            write_run(_named(self.save_run, name), rankings, tag=name)
        if self.save_predictions:
            write_predictions(_named(self.save_predictions, name), rankings)


def _named(path: Path, router: str) -> Path:
    return path.with_name(path.name.replace(_PLACE, router))
