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
    assert json.loads(again.stdout)["retrieval"]["bm25l"]["ndcg@10"] == scores["measures"]["ndcg@10"]


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
    assert {m: one[m]["mean"] for m in two} == {m: row["mean"] for m, row in two.items()}
    # What a TREC run can't say: where in a document a passage is.
    assert {m.partition("@")[0] for m in one.keys() - two.keys()} == {
        "span_precision",
        "span_recall",
        "span_f1",
        "wrong_document_rate",
    }


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
        (["score", "-b", "sample", "--qrels", "q", "--run", "x"], "give either"),
        (["score", "--qrels", "q", "--run", "x", "--by", "persona"], "--by: needs --benchmark"),
        (["score", "-b", "sample", "--run", "x", "--measures", "ndgc@10"], "ndcg@k"),
        (["score", "-b", "sample", "--run", "there", "--by", "mood"], "one of province, persona"),
        (["score", "-b", "nowhere", "--run", "there"], "no such folder"),
        (["score", "-b", "sample", "--run", "x"], "x: no such file"),
        (["score", "-b", "sample", "--run", "there", "--out", "there"], "is the input itself"),
        (["compare", "there", "."], ".: is a folder"),
        (["run", "--recipe", "bm25", "--recipe", "bm25"], "two recipes have the same name"),
        (["retrieve", "bm25:k1=nan", "--out", "x.jsonl"], "k1 = nan is no sensible number"),
        (["retrieve", "bm25:b=2", "--out", "x.jsonl"], "b: 2 is out of range"),
        (["retrieve", "bm25:variant=foo", "--out", "x.jsonl"], "there is no BM25 variant 'foo'"),
        (["retrieve", "bm25:tokenizer=lega", "--out", "x.jsonl"], "legal"),
        (["info", "~nosuchuser/x"], "is no path"),
        (["info", "x" * 300], "x"),
        (["retrieve", "bm52l", "--out", "x"], "near: bm25l"),
        (["retrieve", "bm25l", "--out", "x", "--k", "0"], "--k"),
        (["compare", "x.jsonl"], "give two or more different runs"),
        (["compare", "x.jsonl", "x.jsonl"], "give two or more different runs"),
        (["info", "nowhere"], "no such folder"),
        (["nonsense"], "nonsense"),
    ],
)
def test_misuse_is_2(cache: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "there").write_text("b1-q1 Q0 a 1 1.0 x\n")
    done = call(cache, *arguments, cwd=tmp_path)
    assert not (tmp_path / "x.jsonl").exists()
    assert (tmp_path / "there").read_text() == "b1-q1 Q0 a 1 1.0 x\n"
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
    assert "run: 63 queries have no ranking: they score zero (b1-q2, b1-q3, b1-q4, b1-q5, b1-q6 …)" in done.stderr
    assert "ndcg@10" in done.stdout  # the scores are there all the same


@pytest.mark.parametrize(
    "arguments",
    [
        ["retrieve", "bm25", "--out", "folder.jsonl"],
        ["score", "-b", "sample", "--run", "run.trec", "--out", "folder.jsonl"],
        ["run", "--out", "run.trec"],
        ["info", "sample"],
    ],
)
def test_what_the_system_refuses_is_said(cache: Path, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "run.trec").write_text("b1-q1 Q0 a 1 1.0 x\n")
    command = [*CLI, *arguments]
    with Path("/dev/full").open("w") as full:
        output = full if arguments[0] == "info" else subprocess.PIPE
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert any(word in done.stderr for word in ("directory", "exists", "space", "folder")), done.stderr
    assert not list(tmp_path.glob(".*tmp"))


def test_no_home_no_stdout_and_a_closed_pipe(cache: Path) -> None:
    python = f"{sys.executable} -c 'from canlegalrag.cli import main; main()'"
    for line in (f"{python} info >&-", f"{python} info | true", f"{python} recipes | head -n 1"):
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), (line, done.stderr)


def test_markup_in_data_is_shown_as_it_is(cache: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from canlegalrag.build import build

    sample = load("sample")
    queries = {i: replace(q, persona="[/x][red]:smile:") for i, q in sample.queries.items()}
    build(replace(sample, queries=queries, recorded_fingerprint=""), tmp_path / "odd")
    done = call(cache, "info", tmp_path / "odd")
    assert "[/x][red]:smile: 64" in done.stdout, done.stderr


def test_a_run_that_finds_nothing_is_scored_as_json(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("q1 0 a 1\n")
    (tmp_path / "r.jsonl").write_text('{"query_id": "q1", "hits": []}\n')
    done = call(cache, "score", "--qrels", tmp_path / "q.txt", "--run", tmp_path / "r.jsonl", "--json")
    payload = json.loads(done.stdout, parse_constant=pytest.fail)
    assert payload["measures"]["ndcg@10"]["mean"] == 0.0
    assert payload["provenance"]["audit"]["unjudged"] is None


def test_a_changed_run_loses_its_record(cache: Path, runs: Path, tmp_path: Path) -> None:
    """Another system's run under our run's name must not be cut at our k."""
    (tmp_path / "run.jsonl").write_text((runs / "bm25l.jsonl").read_text() + "\n")
    meta = (runs / "bm25l.jsonl.meta.json").read_text()
    (tmp_path / "run.jsonl.meta.json").write_text(meta.replace('"k": 100', '"k": 2'))
    done = call(cache, "score", "-b", "sample", "--run", tmp_path / "run.jsonl", "--json")
    assert "was changed since it was made" in done.stderr
    assert json.loads(done.stdout)["provenance"]["run"] == {}


def test_lenient_scores_but_says_so(cache: Path, runs: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from canlegalrag.build import build

    sample = load("sample")
    build(replace(sample, qrels={**sample.qrels, "b1-q1": {"nowhere": 1}}, snippets=()), tmp_path / "faulty")
    run = runs / "bm25l.jsonl"
    assert call(cache, "score", "-b", tmp_path / "faulty", "--run", run).returncode == 1
    done = call(cache, "score", "-b", tmp_path / "faulty", "--run", run, "--lenient")
    assert done.returncode == 1
    assert "'nowhere' is not in the corpus" in done.stderr
    assert "ndcg@10" in done.stdout


def test_output_pipes_into_head(cache: Path) -> None:
    import os

    environment = os.environ | {"CANLEGALRAG_CACHE": str(cache)}
    command = f"{sys.executable} -c 'from canlegalrag.cli import main; main()' recipes --json | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, env=environment
    )
    assert done.stdout == "[\n"
    assert "Traceback" not in done.stderr


def test_citations_from_a_file_and_from_stdin(cache: Path, tmp_path: Path) -> None:
    text = "Voir R. c. Tremblay, 2019 QCCQ 1234.\nR. v. Jordan, 2016 SCC 27, [2016] 1 SCR 631, at paras 12-14."
    (tmp_path / "answer.txt").write_text(text, encoding="utf-16")
    done = call(cache, "citations", tmp_path / "answer.txt", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["key"] for row in rows] == ["2019 QCCQ 1234", "2016 SCC 27", "[2016] 1 SCR 631"]
    assert [text[row["start"] : row["end"]][:9] for row in rows] == ["2019 QCCQ", "2016 SCC ", "[2016] 1 "]
    piped = subprocess.run([*CLI, "citations"], input=text, capture_output=True, encoding="utf-8")
    assert "R. c. Tremblay" in piped.stdout
    assert "paras 12-14" in piped.stdout
    assert "3 citations of 2 authorities" in piped.stderr
    assert call(cache, "citations", tmp_path / "none.txt").returncode == 1


def test_citations_are_checked_against_a_corpus(cache: Path, tmp_path: Path) -> None:
    sample = load("sample")
    (tmp_path / "good.txt").write_text(sample.answers["b1-q1"].text, encoding="utf-8")
    done = call(cache, "citations", tmp_path / "good.txt", "-b", "sample", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {row["status"] for row in rows} == {"verified"}
    assert {id_ for row in rows for id_ in row["doc_ids"]} == set(sample.qrels["b1-q1"])
    (tmp_path / "bad.txt").write_text("Smith v. Jones, 2021 BCSC 90101, and Okafor v. Lindqvist, 2031 BCSC 99999.")
    done = call(cache, "citations", tmp_path / "bad.txt", "-b", "sample")
    assert done.returncode == 1
    assert "name mismatch" in done.stdout and "not in registry" in done.stdout
    assert "2 of them invented or misnamed" in done.stderr


def test_characters_are_scored_where_the_run_has_offsets(cache: Path, runs: Path) -> None:
    run = runs / "bm25l-1024.jsonl"
    payload = json.loads(call(cache, "score", "--run", run, "--json").stdout, parse_constant=pytest.fail)
    assert payload["measures"]["span_recall@64"]["n"] == 64
    assert payload["provenance"]["definitions"]["span_recall@64"] == "span"
    assert set(payload["spans"]) == {"by_dataset", "macro", "curve"}
    rising = payload["spans"]["curve"]["recall"]
    assert rising == sorted(rising) and 0 < rising[0] < rising[-1] <= 1
    table = call(cache, "score", "--run", run, "--measures", "span_recall@8 reference_span_recall@8").stdout
    assert "equal retrieved characters" in table and "ndcg@10" not in table
    assert "span_recall" not in call(cache, "score", "--run", runs / "bm25l.jsonl").stdout
    done = call(cache, "compare", run, run.with_name("bm25l.jsonl"), "--measure", "span_recall@8")
    assert (done.returncode, done.stdout) == (1, "")
    assert "bm25l.jsonl:1: hits[0]: has no offsets" in done.stderr


def test_offsets_that_cant_be_used_are_named_by_line(cache: Path, runs: Path, tmp_path: Path) -> None:
    lines = (runs / "bm25l-1024.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    rows[4]["hits"][1]["end"] = 10**7
    rows[6]["hits"][2]["doc_id"] = "2021-BCSC-90101"
    (tmp_path / "far.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = call(cache, "score", "--run", "far.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert "far.jsonl:5: hits[1]: passage ends at 10000000, but " in done.stderr
    assert "far.jsonl:7: hits[2]: document '2021-BCSC-90101' is not in the corpus" in done.stderr
    assert "ndcg@10" in done.stdout and "span_recall" not in done.stdout
    for name, where in (("bm25l.jsonl", "bm25l.jsonl:1: hits[0]"), ("bm25l.trec", "bm25l.trec:1")):
        from canlegalrag.files import read_run, write_trec

        if not (runs / name).exists():
            write_trec(read_run(runs / "bm25l.jsonl"), runs / name)
        done = call(cache, "score", "--run", runs / name, "--measures", "span_recall@10")
        assert (done.returncode, done.stdout) == (1, "")
        assert f'{where}: has no offsets, which measures of characters need (write "start" and "end"' in done.stderr
