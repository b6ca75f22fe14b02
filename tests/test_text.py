"""Tokens: what the law writes stays whole, offsets hold, and the fast path agrees with the exact one."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag import text
from canlegalrag.errors import InputError
from canlegalrag.text import Token, encode, normalise, terms, tokens

LAW = st.text(
    alphabet=st.one_of(
        st.sampled_from("aAbs sS§ccC-46.7,0123'’‘ \u00a0\u2011\u2010\u00ad\u200béÉçœŒßİ\u212a\u0301\n\t“”()–_\ud800"),
        st.characters(),
    ),
    max_size=60,
)
WORDS = st.lists(
    st.sampled_from(
        ["s.", "ss.", "7", "section", "§", "art.", "2021", "BCSC", "SCC", "90014", "C-46", "l'avocat", "qu’il", "5,000"]
        + ["163.1", "court's", "don't", "Québec", "l’", "7,8", "-", "'", "§§", "c\u201146", "x\u00a0y"]
    ),
    max_size=30,
).map(" ".join)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Québec", ["québec"]),
        ("Que\u0301bec", ["québec"]),
        ("ÉTÉ", ["été"]),
        ("c. C-46", ["c", "c-46"]),
        ("C\u201146", ["c-46"]),
        ("RLRQ c P-40.1", ["rlrq", "c", "p-40.1"]),
        ("well-known post-1982 COVID-19", ["well", "known", "post", "1982", "covid", "19"]),
        ("l'avocat d’Ottawa qu'il", ["avocat", "ottawa", "il"]),
        ("aujourd'hui jusqu'alors", ["aujourd'hui", "alors"]),
        ("don't O'Brien", ["don't", "o'brien"]),
        ("the court’s", ["the", "court"]),
        ("$5,000 and 1,000,000.50", ["5000", "and", "1000000", "50"]),
        ("ss. 7,8", ["ss", "7", "s.7", "8"]),
        ("s. 7", ["s", "7", "s.7"]),
        ("s.7(2)(b)", ["s", "7", "s.7", "2", "b"]),
        ("section 163.1", ["section", "163.1", "s.163.1"]),
        ("s.\u00a07", ["s", "7", "s.7"]),
        ("§ 7", ["§", "7", "s.7"]),
        ("art. 1457 C.c.Q.", ["art", "1457", "s.1457", "c", "c", "q"]),
        ("2021 BCSC 90014", ["2021", "bcsc", "90014", "2021bcsc90014"]),
        ("21 BCSC 90014", ["21", "bcsc", "90014"]),
        ("2021 the 90014", ["2021", "the", "90014"]),
        ("œuvre Œuvre", ["oeuvre", "oeuvre"]),
        ("ju\u00adge", ["juge"]),
        ("a_b “quoted”", ["a", "b", "quoted"]),
        ("' - . , ''", []),
        ("", []),
        ("\ud800 x", ["x"]),
    ],
)
def test_legal_tokens(written, expected):
    assert terms(written) == expected
    assert [token.text for token in tokens(written)] == expected


def test_offsets_are_those_of_the_original():
    written = "Selon l’employée, s.\u00a07 of C\u201146; 2021 BCSC 90014."
    assert [written[t.start : t.end] for t in tokens(written)] == [
        *["Selon", "employée", "s", "7", "s.\u00a07", "of", "C\u201146"],
        *["2021", "BCSC", "90014", "2021 BCSC 90014"],
    ]
    assert tokens("e\u0301té")[0] == Token("été", 0, 4)


@given(LAW | WORDS)
def test_fast_path_gives_the_same_tokens(written):
    for name in text.TOKENIZERS:
        assert terms(written, name) == [token.text for token in tokens(written, name)]


@given(st.lists(LAW | WORDS, max_size=6))
def test_a_batch_gives_what_each_text_gives(texts):
    for name in text.TOKENIZERS:
        coded = encode(texts, name)
        starts = [0, *coded.ends.tolist()]
        assert len(coded.ends) == len(texts) and starts[-1] == len(coded.codes)
        for i, written in enumerate(texts):
            codes = coded.codes[starts[i] : starts[i + 1]]
            assert [coded.terms[code] for code in codes] == terms(written, name)
        assert len(set(coded.terms)) == len(coded.terms) == len(np.unique(coded.codes))


@given(LAW | WORDS)
def test_tokens_are_in_order_inside_the_text_and_in_normal_form(written):
    end = 0
    for token in tokens(written):
        assert 0 <= token.start < token.end <= len(written)
        if not re.fullmatch(r"s\.\d.*|\d{4}[a-z]+\d.*", token.text):
            assert token.start >= end
        end = token.end
        assert token.text == unicodedata.normalize("NFC", token.text)
        assert not any(map(str.isspace, token.text))


@given(LAW)
def test_ascii_is_the_papers_tokenizer(written):
    found = tokens(written, "ascii")
    assert [token.text for token in found] == re.findall("[a-z0-9]+", written.lower())
    for token in found:
        assert re.findall("[a-z0-9]+", written[token.start : token.end].lower()) == [token.text]


def test_ascii_over_all_of_unicode():
    written = "".join(f"x{chr(c)}" for c in range(0x110000))
    assert terms(written, "ascii") == re.findall("[a-z0-9]+", written.lower())


def test_every_letter_of_unicode_is_kept():
    for c in map(chr, range(0x3000)):
        if c.isalpha() and c != "\u02bc":  # a letter by name, an apostrophe in use
            assert len(terms(f"{c}{c}")) == 1, hex(ord(c))


def test_an_endless_word_and_endless_space():
    assert terms("a" * 1_000_000) == ["a" * 1_000_000]
    assert terms(" \n" * 500_000 + "x") == ["x"]


def test_unknown_tokenizer():
    for name in ("lucene", "", None, 3):
        with pytest.raises(InputError, match="legal, ascii"):
            tokens("x", name)


def test_normalise():
    assert normalise("L\u2019art.\u00a07,\r\n\t c.\u202fC\u201146\u00ad ") == "L'art. 7, c. C-46"
    assert normalise("Que\u0301bec") == "Québec"
    assert normalise("") == ""


@given(LAW)
def test_normalise_twice_is_once(written):
    assert normalise(normalise(written)) == normalise(written)
