"""Plain lists of ids, as the evaluate module is given them."""

import random

import numpy as np
import pytest

from canlegalrag.errors import InputError
from canlegalrag.measures.lists import score_lists
from canlegalrag.measures.retrieval import score


def test_the_usual_measures_of_both_families():
    found = score_lists([["a", "x", "b"], ["y"]], [["a", "b"], ["c"]], k=2)
    # Query 1: a at rank 1, b at rank 3; query 2: nothing. ndcg@2 of query 1 = 1 / (1 + 1 / log2 3).
    assert found == {
        "ndcg@2": pytest.approx(0.6131471927654584 / 2),
        "recall@2": 0.25,
        "precision@2": 0.25,
        "hit@2": 0.5,
        "mrr": 0.5,
        "map": pytest.approx((1 + 2 / 3) / 2 / 2),
        "n": 2,
        "skipped": 0,
    }
    paper = score_lists([["a", "a", "b"]], [["a", "b"]], family="paper")
    assert list(paper) == [
        *(f"paper_{name}@10" for name in ("ndcg", "recall", "doc_recall", "precision", "hit")),
        *("paper_mrr", "n", "skipped"),
    ]
    assert paper["paper_recall@10"] == 1.5


def test_all_values_are_plain_python_numbers():
    found = score_lists([["a"]], [["a"]])
    assert {type(value) for name, value in found.items() if name not in ("n", "skipped")} == {float}
    assert type(found["n"]) is type(found["skipped"]) is int


def test_a_query_without_references_is_skipped_and_nothing_defined_is_none():
    assert score_lists([["a"], ["a"]], [["a"], []], measures="mrr") == {"mrr": 1.0, "n": 1, "skipped": 1}
    assert score_lists([["a"]], [[]], measures="mrr ndcg@3") == {"mrr": None, "ndcg@3": None, "n": 0, "skipped": 1}
    assert score_lists([], [], measures="mrr") == {"mrr": None, "n": 0, "skipped": 0}


def test_a_measure_that_runs_over_other_queries_says_so():
    # judged@5 is (1 + 0) / 2: defined for both queries. Nothing is relevant to the second: mrr is that of the first.
    assert score_lists([["a"], ["b"]], [["a"], []], measures="mrr judged@5") == {
        **{"mrr": 1.0, "judged@5": 0.5, "n": 1, "skipped": 1},
        **{"judged@5_n": 2, "judged@5_skipped": 0},
    }
    # Alone, or where every query has a relevant document, nothing differs and nothing is added.
    assert score_lists([["a"], ["b"]], [["a"], []], measures="judged@5") == {"judged@5": 0.5, "n": 2, "skipped": 0}
    assert list(score_lists([["a"]], [["a"]], measures="mrr judged@5")) == ["mrr", "judged@5", "n", "skipped"]


@pytest.mark.parametrize("seed", range(20))
def test_means_and_counts_are_those_of_score(seed):
    rng = random.Random(seed)
    found = [rng.sample("abcdef", rng.randint(0, 6)) for _ in range(12)]
    gold = [rng.sample("abcdef", rng.randint(0, 3)) for _ in found]
    levels = [[rng.choice((-1, 0, 1, 2)) for _ in row] for row in gold]
    gold[0], levels[0] = ["a", "b"], [0, 1]  # bpref needs a document judged irrelevant
    measures = "judged@3 ndcg@3 ndcg mrr paper_ndcg@3 paper_mrr judged@1 bpref"
    ours = score_lists(found, gold, levels, measures=measures)
    qrels = {f"q{i}": dict(zip(row, levels[i], strict=True)) for i, row in enumerate(gold)}
    run = {f"q{i}": {doc: -float(at) for at, doc in enumerate(row)} for i, row in enumerate(found)}
    theirs = score(qrels, run, measures, resamples=1)
    for name, mean in theirs.values.items():
        assert ours[name] == pytest.approx(mean), name
        assert ours.get(f"{name}_n", ours["n"]) == theirs.n[name], name
        assert ours.get(f"{name}_skipped", ours["skipped"]) == theirs.skipped[name], name


def test_lists_tuples_and_arrays_are_lists():
    rows = (np.array(["a", "b"]), ("a",))
    assert score_lists(rows, rows, (np.array([2, 1]), (1,)), measures="ndcg") == {"ndcg": 1.0, "n": 2, "skipped": 0}


def test_grades():
    # DCG = 1 + 3 / log2 3, ideal = 3 + 1 / log2 3.
    found = score_lists([["a", "b"]], [["a", "b", "c"]], [[1, 3, 0]], measures="ndcg@10 bpref recall@10")
    assert found["ndcg@10"] == pytest.approx(0.7967075809905066)
    assert found["recall@10"] == 1.0


def test_a_repeated_reference_counts_once_unless_its_grades_differ():
    assert score_lists([["a"]], [["a", "a"]], measures="recall@1")["recall@1"] == 1.0
    with pytest.raises(InputError, match="references of query 0: 'a' has two grades"):
        score_lists([["a"]], [["a", "a"]], [[1, 2]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": [["a"]], "references": []}, "1 rankings for 0 lists"),
        ({"predictions": [["a"]], "references": [["a"]], "grades": []}, "0 lists for 1"),
        ({"predictions": [["a"]], "references": [["a"]], "grades": [[]]}, "0 for 1 references"),
        ({"predictions": ["abc"], "references": [["a"]]}, "a str stands where"),
        ({"predictions": [["a"]], "references": ["abc"]}, "a str stands where"),
        ({"predictions": [["a"]], "references": [{"a": 2}]}, "references of query 0: a dict stands where"),
        ({"predictions": [{"a"}], "references": [["a"]]}, "predictions of query 0: a set stands where"),
        ({"predictions": [["a", 1]], "references": [["1"]]}, "predictions of query 0: 1 is not a string"),
        ({"predictions": [["a"]], "references": [["a", None]]}, "references of query 0: None is not a string"),
        ({"predictions": [["a"]], "references": [{"a"}]}, "references of query 0: a set stands where"),
        ({"predictions": None, "references": [["a"]]}, "predictions: None stands where"),
        ({"predictions": [["a"]], "references": None}, "references: None stands where"),
        ({"predictions": 7, "references": [["a"]]}, "predictions: a int stands where"),
        ({"predictions": {"q": ["a"]}, "references": [["a"]]}, "predictions: a dict stands where"),
        ({"predictions": "a", "references": "a"}, "predictions: a str stands where"),
        ({"predictions": iter([["a"]]), "references": [["a"]]}, "predictions: a list_iterator stands where"),
        ({"predictions": [["a"]], "references": [["b"], None]}, "1 rankings for 2 lists"),
        ({"predictions": [["a"], None], "references": [["a"], ["b"]]}, "predictions of query 1: None stands where"),
        ({"predictions": [["a"]], "references": [None]}, "references of query 0: None stands where"),
        (
            {"predictions": [(x for x in "a")], "references": [["a"]]},
            "predictions of query 0: a generator stands where",
        ),
        ({"predictions": [["é", "a\ud800"]], "references": [["a"]]}, r"query 0: 'a\\ud800' holds half a surrogate"),
        ({"predictions": [["a"]], "references": [["\ude00"]]}, r"references of query 0: '\\ude00' holds half"),
        ({"predictions": [["a"]], "references": [["a"]], "grades": 5}, "grades: a int stands where"),
        ({"predictions": [["a"]], "references": [["a"]], "grades": [None]}, "grades of query 0: None stands where"),
        ({"predictions": [["a"]], "references": [["a"]], "grades": [{"a": 1}]}, "grades of query 0: a dict stands"),
        (
            {"predictions": [["a"]], "references": [["a"]], "grades": [["1"]]},
            "query '0', document 'a': '1' is not a fin",
        ),
        (
            {"predictions": [["a"]], "references": [["a"]], "grades": [[1e300]]},
            r"document 'a': grade 1e\+300 is beyond",
        ),
        ({"predictions": [["a"]], "references": [["a"]], "measures": 5}, "measures: a int names none"),
        ({"predictions": [["a"]], "references": [["a"]], "family": ["paper"]}, "is not known"),
        ({"predictions": [["a"]], "references": [["a"]], "family": "other"}, "'other' is not known"),
        ({"predictions": [["a"]], "references": [["a"]], "k": 0}, "cut-off"),
        ({"predictions": [["a"]], "references": [["a"]], "k": 5, "measures": "mrr"}, "beside measures"),
        ({"predictions": [["a"]], "references": [["a"]], "family": "paper", "measures": "mrr"}, "not of the family"),
    ],
)
def test_misuse_is_explained(arguments, message):
    with pytest.raises(InputError, match=message):
        score_lists(**arguments)
