"""The background of a library: directions that its skills share and that tell none apart.

SkillRep, section 3.3, in two levels. The first is the span of the top right singular vectors of
the document matrix, uncentred, so that the direction which all documents share is among them;
skills are rescaled to unit length once it is removed. The second comes from the library's most
generic words and is removed without rescaling. The paper, which follows SkillSight here, does not
print the estimator of the second level. Ours: for each of the words with the lowest inverse
document frequency, the mean of the skills that contain it, after the first level; then the top
right singular vectors of those means.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench.routing.search import ranges
from workbench.routing.words import words
from workbench.skills.skill import Skill

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS = 8192


def principal(rows: NDArray[Any], count: int) -> NDArray[Any]:
    """The top `count` right singular vectors of a matrix, uncentred: count x dimensions, float64.

    By the Gram matrix, block by block, so that memory holds dimensions squared and no copy of the
    rows. Fewer where the matrix has a lower rank.
    """
    import numpy as np

    size = rows.shape[1]
    gram = np.zeros((size, size))
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS].astype(np.float64)
        gram += block.T @ block
    values, vectors = np.linalg.eigh(gram)
    strong = np.flatnonzero(values > 1e-9 * max(float(values[-1]), 1e-300))[::-1]
    basis: NDArray[Any] = np.ascontiguousarray(vectors[:, strong[:count]].T)
    return basis


def without(rows: NDArray[Any], basis: NDArray[Any]) -> NDArray[Any]:
    """`rows` less their components along the orthonormal rows of `basis`; float64."""
    import numpy as np

    wide: NDArray[Any] = np.asarray(rows, dtype=np.float64)
    remaining: NDArray[Any] = wide - (wide @ basis.T) @ basis
    return remaining


def lengths(rows: NDArray[Any], basis: NDArray[Any]) -> NDArray[Any]:
    """The length of each row once `basis` is removed, float64."""
    import numpy as np

    starts = range(0, len(rows), _ROWS)
    parts = [np.linalg.norm(without(rows[at : at + _ROWS], basis), axis=1) for at in starts]
    return np.concatenate(parts) if parts else np.zeros(0)


def generic(
    rows: NDArray[Any],
    starts: NDArray[Any] | None,
    scales: NDArray[Any],
    basis: NDArray[Any],
    skills: Iterable[Skill],
    stop_words: frozenset[str],
    words_used: int,
    count: int,
) -> NDArray[Any]:
    """The second level's directions: at most `count` x dimensions, orthonormal, float64.

    Args:
        rows: skills in id order, as `vectors.Stored` has them with their `starts`.
        scales: 1 / length of each row after the first level.
        basis: of the first level.
        skills: the same skills in the same order.
        stop_words: not looked at; they say nothing about a library.
        words_used: number of words of the lowest inverse document frequency.
    """
    import numpy as np

    holds = _holders(skills, stop_words, words_used)
    means = np.zeros((len(holds), rows.shape[1]))
    for at, places in enumerate(holds):
        found = np.frombuffer(places, dtype=np.int32)
        if starts is not None:
            found = ranges(starts[found], starts[found + 1])
        for start in range(0, len(found), _ROWS):
            part = found[start : start + _ROWS]
            means[at] += (without(rows[part], basis) * scales[part][:, None]).sum(axis=0)
        means[at] /= max(len(found), 1)
    return principal(means, count) if len(holds) else np.zeros((0, rows.shape[1]))


def _holders(skills: Iterable[Skill], stop_words: frozenset[str], count: int) -> list[array[int]]:
    """For each of the `count` words found in most skills: the places of the skills that contain it."""
    numbers: dict[str, int] = {}
    texts: list[array[int]] = []
    for skill in skills:
        found = {word for text in (skill.name, skill.description, skill.body) for word in words(text)}
        known = sorted(numbers.setdefault(word, len(numbers)) for word in found - stop_words if len(word) > 1)
        texts.append(array("i", known))
    spread = Counter(number for text in texts for number in text)
    spelled = {number: word for word, number in numbers.items()}
    chosen = sorted(spread, key=lambda number: (-spread[number], spelled[number]))[:count]
    holders = {number: array("i") for number in chosen}
    for place, text in enumerate(texts):
        for number in text:
            if number in holders:
                holders[number].append(place)
    return [holders[number] for number in chosen]
