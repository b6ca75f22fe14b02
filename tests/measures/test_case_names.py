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


VAVILOV = "Canada (Minister of Citizenship and Immigration) v. Vavilov"
CNESST = "Commission des normes, de l'équité, de la santé et de la sécurité du travail"


@pytest.mark.parametrize(
    ("claimed", "title"),
    [
        ("Canada (MCI) v Vavilov", VAVILOV),
        ("Canada (M.C.I.) v. Vavilov", VAVILOV),
        ("MCI v Vavilov", VAVILOV),
        ("M. C. I. v. Vavilov", VAVILOV),
        ("Vavilov v MCI", VAVILOV),
        ("MCI", VAVILOV),
        ("Canada (MCI) c. Vavilov", "Canada (ministre de la Citoyenneté et de l'Immigration) c. Vavilov"),
        ("Canada (MCI) c. Vavilov", VAVILOV),
        ("MCI v Vavilov", "Vavilov v. Canada (Citizenship and Immigration)"),
        ("Hinds v MPSEP", "Hinds v. Canada (Public Safety and Emergency Preparedness)"),
        ("Hinds c MSPPC", "Hinds v. Canada (Minister of Public Safety and Emergency Preparedness)"),
        ("MNR v. Roe", "Canada (National Revenue) v. Roe"),
        ("Roe v CRA", "Roe v. Canada Revenue Agency"),
        ("AGC v Roe", "Canada (Attorney General) v. Roe"),
        ("PGQ c. Roe", "Québec (Procureur général) c. Roe"),
        ("CHRC v Roe", "Canadian Human Rights Commission v. Roe"),
        ("Roe c. CCDP", "Roe c. Commission canadienne des droits de la personne"),
        ("Roe v CEIC", "Roe v. Canada Employment Insurance Commission"),
        ("Roe v CIRB", "Roe v. Canada Industrial Relations Board, Local 3"),
        ("Roe c. CNESST", f"Roe c. {CNESST}"),
        ("CMHC v Roe", "Canada Mortgage and Housing Corporation v. Roe"),
        ("CN v Roe", "Canadian National Railway Co. v. Roe"),
        ("TD Bank v Roe", "Toronto-Dominion Bank v. Roe"),
    ],
)
def test_initials_are_the_words_they_stand_for(claimed, title):
    assert same_name(claimed, title)
    assert same_name(title, claimed)


@pytest.mark.parametrize(
    ("claimed", "title"),
    [
        ("Canada (MCI) v Smith", VAVILOV),
        ("MPSEP v Vavilov", VAVILOV),
        ("Canada (CRA) v Vavilov", VAVILOV),
        ("Mci v Vavilov", VAVILOV),  # a surname, not in capitals
        ("MCI v Roe", "Canada (Attorney General) v. Roe"),
        ("A.B. v. C.D.", "Albert Brown v. Charles Dunn"),
        ("AB v CD", "Alberta Board v. Canada Department"),
        ("J.S. v. Jones", "John Smith v. Jones"),
        ("JRS v Jones", "John Robert Stewart Hale v. Jones"),
        ("R. v. C.B.", "R. v. Canada Bread Co."),  # the Crown doesn't vouch for two letters
        ("CN", "Canadian National Railway Co. v. Roe"),
        ("CN v Smith", "Canadian National Railway Co. v. Roe"),
    ],
)
def test_initials_of_something_else(claimed, title):
    assert not same_name(claimed, title)
    assert not same_name(title, claimed)


@pytest.mark.parametrize("name", ["A " * 500, "of the " * 150, "(" * 900, "AA " * 300, "M. C. " * 160])
def test_hostile_names_end(name):
    for other in (name, "MCI v AA", VAVILOV):
        assert same_name(f"{name} v {other}", f"{other} v {name}") in (True, False)


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
