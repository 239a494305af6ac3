"""Mean kinetic temperature."""

import math
from typing import Optional, Sequence

GAS, KELVIN = 0.0083144, 273.15


def mkt(values: Sequence[Optional[float]], heat: float = 83.144) -> float:
    """Mean kinetic temperature of evenly spaced samples, degrees C, one decimal.

    Raises:
        ValueError: no sample is known.
    """
    known = [value + KELVIN for value in values if value is not None]
    if not known:
        raise ValueError("no sample is known")
    mean = sum(math.exp(-heat / (GAS * value)) for value in known) / len(known)
    return round(heat / GAS / -math.log(mean) - KELVIN, 1)
