"""Plain lists of ids, as the evaluate module is given them."""

import pytest

from canlegalrag.errors import InputError
from canlegalrag.measures.lists import score_lists


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
        ({"predictions": [["a", 1]], "references": [["1"]]}, "id 1 is not a string"),
        ({"predictions": [["a"]], "references": [["a", None]]}, "id None is not a string"),
        ({"predictions": [["a"]], "references": [["a"]], "family": "other"}, "'other' is not known"),
        ({"predictions": [["a"]], "references": [["a"]], "k": 0}, "cut-off"),
        ({"predictions": [["a"]], "references": [["a"]], "k": 5, "measures": "mrr"}, "beside measures"),
        ({"predictions": [["a"]], "references": [["a"]], "family": "paper", "measures": "mrr"}, "not of the family"),
    ],
)
def test_misuse_is_explained(arguments, message):
    with pytest.raises(InputError, match=message):
        score_lists(**arguments)
