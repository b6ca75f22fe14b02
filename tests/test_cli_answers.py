"""The commands about answers: from a run to a corrected score."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = [sys.executable, "-c", "from canlegalrag.cli import main; main()"]


def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*MAIN, *arguments], cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with run, answers, verdicts and categories, each made by its command."""
    folder = tmp_path_factory.mktemp("answers")
    for line in (
        "retrieve bm25 --out run.jsonl --cache cache",
        "generate --run run.jsonl --condition oracle --out answers.jsonl --cache cache",
        "judge --answers answers.jsonl --for accuracy,coverage,groundedness --out verdicts.jsonl --cache cache",
        "explain verdicts.jsonl --out categories.jsonl --cache cache",
    ):
        done = call(folder, *line.split())
        assert done.returncode == 0, done.stderr
    return folder


def scores(folder: Path, *more: str) -> dict[str, dict[str, float]]:
    done = call(folder, "score", "--verdicts", "verdicts.jsonl", "--json", *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["measures"]


def test_a_person_goes_before_the_judge(made: Path) -> None:
    lines = [json.loads(line) for line in (made / "verdicts.jsonl").read_text("utf-8").splitlines()]
    first = next(line for line in lines if line["claims"])
    n = len(first["claims"])
    labels = {v["index"]: v["label"] for v in first["verdicts"] if v["against"] == "reference"}
    other = "unsupported" if labels[0] == "supported" else "supported"
    row = {"query_id": first["query_id"], "index": 0, "against": "reference", "label": other}
    (made / "mine.jsonl").write_text(json.dumps(row) + "\n")
    before = scores(made)["accuracy"]["mean"]
    after = scores(made, "--corrections", "mine.jsonl")["accuracy"]["mean"]
    change = 1 / n / 64 if other == "supported" else -1 / n / 64
    assert after - before == pytest.approx(change)


def test_answers_of_another_system_need_no_passages(made: Path) -> None:
    """What they were taken from isn't known, so that groundedness isn't judged, and all else is."""
    rows = [{"query_id": f"b{n}-q1", "text": "The owner must prove good faith."} for n in (1, 2)]
    (made / "theirs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = call(made, "judge", "--answers", "theirs.jsonl", "--out", "their-verdicts.jsonl")
    assert "theirs" not in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr
    assert "of 2 claims, coverage" in done.stderr and "groundedness 0" not in done.stderr
    assert "canlegalrag score -b sample --verdicts their-verdicts.jsonl" in done.stderr
    assert done.returncode == 1 and "groundedness" in done.stderr  # named as a problem


def test_the_example_of_the_documentation_is_scored_and_replayed(made: Path) -> None:
    text = (Path(__file__).parents[1] / "docs" / "claims.md").read_text(encoding="utf-8")
    line = json.loads(text.partition("```json\n")[2].partition("```")[0])
    (made / "by-hand.jsonl").write_text(json.dumps(line) + "\n")
    done = call(made, "score", "--verdicts", "by-hand.jsonl", "--json")
    accuracy = json.loads(done.stdout)["measures"]["accuracy"]
    assert accuracy["micro"] == 1 / 64  # 63 queries without an answer weigh one claim each
    done = call(made, "calibrate", "--judge", "replay/by-hand.jsonl")
    assert "Traceback" not in done.stderr


def test_scores_come_with_their_judge_and_by_group(made: Path) -> None:
    done = call(made, "score", "--verdicts", "verdicts.jsonl", "--by", "persona", "--by", "condition")
    assert done.returncode == 0
    assert "offline/lexical is a stand-in" in done.stderr
    assert "expert" in done.stdout and "oracle" in done.stdout and "accuracy_upper" in done.stdout


def test_an_answer_is_shown_claim_by_claim(made: Path) -> None:
    done = call(made, "audit", "verdicts.jsonl", "--query", "b1-q1", "--html", "page.html")
    assert done.returncode == 0 and "page.html: 1 answer" in done.stderr
    page = (made / "page.html").read_text("utf-8")
    assert "same basement for seven years" in page and "offline/lexical" in page and "<script" not in page
    shown = call(made, "audit", "verdicts.jsonl", "--query", "b1-q1")
    assert "same basement for seven years" in shown.stdout and "✓" in shown.stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("audit verdicts.jsonl", "needs --query"),
        ("audit verdicts.jsonl --query b1-q", "did you mean"),
        ("score --run run.jsonl --verdicts verdicts.jsonl", "give either --run FILE or --verdicts FILE"),
        ("score --run run.jsonl --corrections mine.jsonl", "go with --verdicts only"),
        ("generate --run run.jsonl --out a.jsonl --model offline/lexical", "offline/lexical"),
        ("generate --run run.jsonl --out a.jsonl --set price", "is not written NAME=VALUE"),
        ("judge --answers answers.jsonl --out v.jsonl --judge nobody/model", "there is no provider 'nobody'"),
        ("calibrate --judge offline/extractive", "is no judge"),
    ],
)
def test_misuse_is_2(made: Path, line: str, said: str) -> None:
    done = call(made, *line.split())
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


def test_a_judge_beside_people(made: Path) -> None:
    done = call(made, "calibrate", "--verdicts", "verdicts.jsonl", "--json", "--out", "judge.json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["pairs"]["n"] == 200 and sum(map(sum, (r.values() for r in found["confusion"].values()))) == 200
    assert found == json.loads((made / "judge.json").read_text("utf-8"))
