"""Contexts: the budget holds for the text as it is sent, slices are exact, documents share evenly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.contexts import Context, build
from canlegalrag.errors import InputError
from canlegalrag.types import Document, Hit, Passage


def document(name: str, words: int, word: str = "deposit") -> Document:
    text = " ".join(f"{word}{n}" for n in range(words))
    return Document(name, f"Doe v. {name}", text, "BCSC", 2021, citations=(f"2021 BCSC 9{words}", "[2021] B.C.J. 1"))


def found(doc: Document, start: int, end: int) -> Hit:
    return Hit(doc.id, 1.0, Passage(doc.id, 3, start, end, doc.text[start:end]))


def words(text: str) -> int:
    return len(text.split())


def uneven(text: str) -> int:
    """Not additive: joining texts changes it, as with a tokenizer's merges."""
    return len(text) // 4 + text.count("\n\n") * 3 + len(text) % 7


def check(context: Context, documents: dict[str, Document], budget: int) -> None:
    """What always holds."""
    assert context.tokens <= budget
    seen: dict[str, int] = {}
    for passage in context.passages:
        assert passage.text == documents[passage.doc_id].text[passage.start : passage.end]
        assert passage.text and passage.text in context.text
        assert passage.start >= seen.get(passage.doc_id, 0)  # in order, nothing twice
        seen[passage.doc_id] = passage.end
    cut = context.cut
    assert cut["characters"] == sum(p.end - p.start for p in context.passages)
    parted = [*cut["whole"], *cut["in_part"], *cut["left_out"]]
    assert len(parted) == len(set(parted))
    assert sum(len(documents[i].text) for i in parted) == cut["characters"] + cut["characters_cut"]
    assert (cut["tokens"], cut["budget"]) == (context.tokens, budget)


def test_whole_documents_while_they_fit() -> None:
    a, b = document("a", 50), document("b", 20)
    both = {"a": a, "b": b}
    context = build([found(b, 0, 30), found(a, 10, 40), found(b, 50, 60)], both, words, 1000, counted="words")
    assert [(p.doc_id, p.index, p.start, p.end) for p in context.passages] == [
        ("b", 0, 0, len(b.text)),
        ("a", 0, 0, len(a.text)),
    ]
    assert context.text == (
        f"[1] Doe v. b\nCite as: 2021 BCSC 920\nCourt: BCSC\nYear: 2021\n\n{b.text}\n\n"
        f"[2] Doe v. a\nCite as: 2021 BCSC 950\nCourt: BCSC\nYear: 2021\n\n{a.text}"
    )
    assert context.tokens == words(context.text)
    assert context.cut == {
        "whole": ["b", "a"],
        "in_part": [],
        "left_out": [],
        "characters": len(a.text) + len(b.text),
        "characters_cut": 0,
        "tokens": words(context.text),
        "budget": 1000,
        "counted": "words",
    }
    exact = build([found(b, 0, 30), found(a, 10, 40)], both, words, context.tokens)
    assert exact.cut["whole"] == ["b", "a"]
    assert build([found(b, 0, 30), found(a, 10, 40)], both, words, context.tokens - 1).cut["in_part"]


def test_documents_share_what_is_left_and_short_ones_give_theirs_on() -> None:
    """Three documents of which one is short: it is whole, and the others have about as much as each other."""
    docs = {d.id: d for d in (document("a", 4000), document("b", 30), document("c", 4000))}
    hits = [found(docs["a"], 20_000, 20_500), found(docs["b"], 0, 50), found(docs["c"], 5000, 5500)]
    context = build(hits, docs, words, 1000)
    check(context, docs, 1000)
    assert context.cut["whole"] == ["b"] and context.cut["in_part"] == ["a", "c"]
    assert context.tokens > 985
    sizes = {i: sum(p.end - p.start for p in context.passages if p.doc_id == i) for i in docs}
    assert abs(sizes["a"] - sizes["c"]) < 40
    (grown,) = [p for p in context.passages if p.doc_id == "a"]
    assert grown.start < 20_000 and grown.end > 20_500  # on both sides
    assert abs((20_000 - grown.start) - (grown.end - 20_500)) < 40
    assert "deposit" in grown.text.split()[0] and grown.text.split()[-1] in docs["a"].text.split()  # words are whole
    assert context.text.count("[…]") == 4


def test_of_documents_found_whole_the_beginnings_are_given() -> None:
    docs = {d.id: d for d in (document("a", 3000), document("b", 3000))}
    context = build([Hit("a", 2.0), Hit("b", 1.0)], docs, words, 600)
    check(context, docs, 600)
    assert [(p.doc_id, p.start) for p in context.passages] == [("a", 0), ("b", 0)]
    assert abs(context.passages[0].end - context.passages[1].end) < 30 and context.tokens > 590


def test_where_passages_do_not_fit_the_last_are_left_out() -> None:
    docs = {d.id: d for d in (document("a", 3000), document("b", 3000), document("c", 3000))}
    hits = [found(docs[i], 1000, 3000) for i in docs]
    context = build(hits, docs, words, 450)  # a passage has some 180 words
    check(context, docs, 450)
    assert context.cut["in_part"] == ["a", "b"] and context.cut["left_out"] == ["c"]
    one = build(hits, docs, words, 100)
    check(one, docs, 100)
    assert one.cut["in_part"] == ["a"] and one.passages[0].start == 1000 and one.tokens > 90


@pytest.mark.parametrize("budget", [0, 1, 5, 11])
def test_a_budget_that_holds_no_header_gives_nothing(budget: int) -> None:
    a = document("a", 500)
    context = build([found(a, 0, 100)], {"a": a}, words, budget)
    assert (context.passages, context.text, context.tokens) == ((), "", 0)
    assert context.cut["left_out"] == ["a"] and context.cut["characters_cut"] == len(a.text)


def test_nothing_found_is_an_empty_context() -> None:
    context = build([], {}, words, 100)
    assert (context.passages, context.text, context.tokens) == ((), "", 0)
    assert context.cut["whole"] == context.cut["left_out"] == []


def test_repeated_and_overlapping_passages_are_given_once() -> None:
    a = document("a", 5000)
    hits = [found(a, 9000, 9500), found(a, 100, 400), found(a, 9000, 9500), found(a, 9400, 9800), found(a, 400, 500)]
    context = build(hits, {"a": a}, words, 250)
    check(context, {"a": a}, 250)
    assert len(context.passages) == 2 and [p.index for p in context.passages] == [0, 1]
    first, second = context.passages
    assert first.start <= 100 and 500 <= first.end < second.start <= 9000 and second.end >= 9800


def test_odd_documents() -> None:
    unspaced = Document("u", "  Odd\n title ", "字" * 5000)
    empty = Document("e", "", "")
    accents = Document("f", "Côté c. Roy", "é" * 10 + " l’employé 🏛️ " * 400, citations=("2021 QCCS 1",))
    docs = {d.id: d for d in (unspaced, empty, accents)}
    context = build([Hit("u", 1.0), Hit("e", 1.0), Hit("f", 1.0)], docs, len, 3000)
    check(context, docs, 3000)
    assert context.cut["in_part"] == ["u", "f"] and context.cut["left_out"] == ["e"]
    assert context.text.startswith("[1] Odd title\nCite as: Odd title\n\n字")
    assert "[2] Côté c. Roy\nCite as: 2021 QCCS 1\n\n" in context.text


def test_what_cannot_be_is_said() -> None:
    a = document("2021-bcsc-1", 10)
    with pytest.raises(InputError, match=r"'2021-bcsc-2': was found but is not among the documents \(did you mean"):
        build([Hit("2021-bcsc-2", 1.0)], {a.id: a}, words, 100)
    with pytest.raises(InputError, match="passage 5:999 is outside"):
        build([Hit(a.id, 1.0, Passage(a.id, 0, 5, 999))], {a.id: a}, words, 100)
    with pytest.raises(InputError, match="budget: -1 is not a number of tokens"):
        build([], {}, words, -1)


def test_it_counts_a_few_times_however_much_was_found() -> None:
    docs = {f"d{n}": document(f"d{n}", 2000) for n in range(60)}
    asked = []

    def count(text: str) -> int:
        asked.append(len(text))
        return words(text)

    hits = [found(docs[f"d{n}"], 3000 + 10 * m, 3400 + 10 * m) for m in range(10) for n in range(60)]
    context = build(hits, docs, count, 20_000)
    check(context, docs, 20_000)
    assert len(asked) <= 24 and context.tokens > 19_800


@given(
    lengths=st.lists(st.integers(0, 300), min_size=1, max_size=6),
    places=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 900), st.integers(0, 900), st.booleans()), max_size=12),
    budget=st.integers(0, 600),
    count=st.sampled_from([words, len, uneven]),
)
def test_the_budget_is_never_exceeded_and_slices_are_exact(lengths, places, budget, count) -> None:  # type: ignore[no-untyped-def]
    docs = {f"d{n}": document(f"d{n}", length, "au" if n % 2 else "é") for n, length in enumerate(lengths)}
    hits = []
    for n, start, size, whole in places:
        doc = docs[f"d{n % len(docs)}"]
        start = min(start, len(doc.text))
        hits.append(Hit(doc.id, 1.0) if whole else found(doc, start, min(start + size, len(doc.text))))
    context = build(hits, docs, count, budget)
    check(context, docs, budget)
    assert context.tokens == (count(context.text) if context.text else 0)
    assert context.cut == build(hits, docs, count, budget).cut
