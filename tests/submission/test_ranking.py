"""Runs of strangers: equal to the strict reader on sound files, line by line on others."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag import load
from canlegalrag.benchmark import Benchmark
from canlegalrag.files import read_run, run_line, write_trec
from canlegalrag.submission import LIMITS
from canlegalrag.submission.faults import Faults
from canlegalrag.submission.limits import Clock, Limits
from canlegalrag.submission.ranking import read_ranking
from canlegalrag.submission.tolerant import Source
from canlegalrag.types import Hit, Passage

SAMPLE = load("sample")
DOCUMENTS = list(SAMPLE.documents)
QUERIES = list(SAMPLE.queries)


def read(path: Path, limits: Limits = LIMITS) -> tuple[Mapping[str, list[Hit]], list[str], list[str]]:
    faults, notes = Faults(limits), Faults(limits)
    run = read_ranking(Source(path, faults, notes, limits, Clock(60)), SAMPLE)
    said = [str(p) for p in faults.listed() if "no ranking: " not in p.what]
    return run, said, [str(n) for n in notes.listed()]


@pytest.fixture
def sample() -> Benchmark:
    return SAMPLE


@st.composite
def runs(draw: st.DrawFn) -> dict[str, list[Hit]]:
    found = {}
    for query in draw(st.lists(st.sampled_from(QUERIES), min_size=1, max_size=4, unique=True)):
        documents = draw(st.lists(st.sampled_from([*DOCUMENTS, "not-there"]), min_size=1, max_size=6, unique=True))
        hits = []
        for document in documents:
            score = draw(st.floats(-1e6, 1e6, width=32))
            if document in SAMPLE.documents and draw(st.booleans()):
                end = draw(st.integers(0, len(SAMPLE.documents[document].text)))
                hits.append(Hit(document, score, Passage(document, draw(st.integers(0, 9)), end // 2, end)))
            else:
                hits.append(Hit(document, score))
        found[query] = sorted(hits, key=lambda hit: -hit.score)
    return found


@given(runs())
def test_sound_json_lines_read_as_the_strict_reader_does(run: dict[str, list[Hit]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        path.write_text("".join(run_line(query, hits) + "\n" for query, hits in run.items()))
        found, said, _ = read(path)
        assert found == read_run(path) == run
        assert all("not-there" in line for line in said)


@given(runs())
def test_a_sound_trec_run_reads_as_the_strict_reader_does(run: dict[str, list[Hit]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.trec"
        write_trec(run, path)
        found, said, _ = read(path)
        assert found == read_run(path)
        assert all("not-there" in line for line in said)


def test_each_fault_of_a_line_is_named_and_the_rest_kept(tmp_path: Path) -> None:
    hits = [
        {"doc_id": DOCUMENTS[0], "score": 9},
        {"doc_id": DOCUMENTS[0], "score": 8},
        {"doc_id": 7, "score": 7},
        {"doc_id": DOCUMENTS[1], "score": True},
        {"doc_id": DOCUMENTS[1], "score": "1_0"},
        {"doc_id": DOCUMENTS[1]},
        {"doc_id": DOCUMENTS[1], "score": 4, "start": 3, "end": 2},
        {"doc_id": DOCUMENTS[1], "score": 4, "start": 0, "end": 10**9},
        [],
        {"doc_id": DOCUMENTS[2].upper(), "score": 3},
        {"doc_id": "x" * 201, "score": 3},
        {"doc_id": DOCUMENTS[3], "score": "2.5"},
    ]
    (tmp_path / "run.jsonl").write_text(json.dumps({"query_id": "b1-q1", "hits": hits}))
    run, said, _ = read(tmp_path / "run.jsonl")
    assert run["b1-q1"] == [Hit(DOCUMENTS[0], 9.0), Hit(DOCUMENTS[2].upper(), 3.0), Hit(DOCUMENTS[3], 2.5)]
    places = [line.split(" ", 2)[1].rstrip(":") for line in said]
    assert sorted(places, key=lambda p: int(p[5:-1])) == [f"hits[{n}]" for n in range(1, 11)]
    assert f"differs from {DOCUMENTS[2]!r} by case or normal form only" in "\n".join(said)


def test_an_infinite_score_is_no_score(tmp_path: Path) -> None:
    line = '{"query_id": "b1-q1", "hits": [{"doc_id": "%s", "score": %s}]}\n'
    for score in ("1e999", '"inf"', '"nan"', "1" + "0" * 400):
        (tmp_path / "run.jsonl").write_text(line % (DOCUMENTS[0], score))
        run, said, _ = read(tmp_path / "run.jsonl")
        assert run["b1-q1"] == [] and "is not a finite number" in said[0]


def test_too_many_hits_are_cut_where_the_scores_say(tmp_path: Path) -> None:
    limits = replace(LIMITS, hits=2)
    rows = [{"doc_id": document, "score": 9 - n} for n, document in enumerate(DOCUMENTS[:3])]
    (tmp_path / "run.jsonl").write_text(json.dumps({"query_id": "b1-q1", "hits": rows}))
    run, said, _ = read(tmp_path / "run.jsonl", limits)
    assert [hit.doc_id for hit in run["b1-q1"]] == DOCUMENTS[:2]
    assert said == ["run.jsonl:1: has 3 hits: those after the first 2 are left out (2 a query)"]
    (tmp_path / "run.trec").write_text("".join(f"b1-q1 Q0 {r['doc_id']} 1 {r['score']} t\n" for r in rows[::-1]))
    run, said, _ = read(tmp_path / "run.trec", limits)
    assert [hit.doc_id for hit in run["b1-q1"]] == DOCUMENTS[:2]
    assert said == ["run.trec:1: query 'b1-q1' has more than 2 hits: the lowest are left out"]


def test_faults_of_a_trec_run(tmp_path: Path) -> None:
    (tmp_path / "run.trec").write_text(
        f"b1-q1 Q0 {DOCUMENTS[0]} 1 2.0 t\n"
        f"b1-q1 Q0 {DOCUMENTS[0]} 2 1.5 t\n"
        f"b1-q1 Q0 {DOCUMENTS[1]} 3 3.0 t\n"
        f"b1-q2 Q0 {DOCUMENTS[1]}\n"
        f"b1-q2 Q0 {DOCUMENTS[1]} 1 high t\n"
        f"b1-q2 {DOCUMENTS[1]} 1 2.5 tag\n"
        f"B1-Q2 Q0 {DOCUMENTS[1]} 1 1 t\n"
        '{"query_id": "b1-q1"}\n'
        f"b1-q3 Q0 {DOCUMENTS[1]} 1 1 t\n"
        f"b1-q3 Q0 {DOCUMENTS[0]} 1 1\n"
    )
    run, said, notes = read(tmp_path / "run.trec")
    assert {query: [hit.doc_id for hit in hits] for query, hits in run.items()} == {
        "b1-q1": [DOCUMENTS[1], DOCUMENTS[0]],
        "b1-q3": [DOCUMENTS[1], DOCUMENTS[0]],
    }
    assert [line.split(" (")[0] for line in said] == [
        f"run.trec:2: document {DOCUMENTS[0]!r} a second time: the first counts",
        "run.trec:3: query 'b1-q1': rank 3 has a higher score than rank 1: scores count",
        "run.trec:4: 3 columns, 6 expected: query Q0 document rank score tag",
        "run.trec:5: score: 'high' is not a finite number: left out",
        "run.trec:6: 5 columns, 6 expected: query Q0 document rank score tag",
        "run.trec:7: query 'B1-Q2' is not in the benchmark: left out",
        "run.trec:8: is JSON, not a line of a TREC run: left out",
    ]
    assert notes == [
        "run.trec: 1 pair of neighbours with equal scores, in 1 ranking "
        "(they are ordered by document id, descending, as trec_eval does)"
    ]


def test_a_run_for_another_benchmark_is_fatal_and_suggests_nothing(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text('{"query_id": "b1-q9", "hits": []}\n')
    run, said, _ = read(tmp_path / "run.jsonl")
    assert run == {}
    assert said == [
        "run.jsonl: answers no query of canlegalrag-sample (was it made for another benchmark?)",
        "run.jsonl:1: query 'b1-q9' is not in the benchmark: left out",
    ]


def test_forgotten_queries_are_counted(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text(json.dumps({"query_id": "b1-q1", "hits": []}))
    faults = Faults(LIMITS)
    read_ranking(Source(tmp_path / "run.jsonl", faults, Faults(LIMITS), LIMITS, Clock(60)), SAMPLE)
    assert [p.what for p in faults.listed()] == ["64 queries have no ranking: they score zero"]
