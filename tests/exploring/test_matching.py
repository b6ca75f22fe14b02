"""The excerpt: the stretch that says most of a query's words, what is marked in it, and its paragraphs."""

from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.exploring.matching import best, paragraphs
from canlegalrag.text import terms

FILLER = "Nothing of the kind was argued here. " * 30


def test_the_rarest_words_win() -> None:
    text = f"the the the the. {FILLER}\n\n[7] The kennel was sold. {FILLER}"
    ((found, matched),) = best([(text, 0, len(text))], {"kennel": 5.0, "the": 0.1, "sold": 3.0}, "legal")
    assert "kennel was sold" in found.text
    assert [found.text[a:b] for a, b in found.marks] == ["kennel", "sold"]  # "the" is in nearly all documents
    assert matched == ("kennel", "sold", "the")


def test_the_three_rarest_are_marked_where_all_are_common() -> None:
    text = "  It is the end of all.\n\n"
    ((found, _),) = best([(text, 0, len(text))], {"the": 0.1, "end": 0.9, "is": 0.2, "of": 0.3}, "legal")
    assert [found.text[a:b] for a, b in found.marks] == ["is", "end", "of"]
    assert (found.start, found.text) == (2, "It is the end of all.")


def test_a_section_is_marked_once() -> None:
    text = "Under s. 7 of the Act."
    ((found, _),) = best([(text, 0, len(text))], dict.fromkeys(terms("s. 7"), 4.0), "legal")
    assert [found.text[a:b] for a, b in found.marks] == ["s. 7"]


def test_accents_and_the_papers_tokens() -> None:
    text = "À Québec, le dépôt."
    ((legal, _),) = best([(text, 0, len(text))], {"québec": 4.0}, "legal")
    ((ascii_, _),) = best([(text, 0, len(text))], {"qu": 4.0, "bec": 4.0}, "ascii")
    assert [legal.text[a:b] for a, b in legal.marks] == ["Québec"]
    assert [ascii_.text[a:b] for a, b in ascii_.marks] == ["Qu", "bec"]


def test_several_stretches_at_once_as_one_by_one() -> None:
    texts = [FILLER, "The kennel.", "", f"{FILLER} kennel {FILLER}"]
    weights = {"kennel": 5.0, "argued": 2.0}
    stretches = [(text, 0, len(text)) for text in texts]
    assert best(stretches, weights, "legal") == [best([one], weights, "legal")[0] for one in stretches]


@given(st.text(max_size=400), st.text(max_size=60), st.sampled_from(["legal", "ascii"]), st.data())
def test_any_text(text: str, query: str, tokenizer: str, data: st.DataObject) -> None:
    text = text.encode("utf-8", "replace").decode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    weights = dict.fromkeys(terms(query.encode("utf-8", "replace").decode(), tokenizer), 2.0)
    ((found, matched),) = best([(text, start, end)], weights, tokenizer)
    assert start <= found.start <= found.end <= end
    assert found.text == text[found.start : found.end]
    assert set(matched) <= weights.keys()
    last = 0
    for a, b in found.marks:
        assert last <= a < b <= len(found.text)
        last = b


def test_paragraphs() -> None:
    text = "Reasons\n\n[1] One.\n[1998] 1 S.C.R. 5\n  [2] Two.\n[3] Three [4] not a paragraph."
    at = text.index
    assert paragraphs(text, 0, 5) == ()
    assert paragraphs(text, at("[1998]"), at("[1998]") + 8) == (1, 1)
    assert paragraphs(text, at("One"), at("Two")) == (1, 2)
    assert paragraphs(text, at("\n\n[1]"), at("One") + 1) == (1, 1)
    assert paragraphs(text, at("not a"), len(text)) == (3, 3)
    assert paragraphs(text, 0, len(text)) == (1, 3)
