"""Reads MARC 21 exchange files."""

import sys
from dataclasses import dataclass, field
from typing import Dict, Iterator, List

FIELD_END, RECORD_END, SUBFIELD = b"\x1e", b"\x1d", b"\x1f"


@dataclass
class Record:
    """One record: control fields as text, data fields as lists of (code, value)."""

    control: Dict[str, str] = field(default_factory=dict)
    data: Dict[str, List[list]] = field(default_factory=dict)
    suspect: bool = False

    def all(self, tag: str, code: str) -> List[str]:
        """Every value of a subfield."""
        return [value for found in self.data.get(tag, []) for c, value in found if c == code]

    def first(self, tag: str, code: str) -> str:
        """The first value of a subfield, or an empty text."""
        return next(iter(self.all(tag, code)), "")

    @property
    def author(self) -> str:
        """First author without the punctuation at the end."""
        return self.first("100", "a").rstrip(" ,.")

    @property
    def year(self) -> str:
        """Year of the fixed field."""
        return self.control.get("008", "")[7:11]

    @property
    def publisher(self) -> str:
        """Publisher, from the newer or the older field."""
        return (self.first("264", "b") or self.first("260", "b")).rstrip(" ,:")


def records(data: bytes) -> Iterator[Record]:
    """The records of a file.

    Raises:
        ValueError: a directory that points outside its record.
    """
    for raw in data.split(RECORD_END):
        raw = raw.lstrip(b"\r\n")
        if len(raw) > 24:
            yield _record(raw)


def _record(raw: bytes) -> Record:
    base = int(raw[12:17])
    record = Record(suspect=raw[9:10] != b"a")
    directory = raw[24 : base - 1].decode("ascii")
    for at in range(0, len(directory), 12):
        tag, length, start = directory[at : at + 3], directory[at + 3 : at + 7], directory[at + 7 : at + 12]
        value = raw[base + int(start) : base + int(start) + int(length)]
        if not value.endswith(FIELD_END):
            raise ValueError(f"field {tag} points outside its record")
        text = [part.decode("latin-1" if record.suspect else "utf-8") for part in value[:-1].split(SUBFIELD)]
        if tag < "010":
            record.control[tag] = text[0]
        else:
            record.data.setdefault(tag, []).append([(part[:1], part[1:]) for part in text[1:]])
    return record


def main() -> None:
    """List the records of a file."""
    if len(sys.argv) != 2:
        sys.exit("usage: marc.py EXPORT.mrc")
    with open(sys.argv[1], "rb") as file:
        for record in records(file.read()):
            title = record.first("245", "a").rstrip(" /:")
            print(record.control.get("001", ""), record.author, title, record.year, sep=" | ")


if __name__ == "__main__":
    main()
