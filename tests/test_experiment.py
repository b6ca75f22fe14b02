"""Many recipes at once: what fails is listed, what was killed goes on, side by side or not the results are the same."""

import functools
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from canlegalrag import experiment, pipeline
from canlegalrag.benchmark import Benchmark, load
from canlegalrag.calls import Calls
from canlegalrag.errors import BudgetSpent, InputError
from canlegalrag.recipes import Models, Recipe, offline, parse

ROWS = ("bm25", "bm25-1024", "offline-hashing-1024", "bm25-1024-irg-offline-extractive")


@pytest.fixture(scope="module")
def sample() -> Benchmark:
    return load("sample")


def runs(out: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in sorted(out.glob("*/run.jsonl"))}


def means(outcome: experiment.Outcome) -> dict[str, Any]:
    return {name: payload["measures"] for name, payload in outcome.results.items()}


def test_side_by_side_is_the_same(sample: Benchmark, tmp_path: Path) -> None:
    rows = [parse(name) for name in ROWS]
    one = experiment.run(sample, rows, tmp_path / "one", k=10, cache=tmp_path / "a")
    two = experiment.run(sample, rows, tmp_path / "two", k=10, cache=tmp_path / "b", jobs=3)
    assert list(one.results) == list(two.results) == list(ROWS)
    assert means(one) == means(two)
    assert runs(tmp_path / "one") == runs(tmp_path / "two")


def test_a_recipe_that_fails_is_listed_and_the_others_go_on(sample: Benchmark, tmp_path: Path) -> None:
    broken = Recipe("broken", "dense", {"embedder": "nowhere/model", "chunk": "whole"})
    with pytest.raises(InputError, match="no provider 'nowhere'"):
        experiment.run(sample, [broken], tmp_path / "strict", k=5, cache=tmp_path / "cache")
    rows = [broken, parse("bm25")]
    outcome = experiment.run(sample, rows, tmp_path / "out", k=5, cache=tmp_path / "cache", keep_going=True)
    assert list(outcome.results) == ["bm25"]
    assert "no provider 'nowhere'" in outcome.failed["broken"]
    assert any(line.startswith("Failed: broken: ") for line in experiment.reading(outcome, tmp_path / "out"))
    with pytest.raises(InputError, match="the recipe: failed: broken: "):
        experiment.run(sample, [broken], tmp_path / "none", k=5, cache=tmp_path / "cache", keep_going=True)


def test_a_killed_sweep_goes_on(sample: Benchmark, tmp_path: Path) -> None:
    """kill -9 in the middle of the third recipe: the next sweep ends with the files of one that wasn't killed."""
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from canlegalrag import experiment, pipeline\n"
        "from canlegalrag.benchmark import load\n"
        "from canlegalrag.recipes import parse\n"
        "record = pipeline._output.Output.record\n"
        "def slowly(*given):\n"
        "    record(*given)\n"
        "    time.sleep(0.3)\n"
        "pipeline._output.Output.record = slowly\n"
        f"rows = [parse(name) for name in {ROWS!r}]\n"
        "experiment.run(load('sample'), rows, Path(sys.argv[1]), k=10, cache=Path(sys.argv[2]), keep_going=True)\n"
    )
    out, cache = tmp_path / "out", tmp_path / "cache"
    process = subprocess.Popen([sys.executable, "-c", code, str(out), str(cache)])
    third = out / "offline-hashing-1024" / "run.jsonl"
    until = time.monotonic() + 60
    while time.monotonic() < until and not (third.exists() and third.stat().st_size > 1000):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    killed = third.read_bytes()
    assert killed and not (out / "table.md").exists()
    rows = [parse(name) for name in ROWS]
    again = experiment.run(sample, rows, out, k=10, cache=cache, keep_going=True)
    whole = experiment.run(sample, rows, tmp_path / "whole", k=10, cache=tmp_path / "other")
    assert third.read_bytes().startswith(killed) and len(killed) < third.stat().st_size
    assert runs(out) == runs(tmp_path / "whole")
    assert means(again) == means(whole)
    assert (out / "table.md").read_text() == (tmp_path / "whole" / "table.md").read_text()


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops_a_sweep_in_the_middle_of_a_recipe(jobs: int, tmp_path: Path) -> None:
    """Two recipes of which each would take minutes: SIGINT, and the process is gone; nothing is lost."""
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from canlegalrag import experiment, pipeline\n"
        "from canlegalrag.benchmark import load\n"
        "from canlegalrag.recipes import parse\n"
        "pipeline._output.BATCH = 1\n"
        "record = pipeline._output.Output.record\n"
        "def slowly(*given):\n"
        "    record(*given)\n"
        "    time.sleep(1)\n"
        "pipeline._output.Output.record = slowly\n"
        "rows = [parse('bm25'), parse('bm25-1024')]\n"
        f"given = dict(k=10, cache=Path(sys.argv[2]), keep_going=True, jobs={jobs})\n"
        "experiment.run(load('sample'), rows, Path(sys.argv[1]), **given)\n"
    )
    out = tmp_path / "out"
    command = [sys.executable, "-c", code, str(out), str(tmp_path / "cache")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while time.monotonic() < until and not any(path.stat().st_size for path in out.glob("*/run.jsonl")):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)  # 64 batches of a second each, were it to go on
    assert process.returncode != 0 and "KeyboardInterrupt" in said
    assert not (out / "table.md").exists()
    assert all(len(path.read_bytes().splitlines()) < 60 for path in out.glob("*/run.jsonl"))


def test_what_made_a_run_names_its_models(sample: Benchmark, tmp_path: Path) -> None:
    recipe = offline(parse("paper-kanon-2-embedder-8192-irg-rerank"))
    meta = pipeline.retrieve(recipe, sample, tmp_path / "run.jsonl", k=5, cache=tmp_path / "cache")
    assert {role: made["identity"]["model"] for role, made in meta["models"].items()} == {
        "embedder": "offline/hashing",
        "reranker": "offline/overlap",
        "generator": "offline/extractive",
    }
    assert len(meta["models"]["generator"]["prompt"]) == 64
    # 64 queries in three rounds; every round's candidates are reranked; two rounds are answered
    assert meta["models"]["embedder"]["counts"]["texts"] == 3 * 64
    assert meta["models"]["generator"]["counts"]["texts"] == 2 * 64
    passages = sum(len(list(spans)) for spans in _spans(sample))
    assert meta["models"]["embedder"]["indexed"]["texts"] == passages
    assert meta["cost"] == 0


def _spans(sample: Benchmark) -> list[Any]:
    from canlegalrag import chunking

    cut = chunking.parse("paper:8192:256")
    return [cut(document.text) for document in sample.documents.values()]


def test_a_run_never_mixes_two_models(sample: Benchmark, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    pipeline.retrieve(parse("offline-hashing-1024"), sample, out, k=5, cache=tmp_path / "cache")
    meta = json.loads(pipeline.meta_path(out).read_text())
    meta["models"]["embedder"]["identity"]["model"] = "offline/another"
    pipeline.meta_path(out).write_text(json.dumps(meta))
    out.write_bytes(b"".join(out.read_bytes().splitlines(keepends=True)[:32]))
    with pytest.raises(InputError, match="was begun with another embedder"):
        pipeline.retrieve(parse("offline-hashing-1024"), sample, out, k=5, cache=tmp_path / "cache")


def _wire() -> Any:
    spec = importlib.util.spec_from_file_location("wire", Path(__file__).parent / "backends" / "wire.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_budget_stops_a_run_and_nothing_is_paid_for_twice(
    sample: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request says that it read 40,000 tokens, $0.014: two fit into $0.03, and the third isn't sent."""
    pytest.importorskip("isaacus", reason="needs isaacus")
    from canlegalrag.backends import isaacus

    wires = _wire()
    wire = wires.Wire()
    wire.script = [wires.Say(change=lambda reply: reply["usage"].update(input_tokens=40_000))]
    monkeypatch.setenv("ISAACUS_API_KEY", "x")
    monkeypatch.setattr(isaacus, "embedder", functools.partial(isaacus.embedder, base_url=f"{wire.url}/v1"))
    recipe = parse("paper-kanon-2-embedder-1024")
    out, cache = tmp_path / "run.jsonl", tmp_path / "cache"
    try:
        with (
            Models(Calls(cache / "calls", budget=0.03, workers=1)) as models,
            pytest.raises(BudgetSpent, match="is spent and the next call may cost"),
        ):
            pipeline.retrieve(recipe, sample, out, k=5, cache=cache, models=models)
        before = [text for body in wire.bodies() for text in body["texts"]]
        assert len(before) > 0 and json.loads(pipeline.meta_path(out).read_text())["cost"] > 0
        with Models(Calls(cache / "calls", workers=1)) as models:
            meta = pipeline.retrieve(recipe, sample, out, k=5, cache=cache, models=models)
        sent = [text for body in wire.bodies() for text in body["texts"]]
        assert len(sent) == len(set(sent)) > len(before)
        requests = len(wire.requests)
        assert meta["cost"] == pytest.approx(requests * 40_000 * 0.35 / 1e6)
        with Models(Calls(cache / "calls", workers=1)) as models:
            other = pipeline.retrieve(recipe, sample, tmp_path / "again.jsonl", k=5, cache=cache, models=models)
        assert other["cost"] == 0 and len(wire.requests) == requests
        assert out.read_bytes() == (tmp_path / "again.jsonl").read_bytes()
    finally:
        wire.close()
