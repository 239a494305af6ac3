"""Heights between high and low water by the rule of twelfths."""

from typing import List, Sequence, Tuple

TWELFTHS = (0, 1, 3, 6, 9, 11, 12)


def height(water: Sequence[Tuple[str, float]], clock: str) -> float:
    """Height of tide at a time, metres, from (time, height) of the high and low waters around it.

    Raises:
        ValueError: the time lies outside the given waters.
    """
    minute = _minutes(clock)
    marks = [(_minutes(time), level) for time, level in water]
    for (start, first), (end, last) in zip(marks, marks[1:]):
        if start <= minute <= end:
            return first + (last - first) * _share((minute - start) / (end - start))
    raise ValueError(f"{clock} lies outside the given waters")


def windows(water: Sequence[Tuple[str, float]], mark: float) -> List[Tuple[str, str]]:
    """First and last minute of each time during which the tide stands at or above a mark."""
    found: List[List[int]] = []
    for minute in range(_minutes(water[0][0]), _minutes(water[-1][0]) + 1):
        if height(water, _clock(minute)) < mark:
            continue
        if found and found[-1][1] == minute - 1:
            found[-1][1] = minute
        else:
            found.append([minute, minute])
    return [(_clock(start), _clock(end)) for start, end in found]


def _share(part: float) -> float:
    """The part of the range that has run after a part of the time."""
    sixth = min(5, int(part * 6))
    low, high = TWELFTHS[sixth], TWELFTHS[sixth + 1]
    return (low + (high - low) * (part * 6 - sixth)) / 12


def _minutes(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
