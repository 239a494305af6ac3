"""Decoder for raw captures of the KELP-3 drifter link (layout: references/link.md)."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Dict, Iterable, Iterator, List, Optional

START, ESCAPE, END, FLIP = 0xC7, 0xC8, 0xC9, 0x50
EPOCH = datetime(2024, 3, 1, tzinfo=timezone.utc)
BODY_LENGTH = {1: 8, 2: 3}
BATTERY_V = (
    9.60, 10.35, 10.80, 11.05, 11.21, 11.34, 11.45, 11.54,
    11.62, 11.71, 11.81, 11.93, 12.08, 12.27, 12.52, 12.90,
)  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """One reading of one buoy, calibrated. `drogue` is true while the drogue is attached."""

    buoy: int
    sequence: int
    time: datetime
    temperature_c: float
    salinity_psu: float
    battery_v: float
    drogue: bool


@dataclass
class Capture:
    """What a capture holds: readings as received, status frames counted, refused frames by cause."""

    readings: List[Reading] = field(default_factory=list)
    status: int = 0
    refused: Dict[str, int] = field(default_factory=lambda: {"truncated": 0, "checksum": 0, "length": 0})


def decode(data: bytes) -> Capture:
    """Every frame of a capture. Bytes outside frames are hiss and are not counted."""
    capture = Capture()
    for frame in _frames(data):
        cause = "truncated" if frame is None else _fault(frame)
        if cause:
            capture.refused[cause] += 1
        elif frame[0] >> 5 == 2:
            capture.status += 1
        else:
            capture.readings.append(_reading(frame))
    return capture


def checksum(content: bytes) -> int:
    """The 16-bit sum over header and body, keyed by the buoy number in the header."""
    total = 0x4B33
    for place, byte in enumerate(content, start=1):
        total = (total << 5 | total >> 11) & 0xFFFF
        total = ((total ^ byte) + 0x1D * place) & 0xFFFF
    return (total ^ 0x0421 * (content[0] & 31)) & 0xFFFF


def repeats(readings: Iterable[Reading]) -> int:
    """How many readings were sent again (same buoy, sequence and minute)."""
    everything = list(readings)
    return len(everything) - len(without_repeats(everything))


def without_repeats(readings: Iterable[Reading]) -> List[Reading]:
    """The first of each reading, in the order received."""
    first: Dict[object, Reading] = {}
    for reading in readings:
        first.setdefault((reading.buoy, reading.sequence, reading.time), reading)
    return list(first.values())


def _frames(data: bytes) -> Iterator[Optional[bytes]]:
    """Unstuffed frames; ``None`` for one that was cut."""
    frame: Optional[bytearray] = None
    escaped = False
    for byte in data:
        if byte == START:
            if frame is not None:
                yield None
            frame, escaped = bytearray(), False
        elif frame is None:
            continue
        elif byte == END:
            yield bytes(frame)
            frame = None
        elif byte == ESCAPE:
            escaped = True
        else:
            frame.append(byte ^ FLIP if escaped else byte)
            escaped = False
    if frame is not None:
        yield None


def _fault(frame: bytes) -> str:
    """Why a frame must be refused; empty when it is good."""
    if len(frame) < 3:
        return "length"
    content, sent = frame[:-2], int.from_bytes(frame[-2:], "big")
    if checksum(content) != sent:
        return "checksum"
    return "" if BODY_LENGTH.get(content[0] >> 5) == len(content) - 1 else "length"


def _reading(frame: bytes) -> Reading:
    bits = int.from_bytes(frame[1:9], "big")

    def take(offset: int, width: int) -> int:
        return bits >> (64 - offset - width) & ((1 << width) - 1)

    return Reading(
        buoy=frame[0] & 31,
        sequence=take(22, 6),
        time=EPOCH + timedelta(minutes=take(0, 22)),
        temperature_c=round(_from_gray(take(28, 13)) * 0.005 - 4, 3),
        salinity_psu=round(take(41, 12) * 0.01 + 2, 2),
        battery_v=BATTERY_V[take(53, 4)],
        drogue=take(57, 1) == 0,
    )


def _from_gray(code: int) -> int:
    value = code
    while code:
        code >>= 1
        value ^= code
    return value


def main() -> None:
    """Decode the capture named on the command line to JSON."""
    if len(sys.argv) != 2:
        sys.exit("usage: kelp3.py CAPTURE")
    with open(sys.argv[1], "rb") as file:
        capture = decode(file.read())
    readings = [{**vars(r), "time": r.time.strftime("%Y-%m-%dT%H:%M:%SZ")} for r in capture.readings]
    print(json.dumps({"readings": readings, "status": capture.status, "refused": capture.refused}))


if __name__ == "__main__":
    main()
