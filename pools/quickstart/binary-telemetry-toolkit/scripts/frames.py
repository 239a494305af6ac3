"""Framings and checksums that many devices share."""

import sys
import zlib
from collections import Counter
from typing import List


def slip_frames(data: bytes) -> List[bytes]:
    """The frames of a SLIP stream."""
    frames = (part for part in data.split(b"\xc0") if part)
    return [part.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb") for part in frames]


def cobs_decode(block: bytes) -> bytes:
    """One COBS block without its final zero.

    Raises:
        ValueError: a code byte points past the end.
    """
    out = bytearray()
    place = 0
    while place < len(block):
        code = block[place]
        if code == 0 or place + code > len(block):
            raise ValueError("not a COBS block")
        out += block[place + 1 : place + code]
        place += code
        if code < 255 and place < len(block):
            out.append(0)
    return bytes(out)


def crc8(data: bytes, polynomial: int = 0x07) -> int:
    """CRC-8 without reflection, starting at 0."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ (polynomial if crc & 0x80 else 0)) & 0xFF
    return crc


def crc16_ccitt(data: bytes) -> int:
    """CRC-16/CCITT-FALSE."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def crc16_modbus(data: bytes) -> int:
    """CRC-16/MODBUS."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc


def _look(data: bytes) -> None:
    for byte, times in Counter(data).most_common(6):
        places = [n for n, found in enumerate(data) if found == byte]
        gaps = Counter(b - a for a, b in zip(places, places[1:])).most_common(3)
        print(f"{byte:02x}  {times} times, gaps {gaps}")


def main() -> None:
    """look, slip, cobs FILE; or crc HEX."""
    if len(sys.argv) != 3:
        sys.exit("usage: frames.py look|slip|cobs FILE, or frames.py crc HEX")
    command, what = sys.argv[1:]
    if command == "crc":
        data = bytes.fromhex(what)
        print(f"crc8 {crc8(data):02x}  ccitt {crc16_ccitt(data):04x}  modbus {crc16_modbus(data):04x}")
        print(f"crc32 {zlib.crc32(data):08x}")
        return
    with open(what, "rb") as file:
        data = file.read()
    if command == "look":
        _look(data)
    elif command == "slip":
        print("\n".join(frame.hex() for frame in slip_frames(data)))
    else:
        print("\n".join(cobs_decode(block).hex() for block in data.split(b"\0") if block))


if __name__ == "__main__":
    main()
