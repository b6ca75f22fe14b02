"""Names of measures: parse and str are inverse, errors point the way."""

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.measures.retrieval import MEASURES, Measure, parse, parse_all

NAMES = [name for name, d in MEASURES.items() if d.cutoff != "needed"] + [
    f"{name}@10" for name, d in MEASURES.items() if d.cutoff != "none"
]


def test_the_measures_of_the_specification_are_there():
    standard = {"ndcg", "recall", "precision", "hit", "mrr", "map", "rprec", "judged", "bpref"}
    paper = {"ndcg", "recall", "doc_recall", "precision", "hit", "mrr"}
    span = {"span_precision", "span_recall", "span_f1", "wrong_document_rate", "retrieved_characters"}
    span |= {"reference_span_precision", "reference_span_recall", "reference_span_f1"}
    span |= {"chunk_precision", "snippet_recall"}
    assert set(MEASURES) == standard | {f"paper_{name}" for name in paper} | span
    assert {name for name, d in MEASURES.items() if d.family == "span"} == span


@pytest.mark.parametrize("text", NAMES)
def test_parse_and_str_are_inverse(text):
    measure = parse(text)
    assert str(measure) == text
    assert parse(str(measure)) == measure


@given(st.text(max_size=20))
def test_whatever_parses_is_written_back_the_same(text):
    with contextlib.suppress(InputError):
        assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("ngcd@10", "ndcg@10"),
        ("nDCG@10", "ndcg@10"),
        ("nDCG", "ndcg"),
        ("ndcg_cut_10", "ndcg@10"),
        ("P_5", "precision@5"),
        ("success@5", "hit@5"),
        ("recip_rank", "mrr"),
        ("doc_recall@10", "paper_doc_recall@10"),
        ("Recall", "recall@k"),
        ("rprec_10", "rprec"),
    ],
)
def test_an_unknown_name_lists_the_near_ones(text, near):
    with pytest.raises(InputError) as error:
        parse(text)
    assert re.search(rf"did you mean (\S+ or )*{near}(\?| or)", str(error.value))
    assert "paper_mrr" in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["recall", "precision@", "ndcg@0", "ndcg@010", "ndcg@-1", "ndcg@1.5", "ndcg@ten", "ndcg@١٠", "ndcg@9999999999"]
    + ["bpref@10", "rprec@5", "paper_mrr@10", "", "@10", " ndcg@10", "ndcg@10 "],
)
def test_a_wrong_cut_off_is_refused(text):
    with pytest.raises(InputError):
        parse(text)


def test_a_measure_made_by_hand_is_checked_too():
    assert parse_all([Measure("ndcg", 5)]) == [Measure("ndcg", 5)]
    with pytest.raises(InputError, match="not known"):
        parse_all([Measure("ndgc", 5)])
    with pytest.raises(InputError, match="cut-off"):
        parse_all([Measure("ndcg", 0)])
    with pytest.raises(InputError, match="not the name"):
        parse_all([10])


def test_several_names_in_one_string_or_in_a_list():
    assert [str(m) for m in parse_all("  ndcg@10,recall@5\n mrr, ndcg@10 ")] == ["ndcg@10", "recall@5", "mrr"]
    assert parse_all(["mrr", Measure("mrr")]) == [Measure("mrr")]


@pytest.mark.parametrize("nothing", ["", "  ", ",", []])
def test_no_measure_at_all_is_refused(nothing):
    with pytest.raises(InputError, match="none is named"):
        parse_all(nothing)
