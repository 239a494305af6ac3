"""candump logs to physical values by a table of signals."""

import csv
import re
import sys

FRAME = re.compile(r"\((?P<time>[\d.]+)\)\s+\S+\s+(?P<id>[0-9A-F]+)#(?P<data>[0-9A-F]*)")


def value(data: bytes, signal: dict) -> float:
    """The physical value of a signal in the data of one frame.

    Raises:
        IndexError: the frame is too short for the signal.
    """
    start, width = int(signal["start_bit"]), int(signal["width"])
    if start + width > 8 * len(data):
        raise IndexError(signal["name"])
    raw = int.from_bytes(data, "little") >> start & ((1 << width) - 1)
    if signal["signed"] == "yes" and raw >> (width - 1):
        raw -= 1 << width
    return raw * float(signal["scale"]) + float(signal["offset"])


def decode(lines, signals):
    """(time, name, value, unit) of every signal in every frame; short frames raise nothing, they are counted."""
    by_id = {}
    for signal in signals:
        by_id.setdefault(int(signal["id"], 16), []).append(signal)
    short = 0
    for line in lines:
        frame = FRAME.match(line.strip())
        for signal in by_id.get(int(frame["id"], 16), []) if frame else []:
            try:
                yield (
                    frame["time"],
                    signal["name"],
                    value(bytes.fromhex(frame["data"]), signal),
                    signal["unit"],
                )
            except IndexError:
                short += 1
    if short:
        print(f"{short} frames were too short for a signal", file=sys.stderr)


def main() -> None:
    """Decode LOG by SIGNALS.csv to CSV on standard output."""
    if len(sys.argv) != 3:
        sys.exit("usage: can_log.py LOG SIGNALS.csv")
    with open(sys.argv[2], newline="") as file:
        signals = list(csv.DictReader(file))
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["time", "name", "value", "unit"])
    with open(sys.argv[1]) as file:
        table.writerows(decode(file, signals))


if __name__ == "__main__":
    main()
