"""Scoring and comparing runs: right values, nothing undefined in the JSON, every oddity named."""

import json
import math
from dataclasses import replace

import pytest

from canlegalrag import report, submission
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import dumps
from canlegalrag.measures.retrieval import parse, parse_all
from canlegalrag.measures.stats import Comparison
from canlegalrag.types import Document, Hit, Passage, Query, Run, Snippet


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
    """Five blocks, each with one query found and one not: each resample of blocks has the mean 1/2."""
    queries = {f"q{i}": Query(f"q{i}", "x", block=str(i // 2)) for i in range(10)}
    whole = Benchmark("five", bench().documents, queries, {q: {"a": 1} for q in queries})
    payload, _ = submission.score_run(
        {f"q{i}": [Hit("a", 1.0)] for i in range(0, 10, 2)}, [parse("mrr")], benchmark=whole
    )
    assert (payload["measures"]["mrr"]["low"], payload["measures"]["mrr"]["high"]) == pytest.approx((0.5, 0.5))
    few, _ = submission.score_run(RUN, parse_all("mrr"), benchmark=bench())
    assert few["measures"]["mrr"]["low"] is None, "two blocks are too few"


def test_bare_judgments_have_queries_for_blocks() -> None:
    payload, problems = submission.score_run(RUN, parse_all("mrr"), qrels=bench().qrels)
    assert payload["measures"]["mrr"]["mean"] == pytest.approx((1 + 0 + 1 / 3) / 3)
    assert payload["provenance"]["benchmark"] is None
    assert payload["provenance"]["bootstrap"]["unit"] == "query"
    assert [str(p) for p in problems] == [
        "query 'q9': is not in the judgments: left out",
        "query 'q2': has no ranking: scores zero",
    ]


def test_an_id_that_was_written_as_a_citation_is_known_again() -> None:
    """`2021 BCSC 90101` is what a paper would write; the corpus has the id that is made of it."""
    documents = {i: Document(i, "", i) for i in ("2021-bcsc-90101", "2021-bcsc-90102", "a-1", "a.1")}
    found = Benchmark("cited", documents, {"b1-q1": Query("b1-q1", "x")}, {"b1-q1": {"2021-bcsc-90101": 1}})
    run = {"b1-q1": [Hit("2021 BCSC 90101", 2.0), Hit("a 1", 1.0)], "B1 Q1": [Hit("a-1", 1.0)]}
    document = "query 'b1-q1': hits[0]: document '2021 BCSC 90101' is not "
    _, problems = submission.score_run(run, parse_all("mrr"), benchmark=found)
    assert [str(p) for p in problems] == [
        "query 'B1 Q1': is not in the benchmark: left out (did you mean 'b1-q1'?)",
        f"{document}in the corpus: not relevant (did you mean '2021-bcsc-90101'?)",
        "query 'b1-q1': hits[1]: document 'a 1' is not in the corpus: not relevant",  # two ids would do
    ]
    _, problems = submission.score_run(run, parse_all("mrr"), qrels=found.qrels)
    assert [str(p) for p in problems] == [
        "query 'B1 Q1': is not in the judgments: left out (did you mean 'b1-q1'?)",
        f"{document}judged (did you mean '2021-bcsc-90101'?)",
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
    """Two blocks: p is at least 2/2^2, and with three pairs three times that, which is cut at 1."""
    (pair,), _ = submission.compare_runs({"x": RUN, "y": {}}, parse("mrr"), bench())
    assert submission.caveats([pair]) == [
        "x and y differ in 2 of 2 blocks: the smallest p that the test can give is 0.5, so nothing can be told apart "
        "at 0.05. Use more blocks."
    ]
    assert submission.caveats([pair] * 3) == [
        "2 blocks and 3 pairs: the smallest corrected p that the test can give is 1, so nothing can be told apart at "
        "0.05. Compare fewer runs, or use more blocks."
    ]
    assert submission.caveats([]) == []


def test_blocks_that_tie_leave_the_test_less_to_say() -> None:
    """Of eight blocks five tie: 2^3 outcomes are left, so p is at least 0.25, however the interval lies."""
    pair = Comparison("x", "y", 0.5, 0.2, 0.3, 0.1, 0.6, 0.25, 0.25, 8, 0, 8, False, 3)
    assert submission.caveats([pair]) == [
        "x and y differ in 3 of 8 blocks: the smallest p that the test can give is 0.25, so nothing can be told apart "
        "at 0.05. Use more blocks.",
        "Some intervals leave zero out though the pair can't be told apart: over few blocks a bootstrap interval is "
        "too narrow, and the verdict is the test's.",
    ]
    assert submission.caveats([pair] * 3)[0] == (
        "8 blocks and 3 pairs, no pair of which differs in more than 3 of the blocks: the smallest corrected p that "
        "the test can give is 0.75, so nothing can be told apart at 0.05. Compare fewer runs, or use more blocks."
    )
    wide = replace(pair, b="z", p=0.001, p_holm=0.003, blocks=40, differing=40, apart=True)
    assert submission.caveats([wide, replace(pair, blocks=40), replace(pair, a="y", blocks=40, differing=0)])[0] == (
        "y and y differ in none of 40 blocks: the smallest p that the test can give is 1, so they can't be told apart "
        "at 0.05. So it is with 1 more pair."
    )
    corrected = replace(pair, p=0.02, p_holm=0.06, blocks=40, differing=40)
    assert submission.caveats([wide, corrected, corrected]) == [
        "Some intervals leave zero out though the pair can't be told apart: an interval is of one pair alone, the "
        "verdict is corrected for all pairs."
    ]


def test_a_measure_that_looks_deeper_than_the_run_is_named() -> None:
    """The run lists two documents a query at most (`d` twice is one), of four: recall@3 is that of two."""
    run = {"q1": [Hit("a", 3.0), Hit("d", 2.0), Hit("d", 1.0)], "q3": [Hit("c", 1.0)]}

    def said(measures: str, run: Run = run, **made: int) -> str:
        return submission.shallow(submission.score_run(run, parse_all(measures), benchmark=bench(), made=made)[0])

    lists = "The run lists at most 2 documents a query: "
    assert said("recall@3 ndcg@2 rprec") == lists + "recall@3 counts what is in those."
    assert said("recall@3 hit@9 map mrr") == lists + "recall@3, hit@9, map and mrr count what is in those."
    assert said("recall@2 map") == said("paper_recall@10") == ""
    assert said("recall@3", k=3) == "", "three were asked for: no more match"
    whole = {"q1": [Hit(d, -n) for n, d in enumerate("abcd")]}
    assert said("recall@100", whole) == "", "the whole corpus is listed"
    bare, _ = submission.score_run(run, parse_all("recall@5"), qrels=bench().qrels)
    assert submission.shallow(bare) == lists + "recall@5 counts what is in those."
    assert said("recall@5", {}) == "" and submission.shallow(bare | {"provenance": {}}) == ""


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


def spanned(**fields) -> Benchmark:
    """Three queries of two data sets with gold spans of ten characters, in documents of a hundred."""
    documents = {i: Document(i, "", "0123456789" * 10) for i in "abc"}
    queries = {q: Query(q, "x", dataset=d) for q, d in (("q1", "small"), ("q2", "large"), ("q3", "large"))}
    snippets = tuple(Snippet(q, "a", 0, 10, "0123456789") for q in queries)
    made = {"documents": documents, "queries": queries, "qrels": {q: {"a": 1} for q in queries}, "snippets": snippets}
    return Benchmark("spanned", **(made | fields))


def hits(*spans) -> list[Hit]:
    return [Hit(d, -float(i), Passage(d, 0, start, end)) for i, (d, start, end) in enumerate(spans)]


SPANS = {"q1": hits(("a", 0, 10), ("b", 0, 10)), "q2": hits(("b", 0, 10), ("a", 0, 5))}


def test_characters_are_counted_where_gold_and_run_have_offsets() -> None:
    payload, problems = submission.score_run(SPANS, benchmark=spanned())
    assert [str(p) for p in problems] == ["query 'q3': has no ranking: scores zero"]
    names = list(payload["measures"])
    assert names[:2] == ["ndcg@10", "recall@10"]
    assert names[-4:] == ["span_precision@1", "span_recall@1", "span_f1@1", "wrong_document_rate@1"]  # two hits: no @8
    assert payload["measures"]["span_recall@1"]["mean"] == pytest.approx(1 / 3)
    assert payload["measures"]["wrong_document_rate@1"] | {"low": 0, "high": 0} == {
        "mean": 0.5,
        "n": 2,
        "skipped": 1,
        "low": 0,
        "high": 0,
    }
    spans = payload["spans"]
    assert {d: part["span_recall@1"]["mean"] for d, part in spans["by_dataset"].items()} == {"small": 1.0, "large": 0.0}
    assert spans["macro"]["span_recall@1"] == {"mean": 0.5, "n": 3, "skipped": 0, "low": None, "high": None}
    curve = spans["curve"]
    assert (curve["characters"][0], curve["recall"][0], curve["filled"][0]) == (500, 0.5, 0.0)
    assert (curve["by_dataset"]["large"][0], curve["macro"][0]) == (0.25, 0.625)
    assert payload["provenance"]["definitions"]["span_f1@1"] == "span"
    json.loads(dumps(payload))
    assert list(json.loads(submission.scores_json(payload))) == ["measures", "per_query", "by", "spans", "provenance"]
    tables = report.span_tables(payload)
    assert [[c.header for c in t.columns][:3] for t in tables] == [
        ["measure", "small", "large"],
        ["characters", "all queries", "small"],
    ]


def test_depths_add_characters_to_any_measures() -> None:
    """At depths that are asked for all is counted, strictly and as published, also below the end of the rankings."""
    payload, problems = submission.score_run(SPANS, parse_all("mrr span_recall@2"), benchmark=spanned(), depths=[2, 64])
    names = ["span_precision", "span_recall", "span_f1", "wrong_document_rate", "retrieved_characters"]
    names += ["reference_span_precision", "reference_span_recall"]
    listed = [f"{name}@{k}" for k in (2, 64) for name in names]
    assert sorted(payload["measures"]) == sorted(["mrr", *listed])  # what is asked for twice stands once
    assert list(payload["measures"])[:2] == ["mrr", "span_recall@2"]
    assert payload["measures"]["retrieved_characters@64"]["mean"] == pytest.approx((20 + 15 + 0) / 3)
    assert payload["measures"]["reference_span_precision@2"]["mean"] == pytest.approx((10 / 20 + 5 / 15 + 0) / 3)
    assert "macro" in payload["spans"]
    assert [p.where for p in problems] == ["query 'q3'"]
    payload, _ = submission.score_run(SPANS, benchmark=spanned(), depths=[1])
    assert len(payload["measures"]) == 9 + 7
    for given in ({"measures": parse_all("mrr"), "depths": None}, {"measures": parse_all("mrr"), "depths": []}):
        assert list(submission.score_run(SPANS, benchmark=spanned(), **given)[0]["measures"]) == ["mrr"]
    assert len(submission.score_run(SPANS, benchmark=spanned(), depths=())[0]["measures"]) == 9
    with pytest.raises(InputError, match="span_precision@0"):
        submission.score_run(SPANS, benchmark=spanned(), depths=[0])


def test_depths_do_nothing_where_something_is_missing() -> None:
    for run, benchmark in (({"q1": [Hit("a", 1.0)]}, spanned()), (SPANS, spanned(snippets=())), (SPANS, None)):
        payload, _ = submission.score_run(
            run, parse_all("mrr"), benchmark=benchmark, qrels=spanned().qrels, depths=[1, 2]
        )
        assert list(payload["measures"]) == ["mrr"]
        assert "spans" not in payload
    odd = {**SPANS, "q3": hits(("a", 5, 101))}
    payload, problems = submission.score_run(odd, parse_all("mrr"), benchmark=spanned(), depths=[1])
    assert list(payload["measures"]) == ["mrr"]
    assert [p.where for p in problems] == ["query 'q3': hits[0]", "measures of characters"]
    partly = spanned(snippets=spanned().snippets[:1])
    _, problems = submission.score_run(SPANS, parse_all("mrr"), benchmark=partly, depths=[1])
    assert problems[-1].what.startswith("2 queries without a gold span: counted as zero")


def test_one_data_set_has_no_table_of_its_own() -> None:
    queries = {q: Query(q, "x") for q in ("q1", "q2", "q3")}
    payload, _ = submission.score_run(SPANS, benchmark=spanned(queries=queries))
    assert (payload["spans"]["by_dataset"], payload["spans"]["macro"]) == ({}, {})
    assert payload["spans"]["curve"]["by_dataset"] == {}
    assert len(report.span_tables(payload)) == 1


def test_nothing_is_counted_where_something_is_missing() -> None:
    whole = {"q1": [Hit("a", 1.0)]}
    for run, benchmark in ((whole, spanned()), (SPANS, spanned(snippets=())), (SPANS, bench())):
        payload, _ = submission.score_run(run, benchmark=benchmark)
        assert "spans" not in payload
        assert set(payload["provenance"]["definitions"].values()) == {"standard"}
    payload, _ = submission.score_run(SPANS, qrels=spanned().qrels)
    assert report.span_tables(payload) == []
    asked, _ = submission.score_run(SPANS, parse_all("mrr"), benchmark=spanned())
    assert list(asked["measures"]) == ["mrr"]


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ([Hit("a", 0.0)], "has no offsets"),
        (hits(("a", 5, 5)), "5 to 5 holds no character"),
        (hits(("a", 5, 101)), "passage ends at 101, but a has 100 characters"),
    ],
)
def test_offsets_that_cant_be_used_are_named(odd, message) -> None:
    run = {**SPANS, "q3": [*hits(("a", 0, 5)), *odd]}
    payload, problems = submission.score_run(run, benchmark=spanned())
    assert "spans" not in payload and "ndcg@10" in payload["measures"]
    assert [p.where for p in problems] == ["query 'q3': hits[1]", "measures of characters"]
    assert problems[0].what.startswith(message)
    with pytest.raises(InputError, match=r"query 'q3': hits\[1\]: " + message):
        submission.score_run(run, parse_all("span_recall@1"), benchmark=spanned())
    with pytest.raises(InputError, match=r"y: query 'q3': hits\[1\]: " + message):
        submission.compare_runs({"x": SPANS, "y": run}, parse("span_recall@1"), spanned())
    # Below the k of a run of ours, and for queries that nobody asked, it doesn't matter.
    payload, problems = submission.score_run({**run, "q9": odd}, benchmark=spanned(), made={"k": 1})
    assert payload["measures"]["span_recall@1"]["mean"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert [p.where for p in problems] == ["query 'q9'"]


def test_many_faults_are_one_problem() -> None:
    run = {"q1": [*hits(("a", 0, 5)), *([Hit("a", -1.0)] * 9)]}
    _, problems = submission.score_run(run, benchmark=spanned())
    assert str(problems[-2]) == "run: 4 more hits with offsets that can't be used"
    assert sum("hits[" in p.where for p in problems) == 5


def test_characters_need_gold_spans() -> None:
    for given in ({"benchmark": spanned(snippets=())}, {"qrels": spanned().qrels}):
        with pytest.raises(InputError, match=r"'span_f1@3'.*no gold spans"):
            submission.score_run(SPANS, parse_all("mrr span_f1@3"), **given)


def test_a_wrong_document_is_named_at_its_hit() -> None:
    run = {"q1": hits(("a", 0, 10), ("A", 0, 10000)), "q2": SPANS["q2"], "q3": SPANS["q2"]}
    payload, (problem,) = submission.score_run(run, parse_all("wrong_document_rate@2"), benchmark=spanned())
    assert problem.where == "query 'q1': hits[1]"
    assert problem.what.startswith("document 'A' is not in the corpus")
    assert payload["measures"]["wrong_document_rate@2"]["mean"] == 0.5


def test_the_first_k_hits_are_counted_then_excluded_documents_leave() -> None:
    queries = {"q1": Query("q1", "x", excluded=("b",))}
    run = {"q1": hits(("b", 0, 10), ("c", 0, 10), ("a", 0, 10))}
    one = spanned(queries=queries, qrels={"q1": {"a": 1}})
    measures = parse_all("span_recall@3 retrieved_characters@3")
    for depth, expected in ((2, [0.0, 10.0]), (3, [1.0, 20.0])):
        payload, _ = submission.score_run(run, measures, benchmark=one, made={"k": depth})
        assert [row["mean"] for row in payload["measures"].values()] == expected
    (pair,), _ = submission.compare_runs({"x": run, "y": run}, measures[0], one, depths={"x": 2})
    assert (pair.mean_a, pair.mean_b) == (0.0, 1.0)


def test_reference_measures_say_which_zeros_are_empty() -> None:
    partly = spanned(snippets=spanned().snippets[:1])
    payload, problems = submission.score_run(
        {**SPANS, "q3": SPANS["q2"]}, parse_all("reference_span_recall@1"), benchmark=partly
    )
    assert payload["measures"]["reference_span_recall@1"]["mean"] == pytest.approx(1 / 3)
    assert [str(p) for p in problems] == [
        "measure 'reference_span_recall@1': 2 queries without a gold span: counted as zero, as in the published code "
        "(span_… leaves them out)"
    ]


def test_places_are_lines_of_the_file(tmp_path) -> None:
    (tmp_path / "run.jsonl").write_text('\n{"query_id": "q 1", "hits": []}\n\n{"query_id": "q2", "hits": []}\n')
    place = submission.lines_of(tmp_path / "run.jsonl")
    assert place("q 1", 0, "d").endswith("run.jsonl:2: hits[0]")
    assert place("q2", 3, "d").endswith("run.jsonl:4: hits[3]")
    (tmp_path / "run.trec").write_text("q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\n")
    assert submission.lines_of(tmp_path / "run.trec")("q1", 0, "b").endswith("run.trec:2")
    (tmp_path / "odd.trec").write_text('{"q1 Q0 a 1 2.0 x\n{} Q0 b 2 1.0 x\n')
    place = submission.lines_of(tmp_path / "odd.trec")
    assert (place('{"q1', 0, "a"), place("{}", 0, "b")) == (f"{tmp_path}/odd.trec:1", f"{tmp_path}/odd.trec:2")


def test_comparing_names_faults_by_line() -> None:
    bare = {**SPANS, "q2": [Hit("a", 1.0)]}

    def place(query, i, document):
        return f"y.jsonl:7: hits[{i}]"

    with pytest.raises(InputError, match=r"^y\.jsonl:7: hits\[0\]: has no offsets"):
        submission.compare_runs({"x": SPANS, "y": bare}, parse("span_recall@1"), spanned(), places={"y": place})
    strange = {**SPANS, "q2": [Hit("zzz", 1.0)]}
    _, problems = submission.compare_runs({"x": SPANS, "y": strange}, parse("mrr"), spanned(), places={"y": place})
    assert "y: y.jsonl:7: hits[0]: document 'zzz' is not in the corpus: not relevant" in map(str, problems)
