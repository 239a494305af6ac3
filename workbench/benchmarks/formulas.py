"""Formulas as models write them, read and calculated without ever running text as code.

Plain text and the common LaTeX of answers: numbers (``1,000``, ``2.5e-3``, ``\\frac{1}{2}``),
``+ - * / ^ !``, roots, binomials, the usual functions, implicit multiplication and names. What a
formula may cost is bounded, since ``9^9^9`` is an answer too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

Number = int | float | Fraction
Values = Mapping[str, Number]
Compute = Callable[[Values], Number]

MAX_CHARACTERS = 300
_MAX_DEPTH = 40
_MAX_BITS = 20_000
_MAX_FACTORIAL = 2_000
_CLOSE = 1e-9

_SPELLINGS = {
    "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "π": " pi ", "√": " sqrt ",
    "²": "^2", "³": "^3", "**": "^", "\\left": "", "\\right": "", "\\,": "", "\\;": "", "\\!": "",
    "\\ ": " ", "\\{": "(", "\\}": ")", "$": "", "\\dfrac": "\\frac", "\\tfrac": "\\frac",
    "\\cdot": "*", "\\times": "*", "\\div": "/", "\\pi": " pi ",
}  # fmt: skip
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z]+(?:_\{?\w+\}?)?)|\\(?P<command>[A-Za-z]+)|(?P<sign>[-+*/^!(),{}\[\]]))"
)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_WORD = re.compile(r"[A-Za-z]{3,}")


class FormulaError(ValueError):
    """The text is no formula, or one that is not calculated here."""


@dataclass(frozen=True)
class Formula:
    """A formula that was read; `names` are the variables in it."""

    compute: Compute
    names: frozenset[str]

    def value(self, values: Values) -> Number:
        """Its value for values of all names.

        Raises:
            FormulaError: not defined there, or beyond the bounds.
        """
        try:
            return self.compute(values)
        except (ArithmeticError, ValueError, KeyError, RecursionError) as error:
            raise FormulaError(f"cannot be calculated: {error}") from None


def parse(text: str) -> Formula:
    """Read a formula.

    Raises:
        FormulaError: it is none.
    """
    if len(text) > MAX_CHARACTERS:
        raise FormulaError(f"longer than {MAX_CHARACTERS} characters")
    for written, plain in _SPELLINGS.items():
        text = text.replace(written, plain)
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    reader = _Reader(_tokens(text.strip()))
    compute = reader.sum()
    reader.end()
    return Formula(compute, frozenset(reader.names))


def number(text: str) -> Number | None:
    """The value of a formula without names; ``None`` for anything else."""
    try:
        return parse(text).value({})
    except FormulaError:
        return None


def close(one: Number, other: Number, relative: float = _CLOSE) -> bool:
    """Whether two numbers are equal: exactly where both are exact, else within `relative`."""
    if not isinstance(one, float) and not isinstance(other, float):
        return one == other
    try:
        return math.isclose(one, other, rel_tol=relative, abs_tol=_CLOSE)
    except OverflowError:
        return False


def same(one: str, other: str) -> bool:
    """Whether two texts are the same formula: equal values wherever they are compared.

    Names are given eight sets of whole numbers, so that factorials and binomials are defined; a
    point where either is undefined says nothing, and at least three must say something.
    """
    try:
        first, second = parse(one), parse(other)
    except FormulaError:
        return False
    names = sorted(first.names | second.names)
    points = _POINTS if names else ((1,),)
    agreed = 0
    for point in points:
        values = {name: point[i % len(point)] + i for i, name in enumerate(names)}
        try:
            if not close(first.value(values), second.value(values)):
                return False
        except FormulaError:
            continue
        agreed += 1
    return agreed >= min(3, len(points))


_POINTS: tuple[tuple[int, ...], ...] = (
    (2, 9, 5, 4), (9, 2, 6, 3), (3, 12, 7, 5), (12, 4, 3, 8),
    (5, 5, 9, 2), (4, 15, 2, 6), (13, 3, 10, 4), (6, 8, 4, 11),
)  # fmt: skip


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise FormulaError(f"cannot be read from {text[place : place + 20]!r}")
        kind = str(match.lastgroup)
        found.append((kind, match[kind]))
        place = match.end()
    return found


class _Reader:
    """Precedence climbing over tokens; every method returns how to calculate what it read."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0
        self.names: set[str] = set()

    def end(self) -> None:
        """Raise unless everything was read."""
        if self._place < len(self._tokens):
            raise FormulaError(f"unexpected {self._tokens[self._place][1]!r}")

    def sum(self) -> Compute:
        """Terms joined by + and -."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise FormulaError("nested too deeply")
        left = self._term()
        while sign := self._take("+", "-"):
            left = partial(_apply, _add if sign == "+" else _subtract, left, self._term())
        self._depth -= 1
        return left

    def _term(self) -> Compute:
        left = self._signed()
        while True:
            if sign := self._take("*", "/"):
                left = partial(_apply, _multiply if sign == "*" else _divide, left, self._signed())
            elif self._starts_factor():
                left = partial(_apply, _multiply, left, self._power())
            else:
                return left

    def _signed(self) -> Compute:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
        inner = self._power()
        return partial(_apply, _subtract, _constant(0), inner) if negative else inner

    def _power(self) -> Compute:
        base = self._postfix()
        if self._take("^"):
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise FormulaError("nested too deeply")
            return partial(_apply, _raise, base, self._signed())
        return base

    def _postfix(self) -> Compute:
        inner = self._primary()
        while self._take("!"):
            inner = partial(_apply, _factorial, inner)
        return inner

    def _primary(self) -> Compute:
        if self._place >= len(self._tokens):
            raise FormulaError("ends too early")
        kind, text = self._tokens[self._place]
        self._place += 1
        if kind == "number":
            return _constant(_literal(text))
        if kind == "command":
            return self._command(text)
        if kind == "name":
            return self._name(text)
        if text in _CLOSING:
            inner = self.sum()
            self._expect(_CLOSING[text])
            return inner
        raise FormulaError(f"unexpected {text!r}")

    def _command(self, text: str) -> Compute:
        if text in {"frac", "binom"}:
            operation = _divide if text == "frac" else _binomial
            return partial(_apply, operation, self._group(), self._group())
        if text == "sqrt" and self._take("["):
            degree = self.sum()
            self._expect("]")
            return partial(_apply, _root, self._group(), degree)
        return self._name(text)

    def _name(self, text: str) -> Compute:
        if text in _CONSTANTS:
            return _constant(_CONSTANTS[text])
        known = _FUNCTIONS.get(text)
        if known is not None and (text != "C" or self._next() == "("):
            return partial(_apply, known, *self._arguments())
        if _WORD.match(text):
            raise FormulaError(f"{text!r} is a word")
        letters = list(text) if len(text) == 2 and text.isalpha() else [text]
        self.names.update(letters)
        product, *others = (partial(_lookup, letter) for letter in letters)
        return partial(_apply, _multiply, product, *others) if others else product

    def _arguments(self) -> list[Compute]:
        if not self._take("("):
            return [self._power()]
        found = [self.sum()]
        while self._take(","):
            found.append(self.sum())
        self._expect(")")
        return found

    def _group(self) -> Compute:
        """A LaTeX argument: in braces, or a single digit or letter."""
        kind, text = self._tokens[self._place] if self._place < len(self._tokens) else ("", "")
        if kind == "number" and len(text) > 1 and text.isdecimal():
            self._tokens[self._place] = (kind, text[1:])
            return _constant(int(text[0]))
        return self._primary()

    def _next(self) -> str:
        return self._tokens[self._place][1] if self._place < len(self._tokens) else ""

    def _starts_factor(self) -> bool:
        kind, text = self._tokens[self._place] if self._place < len(self._tokens) else ("", "")
        after = self._tokens[self._place - 1][1] if self._place else ""
        return kind in {"name", "command"} or text in _CLOSING or (kind == "number" and after in _ENDS)

    def _take(self, *signs: str) -> str:
        kind, text = self._tokens[self._place] if self._place < len(self._tokens) else ("", "")
        if kind != "sign" or text not in signs:
            return ""
        self._place += 1
        return text

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise FormulaError(f"lacks {sign!r}")


_ENDS = {")", "}", "]", "!"}
_CLOSING = {"(": ")", "{": "}", "[": "]"}


def _literal(text: str) -> Number:
    if text.isdecimal():
        return int(text)
    if "e" in text.lower():
        return float(text)
    value = Fraction(text.rstrip("."))
    return value.numerator if value.denominator == 1 else value


def _constant(value: Number) -> Compute:
    return lambda values: value


def _lookup(name: str, values: Values) -> Number:
    return values[name]


def _apply(operation: Callable[..., Number], *arguments: object) -> Number:
    """Calculate the operands (all but the last argument, the values), then the operation."""
    operands: Sequence[Compute] = arguments[:-1]  # type: ignore[assignment]
    values: Values = arguments[-1]  # type: ignore[assignment]
    result = operation(*(operand(values) for operand in operands))
    if isinstance(result, Fraction):
        return int(result) if result.denominator == 1 else result
    if isinstance(result, float) and not math.isfinite(result):
        raise FormulaError("is not finite")
    return result


def _add(one: Number, other: Number) -> Number:
    return one + other


def _subtract(one: Number, other: Number) -> Number:
    return one - other


def _multiply(one: Number, other: Number) -> Number:
    _bounded(_bits(one) + _bits(other))
    return one * other


def _divide(one: Number, other: Number) -> Number:
    if isinstance(one, float) or isinstance(other, float):
        return one / other
    return Fraction(one) / Fraction(other)


def _raise(base: Number, exponent: Number) -> Number:
    if isinstance(exponent, int) and not isinstance(base, float):
        _bounded(_bits(base) * abs(exponent))
        return Fraction(base) ** exponent
    result: object = float(base) ** float(exponent)
    if not isinstance(result, float):
        raise FormulaError("is not real")
    return result


def _factorial(value: Number) -> Number:
    return math.factorial(_whole(value, _MAX_FACTORIAL))


def _binomial(n: Number, k: Number) -> Number:
    return math.comb(_whole(n, _MAX_FACTORIAL), _whole(k, _MAX_FACTORIAL))


def _root(value: Number, degree: Number = 2) -> Number:
    if degree == 2 and isinstance(value, int) and value >= 0 and math.isqrt(value) ** 2 == value:
        return math.isqrt(value)
    return _raise(value, _divide(1, degree))


def _logarithm(value: Number, base: Number = math.e) -> Number:
    return math.log(value) if base == math.e else math.log(value, base)


def _whole(value: Number, most: int) -> int:
    if not isinstance(value, int) or not 0 <= value <= most:
        raise FormulaError(f"{value} is not a whole number up to {most}")
    return value


def _bits(value: Number) -> int:
    if isinstance(value, float):
        return 64
    return (
        value.bit_length()
        if isinstance(value, int)
        else max(_bits(value.numerator), _bits(value.denominator))
    )


def _bounded(bits: int) -> None:
    if bits > _MAX_BITS:
        raise FormulaError("is too large to calculate")


_CONSTANTS: dict[str, Number] = {"pi": math.pi, "e": math.e}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "sqrt": _root,
    "cbrt": lambda value: _root(value, 3),
    "C": _binomial,
    "binom": _binomial,
    "binomial": _binomial,
    "factorial": _factorial,
    "log": _logarithm,
    "ln": lambda value: math.log(value),
    "exp": lambda value: math.exp(value),
    "sin": lambda value: math.sin(value),
    "cos": lambda value: math.cos(value),
    "tan": lambda value: math.tan(value),
    "floor": lambda value: math.floor(value),
    "ceil": lambda value: math.ceil(value),
    "abs": lambda value: abs(value),
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
}
