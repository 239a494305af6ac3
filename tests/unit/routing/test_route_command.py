"""`workbench route`, from files to table."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.openai_server import OpenAIServer
from tests.suites import SUITE, write_suite
from workbench.cli.main import run
from workbench.skills.pool import Pool

TASKS = {
    "pdf": ("Extract the tables of a PDF", ["gt/pdf-tables"]),
    "mesh": ("Measure the volume of a mesh, draw charts", ["gt/mesh-analysis", "data/charts", "gone/skill"]),
    "lost": ("Anything", ["gone/skill"]),
    "copies": ("Advice about invoices", ["data/copy-b"]),
}


@pytest.fixture
def files(tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The current folder, with queries and relevance; gives the options that name them."""
    lines = [{"task_id": task, "instruction_text": text} for task, (text, _) in TASKS.items()]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, lines)))
    relevance = {
        task: {"gt_skill_ids": gold, "relevance": dict.fromkeys(gold, 3)} for task, (_, gold) in TASKS.items()
    }
    (tmp_path / "g.json").write_text(json.dumps(relevance))
    monkeypatch.chdir(tmp_path)
    return ["--pool", str(pool.path), "--queries", "q.jsonl", "--qrels", "g.json"]


def test_the_table_is_plain_and_fits_eighty_columns(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["route", "--router", "bm25", *files]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert "bm25: pool small, 10 skills, k 50" in out
    assert "all (n=3)" in out
    assert "single (n=2)" in out
    assert "multi (n=1)" in out
    assert "Hit@1                     66.7 [0, 100]" in out
    assert "tasks not counted: none of their gold is in the pool (1): lost" in out
    assert "taking skills of equal body for one: Hit@1 100.0" in out
    assert "equal scores in another order: Hit@1 66.7 to 100.0" in out
    assert "ms a query" in out


def test_json_holds_every_number(files: list[str], pool: Pool, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["route", "--router", "bm25,none", "--json", "--k", "7", "--seed", "1", *files]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["schema_version"], report["k"], report["seed"]) == (1, 7, 1)
    assert report["pool_fingerprint"] == pool.fingerprint
    first, second = report["results"]
    assert (first["router"], second["router"]) == ("bm25", "none")
    assert len(first["fingerprint"]) == len(first["index_fingerprint"]) == 64
    assert second["index_fingerprint"] is None
    found = first["metrics"]["all"]
    assert found["count"] == 3
    assert found["Hit@1"]["mean"] == pytest.approx(2 / 3)
    assert found["Hit@1"]["low"] <= 2 / 3 <= found["Hit@1"]["high"]
    assert first["metrics"]["multi"]["Hit@1"] == {"mean": 1.0, "low": None, "high": None, "count": 1}
    assert second["metrics"]["all"]["Hit@1"]["mean"] == 0.0
    assert first["not_in_pool"] == ["lost"]
    assert first["query_milliseconds"]["median"] > 0


@pytest.mark.parametrize("kind", ["run", "predictions"])
def test_what_was_saved_scores_as_it_did(
    files: list[str], capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    assert run(["route", "--router", "bm25", "--json", f"--save-{kind}", "saved", *files]) == 0
    routed = json.loads(capsys.readouterr().out)["results"][0]
    assert run(["route", "--predictions", "saved", "--json", *files]) == 0
    scored = json.loads(capsys.readouterr().out)["results"][0]
    assert scored["metrics"] == routed["metrics"]
    assert scored["predictions"] == "saved"
    assert scored["query_milliseconds"] == {"median": None, "p95": None}


def test_several_routers_save_under_their_names(files: list[str], tmp_path: Path) -> None:
    assert run(["route", "--router", "bm25,random", "--save-run", "{router}.run", *files]) == 0
    assert sorted(path.name for path in tmp_path.glob("*.run")) == ["bm25.run", "random.run"]
    assert (tmp_path / "random.run").read_text().endswith(" random\n")


def test_a_task_missing_from_predictions_counts_zero_and_is_named(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predictions = {"pdf": ["gt/pdf-tables", "ghost"], "unknown": ["misc/bare"]}
    (tmp_path / "p.json").write_text(json.dumps(predictions))
    assert run(["route", "--predictions", "p.json", *files]) == 0
    out = capsys.readouterr().out
    assert "Hit@1                     33.3" in out
    assert "tasks without a ranking, counted 0 (2): mesh, copies" in out
    assert "rankings for tasks not in the list, ignored: 1" in out
    assert "ranked ids that are not in the pool, counted as wrong: 1" in out


MISTAKES = [
    (["--router", "bm52"], "unknown router 'bm52'; did you mean 'bm25'?"),
    ([], "give --router NAME, or --predictions FILE, or both to compare them"),
    (["--predictions", "empty"], 'empty: has no predictions; must be a JSON object {"TASK": ["SKILL", ...]'),
    (["--predictions", "object.json"], "object.json: has no predictions"),
    (["--predictions", "/dev/null"], "/dev/null: has no predictions"),
    (["--predictions", "bare.json"], "bare.json:1: is a JSON list; must be a JSON object"),
    (["--predictions", "list.json", "--save-run", "x"], "x: nothing to save without --router NAME"),
    (["--predictions", "strange.json"], "strange.json: has none of the tasks of g.json"),
    (["--predictions", ","], "--predictions: no name"),
    (["--explain", "bm25", "--router", "bm25"], "--explain does not read --router"),
    (["--explain", "bm25", "--save-run", "x"], "--explain does not read --save-run; leave it out"),
    (["--router", "bm25", "--speed", "--scorer-compat"], "--speed does not read --scorer-compat"),
    (["--router", "bm25", "--diagnose", "--by", "n"], "--diagnose does not read --by"),
    (["--list"], "--list does not read --pool, --queries, --qrels; leave them out"),
    (["--router", "bm25,none", "--save-run", "x"], "with several routers put {router} into the file's name"),
    (
        ["--router", "bm25", "--queries", "none.jsonl"],
        "none.jsonl: cannot be read: No such file or directory",
    ),
    (["--router", "bm25", "--qrels", "q.jsonl"], "q.jsonl:2: not valid JSON: Extra data"),
    (["--router", "bm25", "--pool", "none.jsonl"], "none.jsonl"),
    (["--router", "bm25", "--k", "0"], "Invalid value for '--k'"),
    (["--router", ","], "--router: no name; workbench route --list shows what there is"),
    (["--router", "bm25", "--pool", ""], "--pool: no name"),
    (["--router", "bm25", "--qrels", "empty"], "empty: has no tasks"),
    (["--router", "bm25", "--qrels", "other.json"], "other.json: has none of the tasks of q.jsonl"),
    (["--router", "bm25", "--qrels", "digits.json"], "digits.json: not valid JSON: Exceeds the limit"),
    (["--router", "bm25", "--qrels", "list.json"], "list.json:1: pdf: must be an object"),
    (["--router", "bm25", "--queries", "empty"], "empty: has no queries"),
    (["--router", "bm25", "--queries", "binary"], "binary:1: is not UTF-8"),
    (["--router", "bm25", "--queries", "folder"], "File 'folder' is a directory"),
    (["--router", "bm25", "--pool", "folder"], "folder: no SKILL.md and no record found"),
    (["--router", "bm25", "--pool", "binary"], "binary: is no pool"),
    (["--router", "bm25", "--speed", "--diagnose"], "give only one of --list, --explain, --speed, --diag"),
    (["--predictions", "binary"], "binary:1: is not UTF-8"),
    (["--predictions", "list.json", "--by", "n", "--queries", "digits.jsonl"], "digits.jsonl:1: "),
    (["--predictions", "p.json", "--by", "domain", "--queries"], "Option '--queries' requires an argument"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_one(
    files: list[str], capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    Path("empty").touch()
    Path("folder").mkdir()
    Path("object.json").write_text("{}")
    Path("strange.json").write_text('{"nobody": ["data/charts"]}')
    Path("bare.json").write_text('["data/charts"]')
    Path("binary").write_bytes(bytes(range(128, 256)))
    Path("other.json").write_text('{"nobody": {"gt_skill_ids": ["data/charts"]}}')
    Path("digits.json").write_text('{"pdf": ' + "9" * 5000 + "}")
    Path("digits.jsonl").write_text('{"task_id": "pdf", "instruction_text": "x", "n": ' + "9" * 5000 + "}")
    Path("list.json").write_text('{"pdf": ["data/charts"]}')
    assert run(["route", *files, *options]) == 1
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_routers_are_compared_with_the_first_query_by_query(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["route", "--router", "none,bm25", "--json", *files]) == 0
    (comparison,) = json.loads(capsys.readouterr().out)["compared_with_first"]
    assert (comparison["first"], comparison["second"]) == ("none", "bm25")
    hit = comparison["metrics"]["Hit@1"]
    assert (hit["better"], hit["worse"]) == (2, 0)
    assert hit["difference"] == pytest.approx(2 / 3)
    assert hit["low"] <= hit["difference"] <= hit["high"]
    assert 0 < hit["p"] <= 1
    assert run(["route", "--router", "none,bm25", *files]) == 0
    out = capsys.readouterr().out
    assert "bm25 minus none, query by query" in out
    assert max(map(len, out.splitlines())) <= 80


def test_slices_come_from_a_field_of_the_queries(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    tagged = [line | {"domain": "office" if line["task_id"] == "pdf" else "other"} for line in lines]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, tagged)))
    assert run(["route", "--router", "bm25", "--by", "domain", "--json", *files]) == 0
    slices = json.loads(capsys.readouterr().out)["results"][0]["slices"]
    assert (slices["office"]["count"], slices["office"]["Hit@1"]) == (1, 1.0)
    assert (slices["other"]["count"], slices["other"]["Hit@1"]) == (2, 0.5)
    assert slices["(macro average)"]["Hit@1"] == 0.75
    assert run(["route", "--router", "bm25", "--by", "domian", *files]) == 1
    assert "no query has the field 'domian'; did you mean 'domain'?" in capsys.readouterr().err


def test_the_authors_scorer_counts_as_they_do(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.json").write_text(json.dumps({"pdf": ["gt/pdf-tables", "gt/pdf-tables"]}))
    assert run(["route", "--predictions", "p.json", "--scorer-compat", "--json", *files]) == 0
    report = json.loads(capsys.readouterr().out)["results"][0]
    assert report["scorer_compat"]["all"]["count"] == 1
    assert report["scorer_compat"]["all"]["Hit@1"] == 1.0
    assert report["scorer_compat"]["all"]["nDCG@10"] > 1.6
    assert report["metrics"]["all"]["Hit@1"]["mean"] == pytest.approx(1 / 3)
    assert run(["route", "--predictions", "p.json", "--scorer-compat", *files]) == 0
    assert "by the benchmark authors' scorer" in capsys.readouterr().out


def test_a_stage_that_asks_a_model_says_what_it_cost(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "routers").mkdir()
    recipe = "description: judged\nsource: s\nstages:\n  - bm25:\n  - judge: {model: openai/any, top: 5}\n"
    (tmp_path / "routers" / "judged.yaml").write_text(recipe)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("SKILL_WORKBENCH_CACHE", str(tmp_path / "cache"))
    with OpenAIServer(lambda request: "1") as server:
        options = ["route", "--router", "judged", "--llm-base-url", server.url, *files]
        assert run(options) == 0
        out = capsys.readouterr().out
        asked = len(server.requests)
    assert asked > 1
    assert f"language model: {asked} calls, 0 answers from the cache" in out
    assert run(options) == 0
    assert f"language model: 0 calls, {asked} answers from the cache" in capsys.readouterr().out


def test_a_suite_brings_its_tasks_its_gold_and_its_pool(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["route", "--router", "bm25,gold", "--suite", "quickstart", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["suite"], report["pool"], report["qrels"]) == ("quickstart", "quickstart", None)
    bm25, gold = (result["metrics"]["all"] for result in report["results"])
    assert bm25["count"] == gold["count"] == 12
    assert gold["Recall@10"]["mean"] == 1.0
    assert 0.5 < bm25["Hit@1"]["mean"] < 1
    assert run(["route", "--router", "bm25", "--suite", "quickstart", "--qrels", "g"]) == 1
    assert "--suite brings its own queries and relevance" in capsys.readouterr().err
    assert run(["route", "--router", "bm25", "--suite", "quikstart"]) == 1
    assert "did you mean 'quickstart'?" in capsys.readouterr().err


def test_a_router_without_queries_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["route", "--router", "bm25", "--pool", "p", "--qrels", "g"]) == 1
    assert "--router needs --queries FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "0"], "'--k': must be a whole number of at least 1, not '0'"),
        (["--k", "1e9"], "'--k': must be a whole number of at least 1, not '1e9'"),
        (["--seed", "-1"], "'--seed': must be a whole number of at least 0, not '-1'"),
    ],
)
def test_a_number_that_is_none_is_refused_in_plain_words(
    files: list[str], arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["route", "--router", "bm25", *files, *arguments]) == 1
    assert message in capsys.readouterr().err


def test_a_router_alone_is_told_of_suites(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["route", "--router", "bm25"]) == 1
    assert "--suite NAME" in capsys.readouterr().err


def test_queries_of_which_none_can_be_scored_are_an_error_that_counts_them(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = {"pdf": ["gone/skill"], "mesh": [], "lost": ["gone/skill"], "copies": []}
    (tmp_path / "g.json").write_text(json.dumps({task: {"gt_skill_ids": ids} for task, ids in gold.items()}))
    assert run(["route", "--router", "bm25", *files]) == 1
    said = capsys.readouterr().err
    assert (
        "none of 4 tasks can be scored: 2 without gold or generic, 2 whose gold is not in pool small" in said
    )


def test_a_suite_that_is_not_fetched_is_routed_from_a_copy_of_its_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILL_WORKBENCH_CACHE", str(tmp_path / "cache"))
    task = write_suite(tmp_path)
    shutil.move(task, tmp_path / "copy" / "tasks" / "only")
    pinned = f"source: {{github: nobody/nothing, revision: {'a' * 40}, path: tasks}}\n"
    (tmp_path / "tasks" / "own" / "suite.yaml").write_text(SUITE + pinned)
    arguments = ["route", "--router", "bm25", "--suite", "own", "--json"]
    assert run(arguments) == 1
    assert "workbench fetch own" in capsys.readouterr().err
    assert run([*arguments, "--data", "copy"]) == 0
    found = json.loads(capsys.readouterr().out)["results"][0]["metrics"]["all"]
    assert found["count"] == 1


def test_the_help_of_a_field_that_is_a_list_does_not_propose_itself(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("q.jsonl").write_text(json.dumps({"task_id": "pdf", "instruction_text": "x", "lst": ["a"]}))
    assert run(["route", "--router", "bm25", "--by", "lst", *files]) == 1
    err = capsys.readouterr().err
    assert "'lst' is no text, number or true/false in any query" in err
    assert "did you mean" not in err


def test_two_files_are_compared_query_by_query(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.json").write_text(json.dumps({"pdf": ["misc/bare"], "mesh": ["gt/mesh-analysis"]}))
    Path("b.json").write_text(json.dumps({"pdf": ["gt/pdf-tables"], "mesh": ["gt/mesh-analysis"]}))
    told = []
    for given in (["--predictions", "a.json", "--predictions", "b.json"], ["--predictions", "a.json,b.json"]):
        assert run(["route", *given, "--json", *files]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]
    assert [result["predictions"] for result in told[0]["results"]] == ["a.json", "b.json"]
    (comparison,) = told[0]["compared_with_first"]
    hit = comparison["metrics"]["Hit@1"]
    assert (comparison["first"], comparison["second"]) == ("a.json", "b.json")
    assert (hit["better"], hit["worse"], hit["count"]) == (1, 0, 3)
    assert hit["difference"] == pytest.approx(1 / 3)


def test_a_file_is_compared_with_routers_and_a_comma_may_be_in_its_name(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a,b.json").write_text(json.dumps({"pdf": ["gt/pdf-tables", "gt/pdf-tables"]}))
    asked = ["route", "--predictions", "a,b.json", "--router", "gold", "--router", "bm25,gold"]
    assert run([*asked, "--scorer-compat", "--save-run", "{router}.run", "--json", *files]) == 0
    report = json.loads(capsys.readouterr().out)
    names = [result.get("router") or result["predictions"] for result in report["results"]]
    assert names == ["a,b.json", "gold", "bm25"]
    assert [pair["first"] for pair in report["compared_with_first"]] == ["a,b.json", "a,b.json"]
    assert [result["scorer_compat"]["all"]["count"] for result in report["results"]] == [1, 3, 3]
    assert sorted(path.name for path in Path().glob("*.run")) == ["bm25.run", "gold.run"]


def test_what_lies_beyond_k_is_not_measured(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["route", "--router", "gold", "--router", "bm25", "--k", "1", "--scorer-compat", *files]
    assert run([*asked, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    gold = report["results"][0]
    metrics = gold["metrics"]["all"]
    assert metrics["Hit@1"]["mean"] == 1.0
    for name in ("Hit@10", "Recall@50", "MAP@50", "nDCG@10"):
        assert metrics[name] == {"mean": None, "low": None, "high": None, "count": 0}
        assert name in gold["not_measured"]
        assert name not in gold["tie_bounds"]
        assert name not in gold["scorer_compat"]["all"]
        assert gold["equal_bodies_merged"][name] is None
        assert report["compared_with_first"][0]["metrics"][name]["difference"] is None
    assert metrics["SetCompat"]["count"] == 0  # it looks at as many places as a query has gold
    assert gold["judged@10"] is None
    assert run(asked) == 0
    out = capsys.readouterr().out
    assert "not measured, beyond --k: " in out
    (line,) = [line for line in out.splitlines() if line.startswith("MAP@50")][:1]
    assert line.split() == ["MAP@50", "-", "-", "-"]


def test_a_ranking_of_the_whole_pool_is_measured_to_any_depth(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["route", "--router", "gold", "--k", "10", "--json", *files]) == 0
    result = json.loads(capsys.readouterr().out)["results"][0]
    assert result["not_measured"] == []
    assert result["metrics"]["all"]["Recall@50"]["mean"] == 1.0


def test_a_metric_that_is_defined_for_fewer_queries_shows_its_own_number(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["route", "--router", "bm25", "--json", *files]) == 0
    found = json.loads(capsys.readouterr().out)["results"][0]["metrics"]["all"]
    assert (found["count"], found["SetCompat"]["count"]) == (3, 1)
    assert run(["route", "--router", "bm25", *files]) == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if line.startswith("SetCompat")]
    assert "n=1" in line
    assert not out.startswith("\n")
    assert max(map(len, out.splitlines())) <= 80


def test_a_small_p_is_not_printed_as_zero(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tasks = [f"t{number}" for number in range(40)]
    lines = [json.dumps({"task_id": task, "instruction_text": "invoices"}) for task in tasks]
    Path("q.jsonl").write_text("\n".join(lines))
    Path("g.json").write_text(json.dumps({task: {"gt_skill_ids": ["data/charts"]} for task in tasks}))
    options = ["--pool", str(pool.path), "--queries", "q.jsonl", "--qrels", "g.json"]
    assert run(["route", "--router", "none,gold", *options]) == 0
    compared = capsys.readouterr().out.partition("query by query")[2]
    assert "<0.001" in compared
    assert " 0.000" not in compared


def test_a_place_that_cannot_be_written_is_found_before_anything_is_routed(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").touch()
    Path("taken.run").mkdir()
    for place in ("file/x.run", "/proc/none/x.run"):
        assert run(["route", "--router", "bm25", "--save-run", place, *files, "--pool", "gone.jsonl"]) == 3
        err = capsys.readouterr().err
        assert f"cannot write {place}" in err
        assert err.count("\n") == 1
    many = ["route", "--router", "bm25,taken", "--save-run", "{router}.run", *files]
    Path("routers").mkdir()
    Path("routers/taken.yaml").write_text("description: d\nstages:\n  - bm25:\n")
    assert run(many) == 3
    assert "taken.run: it is there and is no file" in capsys.readouterr().err
    assert not Path("new").exists()
    assert run(["route", "--router", "bm25", "--save-run", "new/x.run", *files]) == 0
    assert Path("new/x.run").exists()


@pytest.mark.parametrize("form", ["--json", "--scorer-compat"])
def test_a_disk_that_fills_up_costs_the_file_and_not_the_scores(
    files: list[str], tmp_path: Path, form: str
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = (
        'mount -t tmpfs -o size=8k,nr_inodes=16 none "$0" && head -c 4096 /dev/zero >"$0"/used && exec "$@"'
    )
    inside = ["unshare", "-Urm", "sh", "-c", mount, str(disk)]
    probe = subprocess.run([*inside, "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"no mount namespaces here: {probe.stderr.strip()}")
    lines = [json.dumps({"task_id": f"t{n}", "instruction_text": "draw charts of tables"}) for n in range(60)]
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    (tmp_path / "g.json").write_text(
        json.dumps({f"t{n}": {"gt_skill_ids": ["data/charts"]} for n in range(60)})
    )
    program = [sys.executable, "-c", "from workbench.cli.main import main; main()"]
    asked = ["route", "--router", "bm25", "--save-run", str(disk / "x.run"), form, *files]
    done = subprocess.run([*inside, *program, *asked], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "Hit@1" in done.stdout
    assert done.stderr.splitlines() == [
        f"workbench: cannot write {disk / 'x.run'}: No space left on device; "
        "free some space or choose another place"
    ]


def test_an_output_that_cannot_be_written_is_one_line(files: list[str]) -> None:
    program = [sys.executable, "-c", "from workbench.cli.main import main; main()"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*program, "route", "--router", "bm25", *files], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 3
    assert done.stderr.decode().splitlines() == [
        "workbench: cannot write: No space left on device; free some space or send the output elsewhere"
    ]
