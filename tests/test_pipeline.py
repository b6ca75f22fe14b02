"""Retrieving: resumes, refuses to mix runs, loses at most a batch."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from canlegalrag import pipeline
from canlegalrag.benchmark import Benchmark, load
from canlegalrag.errors import InputError
from canlegalrag.files import read_run
from canlegalrag.recipes import parse


@pytest.fixture(scope="module")
def sample() -> Benchmark:
    return load("sample")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_each_query_gets_a_line_in_the_benchmarks_order(sample: Benchmark, tmp_path: Path, cache: Path) -> None:
    steps: list[int] = []
    read: list[int] = []
    out = tmp_path / "run.jsonl"
    meta = pipeline.retrieve(parse("bm25l"), sample, out, k=5, cache=cache, searched=steps.append, indexed=read.append)
    run = read_run(out)
    assert list(run) == list(sample.queries)
    assert all(len(hits) == 5 for hits in run.values())
    assert sum(steps) == 64
    assert sum(read) == len(sample.documents)
    assert meta["recipe"]["name"] == "bm25l"
    assert meta["benchmark"]["fingerprint"] == sample.fingerprint
    assert meta["short"] == 0
    assert json.loads((tmp_path / "run.jsonl.meta.json").read_text()) == meta


def test_passages_are_stretches_of_the_documents(sample: Benchmark, tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "run.jsonl"
    pipeline.retrieve(parse("bm25l-1024"), sample, out, k=10, cache=cache)
    run = read_run(out, sample.documents)
    for hits in run.values():
        assert len({hit.doc_id for hit in hits}) == 10
        assert all(hit.passage and hit.passage.text and len(hit.passage.text) <= 1024 for hit in hits)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_second_run_does_nothing_and_a_torn_line_is_done_again(
    sample: Benchmark, tmp_path: Path, cache: Path
) -> None:
    out = tmp_path / "run.jsonl"
    pipeline.retrieve(parse("bm25"), sample, out, k=5, cache=cache)
    whole = out.read_bytes()
    pipeline.retrieve(parse("bm25"), sample, out, k=5, cache=cache)
    assert out.read_bytes() == whole
    for size in (len(whole) - 1, len(whole) // 2, 5, 0):
        out.write_bytes(whole[:size])
        pipeline.retrieve(parse("bm25"), sample, out, k=5, cache=cache)
        assert out.read_bytes() == whole


def test_another_recipe_k_or_benchmark_is_not_mixed_in(sample: Benchmark, tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "run.jsonl"
    pipeline.retrieve(parse("bm25"), sample, out, k=5, cache=cache)
    with pytest.raises(InputError, match="was made with recipe"):
        pipeline.retrieve(parse("bm25l"), sample, out, k=5, cache=cache)
    with pytest.raises(InputError, match="was made with k 5, not 6"):
        pipeline.retrieve(parse("bm25"), sample, out, k=6, cache=cache)
    other = Benchmark("other", sample.documents, dict(list(sample.queries.items())[:3]), sample.qrels)
    with pytest.raises(InputError, match="was made with benchmark"):
        pipeline.retrieve(parse("bm25"), other, out, k=5, cache=cache)
    (tmp_path / "run.jsonl.meta.json").write_text("{")
    with pytest.raises(InputError, match=r"run\.jsonl\.meta\.json: can't be read"):
        pipeline.retrieve(parse("bm25"), sample, out, k=5, cache=cache)


@pytest.mark.parametrize(
    "text",
    ["precious notes", "precious notes\n", '{"query_id": 1\n', "{}\n", "[]\n", '{"query_id": "b1-q1", "hits": 5}\n'],
)
def test_a_file_of_something_else_is_left_alone(sample: Benchmark, tmp_path: Path, cache: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"is not named \.jsonl"):
        pipeline.retrieve(parse("bm25"), sample, tmp_path / "run.trec", k=5, cache=cache)
    out = tmp_path / "notes.jsonl"
    out.write_text(text)
    with pytest.raises(InputError, match="holds a line that is no ranking"):
        pipeline.retrieve(parse("bm25"), sample, out, k=5, cache=cache)
    assert out.read_text() == text


def test_k_must_be_positive(sample: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be at least 1"):
        pipeline.retrieve(parse("bm25"), sample, tmp_path / "run.jsonl", k=0)


def test_two_at_once_are_refused(sample: Benchmark, tmp_path: Path, cache: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="needs POSIX locks")
    out = tmp_path / "run.jsonl"
    with out.open("a+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is writing it"):
            pipeline.retrieve(parse("bm25"), sample, out, k=5, cache=cache)


def test_a_killed_run_goes_on(sample: Benchmark, tmp_path: Path, cache: Path) -> None:
    """kill -9 while it writes: the next run ends with the same file as one that wasn't killed."""
    out = tmp_path / "run.jsonl"
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from canlegalrag import pipeline\n"
        "from canlegalrag.benchmark import load\n"
        "from canlegalrag.recipes import parse\n"
        "pipeline._output.BATCH = 4\n"
        "pipeline.retrieve(parse('bm25'), load('sample'), Path(sys.argv[1]), k=5, cache=Path(sys.argv[2]),\n"
        "                  searched=lambda n: time.sleep(0.2))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(out), str(cache)])
    until = time.monotonic() + 60
    while time.monotonic() < until and (not out.exists() or out.stat().st_size < 1000):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    killed = out.read_bytes()
    pipeline.retrieve(parse("bm25"), sample, out, k=5, cache=cache)
    pipeline.retrieve(parse("bm25"), sample, tmp_path / "whole.jsonl", k=5, cache=cache)
    assert 0 < len(killed) < len(out.read_bytes())
    assert out.read_bytes().startswith(killed)
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_a_damaged_index_is_built_again(sample: Benchmark, tmp_path: Path, cache: Path) -> None:
    pipeline.retrieve(parse("bm25"), sample, tmp_path / "a.jsonl", k=5, cache=cache)
    (index,) = (path for path in (cache / "indexes").iterdir() if path.is_dir())
    for n, harm in enumerate((lambda p: p.write_bytes(p.read_bytes()[: p.stat().st_size // 2]), lambda p: p.unlink())):
        for path in sorted(index.iterdir()):
            harm(path)
            pipeline.retrieve(parse("bm25"), sample, tmp_path / f"{n}-{path.name}.jsonl", k=5, cache=cache)
            assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / f"{n}-{path.name}.jsonl").read_bytes(), path


def test_documents_that_do_not_count_leave_no_gap(tmp_path: Path, cache: Path) -> None:
    """The k best of the others come back, whether documents or passages are ranked."""
    sample = load("sample")
    query = sample.queries["b1-q1"]
    for name in ("bm25l", "bm25l-1024"):
        alone = Benchmark("one", sample.documents, {query.id: query}, {query.id: sample.qrels[query.id]})
        pipeline.retrieve(parse(name), alone, tmp_path / f"{name}-all.jsonl", k=40, cache=cache)
        everything = read_run(tmp_path / f"{name}-all.jsonl")[query.id]
        best = list(dict.fromkeys(hit.doc_id for hit in everything))[:2]
        masked = Benchmark("one", sample.documents, {query.id: replace(query, excluded=tuple(best))}, alone.qrels)
        pipeline.retrieve(parse(name), masked, tmp_path / f"{name}.jsonl", k=5, cache=cache)
        found = read_run(tmp_path / f"{name}.jsonl")[query.id]
        left = [hit for hit in everything if hit.doc_id not in best]
        assert found[:5] == left[:5]
        assert list(dict.fromkeys(hit.doc_id for hit in found)) == list(dict.fromkeys(hit.doc_id for hit in left))[:5]
        assert masked.counted({query.id: everything}) == {query.id: left}


def test_what_one_query_leaves_out_changes_nothing_for_another(sample: Benchmark, tmp_path: Path, cache: Path) -> None:
    """A pool and a fusion depend on the depth, which is greater for a query that leaves documents out."""
    first, *others = list(sample.queries.values())[:6]
    out = tuple(list(sample.documents)[:20])
    mixed = {q.id: q for q in (replace(first, excluded=out), *others)}
    both = [Benchmark("mixed", sample.documents, mixed, sample.qrels)]
    both.append(Benchmark("plain", sample.documents, {q.id: q for q in others}, sample.qrels))
    for name in ("bm25-1024-rerank-offline-overlap", "hybrid-bm25-wordllama-1024:embedder=offline/hashing"):
        runs = []
        for benchmark in both:
            path = tmp_path / benchmark.name / f"{name}.jsonl"
            pipeline.retrieve(parse(name), benchmark, path, k=3, cache=cache)
            runs.append(read_run(path))
        assert list(runs[0]) == list(mixed) and not {hit.doc_id for hit in runs[0][first.id]} & set(out)
        assert {q.id: runs[0][q.id] for q in others} == runs[1]


def test_a_record_is_of_the_run_as_it_is(sample: Benchmark, tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "run.jsonl"
    meta = pipeline.retrieve(parse("bm25"), sample, out, k=5, cache=cache)
    assert pipeline.read_meta(out) == meta
    assert pipeline.read_meta(tmp_path / "run.trec") == {}
    out.write_bytes(out.read_bytes()[:-2])
    assert pipeline.read_meta(out) == {}
    pipeline.retrieve(parse("bm25"), sample, out, k=5, cache=cache)
    assert pipeline.read_meta(out)["sha256"] == meta["sha256"]


def test_two_processes_may_build_one_index(sample: Benchmark, tmp_path: Path, cache: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from canlegalrag import pipeline\n"
        "from canlegalrag.benchmark import load\n"
        "from canlegalrag.recipes import parse\n"
        "pipeline.retrieve(parse('bm25l-1024'), load('sample'), Path(sys.argv[1]), k=5, cache=Path(sys.argv[2]))\n"
    )
    command = [sys.executable, "-c", code]
    both = [subprocess.Popen([*command, str(tmp_path / f"{n}.jsonl"), str(cache)]) for n in range(3)]
    assert [process.wait() for process in both] == [0, 0, 0]
    assert len({(tmp_path / f"{n}.jsonl").read_bytes() for n in range(3)}) == 1
