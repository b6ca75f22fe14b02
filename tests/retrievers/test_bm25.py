"""BM25: hand-worked scores, parity with rank-bm25, exact and stable rankings, and what a folder may hold."""

import json
import math
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.protocols import Retriever
from canlegalrag.retrievers import bm25_index
from canlegalrag.retrievers.bm25 import BM25
from canlegalrag.retrievers.bm25_index import best
from canlegalrag.retrievers.bm25_weights import VARIANTS
from canlegalrag.text import encode, terms
from canlegalrag.types import Document, Hit, Passage


def corpus(*texts):
    return {f"d{i}": Document(f"d{i}", f"Title {i}", text) for i, text in enumerate(texts)}


def halves(document):
    middle = len(document.text) // 2
    return [(0, middle), (middle, len(document.text))]


def words(texts, tokenizer="legal"):
    """The distinct tokens of each text."""
    coded = encode(list(texts), tokenizer)
    parts = np.split(coded.codes, coded.ends[:-1])
    return [{coded.terms[code] for code in part} for part in parts]


def random_corpus(seed, n=80, size=60):
    rng = np.random.default_rng(seed)
    vocabulary = [f"w{i}" for i in range(size)] + ["québec", "employé", "où", "l'été", "§"]
    odds = 1 / np.arange(1, len(vocabulary) + 1)
    texts = [" ".join(rng.choice(vocabulary, rng.integers(1, 50), p=odds / odds.sum())) for _ in range(n)]
    queries = [" ".join(rng.choice([*vocabulary, "unknown"], rng.integers(1, 12))) for _ in range(20)]
    return corpus(*texts), queries


# Four documents of 3, 1, 2 and 2 tokens, mean 2; `tenant` is in the first two (twice, once), N = 4, df = 2.
# `paid` is in the third alone, df = 1; norms 1 - 0.75 + 0.75 * length / 2 are 1.375, 0.625, 1 and 1.
HAND = ("tenant tenant evicted", "tenant", "landlord paid", "other words")
NORM = (1.375, 0.625)


@pytest.mark.parametrize(
    ("variant", "idf", "gain"),
    [
        ("lucene", math.log(1 + 2.5 / 2.5), lambda tf, norm: tf / (tf + 1.2 * norm)),
        ("okapi", 0.0, lambda tf, norm: tf * 2.2 / (tf + 1.2 * norm)),
        (
            "bm25l",
            math.log(5 / 2.5),
            lambda tf, norm: 2.2 * (tf / norm + 0.5) / (1.2 + tf / norm + 0.5),
        ),
        ("bm25plus", math.log(5 / 2), lambda tf, norm: tf * 2.2 / (tf + 1.2 * norm) + 1),
        # every idf is ln(3.5 / 1.5) but that of tenant, ln(2.5 / 2.5) = 0, which isn't negative
        ("rank_bm25_okapi", 0.0, lambda tf, norm: tf * 2.5 / (tf + 1.5 * norm)),
        (
            "rank_bm25_l",
            math.log(5) - math.log(2.5),
            lambda tf, norm: tf * 2.5 * (tf / norm + 0.5) / (1.5 + tf / norm + 0.5),
        ),
    ],
)
def test_hand_worked_scores(variant, idf, gain):
    index = BM25.build(corpus(*HAND), variant=variant)
    expected = [idf * gain(2, NORM[0]), idf * gain(1, NORM[1]), 0, 0]
    assert index.scores("tenant") == pytest.approx(expected, rel=1e-6)
    assert index.scores("tenant tenant") == pytest.approx([2 * x for x in expected], rel=1e-6)


def test_hand_worked_numbers():
    """ln 2 * 2 / (2 + 1.2 * 1.375) = 0.37980, ln 2 / (1 + 1.2 * 0.625) = 0.39608; ln(10/3) / (1 + 1.2) for paid."""
    [hits] = BM25.build(corpus(*HAND)).search(["the tenant paid"], k=10)
    assert [hit.doc_id for hit in hits] == ["d2", "d1", "d0"]
    assert [hit.score for hit in hits] == pytest.approx([0.547260, 0.396084, 0.379807], abs=2e-6)


def test_idf_of_a_term_in_most_documents():
    texts = ("a b", "a c", "a d", "e")
    okapi = BM25.build(corpus(*texts), variant="okapi")
    assert okapi.scores("a").tolist() == [0, 0, 0, 0]
    assert [hit.doc_id for hit in okapi.search(["a"], 10)[0]] == ["d0", "d1", "d2"]  # matches all the same
    # rank-bm25: ln(1.5/3.5) < 0 becomes a quarter of the mean of that and four times ln(3.5/1.5)
    high = math.log(3.5 / 1.5)
    floor = 0.25 * (4 * high - high) / 5
    norm = 0.25 + 0.75 * 2 / 1.75
    rank = BM25.build(corpus(*texts), variant="rank_bm25_okapi")
    assert rank.scores("a")[0] == pytest.approx(floor * 2.5 / (1 + 1.5 * norm), abs=1e-12)


@pytest.mark.parametrize("tokenizer", ["legal", "ascii"])
@pytest.mark.parametrize(("ours", "theirs"), [("rank_bm25_okapi", "BM25Okapi"), ("rank_bm25_l", "BM25L")])
@pytest.mark.parametrize("seed", range(6))
def test_parity_with_rank_bm25(ours, theirs, tokenizer, seed):
    rank_bm25 = pytest.importorskip("rank_bm25", reason="parity needs rank-bm25")
    documents, queries = random_corpus(seed, n=(3, 5, 20, 80, 300, 800)[seed], size=(3, 8, 60, 60, 200, 20)[seed])
    index = BM25.build(documents, variant=ours, tokenizer=tokenizer)
    sets = words((d.text for d in documents.values()), tokenizer)
    rival = getattr(rank_bm25, theirs)([terms(d.text, tokenizer) for d in documents.values()])
    for query in [*queries, "w0 w0 w0 w1", "québec où § l'été", "nothing of the kind"]:
        expected = rival.get_scores(terms(query, tokenizer))
        assert np.abs(index.scores(query) - expected).max() <= 1e-9
        [top] = index.top([query], 10)
        held = [i for i, held in enumerate(sets) if held & set(terms(query, tokenizer))]
        assert len(top.units) == min(10, len(held)) and set(top.units.tolist()) <= set(held)
        assert expected[top.units] == pytest.approx(sorted(expected[held], reverse=True)[:10], abs=1e-9)


def test_parity_with_rank_bm25_rs():
    rival = pytest.importorskip("rank_bm25_rs", reason="parity needs rank-bm25-rs")
    documents, queries = random_corpus(11, n=500)
    index = BM25.build(documents, variant="rank_bm25_l")
    scores = rival.BM25L([terms(d.text) for d in documents.values()])
    for query in queries:
        assert np.abs(index.scores(query) - np.asarray(scores.get_scores(terms(query)))).max() <= 1e-9


@pytest.mark.parametrize("variant", sorted(VARIANTS))
@pytest.mark.parametrize("seed", range(3))
def test_top_k_is_the_head_of_all_scores(variant, seed, monkeypatch):
    monkeypatch.setattr(bm25_index, "_COMMON", (1, 6, 10**9)[seed])  # no row, some, nothing but rows
    documents, queries = random_corpus(seed, n=900, size=120)
    index = BM25.build(documents, variant=variant)
    sets = words(d.text for d in documents.values())
    for query in queries:
        scores = index.scores(query)
        wanted = set(terms(query))
        held = np.array([i for i, held in enumerate(sets) if wanted & held], dtype=int)
        order = held[np.argsort(-scores[held], kind="stable")]
        for k in (1, 3, 10, 200, 5_000):
            [top] = index.top([query], k)
            assert top.units.tolist() == order[:k].tolist()
            assert top.scores.tolist() == scores[order[:k]].tolist()  # to the bit, though common terms are skipped


@pytest.mark.parametrize("variant", ["rank_bm25_okapi", "rank_bm25_l"])
@pytest.mark.parametrize("passages", [None, halves])
def test_coarse_sums_leave_the_best_to_the_bit(variant, passages, monkeypatch):
    monkeypatch.setattr(bm25_index, "_COMMON", 10**9)  # nothing but rows
    sifted = []
    sift = bm25_index.Postings._sift
    monkeypatch.setattr(bm25_index.Postings, "_sift", lambda *a: sifted.append(sift(*a)) or sifted[-1])
    documents, queries = random_corpus(8, n=900, size=120)
    documents |= {f"{key}-twin": Document(f"{key}-twin", "", d.text) for key, d in documents.items()}  # ties
    index = BM25.build(documents, variant=variant, passages=passages)
    assert index.postings.coarse.shape == index.postings.dense.shape
    for query in [*queries, " ".join(queries * 40), *(f"w{i}" for i in range(40))]:
        scores = index.scores(query)
        order = np.argsort(-scores, kind="stable")
        for k in (1, 2, 9, 30):
            [top] = index.top([query], k)
            k = min(k, int((scores > 0).sum()))
            assert top.units[:k].tolist() == order[:k].tolist()
            assert top.scores.tolist() == scores[top.units].tolist()
    assert sum(sifted) > len(sifted) / 3


@given(
    st.lists(st.sampled_from([0.0, -1.0, 0.5, 0.25, 1.0, 3.0]) | st.floats(-5, 5, width=32), max_size=400),
    st.integers(1, 20),
    st.sampled_from([0.0, -np.inf]),
)
def test_best_is_exact_and_breaks_ties_by_position(values, k, floor):
    scores = np.array(values, dtype=np.float32)
    expected = sorted((i for i in range(len(scores)) if scores[i] > floor), key=lambda i: (-scores[i], i))[:k]
    assert best(scores, k, floor).tolist() == expected


def test_ties_rank_in_corpus_order():
    texts = ["rent deposit"] * 50 + ["deposit deposit"] + ["rent deposit"] * 50
    [hits] = BM25.build(corpus(*texts)).search(["rent"], 7)
    assert [hit.doc_id for hit in hits] == [f"d{i}" for i in range(7)]


@pytest.mark.parametrize("variant", ["lucene", "okapi", "rank_bm25_okapi"])
def test_a_query_alone_or_in_a_batch(variant):
    documents, queries = random_corpus(3, n=400)
    index = BM25.build(documents, variant=variant, passages=halves)
    assert index.search(queries, 20) == [index.search([query], 20)[0] for query in queries]
    assert index.search(queries[::-1], 20) == index.search(queries, 20)[::-1]


def test_the_index_does_not_depend_on_batches_or_threads(monkeypatch, tmp_path):
    documents, queries = random_corpus(4, n=300)
    whole = BM25.build(documents, threads=1)
    monkeypatch.setattr(bm25_index, "BATCH", 500)
    monkeypatch.setattr(bm25_index, "_BLOCK", 64)
    parts = BM25.build(iter(documents.values()), threads=3)
    assert whole.search(queries, 300) == parts.search(queries, 300)
    assert np.array_equal(whole.lengths, parts.lengths)


def expected_passages(index, documents, units, sets, query, k):
    """The contract of `Retriever`, spelt out: k best passages, then the best of each further document."""
    scores, wanted = index.scores(query), set(terms(query))
    held = [u for u, held in enumerate(sets) if wanted & held]
    order = sorted(held, key=lambda u: (-scores[u], u))
    found = order[:k]
    for u in order[k:]:
        docs = {units[v][0] for v in found}
        if len(docs) < k and units[u][0] not in docs:
            found.append(u)
    return [
        Hit(d, scores[u].item(), Passage(d, i, s, e, documents[d].text[s:e]))
        for u in found
        for d, i, s, e in [units[u]]
    ]


@pytest.mark.parametrize("variant", ["lucene", "rank_bm25_l", "okapi"])
@pytest.mark.parametrize("n", [4, 40, 700])
def test_passages(variant, n):
    documents, queries = random_corpus(n, n=n, size=100)
    index = BM25.build(documents, variant=variant, passages=halves)
    assert isinstance(index, Retriever)
    units = [(d.id, i, *span) for d in documents.values() for i, span in enumerate(halves(d))]
    sets = words(documents[d].text[start:end] for d, _, start, end in units)
    for query in [*queries, "w0", "w0 w1 w2 w3"]:
        for k in (1, 5, 60):
            [hits] = index.search([query], k)
            assert hits == expected_passages(index, documents, units, sets, query, k)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_documents_without_passages_or_words():
    documents = corpus("", "tenant here, tenant there", " - ", "tenant")
    index = BM25.build(documents, passages=lambda d: halves(d) if len(d.text) > 8 else [])
    assert [(h.doc_id, h.passage.index) for h in index.search(["tenant"], 5)[0]] == [("d1", 0), ("d1", 1)]
    assert [h.doc_id for h in BM25.build(documents).search(["tenant"], 5)[0]] == ["d3", "d1"]  # d3 is shorter
    empty = BM25.build(corpus("", " "), variant="rank_bm25_okapi")
    assert empty.search(["tenant", ""], 5) == [[], []]
    assert BM25.build(corpus("a b"), passages=lambda d: []).search(["a"], 3) == [[]]


def test_queries_without_known_words():
    index = BM25.build(corpus(*HAND))
    assert index.search(["", "zebra", "§ !"], 3) == [[], [], []]
    assert index.search([], 3) == []
    assert index.scores("zebra").tolist() == [0, 0, 0, 0]


def test_max_chars_and_title():
    documents = corpus("tenant evicted", "evicted tenant")
    assert [h.doc_id for h in BM25.build(documents, max_chars=6).search(["tenant"], 5)[0]] == ["d0"]
    titled = BM25.build(documents, title=True)
    assert [h.doc_id for h in titled.search(["1"], 5)[0]] == ["d1"]
    cut = BM25.build(documents, passages=halves, max_chars=9)
    [hits] = cut.search(["tenant evicted"], 9)
    assert [(h.doc_id, h.passage.start, h.passage.end) for h in hits if h.passage.end > 7] == [("d1", 7, 9)] * (
        len([h for h in hits if h.passage.end > 7])
    )


def test_save_and_load(tmp_path):
    for level in (None, halves):
        for variant in VARIANTS:
            documents, queries = random_corpus(7, n=200)
            index = BM25.build(documents, variant=variant, passages=level, tokenizer="ascii", k1=0.9, b=0.4)
            folder = tmp_path / "deep" / "index"
            index.save(folder)  # the second time, over the first
            again = BM25.load(folder, documents)
            assert again.search(queries, 15) == index.search(queries, 15)
            assert (again.variant, again.tokenizer, again.ids) == (index.variant, "ascii", index.ids)
            assert {path.suffix for path in folder.iterdir()} == {".npy", ".json"}
            assert [path.name for path in folder.parent.iterdir()] == ["index"]
    assert BM25.load(folder).search(["w0"], 1)[0][0].passage.text is None
    assert BM25.load(str(folder)).attach(documents).search(["w0"], 1) == index.search(["w0"], 1)
    again.save(folder)  # over the files that it has mapped
    assert BM25.load(folder, documents).search(queries, 15) == again.search(queries, 15)


def test_arrays_are_mapped(tmp_path):
    documents, _ = random_corpus(7, n=50)
    BM25.build(documents).save(tmp_path / "index")
    postings = BM25.load(tmp_path / "index").postings
    for name in ("units", "weights", "dense", "starts", "rows"):
        base = getattr(postings, name)
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap), name


def test_other_documents_are_not_quoted(tmp_path):
    documents, _ = random_corpus(7, n=20)
    index = BM25.build(documents.values(), passages=halves)
    assert index.search(["w0"], 1)[0][0].passage.text is None
    with pytest.raises(InputError, match="is missing from the attached documents"):
        index.attach({}).search(["w0"], 1)
    shorter = {key: Document(key, "", document.text[:-1]) for key, document in documents.items()}
    with pytest.raises(InputError, match="another length"):
        index.attach(shorter).search(["w0"], 1)


def test_a_damaged_or_foreign_folder(tmp_path):
    BM25.build(corpus(*HAND)).save(tmp_path / "good")

    def broken(change):
        shutil.rmtree(tmp_path / "bad", ignore_errors=True)
        shutil.copytree(tmp_path / "good", tmp_path / "bad")
        change(tmp_path / "bad")
        with pytest.raises(InputError) as error:
            BM25.load(tmp_path / "bad")
        return str(error.value)

    def meta(**values):
        def change(folder):
            path = folder / "index.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | values))

        return change

    def cut(name, keep=0.5):
        def change(folder):
            data = (folder / name).read_bytes()
            (folder / name).write_bytes(data[: int(len(data) * keep)])

        return change

    for path in sorted((tmp_path / "good").iterdir()):
        assert path.name in broken(cut(path.name)), path.name
        assert "index" in broken(cut(path.name, 0)), path.name
        assert "index" in broken(lambda folder, path=path: (folder / path.name).unlink()), path.name

    def flip(name):
        def change(folder):
            data = bytearray((folder / name).read_bytes())
            data[-1] ^= 1
            (folder / name).write_bytes(data)

        return change

    for path in (tmp_path / "good").glob("*.npy"):
        if path.stat().st_size > 128:  # others have nothing but a header
            assert f"{path.name}: is damaged: its checksum differs" in broken(flip(path.name))
    assert "ids.json: is damaged: its checksum differs" in broken(flip("ids.json"))
    assert "format 99 is not 3" in broken(meta(version=99))
    assert "not a BM25 index of canlegalrag" in broken(meta(format="other"))
    assert "damaged" in broken(meta(variant=None))
    assert "damaged" in broken(meta(arrays={}, lists={}))
    with pytest.raises(InputError, match="is not a BM25 index: there is no index"):
        BM25.load(tmp_path / "nowhere")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match="is in the way"):
        BM25.build(corpus(*HAND)).save(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"
    with pytest.raises(InputError, match="is in the way"):
        BM25.build(corpus(*HAND)).save(tmp_path / "mine" / "thesis.txt")


def test_bad_input():
    good = Document("a", "", "text")

    def fails(match, documents=(good,), **options):
        with pytest.raises(InputError, match=match):
            BM25.build(documents, **options)

    fails("there are none", documents=[])
    fails("'a' is the id of two documents|'a': is the id of two documents", documents=[good, good])
    fails(r"document 1: id 'a\\tb' holds '\\t'", documents=[Document("a\tb", "", "")])
    fails("document 1: id '' is blank", documents=[Document("", "", "")])
    fails("document 1: id 7 is not a string", documents=[Document(7, "", "")])
    fails("text is NoneType", documents=[Document("a", "", None)])
    fails("is str", documents=["a"])
    fails("is the key of document 'a'", documents={"b": good})
    fails("outside its 4 characters", passages=lambda d: [(0, 5)])
    fails("outside its 4 characters", passages=lambda d: [(3, 2)])
    fails("did you mean bm25l", variant="bm25-l")
    fails("did you mean lucene", variant="Lucene")
    fails("one of: legal, ascii", tokenizer="english")
    fails("between 0 and 1", b=1.5)
    fails("at least 0", k1=-1)
    fails("at least 0", k1=float("nan"))
    fails("has no delta", delta=0.5)
    fails("at least 1", max_chars=0)
    index = BM25.build([good])
    for k in (0, -1, 2.5, True, None):
        with pytest.raises(InputError, match="at least 1"):
            index.search(["text"], k)
    with pytest.raises(InputError, match="give a list of texts"):
        index.search("text", 3)


def test_progress_and_streams():
    seen = []
    documents, queries = random_corpus(5, n=9)
    index = BM25.build((d for d in documents.values()), progress=seen.append)
    assert seen == list(range(1, 10))
    assert index.documents is None and index.search(queries, 9) == BM25.build(documents).search(queries, 9)


@settings(max_examples=30)
@given(st.lists(st.text("ab é'\u00a07s.", max_size=12), min_size=1, max_size=8), st.text("ab é'7s. ", max_size=12))
def test_only_documents_that_share_a_token_are_found(texts, query):
    documents = corpus(*texts)
    for variant in ("lucene", "rank_bm25_okapi"):
        found = {hit.doc_id for hit in BM25.build(documents, variant=variant, threads=1).search([query], 100)[0]}
        assert found == {d.id for d in documents.values() if set(terms(d.text)) & set(terms(query))}


def test_a_term_repeated_beyond_sixteen_bits():
    index = BM25.build(corpus("rent " * 70_000, "rent", "x"), variant="rank_bm25_l")
    assert index.scores("rent")[0] > 30_000 * index.scores("rent")[1]
