"""Answers to visitors: the pipeline's own, judged for what can be judged."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from canlegalrag import backends, pipeline
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.exploring import Explorer
from canlegalrag.records import read_answers, read_verdicts


def test_an_answer_is_that_of_the_pipeline(sample: Explorer, tmp_path: Path) -> None:
    found = sample.search("", query_id="b1-q1")
    run = {"b1-q1": list(found.ranking)}
    b = sample.benchmark
    one = Benchmark(b.name, b.documents, {"b1-q1": b.queries["b1-q1"]}, b.qrels, b.answers, claims=b.claims)
    for condition in ("pipeline", "oracle"):
        answer, judged = sample.answer(found, condition)
        out = tmp_path / condition
        out.mkdir()
        generator = backends.generator("offline/extractive")
        pipeline.generate(one, run, generator, out / "a.jsonl", condition=condition, tokens=24_000, max_tokens=1_024)
        answers = read_answers(out / "a.jsonl", b.documents)
        judge, decomposer = backends.judge("offline/lexical"), backends.decomposer("offline/sentences")
        pipeline.judge(one, answers, judge, decomposer, out / "v.jsonl")
        assert (answer.text, answer.passages) == (answers["b1-q1"].text, answers["b1-q1"].passages)
        assert judged == read_verdicts(out / "v.jsonl")["b1-q1"]
        assert answer.condition == condition
    gold = {doc for doc, grade in b.qrels["b1-q1"].items() if grade > 0}
    assert {p.doc_id for p in answer.passages} <= gold


def test_ones_own_question_is_judged_by_its_evidence_alone(sample: Explorer) -> None:
    found = sample.search("My landlord keeps my deposit. May he?", province="British Columbia", k=3)
    answer, judged = sample.answer(found)
    assert judged.asked == ("groundedness",)
    assert judged.reference is None
    assert judged.claims
    assert {p.doc_id for p in answer.passages} <= {seen.document.id for seen in found.hits}
    with pytest.raises(InputError, match="oracle"):
        sample.answer(found, "oracle")


def test_what_has_no_answer(sample: Explorer) -> None:
    with pytest.raises(InputError, match="no word"):
        sample.answer(sample.search("🙂"))
    with pytest.raises(InputError, match="not known"):
        sample.answer(sample.search("deposit"), "guess")


def test_nothing_found_is_answered_all_the_same(hand_made: Explorer) -> None:
    answer, judged = hand_made.answer(hand_made.search("zzyzx"))
    assert answer.passages == ()
    assert judged.abstained or judged.claims is not None


def test_visitors_at_once(sample: Explorer) -> None:
    founds = [sample.search("", query_id=q) for q in ("b1-q1", "b2-q1", "b3-q1", "b4-q1")]
    alone = [sample.answer(found)[1] for found in founds]
    fresh = Explorer(sample.benchmark)  # no model is loaded yet
    with ThreadPoolExecutor(4) as pool:
        assert [judged for _, judged in pool.map(fresh.answer, founds)] == alone


def test_a_model_that_does_not_exist_is_an_error_with_a_name(sample: Explorer) -> None:
    explorer = Explorer(sample.benchmark, generator="offline/none")
    with pytest.raises(InputError, match="offline/none"):
        explorer.answer(sample.search("deposit"))
