"""Texts found by BM25: the agenda and the papers."""

from __future__ import annotations

import json
import threading
from functools import cache
from pathlib import Path
from typing import Any

from inspect_ai.tool import ToolError

_FOUND = 3


class Texts:
    """The texts of one JSON-lines file, indexed when first asked for; safe to share between threads."""

    def __init__(self, file: Path, field: str) -> None:
        self._file = file
        self._field = field
        self._lock = threading.Lock()
        self._index: Any = None
        self._texts: list[str] = []

    @staticmethod
    @cache
    def of(file: Path, field: str) -> Texts:
        """The one index of a file in this process."""
        return Texts(file, field)

    def find(self, keyword: str) -> str:
        """The three texts that fit best, one a line. Raises ToolError when there is none."""
        import bm25s

        with self._lock:
            if self._index is None:
                self._build()
        tokens = bm25s.tokenize([keyword], show_progress=False, stopwords="en")
        best = min(_FOUND, len(self._texts))
        places, scores = self._index.retrieve(tokens, k=best, show_progress=False)
        found = [self._texts[p] for p, s in zip(places[0], scores[0], strict=True) if s > 0]
        if not found:
            raise ToolError("Nothing fits; try other words.")
        return "\n".join(found)

    def _build(self) -> None:
        import bm25s

        if not self._file.is_file():
            raise ToolError("There are no such texts here.")
        with self._file.open(encoding="utf-8") as file:
            self._texts = [str(json.loads(line)[self._field]) for line in file if line.strip()]
        index = bm25s.BM25()
        index.index(bm25s.tokenize(self._texts, show_progress=False, stopwords="en"), show_progress=False)
        self._index = index
