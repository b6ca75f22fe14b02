"""Reranking: the pool, its order, ties, text from the documents, and what a short pool leaves out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import CallError, InputError
from canlegalrag.protocols import Reranker, Retriever
from canlegalrag.retrievers._passages import cut
from canlegalrag.retrievers.fused import Fused, Union
from canlegalrag.retrievers.reranked import Reranked
from canlegalrag.types import Document, Hit, Passage

TEXTS = {"a": "aaaa tort", "b": "bbbb tort tort", "c": "cccc", "d": "tort tort tort"}
DOCUMENTS = {name: Document(name, "", text) for name, text in TEXTS.items()}


class Counts:
    """Scores a text by how often it holds the query."""

    identity = {"model": "test/counts"}  # noqa: RUF012
    counts = {}  # noqa: RUF012

    def __init__(self):
        self.read = []

    def rerank(self, query, texts):
        self.read.append((query, list(texts)))
        return [text.count(query) for text in texts]


class Fixed:
    def __init__(self, *hits):
        self.hits, self.asked = hits, []

    def search(self, queries, k):
        self.asked.append(k)
        return [cut(self.hits, k) for _ in queries]


def docs(names):
    return [Hit(name, 1.0 - n / 100) for n, name in enumerate(names)]


def part(name, index, start, end, score=0.5, text=None):
    return Hit(name, score, Passage(name, index, start, end, text))


def test_order_and_scores_are_the_rerankers_and_ties_the_pools():
    reranker = Counts()
    reranked = Reranked(Fixed(*docs("cabd")), reranker, DOCUMENTS)
    assert isinstance(reranked, Retriever) and isinstance(reranker, Reranker)
    [hits] = reranked.search(["tort"], 3)
    assert [(h.doc_id, h.score) for h in hits] == [("d", 3), ("b", 2), ("a", 1)]
    [hits] = reranked.search(["nothing"], 4)
    assert [h.doc_id for h in hits] == list("cabd") and {h.score for h in hits} == {0.0}
    assert reranker.read[0] == ("tort", [TEXTS[name] for name in "cabd"])  # every candidate, whole documents
    assert reranked.counts == {"queries": 2, "short": 0, "missing": 0}


def test_the_pool_is_pool_times_k_and_nothing_beyond():
    inner = Fixed(*docs("abcd"))
    reranked = Reranked(inner, Counts(), DOCUMENTS, pool=3)
    [hits] = reranked.search(["tort"], 1)
    assert inner.asked == [3] and [h.doc_id for h in hits] == ["b"]  # d is better, and beyond the pool


def test_passages_are_read_from_the_documents_and_shortfalls_counted():
    hits = [part("b", 1, 5, 9), part("b", 0, 0, 4), part("b", 2, 10, 14), part("a", 1, 5, 9), part("c", 0, 0, 4)]
    reranker = Counts()
    reranked = Reranked(Fixed(*hits), reranker, DOCUMENTS, pool=1)
    [found] = reranked.search(
        ["tort"], 3
    )  # the pool is b, b, b: a and c, which follow for their documents, are not in it
    assert [(h.doc_id, h.passage.index) for h in found] == [("b", 1), ("b", 2), ("b", 0)]
    assert reranker.read == [("tort", ["tort", "bbbb", "tort"])]
    assert reranked.counts == {"queries": 1, "short": 1, "missing": 2}
    [found] = Reranked(Fixed(*hits), reranker, DOCUMENTS, pool=2).search(["tort"], 3)
    assert [(h.doc_id, h.passage.index) for h in found] == [("b", 1), ("b", 2), ("a", 1), ("c", 0)]
    [found] = Reranked(Fixed(part("x", 0, 0, 4, text="tort")), reranker, {}).search(["tort"], 1)
    assert found[0].score == 1  # a passage that has its text needs no document


def test_a_union_is_reranked_whole():
    one, two = Fixed(*docs("abc")), Fixed(*docs("dcb"))
    reranked = Reranked(Union([one, two]), Counts(), DOCUMENTS, pool=2)
    [hits] = reranked.search(["tort"], 1)
    assert one.asked == two.asked == [2]
    assert [h.doc_id for h in hits] == ["d"]  # a, b and d, c: four candidates, two of each


def test_reranked_may_be_fused_and_reranked_again():
    inner = Fixed(*docs("abcd"))
    again = Reranked(Fused([Reranked(inner, Counts(), DOCUMENTS), inner]), Counts(), DOCUMENTS)
    assert [h.doc_id for h in again.search(["tort"], 2)[0]] == ["d", "b"]


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.integers(1, 6), st.integers(1, 3))
def test_the_protocol_is_kept(names, k, pool):
    hits = [part(name, n, n % 3, n % 3 + 2, 1 - n / 100) for n, name in enumerate(names)]
    reranked = Reranked(Fixed(*hits), Counts(), DOCUMENTS, pool=pool)
    [found], [other] = reranked.search(["t"], k), reranked.search(["t", "a"], k)[:1]
    assert found == other
    scores = [h.score for h in found]
    assert scores == sorted(scores, reverse=True)
    pooled = cut(hits, pool * k)[: pool * k]
    assert len(found) >= min(k, len(pooled)) and {h.passage for h in found} <= {h.passage for h in pooled}
    assert len({h.doc_id for h in found}) == min(k, len({h.doc_id for h in pooled}))


@pytest.mark.parametrize(
    ("scores", "said"),
    [([1.0], "1 scores for 4 texts"), ([float("nan")] * 4, "gave nan as a score"), ([1, 2, 3, float("inf")], "inf")],
)
def test_bad_scores_are_refused(scores, said):
    class Bad(Counts):
        def rerank(self, query, texts):
            return scores

    with pytest.raises(CallError, match=f"test/counts: .*{said}"):
        Reranked(Fixed(*docs("abcd")), Bad(), DOCUMENTS).search(["q"], 1)


def test_bad_input():
    with pytest.raises(InputError, match="pool: 0"):
        Reranked(Fixed(), Counts(), DOCUMENTS, pool=0)
    with pytest.raises(InputError, match="'z': was found but is not among"):
        Reranked(Fixed(*docs("z")), Counts(), DOCUMENTS).search(["q"], 1)
    with pytest.raises(InputError, match="ends at 99, but the document has 4"):
        Reranked(Fixed(part("c", 0, 0, 99)), Counts(), DOCUMENTS).search(["q"], 1)
    with pytest.raises(InputError, match="is one text"):
        Reranked(Fixed(), Counts(), DOCUMENTS).search("q", 1)
    reranker = Counts()
    assert Reranked(Fixed(), reranker, DOCUMENTS).search(["q"], 2) == [[]] and reranker.read == []
    assert Reranked(Fixed(), reranker, DOCUMENTS).search([], 2) == []
