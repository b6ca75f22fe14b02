"""Names of cases: the same name however it is spelt, never the same for another case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.measures.case_names import is_a_name, parted, same_name

OKAFOR = "Okafor v. Lindqvist Holdings Ltd."


@pytest.mark.parametrize(
    ("claimed", "title"),
    [
        ("Okafor v. Lindqvist Holdings Ltd.", OKAFOR),
        ("OKAFOR c. LINDQVIST", OKAFOR),
        ("Okafor vs Lindqvist Holdings Limited et al.", OKAFOR),
        ("Lindqvist Holdings Inc v Okafor", OKAFOR),  # parties change places on appeal
        ("Okafor", OKAFOR),
        ("Lindqvist", OKAFOR),
        ("Chidi Okafor v Lindquist", OKAFOR),
        ("The Queen v. Hruska", "R. v. Hruska"),
        ("Her Majesty the Queen v. Hruska", "R v Hruska"),
        ("Hruska v. His Majesty the King", "R. v. Hruska"),
        ("Regina v. Hruska", "R. v. Hruska"),
        ("Thériault c. La Reine", "Theriault v. The Queen"),
        ("Thériault c. Sa Majesté le Roi", "Thériault c. La Reine"),
        ("Brushett v. A.G. Canada", "Canada (Attorney General) v. Brushett"),
        ("Canada (Procureur général) c. Brushett", "Canada (Attorney General) v. Brushett"),
        ("Pelletier-Woods v. The Queen", "Pelletier-Woods v. Canada"),
        ("Re Zwicker Estate", "Zwicker Estate (Re)"),
        ("Zwicker (Re)", "Zwicker Estate (Re)"),
        ("In the Matter of Zwicker Estate", "Zwicker Estate (Re)"),
        ("D.P. v. CEIC", "D. P. v Canada Employment Insurance Commission"),
        ("DP c. Commission de l'assurance-emploi du Canada", "D. P. v Canada Employment Insurance Commission"),
        ("Murphy v. Canadian Pacific Railway Co.", "Murphy v. C.P.R."),
        ("Dry Haven Waterproofing v. Szabo", "Dry-Haven Waterproofing Inc. v. Szabó"),
        ("O’Brien v. McCord", "O'Brien v. Mc Cord"),
        ("Favel v. City of Prince Albert", "Favel v. Prince Albert (City)"),
        ("Traders' Service v. Labour Relations Bd.", "Labour Relations Board v. Traders' Service Ltd."),
    ],
)
def test_one_name_in_many_spellings(claimed, title):
    assert same_name(claimed, title)
    assert same_name(title, claimed)


@pytest.mark.parametrize(
    ("claimed", "title"),
    [
        ("Smith v. Jones", OKAFOR),
        ("Okafor v. Jones", OKAFOR),
        ("Smith v. Lindqvist", OKAFOR),
        ("Smith", OKAFOR),
        ("Smith Holdings Ltd. v. Jones", OKAFOR),
        ("R. v. Smith", "R. v. Hruska"),
        ("R. v. Okafor", OKAFOR),
        ("Smith v. Hruska", "R. v. Hruska"),
        ("Canada (Attorney General) v. Tulk", "Canada (Attorney General) v. Brushett"),
        ("Re Smith Estate", "Zwicker Estate (Re)"),
        ("Marchand v. Bélanger", "Marchuk v. Bélanger-Fraser"),
        ("A. B. v. C. D.", "E. F. v. G. H."),
        ("Royal Bank v. Osei", "Northern Meridian Bank v. Osei"),
    ],
)
def test_another_name(claimed, title):
    assert not same_name(claimed, title)
    assert not same_name(title, claimed)


@pytest.mark.parametrize("nothing", ["", " ", "Ltd.", " v. ", "???"])
def test_nothing_to_compare_contradicts_nothing(nothing):
    assert same_name(nothing, OKAFOR)
    assert same_name(OKAFOR, nothing)


@pytest.mark.parametrize(
    "words", ["British Columbia", "October", "The Appeal Division", "Justice Adair", "Rental Act", ""]
)
def test_what_is_no_name_of_a_case(words):
    assert not is_a_name(words)


@pytest.mark.parametrize("name", ["Okafor", "R. v. B.C.", "Canada v. Ontario", "Re Ontario", "Vavilov"])
def test_what_is_a_name(name):
    assert is_a_name(name)


def test_a_clause_parts_a_name_from_the_citation():
    assert parted("Okafor v. Lindqvist, the court applied")
    for style in (OKAFOR, "A v. B, supra", "A v. B, cited as", "A v. B, a decision of", "A, B and C v. D"):
        assert not parted(style)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_its_own_name(a, b):
    assert same_name(a, a)
    assert same_name(f"{a} v. {b}", f"{a} v. {b}")
    assert same_name(a, b) in (True, False)
    is_a_name(a)
    parted(a)
