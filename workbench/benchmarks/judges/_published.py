"""What the public toolkit's calculators make of a text, without running it.

There, LaTeX goes through latex2sympy and its result, or the text itself, through Python's ``eval``.
Here, both are read by grammars of numbers and lists; whatever would need a name or a call to be
evaluated is `UnreadableError`, and counts as it would where the evaluation fails.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from workbench.benchmarks.formulas import number

Value = int | float | list[Any]

_LATEX = re.compile(
    r"(?:\s|\d|[-+*/^(){}\[\],.]|\\(?:frac|times|cdot|div|left|right|binom|[{},;! ])|\\?[A-Za-z!|_=])*"
)
_UNREADABLE = re.compile(
    r"\*\s*\*|\\frac(?!\s*\{)|\(\s*\)|[-+*/^]\s*$|^\s*[*/^]|\(\s*[^()]*,(?!\d{3}(?!\d))[^()]*\)"
)
_JUXTAPOSED = re.compile(r"(?<=\d)\s+(?=[\d(])")
_THOUSANDS = re.compile(r"(?<![\d.])(\d+(?:,\d{3})+)(\d?)")
_MAX_BITS = 20_000


class UnreadableError(Exception):
    """No value. `symbols`: it is a formula with names, which the toolkit cannot evaluate either."""

    def __init__(self, symbols: bool = False) -> None:
        self.symbols = symbols
        super().__init__("no value")


def latex_value(text: str) -> Value:
    """What latex2sympy's result evaluates to; decimals are exact until the end.

    Raises:
        UnreadableError: it does not read the text, or reads names in it.
    """
    # It reads no further than the end of a list.
    text = re.sub(r"^(\s*(?:\[[^\[\]]*\]|\\\{[^{}]*\\\})).*", r"\1", text, flags=re.DOTALL)
    if not text.strip() or not text.isascii() or _LATEX.fullmatch(text) is None or _UNREADABLE.search(text):
        raise UnreadableError
    core = _THOUSANDS.sub(lambda m: m[1].replace(",", "") + (f"*{m[2]}" if m[2] else ""), text.strip())
    if re.search(r"[A-Za-z!|_]", re.sub(r"\\(?:frac|times|cdot|div|left|right|binom)", "", core)):
        raise UnreadableError(symbols=True)
    inner = re.sub(r"^(?:\[|\\\{)(.*)(?:\]|\\\})$", r"\1", core)
    if inner != core or "," in core:
        values = [_plain(part) for part in inner.split(",")]
        return values if len(values) > 1 else values[0]
    return _plain(core)


def _plain(text: str) -> int | float:
    value = number(_JUXTAPOSED.sub("*", text))
    if value is None:
        raise UnreadableError
    return float(value) if isinstance(value, Fraction) else value


def floated(text: str) -> int | float | None:
    """``float(text)``, as a whole number where it is one; ``None`` where it is none."""
    try:
        value = float(text)
        return round(value) if value.is_integer() else value
    except (ValueError, OverflowError):
        return None


def python_value(text: str) -> Value:
    """What Python makes of numbers, lists and arithmetic.

    Raises:
        UnreadableError: anything else.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
        value: Value = _value(tree.body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError, TypeError):
        raise UnreadableError from None
    return value


_OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def _value(node: ast.AST) -> Any:
    if isinstance(node, ast.Tuple | ast.List):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_number(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = _number(node.left), _number(node.right)
        if isinstance(node.op, ast.Pow) and _bits(left) * abs(right) > _MAX_BITS:
            raise UnreadableError
        return _OPERATIONS[type(node.op)](left, right)
    raise UnreadableError


def _number(node: ast.AST) -> int | float:
    value = _value(node)
    if not isinstance(value, int | float) or _bits(value) > _MAX_BITS:
        raise UnreadableError
    return value


def _bits(value: int | float) -> int:
    return value.bit_length() if isinstance(value, int) else 64
