"""Accrued interest of coupon bonds."""

from datetime import date
from decimal import ROUND_HALF_UP, Decimal


def accrued(face, coupon, frequency, last, next, settle, convention="ACT/ACT", ex_days=0):
    """Interest that has grown since the last coupon, negative in the ex-coupon period.

    Raises:
        ValueError: the settlement day lies outside the coupon period, or the convention is unknown.
    """
    start, end, day = (date.fromisoformat(text) for text in (last, next, settle))
    if not start <= day <= end:
        raise ValueError("settlement lies outside the coupon period")
    yearly = Decimal(str(face)) * Decimal(str(coupon)) / 100
    period = (end - start).days
    if ex_days and (end - day).days < ex_days:
        grown = -yearly * _fraction(day, end, period, frequency, convention)
    else:
        grown = yearly * _fraction(start, day, period, frequency, convention)
    return grown.quantize(Decimal("0.01"), ROUND_HALF_UP)


def _fraction(start, end, period, frequency, convention):
    days = Decimal((end - start).days)
    if convention == "30/360":
        months = (end.year - start.year) * 12 + end.month - start.month
        return Decimal(months * 30 + min(end.day, 30) - min(start.day, 30)) / 360
    if convention == "ACT/ACT":
        return days / (period * frequency)
    if convention in ("ACT/365", "ACT/364"):
        return days / int(convention[4:])
    raise ValueError(f"unknown convention {convention}")
