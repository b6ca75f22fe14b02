"""Iter-RetGen: what is searched and asked in each round, and what a completion that says nothing does."""

import pytest

from canlegalrag.errors import CallError, InputError
from canlegalrag.protocols import Generator, Retriever
from canlegalrag.retrievers.bm25 import BM25
from canlegalrag.retrievers.iterative import Iterative, prompt
from canlegalrag.retrievers.reranked import Reranked
from canlegalrag.types import Completion, Document, Hit, Passage

DOCUMENTS = {
    "a": Document("a", "A v B", "tenant eviction notice"),
    "b": Document("b", "", "notice period"),
    "c": Document("c", "R v C", "Charter section 8 privacy"),
}


class Scripted:
    """Replies in turn, one list a round."""

    identity = {"model": "test/scripted"}  # noqa: RUF012
    counts = {}  # noqa: RUF012

    def __init__(self, *rounds):
        self.rounds, self.prompts = list(rounds), []

    def generate(self, prompts):
        self.prompts.append(list(prompts))
        return [r if isinstance(r, Completion) else Completion(r) for r in self.rounds.pop(0)]


class Spy:
    """Remembers what it was asked."""

    def __init__(self, inner):
        self.inner, self.asked = inner, []

    def search(self, queries, k):
        self.asked.append((list(queries), k))
        return self.inner.search(queries, k)


def test_three_rounds_all_queries_together():
    inner = Spy(BM25.build(DOCUMENTS))
    generator = Scripted(["notice", "privacy "], ["period", "Charter"])
    iterative = Iterative(inner, generator, DOCUMENTS, max_tokens=200)
    assert isinstance(iterative, Retriever) and isinstance(generator, Generator)
    found = iterative.search(["eviction", "section"], 2)
    assert inner.asked == [
        (["eviction", "section"], 2),
        (["eviction\nnotice", "section\nprivacy"], 2),
        (["eviction\nperiod", "section\nCharter"], 2),  # the query with the last answer, not with both
    ]
    assert found == inner.search(["eviction\nperiod", "section\nCharter"], 2)
    assert [hit.doc_id for hit in found[0]] == ["b", "a"]
    assert [len(prompts) for prompts in generator.prompts] == [2, 2]
    second = generator.prompts[1][0]
    assert second.system == prompt() and second.max_tokens == 200 and second.schema is None
    assert "Question:\neviction\n" in second.user and "eviction\nnotice" not in second.user.replace("tenant ", "")
    assert "[1] A v B\ntenant eviction notice" in second.user and "[2] b\nnotice period" in second.user
    expected = {"queries": 2, "answers": 4, "length": 0, "empty": 0, "refusal": 0, "cut": 0}
    assert iterative.counts == expected


def test_what_says_nothing_leaves_the_query_as_it_was():
    inner = Spy(BM25.build(DOCUMENTS))
    first = ["notice", "", Completion("I can't help.", stop="refusal"), Completion("half an ans", stop="length")]
    second = [Completion("", stop="empty"), " \n", "privacy", Completion("thought", stop="empty")]
    iterative = Iterative(inner, Scripted(first, second), DOCUMENTS)
    iterative.search(["p", "q", "r", "s"], 3)
    assert [asked for asked, _ in inner.asked[1:]] == [
        ["p\nnotice", "q", "r", "s\nhalf an ans"],
        ["p\nnotice", "q", "r\nprivacy", "s\nhalf an ans"],
    ]
    assert iterative.counts == {"queries": 4, "answers": 3, "length": 1, "empty": 4, "refusal": 1, "cut": 0}


def test_a_reranker_reads_in_every_round_what_was_searched():
    read = []

    class Reads:
        identity = counts = {}  # noqa: RUF012

        def rerank(self, query, texts):
            read.append(query)
            return [float(len(text)) for text in texts]

    inner = Reranked(BM25.build(DOCUMENTS), Reads(), DOCUMENTS)
    Iterative(inner, Scripted(["one"], ["two"]), DOCUMENTS).search(["notice"], 2)
    assert read == ["notice", "notice\none", "notice\ntwo"]


def test_one_round_only_searches():
    inner = BM25.build(DOCUMENTS)
    iterative = Iterative(inner, Scripted(), DOCUMENTS, rounds=1)
    assert iterative.search(["notice"], 2) == inner.search(["notice"], 2)
    assert iterative.search([], 2) == Iterative(inner, Scripted(), DOCUMENTS).search([], 2) == []


def test_the_generator_reads_the_best_within_its_budget():
    class Passages:
        def search(self, queries, k):
            spans = [("a", 0, 6), ("a", 7, 15), ("c", 0, 7), ("b", 0, 6)]
            return [[Hit(d, 1 - n / 9, Passage(d, n, s, e)) for n, (d, s, e) in enumerate(spans)][:k] for _ in queries]

    def shown(**options):
        generator = Scripted(["x"])
        iterative = Iterative(Passages(), generator, DOCUMENTS, rounds=2, **options)
        iterative.search(["q"], 4)
        [[asked]] = generator.prompts
        return asked.user.split("Passages:\n\n")[1].split("\n\nQuestion again")[0], iterative.counts["cut"]

    every = "[1] A v B\ntenant\n\n[2] A v B\neviction\n\n[3] R v C\nCharter\n\n[4] b\nnotice"
    assert shown() == (every, 0)
    assert shown(context=2) == ("[1] A v B\ntenant\n\n[2] A v B\neviction", 0)
    assert shown(max_chars=9) == ("[1] A v B\ntenant\n\n[2] A v B\nevi", 1)
    assert shown(max_chars=27) == (every, 0)


def test_without_hits_the_generator_is_asked_all_the_same():
    generator = Scripted(["notice"])
    found = Iterative(BM25.build(DOCUMENTS), generator, DOCUMENTS, rounds=2).search(["nothing"], 1)
    assert "Passages:\n\n(none)" in generator.prompts[0][0].user
    assert [hit.doc_id for hit in found[0]] == ["b"]


def test_rounds_within_rounds():
    inner = Iterative(BM25.build(DOCUMENTS), Scripted(["tenant"], ["tenant"]), DOCUMENTS, rounds=2)
    found = Iterative(inner, Scripted(["notice"]), DOCUMENTS, rounds=2).search(["x"], 3)
    assert [hit.doc_id for hit in found[0]] == ["a", "b"]  # for x, notice and, from the rounds within, tenant


def test_the_prompt_is_a_file():
    assert prompt() and "\n" in prompt() and prompt() == prompt().strip()


@pytest.mark.parametrize("name", ["rounds", "context", "max_chars", "max_tokens"])
@pytest.mark.parametrize("value", [0, -1, 2.0, True, None])
def test_bad_options(name, value):
    with pytest.raises(InputError, match=f"{name}: {value}"):
        Iterative(BM25.build(DOCUMENTS), Scripted(), DOCUMENTS, **{name: value})


def test_bad_searches():
    inner = BM25.build(DOCUMENTS)
    with pytest.raises(CallError, match="test/scripted: gave 1 completions for 2 prompts"):
        Iterative(inner, Scripted(["one"]), DOCUMENTS).search(["p", "q"], 1)
    with pytest.raises(InputError, match="is one text"):
        Iterative(inner, Scripted(), DOCUMENTS).search("q", 1)
    with pytest.raises(InputError, match="is not a depth"):
        Iterative(inner, Scripted(), DOCUMENTS).search(["q"], 0)
    with pytest.raises(InputError, match="is not among the documents"):
        Iterative(inner, Scripted(["x"]), {}).search(["notice"], 1)
