"""ToolQA's tools over the sample's corpus: they read it, run nothing, and stay within bounds."""

from __future__ import annotations

import pickle
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from inspect_ai.tool import ToolError

from workbench.benchmarks.kits import toolqa
from workbench.core.workspace import packaged_root

CORPUS = packaged_root() / "tasks" / "srabench" / "sample" / "toolqa"
Use = Callable[..., Awaitable[str]]


@pytest.fixture
def use(tmp_path: Path) -> Use:
    by_name = {tool.name: tool for tool in toolqa.tools(CORPUS, tmp_path)}

    async def call(name: str, /, **given: str) -> str:
        return str(await by_name[name].tool(**given))  # type: ignore[misc]

    return call


async def test_a_table_is_loaded_filtered_and_read(use: Use) -> None:
    assert "Date, Open, High, Low, Close" in await use("LoadDB", name="coffee")
    assert await use("FilterDB", conditions="Date>=2019-03-04, Date<=2019-03-08") != ""
    assert await use("FilterDB", conditions="Date=2019-03-06") == "1 rows are left."
    assert float(await use("GetValue", column="Close")) > 0


async def test_a_condition_that_fits_no_row_is_not_applied(use: Use) -> None:
    await use("LoadDB", name="airbnb")
    with pytest.raises(ToolError, match="was not applied"):
        await use("FilterDB", conditions="neighbourhood=Linden, price=$1")
    assert await use("GetValue", column="id") == "1002, 1003"


async def test_sql_reads_and_does_nothing_else(use: Use) -> None:
    assert await use("SQLInterpreter", sql="SELECT COUNT(*) AS n FROM coffee.coffee_data") == "n: 40"
    assert await use("SQLInterpreter", sql="SELECT id FROM airbnb_data WHERE price = '$45'") == "id: 1002"
    for statement in (
        "DELETE FROM coffee_data",
        "ATTACH DATABASE '/etc/passwd' AS x",
        "PRAGMA database_list",
        "CREATE TABLE t (x)",
        "SELECT load_extension('x')",
    ):
        with pytest.raises(ToolError):
            await use("SQLInterpreter", sql=statement)
    assert await use("SQLInterpreter", sql="SELECT COUNT(*) AS n FROM coffee_data") == "n: 40"


async def test_texts_are_found_by_their_words(use: Use) -> None:
    first = (await use("RetrieveAgenda", keyword="Tomas chess evening")).split("\n")[0]
    assert first.startswith("Tomas goes to the chess evening")
    with pytest.raises(ToolError, match="no such texts"):
        await use("RetrieveScirex", keyword="attention")


@pytest.mark.parametrize(
    ("formula", "value"),
    [("3*(2+5)", "21"), ("mean(1, 2, 4)", "2.333"), ("median(1,nan,3)", "2"), ("2^10/3", "341.333")],
)
def test_formulas_are_calculated(formula: str, value: str) -> None:
    assert toolqa.calculate(formula) == value


@pytest.mark.parametrize("formula", ["", "__import__('os')", "1/0", "mean()", "9^9^9"])
def test_anything_else_is_an_error_for_the_model(formula: str) -> None:
    with pytest.raises(ToolError):
        toolqa.calculate(formula)


async def test_a_long_answer_is_cut_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "c" / "coffee").mkdir(parents=True)
    (tmp_path / "c" / "coffee" / "x.csv").write_text("Name\n" + "x" * 50 + "\n" + ("y" * 50 + "\n") * 200)
    by_name = {tool.name: tool for tool in toolqa.tools(tmp_path / "c", tmp_path)}
    await by_name["LoadDB"].tool(name="coffee")  # type: ignore[misc]
    answer = str(await by_name["GetValue"].tool(column="Name"))  # type: ignore[misc]
    assert len(answer) < 3100
    assert answer.endswith("[cut; 10450 characters in all]")


class Harm:
    """Runs a command when it is unpickled, as any pickle may."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        import os

        return (os.system, ("touch harm",))


async def test_graphs_are_read_and_a_pickle_that_acts_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    networkx = pytest.importorskip("networkx")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "dblp"
    folder.mkdir()
    papers, authors = networkx.Graph(), networkx.Graph()
    papers.add_edge(1, 2, weight=1)
    papers.nodes[1]["year"] = 2020
    authors.add_edge(7, 8, papers=[1])
    for name, value in {
        "paper_net": papers, "author_net": authors,
        "title2id_dict": {"Sums": 1, "Parts": 2}, "id2title_dict": {1: "Sums", 2: "Parts"},
        "author2id_dict": {"Ada": 7, "Bo": 8}, "id2author_dict": {7: "Ada", 8: "Bo"},
    }.items():  # fmt: skip
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(value))
    by_name = {tool.name: tool.tool for tool in toolqa.tools(tmp_path, tmp_path)}
    assert await by_name["NeighbourCheck"](graph="PaperNet", node="Sums") == "['Parts']"  # type: ignore[misc]
    assert "2020" in str(await by_name["NodeCheck"](graph="PaperNet", node="Sums"))  # type: ignore[misc]
    edge = str(await by_name["EdgeCheck"](graph="AuthorNet", one="Ada", other="Bo"))  # type: ignore[misc]
    assert "Sums" in edge
    other = tmp_path / "other" / "dblp"
    other.mkdir(parents=True)
    (other / "paper_net.pkl").write_bytes(pickle.dumps(Harm()))
    by_name = {tool.name: tool.tool for tool in toolqa.tools(tmp_path / "other", tmp_path)}
    with pytest.raises(ToolError, match="not allowed"):
        await by_name["NeighbourCheck"](graph="PaperNet", node="Sums")  # type: ignore[misc]
    assert not (tmp_path / "harm").exists()


def test_a_corpus_that_is_not_there_says_what_to_give(tmp_path: Path) -> None:
    assert toolqa.missing(CORPUS) is None
    assert "-T toolqa=DIR" in str(toolqa.missing(None))
    assert "-T toolqa=DIR" in str(toolqa.missing(tmp_path))
