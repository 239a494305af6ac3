"""Check digits of public numbering schemes."""

import sys
from typing import Callable, Dict, List


def _gs1(digits: str) -> bool:
    return sum(int(d) * (3 if n % 2 else 1) for n, d in enumerate(reversed(digits))) % 10 == 0


def _luhn(digits: str) -> bool:
    doubled = (int(d) * (2 if n % 2 else 1) for n, d in enumerate(reversed(digits)))
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def _isbn10(digits: str) -> bool:
    values = [10 if d == "X" else int(d) for d in digits]
    return len(values) == 10 and sum(v * (10 - n) for n, v in enumerate(values)) % 11 == 0


def _mod97(text: str) -> bool:
    turned = text[4:] + text[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


SCHEMES: Dict[str, Callable[[str], bool]] = {"gs1": _gs1, "luhn": _luhn, "isbn10": _isbn10, "iban": _mod97}


def verify(number: str, scheme: str) -> bool:
    """Whether a number is right in a scheme; malformed numbers are not."""
    plain = number.replace("-", "").replace(" ", "").upper()
    try:
        return bool(plain) and SCHEMES[scheme](plain)
    except ValueError:
        return False


def complete(number: str, scheme: str) -> List[str]:
    """Every right number that fits a number with one ``?``."""
    signs = "0123456789X" if scheme == "isbn10" else "0123456789"
    return [fit for fit in (number.replace("?", sign) for sign in signs) if verify(fit, scheme)]


def main() -> None:
    """Verify numbers of one scheme."""
    if len(sys.argv) < 3 or sys.argv[1] not in SCHEMES:
        sys.exit(f"usage: checkdigit.py {'|'.join(SCHEMES)} NUMBER...")
    for number in sys.argv[2:]:
        print(number, "right" if verify(number, sys.argv[1]) else "wrong")


if __name__ == "__main__":
    main()
