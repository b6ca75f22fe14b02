"""The README does what it says: its commands are CI's, its examples run, its tables are the results'."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("CANLEGALRAG_SHARED", ROOT.parent / "shared" / "data"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
CLI = [sys.executable, "-c", "from canlegalrag.cli import main; main()"]


def test_ci_runs_the_readmes_test_command() -> None:
    command = 'pip install -e ".[dev]" && python -m pytest'
    assert f"\n{command}\n" in README
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    taken = re.search(r"sed -n '(s/.+?/p)' README\.md", script)
    assert taken, "CI takes the command from the README"
    done = subprocess.run(["sed", "-n", taken[1], "README.md"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == 'pip install -e ".[dev]" -q\n'
    assert script.rstrip().splitlines()[-1].startswith("python -m pytest")


def test_nothing_is_left_to_fill_in() -> None:
    assert "<!--" not in README


def test_every_command_shown_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order in which they stand, from one folder, as a reader would type them."""
    monkeypatch.setenv("CANLEGALRAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DATA", str(SHARED))
    lines = [line.partition("  # ")[0].strip() for line in README.splitlines()]
    commands = [line for line in lines if re.match(r"(echo .* \| )?canlegalrag [a-z]+ ", f"{line} ")]
    commands = [line for line in commands if "$DATA" not in line or (SHARED / "legalbenchrag").is_dir()]
    commands = [line for line in commands if line != "canlegalrag space"]  # serves until it is stopped
    for folder in ("space", "hf_dataset"):  # readers are told to type these in the clone
        (tmp_path / folder).symlink_to(ROOT / folder)
    assert len(commands) >= 8
    python = f"{sys.executable} -c 'from canlegalrag.cli import main; main()'"
    subprocess.run([*CLI, "run"], cwd=tmp_path, check=True, capture_output=True)
    for command in commands:
        line = re.sub(r"\bcanlegalrag (?=[a-z])", f"{python} ", command)
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)
    _check_answers(tmp_path / "results" / "answers" / "bm25l" / "answers.md")


def _check_answers(written: Path) -> None:
    """What the README shows of the answers is what the main job has just written."""
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in written.read_text("utf-8").splitlines()[2:6]]
    heads, rows = cells[0], cells[2:]
    shown = re.findall(r"^\| (bm25l \+ offline/extractive, .+) \|$", README, re.M)
    kept = re.search(r"^\| (system \| accuracy .+) \|$", README, re.M)
    assert kept and len(shown) == 2
    columns = [heads.index(head) for head in kept[1].split(" | ")]
    assert [line.split(" | ") for line in shown] == [[row[i] for i in columns] for row in rows]


def test_the_stand_ins_figures_are_those_of_the_pairs() -> None:
    import canlegalrag
    from canlegalrag import backends, calibration

    found = calibration.calibrate(backends.judge("offline/lexical"), canlegalrag.load("sample").pairs, repeats=1)
    names = {
        "accuracy, three labels": "accuracy",
        "kappa, three labels": "kappa",
        "accuracy, supported or not": "binary_accuracy",
        "sensitivity": "sensitivity",
        "specificity": "specificity",
    }
    for shown, name in names.items():
        of = found["agreement"][name]
        assert f"| {shown} | {of['value']:.3f} | {of['low']:.3f} … {of['high']:.3f} |" in README
    for label in ("supported", "contradicted", "unsupported"):
        counts = [found["confusion"][label][judged] for judged in ("supported", "contradicted", "unsupported")]
        assert f"| {label} | {' | '.join(map(str, counts))} |" in README


def test_python_examples_of_the_library_hold() -> None:
    import canlegalrag
    from canlegalrag.citations import find, normalise

    benchmark = canlegalrag.load("sample")
    assert benchmark.queries["b1-q1"].asked.startswith("I am in British Columbia. I've been in")
    assert benchmark.qrels["b1-q1"] == {"sbc-2009-c-901-ss-20-27": 1, "2021-bcsc-90101": 1}
    assert len(find("R. v. Jordan, 2016 SCC 27, [2016] 1 S.C.R. 631, at para. 5")) == 2
    assert normalise("2003 CSC 24") == normalise("2003 SCC 24")


def test_the_figures_shown_are_the_results() -> None:
    import json

    results = ROOT / "baselines" / "results" / "scc-silver"
    for recipe in ("okapi", "bm25", "bm25-8192", "bm25-1024", "bm25l", "rank-bm25-l", "paper-bm25l-1024"):
        measures = json.loads((results / recipe / "scores.json").read_text(encoding="utf-8"))["measures"]
        row = next(line for line in README.splitlines() if line.startswith(f"| `{recipe}`"))
        figures = [f"{measures[m]['mean']:.3f}" for m in ("ndcg@10", "recall@10", "mrr")]
        interval = f"{measures['ndcg@10']['low']:.3f} … {measures['ndcg@10']['high']:.3f}"
        assert [figures[0], interval, *figures[1:]] == [cell.strip() for cell in row.split("|")[2:6]]
    assert (ROOT / "baselines" / "results" / "counting.md").read_text().strip() in README


def test_the_figures_of_characters_are_the_results() -> None:
    import json

    results = ROOT / "baselines" / "results" / "legalbenchrag-mini"
    minilm = "all-minilm-l6-v2-1024:chunk={}:500:0,precision=bfloat16"
    shown = {
        "BM25, blind": "bm25-fixed-500",
        "BM25, recursive": "bm25-rcts-500",
        "MiniLM, blind": minilm.format("fixed"),
        "MiniLM, recursive": minilm.format("rcts"),
        "BM25 and MiniLM fused": f"hybrid-bm25-{minilm.format('rcts')}",
    }
    payloads = [json.loads(path.read_text(encoding="utf-8")) for path in results.glob("*/scores.json")]
    by_name = {payload["provenance"]["run"]["recipe"]["name"]: payload for payload in payloads}
    for label, name in shown.items():
        spans = by_name[name]["spans"]
        keys = ("span_precision@1", "span_precision@8", "span_recall@8", "span_recall@64")
        figures = [spans["macro"][key]["mean"] for key in keys]
        figures.append(spans["curve"]["macro"][spans["curve"]["characters"].index(4000)])
        row = next(line for line in README.splitlines() if line.startswith(f"| {label}"))
        assert [f"{100 * figure:.2f}" for figure in figures] == [cell.strip() for cell in row.split("|")[2:7]]


def test_the_figures_of_dense_retrieval_are_the_results() -> None:
    import json

    results = ROOT / "baselines" / "results" / "scc-silver-20"
    payloads = [json.loads(path.read_text(encoding="utf-8")) for path in results.glob("*/scores.json")]
    names = [payload["provenance"]["run"]["recipe"]["name"] for payload in payloads]
    by_name = {name.removesuffix(":precision=bfloat16"): payload for name, payload in zip(names, payloads, strict=True)}
    section = README[README.index("Dense and hybrid retrieval on a part") :]
    rows = re.findall(r"^\| .*?\(`(.+?)`\) \| (.+) \|$", section, re.M)
    assert len(rows) == 7
    for name, cells in rows:
        measures = by_name[name]["measures"]
        main = measures["ndcg@10"]
        figures = [main["mean"], measures["recall@10"]["mean"], measures["paper_recall@10"]["mean"]]
        shown = [f"{figure:.3f}" for figure in figures]
        shown.insert(1, f"{main['low']:.3f} … {main['high']:.3f}")
        assert shown == cells.split(" | "), name
