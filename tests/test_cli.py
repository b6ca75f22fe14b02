"""The commands as a user types them: output, exit status, pipes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from canlegalrag.benchmark import load

CLI = [sys.executable, "-c", "from canlegalrag.cli import main; main()"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def call(cache: Path, *arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    import os

    environment = os.environ | {"CANLEGALRAG_CACHE": str(cache), "PYTHONIOENCODING": "ascii", "COLUMNS": "100"}
    command = [*CLI, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, cwd=cwd, timeout=300)


@pytest.fixture(scope="module")
def runs(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for recipe in ("bm25l", "bm25l-1024"):
        done = call(cache, "retrieve", recipe, "--out", folder / f"{recipe}.jsonl")
        assert done.returncode == 0, done.stderr
    return folder


def test_help_teaches_the_journey(cache: Path) -> None:
    done = call(cache, "--help")
    for word in ("run", "info", "recipes", "retrieve", "score", "compare", "build", "Exit status"):
        assert word in done.stdout
    for command in ("run", "info", "recipes", "retrieve", "score", "compare", "build"):
        assert call(cache, command, "--help").returncode == 0
    assert call(cache, "--version").stdout.startswith("canlegalrag 0.")


def test_info(cache: Path) -> None:
    done = call(cache, "info")
    assert done.returncode == 0
    assert "British Columbia 8" in done.stdout
    summary = json.loads(call(cache, "info", "sample", "--json").stdout)
    assert summary["queries"] == 64
    assert summary["fingerprint"] == load("sample").fingerprint


def test_the_whole_job(cache: Path, tmp_path: Path) -> None:
    done = call(cache, "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "paper-bm25l-1024" in done.stdout
    assert "Best ndcg@10:" in done.stderr
    names = sorted(str(p.relative_to(tmp_path / "results")) for p in (tmp_path / "results").rglob("*.*"))
    assert "report.html" in names
    assert "bm25l/scores.json" in names
    page = (tmp_path / "results" / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page and "https:" not in page
    scores = json.loads((tmp_path / "results" / "bm25l" / "scores.json").read_text())
    assert scores["measures"]["ndcg@10"]["n"] == 64
    assert scores["provenance"]["run"]["recipe"]["name"] == "bm25l"
    again = call(cache, "run", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["bm25l"]["ndcg@10"] == scores["measures"]["ndcg@10"]


def test_score_as_table_and_json(cache: Path, runs: Path) -> None:
    arguments = (
        "score",
        "-b",
        "sample",
        "--run",
        runs / "bm25l.jsonl",
        "--measures",
        "ndcg@10 mrr",
        "--by",
        "province",
    )
    done = call(cache, *arguments)
    assert done.returncode == 0, done.stderr
    assert "Nova Scotia" in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())
    payload = json.loads(call(cache, *arguments, "--json").stdout, parse_constant=pytest.fail)
    assert set(payload) == {"measures", "per_query", "by", "provenance"}
    assert set(payload["measures"]["ndcg@10"]) == {"mean", "n", "skipped", "low", "high"}
    assert payload["measures"]["ndcg@10"]["low"] < payload["measures"]["ndcg@10"]["mean"]
    assert len(payload["per_query"]) == 64
    assert len(payload["by"]["province"]) == 8


def test_score_with_bare_judgments_gives_the_same(cache: Path, runs: Path, tmp_path: Path) -> None:
    from canlegalrag.files import read_run, write_qrels, write_trec

    write_qrels(load("sample").qrels, tmp_path / "qrels.txt")
    write_trec(read_run(runs / "bm25l-1024.jsonl"), tmp_path / "run.trec")
    one = call(cache, "score", "-b", "sample", "--run", runs / "bm25l-1024.jsonl", "--json")
    two = call(cache, "score", "--qrels", tmp_path / "qrels.txt", "--run", tmp_path / "run.trec", "--json")
    assert two.returncode == 0, two.stderr
    one, two = json.loads(one.stdout)["measures"], json.loads(two.stdout)["measures"]
    assert {m: row["mean"] for m, row in one.items()} == {m: row["mean"] for m, row in two.items()}


def test_compare(cache: Path, runs: Path) -> None:
    done = call(cache, "compare", runs / "bm25l.jsonl", runs / "bm25l-1024.jsonl")
    assert done.returncode == 0, done.stderr
    assert "p (Holm)" in done.stdout
    pairs = json.loads(call(cache, "compare", runs / "bm25l.jsonl", runs / "bm25l-1024.jsonl", "--json").stdout)
    assert (pairs["pairs"][0]["a"], pairs["pairs"][0]["b"]) == ("bm25l", "bm25l-1024")


def test_recipes_are_listed(cache: Path) -> None:
    rows = json.loads(call(cache, "recipes", "--json").stdout)
    assert {"bm25", "bm25l-4096", "paper-bm25l-1024", "rank-bm25-l"} <= {row["name"] for row in rows}
    assert "bm25plus-8192" in call(cache, "recipes").stdout


def test_build(cache: Path, tmp_path: Path) -> None:
    assert call(cache, "build", "sample", "--out", tmp_path / "out").returncode == 0
    assert load(tmp_path / "out").fingerprint == load("sample").fingerprint
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x.txt").write_text("x")
    assert call(cache, "build", "sample", "--out", tmp_path / "mine").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "--run", "x.jsonl"], "give either --benchmark SOURCE or --qrels FILE"),
        (["score", "-b", "sample", "--qrels", "q", "--run", "x"], "give either"),
        (["score", "--qrels", "q", "--run", "x", "--by", "persona"], "--by needs --benchmark"),
        (["score", "-b", "sample", "--run", "x", "--measures", "ndgc@10"], "ndcg@k"),
        (["score", "-b", "sample", "--run", "x", "--by", "mood"], "one of province, persona"),
        (["score", "-b", "nowhere", "--run", "x"], "no such folder"),
        (["retrieve", "bm52l", "--out", "x"], "near: bm25l"),
        (["retrieve", "bm25l", "--out", "x", "--k", "0"], "--k"),
        (["compare", "x.jsonl"], "give two or more different runs"),
        (["compare", "x.jsonl", "x.jsonl"], "give two or more different runs"),
        (["info", "nowhere"], "no such folder"),
        (["nonsense"], "nonsense"),
    ],
)
def test_misuse_is_2(cache: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    done = call(cache, *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_problems_are_1(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text("{")
    done = call(cache, "score", "-b", "sample", "--run", tmp_path / "broken.jsonl")
    assert done.returncode == 1
    assert "broken.jsonl:1: not JSON" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "odd.trec").write_text("b1-q1 Q0 2021-BCSC-90101 1 1.0 x\n")
    done = call(cache, "score", "-b", "sample", "--run", tmp_path / "odd.trec")
    assert done.returncode == 1
    assert "differs from '2021-bcsc-90101' by case or normal form only" in done.stderr
    assert "… and 44 more" in done.stderr
    assert "ndcg@10" in done.stdout  # the scores are there all the same


def test_output_pipes_into_head(cache: Path) -> None:
    import os

    environment = os.environ | {"CANLEGALRAG_CACHE": str(cache)}
    command = f"{sys.executable} -c 'from canlegalrag.cli import main; main()' recipes --json | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, env=environment
    )
    assert done.stdout == "[\n"
    assert "Traceback" not in done.stderr
