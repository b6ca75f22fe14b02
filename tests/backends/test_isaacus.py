"""Isaacus's models: tasks, orders and prices."""

import pytest

from canlegalrag import backends
from canlegalrag.errors import CallError, InputError

pytest.importorskip("isaacus", reason="pip install isaacus")


@pytest.fixture
def embedder(wire, secret, calls):
    return lambda **options: backends.embedder("isaacus/kanon-2-embedder", calls, base_url=f"{wire.url}/v1", **options)


@pytest.fixture
def reranker(wire, secret, calls):
    return backends.reranker("isaacus/kanon-2-reranker", calls, base_url=f"{wire.url}/v1")


def test_tasks_and_dimensions_are_sent(embedder, wire, secret):
    model = embedder(dim=3)
    model.embed(["dépôt"], kind="query")
    model.embed(["dépôt"], kind="document")
    query, document = wire.bodies()
    assert query == {"model": "kanon-2-embedder", "texts": ["dépôt"], "task": "retrieval/query", "dimensions": 3}
    assert document["task"] == "retrieval/document"
    assert wire.requests[0][0] == "/v1/embeddings" and wire.requests[0][1]["Authorization"] == f"Bearer {secret}"
    assert model.identity["tasks"] == {"query": "retrieval/query", "document": "retrieval/document"}


def test_the_number_beside_a_vector_says_whose_it_is(embedder, wires):
    """The server sends them in reverse."""
    texts = [f"passage {n}" for n in range(5)]
    rows = embedder().embed(texts, kind="document")
    for row, text in zip(rows, texts, strict=True):
        right = wires.vector(text)
        assert row / row[0] == pytest.approx(right, rel=1e-5)


def test_a_request_holds_128_texts(embedder, wire):
    embedder().embed([f"passage {n}" for n in range(300)], kind="document")
    assert sorted(len(body["texts"]) for body in wire.bodies()) == [44, 128, 128]


def numbered(*places):
    def change(reply):
        rows = next(v for v in reply.values() if isinstance(v, list))
        for row, place in zip(rows, places, strict=True):
            row["index"] = place

    return change


@pytest.mark.parametrize("places", [(0, 0), (1, 2), (-1, 0), ("0", "1"), (True, False), (None, None)])
def test_numbers_that_are_not_those_of_the_texts(embedder, reranker, wire, places):
    wire.script = [wire.say(change=numbered(*places))]
    with pytest.raises(CallError, match="numbered"):
        embedder().embed(["a", "b"], kind="query")
    with pytest.raises(CallError, match="numbered"):
        reranker.rerank("a query", ["a", "b"])


def test_scores_come_back_to_their_texts(reranker, wire, wires):
    texts = ["notice", "deposit", "rent", "deposit"]
    right = [wires.score("the deposit", text) for text in texts]
    assert reranker.rerank("the deposit", texts) == right
    (body,) = wire.bodies()
    assert body == {
        "model": "kanon-2-reranker",
        "query": "the deposit",
        "texts": ["notice", "deposit", "rent"],
        "is_iql": False,
    }
    assert reranker.rerank("the deposit", texts[:2]) == right[:2]
    assert reranker.rerank("another query", texts[:2]) != right[:2]
    assert len(wire.requests) == 2 and reranker.counts == {"texts": 8, "truncated": 0}


def test_a_query_without_content_scores_nothing(reranker, wire):
    assert reranker.rerank(" ", ["a", "b"]) == [0.0, 0.0] and reranker.rerank("a", []) == []
    assert wire.requests == []


@pytest.mark.parametrize("score", ["high", None, True, [0.5]])
def test_a_score_that_is_no_number(reranker, wire, score):
    def change(reply):
        reply["results"][0]["score"] = score

    wire.script = [wire.say(change=change)]
    with pytest.raises(CallError, match="3 tries"):
        reranker.rerank("a query", ["a"])


def test_what_is_no_text_is_refused(reranker):
    for query, texts in ((1, ["a"]), ("a", "bcd"), ("a", [None])):
        with pytest.raises(InputError):
            reranker.rerank(query, texts)


def test_what_is_paid_follows_from_the_tokens_that_are_reported(embedder, reranker, calls):
    embedder().embed(["a", "b"], kind="query")
    reranker.rerank("a query", ["a"])
    totals = calls.totals()
    assert totals["isaacus/kanon-2-embedder"]["cost"] == pytest.approx(10 * 0.35e-6)
    assert totals["isaacus/kanon-2-reranker"]["cost"] == pytest.approx(9 * 0.35e-6)


def test_the_environment_cannot_change_the_server_unseen(embedder, wire, monkeypatch):
    monkeypatch.setenv("ISAACUS_BASE_URL", "http://127.0.0.1:1")
    embedder().embed(["a"], kind="query")
    assert len(wire.requests) == 1


@pytest.mark.parametrize("role", ["embedder", "reranker"])
def test_what_a_model_needs(role):
    needs = backends.needs(f"isaacus/kanon-2-{role}", role)
    assert (needs.extra, needs.key, needs.price_in, needs.window) == ("isaacus", "ISAACUS_API_KEY", 0.35, 16_384)
    assert backends.needs("isaacus/kanon-9", role).price_in is None
