"""Fusion by rank, hand-worked and against brute force; pools for rerankers."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.protocols import Retriever
from canlegalrag.retrievers.bm25 import BM25
from canlegalrag.retrievers.fused import Fused, Union
from canlegalrag.types import Document, Hit, Passage


class Fixed:
    """Gives the same lists for the same queries: the k best and then further documents, as every retriever does."""

    def __init__(self, **lists):
        self.lists, self.asked = lists, []

    def search(self, queries, k):
        from canlegalrag.retrievers._passages import cut

        self.asked.append(k)
        return [cut(self.lists[query], k) for query in queries]


def docs(ids):
    return [Hit(i, 10.0 - n) for n, i in enumerate(ids.split())]


def passages(names, length=10):
    """`a0 b2`: the first passage of a, the third of b."""
    hits = []
    for n, name in enumerate(names.split()):
        index = int(name[1:])
        hits.append(Hit(name[0], 10.0 - n, Passage(name[0], index, index * length, (index + 1) * length, name)))
    return hits


def named(hits):
    return " ".join(hit.passage.text if hit.passage else hit.doc_id for hit in hits)


def test_hand_worked():
    """a: 1/61 + 1/62; b: 1/62 + 1/61, the same, after a as in the first list; c 1/63; d 1/63: c first."""
    fused = Fused([Fixed(q=docs("a b c")), Fixed(q=docs("b a d"))])
    assert isinstance(fused, Retriever)
    [hits] = fused.search(["q"], 10)
    assert named(hits) == "a b c d"
    assert [h.score for h in hits] == pytest.approx([1 / 61 + 1 / 62] * 2 + [1 / 63] * 2, abs=1e-15)
    assert hits[0].score == hits[1].score


def test_the_constant_of_the_published_code_is_ours_less_one():
    published: dict[str, float] = {}
    for ranking in ("abc", "cda"):
        for rank, name in enumerate(ranking):
            published[name] = published.get(name, 0) + 1 / (rank + 60)
    [hits] = Fused([Fixed(q=docs("a b c")), Fixed(q=docs("c d a"))], c=59).search(["q"], 10)
    assert {h.doc_id: h.score for h in hits} == pytest.approx(published, abs=1e-15)


def test_weights_and_depth():
    first, second = Fixed(q=docs("a b c d")), Fixed(q=docs("d c b a"))
    [hits] = Fused([first, second], weights=[1, 3], depth=3).search(["q"], 1)
    assert named(hits) == "c" and first.asked == second.asked == [3]
    assert hits[0].score == pytest.approx(1 / 63 + 3 / 62)  # d has 3 / 61: the first list, three deep, doesn't reach it
    [hits] = Fused([first, second], weights=(1, 0.1), c=0).search(["q"], 4)
    assert named(hits) == "a b c d"
    assert hits[0].score == pytest.approx(1 + 0.1 / 4)


def test_passages_of_one_cut_are_fused_as_passages():
    fused = Fused([Fixed(q=passages("a0 a1 b0")), Fixed(q=passages("b0 a1 c0"))])
    [hits] = fused.search(["q"], 2)
    # a1: 1/62 + 1/62; b0: 1/63 + 1/61, more by convexity; then a0 1/61; the second document is there already
    assert named(hits) == "b0 a1"
    [hits] = fused.search(["q"], 3)
    assert named(hits) == "b0 a1 a0 c0"  # three passages, then the third document


def test_otherwise_documents_are_fused_and_keep_a_passage():
    whole, cut = Fixed(q=docs("b a c")), Fixed(q=passages("a1 a0 d0"))
    [hits] = Fused([whole, cut]).search(["q"], 3)
    # a: 1/62 + 1/61; b 1/61; d 1/62 (the second document of its list); c 1/63
    assert named(hits) == "a1 b d0"
    [hits] = Fused([Fixed(q=passages("a0 b1", 7)), Fixed(q=passages("b1 a0"))]).search(["q"], 5)
    assert named(hits) == "a0 b1" and hits[0].passage.end == 7  # cut differently, each the best of one list
    [hits] = Fused([Fixed(q=passages("a1 b0", 7)), Fixed(q=passages("b0 c0 a1"))]).search(["q"], 5)
    assert [(h.doc_id, h.passage.end) for h in hits] == [("b", 10), ("a", 14), ("c", 10)]


def test_each_query_is_fused_alone():
    fused = Fused([Fixed(p=passages("a0 b0"), q=docs("a b"), r=[]), Fixed(p=passages("b0"), q=passages("b1"), r=[])])
    batch = fused.search(["p", "q", "r"], 2)
    assert batch == [fused.search([q], 2)[0] for q in "pqr"]
    assert [named(hits) for hits in batch] == ["b0 a0", "b1 a", ""]


def test_of_one_list_the_order_stays_and_a_retriever_may_be_fused_with_itself():
    one = Fixed(q=passages("a0 a1 b0 a2 c0"))
    assert named(Fused([one]).search(["q"], 4)[0]) == named(one.search(["q"], 4)[0])
    assert named(Fused([one, one, Fused([one])]).search(["q"], 4)[0]) == named(one.search(["q"], 4)[0])


@given(
    lists=st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=1, max_size=5),
    weights=st.lists(st.sampled_from([0.25, 0.5, 1, 2]), min_size=5, max_size=5),
    k=st.integers(1, 10),
)
def test_scores_are_exact_sums(lists, weights, k):
    weights = weights[: len(lists)]
    [hits] = Fused([Fixed(q=docs(" ".join(x))) for x in lists], weights=weights).search(["q"], k)
    exact: dict[str, Fraction] = {}
    for ranking, weight in zip(lists, weights, strict=True):
        for rank, name in enumerate(ranking[: 2 * k], 1):
            exact[name] = exact.get(name, Fraction(0)) + Fraction(weight) / (60 + rank)
    assert len(hits) == min(k, len(exact))
    scores = [h.score for h in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx([float(exact[h.doc_id]) for h in hits], rel=1e-15)
    assert scores == pytest.approx(sorted(map(float, exact.values()), reverse=True)[:k], rel=1e-15)


def test_over_real_retrievers_it_keeps_the_protocol():
    documents = {f"d{i}": Document(f"d{i}", "", "tort law " * (i % 4) + "bail " * (i % 3) + "x") for i in range(12)}

    def halves(d):
        return [(0, len(d.text) // 2), (len(d.text) // 2, len(d.text))]

    legs = [BM25.build(documents, passages=halves, variant=v) for v in ("lucene", "bm25l")]
    fused = Fused([Fused(legs), *legs])
    for k in (1, 3, 20):
        for hits in fused.search(["tort bail", "law", "none"], k):
            scores = [h.score for h in hits]
            assert scores == sorted(scores, reverse=True)
            assert len({(h.doc_id, h.passage.start) for h in hits}) == len(hits)
            found = len({h.doc_id for h in hits})
            assert found == min(k, found) and len(hits) <= 2 * k


def test_union_is_a_pool():
    first, second = Fixed(q=passages("a0 a1 b0"), r=[]), Fixed(q=passages("b0 c0 a0 d0"), r=docs("z"))
    union = Union([first, second])
    assert isinstance(union, Retriever)
    found = union.search(["q", "r"], 3)
    assert [named(hits) for hits in found] == ["a0 a1 b0 c0", "z"]
    assert [h.score for h in found[0]] == [1, 1 / 2, 1 / 3, 1 / 4]
    # the further documents below the k best are no part of it
    assert named(union.search(["q"], 1)[0]) == "a0 b0" and named(Union([first, second], depth=2).search(["q"], 1)[0])
    assert named(Union([first, second], depth=2).search(["q"], 1)[0]) == "a0 a1 b0 c0"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"retrievers": []}, "there are none"),
        ({"c": -1}, "c: -1"),
        ({"c": float("nan")}, "c: nan"),
        ({"c": True}, "c: True"),
        ({"weights": [1]}, "1 for 2 retrievers"),
        ({"weights": [1, 0]}, "not all above 0"),
        ({"weights": [1, float("inf")]}, "not all above 0"),
        ({"weights": [1, "2"]}, "not all above 0"),
        ({"depth": 0}, "depth: 0"),
        ({"depth": 1.5}, "depth: 1.5"),
    ],
)
def test_bad_options(options, said):
    with pytest.raises(InputError, match=said):
        Fused(**({"retrievers": [Fixed(), Fixed()]} | options))


def test_bad_searches():
    class Forgets:
        def search(self, queries, k):
            return [[]]

    for kind in (Fused, Union):
        with pytest.raises(InputError, match="1 lists for 2 queries"):
            kind([Forgets()]).search(["q", "r"], 1)
        with pytest.raises(InputError, match="is one text"):
            kind([Fixed()]).search("q", 1)
        with pytest.raises(InputError, match="is not a depth"):
            kind([Fixed()]).search(["q"], 0)
        assert kind([Fixed()]).search([], 1) == []
