"""The audit: everything that scoring decides about a run is counted."""

import dataclasses
import json

import pytest

from canlegalrag.errors import InputError
from canlegalrag.measures.retrieval import audit
from canlegalrag.types import Hit


def test_the_hand_worked_run(hand):
    found = audit(hand.qrels, hand.run, k=3)
    # Documents at ranks 1 to 3: d3, d1, d5 (unjudged); d4; d6 (unjudged).
    assert dataclasses.asdict(found) == {
        "queries": 4,
        "hits": 7,
        "repeats": 1,
        "ties": 1,
        "tied_queries": 1,
        "unordered": 0,
        "missing": ("q3",),
        "empty": (),
        "unknown": ("q9",),
        "no_relevant": ("q4",),
        "unjudged": pytest.approx(2 / 5),
        "k": 3,
    }


def test_order_empty_rankings_and_float32():
    run = {"q1": [Hit("a", 0.1), Hit("b", 0.2)], "q2": [], "q3": {"a": 0.1, "b": 0.2}, "q4": {"a": 1.0, "b": 1 + 1e-12}}
    found = audit({query: {"a": 1} for query in run}, run)
    assert found.unordered == 1  # q1 alone: a mapping has no order
    assert found.empty == ("q2",)
    assert found.tied_queries == found.ties == 1  # q4's scores are one float32


def test_nothing_retrieved():
    for qrels, run in (({"q": {"a": 1}}, {}), ({"q": {"a": 1}}, {"q": []}), ({}, {})):
        found = audit(qrels, run)
        assert found.unjudged is None and found.queries == len(qrels)
        # As reports write it: undefined is null.
        assert json.loads(json.dumps(dataclasses.asdict(found), allow_nan=False))["unjudged"] is None
    assert audit({"q": {"a": 1}}, {"q": {"a": 1.0}}).unjudged == 0.0


def test_ids_are_all_looked_at():
    with pytest.raises(InputError, match="document 7"):
        audit({"q": {"a": 1}}, {"q": {"a": 2.0, 7: 1.0}})
