"""The paper's family: by hand, the worked cases of the published code, and its formulas written out plainly."""

import math
import random

import pytest

from canlegalrag.measures.lists import score_lists
from canlegalrag.measures.retrieval import MEASURES, parse, per_query
from canlegalrag.types import Hit

PAPER = [name for name, d in MEASURES.items() if d.family == "paper"]


def test_every_score_of_the_hand_worked_benchmark(hand):
    wanted = [name for name in hand.expected if name.startswith("paper_")]
    assert {parse(name).name for name in wanted} == set(PAPER)
    values = per_query(hand.qrels, hand.run, wanted)
    for name in wanted:
        assert values[name] == pytest.approx(hand.expected[name], abs=1e-15, nan_ok=True), name


def test_three_passages_of_one_of_three():
    # Gold A, B, C; passages A, A, A. Standard: A at rank 1, ideal 1 + 1/log2 3 + 1/log2 4.
    found = score_lists([list("AAA")], [list("ABC")], measures="paper_ndcg@3 ndcg@3 paper_recall@3 recall@3")
    assert found["paper_ndcg@3"] == 1.0
    assert found["ndcg@3"] == pytest.approx(0.469, abs=5e-4)
    assert found["paper_recall@3"] == 1.0  # 3 passages / 3
    assert found["recall@3"] == pytest.approx(1 / 3)


def test_ten_passages_of_one_of_six():
    names = "paper_ndcg@10 ndcg@10 paper_precision@10 precision@10"
    found = score_lists([["A"] * 10], [list("ABCDEF")], measures=names)
    assert found["paper_ndcg@10"] == 1.0
    assert found["ndcg@10"] == pytest.approx(0.3026, abs=5e-5)
    assert found["paper_precision@10"] == 1.0
    assert found["precision@10"] == pytest.approx(0.1)


def test_two_documents_fill_the_first_ten_passages():
    found = score_lists([list("AAAAAABBBBCDEF")], [list("ABCDEF")], measures="paper_doc_recall@10 recall@10")
    assert found["paper_doc_recall@10"] == pytest.approx(2 / 6)
    assert found["recall@10"] == 1.0


def plainly(passages, gold, k):
    """The definitions of the paper, one query at a time."""
    top = passages[:k]
    distinct = sorted(set(top), key=top.index)
    found = [doc for doc in distinct if doc in gold]
    gain = sum(1 / math.log2(distinct.index(doc) + 2) for doc in found)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(distinct), len(gold)) + 1))
    order = sorted(set(passages), key=passages.index)
    return {
        f"paper_ndcg@{k}": gain / ideal if ideal else 0.0,
        f"paper_recall@{k}": sum(doc in gold for doc in top) / len(gold),
        f"paper_doc_recall@{k}": len(found) / len(gold),
        f"paper_precision@{k}": len(found) / len(distinct) if distinct else 0.0,
        f"paper_hit@{k}": float(bool(found)),
        "paper_mrr": next((1 / place for place, doc in enumerate(order, 1) if doc in gold), 0.0),
    }


def test_equals_the_definitions_bit_for_bit_on_random_lists():
    rng = random.Random(7)
    for _ in range(300):
        pool = [f"d{i}" for i in range(rng.randint(1, 12))]
        run = {f"q{i}": [Hit(rng.choice(pool), 1.0) for _ in range(rng.randint(0, 30))] for i in range(5)}
        qrels = {q: {doc: rng.randint(0, 2) for doc in rng.sample(pool, rng.randint(1, len(pool)))} for q in run}
        for k in (1, 5, 10, 100):
            names = ["paper_mrr"] + [f"{name}@{k}" for name in PAPER if name != "paper_mrr"]
            values = per_query(qrels, run, names)
            for query, hits in run.items():
                gold = {doc for doc, grade in qrels[query].items() if grade > 0}
                if gold:
                    expected = plainly([hit.doc_id for hit in hits], gold, k)
                    assert {name: values[name][query] for name in names} == expected
                else:
                    assert all(math.isnan(values[name][query]) for name in names)


def test_the_order_is_that_of_the_list_whatever_the_scores():
    run = {"q": [Hit("x", 0.1), Hit("a", 0.9)]}
    values = per_query({"q": {"a": 1}}, run, ["paper_mrr", "mrr"])
    assert values["paper_mrr"]["q"] == 0.5
    assert values["mrr"]["q"] == 1.0


def test_a_mapping_is_ranked_by_its_scores():
    # No order but the scores: "b" and "c" tie, the greater id is first.
    run = {"q": {"a": 0.1, "b": 0.9, "c": 0.9}}
    assert per_query({"q": {"b": 1}}, run, ["paper_mrr"])["paper_mrr"]["q"] == 0.5
    assert per_query({"q": {"c": 1}}, run, ["paper_mrr"])["paper_mrr"]["q"] == 1.0


@pytest.mark.parametrize("name", PAPER)
def test_a_forgotten_query_and_an_empty_ranking_score_zero(name):
    text = name if MEASURES[name].cutoff == "none" else f"{name}@5"
    values = per_query({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": []}, [text])[text]
    assert values == {"q1": 0.0, "q2": 0.0}
