#!/bin/bash
set -e
SKILLS_DIR="${SKILLS_DIR:-.claude/skills}" python3 -B - <<'PY'
import os
import sys

for skill in ("refcard-parser", "citekey-scheme"):
    sys.path.insert(0, os.path.join(os.environ["SKILLS_DIR"], skill, "scripts"))
from citekey import assign
from refcard import read_drawer

records = read_drawer("polar-seminar.crd")
keys = assign(records)


def entry(record):
    fields = {
        "author": " and ".join(", ".join(author) for author in record.authors),
        "title": record.title,
        "year": record.year,
        "publisher" if record.kind == "book" else "journal": record.source,
        "note": record.accession,
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{record.kind}{{{keys[record.accession]},\n{lines}}}\n"


records.sort(key=lambda record: keys[record.accession])
with open("reading-list.bib", "w", encoding="utf-8") as file:
    file.write("\n".join(map(entry, records)))
PY
