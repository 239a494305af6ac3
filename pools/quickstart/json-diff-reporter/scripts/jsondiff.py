"""Differences between two JSON documents by path."""

import argparse
import json
import sys


def differences(before, after, path="", key=None, tolerance=0.0, ignore=frozenset()):
    """Lines such as ``~ path   old -> new``, ``+ path`` and ``- path``."""
    settings = {"key": key, "tolerance": tolerance, "ignore": ignore}
    if isinstance(before, list) and isinstance(after, list):
        before, after = _by_key(before, key), _by_key(after, key)
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            if name in ignore:
                continue
            here = f"{path}{name}" if str(name).startswith("[") else f"{path}.{name}".lstrip(".")
            if name not in after:
                yield f"- {here}"
            elif name not in before:
                yield f"+ {here}"
            else:
                yield from differences(before[name], after[name], here, **settings)
        return
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (before, after))
    if before != after and not (numbers and abs(before - after) <= tolerance):
        yield f"~ {path}   {json.dumps(before)} -> {json.dumps(after)}"


def _by_key(items, key):
    if key and all(isinstance(item, dict) and key in item for item in items):
        return {f"[{key}={item[key]}]": item for item in items}
    return {f"[{n}]": item for n, item in enumerate(items)}


def main():
    """Compare two files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--key")
    parser.add_argument("--tolerance", type=float, default=0.0)
    parser.add_argument("--ignore", default="")
    asked = parser.parse_args()
    documents = []
    for path in (asked.before, asked.after):
        with open(path, encoding="utf-8") as file:
            documents.append(json.load(file))
    ignore = frozenset(filter(None, asked.ignore.split(",")))
    found = list(differences(*documents, key=asked.key, tolerance=asked.tolerance, ignore=ignore))
    print(*found, sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
