"""Agentic search: a model searches the pool by tool calls, reads what it likes, and submits a ranking.

As in Skill-Usage, whose agent gets a search tool over the pool and decides by itself what to look
for. What the tool searches with is the recipe's own channel.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field as Option

from workbench.core.content import Content
from workbench.core.types import RankedSkill, Ranking
from workbench.routing.asking import about
from workbench.routing.language import Answer, Call, Language, Message, Speaker, Tool, system, user
from workbench.routing.pipeline import Pipeline
from workbench.routing.router import Query
from workbench.routing.stage import RouteContext, Stage
from workbench.routing.words import words

REVISION = 1
EXAMPLE = {"model": "example/agent", "channels": [{"stages": [{"bm25": {}}]}], "calls": 6}

SYSTEM = (
    "You choose skills for an agent from a library too large to read. A skill is a document with "
    "instructions for a kind of task. Search the library with short queries about the capabilities, tools "
    "and formats that the task needs, one need at a time; read a skill where its description leaves you in "
    "doubt; then submit the ids of the skills that the agent should get, best first. Include every skill "
    "that the task needs and put those you are less sure of last. You have {calls} calls in all, the "
    "submission included."
)

TOOLS = (
    Tool(
        "search",
        "Search the library. Gives ids, names and descriptions, best first.",
        '{"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}',
    ),
    Tool(
        "read",
        "Read one skill.",
        '{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}',
    ),
    Tool(
        "submit",
        "Submit the chosen skills and end.",
        '{"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string"}}},'
        ' "required": ["ids"]}',
    ),
)


class Channel(Content):
    """What the search tool searches with.

    Attributes:
        stages: as at the top of a recipe.
    """

    stages: Any


class Config(Language):
    """Options of the stage, besides those of the language model.

    Attributes:
        channels: exactly one: what the search tool searches with.
        calls: tool calls that the model may make per task, its submission included.
        shown: results of one search.
        description_chars: characters shown of a description.
        body_chars: characters shown of a body that is read.
        query_chars: characters of the task that the model reads.
    """

    channels: tuple[Channel, ...] = Option(min_length=1, max_length=1)
    calls: int = Option(12, ge=1)
    shown: int = Option(10, ge=1)
    description_chars: int = Option(300, ge=1)
    body_chars: int = Option(4000, ge=1)
    query_chars: int = Option(8000, ge=1)


@dataclass
class _Session:
    """One task's search.

    Attributes:
        seen: ids that searches gave, in order of appearance.
        submitted: what the model submitted, ``None`` until it has.
    """

    query: Query
    allowed: Ranking | None
    messages: list[Message]
    left: int
    seen: dict[str, None] = field(default_factory=dict)
    submitted: list[str] | None = None


class Agentic(Stage):
    """Ranks what the model submitted; ids that the pool does not have are dropped.

    A model that spends its calls, or stops, without submitting gets what its searches found, in
    order of appearance; that is counted.
    """

    def __init__(self, config: Config, context: RouteContext) -> None:
        self._config = config
        self._pool = context.pool
        self._search: Pipeline = context.channels[0]
        self._speaker = Speaker("agentic", config, context.complete)

    @property
    def identity(self) -> str:
        """The model that is really asked, and the channel."""
        return f"{self._speaker.identity} {self._search.fingerprint}"

    @property
    def index_fingerprint(self) -> str | None:
        """That of the channel's index."""
        return self._search.index_fingerprint

    def prepare(self) -> None:
        """Prepare the channel, and see that there is a model to ask."""
        self._speaker.check()
        self._search.prepare()

    def notes(self) -> tuple[str, ...]:
        """How many tasks ended without a submission."""
        return (*self._search.notes(), *self._speaker.notes("what its searches found was taken"))

    def run(self, queries: Sequence[Query], candidates: Sequence[Ranking] | None, k: int) -> list[Ranking]:
        """Let the model search for each query."""
        allowed: Sequence[Ranking | None] = candidates or [None] * len(queries)
        pairs = list(zip(queries, allowed, strict=True))
        return [ranking[:k] for ranking in self._speaker.each(lambda pair: self._route(*pair), pairs)]

    def _route(self, query: Query, allowed: Ranking | None) -> Ranking:
        if not words(query.text):
            return ()
        task = user(f"Task:\n{query.text[: self._config.query_chars]}")
        opening = [system(SYSTEM.format(calls=self._config.calls)), task]
        session = _Session(query, allowed, opening, self._config.calls)
        while session.left > 0 and session.submitted is None:
            with about("task", query.id):
                answer = self._speaker.ask(*session.messages, tools=TOOLS)
            if not answer.calls:
                break
            self._play(session, answer)
        self._speaker.count(usable=session.submitted is not None)
        chosen = list(session.seen) if session.submitted is None else session.submitted
        return tuple(RankedSkill(skill, 1 / place) for place, skill in enumerate(chosen, start=1))

    def _play(self, session: _Session, answer: Answer) -> None:
        """Carry out the calls of one answer; every one gets a reply, as providers demand."""
        calls = tuple(Call(*call) for call in answer.calls)
        session.messages.append(Message("assistant", answer.text, calls))
        for call in calls:
            reply = self._carry_out(session, call) if session.left > 0 else "No calls are left."
            session.left -= 1
            session.messages.append(
                Message("tool", f"{reply}\n({max(session.left, 0)} calls left)", (), call.id)
            )

    def _carry_out(self, session: _Session, call: Call) -> str:
        try:
            given = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            return "The arguments are not valid JSON."
        if not isinstance(given, dict):
            return "The arguments must be an object."
        if call.name == "search":
            return self._found(session, str(given.get("query", "")))
        if call.name == "read":
            return self._text(session, str(given.get("id", "")))
        if call.name == "submit":
            return self._submit(session, given.get("ids"))
        return f"There is no tool '{call.name}'; there are: search, read, submit."

    def _found(self, session: _Session, text: str) -> str:
        asked = Query(session.query.id, text)
        candidates = None if session.allowed is None else [session.allowed]
        (ranking,) = self._search.run([asked], self._config.shown, candidates)
        session.seen.update(dict.fromkeys(entry.id for entry in ranking))
        skills = [self._pool.get(entry.id) for entry in ranking]
        lines = [f"{s.id}: {s.name}: {s.description[: self._config.description_chars]}" for s in skills]
        return "\n".join(lines) or "Nothing was found."

    def _may_be_chosen(self, session: _Session, skill: str) -> bool:
        known = session.allowed is None or skill in {entry.id for entry in session.allowed}
        return known and skill in self._pool

    def _text(self, session: _Session, skill: str) -> str:
        if not self._may_be_chosen(session, skill):
            return "There is no skill with this id; give an id as search shows it."
        found = self._pool.get(skill)
        return f"{found.name}\n{found.description}\n\n{found.body[: self._config.body_chars]}"

    def _submit(self, session: _Session, ids: object) -> str:
        if not isinstance(ids, list):
            return "ids must be a list of skill ids."
        known = dict.fromkeys(i for i in ids if isinstance(i, str) and self._may_be_chosen(session, i))
        if ids and not known:
            return "The library has none of these ids; give ids as search shows them."
        session.submitted = list(known)
        return "Submitted."


def build(config: Config, context: RouteContext) -> Stage:
    """The stage over the context's pool, its one channel and its language model."""
    return Agentic(config, context)
