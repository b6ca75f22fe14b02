"""Chunking: exact slices, nothing lost, natural breaks where a lawyer would put them, and the published chunker."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from canlegalrag import chunking
from canlegalrag.chunking import Chunking, natural, paper_texts, parse, passages, spans
from canlegalrag.errors import InputError
from canlegalrag.types import Document

SENTENCE = "The appeal is allowed with costs throughout. "
ENGLISH = [
    "R. v. Jordan, 2016 SCC 27",
    "under s. 7 of the Charter",
    "ss. 7 and 8",
    "at para. 12 of the reasons",
    "see No. 3 on the list",
    "in [1999] 1 S.C.R. 497 it was said",
    "per L'Heureux-Dubé J. Dissenting in part",
    "by Mr. Justice Rand and Mrs. Smith",
    "Ritchie C.J. Concurring",
    "Smith Inc. Respondent",
    "the U.S. Steel case",
    "art. XII of the treaty",
    "he waited . . . The end",
    "decided: 3. That the balance be paid",
    "11 and 12 Geo. V",
    "shares No. , on which",
]
FRENCH = [
    "R. c. Jordan, 2016 CSC 27",
    "selon l'art. 12 de la Charte",
    "à l’al. 2b) de la Charte",
    "L.R.C. (1985), ch. C-46",
    "le juge M. Tremblay",
    "[1999] 1 R.C.S. 497",
    "selon l'art.\xa012 de la Charte",
]


def rejoined(text: str, cut: list[tuple[int, int]]) -> str:
    """What each passage adds to the one before it, put end to end."""
    ends = [0, *(end for _, end in cut)]
    assert all(start <= last for (start, _), last in zip(cut, ends, strict=False)), "a gap"
    return "".join(text[last:end] for (_, end), last in zip(cut, ends, strict=False))


def check(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """Everything that `recursive` and `fixed` promise."""
    for method in ("recursive", "fixed"):
        cut = spans(text, method=method, size=size, overlap=overlap)
        if not text.strip():
            assert cut == []
            continue
        assert rejoined(text, cut) == text
        assert all(0 <= start < end and end - start <= size for start, end in cut)
        assert all(a < c and b < d for (a, b), (c, d) in pairwise(cut))
        assert all(end - start <= overlap for (_, end), (start, _) in pairwise(cut))
    return spans(text, size=size, overlap=overlap)


texts = st.one_of(
    st.text(max_size=400),
    st.text(alphabet="ab .\n", max_size=600),
    st.text(alphabet="aB .?!»«\"'’)\r\n\u2028\u2029\x0c\xa0\u0301\U0001f1e8\ud83d\ude00\u200d7v", max_size=300),
    st.lists(st.sampled_from([*ENGLISH, *FRENCH, "\n\n", ". ", "\r\n", "x" * 90, "  "]), max_size=30).map("".join),
)


@settings(max_examples=300)
@given(texts, st.integers(1, 200), st.data())
@example("a" * 50, 1, None)
@example("a \r\n" * 50, 7, None)
def test_promises(text: str, size: int, data: st.DataObject | None) -> None:
    overlap = data.draw(st.integers(0, size - 1)) if data else 0
    check(text, size, overlap)


@given(texts, st.integers(1, 300))
def test_overlap_is_real(text: str, overlap: int) -> None:
    """Where size is at least four overlaps, neighbours share at least half of it."""
    size = 4 * overlap + 200
    for (_, end), (start, _) in pairwise(spans(text * 3, size=size, overlap=overlap)):
        assert overlap // 2 < end - start + 1 <= overlap + 1


@given(st.text(alphabet="e\u0301a\u0302\r\n", min_size=1, max_size=400), st.integers(120, 160))
def test_no_character_is_torn(text: str, size: int) -> None:
    if any(len(run) > 50 for run in text.replace("\u0302", "\u0301").replace("a", "e").split("e")):
        return
    for overlap in (0, 20):
        for start, end in spans(text, size=size, overlap=overlap):
            for at in {start, end} - {0, len(text)}:
                assert text[at - 1 : at + 1] != "\r\n"
                assert text[at - 1].isspace() or not unicodedata.combining(text[at])


def slow_ends(text: str, size: int, overlap: int) -> list[int]:
    """The rule spelt out, a character at a time, for text of letters, spaces, line feeds and full stops."""
    ends, end, new = [], 0, size - overlap
    limit = size
    while limit < len(text):
        window = range(limit, limit - new // 3, -1)
        lines = [p for p in window if text[p - 1] == "\n"]
        blank = [p for p in lines if text[: p - 1].rstrip(" ")[-1:] in ("\n", "")]
        stops = [p for p in window if text[p - 2 : p] == ". " and p - 2 >= limit - new // 3]
        stops = [p for p in stops if not text[p].islower() and len(text[: p - 2].replace("\n", " ").split(" ")[-1]) > 1]
        words = [p for p in window if text[p - 1] == " "]
        early = [p for p in range(limit - new // 3, end + overlap, -1) if text[p - 1].isspace() and text[end:p].strip()]
        end = next((found[0] for found in (blank, lines, stops, words, early[:1]) if found), limit)
        ends.append(end)
        limit = end + new
    return ends


@settings(max_examples=300)
@given(st.text(alphabet="eeeeexxA   .\n", min_size=60, max_size=900), st.integers(8, 120), st.integers(0, 7))
def test_same_as_the_rule_spelt_out(text: str, size: int, overlap: int) -> None:
    text = text.replace(".", "eq. ").replace("q.", "qq.")  # a full stop stands after a word
    text = "".join(c for i, c in enumerate(text) if not (c == " " and text[i - 1 : i] == " "))
    got = [end for _, end in natural.cut_naturally(text, size, overlap)]
    want = [*slow_ends(text, size, overlap), len(text)]
    assert got == want


def test_order_of_breaks() -> None:
    """A passage of 60 whose last third holds one break more each time; the highest in rank is taken."""
    base = "x" * 42
    for tail, cut in [
        ("xxxxxxxxxxxxxxxxxxxxxxxx", 60),
        ("xxx xxxxxxxxxxxxxxxxxxxx", 46),
        ("xx. Xxxx xxxxxxxxxxxxxxx", 46),
        ("xx\nXxxx. Xx xxxxxxxxxxxx", 45),
        ("\n\nXxxx\nXx. X xxxxxxxxxxx", 44),
        ("\n \nXxxx\nXx. X xxxxxxxxxx", 45),
        ("\n\xa0\nXxxx\nXx. X xxxxxxxxxx", 45),
        ("\r\n\r\nXxxx\r\nXx. X xxxxxxxxx", 46),
        ("x\u2029Xxxx\nXx. X xxxxxxxxxxxx", 44),
        ("xx\u2028Xxxx. Xx xxxxxxxxxxxx", 45),
        ("xx\rXxxx. Xx xxxxxxxxxxxxx", 45),
        ("xx? Xxx xxxxxxxxxxxxxxxx", 46),
        ("x.” Xxx xxxxxxxxxxxxxxxx", 46),
        ("x.\xa0» Xx xxxxxxxxxxxxxxxx", 47),
    ]:
        assert check(base + tail, 60, 0)[0] == (0, cut), tail


@pytest.mark.parametrize("phrase", ENGLISH + FRENCH)
def test_no_sentence_ends_in(phrase: str) -> None:
    """At any size, a passage boundary inside the phrase is never taken for a sentence's."""
    text = f"Xxx {phrase}, and so on and on it goes"
    for limit in range(8, len(text)):
        found = natural._sentence(text, text.rfind(".", 0, limit - 1), 0, limit)
        assert found == 0, text[:found]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("The appeal is dismissed. The Crown", "The appeal is dismissed. "),
        ("He said no. The Crown", "He said no. "),
        ("the prior art. The claim", "the prior art. "),
        ("decided in 1982. Then came", "decided in 1982. "),
        ("see section 7. The words", "see section 7. "),
        ("Is it so? The Court", "Is it so? "),
        ("“It is so.” The Court", "“It is so.” "),
        ("(See above.)  The Court", "(See above.)  "),
        ("« C’est ainsi. » La Cour", "« C’est ainsi. » "),
        ("Est-ce vrai\xa0? La Cour", "Est-ce vrai\xa0? "),
        ("L’appel est rejeté. Les dépens", "L’appel est rejeté. "),
        ("L’appel est rejeté. À bon droit", "L’appel est rejeté. "),
        ("under s. 12(b). The Court", "under s. 12(b). "),
        ("the case of R. v. Oakes. The Court", "the case of R. v. Oakes. "),
    ],
)
def test_a_sentence_ends(text: str, cut: str) -> None:
    limit = len(text) - 1
    assert natural._sentence(text, text.rfind(".", 0, limit - 1), 0, limit) == len(cut)


def test_a_long_word_before_the_full_stop() -> None:
    text = "x" * 70 + ". Then yyyy " + "y" * 40
    assert check(text, 85, 0)[0] == (0, 72)


def test_number_of_a_paragraph_stays_with_it() -> None:
    assert natural._sentence("Reasons\n12. The Court of Appeal", 10, 8, 25) == 0


def test_french_marks_stay_with_their_words() -> None:
    text = "x" * 40 + " « oui » mot : y" + "y" * 30
    assert check(text, 50, 0)[0] == (0, 49)  # after "oui » ": not before "»", not after "«"
    assert check(text, 54, 0)[0] == (0, 49)  # not before ":"


def test_worked_example() -> None:
    """size 120, overlap 30: the first may end in (90, 120], the second in (end+60, end+90]."""
    text = SENTENCE * 5  # 45 characters each; sentences start at 45, 90, 135, 180
    # No sentence starts in (90, 120]: the last word there is "allowed" (94+10=104) … "with" starts at 112.
    assert text[: check(text, 120, 30)[0][1]].endswith("The appeal is allowed with ")
    # size 100: window (67, 100]; the sentence at 90. Overlap 30: from the first word in [60, 74].
    cut = check(text, 100, 30)
    assert cut[0] == (0, 90)
    assert text[cut[1][0] : 90] == "allowed with costs throughout. "[-30:].split(" ", 1)[1]


@pytest.mark.parametrize("abbreviation", ["Mr.", "Messrs.", "J.A.", "v.", "Geo."])
def test_abbreviations_in_the_window(abbreviation: str) -> None:
    """The last full stop of the window is an abbreviation's: the sentence before it is where the passage ends."""
    text = "x" * 40 + f" end. Then {abbreviation} Rand" + "x" * 40
    assert check(text, 60, 0)[0] == (0, 46)


def test_letters_marks_flags_and_line_ends_stay_whole() -> None:
    """Size 60 would cut between the two: the passage ends one character earlier."""
    for pair in ("e\u0301", "\r\n", "\U0001f1e8\U0001f1e6", "\U0001f44d\U0001f3fd", "\ud83d\ude00", "x\u200d"):
        assert check("x" * 59 + pair + "x" * 40, 60, 0)[0] == (0, 59), ascii(pair)
    assert check("x" * 45 + " xxxxxxxxxxxx." + "\r\n" + "X" * 40, 60, 0)[0] == (0, 46)
    assert check("x" * 57 + "\U0001f1e8\U0001f1e6\U0001f1ebx", 59, 0)[0] == (0, 59)  # between two flags


def test_overlap_of_one() -> None:
    assert check("abcdefghij", 4, 1) == [(0, 4), (3, 7), (6, 10)]


def test_headings_do_not_become_passages() -> None:
    text = "REASONS\n\n" + SENTENCE * 60
    assert check(text, 1024, 128)[0][1] > 700


def test_short_text_is_one_passage() -> None:
    for method in chunking.METHODS:
        assert spans("Held: yes.", method=method) == [(0, 10)]
    assert spans("x" * 1024) == [(0, 1024)]
    assert spans("x" * 1025) == [(0, 1024), (896, 1025)]


@pytest.mark.parametrize("text", ["", " ", "\n\n \t", "\xa0\u2028"])
@pytest.mark.parametrize("method", chunking.METHODS)
def test_blank_text_has_no_passages(method: str, text: str) -> None:
    assert spans(text, method=method) == []
    assert passages(Document("d", "t", text), method=method) == []


def test_fixed() -> None:
    assert spans("abcdefghij", method="fixed", size=4, overlap=1) == [(0, 4), (3, 7), (6, 10)]
    assert spans("abcdefghijk", method="fixed", size=4, overlap=1) == [(0, 4), (3, 7), (6, 10), (9, 11)]
    assert spans("abcdefghij", method="fixed", size=5, overlap=0) == [(0, 5), (5, 10)]


def test_passages_are_slices() -> None:
    document = Document("2019-scc-65", "t", ("L’arrêt est infirmé. " * 9 + "\r\n\r\n") * 20)
    for short in ("recursive:300:40", "fixed:300:40", "whole", "paper:300:40", "rcts:300:40"):
        found = parse(short)(document)
        assert [p.index for p in found] == list(range(len(found)))
        assert all(p.doc_id == document.id and p.text == document.text[p.start : p.end] for p in found)
    assert passages(document, size=300, overlap=40) == parse("recursive:300:40")(document)


@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", ".", ". ", "v. ", "?", "\r\n", "\u0301", "\U0001f600", "\xa0", "a\n", ".)"]
)
def test_hostile_text(unit: str) -> None:
    """A megabyte of one thing between two words: nothing quadratic, nothing lost."""
    for length, size, overlap in ((1_000_000, 1024, 128), (300_000, 100_000, 0), (20_000, 1024, 1000)):
        text = "a " + unit * (length // len(unit)) + " b"
        for method in ("recursive", "rcts"):
            cut = spans(text, method=method, size=size, overlap=overlap)
            assert rejoined(text, cut) == text
            assert max(end - start for start, end in cut) <= size


@pytest.mark.parametrize("short", ["whole", "fixed:1024:128", "recursive:4096:128", "paper:1024:128", "rcts:500:0"])
def test_short_form_round_trip(short: str) -> None:
    assert str(parse(short)) == short
    assert parse(str(parse(short))) == parse(short)
    assert hash(parse(short)) == hash(parse(short))


def test_short_form_defaults() -> None:
    assert parse("recursive") == Chunking() == Chunking("recursive", 1024, 128)
    assert parse("paper:1024") == Chunking("paper", 1024, 128)
    assert parse(" fixed : 2048 ") == Chunking("fixed", 2048, 128)
    assert Chunking("whole", 5, 3) == parse("whole")


@pytest.mark.parametrize(
    ("short", "message"),
    [
        ("recursiv:1024", "unknown method 'recursiv' (did you mean recursive?)"),
        ("", "one of recursive, fixed, whole, paper, rcts"),
        ("semantic:5", "one of recursive, fixed, whole, paper, rcts"),
        ("recursive:0:0", "size 0 is below 1"),
        ("recursive:100", "overlap 128 does not fit size 100"),
        ("rcts:100", "overlap 128 does not fit size 100"),
        ("rtcs:500:0", "unknown method 'rtcs' (did you mean rcts?)"),
        ("fixed:100:100", "overlap 100 does not fit size 100"),
        ("recursive:1e3", "whole numbers"),
        ("recursive:-5", "whole numbers"),
        ("recursive:", "whole numbers"),
        ("recursive:1:2:3", "too many parts"),
        ("whole:1024", "too many parts"),
    ],
)
def test_bad_short_forms(short: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(short)
    assert message in str(caught.value)


def test_bad_types() -> None:
    for call in (
        lambda: parse(1024),  # type: ignore[arg-type]
        lambda: spans(None),  # type: ignore[arg-type]
        lambda: spans(b"bytes"),  # type: ignore[arg-type]
        lambda: spans("text", size=1.5),  # type: ignore[arg-type]
        lambda: spans("text", method=None),  # type: ignore[arg-type]
        lambda: spans("text", method=["recursive"]),  # type: ignore[arg-type]
        lambda: passages("text"),  # type: ignore[arg-type]
        lambda: paper_texts("text", 0, 0),
    ):
        with pytest.raises(InputError):
            call()


def test_paper_drops_separators() -> None:
    """Worked by hand from the published code: lines joined with nothing between them, full stops kept."""
    text = "Reasons for judgment\nThe appeal fails. Costs follow. So ordered."
    # Lines of 20 and 43; the second is over 30: "The appeal fails. " (18), "Costs follow. " (14), "So ordered." (11).
    # 20 + 18 > 30: chunk; 20 > overlap 14: dropped. 18 + 14 > 30: chunk; dropped. 14 + 11 <= 30: the last.
    assert paper_texts(text, 30, 14) == ["Reasons for judgment", "The appeal fails. ", "Costs follow. So ordered."]
    # Overlap 18 keeps "The appeal fails. " and checks no length after: 18 + 14 = 32 characters.
    assert paper_texts(text, 30, 18)[1:] == [
        "The appeal fails. ",
        "The appeal fails. Costs follow. ",
        "Costs follow. So ordered.",
    ]
    assert spans(text, method="paper", size=30, overlap=14) == [(0, 20), (21, 39), (39, 64)]
    assert paper_texts("one two\n\nthree", 100, 0) == ["one twothree"]
    assert paper_texts("x" * 50 + " yy", 10, 0) == ["x" * 50, "yy"]  # a long word stays whole
    assert paper_texts("", 10, 0) == paper_texts("\n\n", 10, 0) == []
    assert paper_texts("\n \n", 10, 0) == [" "]


@given(texts, st.integers(1, 120), st.data())
def test_paper_keeps_all_but_separators(text: str, size: int, data: st.DataObject) -> None:
    """With no overlap the chunks hold every character but spaces and line feeds, in order."""
    bare = "".join(paper_texts(text, size, 0)).replace(" ", "").replace("\n", "")
    assert bare == text.replace(" ", "").replace("\n", "")
    overlap = data.draw(st.integers(0, size - 1))
    longest = max(map(len, text.replace("\n", " ").split(" ")), default=0)
    assert all(len(t) <= max(size + overlap, longest + overlap + 2) for t in paper_texts(text, size, overlap))
