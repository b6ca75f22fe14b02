"""Shares: means, pooled counts, and the names of measures."""

import math

import pytest

from canlegalrag.errors import InputError
from canlegalrag.measures.retrieval import group, score
from canlegalrag.measures.shares import Register, choose, enter, summarise, total

REGISTER: Register = {}


@enter(REGISTER, "half")
def half(_: object) -> tuple[int, int]:
    return 1, 2


@enter(REGISTER, "gold", needs=["qrels"])
def gold(_: object) -> tuple[int, int]:
    return 0, 1


def test_means_skip_what_is_undefined_and_pools_weigh_each_thing_the_same():
    shares = {"half": {"q1": (1, 2), "q2": (0, 0), "q3": (4, 4)}}
    scores = summarise(shares, blocks={"q1": "b"}, resamples=100)
    assert scores.values["half"] == 0.75 and (scores.n["half"], scores.skipped["half"]) == (2, 1)
    assert math.isnan(scores.per_query["half"]["q2"])
    assert math.isnan(scores.interval["half"][0]), "two blocks are too few"
    assert total(shares) == {"half": (5, 6)}
    parts = group(scores, {"q1": "x", "q3": "x"})
    assert parts["x"].values["half"] == 0.75 and math.isnan(parts[""].values["half"])


def test_intervals_are_those_of_the_retrieval_measures():
    qrels = {f"q{i}": {"a": 1} for i in range(9)}
    run = {q: {"a": 1.0} for i, q in enumerate(qrels) if i % 3}
    blocks = {q: str(i // 2) for i, q in enumerate(qrels)}
    theirs = score(qrels, run, "recall@1", blocks=blocks, resamples=200, seed=3)
    shares = {"r": {q: (int(q in run), 1) for q in qrels}}
    ours = summarise(shares, blocks=blocks, resamples=200, seed=3)
    assert ours.values["r"] == theirs.values["recall@1"] and ours.interval["r"] == theirs.interval["recall@1"]


def test_no_queries():
    scores = summarise({"half": {}})
    assert math.isnan(scores.values["half"]) and (scores.n["half"], scores.skipped["half"]) == (0, 0)
    assert total({"half": {}}) == {"half": (0, 0)}


def test_choosing():
    assert choose(REGISTER, None, ()) == ["half"]
    assert choose(REGISTER, None, {"qrels"}) == ["half", "gold"]
    assert choose(REGISTER, "gold, half gold", {"qrels"}) == ["gold", "half"]
    for names, given, message in (
        ("golf", (), "measure 'golf': is not known .did you mean gold. known: half gold"),
        (["gold"], (), "measure 'gold': needs qrels"),
        ("", (), "measures: none is named"),
        ([1], (), "measure 1: is not known"),
    ):
        with pytest.raises(InputError, match=message):
            choose(REGISTER, names, given)
