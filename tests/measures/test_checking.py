"""Citations of an answer, one by one: each status, names, parallels, repeats, hostile text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.measures.checking import STATUSES, authorities, check
from canlegalrag.measures.registry import Registry
from canlegalrag.types import Answer, Document

REGISTRY = Registry.build(
    [
        Document("okafor", "Okafor v. Lindqvist Holdings Ltd.", "", citations=("2021 BCSC 90101", "[2021] BCJ No 9")),
        Document("wendover", "Wendover v. Prakash", "", citations=("2019 BCSC 90104",)),
        Document("hruska", "R. v. Hruska", "", citations=("1999 SKQB 90410",)),
        Document("bank", "Northern Meridian Bank v. Osei", "", citations=("2021 FC 90303",)),
        Document("untitled", "", "", citations=("2020 BCCA 90001",)),
        Document("notice", "Rental Homes Fairness Act", "", citations=("SBC 2009, c 901, ss 20-27",)),
        Document("deposit", "Rental Homes Fairness Act", "", citations=("SBC 2009, c 901, ss 41-46",)),
        Document("code", "Code de la route", "", citations=("SBC 2010, c 5",)),
    ]
)


def statuses(answer):
    return [c.status for c in check(answer, REGISTRY)]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Okafor v. Lindqvist Holdings Ltd., 2021 BCSC 90101", "verified"),
        ("Okafor, 2021 B.C.S.C. 90101, at para. 3", "verified"),
        ("2021 BCSC 90101", "verified"),
        ("Smith v. Jones, 2021 BCSC 90101", "name mismatch"),
        ("Okafor v. Jones, 2021 BCSC 90101", "name mismatch"),
        ("Anybody v. Anyone, 2020 BCCA 90001", "verified"),  # no title to compare with
        ("Okafor, 2021 BCSC 90102", "not in registry"),
        ("Doe v. Roe, 2021 ONXX 7", "not in registry"),
        ("Doe v. Roe, [2020] B.C.J. No. 7", "not in registry"),
        ("Doe v. Roe, [2020] O.J. No. 7", "unresolvable form"),
        ("Vriend v Alberta, [1998] 1 SCR 493", "unresolvable form"),
        ("Donoghue v Stevenson, [1932] AC 562", "unresolvable form"),
        ("file GE-16-1234", "unresolvable form"),
        ("s. 24(2) of the Charter", "unresolvable form"),
        ("the Rental Homes Fairness Act, SBC 2009, c 901, s 24", "verified"),
        ("Residential Tenancy Act, SBC 2009, c 901, s 24", "name mismatch"),
        ("the Rental Homes Fairness Act, SBC 2009, c 901, s 99", "unresolvable form"),
        ("Motor Vehicle Act, SBC 2010, c 5", "verified"),  # the title is French: not comparable
        ("Criminal Code, RSC 1985, c C-46", "unresolvable form"),
        ("Tenancy Act, SBC 2002, c 78", "not in registry"),
    ],
)
def test_each_status(text, status):
    (found,) = check(text, REGISTRY)
    assert (found.status, bool(found.doc_ids)) == (status, status == "verified")
    assert found.text in text and text[found.start : found.end] == found.text
    assert found.status == "verified" or found.reason


@pytest.mark.parametrize(
    "template",
    [
        "({name}, 2021 BCSC 90101)",
        "as was said before ({name}, 2021 BCSC 90101, at para. 3).",
        "*{name}*, 2021 BCSC 90101",
        "**{name}**, 2021 BCSC 90101",
        "_{name}_, 2021 BCSC 90101",
        "<em>{name}</em>, 2021 BCSC 90101",
        "“{name}”, 2021 BCSC 90101",
        '"{name}," 2021 BCSC 90101',
        "1. {name}: 2021 BCSC 90101",
        "- {name} — 2021 BCSC 90101",
        "{name} - 2021 BCSC 90101",
        "{name} (2021 BCSC 90101)",
        "{name} [2021 BCSC 90101]",
        "2021 BCSC 90101 ({name})",
        "[{name}](https://www.canlii.org/en/bc/bcsc/doc/2021/2021bcsc90101/2021bcsc90101.html)",
        "[{name}, 2021 BCSC 90101](https://www.canlii.org/en/bc/bcsc/doc/2021/2021bcsc90101/2021bcsc90101.html)",
    ],
)
def test_names_are_read_in_the_ways_that_answers_write_them(template):
    assert statuses(template.format(name="Okafor v. Lindqvist Holdings Ltd.")) == ["verified"]
    assert statuses(template.format(name="Smith v. Jones")) == ["name mismatch"]


def test_a_bracket_does_not_cut_a_name():
    (found,) = check("as held (Northern Meridian Bank v. Osei, 2021 FC 90303)", REGISTRY)
    assert (found.status, found.name) == ("verified", "Northern Meridian Bank v. Osei")


@pytest.mark.parametrize(
    "text",
    [
        "In British Columbia, 2021 BCSC 90101 decides.",
        "In October, 2021 BCSC 90101 was given.",
        "Justice Adair, 2021 BCSC 90101",
        "In Smith v. Jones, the court applied 2021 BCSC 90101.",
    ],
)
def test_what_is_no_name_of_this_case_is_not_compared(text):
    assert statuses(text) == ["verified"]


def test_parallels_are_one_mention():
    (found,) = check("Okafor v. Lindqvist, 2021 BCSC 90101, [2021] B.C.J. No. 9, 999 DLR (4th) 1", REGISTRY)
    assert found.keys == ("2021 BCSC 90101", "[2021] BCJ No 9", "999 DLR (4th) 1")
    assert (found.status, found.doc_ids) == ("verified", ("okafor",))
    # One parallel that can be checked is enough, held or not.
    assert statuses("Doe v. Roe, 999 DLR (4th) 1, 2021 BCSC 90777") == ["not in registry"]
    assert statuses("2019 BCSC 90104, [2021] B.C.J. No. 9") == ["name mismatch"]


def test_a_made_up_case_does_not_pass_at_its_second_mention():
    text = "Smith v. Jones, 2021 BCSC 90101, is clear. As 2021 BCSC 90101 says, so it is."
    assert statuses(text) == ["name mismatch"] * 2
    assert statuses("2021 BCSC 90101 at para 5; that is Smith v. Jones, 2021 BCSC 90101") == ["name mismatch"] * 2
    # The nearest name before counts.
    mixed = "Smith v. Jones, 2021 BCSC 90101. Okafor v. Lindqvist, 2021 BCSC 90101. And again 2021 BCSC 90101."
    assert statuses(mixed) == ["name mismatch", "verified", "verified"]


def test_a_repeated_citation_is_two_mentions_with_their_own_spans():
    text = "Okafor, 2021 BCSC 90101. Wendover, 2019 BCSC 90104. Again 2021 BCSC 90101, [2021] BCJ No 9."
    found = check(text, REGISTRY)
    assert [c.text for c in found] == ["2021 BCSC 90101", "2019 BCSC 90104", "2021 BCSC 90101, [2021] BCJ No 9"]
    assert len(authorities(found)) == 2


def test_initials_of_a_ministry_are_its_name():
    title = "Canada (Minister of Citizenship and Immigration) v. Vavilov"
    registry = Registry.build([Document("vavilov", title, "", citations=("2019 SCC 65",))])
    for name, status in {"Canada (MCI) v Vavilov": "verified", "Canada (MCI) v Roe": "name mismatch"}.items():
        assert [c.status for c in check(f"as in {name}, 2019 SCC 65, at para 3", registry)] == [status]


def test_listed_citations_count_where_the_text_lacks_them():
    listed = ("2021 BCSC 90101", "2019 BCSC 90104", "Smith's case")
    found = check(Answer("q", "Okafor, 2021 BCSC 90101", citations=listed), REGISTRY)
    assert [(c.status, c.text, c.start) for c in found] == [
        ("verified", "2021 BCSC 90101", 8),
        ("verified", "2019 BCSC 90104", -1),
        ("unresolvable form", "Smith's case", -1),
    ]


def test_authorities_are_distinct():
    text = (
        "Okafor v. Lindqvist, 2021 BCSC 90101; [2021] BCJ No 9; 2021 BCSC 90101; Smith v. Jones, 2021 BCSC 90101; "
        "2020 BCSC 7; 2020 BCSC 7; [1932] AC 562; [1932] AC 562"
    )
    found = authorities(check(text, REGISTRY))
    assert [(c.status, c.keys[0]) for c in found] == [
        ("verified", "2021 BCSC 90101"),
        ("name mismatch", "2021 BCSC 90101"),
        ("not in registry", "2020 BCSC 7"),
        ("unresolvable form", "[1932] AC 562"),
    ]


def test_an_exact_mention_takes_the_place_of_a_vague_one():
    vague, exact = "the Rental Homes Fairness Act, SBC 2009, c 901", "SBC 2009, c 901, s 24"
    assert [c.doc_ids for c in authorities(check(vague, REGISTRY))] == [("notice", "deposit")]
    assert [c.doc_ids for c in authorities(check(f"{vague}. See {exact}.", REGISTRY))] == [("notice",)]


def test_names_choose_among_documents_with_one_citation():
    clash = Registry.build([Document(i, f"{i} v. Roe", "", citations=("28 SCR 606",)) for i in ("Gosset", "Hale")])
    assert [c.doc_ids for c in check("Hale v. Roe, 28 SCR 606", clash)] == [("Hale",)]
    assert [c.doc_ids for c in check("28 SCR 606", clash)] == [("Gosset", "Hale")]
    assert [c.status for c in check("Doe v. Poe, 28 SCR 606", clash)] == ["name mismatch"]


def test_empty_and_wrong_input():
    assert check("", REGISTRY) == check("no citation here", REGISTRY) == []
    assert [c.status for c in check("2021 BCSC 90101", Registry.build([]))] == ["unresolvable form"]
    with pytest.raises(InputError, match="answer: is a bytes, not a string"):
        check(b"2021 BCSC 90101", REGISTRY)  # type: ignore[arg-type]


PIECES = [
    "Okafor v. Lindqvist",
    "Doe c. Roe",
    ", ",
    "2021 BCSC 90101",
    "[2021] BCJ No 9",
    "(",
    ")",
    " ",
    "“",
    "_",
    "\n",
]
PIECES += [
    ": ",
    "; ",
    "2020 BCSC 7",
    "SBC 2009, c 901",
    ", s 24",
    "<em>",
    "é",
    "\u00a0",
    "\U0001f600",
    "[1932] AC 562",
    "v",
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_text_gives_exact_spans_and_known_statuses(text):
    found = check(text, REGISTRY)
    for mention in found:
        assert mention.status in STATUSES
        assert text[mention.start : mention.end] == mention.text
        assert bool(mention.doc_ids) == (mention.status == "verified")
    kept = authorities(found)
    assert len(kept) <= len(found) and {c.status for c in kept} == {c.status for c in found}
    assert authorities(kept) == kept


@pytest.mark.parametrize(
    ("piece", "mentions"),
    [("(", 0), ("Doe v. Roe, 2021 BCSC 90101 (", 6896), ("_“", 0), ("a v. b, ", 0), ("2021 BCSC 90101: ", 11764)],
)
def test_hostile_text_ends(piece, mentions):
    found = check(piece * (200_000 // len(piece)), REGISTRY)
    assert len(found) == mentions and len(authorities(found)) == min(mentions, 1)
