"""ToolQA's citation graphs, read from pickles without running what a pickle may ask for."""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path
from typing import Any

from inspect_ai.tool import ToolError

_PLAIN = {("builtins", name) for name in ("set", "frozenset", "dict", "list", "tuple", "int", "float", "str")}


class _Graph:
    """Stands in for networkx's graphs; only the plain dictionaries of its state are used."""

    _adj: dict[Any, dict[Any, dict[str, Any]]]
    _node: dict[Any, dict[str, Any]]

    def __setstate__(self, state: Any) -> None:
        found = state if isinstance(state, dict) else {}
        self._adj, self._node = found.get("_adj", {}), found.get("_node", {})


class _Reader(pickle.Unpickler):
    """Knows plain containers and graphs, and nothing that could act."""

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == "networkx":
            return _Graph
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed here")


@cache
def _read(file: Path) -> Any:
    try:
        with file.open("rb") as data:
            return _Reader(data).load()
    except (
        OSError,
        pickle.UnpicklingError,
        EOFError,
        AttributeError,
        ValueError,
        TypeError,
        IndexError,
    ) as error:
        raise ToolError(f"The graph cannot be read: {error}") from None


class Graphs:
    """PaperNet (titles) and AuthorNet (names) of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, name: str) -> str:
        """Say what there is. Raises ToolError when there is nothing."""
        if name.strip().lower() != "dblp" or not self._folder.is_dir():
            raise ToolError("There is no such graph here.")
        return "Loaded dblp: PaperNet and AuthorNet."

    def neighbours(self, graph: str, node: str) -> str:
        """Neighbours by title or name."""
        net, names, _ = self._part(graph)
        return str([names[other] for other in net._adj.get(self._id(graph, node), {})])

    def node(self, graph: str, node: str) -> str:
        """A node's attributes."""
        net, _, _ = self._part(graph)
        return str(net._node.get(self._id(graph, node), {}))

    def edge(self, graph: str, one: str, other: str) -> str:
        """An edge's attributes; papers by their titles."""
        net, _, _ = self._part(graph)
        found = net._adj.get(self._id(graph, one), {}).get(self._id(graph, other))
        if found is None:
            raise ToolError("There is no edge between the two nodes.")
        titles = self._part("PaperNet")[1]
        papers = {"papers": [titles.get(p, p) for p in found["papers"]]} if "papers" in found else {}
        return str({**found, **(papers if graph == "AuthorNet" else {})})

    def _part(self, graph: str) -> tuple[_Graph, dict[Any, str], dict[str, Any]]:
        """(graph, name of an id, id of a name)."""
        if graph not in ("PaperNet", "AuthorNet"):
            raise ToolError("The graph is PaperNet or AuthorNet.")
        kind, what = ("paper", "title") if graph == "PaperNet" else ("author", "author")
        files = (f"{kind}_net.pkl", f"id2{what}_dict.pkl", f"{what}2id_dict.pkl")
        net, names, ids = (_read(self._folder / file) for file in files)
        return net, names, ids

    def _id(self, graph: str, node: str) -> Any:
        ids = self._part(graph)[2]
        if node not in ids:
            raise ToolError(f"There is no node '{node}' in {graph}.")
        return ids[node]
