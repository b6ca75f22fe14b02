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
