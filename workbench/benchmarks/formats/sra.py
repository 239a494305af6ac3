"""SRA-Bench's format: questions with the ids of the skills they need, in one JSON file per subset.

    <data>/
      instances/<subset>.json   a list of {instance_id, dataset, question, skill_annotations, eval_data}
      corpus/corpus.json[.zip]  the pool: {skill_id, name, description, content[, tools]}; see the pool source
      toolqa/                   ToolQA's tables, papers and graphs, for its tools

The instance files may lie in the folder itself. A subset is judged by the file in ``judges/`` that has
its name. Source: https://github.com/oneal2000/SR-Agents
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from workbench.benchmarks.judging import judge_names, runs_code
from workbench.benchmarks.task import BenchmarkTask, Question
from workbench.core.content import plain
from workbench.core.errors import ContentError, suggestion

MISSING = "holds no instances/<subset>.json; give the folder above instances/"
_MAX_BYTES = 512 * 2**20

_FORMS: Mapping[str, str] = {
    "theoremqa": (
        "Solve the problem. End with one sentence of the form: Therefore, the answer is X.\n"
        "X is a number without a unit (0.1), a list of numbers ([2, 3, 4]), True or False, or an option"
        " ((a), (b), (c) or (d))."
    ),
    "logicbench": "",
    "medcalcbench": (
        "Calculate what is asked about the patient, step by step. End with one line of the form:\n"
        "ANSWER: X\n"
        "X is a number without a unit (25.24), a whole number for a score, or a date as MM/DD/YYYY."
    ),
    "champ": (
        "Solve the problem and show your work. End with one line of the form:\n"
        "ANSWER: X\n"
        "X is a number, a formula in plain text (n!, 2^n; no LaTeX), Yes, No, or a short phrase."
    ),
    "toolqa": (
        "Answer the question with the tools, which look things up in tables, papers, an agenda and graphs."
        " End with one line of the form:\nFinish[X]\nX is the answer alone."
    ),
    "bigcodebench": "",
}
_REPLIES = {
    "theoremqa": "Therefore, the answer is {}.",
    "logicbench": "The answer is {}.",
    "medcalcbench": "ANSWER: {}",
    "champ": "ANSWER: {}",
    "toolqa": "Finish[{}]",
}


class Instance(BaseModel):
    """One question, as published."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    instance_id: str
    dataset: str
    question: str
    skill_annotations: tuple[str, ...]
    eval_data: dict[str, Any]


_INSTANCES = TypeAdapter(list[Instance])


def tasks_folder(folder: Path) -> Path | None:
    """The folder whose instance files lie in it or in its ``instances/``; or ``data/bench`` of a checkout."""
    return next((f for f in (folder, folder / "data" / "bench") if _files(f)), None)


def _files(folder: Path) -> list[Path]:
    names = judge_names()
    for place in (folder / "instances", folder):
        if found := [place / f"{name}.json" for name in names if (place / f"{name}.json").is_file()]:
            return found
    return []


def read_tasks(suite: str, folder: Path) -> tuple[BenchmarkTask, ...]:
    """Every instance of every subset, sorted by id.

    Raises:
        ContentError: a file is not of this format, or an id occurs twice; names file and instance.
    """
    tasks: dict[str, BenchmarkTask] = {}
    for file in _files(folder):
        for instance in _instances(file):
            if instance.instance_id in tasks:
                raise ContentError(file, None, f"instance_id '{instance.instance_id}' is given twice")
            tasks[instance.instance_id] = _task(suite, folder, file, instance)
    return tuple(tasks[key] for key in sorted(tasks))


def _instances(file: Path) -> list[Instance]:
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise ContentError(file, None, f"larger than {_MAX_BYTES} bytes")
        return _INSTANCES.validate_python(json.loads(file.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ContentError(file, None, f"instance {where}: {plain(first)}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ContentError(file, None, f"cannot be read as JSON: {error}") from None


def _task(suite: str, folder: Path, file: Path, instance: Instance) -> BenchmarkTask:
    name = instance.dataset
    if name not in _FORMS:
        raise ContentError(
            file, None, f"{instance.instance_id}: unknown dataset '{name}'{suggestion(name, _FORMS)}"
        )
    question = Question(
        judge=name,
        facts={**instance.eval_data, "question": instance.question},
        gold=tuple(sorted(set(instance.skill_annotations))),
        form=_FORMS[name],
        solution=_solution(instance),
        kit="toolqa" if name == "toolqa" else "",
        in_sandbox=runs_code(name),
    )
    nowhere = folder / ".none"
    return BenchmarkTask(
        id=instance.instance_id,
        suite=suite,
        folder=folder,
        instruction=instance.question,
        gold=(),
        environment=nowhere,
        tests=nowhere,
        solution=None,
        tags={"subset": name},
        question=question,
    )


def _solution(instance: Instance) -> str | None:
    """A reply in the form that is asked for, with the answer that the instance gives."""
    facts = instance.eval_data
    if instance.dataset in _REPLIES:
        return _REPLIES[instance.dataset].format(facts["answer"]) if "answer" in facts else None
    code = facts.get("canonical_solution")
    return f"```python\n{facts.get('code_prompt', '')}{code}\n```" if code else None
