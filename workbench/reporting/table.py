"""One row per planned trial, as a Parquet file for data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.core.atomic import atomic_path
from workbench.core.errors import MissingDataError
from workbench.reporting.trial import Trial

_TEXT = (
    *("suite", "task", "condition", "router", "model", "agent", "status", "cause", "detail", "funnel"),
    *("pool", "disclosure", "sandbox", "image", "task_digest", "router_fingerprint", "log", "sample"),
)
_WHOLE = ("epoch", "k", "seed", "turns", "input_tokens", "output_tokens", "total_tokens")
_REAL = ("reward", "cost_usd", "setup_seconds", "agent_seconds", "verify_seconds")
_LISTS = ("gold", "routed", "loaded")


@dataclass
class TrialTable:
    """Collects trials as they are read. `routed`: the skills given; `loaded`: ``None`` if not observable."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def watch(self, trials: Iterable[Trial]) -> Iterator[Trial]:
        """The same trials, each noted on its way."""
        for trial in trials:
            self.rows.append(_row(trial))
            yield trial

    def write(self, target: Path) -> None:
        """Write all rows, whole or not at all.

        Raises:
            MissingDataError: pyarrow is not installed.
        """
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError as error:
            raise MissingDataError(
                "Parquet needs pyarrow; type: pip install 'skill-workbench[parquet]'"
            ) from error
        kinds = {
            **dict.fromkeys(_TEXT, pa.string()),
            **dict.fromkeys(_WHOLE, pa.int64()),
            **dict.fromkeys(_REAL, pa.float64()),
            **dict.fromkeys(_LISTS, pa.list_(pa.string())),
            "routing": pa.map_(pa.string(), pa.float64()),
            "tags": pa.map_(pa.string(), pa.string()),
        }
        schema = pa.schema(list(kinds.items()), metadata={"schema_version": "1"})
        with atomic_path(target) as path:
            parquet.write_table(pa.Table.from_pylist(self.rows, schema=schema), path)


def _row(trial: Trial) -> dict[str, Any]:
    row: dict[str, Any] = {
        "suite": trial.suite,
        "task": trial.task,
        "condition": trial.arm.condition,
        "router": trial.arm.router,
        "model": trial.model,
        "agent": trial.agent,
        "epoch": trial.epoch,
        "status": trial.status,
        "cause": trial.cause,
        "detail": trial.detail,
        "log": str(trial.log),
        "sample": trial.sample_id,
    }
    return {name: _plain(value) for name, value in {**row, **_recorded(trial)}.items()}


def _recorded(trial: Trial) -> dict[str, Any]:
    """What only the joint record knows."""
    record = trial.record
    if record is None:
        return {}
    blind = record.exposure.blind
    return {
        **record.spend.model_dump(),
        "agent": trial.agent or record.agent,
        "reward": record.outcome.reward,
        "funnel": record.outcome.funnel,
        "pool": record.route.pool,
        "k": record.route.k,
        "seed": record.seed,
        "router_fingerprint": record.route.router_fingerprint,
        "disclosure": record.exposure.disclosure,
        "sandbox": record.sandbox,
        "image": record.image,
        "task_digest": record.task_digest,
        "gold": list(record.route.gold),
        "routed": list(record.exposure.routed),
        "loaded": None if blind else sorted({load.id for load in record.exposure.loads}),
        "routing": list(record.route.metrics.items()),
        "tags": list(record.group.items()),
    }


def _plain(value: Any) -> Any:
    """Text that UTF-8 can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return tuple(_plain(part) for part in value) if isinstance(value, tuple) else value
