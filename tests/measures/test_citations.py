"""Citation measures: every one by hand, on the sample, and from plain lists."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.benchmark import load
from canlegalrag.errors import InputError
from canlegalrag.measures.citations import (
    MEASURES,
    Registry,
    check_answers,
    cited_documents,
    per_query,
    score,
    score_answers,
    totals,
)
from canlegalrag.measures.retrieval import group
from canlegalrag.types import Answer, Document, Hit

# Documents:  a Okafor v. Lindqvist (also in the BCJ)    b Wendover v. Prakash    c R. v. Hruska    en, fr: one decision
# Answers (authority: status, document):
#   q1  2021 BCSC 1 with its parallel: verified a; again 2021 BCSC 1: a repeat; Smith v. Jones under b's number: name
#       mismatch; 2020 BCCA 7: not in registry; [1932] AC 562: unresolvable        4 authorities, 3 checkable
#       gold a, c; retrieved a, b
#       precision 1/3 (a), recall 1/2, f1 (1 + 1) / (3 + 2), cited_retrieved 1/3 (b's name is wrong), invented 2/3,
#       coverage 3/4
#   q2  2022 FC 5, in two languages: verified, one authority, en or fr             1 authority, 1 checkable
#       gold en; retrieved fr: precision 1, recall 1, f1 2/2, cited_retrieved 1, invented 0, coverage 1
#   q3  nothing cited, gold b; retrieved nothing: recall 0/1, f1 0/1, the others undefined, counts 0
#   q4  [1932] AC 562 only, no gold: coverage 0/1, the others undefined
#   q5  no answer at all, gold a: as q3
REGISTRY = Registry.build(
    [
        Document("a", "Okafor v. Lindqvist", "", citations=("2021 BCSC 1", "[2021] BCJ No 9")),
        Document("b", "Wendover v. Prakash", "", citations=("2019 BCSC 2",)),
        Document("c", "R. v. Hruska", "", citations=("1999 SKQB 3",)),
        Document("en", "Tulk v. Canada", "", citations=("2022 FC 5",)),
        Document("fr", "Tulk c. Canada", "", citations=("2022 CF 5",)),
    ]
)
ANSWERS = {
    "q1": "Okafor v. Lindqvist, 2021 BCSC 1, [2021] B.C.J. No. 9; 2021 BCSC 1 at para 5; Smith v. Jones, 2019 BCSC 2; "
    "Doe v. Roe, 2020 BCCA 7; Donoghue v Stevenson, [1932] AC 562.",
    "q2": Answer("q2", "Tulk v. Canada, 2022 FC 5, 2022 CF 5"),
    "q3": "I can't say.",
    "q4": "Donoghue v Stevenson, [1932] AC 562",
    "q9": "not asked: Okafor, 2021 BCSC 1",
}
QRELS = {"q1": {"a": 2, "c": 1, "b": 0}, "q2": {"en": 1}, "q3": {"b": 1}, "q4": {}, "q5": {"a": 1}}
RETRIEVED = {"q1": [Hit("a", 3.0), Hit("a", 2.0), Hit("b", 1.0), Hit("x", 0.5)], "q2": [Hit("fr", 1.0)]}
nan = math.nan
EXPECTED = {
    "citation_precision": [1 / 3, 1.0, nan, nan, nan],
    "citation_recall": [1 / 2, 1.0, 0.0, nan, 0.0],
    "citation_f1": [2 / 5, 1.0, 0.0, nan, 0.0],
    "cited_retrieved": [1 / 3, 1.0, nan, nan, nan],
    "invented_rate": [2 / 3, 0.0, nan, nan, nan],
    "coverage": [3 / 4, 1.0, nan, 0.0, nan],
    "authorities": [4.0, 1.0, 0.0, 1.0, 0.0],
    "verified": [1.0, 1.0, 0.0, 0.0, 0.0],
    "name_mismatch": [1.0, 0.0, 0.0, 0.0, 0.0],
    "not_in_registry": [1.0, 0.0, 0.0, 0.0, 0.0],
    "unresolvable": [1.0, 0.0, 0.0, 1.0, 0.0],
}


@pytest.fixture(scope="module")
def checked():
    return check_answers(ANSWERS, REGISTRY, qrels=QRELS, retrieved=RETRIEVED)


def test_every_measure_by_hand(checked):
    scores = score(checked, resamples=50)
    assert list(EXPECTED) == list(MEASURES) == list(scores.values)
    for name, row in EXPECTED.items():
        assert scores.per_query[name] == pytest.approx(dict(zip(QRELS, row, strict=True)), nan_ok=True), name
        known = [v for v in row if not math.isnan(v)]
        assert scores.values[name] == pytest.approx(sum(known) / len(known)), name
        assert (scores.n[name], scores.skipped[name]) == (len(known), 5 - len(known)), name


def test_micro_counts(checked):
    assert totals(checked) == {
        "citation_precision": (2, 4),
        "citation_recall": (2, 5),
        "citation_f1": (4, 9),
        "cited_retrieved": (2, 4),
        "invented_rate": (2, 4),
        "coverage": (4, 6),
        "authorities": (6, 5),
        "verified": (2, 5),
        "name_mismatch": (1, 5),
        "not_in_registry": (1, 5),
        "unresolvable": (2, 5),
    }


def test_a_cut_off_counts_documents():
    for k, share in ((1, (1, 3)), (2, (1, 3))):
        found = check_answers(ANSWERS, REGISTRY, retrieved=RETRIEVED, k=k, queries=["q1"])
        assert per_query(found, "cited_retrieved")["cited_retrieved"]["q1"] == share
        assert found["q1"].retrieved == frozenset(["a", "b"][:k])
    with pytest.raises(InputError, match="k: is 0"):
        check_answers(ANSWERS, REGISTRY, k=0)


def test_which_measures_there_are_depends_on_the_evidence():
    alone = check_answers(ANSWERS, REGISTRY)
    assert list(alone) == list(ANSWERS)
    assert [n for n in MEASURES if n not in per_query(alone)] == [
        *("citation_precision", "citation_recall", "citation_f1", "cited_retrieved")
    ]
    with pytest.raises(InputError, match="measure 'citation_recall': needs qrels"):
        per_query(alone, "citation_recall")
    with pytest.raises(InputError, match="did you mean invented_rate"):
        per_query(alone, "invented")


def test_groups_and_blocks(checked):
    scores = score(checked, "citation_recall", blocks={"q1": "x", "q2": "x"}, resamples=50)
    parts = group(scores, {"q1": "BC", "q2": "BC"})
    assert parts["BC"].values["citation_recall"] == 0.75 and parts[""].n["citation_recall"] == 2


def test_documents_cited(checked):
    assert cited_documents(checked) == {"q1": ["a"], "q2": ["en"], "q3": [], "q4": [], "q5": []}


def test_a_gold_document_under_a_wrong_name_is_not_cited():
    found = check_answers({"q": "Smith v. Jones, 2021 BCSC 1"}, REGISTRY, qrels={"q": {"a": 1}}, retrieved={"q": ["a"]})
    values = per_query(found)
    assert values["citation_precision"]["q"] == (0, 1) and values["citation_recall"]["q"] == (0, 1)
    assert values["cited_retrieved"]["q"] == (0, 1) and values["invented_rate"]["q"] == (1, 1)


def test_the_reference_answers_of_the_sample_are_verified():
    sample = load("sample")
    registry = Registry.build(sample.documents)
    assert list(registry.ambiguous) == ["SBC 2009 c 901"]
    found = check_answers(sample.answers, registry, qrels=sample.qrels)
    others = {(a.status, a.keys[0]) for of in found.values() for a in of.authorities if a.status != "verified"}
    # The Charter is the one authority that no document is.
    assert others == {("unresolvable form", "Canadian Charter of Rights and Freedoms")}
    scores = score(found, resamples=10)
    assert scores.values["citation_precision"] == 1.0 and scores.values["invented_rate"] == 0.0
    assert scores.values["citation_recall"] == 1.0 and scores.skipped["citation_precision"] == 0
    assert totals(found, "coverage")["coverage"][0] == totals(found, "verified")["verified"][0]


def test_swapped_names_in_the_sample_are_all_found_out():
    sample = load("sample")
    cases = [d for d in sample.documents.values() if d.court != "STATUTE"]
    registry = Registry.build(cases)
    for number, document in enumerate(cases):
        other = cases[(number + 1) % len(cases)]
        for style, status in ((document.title, "verified"), (other.title, "name mismatch")):
            found = check_answers({"q": f"It was so held in {style}, {document.citations[0]}."}, registry)["q"]
            assert [a.status for a in found.authorities] == [status], (style, document.title)


CITED = ["2021 BCSC 1", "Okafor, 2021 BCSC 1", "Doe v. Roe, 2021 BCSC 1", "2019 BCSC 2", "2020 BCCA 7", "[1932] AC 562"]


@given(
    st.lists(st.sampled_from(CITED), max_size=8),
    st.sets(st.sampled_from(["a", "b", "c"])),
    st.sets(st.sampled_from(["a", "b", "c"])),
)
def test_properties(cited, gold, retrieved):
    qrels = {"q": dict.fromkeys(gold, 1)}

    def shares(pieces):
        found = check_answers({"q": "; ".join(pieces)}, REGISTRY, qrels=qrels, retrieved={"q": sorted(retrieved)})
        return {name: of["q"] for name, of in per_query(found).items()}

    got = shares(cited)
    assert shares(cited + cited[:1]) == got  # repeats count once
    for name, (part, whole) in got.items():
        assert part >= 0 and (part <= whole or MEASURES[name].count), name
    four = ("verified", "name_mismatch", "not_in_registry", "unresolvable")
    assert got["authorities"][0] == sum(got[name][0] for name in four)
    assert got["invented_rate"][1] == got["coverage"][0] == got["authorities"][0] - got["unresolvable"][0]
    assert got["invented_rate"][0] == got["coverage"][0] - got["verified"][0]
    assert got["citation_recall"][1] == len(gold)


ROWS = [
    {"id": "a", "citations": ["2021 BCSC 1"], "title": "Okafor v. Lindqvist"},
    {"id": "b", "citations": ["2019 BCSC 2"], "title": None, "other": 5},
]


def test_plain_lists():
    answers = ["Okafor, 2021 BCSC 1 and 2020 BCCA 7", "nothing", "2019 BCSC 2; [1932] AC 562"]
    found = score_answers(answers, [["a", "2019 BCSC 2"], ["b"], []], ROWS, [["a"], [], ["2019 BCSC 2", "unknown"]])
    assert found == {
        **{"citation_precision": 0.5, "citation_precision_n": 1, "citation_recall": 0.25, "citation_recall_n": 2},
        **{"citation_f1": 0.25, "citation_f1_n": 2, "cited_retrieved": 0.75, "cited_retrieved_n": 2},
        **{"invented_rate": 0.25, "invented_rate_n": 2, "coverage": 0.75, "coverage_n": 2},
        **{"authorities": 4, "verified": 2, "name_mismatch": 0, "not_in_registry": 1, "unresolvable": 1},
        **{"n": 1, "skipped": 2},
    }
    assert {type(v) for name, v in found.items() if name in ("coverage", "citation_f1")} == {float}
    assert score_answers(["x"], [[]], ROWS, measures="coverage") == {
        **{"coverage": None, "coverage_n": 0, "n": 0, "skipped": 1}
    }
    assert score_answers([], [], [], measures="coverage verified")["n"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": "text"}, "predictions: a str stands where"),
        ({"predictions": [1]}, "prediction 0: is a int, not a string"),
        ({"references": []}, "references: 0 lists for 1 predictions"),
        ({"references": ["a"]}, "references of query 0: a str stands"),
        ({"references": [[1]]}, "references of query 0: 1 is not a string"),
        ({"references": None}, "references: None stands where a list should"),
        ({"references": [None]}, "references of query 0: None stands where a list should"),
        ({"references": [["a\ud800"]]}, "references of query 0: .* holds half a surrogate pair"),
        ({"predictions": None}, "predictions: None stands where a list should"),
        ({"predictions": iter(["a"])}, "predictions: a list_iterator stands where a list should"),
        ({"predictions": ["See \ud800"]}, "prediction 0: holds half a surrogate pair"),
        ({"retrieved": [None]}, "retrieved of query 0: None stands where a list should"),
        ({"references": [["2021 BCSC 999"]]}, "references of query 0: '2021 BCSC 999' is neither"),
        ({"retrieved": []}, "retrieved: 0 lists for 1"),
        ({"documents": None}, "documents: is a NoneType"),
        ({"documents": "sample"}, "documents: is a str"),
        ({"documents": [["a"]]}, "document 0: is no row"),
        ({"documents": [{"id": 1}]}, "document 0: is no row"),
        ({"documents": [{"id": "a", "citations": "2021 BCSC 1"}]}, "document 'a': has citations that are no list"),
        ({"documents": [{"id": "a", "year": "2021"}]}, "document 'a': year is '2021'"),
        ({"measures": "nope"}, "measure 'nope': is not known"),
    ],
)
def test_wrong_input(arguments, message):
    with pytest.raises(InputError, match=message):
        score_answers(**{"predictions": ["x"], "references": [["a"]], "documents": ROWS} | arguments)
