"""Searching: what a visitor sees is what a run has; whatever is written, there is an answer and no crash."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from canlegalrag import pipeline, recipes
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.exploring import DEPTH, LONGEST, Explorer, retrieving
from canlegalrag.files import read_run
from canlegalrag.measures.names import parse_all
from canlegalrag.submission import score_run
from canlegalrag.text import terms
from canlegalrag.types import Document, Hit, Query

SHORT = ("bm25", "paper-bm25l-1024", "hybrid-bm25-offline-hashing-1024")


def test_retrievers_need_nothing_that_is_not_here(sample: Explorer) -> None:
    names = sample.retrievers
    assert names[:5] == ["bm25", "bm25l", "okapi", "bm25-1024", "paper-bm25l-1024"]
    assert "hybrid-bm25-offline-hashing-1024" in names
    assert not any("gemini" in name or "kanon" in name or "qwen" in name for name in names)
    assert len(set(names)) == len(names)


def test_a_model_of_the_hub_is_offered_once_it_is_on_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub", reason="the extra hub")
    recipe = recipes.parse("all-minilm-l6-v2-1024")
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_: None)
    assert not retrieving._at_hand(recipe)
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_: "/there/config.json")
    assert retrieving._at_hand(recipe)


@pytest.mark.parametrize("name", SHORT)
def test_ranks_and_scores_are_those_of_a_run(sample: Explorer, cache: Path, tmp_path: Path, name: str) -> None:
    benchmark = sample.benchmark
    recipe = retrieving.usable()[name]
    made = pipeline.retrieve(recipe, benchmark, tmp_path / "run.jsonl", k=DEPTH, cache=cache)
    run = read_run(tmp_path / "run.jsonl", benchmark.documents)
    some = list(benchmark.queries)[::9]
    found = {query: sample.search("", name, 5, query_id=query) for query in some}
    measures = parse_all(list(found[some[0]].scores or {}))
    payload, _ = score_run(run, measures, benchmark=benchmark, made=made)
    for query, one in found.items():
        assert one.scores == payload["per_query"][query]
        assert [hit.doc_id for hit in one.ranking] == [hit.doc_id for hit in run[query]]
        assert [s.document.id for s in one.hits] == list(dict.fromkeys(hit.doc_id for hit in run[query]))[:5]
        assert [s.gold for s in one.hits] == [benchmark.qrels[query].get(s.document.id, 0) > 0 for s in one.hits]


@pytest.mark.parametrize("name", SHORT)
def test_passages_and_excerpts_stand_where_they_say(sample: Explorer, name: str) -> None:
    found = sample.search("", name, 20, query_id="b1-q1")
    tokenizer = "ascii" if name.startswith("paper") else "legal"
    asked = set(terms(found.query.asked, tokenizer))
    for seen in found.hits:
        text, e = seen.document.text, seen.excerpt
        assert text[e.start : e.end] == e.text
        assert text[seen.passage.start : seen.passage.end].find(e.text) >= 0
        assert set(seen.matched) <= asked
        assert bool(seen.passages) == (name != "bm25")
        for start, end in e.marks:
            assert set(terms(e.text[start:end], tokenizer)) & asked
        assert all(a[1] <= b[0] for a, b in zip(e.marks, e.marks[1:], strict=False))


def test_by_hand(hand_made: Explorer) -> None:
    # d4 holds "the", "landlord" and "deposit" and is shorter, d1 also "must" and "return"; d2 shares no word.
    found = hand_made.search("Must the landlord return my deposit?", k=2)
    assert found.ranks == {"d1": 1, "d4": 2}
    assert (found.gold, found.scores, found.query.id) == (None, None, "your-question")
    first = found.hits[0]
    assert first.matched[:2] == ("must", "return") or set(first.matched[:2]) == {"must", "return"}
    assert first.gold is None
    assert first.excerpt.paragraphs[0] == 1
    assert {first.excerpt.text[a:b].casefold() for a, b in first.excerpt.marks} >= {"must", "return"}


def test_gold_that_is_not_found_has_no_rank(hand_made: Explorer) -> None:
    found = hand_made.search("", query_id="q1", k=1)
    assert found.query.asked == "I am in Manitoba. Must the landlord return my deposit?"
    assert found.gold == {"d1": 1, "d3": None}
    assert found.scores is not None
    assert found.scores["recall@10"] == 0.5
    assert found.scores["mrr"] == 1.0
    assert [s.gold for s in found.hits] == [True]


def test_what_does_not_count_for_a_query_is_left_out(hand_made: Explorer) -> None:
    assert "d4" not in hand_made.search("", query_id="q2").ranks
    assert "d4" in hand_made.search("Is interest owed on a deposit?").ranks


@pytest.mark.parametrize(
    ("text", "province"),
    [("Must the landlord return my deposit now?", "Manitoba"), ("Must the landlord return my deposit?", "Yukon")],
)
def test_a_changed_query_is_ones_own(hand_made: Explorer, text: str, province: str) -> None:
    found = hand_made.search(text, query_id="q1", province=province)
    assert (found.gold, found.scores, found.query.province) == (None, None, province)
    assert "no longer q1" in found.notes[0]
    assert all(seen.gold is None for seen in found.hits)


def test_an_unchanged_query_is_the_benchmarks(hand_made: Explorer) -> None:
    found = hand_made.search(" Must the landlord return my deposit?\n", query_id="q1", province="Manitoba")
    assert found.query is hand_made.benchmark.queries["q1"]


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("text", ["", "   \n", "🙂🙂", "?!…", "\x00", "§"])
@pytest.mark.parametrize("province", ["", "Ontario"])
def test_no_word_finds_nothing_and_says_so(hand_made: Explorer, name: str, text: str, province: str) -> None:
    found = hand_made.search(text, name, province=province)
    assert (found.hits, found.ranking) == ((), ())
    assert "write a question" in found.notes[0]


def test_words_that_nobody_uses(hand_made: Explorer) -> None:
    found = hand_made.search("zzyzx 漢字")
    assert found.hits == ()
    assert found.notes == ("No decision shares a word with the question.",)


def test_a_long_text_is_cut_and_a_benchmark_query_is_not(tmp_path: Path) -> None:
    long = "deposit " * 12_500  # 100,000 characters
    one = Benchmark("one", {"d": Document("d", "", "a deposit")}, {"q": Query("q", long)}, {"q": {"d": 1}})
    explorer = Explorer(one, cache=tmp_path)
    found = explorer.search(long)
    assert len(found.query.text) == LONGEST
    assert "first 2,000 of 100,000 characters" in found.notes[0]
    assert explorer.search("", query_id="q").query.text == long


@pytest.mark.parametrize("text", ["\ud800 deposit", "dépôt d’un loyer", "déposit", "deposit\u202e\u0000", "<script>"])
def test_odd_letters(hand_made: Explorer, text: str) -> None:
    found = hand_made.search(text)
    assert found.query.text.encode()


def test_what_can_not_be_searched(hand_made: Explorer) -> None:
    for text, options in (
        (None, {}),
        (3, {}),
        ("a", {"retriever": "paper-gemini-embedding-2-4096"}),
        ("a", {"retriever": None}),
        ("a", {"retriever": "../../etc"}),
        ("a", {"k": 0}),
        ("a", {"k": 101}),
        ("a", {"k": 2.5}),
        ("a", {"k": float("nan")}),
        ("a", {"k": float("inf")}),
        ("a", {"k": True}),
        ("a", {"k": "10"}),
        ("a", {"province": "Atlantis"}),
        ("a", {"province": None}),
        ("a", {"query_id": "q9"}),
        ("", {"query_id": 7}),
    ):
        with pytest.raises(InputError):
            hand_made.search(text, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="bm25-1024"):
        hand_made.search("a", "bm25-1O24")
    with pytest.raises(InputError, match="not in the corpus"):
        hand_made.document("d9")


def test_k_may_be_a_whole_float(hand_made: Explorer) -> None:
    assert len(hand_made.search("deposit", k=1.0).hits) == 1  # type: ignore[arg-type]


def test_ties_are_said(tmp_path: Path) -> None:
    two = Benchmark("two", {i: Document(i, "", "same words") for i in ("a", "b")}, {"q": Query("q", "x")}, {})
    assert "equal scores" in Explorer(two, cache=tmp_path).search("words").notes[0]


def test_the_name_of_ones_own_question_is_free(tmp_path: Path) -> None:
    queries = {i: Query(i, "words") for i in ("your-question", "your-question_")}
    explorer = Explorer(Benchmark("b", {"a": Document("a", "", "words")}, queries, {}), cache=tmp_path)
    found = explorer.search("words")
    assert found.query.id == "your-question__"
    assert found.gold is None
    assert explorer.search("", query_id="your-question").scores["ndcg@10"] is None  # type: ignore[index]


def test_choices(hand_made: Explorer, sample: Explorer) -> None:
    assert sample.voices == ("lay", "expert")
    assert [q.id for q in hand_made.questions(voice="lay")] == ["q1"]
    assert {q.province for q in sample.questions("Ontario", "expert")} == {"Ontario"}
    assert "Yukon" in sample.provinces


def test_many_visitors_at_once_see_the_same(sample: Explorer, tmp_path: Path) -> None:
    fresh = Explorer(sample.benchmark, cache=tmp_path)  # nothing is indexed yet: all want the same indexes
    asked = [(q, name) for q in list(sample.benchmark.queries)[:8] for name in SHORT]
    with ThreadPoolExecutor(8) as pool:
        many = list(pool.map(lambda one: fresh.search("", one[1], query_id=one[0]), asked))
    for (query, name), found in zip(asked, many, strict=True):
        alone = sample.search("", name, query_id=query)
        assert (alone.hits, alone.scores, alone.ranking) == (found.hits, found.scores, found.ranking)


class Slow:
    """A retriever that waits."""

    def __init__(self) -> None:
        self.begun, self.go = Event(), Event()

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.begun.set()
        assert self.go.wait(30)
        return [[] for _ in queries]


def test_a_slow_search_or_index_keeps_nobody_else(sample: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setitem(sample._retrievers._made, "okapi", slow)  # type: ignore[arg-type]
    building, built = Event(), Event()

    def compose(*_: object, **__: object) -> Slow:
        building.set()
        assert built.wait(30)
        return slow

    sample.search("deposit")
    monkeypatch.setattr(recipes, "compose", compose)
    sample._retrievers._made.pop("bm25l", None)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(sample.search, "deposit", name) for name in ("okapi", "bm25l")]
        assert slow.begun.wait(30)
        assert building.wait(30)
        assert sample.search("deposit").hits
        built.set()
        slow.go.set()
        assert [one.result().hits for one in waiting] == [(), ()]
    sample._retrievers._made.pop("bm25l")


def test_an_index_that_can_not_be_made_is_said_without_a_path(tmp_path: Path) -> None:
    (tmp_path / "indexes").write_text("in the way")
    explorer = Explorer(Benchmark("b", {"a": Document("a", "", "words")}, {}, {}), cache=tmp_path)
    with pytest.raises(InputError, match="can't be made ready") as caught:
        explorer.search("words")
    assert str(tmp_path) not in str(caught.value)
    (tmp_path / "indexes").unlink()
    assert explorer.search("words").hits  # the next visitor isn't told of it any more


def test_prepare_makes_all_ready(hand_made: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_made.prepare("bm25", "okapi")
    monkeypatch.setattr(recipes, "compose", None)
    assert hand_made.search("deposit", "okapi").hits


def test_nothing_grows(hand_made: Explorer) -> None:
    import tracemalloc

    for n in range(50):
        hand_made.search(f"deposit {n}")
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for n in range(300):
            hand_made.search(f"deposit number {n} of some length")
        assert tracemalloc.get_traced_memory()[0] - before < 200_000
    finally:
        tracemalloc.stop()
