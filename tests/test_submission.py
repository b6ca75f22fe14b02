"""Scoring and comparing runs: right values, nothing undefined in the JSON, every oddity named."""

import json
import math

import pytest

from canlegalrag import submission
from canlegalrag.benchmark import Benchmark
from canlegalrag.files import dumps
from canlegalrag.measures.retrieval import parse, parse_all
from canlegalrag.types import Document, Hit, Query


def bench() -> Benchmark:
    """Four queries in two blocks; q4's gold grade is 0 only, so its measures are undefined."""
    documents = {i: Document(i, "", i) for i in "abcd"}
    queries = {
        "q1": Query("q1", "x", persona="lay", block="1"),
        "q2": Query("q2", "x", persona="lay", block="1"),
        "q3": Query("q3", "x", persona="expert", block="2", excluded=("d",)),
        "q4": Query("q4", "x", persona="expert", block="2"),
    }
    return Benchmark("bench", documents, queries, {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}, "q4": {"a": 0}})


RUN = {
    "q1": [Hit("a", 2.0), Hit("b", 1.0)],  # gold first: reciprocal rank 1
    "q3": [Hit("d", 3.0), Hit("b", 2.0), Hit("c", 1.0)],  # d doesn't count, so gold is second: 1/2
    "q4": [Hit("a", 1.0)],
    "q9": [Hit("a", 1.0)],
}


def test_means_run_over_the_benchmarks_queries() -> None:
    payload, problems = submission.score_run(RUN, parse_all("mrr recall@1"), benchmark=bench(), by=["persona"])
    row = payload["measures"]["mrr"]
    assert row["mean"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert (row["n"], row["skipped"]) == (3, 1)
    assert payload["measures"]["recall@1"]["mean"] == pytest.approx(1 / 3)
    assert payload["per_query"] == {
        "q1": {"mrr": 1.0, "recall@1": 1.0},
        "q2": {"mrr": 0.0, "recall@1": 0.0},
        "q3": {"mrr": 0.5, "recall@1": 0.0},
        "q4": {"mrr": None, "recall@1": None},
    }
    assert payload["by"]["persona"]["lay"]["mrr"]["mean"] == 0.5
    assert payload["by"]["persona"]["expert"]["mrr"] | {"low": 0, "high": 0} == {
        "mean": 0.5,
        "n": 1,
        "skipped": 1,
        "low": 0,
        "high": 0,
    }
    assert [p.where for p in problems] == ["query 'q9'", "query 'q2'"]
    made = payload["provenance"]
    assert made["definitions"] == {"mrr": "standard", "recall@1": "standard"}
    assert (made["queries"], made["blocks"], made["bootstrap"]["unit"]) == (4, 2, "block")
    assert made["audit"]["missing"] == ("q2",)
    assert made["audit"]["unknown"] == ("q9",)
    assert made["benchmark"]["fingerprint"] == bench().fingerprint


def test_the_interval_lies_between_the_blocks() -> None:
    """Two blocks with means 1/2 (q1, q2) and 1/2 (q3): each resample of blocks has the mean 1/2."""
    payload, _ = submission.score_run(RUN, parse_all("mrr"), benchmark=bench())
    assert payload["measures"]["mrr"]["low"] == pytest.approx(0.5)
    assert payload["measures"]["mrr"]["high"] == pytest.approx(0.5)


def test_bare_judgments_have_queries_for_blocks() -> None:
    payload, problems = submission.score_run(RUN, parse_all("mrr"), qrels=bench().qrels)
    assert payload["measures"]["mrr"]["mean"] == pytest.approx((1 + 0 + 1 / 3) / 3)
    assert payload["provenance"]["benchmark"] is None
    assert payload["provenance"]["bootstrap"]["unit"] == "query"
    assert [str(p) for p in problems] == [
        "query 'q9': is not in the judgments: left out",
        "query 'q2': has no ranking: scores zero",
    ]


def test_what_is_undefined_is_null_in_json() -> None:
    undefined = Benchmark("u", bench().documents, {"q4": Query("q4", "x")}, {"q4": {"a": 0}})
    payload, _ = submission.score_run({"q4": [Hit("a", 1.0)]}, parse_all("ndcg@10 recall@10"), benchmark=undefined)
    assert json.loads(dumps(payload))["measures"]["ndcg@10"] == {
        "mean": None,
        "n": 0,
        "skipped": 1,
        "low": None,
        "high": None,
    }


def test_comparing_counts_every_pair_on_the_same_queries() -> None:
    other = {"q1": [Hit("b", 1.0)], "q3": [Hit("c", 1.0)]}
    (pair,), problems = submission.compare_runs({"x": RUN, "y": other}, parse("mrr"), bench())
    assert (pair.a, pair.b, pair.n, pair.skipped, pair.blocks) == ("x", "y", 3, 1, 2)
    assert pair.mean_a == pytest.approx(0.5)
    assert pair.mean_b == pytest.approx(1 / 3)
    assert pair.difference == pytest.approx(1 / 6)
    assert not pair.apart
    assert {p.where.split(":")[0] for p in problems} == {"x", "y"}


def test_few_blocks_come_with_a_caveat() -> None:
    """Two blocks: p is at least 2/2^2. The interval of the one pair leaves zero out, which must not be overlooked."""
    (pair,), _ = submission.compare_runs({"x": RUN, "y": {}}, parse("mrr"), bench())
    assert pair.low > 0
    assert submission.caveats([pair]) == [
        "2 blocks and 1 pairs: the smallest corrected p that the test can give is 0.5, so nothing can be told apart at "
        "0.05. Compare fewer runs, or use more blocks.",
        "Some intervals leave zero out though the pair can't be told apart: an interval is of one pair alone, "
        "the verdict is corrected for all pairs.",
    ]
    assert submission.caveats([]) == []


def test_number() -> None:
    assert submission.number(math.nan) is None
    assert submission.number(1) == 1.0


def test_the_papers_measures_end_where_its_lists_end() -> None:
    """Below its k best passages a run of ours has further documents: they count for the standard family only."""
    run = {"q1": [Hit("b", 3.0), Hit("b", 2.0), Hit("a", 1.0)]}
    one = Benchmark("one", bench().documents, {"q1": Query("q1", "x")}, {"q1": {"a": 1}})
    payload, _ = submission.score_run(run, parse_all("mrr paper_mrr"), benchmark=one, made={"k": 2})
    assert payload["measures"]["mrr"]["mean"] == 0.5
    assert payload["measures"]["paper_mrr"]["mean"] == 0.0
    payload, _ = submission.score_run(run, parse_all("paper_mrr mrr"), benchmark=one)
    assert payload["measures"]["paper_mrr"]["mean"] == 0.5  # nothing says where the list ends: all of it counts
    other = {"q1": [Hit("a", 1.0)]}
    (pair,), _ = submission.compare_runs({"x": run, "y": other}, parse("paper_mrr"), one, depths={"x": 2})
    assert (pair.mean_a, pair.mean_b) == (0.0, 1.0)


def test_scores_json_is_the_payload_with_a_line_a_query() -> None:
    payload, _ = submission.score_run(RUN, parse_all("mrr recall@1"), benchmark=bench(), by=["persona"])
    text = submission.scores_json(payload)
    assert json.loads(text) == json.loads(dumps(payload))
    assert '\n  "q4": {"mrr": null, "recall@1": null}\n' in text
