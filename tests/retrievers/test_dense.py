"""Dense retrieval: the two lists against brute force, batches that change nothing, approximate search measured."""

import hashlib
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canlegalrag.errors import CallError, InputError, MissingExtra
from canlegalrag.protocols import Embedder, Retriever
from canlegalrag.retrievers import dense_ann, dense_search
from canlegalrag.retrievers._passages import cut, ranked
from canlegalrag.retrievers.dense import Dense
from canlegalrag.types import Document, Hit


class Words:
    """A vector for each word, drawn by its hash; a text is their sum, of length 1, or of zeros without words."""

    def __init__(self, dimensions=16):
        self.dimensions, self.calls = dimensions, 0
        self.identity = {"model": f"test/words-{dimensions}"}
        self.counts = {}

    def embed(self, texts, *, kind):
        assert kind in ("query", "document")
        self.calls += 1
        rows = np.zeros((len(texts), self.dimensions))
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
                row += np.random.default_rng(seed).standard_normal(self.dimensions)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=rows, where=lengths > 0).astype(np.float32)


class Given(Words):
    """Gives the vectors it was made with: `d3` is the fourth; anything else is searched for as it is listed."""

    def __init__(self, vectors, queries=()):
        super().__init__(vectors.shape[1])
        self.vectors, self.queries = vectors, dict(queries)

    def embed(self, texts, *, kind):
        rows = [self.vectors[int(t)] if kind == "document" else self.queries[t] for t in texts]
        return np.array(rows, dtype=np.float32).reshape(-1, self.dimensions)


def corpus(*texts):
    return {f"d{i}": Document(f"d{i}", f"Title {i}", text) for i, text in enumerate(texts)}


def words_of(document):
    """Every word is a passage."""
    spans, at = [], 0
    for word in document.text.split(" "):
        if word:
            spans.append((at, at + len(word)))
        at += len(word) + 1
    return spans


def brute(texts_by_document, embedder, query, k):
    """(document, index, score) of the two lists, by scoring and sorting everything."""
    [q] = embedder.embed([query], kind="query").astype(np.float64)
    scored = []
    for d, texts in enumerate(texts_by_document):
        for i, v in enumerate(embedder.embed(texts, kind="document") if texts else ()):
            if v.any() and q.any():
                scored.append((-float(np.float32((v.astype(np.float64) * q).sum())), d, i))
    scored.sort()
    kept = scored[:k]
    seen = {d for _, d, _ in kept}
    for s, d, i in scored[k:]:
        if len(seen) < k and d not in seen:
            seen.add(d)
            kept.append((s, d, i))
    return [(f"d{d}", i, -s) for s, d, i in kept]


def shown(hits):
    return [(hit.doc_id, hit.passage.index, hit.score) for hit in hits]


VOCABULARY = ["bail", "appel", "québec", "§", "tort", "où", "lien"]


@settings(max_examples=60)
@given(
    texts=st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join), min_size=1, max_size=30),
    queries=st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=3).map(" ".join), min_size=1, max_size=5),
    k=st.integers(1, 40),
)
def test_passages_are_those_of_brute_force(tmp_path_factory, texts, queries, k):
    """Few words, so most scores are tied; documents without text have no passages."""
    documents, embedder = corpus(*texts), Words(8)
    dense = Dense.build(documents, embedder, tmp_path_factory.mktemp("i") / "index", passages=words_of)
    expected = [brute([text.split() for text in texts], embedder, query, k) for query in queries]
    found = dense.search(queries, k)
    assert [shown(hits) for hits in found] == expected
    for hits in found:
        for hit in hits:
            p = hit.passage
            assert p.text == documents[hit.doc_id].text[p.start : p.end]
    assert [dense.search([query], k)[0] for query in queries] == found


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("n", "dimensions", "spread"), [(5000, 24, 1.0), (3000, 384, 1e-6), (2500, 3, 1.0)])
def test_a_query_alone_and_in_a_batch_gives_the_same_list(tmp_path, monkeypatch, dtype, n, dimensions, spread):
    """Vectors that differ in the last digits only, several blocks, and repeats: order and scores are equal, exactly."""
    monkeypatch.setattr(dense_search, "_BLOCK", 512)
    monkeypatch.setattr(dense_search, "_PRODUCT", 2048)
    monkeypatch.setattr(dense_search, "_QUERIES", 16)
    rng = np.random.default_rng(n)
    centres = rng.standard_normal((7, dimensions))
    vectors = centres[rng.integers(7, size=n)] + spread * rng.standard_normal((n, dimensions))
    vectors[rng.integers(n, size=n // 10)] = vectors[0]
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    vectors[rng.integers(n, size=20)] = 0
    asked = {f"q{i}": vectors[i * 31] if i % 2 else -vectors[i * 17] for i in range(45)}
    embedder = Given(vectors, asked)
    ends = np.unique(rng.integers(1, n, n // 9))
    groups = np.split(np.arange(n), ends)
    documents = corpus(*(" ".join(map(str, group)) for group in groups))
    dense = Dense.build(documents, embedder, tmp_path / "index", passages=words_of, dtype=dtype)
    stored = vectors.astype(dtype).astype(np.float64)
    for k in (1, 10, 100):
        batch = dense.search(list(asked), k)
        for query, hits in zip(asked, batch, strict=True):
            assert dense.search([query], k)[0] == hits
        for query, hits in list(zip(asked, batch, strict=True))[::9]:
            scores = (stored * asked[query].astype(np.float64)).sum(axis=1).astype(np.float32)
            scores[~stored.any(axis=1)] = -np.inf
            order = np.argsort(-scores, kind="stable")[: int((scores > -np.inf).sum())]
            firsts = np.append(0, np.cumsum([len(group) for group in groups]))
            docs = np.searchsorted(firsts, order, "right") - 1
            expected = [Hit(f"d{d}", float(scores[u]), ("p", u - firsts[d])) for u, d in zip(order, docs, strict=True)]
            assert shown(hits) == [(h.doc_id, h.passage[1], h.score) for h in cut(expected, k)]


def test_more_candidates_than_can_be_held(tmp_path, monkeypatch):
    """All passages alike: every one is a candidate of every query, and queries are taken one by one."""
    vectors = np.tile(np.float32([0.6, 0.8]), (3000, 1))
    asked = {f"q{i}": np.float32([1, 0]) if i % 2 else np.float32([0, 1]) for i in range(9)}
    documents = corpus(*(" ".join(map(str, range(i, i + 10))) for i in range(0, 3000, 10)))
    dense = Dense.build(documents, Given(vectors, asked), tmp_path, passages=words_of)
    found = dense.search(list(asked), 12)
    assert shown(found[0])[:2] == [("d0", 0, np.float32(0.8)), ("d0", 1, np.float32(0.8))]
    assert [hit.doc_id for hit in found[1]] == ["d0"] * 10 + ["d1"] * 2 + [f"d{i}" for i in range(2, 12)]
    monkeypatch.setattr(dense_search, "_BLOCK", 500)
    monkeypatch.setattr(dense_search, "_WIDE", 1)
    monkeypatch.setattr(dense_search, "_HELD", 200)
    assert dense.search(list(asked), 12) == found


def test_whole_documents(tmp_path):
    documents, embedder = corpus("tort", "", "bail appel", "tort tort"), Words()
    dense = Dense.build(documents, embedder, tmp_path, title=False)
    assert isinstance(dense, Retriever) and isinstance(embedder, Embedder)
    [hits] = dense.search(["tort"], 10)
    assert [hit.doc_id for hit in hits] == ["d0", "d3", "d2"]  # the empty one never matches, the unlike one does
    assert [hit.score for hit in hits[:2]] == [1.0, 1.0] and hits[2].score < 1
    assert all(hit.passage is None for hit in hits)
    assert dense.search([], 3) == []
    assert dense.search(["", "tort"], 1)[0] == []  # a query without content finds nothing


def test_title_and_texts_are_what_is_embedded(tmp_path):
    documents, embedder = corpus("one two", "three"), Words(64)
    dense = Dense.build(documents, embedder, tmp_path / "t", passages=words_of, title=True)
    [hits] = dense.search(["Title 1 three"], 1)
    assert hits[0].doc_id == "d1" and hits[0].score == pytest.approx(1, abs=1e-6)
    other = {"d0": ["glued", "together"], "d1": ["else"]}
    dense = Dense.build(documents, embedder, tmp_path / "o", passages=words_of, texts=lambda d: other[d.id])
    [hits] = dense.search(["together"], 1)
    assert (hits[0].doc_id, hits[0].passage.text) == ("d0", "two")
    with pytest.raises(InputError, match="2 passages but 1 texts"):
        Dense.build(documents, embedder, tmp_path / "x", passages=words_of, texts=lambda d: ["one"])


def test_one_document_and_none_with_text(tmp_path):
    embedder = Words()
    dense = Dense.build(corpus("a b c"), embedder, tmp_path / "1", passages=words_of)
    assert len(dense.search(["a"], 2)[0]) == 2 and len(dense.search(["a"], 100)[0]) == 3
    dense = Dense.build(corpus("", ""), embedder, tmp_path / "0", passages=words_of)
    assert dense.search(["a", "b"], 5) == [[], []]
    dense = Dense.build(corpus("", ""), embedder, tmp_path / "w")
    assert dense.search(["a"], 5) == [[]]


def test_documents_are_read_when_given(tmp_path):
    documents, embedder = corpus("a b", "c"), Words()
    Dense.build(documents, embedder, tmp_path, passages=words_of)
    dense = Dense.open(tmp_path, embedder)
    assert dense.search(["a"], 1)[0][0].passage.text is None
    with pytest.raises(InputError, match="another corpus"):
        Dense.open(tmp_path, embedder, corpus("a b"))
    changed = Dense.open(tmp_path, embedder, corpus("a b and more", "c"))
    with pytest.raises(InputError, match="another length"):
        changed.search(["a"], 1)


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "3", None])
def test_bad_depth(tmp_path, k):
    dense = Dense.build(corpus("a"), Words(), tmp_path)
    with pytest.raises(InputError, match="is not a depth"):
        dense.search(["a"], k)
    with pytest.raises(InputError, match="is one text"):
        dense.search("a", 1)


class Bad(Words):
    def __init__(self, change):
        super().__init__()
        self.change = change

    def embed(self, texts, *, kind):
        return self.change(super().embed(texts, kind=kind))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v[:-1], "for 2 texts"),
        (lambda v: v[0], "for 2 texts"),
        (lambda v: v * 2, "length 2"),
        (lambda v: v * np.float32(np.nan), "length nan"),
        (lambda v: v * np.float32(np.inf), "length"),
        (lambda v: v.astype(int), "int64"),
    ],
)
def test_bad_vectors_are_refused(tmp_path, change, said):
    with pytest.warns(RuntimeWarning) if "inf" in said else _nothing(), pytest.raises(CallError, match=said):
        Dense.build(corpus("a", "b"), Bad(change), tmp_path)
    good = Dense.build(corpus("a", "b"), Words(), tmp_path / "good")
    with pytest.raises(CallError, match=said):
        Dense(Bad(change), good.index).search(["a", "b"], 1)


def _nothing():
    import contextlib

    return contextlib.nullcontext()


def test_queries_of_another_size_are_refused(tmp_path):
    good = Dense.build(corpus("a", "b"), Words(16), tmp_path)
    with pytest.raises(CallError, match="8 dimensions where there were 16"):
        Dense(Words(8), good.index).search(["a"], 1)


def test_ranked_and_cut_agree():
    rng = np.random.default_rng(5)
    firsts = np.array([0, 0, 3, 3, 10, 11, 20])
    for k in range(1, 25):
        scores = rng.integers(0, 5, 20).astype(np.float32)
        top = ranked(np.arange(20), scores, firsts, k)
        order = sorted(range(20), key=lambda u: (-scores[u], u))
        hits = [Hit(str(np.searchsorted(firsts, u, "right") - 1), float(scores[u]), u) for u in order]
        assert [hit.passage for hit in cut(hits, k)] == top.units.tolist()


def test_the_margin_bounds_the_error_of_float32():
    rng = np.random.default_rng(0)
    for dimensions in (3, 384, 4096):
        v = rng.standard_normal((500, dimensions))
        v = (v / np.linalg.norm(v, axis=1, keepdims=True)).astype(np.float32)
        error = np.abs((v @ v.T).astype(np.float64) - v.astype(np.float64) @ v.T.astype(np.float64)).max()
        assert error < dense_search.margin(dimensions) / 2


# ------------------------------------------------------------------------------------------- approximate search


def clustered(n, dimensions=16, seed=0):
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n // 20, dimensions))[rng.integers(n // 20, size=n)]
    vectors = vectors + 0.5 * rng.standard_normal((n, dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(("kind", "n", "least"), [("hnsw", 3000, 0.95), ("ivfpq", 10000, 0.9)])
def test_approximate_search_is_measured_and_the_same_each_time(tmp_path, kind, n, least):
    pytest.importorskip("faiss", reason="approximate search needs faiss-cpu")
    vectors = clustered(n)
    vectors[5] = 0
    asked = {f"q{i}": vectors[i * 7 + 1] for i in range(20)} | {"zero": np.zeros(16, np.float32)}
    documents = corpus(*(" ".join(map(str, range(i, i + 4))) for i in range(0, n, 4)))
    embedder = Given(vectors, asked)
    dense = Dense.build(documents, embedder, tmp_path / "a", passages=words_of, search=kind)
    recall = dense.recall(list(asked), 10)
    assert least <= recall <= 1
    record = json.loads((tmp_path / "a" / f"{kind}.json").read_text())
    assert record["recall"] == {"k": 10, "queries": 20, "value": recall}
    exact = Dense.open(tmp_path / "a", embedder, documents)
    assert exact.recall(list(asked), 10) == 1
    found, best = dense.search(list(asked), 10), exact.search(list(asked), 10)
    assert found[-1] == []
    by_place = {h.passage.start + 1e6 * int(h.doc_id[1:]): h.score for hits in exact.search(["q3"], n) for h in hits}
    assert all(by_place[h.passage.start + 1e6 * int(h.doc_id[1:])] == h.score for h in found[3])  # scored exactly
    assert [hits[0] for hits in found[:-1]] == [hits[0] for hits in best[:-1]]
    assert [dense.search([query], 10)[0] for query in asked] == found
    assert all(len({hit.doc_id for hit in hits}) >= 10 for hits in found[:-1])
    again = Dense.build(documents, embedder, tmp_path / "b", passages=words_of, search=kind)
    assert (tmp_path / "a" / f"{kind}.faiss").read_bytes() == (tmp_path / "b" / f"{kind}.faiss").read_bytes()
    dense.verify()
    again.approximate.verify()


def test_approximate_search_to_the_end_finds_everything(tmp_path):
    pytest.importorskip("faiss", reason="approximate search needs faiss-cpu")
    vectors = clustered(200)
    embedder = Given(vectors, {"q": vectors[3]})
    documents = corpus(*map(str, range(200)))
    dense = Dense.build(documents, embedder, tmp_path, search="hnsw")
    exact = Dense.open(tmp_path, embedder)
    assert dense.search(["q"], 1000) == exact.search(["q"], 1000)
    assert math.isnan(dense.recall([], 10))


def test_damaged_or_old_approximate_indexes(tmp_path):
    pytest.importorskip("faiss", reason="approximate search needs faiss-cpu")
    vectors = clustered(200)
    embedder = Given(vectors)
    documents = corpus(*map(str, range(200)))
    dense = Dense.build(documents, embedder, tmp_path, search="hnsw")
    path = tmp_path / "hnsw.faiss"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(InputError, match="its checksum differs"):
        dense.verify()
    path.write_bytes(data[:100])
    Dense.open(tmp_path, embedder, search="hnsw").verify()  # built again
    assert path.read_bytes() == data
    path.write_bytes(data[:200] + bytes(64) + data[264:])  # as long as before, and no graph
    Dense.open(tmp_path, embedder, search="hnsw")
    (tmp_path / "hnsw.json").write_text("[")
    Dense.open(tmp_path, embedder, search="hnsw").verify()  # nothing says what it is: built again
    with pytest.raises(InputError, match="9,984 vectors, and there are 200"):
        Dense.open(tmp_path, embedder, search="ivfpq")
    with pytest.raises(InputError, match="exact, hnsw, ivfpq"):
        Dense.open(tmp_path, embedder, search="lsh")


def test_without_faiss(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "faiss", None)
    dense = Dense.build(corpus("a"), Words(), tmp_path)
    assert dense.search(["a"], 1)[0]
    with pytest.raises(MissingExtra, match=r"canlegalrag\[dense\]"):
        dense_ann.Approximate.over(dense.index, "hnsw")
