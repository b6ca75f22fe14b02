"""Agreement of a judge with people: by hand, against scikit-learn, and where it is undefined."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.measures.agreement import FIGURES, agreement, confusion, counted
from canlegalrag.measures.decided import LABELS

S, C, U = LABELS

# Twelve pairs: people (row) and judge (column).
#
#            S  C  U  None    scored
#   S        3  0  1  1       4
#   C        1  2  0  0       3
#   U        1  0  2  1       3         scored 10, agreeing 7
#   judge    5  2  3
#
#   accuracy 7/10; bounds 7/12, 9/12; p_e = (4*5 + 3*2 + 3*3) / 100 = 0.35; kappa = (0.7 - 0.35) / 0.65
#   binary: both S 3, both not S 2+0+0+2 = 4: 7/10; p_e = (4*5 + 6*5) / 100 = 0.5; kappa = 0.2 / 0.5
#   sensitivity 3/4, specificity 4/6; precision of S 3/5, of C 2/2, of U 2/3; recall of C 2/3; f1 of S 2*3 / (4 + 5)
TABLE = {S: {S: 3, U: 1, None: 1}, C: {S: 1, C: 2}, U: {S: 1, U: 2, None: 1}}
PEOPLE = [of for of, row in TABLE.items() for n in row.values() for _ in range(n)]
JUDGE = [said for row in TABLE.values() for said, n in row.items() for _ in range(n)]
BY_HAND = {
    "accuracy": 0.7,
    "accuracy_lower": 7 / 12,
    "accuracy_upper": 9 / 12,
    "kappa": 0.35 / 0.65,
    "binary_accuracy": 0.7,
    "binary_kappa": 0.4,
    "sensitivity": 3 / 4,
    "specificity": 4 / 6,
    "precision_supported": 3 / 5,
    "precision_contradicted": 1.0,
    "precision_unsupported": 2 / 3,
    "recall_supported": 3 / 4,
    "recall_contradicted": 2 / 3,
    "recall_unsupported": 2 / 3,
    "f1_supported": 6 / 9,
    "f1_contradicted": 4 / 5,
    "f1_unsupported": 4 / 6,
    "people_supported": 5 / 12,
    "people_contradicted": 3 / 12,
    "people_unsupported": 4 / 12,
    "judge_supported": 5 / 10,
    "judge_contradicted": 2 / 10,
    "judge_unsupported": 3 / 10,
    "unscored_rate": 2 / 12,
}
labels = st.sampled_from(LABELS)
pairs = st.lists(st.tuples(labels, st.one_of(labels, st.none())), max_size=40)


def test_by_hand() -> None:
    found = agreement(PEOPLE, JUDGE, resamples=500)
    assert found.keys() == BY_HAND.keys() == FIGURES.keys()
    for name, value in BY_HAND.items():
        assert found[name].value == pytest.approx(value, abs=1e-12), name
        assert found[name].low <= value <= found[name].high, name
    assert confusion(PEOPLE, JUDGE)[U] == {S: 1, C: 0, U: 2, "unscored": 1}


@given(pairs)
def test_as_scikit_learn_has_it(given_pairs: list[tuple[str, str | None]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is the oracle")
    scored = [pair for pair in given_pairs if pair[1] is not None]
    found = {name: float(function(counted(*_columns(given_pairs)).sum(axis=2))) for name, function in FIGURES.items()}
    if not scored:
        assert math.isnan(found["accuracy"])
        assert math.isnan(found["kappa"])
        return
    people, judge = _columns(scored)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(people, judge))
    for name, ours, theirs in (
        ("kappa", people, judge),
        ("binary_kappa", [of == S for of in people], [of == S for of in judge]),
    ):
        if len({*ours, *theirs}) > 1:
            assert found[name] == pytest.approx(metrics.cohen_kappa_score(ours, theirs)), name
        else:
            assert math.isnan(found[name]), name
    table = metrics.precision_recall_fscore_support(people, judge, labels=list(LABELS), zero_division=np.nan)
    for figure, row in zip(("precision", "recall", "f1"), table, strict=False):
        for label, value in zip(LABELS, row, strict=True):
            assert found[f"{figure}_{label}"] == pytest.approx(value, nan_ok=True), (figure, label)


def _columns(of: list[tuple[str, str | None]]) -> tuple[list[str], list[str | None]]:
    return [a for a, _ in of], [b for _, b in of]


@given(pairs)
def test_the_order_of_pairs_changes_no_value(given_pairs: list[tuple[str, str | None]]) -> None:
    here, there = (agreement(*_columns(of), resamples=1) for of in (given_pairs, given_pairs[::-1]))
    for name in FIGURES:
        assert here[name].value == pytest.approx(there[name].value, nan_ok=True)


def test_what_is_undefined_is_nan() -> None:
    assert all(math.isnan(x) for figure in agreement([], []).values() for x in figure)
    alone = agreement([S, S], [None, None])
    assert math.isnan(alone["accuracy"].value)
    assert (alone["accuracy_lower"].value, alone["accuracy_upper"].value, alone["unscored_rate"].value) == (0, 1, 1)
    one_block = agreement(PEOPLE, JUDGE, ["d"] * 12)["accuracy"]
    assert one_block.value == 0.7
    assert math.isnan(one_block.low)
    assert math.isnan(one_block.high)


def test_pairs_of_one_document_are_drawn_together() -> None:
    """Ten documents of ten pairs each that stand or fall as one tell as much as ten pairs."""
    people = [S] * 100
    judge = [S if n < 60 else U for n in range(100)]
    alone = agreement(people, judge)["accuracy"]
    blocks = agreement(people, judge, [n // 10 for n in range(100)])["accuracy"]
    ten = agreement(people[::10], judge[::10])["accuracy"]
    assert (blocks.low, blocks.high) == (ten.low, ten.high) == (0.3, 0.9)
    assert alone.high - alone.low == pytest.approx((blocks.high - blocks.low) / math.sqrt(10), rel=0.15)


def test_bad_input() -> None:
    for people, judge, blocks in (
        ([S], [], None),
        ([S], ["entailed"], None),
        ([None], [S], None),
        ([S], [S], []),
    ):
        with pytest.raises(InputError):
            agreement(people, judge, blocks)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="resamples"):
        agreement([S], [S], resamples=0)
