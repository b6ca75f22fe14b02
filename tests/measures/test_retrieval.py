"""Means, counts, intervals and groups."""

import math
import random

import numpy as np
import pytest

from canlegalrag.errors import InputError
from canlegalrag.measures.retrieval import MEASURES, group, per_query, score
from canlegalrag.measures.stats import block_bootstrap


def test_means_counts_and_skips(hand):
    scores = score(hand.qrels, hand.run, list(hand.expected))
    for name, row in hand.expected.items():
        defined = [value for value in row.values() if not math.isnan(value)]
        assert scores.values[name] == pytest.approx(sum(defined) / len(defined)), name
        assert (scores.n[name], scores.skipped[name]) == ((4, 0) if name == "judged@3" else (3, 1)), name
        assert np.isnan(scores.interval[name]).all(), "two blocks are too few"


def test_a_forgotten_query_stays_in_the_mean():
    scores = score({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}, "mrr")
    assert (scores.values["mrr"], scores.n["mrr"]) == (0.5, 2)


def test_the_interval_is_that_of_the_blocks():
    qrels = {f"q{i}": {"a": 1} for i in range(9)} | {"q9": {"a": 0}}
    run = {q: {"b": 2.0, "a": 1.0 if i % 2 else 3.0} for i, q in enumerate(qrels)}  # ranks 1, 2, 1, 2 …
    blocks = {q: f"s{i // 2}" for i, q in enumerate(qrels)}
    scores = score(qrels, run, ["mrr"], blocks=blocks, resamples=500, seed=3)
    expected = block_bootstrap([1.0, 0.5] * 4 + [1.0, math.nan], list(blocks.values()), 500, 3)
    assert scores.interval["mrr"] == expected and expected[0] < expected[1]
    assert score(qrels, run, ["mrr"], blocks=blocks, resamples=500, seed=3).interval == scores.interval


def test_queries_without_a_block_are_blocks_of_their_own():
    qrels = {f"q{i}": {"a": 1} for i in range(6)}
    run = {"q0": {"a": 1.0}, "q3": {"a": 1.0}}
    alone = score(qrels, run, "mrr", resamples=300).interval
    assert score(qrels, run, "mrr", resamples=300, blocks={}).interval == alone
    assert score(qrels, run, "mrr", resamples=300, blocks=dict.fromkeys(qrels, "")).interval == alone
    one = score(qrels, run, "mrr", resamples=300, blocks=dict.fromkeys(qrels, "one")).interval["mrr"]
    assert one == pytest.approx((math.nan, math.nan), nan_ok=True)


def test_no_queries_at_all():
    scores = score({}, {}, "mrr ndcg@10")
    assert math.isnan(scores.values["mrr"]) and math.isnan(scores.interval["ndcg@10"][0])
    assert scores.n == scores.skipped == {"mrr": 0, "ndcg@10": 0}
    assert group(scores, {}) == {}


def test_groups_by_any_field(hand):
    scores = score(hand.qrels, hand.run, "mrr judged@3", resamples=100)
    parts = group(scores, {query.id: query.province for query in hand.queries}, resamples=100)
    assert list(parts) == ["Manitoba", "Yukon"]
    assert parts["Manitoba"].values["mrr"] == 0.75
    assert (parts["Yukon"].values["mrr"], parts["Yukon"].n["mrr"], parts["Yukon"].skipped["mrr"]) == (0.0, 1, 1)
    assert parts["Yukon"].per_query["judged@3"] == {"q3": 0.0, "q4": 0.0}


def test_queries_without_a_label_are_a_group(hand):
    scores = score(hand.qrels, hand.run, "mrr", resamples=10)
    assert {label: part.n["mrr"] for label, part in group(scores, {"q1": "BC"}, resamples=10).items()} == {
        "BC": 1,
        "": 2,
    }


def test_characters_are_counted_elsewhere():
    with pytest.raises(InputError, match=r"span_recall@5.*counts characters.*measures\.spans"):
        per_query({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "mrr span_recall@5")


@pytest.mark.parametrize("name", sorted(name for name, d in MEASURES.items() if d.family != "span"))
def test_every_measure_keeps_its_range_and_ignores_the_order_of_queries(name):
    text = f"{name}@5" if MEASURES[name].cutoff != "none" else name
    rng = random.Random(name)
    pool = [f"d{i}" for i in range(12)]
    qrels = {f"q{i}": {doc: rng.randint(0, 3) for doc in rng.sample(pool, 6)} for i in range(40)}
    run = {query: {doc: rng.random() for doc in rng.sample(pool, rng.randint(0, 12))} for query in qrels}
    values = per_query(qrels, run, [text])[text]
    assert all(math.isnan(value) or 0 <= value <= 1 for value in values.values())
    turned = per_query(dict(reversed(qrels.items())), dict(reversed(run.items())), [text])[text]
    assert turned == pytest.approx(values, nan_ok=True)
