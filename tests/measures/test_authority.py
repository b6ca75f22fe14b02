"""Authority measures: the rule court by court, every measure by hand, the sample."""

import math

import pytest

from canlegalrag.benchmark import PROVINCES, load
from canlegalrag.errors import InputError
from canlegalrag.measures.authority import MEASURES, code_of, rank, score, totals, weigh
from canlegalrag.measures.citations import check_answers, cited_documents
from canlegalrag.measures.registry import Entry, Registry
from canlegalrag.types import Document, Hit, Query

COURTS = "SCC FCA CMAC FC TCC SST BCCA BCSC BCPC BCHRT ABCA ABKB UKJCPC"


def document(id_, court="", year=None, **fields):
    return Document(id_, "", "", court=court, year=year, **fields)


REGISTRY = Registry.build(
    [
        *(document(code, code, 2010) for code in COURTS.split()),
        document("old", citations=("[1950] SCR 5",)),
        document("act", "STATUTE", 2009, jurisdiction="BC"),
        document("nowhere", "XYZ"),
        document("later", "BCSC", 2021),
    ]
)


def test_the_rule():
    ranks = {i: rank(entry, "BC") for i, entry in REGISTRY.entries.items()}
    binding = {"SCC", "FCA", "CMAC", "BCCA", "old"}
    persuasive = {"FC", "TCC", "SST", "BCSC", "BCPC", "BCHRT", "ABCA", "ABKB", "UKJCPC", "later"}
    assert {i for i, r in ranks.items() if r == "binding"} == binding
    assert {i for i, r in ranks.items() if r == "persuasive"} == persuasive
    assert ranks["act"] is ranks["nowhere"] is None
    assert rank(REGISTRY.entries["SCC"], "") is None
    assert rank(Entry("x", jurisdiction="BC"), "BC") is None  # of the province, but which court?
    assert rank(Entry("x", jurisdiction="UK"), "BC") == "persuasive"


# q1, British Columbia, 2015: SCC, BCSC (twice), ABCA, BCSC of 2021, an Act, one of no known court, an unknown id.
#   Decisions: SCC, BCSC, ABCA, later, nowhere. Known courts 4: binding SCC, 1/4; persuasive 3/4.
#   Known jurisdictions 4: own BCSC, later 2/4; other ABCA 1/4. Years 4 (nowhere has none): later than 2015: 1/4.
# q2, no province, no year: nothing is defined.    q3, Quebec, 2005: nothing found.    q4: an Act alone.
QUERIES = {
    "q1": Query("q1", "?", province="British Columbia"),
    "q2": Query("q2", "?"),
    "q3": Query("q3", "?", province="Quebec"),
    "q4": Query("q4", "?", province="Yukon"),
}
FOUND = {
    "q1": [Hit(d, 1.0) for d in ("SCC", "BCSC", "BCSC", "ABCA", "later", "act", "nowhere", "gone")],
    "q2": ["SCC"],
    "q4": ["act"],
}
EXPECTED = {"binding": 1 / 4, "persuasive": 3 / 4, "own_jurisdiction": 1 / 2, "other_jurisdiction": 1 / 4}
EXPECTED |= {"later_than_query": 1 / 4}


def test_every_measure_by_hand():
    weighed = weigh(QUERIES, FOUND, REGISTRY, years={"q1": 2015, "q3": 2005})
    scores = score(weighed, resamples=20)
    assert list(EXPECTED) == list(MEASURES) == list(scores.values)
    for name, value in EXPECTED.items():
        assert scores.per_query[name]["q1"] == value, name
        assert all(math.isnan(scores.per_query[name][q]) for q in ("q2", "q3", "q4")), name
        assert (scores.n[name], scores.skipped[name]) == (1, 3)
    assert totals(weighed)["binding"] == (1, 4)


def test_a_cut_off_and_queries_without_years():
    weighed = weigh(QUERIES, FOUND, REGISTRY, k=2)
    assert totals(weighed) == {
        **{"binding": (1, 2), "persuasive": (1, 2), "own_jurisdiction": (1, 2), "other_jurisdiction": (0, 2)}
    }
    with pytest.raises(InputError, match="needs years"):
        score(weighed, "later_than_query")
    with pytest.raises(InputError, match="k: is 0"):
        weigh(QUERIES, FOUND, REGISTRY, k=0)


def test_nothing_later_is_zero():
    weighed = weigh(QUERIES, {"q1": ["SCC"]}, REGISTRY, years={"q1": 2010})
    assert score(weighed, "later_than_query", resamples=5).per_query["later_than_query"]["q1"] == 0.0


def test_provinces():
    codes = [code_of(p) for p in PROVINCES]
    assert codes == ["AB", "BC", "MB", "NB", "NL", "NT", "NS", "NU", "ON", "PE", "QC", "SK", "YT"]
    assert code_of(" québec ") == "QC" and code_of("qc") == "QC" and code_of("") == ""
    with pytest.raises(InputError, match="query 'q': 'Bavaria' is no province"):
        weigh({"q": Query("q", "?", province="Bavaria")}, {}, REGISTRY)


def test_what_the_sample_cites():
    sample = load("sample")
    registry = Registry.build(sample.documents)
    assert all(e.law or (e.level and e.jurisdiction) for e in registry.entries.values())
    cited = cited_documents(check_answers(sample.answers, registry))
    weighed = weigh(sample.queries, cited, registry, years=dict.fromkeys(sample.queries, 2025))
    scores = score(weighed, resamples=10)
    # b3-q1, Newfoundland and Labrador: a decision of the Social Security Tribunal, one of the Federal Court of Appeal.
    assert scores.per_query["binding"]["b3-q1"] == 0.5
    assert scores.per_query["own_jurisdiction"]["b3-q1"] == scores.per_query["other_jurisdiction"]["b3-q1"] == 0.0
    assert scores.values["later_than_query"] == 0.0
    for q, value in scores.per_query["binding"].items():
        assert math.isnan(value) or value + scores.per_query["persuasive"][q] == 1.0
