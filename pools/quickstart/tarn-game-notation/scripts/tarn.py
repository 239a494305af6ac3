"""Replays games of Tarn from club score sheets (notation and rules: SKILL.md)."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import Dict, List, Tuple

Square = Tuple[int, int]
FILES, SIZE = "klmnprs", 7
HEARTH = frozenset({(3, 3), (2, 3), (4, 3), (3, 2), (3, 4)})
STONE, TOWER, HEARTH_POINTS, NORTH_BONUS = 1, 3, 1, 1
_HEAD = re.compile(r"Game (\d+): (.+) \(S\) - (.+) \(N\)$")
_MOVE = re.compile(r"([klmnprs][1-7])(?:-([klmnprs][1-7])|(\^))?$")


@dataclass
class Game:
    """One score sheet: who played, and the moves as written, remarks removed."""

    number: int
    south: str
    north: str
    moves: List[str] = field(default_factory=list)


@dataclass
class Piece:
    """A stone, or a tower when raised."""

    owner: str
    tower: bool = False


@dataclass
class Result:
    """Points of the final position, and who resigned (``""`` when nobody did)."""

    south: int
    north: int
    resigned: str
    board: Dict[Square, Piece]


def read_games(path: str) -> List[Game]:
    """The score sheets of a file, in order.

    Raises:
        ValueError: moves before the first head line.
    """
    games: List[Game] = []
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"\{[^}]*\}", " ", file.read())
    for line in filter(None, map(str.strip, text.splitlines())):
        head = _HEAD.match(line)
        if head:
            games.append(Game(int(head.group(1)), head.group(2), head.group(3)))
        elif games:
            words = (word.rstrip("!?") for word in line.split())
            games[-1].moves += [word for word in words if word and not re.fullmatch(r"\d+\.", word)]
        else:
            raise ValueError(f"moves without a game: {line}")
    return games


def replay(game: Game) -> Result:
    """Play a sheet through and count.

    Raises:
        ValueError: an impossible move; names its number.
    """
    board: Dict[Square, Piece] = {}
    resigned = ""
    for ply, move in enumerate(game.moves):
        mover = "north" if ply % 2 else "south"
        if resigned:
            raise ValueError(f"game {game.number}: {move} after resignation")
        if move == "#":
            resigned = mover
        elif move != "=":
            try:
                _play(board, move, mover)
            except ValueError as error:
                raise ValueError(f"game {game.number}, move {ply // 2 + 1} of {mover}: {error}") from None
    return Result(_count(board, "south"), _count(board, "north") + NORTH_BONUS, resigned, board)


def square(name: str, mover: str) -> Square:
    """(file, row) from 0, seen from South, of a square as the mover writes it."""
    file, row = FILES.index(name[0]), int(name[1]) - 1
    return (file, row) if mover == "south" else (SIZE - 1 - file, SIZE - 1 - row)


def _play(board: Dict[Square, Piece], move: str, mover: str) -> None:
    parts = _MOVE.match(move)
    if parts is None:
        raise ValueError(f"{move} is not a move")
    here = square(parts.group(1), mover)
    if parts.group(3):
        _own(board, here, mover, move).tower = True
        return
    if parts.group(2):
        there = square(parts.group(2), mover)
        piece = _own(board, here, mover, move)
        if piece.tower or any(step in board for step in _path(here, there, move)):
            raise ValueError(f"{move} is blocked")
        board[there] = board.pop(here)
        here = there
    elif here in board:
        raise ValueError(f"{move} is taken")
    else:
        board[here] = Piece(mover)
    _capture(board, here, mover)


def _own(board: Dict[Square, Piece], here: Square, mover: str, move: str) -> Piece:
    if here not in board or board[here].owner != mover:
        raise ValueError(f"{move} is not the mover's piece")
    return board[here]


def _path(here: Square, there: Square, move: str) -> List[Square]:
    """The squares passed and the one reached, along a row or a file."""
    across, along = there[0] - here[0], there[1] - here[1]
    if (across == 0) == (along == 0):
        raise ValueError(f"{move} is not straight")
    length = abs(across) + abs(along)
    return [(here[0] + across // length * n, here[1] + along // length * n) for n in range(1, length + 1)]


def _capture(board: Dict[Square, Piece], here: Square, mover: str) -> None:
    for across, along in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        beside = (here[0] + across, here[1] + along)
        behind = (beside[0] + across, beside[1] + along)
        victim, flank = board.get(beside), board.get(behind)
        if victim and flank and victim.owner != mover and flank.owner == mover and not victim.tower:
            del board[beside]


def _count(board: Dict[Square, Piece], owner: str) -> int:
    own = [(place, piece) for place, piece in board.items() if piece.owner == owner]
    return sum((TOWER if piece.tower else STONE) + HEARTH_POINTS * (place in HEARTH) for place, piece in own)


def main() -> None:
    """Print the result of each game of a file."""
    if len(sys.argv) != 2:
        sys.exit("usage: tarn.py SHEETS.tarn")
    for game in read_games(sys.argv[1]):
        result = replay(game)
        note = f"  {result.resigned} resigned" if result.resigned else ""
        print(f"{game.number}  {game.south} {result.south} - {result.north} {game.north}{note}")


if __name__ == "__main__":
    main()
