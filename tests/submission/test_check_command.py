"""`canlegalrag check` as a user types it."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "space" / "examples"
CLI = [sys.executable, "-c", "from canlegalrag.cli import main; main()", "check"]


def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CLI, *map(str, arguments)], capture_output=True, encoding="utf-8", timeout=300)


def test_a_good_one(tmp_path: Path) -> None:
    done = call(EXAMPLES / "good", "--csv", tmp_path / "queries.csv")
    assert done.returncode == 0, done.stderr
    assert "ndcg@10" in done.stdout and "groundedness" in done.stdout and "by persona" in done.stdout
    assert "invented_rate" in done.stdout and "The worst queries" in done.stdout and "b6-q2" in done.stdout
    assert "by variant" in done.stdout and "changed-place" not in done.stdout  # a mean over one query is that query
    assert "by variant: 24 of 33 groups with fewer than 2 queries: see --json" in done.stderr
    assert "No problems" in done.stderr and "stand-in" in done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "queries.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 64 and float(rows[0]["ndcg@10"]) <= float(rows[-1]["ndcg@10"])


def test_a_flawed_one_as_json() -> None:
    done = call(EXAMPLES / "flawed", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["problem_count"], found["fatal"], len(found["problems"])) == (29, False, 29)
    assert found["retrieval"]["measures"]["ndcg@10"]["n"] == 64
    assert str(EXAMPLES) not in done.stdout
    assert any("score zero in measures of answers" in note for note in found["notes"])
    assert any("without verdicts that count" in note for note in found["notes"])


def test_a_template_to_fill_in(tmp_path: Path) -> None:
    done = call("--template", tmp_path / "new" / "mine")
    assert done.returncode == 0 and "fill in system.json" in done.stderr, done.stderr
    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "new" / "mine").iterdir()}
    assert written == {path.name: path.read_text(encoding="utf-8") for path in (EXAMPLES / "template").iterdir()}
    done = call("--template", tmp_path / "new" / "mine")
    assert done.returncode == 2 and "holds README.txt and system.json already" in done.stderr
    (tmp_path / "file").touch()
    assert "is a file" in call("--template", tmp_path / "file").stderr
    for arguments in ([], ["--template", tmp_path / "x", EXAMPLES / "good"]):
        done = call(*arguments)
        assert done.returncode == 2 and "give either a folder or --template DIR" in done.stderr


def test_a_hopeless_one() -> None:
    done = call(EXAMPLES / "hopeless")
    assert done.returncode == 1
    assert "fatal: is an empty ZIP archive" in done.stdout
    assert "it can't be entered until the fatal ones are mended" in done.stderr


def test_misuse(tmp_path: Path) -> None:
    done = call(tmp_path / "none")
    assert done.returncode == 2 and "no such folder" in done.stderr
    done = call(EXAMPLES / "good", "--csv", EXAMPLES / "good" / "run.jsonl")
    assert done.returncode == 2 and "is a part of the submission" in done.stderr
