"""Published measures of claims against implementations of their own, written from the published arithmetic."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.measures.claims import MEASURES, PUBLISHED, Tallied, Tally

# What ragas 0.4.3 computes of lists of booleans: verdicts on the answer's claims (against the reference) and on the
# reference's claims (against the answer). Written here again, in the words of its formulas.


def ragas(mode: str, answer: list[bool], reference: list[bool]) -> float:
    tp, fp = float(np.sum(answer)), float(len(answer) - np.sum(answer))
    fn = float(len(reference) - np.sum(reference))
    if mode == "precision":
        return float(np.round(tp / (tp + fp + 1e-8), 2))
    if mode == "recall":
        return float(np.round(tp / (tp + fn + 1e-8), 2))
    precision = 0.0 if tp + fp == 0 else tp / (tp + fp)
    recall = 0.0 if tp + fn == 0 else tp / (tp + fn)
    if precision + recall == 0:
        return 0.0
    return float(np.round(2 * precision * recall / (precision + recall), 2))


def factscore(facts: list[bool], gamma: int) -> float:
    """FActScore of one response: the mean of its facts, times a penalty below gamma facts."""
    if not facts:
        return math.nan
    penalty = 1.0 if len(facts) > gamma or not gamma else float(np.exp(1 - gamma / len(facts)))
    return penalty * float(np.mean(facts))


def tally(facts: list[bool]) -> Tally:
    return Tally(sum(facts), 0, len(facts) - sum(facts), 0)


def value(name: str, of: Tallied) -> float:
    part, whole = MEASURES[name].function(of)
    return part / whole if whole else math.nan


facts = st.lists(st.booleans(), max_size=45)


@given(facts, facts)
def test_ragas(answer, reference):
    of = Tallied({"accuracy": tally(answer), "coverage": tally(reference), "groundedness": tally(answer)})
    for mode in ("precision", "recall", "f1"):
        assert value(f"ragas_factual_{mode}", of) == ragas(mode, answer, reference)
    assert value("ragas_faithfulness", of) == pytest.approx(np.mean(answer) if answer else math.nan, nan_ok=True)


@given(facts)
def test_factscore(answer):
    of = Tallied({"groundedness": tally(answer)})
    assert value("factscore", of) == pytest.approx(factscore(answer, 10), nan_ok=True)
    assert value("factscore_unpenalised", of) == pytest.approx(factscore(answer, 0), nan_ok=True)


def test_rounding_is_numpys():
    """3 of 40: 7.5 hundredths go to the even 8 in numpy, while Python's `round` sees a float just below."""
    of = Tallied({"accuracy": Tally(3, 0, 37, 0), "coverage": Tally(0, 0, 0, 0)})
    assert value("ragas_factual_precision", of) == ragas("precision", [True] * 3 + [False] * 37, [])
    assert value("ragas_factual_f1", Tallied({"accuracy": Tally(3, 0, 37, 0), "coverage": Tally(0, 0, 37, 0)})) == 0.08


def test_ragas_recall_is_not_coverage():
    """One claim of the reference, said in two claims, of two: coverage 1/2, ragas 2 / (2 + 1)."""
    of = Tallied({"accuracy": Tally(2, 0, 0, 0), "coverage": Tally(1, 0, 1, 0)})
    assert (value("coverage", of), value("ragas_factual_recall", of)) == (0.5, 0.67)


def test_what_failed_is_not_zero_in_the_variants_either():
    failed = Tally(0, 0, 0, 3)
    for tallies in ({"accuracy": failed, "coverage": Tally(1, 0, 0, 0)}, {"accuracy": None, "coverage": failed}):
        of = Tallied({**tallies, "groundedness": failed})
        for name in PUBLISHED:
            assert math.isnan(value(name, of)), name
    one = Tallied({"groundedness": Tally(9, 0, 0, 2)})  # eleven claims: no penalty for those that the judge failed on
    assert value("factscore", one) == 1.0
