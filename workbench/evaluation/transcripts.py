"""Reading a trial's transcript: the model calls that were answered, and the tool calls in them."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.event import Event, ModelEvent, ToolEvent

from workbench.evaluation.loads import Call


def answered(events: Sequence[Event]) -> list[ModelEvent]:
    """Model calls with an answer; attempts that failed and were tried again are left out."""
    return [e for e in events if isinstance(e, ModelEvent) and e.error is None and e.output is not None]


def cut_short(events: Sequence[Event]) -> bool:
    """Whether a model call was under way when the trial was stopped: what it took nobody tells."""
    calls = [e for e in events if isinstance(e, ModelEvent)]
    return any(e.pending or (e.error is not None and "cancelled" in e.error) for e in calls)


def transcript_calls(events: Sequence[Event]) -> list[Call]:
    """Tool calls by turn: those that Inspect ran, and those that only a model's answer shows.

    An agent that runs its tools itself (a command-line agent behind Inspect's bridge) leaves no
    tool events, but its calls stand in the model's answers.
    """
    calls: list[Call] = []
    ran: set[str] = {event.id for event in events if isinstance(event, ToolEvent)}
    turn = 0
    for event in events:
        if isinstance(event, ToolEvent):
            calls.append(Call(turn, event.function, event.arguments))
        elif isinstance(event, ModelEvent) and event.error is None and event.output is not None:
            turn += 1
            message = event.output.message if event.output.choices else None
            wanted = (message.tool_calls or []) if message is not None else []
            calls += [Call(turn, call.function, call.arguments) for call in wanted if call.id not in ran]
    return calls
