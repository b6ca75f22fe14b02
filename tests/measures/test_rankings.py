"""What a run or qrels may look like: each oddity has one outcome, and each error names its place."""

import math
import re
from decimal import Decimal

import numpy as np
import pytest

from canlegalrag.errors import InputError
from canlegalrag.measures.retrieval import per_query
from canlegalrag.types import Hit

BOTH = ["recall@10", "paper_recall@10"]
GOLD = {"q1": {"a": 1}}


@pytest.mark.parametrize("family", BOTH)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "1.5", None, 10**400, [1.0]])
@pytest.mark.parametrize("as_hits", [True, False])
def test_a_score_that_is_no_finite_number_is_refused(family, bad, as_hits):
    run = {"q1": [Hit("b", 1.0), Hit("a", bad)]} if as_hits else {"q1": {"b": 1.0, "a": bad}}
    with pytest.raises(InputError, match=r"run, query 'q1', document 'a'.*finite number"):
        per_query(GOLD, run, [family])


@pytest.mark.parametrize("family", BOTH)
@pytest.mark.parametrize("scores", [(1.0, math.nan), (math.nan, 1.0)])
def test_a_nan_among_the_passages_of_one_document_does_not_hide(family, scores):
    run = {"q1": [Hit("a", score) for score in scores]}
    with pytest.raises(InputError, match="query 'q1', document 'a'"):
        per_query(GOLD, run, [family])


@pytest.mark.parametrize("family", BOTH)
@pytest.mark.parametrize("run", [{"q1": {7: 1.0}}, {"q1": [Hit(7, 1.0)]}, {"q1": [Hit("a", 2.0), Hit(7, 1.0)]}])
def test_an_id_that_is_not_a_string_is_refused(family, run):
    with pytest.raises(InputError, match="document 7: the id is not a string"):
        per_query(GOLD, run, [family])


@pytest.mark.parametrize("judged", [1, 10])
def test_ids_of_two_kinds_in_one_tie_are_refused(judged):
    docs = {**{f"d{i}": 1.0 for i in range(judged)}, 7: 1.0}
    with pytest.raises(InputError, match="document 7: the id is not a string"):
        per_query({"q1": {f"d{i}": 1 for i in range(judged)}}, {"q1": docs}, ["mrr"])


@pytest.mark.parametrize("family", BOTH)
@pytest.mark.parametrize("ranking", ["a b c", 7, ["a", "b"], [("a", 1.0)], iter([Hit("a", 1.0)])])
def test_a_ranking_of_another_kind_is_refused(family, ranking):
    with pytest.raises(InputError, match=r"query 'q1'.*is not a ranking.*sequence of Hit"):
        per_query(GOLD, {"q1": ranking}, [family])


@pytest.mark.parametrize("family", BOTH)
def test_queries_and_judgements_of_another_kind_are_refused(family):
    with pytest.raises(InputError, match="run, query 1: the id is not a string"):
        per_query(GOLD, {1: {"a": 1.0}}, [family])
    with pytest.raises(InputError, match="qrels, query 1: the id is not a string"):
        per_query({1: {"a": 1}}, {}, [family])
    with pytest.raises(InputError, match="qrels, query 'q1': is a list"):
        per_query({"q1": ["a"]}, {}, [family])
    with pytest.raises(InputError, match="run: is a list"):
        per_query(GOLD, [], [family])
    with pytest.raises(InputError, match=r"qrels, query 'q1', document 'a': grade 0\.5 is no whole number"):
        per_query({"q1": {"a": 0.5}}, {}, [family])
    with pytest.raises(InputError, match="qrels, query 'q1', document 'a': nan is not a finite"):
        per_query({"q1": {"a": math.nan}}, {}, [family])
    with pytest.raises(InputError, match="qrels, query 'q1', document 5: the id"):
        per_query({"q1": {5: 1}}, {}, [family])


GRADES = [
    2**31,
    -(2**31),
    9999999999999999999,
    10000000000000000000,
    1e300,
    -1e300,
    np.int64(-(2**63)),
    Decimal(10**20),
]


@pytest.mark.parametrize("family", [*BOTH, "mrr", "ndcg@10"])
@pytest.mark.parametrize("grade", GRADES, ids=str)
def test_a_grade_beyond_the_range_is_refused(family, grade):
    with pytest.raises(InputError, match=r"qrels, query 'q2', document 'b': grade .* is beyond ±2147483647"):
        per_query({"q1": {"a": 1}, "q2": {"a": 1, "b": grade}}, {"q1": {"a": 1.0}}, [family])


@pytest.mark.parametrize("family", [*BOTH, "ndcg@10"])
def test_the_greatest_and_the_least_grade_count(family):
    qrels = {"q1": {"a": 2**31 - 1, "b": -(2**31 - 1)}}
    assert per_query(qrels, {"q1": {"a": 2.0, "b": 1.0}}, [family])[family]["q1"] == 1.0
    assert per_query(qrels, {"q1": {"b": 1.0}}, [family])[family]["q1"] == 0.0


@pytest.mark.parametrize("family", BOTH)
@pytest.mark.parametrize("half", ["\ud800", "a\udfff", "\ude00\ud83d"])
def test_half_a_surrogate_pair_is_refused_wherever_it_stands(family, half):
    # No file, and no Arrow column, can hold such an id: the error comes here, with the id readable.
    shown = re.escape(repr(half))
    for run in ({"q1": {"é": 2.0, half: 1.0}}, {"q1": [Hit("é", 2.0), Hit(half, 1.0)]}):
        with pytest.raises(InputError, match=f"run, query 'q1', document {shown}: the id holds half"):
            per_query(GOLD, run, [family])
    with pytest.raises(InputError, match=f"qrels, query 'q1', document {shown}: the id holds half"):
        per_query({"q1": {"a": 1, half: 0}}, {}, [family])
    with pytest.raises(InputError, match=f"qrels, query {shown}: the id holds half"):
        per_query({half: {"a": 1}}, {}, [family])
    with pytest.raises(InputError, match=f"run, query {shown}: the id holds half"):
        per_query(GOLD, {half: {"a": 1.0}}, [family])
    assert per_query({"q1": {"\U0001f600": 1}}, {"q1": {"\U0001f600": 1.0}}, [family])[family]["q1"] == 1.0


@pytest.mark.parametrize("family", BOTH)
def test_every_id_of_a_ranking_is_looked_at(family):
    with pytest.raises(InputError, match="query 'q1', document 7: the id is not a string"):
        per_query(GOLD, {"q1": {"a": 3.0, "b": 2.0, 7: 1.0}}, [family])


def test_numbers_of_any_kind_are_read():
    run = {"q1": {"x": np.float32(0.5), "y": Decimal("0.25"), "a": True, "z": np.int64(0)}}
    assert per_query({"q1": {"a": np.int64(1)}}, run, ["mrr"])["mrr"]["q1"] == 1.0


@pytest.mark.parametrize("family", BOTH)
def test_ids_compare_exactly(family):
    # Another case and another normal form are other documents and other queries; a separate check points at them.
    composed, decomposed = "qu\u00e9bec", "que\u0301bec"
    qrels = {"q1": {composed: 1}, "q2": {"scc-65": 1}, composed: {"a": 1}}
    run = {"q1": {decomposed: 1.0}, "q2": {"SCC-65": 1.0}, decomposed: {"a": 1.0}}
    assert per_query(qrels, run, [family])[family] == {"q1": 0.0, "q2": 0.0, composed: 0.0}


def test_the_best_passage_of_a_document_counts():
    # By its first passage "a" would be last, by its best it is first.
    run = {"q1": [Hit("a", 0.1), Hit("b", 0.5), Hit("a", 0.9), Hit("a", 0.2)]}
    assert per_query(GOLD, run, ["mrr"])["mrr"]["q1"] == 1.0


def test_a_query_that_the_benchmark_lacks_is_not_read():
    assert per_query(GOLD, {"q1": {"a": 1.0}, "other": {"b": math.nan}}, ["mrr"]) == {"mrr": {"q1": 1.0}}


@pytest.mark.parametrize("family", BOTH)
def test_nothing_to_score(family):
    assert per_query({}, {}, [family]) == {family: {}}
    assert per_query({}, {"q": {"a": 1.0}}, [family]) == {family: {}}
    assert math.isnan(per_query({"q": {}}, {"q": {"a": 1.0}}, [family])[family]["q"])
