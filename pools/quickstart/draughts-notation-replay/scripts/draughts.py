"""Replays English draughts from numeric notation."""

import re
import sys
from typing import Dict, Iterator, List, Tuple

Place = Tuple[int, int]


def place(number: int) -> Place:
    """(row, column) of a square numbered 1 to 32."""
    row, pair = divmod(number - 1, 4)
    return row, 2 * pair + (1 if row % 2 == 0 else 0)


class Position:
    """A board: ``b`` and ``w`` are men, capitals are kings. Black moves down."""

    def __init__(self) -> None:
        self.pieces: Dict[Place, str] = {place(n): "b" for n in range(1, 13)}
        self.pieces.update({place(n): "w" for n in range(21, 33)})

    def count(self, side: str) -> int:
        """Pieces of ``black`` or ``white``."""
        return sum(piece.lower() == side[0] for piece in self.pieces.values())

    def directions(self, at: Place) -> List[int]:
        """The row steps that the piece on a square may take."""
        piece = self.pieces[at]
        return [1, -1] if piece.isupper() else [1] if piece == "b" else [-1]

    def jumps(self, at: Place) -> Iterator[Tuple[Place, Place]]:
        """(square jumped, square reached) from a square."""
        for down in self.directions(at):
            for side in (1, -1):
                over, land = (at[0] + down, at[1] + side), (at[0] + 2 * down, at[1] + 2 * side)
                enemy = over in self.pieces and self.pieces[over].lower() != self.pieces[at].lower()
                if enemy and land not in self.pieces and 0 <= land[0] < 8 and 0 <= land[1] < 8:
                    yield over, land

    def __str__(self) -> str:
        return "\n".join("".join(self.pieces.get((r, c), ".") for c in range(8)) for r in range(8))


def replay(moves: List[str], lax: bool = False) -> Position:
    """The position after the moves.

    Raises:
        ValueError: the first illegal move, with its number.
    """
    position = Position()
    for ply, move in enumerate(moves):
        side = "w" if ply % 2 else "b"
        try:
            _play(position, move, side, lax)
        except (KeyError, ValueError) as error:
            raise ValueError(f"move {ply // 2 + 1}, {move}: {error}") from None
    return position


def _play(position: Position, move: str, side: str, lax: bool) -> None:
    squares = [place(int(number)) for number in re.split("[-x]", move)]
    at = squares[0]
    if position.pieces.get(at, "").lower() != side:
        raise ValueError("not the mover's piece")
    if "x" not in move:
        must = any(p.lower() == side and list(position.jumps(s)) for s, p in list(position.pieces.items()))
        if must and not lax:
            raise ValueError("a capture is compulsory")
        to = squares[1]
        if to in position.pieces or to[0] - at[0] not in position.directions(at) or abs(to[1] - at[1]) != 1:
            raise ValueError("not a move of this piece")
        position.pieces[to] = position.pieces.pop(at)
    for to in squares[1:] if "x" in move else []:
        over = {land: jumped for jumped, land in position.jumps(at)}
        if to not in over:
            raise ValueError("not a capture")
        del position.pieces[over[to]]
        position.pieces[to] = position.pieces.pop(at)
        at = to
    last = squares[-1]
    if last[0] == (7 if side == "b" else 0):
        position.pieces[last] = side.upper()


def main() -> None:
    """Replay the games of a file."""
    if len(sys.argv) < 2:
        sys.exit("usage: draughts.py GAMES.txt [--lax]")
    with open(sys.argv[1], encoding="utf-8") as file:
        text = re.sub(r"\{[^}]*\}", " ", file.read())
    for n, game in enumerate(filter(None, map(str.strip, text.split("\n\n"))), start=1):
        position = replay(re.findall(r"\d+(?:-\d+|(?:x\d+)+)", game), "--lax" in sys.argv)
        print(f"game {n}: black {position.count('black')}, white {position.count('white')}")


if __name__ == "__main__":
    main()
