"""The quality desk's disposition note (see SKILL.md)."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, List, Mapping

WIDTH = 64
DECISION = {
    "A": "RELEASE",
    "B": "RELEASE, SHORT DATED",
    "C": "QUARANTINE, REFER TO PHARMACIST",
    "D": "DESTROY",
}
DAYS_FORWARD = {"vx-live": 60, "vx-adjuvant": 30, "insulin": 21, "reagent": 14}
OTHER_DAYS_FORWARD = 45
REMARK = {
    "": "Within the range or excused throughout.",
    "allowance": "Time outside the range exceeded the allowance.",
    "dose": "Cumulative dose exceeded the bound of the class.",
    "gap": "Record incomplete; conformity cannot be shown.",
    "frozen": "Frozen. Product must not be used.",
}
SEAL_SIGNS = "ACDEFHJKLMNPRTUVWXY3479"


def render(lot: Mapping[str, Any], grade: str, minutes_out: int, dose: float, reason: str) -> str:
    """The note of one lot, newline-terminated.

    Args:
        lot: ``lot``, ``product_class``, ``use_by`` (YYYY-MM-DD), ``units``, ``consignee``, ``logger``.
        grade: A to D.
        minutes_out: minutes outside the range.
        dose: cumulative dose, printed with two decimals.
        reason: why the grade is not better; a key of `REMARK`.
    """
    number = f"DN-{lot['use_by'][2:4]}/{lot['logger'].replace('-', '')}-{grade}"
    lines = [
        "DISPOSITION NOTE" + number.rjust(WIDTH - 16),
        "-" * WIDTH,
        _pair("LOT", lot["lot"], "CLASS", lot["product_class"]),
        _pair("UNITS", lot["units"], "LOGGER", lot["logger"]),
        f"CONSIGNEE  {lot['consignee']}",
        _pair("TIME OUT", f"{minutes_out} min", "DOSE", f"{dose:.2f}"),
        f"DECISION   {DECISION[grade]}",
        f"USE BY     {use_by(lot, grade)}",
        f"REMARK     {REMARK[reason]}",
    ]
    return "\n".join([*lines, f"SEAL       {seal(lines)}"]) + "\n"


def use_by(lot: Mapping[str, Any], grade: str) -> str:
    """What the note says about the use-by date."""
    if grade == "B":
        days = DAYS_FORWARD.get(lot["product_class"], OTHER_DAYS_FORWARD)
        earlier = date.fromisoformat(lot["use_by"]) - timedelta(days=days)
        return f"{earlier} (was {lot['use_by']})"
    return {"A": lot["use_by"], "C": "on hold", "D": "void"}[grade]


def seal(lines: List[str]) -> str:
    """Five signs over the lines: every line is summed with its own multiplier."""
    total = 0
    for place, line in enumerate(lines, start=1):
        total = (total * 131 + place * sum(line.rstrip().encode("utf-8"))) % 23**5
    signs = []
    for _ in range(5):
        total, rest = divmod(total, 23)
        signs.append(SEAL_SIGNS[rest])
    return "".join(signs[:3]) + "-" + "".join(signs[3:])


def _pair(left: str, value: object, right: str, other: object) -> str:
    return f"{left:11}{value!s:20}{right:11}{other}"
