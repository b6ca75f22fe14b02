"""Measures of claims: the worked example, what decides a claim, what is undefined, and what never changes a score."""

import math
from itertools import permutations
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.measures import claims
from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.measures.decided import LABELS, PURPOSES, purpose_of
from canlegalrag.types import Claim, Judged, Verdict


def claims_of(side: str, n: int) -> tuple[Claim, ...]:
    return tuple(Claim("q1", side, i, f"Claim {i} of the {side}.") for i in range(n))


def judged(answer: int | None, reference: int | None, *rows: tuple, asked=PURPOSES, **more) -> Judged:
    """An answer of so many claims, with verdicts as rows (side, index, against, label, category)."""
    made = {
        "answer": None if answer is None else claims_of("answer", answer),
        "reference": None if reference is None else claims_of("reference", reference),
    }
    verdicts = tuple(Verdict(made[s][i], a, label, category="".join(c), judge="x/y") for s, i, a, label, *c in rows)
    given = {"chars": 100, "reference_chars": 80} | more
    return Judged("q1", asked, made["answer"], made["reference"], verdicts, **given)


# The worked example: an answer of 5 claims (A0 to A4), a reference of 4 (R0 to R3), two documents given (d1, d2).
#
#         against the reference    against d1         against d2         over the evidence
#   A0    supported                supported          -                  supported   (d2 was never asked)
#   A1    supported                unsupported        supported          supported   (one piece is enough)
#   A2    unsupported              contradicted       unsupported        contradicted
#   A3    contradicted             unsupported        unsupported        unsupported, sorted as `attribution`: wrong
#   A4    None (cut off)           unsupported        None               None        (d2 might have supported it)
#
#         against the answer       against d1         against d2         over the evidence
#   R0    supported                supported          -                  supported
#   R1    unsupported              contradicted       supported          supported
#   R2    unsupported              unsupported        unsupported        unsupported
#   R3    None                     no verdict at all  no verdict at all  None
#
# accuracy: of A0 to A3, which have a label, 2 are supported: 2/4. Were A4 not supported 2/5, were it 3/5.
# reference_contradiction_rate: A3 of those four: 1/4.
# groundedness: of A0 to A3 2 are supported: 2/4; bounds 2/5 and 3/5.
# contradiction_rate: A2: 1/4. hallucination_lower: A2, and A3 by its category: 2/4; _upper: A2 and A3: 2/4.
# coverage: of R0 to R2 1 is supported: 1/3; bounds 1/4 and 2/4.
# reference_groundedness: of R0 to R2 2 are supported: 2/3; bounds 2/4 and 3/4.
# f1: P = 1/2, R = 1/3: 2 * 1/6 / (5/6) = 2/5.
# unscored_rate: A4 twice, R3 twice, of 5 + 5 + 4 + 4 claims judged: 4/18.
# verbosity: 100 characters against 80. ragas: TP 2, FP 2, FN 2: precision 2/4, recall 2/4, F1 4/8.
# factscore: 2/4 * exp(1 - 10/5), as the answer has 5 claims.
EXAMPLE = judged(
    5,
    4,
    ("answer", 0, "reference", "supported"),
    ("answer", 1, "reference", "supported"),
    ("answer", 2, "reference", "unsupported"),
    ("answer", 3, "reference", "contradicted"),
    ("answer", 4, "reference", None),
    ("answer", 0, "d1", "supported"),
    ("answer", 1, "d1", "unsupported"),
    ("answer", 1, "d2", "supported"),
    ("answer", 2, "d1", "contradicted"),
    ("answer", 2, "d2", "unsupported"),
    ("answer", 3, "d1", "unsupported", "attribution"),
    ("answer", 3, "d2", "unsupported"),
    ("answer", 4, "d1", "unsupported"),
    ("answer", 4, "d2", None),
    ("reference", 0, "answer", "supported"),
    ("reference", 1, "answer", "unsupported"),
    ("reference", 2, "answer", "unsupported"),
    ("reference", 3, "answer", None),
    ("reference", 0, "d1", "supported"),
    ("reference", 1, "d1", "contradicted"),
    ("reference", 1, "d2", "supported"),
    ("reference", 2, "d1", "unsupported"),
    ("reference", 2, "d2", "unsupported"),
)
EXPECTED = {
    "accuracy": 2 / 4,
    "groundedness": 2 / 4,
    "coverage": 1 / 3,
    "reference_groundedness": 2 / 3,
    "f1": 2 / 5,
    "contradiction_rate": 1 / 4,
    "reference_contradiction_rate": 1 / 4,
    "hallucination_lower": 2 / 4,
    "hallucination_upper": 2 / 4,
    "abstention_rate": 0.0,
    "unscored_rate": 4 / 18,
    "claims_per_answer": 5.0,
    "answer_chars": 100.0,
    "verbosity": 100 / 80,
    "accuracy_lower": 2 / 5,
    "accuracy_upper": 3 / 5,
    "groundedness_lower": 2 / 5,
    "groundedness_upper": 3 / 5,
    "coverage_lower": 1 / 4,
    "coverage_upper": 2 / 4,
    "reference_groundedness_lower": 2 / 4,
    "reference_groundedness_upper": 3 / 4,
    "ragas_factual_precision": 0.5,
    "ragas_factual_recall": 0.5,
    "ragas_factual_f1": 0.5,
    "ragas_faithfulness": 2 / 4,
    "factscore": 2 / 4 * math.exp(-1),
    "factscore_unpenalised": 2 / 4,
}
SHARES = [name for name in EXPECTED if name not in ("claims_per_answer", "answer_chars", "verbosity")]


def values(of: Judged) -> dict[str, float]:
    return claims.score({"q1": of}, list(claims.known(None, of.asked)), resamples=1).values


def test_the_worked_example():
    assert values(EXAMPLE) == pytest.approx(EXPECTED)
    assert list(claims.MEASURES) == list(EXPECTED)


def test_every_measure_is_documented():
    for name, definition in claims.MEASURES.items():
        text = (getattr(definition.function, "func", definition.function).__doc__ or "").strip()
        assert text.splitlines()[0].endswith((".", "like.")), name
        for part in ("Formula:", "Range:", "Source:", ">>>"):
            assert part in text, f"{name} has no {part}"


def test_hallucination_is_an_interval_that_sorting_narrows():
    """Four unsupported claims: one of a category that is wrong, one that isn't, one that nobody sorted, one None."""
    rows = [("answer", 0, "d1", "unsupported", "fact"), ("answer", 1, "d1", "unsupported", "connective")]
    rows += [("answer", 2, "d1", "unsupported"), ("answer", 3, "d1", None), ("answer", 4, "d1", "supported")]
    found = values(judged(5, None, *rows, asked=("groundedness",)))
    assert (found["hallucination_lower"], found["hallucination_upper"]) == (1 / 4, 3 / 4)
    # A category of a claim that another piece supports, or of one that isn't decided, counts for nothing.
    over = [("answer", 0, "d2", "supported"), ("answer", 1, "d1", "unsupported", "fact"), ("answer", 1, "d2", None)]
    found = values(judged(2, None, rows[0], *over, asked=("groundedness",)))
    assert (found["hallucination_lower"], found["hallucination_upper"], found["groundedness"]) == (0, 0, 1)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["unsupported", "supported", None, "contradicted"], "supported"),
        (["contradicted", None, "unsupported"], None),
        (["unsupported", "contradicted"], "contradicted"),
        (["unsupported", "unsupported"], "unsupported"),
        ([None], None),
    ],
)
def test_what_decides_a_claim_whatever_the_order(labels, expected):
    claim = claims_of("answer", 1)[0]
    for order in permutations(labels):
        assert claims.deciding([Verdict(claim, str(i), label) for i, label in enumerate(order)]).label == expected
    assert claims.deciding([]) is None


def test_the_purpose_of_a_verdict():
    answer, reference = claims_of("answer", 1)[0], claims_of("reference", 1)[0]
    found = [
        purpose_of(Verdict(c, a, None)) for c in (answer, reference) for a in ("reference", "answer", "d", "d:0-9")
    ]
    grounded, covered = "groundedness", "reference_groundedness"
    assert found == ["accuracy", grounded, grounded, grounded, covered, "coverage", covered, covered]


def test_no_claims_are_undefined_and_never_zero_or_one():
    found = values(judged(0, 0))
    of_ragas = {"ragas_factual_precision", "ragas_factual_recall", "ragas_factual_f1"}  # ragas makes 0 of nothing
    for name in SHARES:
        if name == "abstention_rate" or name in of_ragas:
            assert found[name] == 0.0, name
        else:
            assert math.isnan(found[name]), name
    assert found["claims_per_answer"] == 0.0


def test_an_answer_that_declines_covers_nothing_and_is_neither_right_nor_wrong():
    rows = [("reference", i, "answer", "unsupported") for i in range(3)]
    found = values(judged(0, 3, *rows, asked=("accuracy", "coverage"), abstained=True, chars=20))
    assert (found["abstention_rate"], found["coverage"], found["claims_per_answer"]) == (1.0, 0.0, 0.0)
    assert math.isnan(found["accuracy"]) and math.isnan(found["f1"]) and math.isnan(found["accuracy_upper"])
    assert found["unscored_rate"] == 0.0 and found["ragas_factual_f1"] == 0.0


def test_an_answer_that_could_not_be_taken_apart_is_wholly_unscored():
    found = values(judged(None, 3, asked=("accuracy", "groundedness", "coverage")))
    assert found["unscored_rate"] == 1.0
    for name in ("accuracy", "groundedness", "coverage"):
        assert math.isnan(found[name])
        assert (found[f"{name}_lower"], found[f"{name}_upper"]) == (0.0, 1.0)
    for name in ("f1", "ragas_factual_precision", "ragas_factual_f1", "factscore", "claims_per_answer"):
        assert math.isnan(found[name]), name
    # What doesn't need the answer's claims is not lost with them: 2 labels of 1 + 3.
    rows = [("reference", i, "d1", "supported") for i in range(2)]
    found = values(judged(None, 3, *rows, asked=("accuracy", "reference_groundedness")))
    assert found["reference_groundedness"] == 1.0 and found["unscored_rate"] == 2 / 4


def test_a_reference_that_could_not_be_taken_apart_leaves_accuracy_unscored():
    found = values(judged(2, None, asked=("accuracy", "coverage")))
    assert math.isnan(found["accuracy"]) and math.isnan(found["coverage"]) and found["unscored_rate"] == 1.0
    assert (found["accuracy_lower"], found["accuracy_upper"]) == (0.0, 1.0)


def test_without_a_reference_nothing_is_asked_of_it():
    rows = [("answer", 0, "d1", "supported"), ("answer", 1, "d1", "unsupported")]
    found = values(judged(2, None, *rows, reference_chars=None))
    assert found["groundedness"] == 0.5 and found["unscored_rate"] == 0.0
    for name in ("accuracy", "accuracy_lower", "accuracy_upper", "coverage", "f1", "verbosity", "ragas_factual_recall"):
        assert math.isnan(found[name]), name


def test_claims_whose_judging_failed_are_undefined_not_zero():
    rows = [("answer", i, against, None) for i in range(2) for against in ("reference", "d1")]
    found = values(judged(2, 0, *rows, asked=("accuracy", "groundedness")))
    for name in ("accuracy", "groundedness", "ragas_factual_precision", "ragas_faithfulness", "factscore"):
        assert math.isnan(found[name]), name
    assert (found["groundedness_lower"], found["groundedness_upper"], found["unscored_rate"]) == (0.0, 1.0, 1.0)


def test_a_forgotten_query_scores_zero_and_never_drops_out():
    scores = claims.score({"q1": EXAMPLE}, queries=["q1", "q2", "q3"], references={"q1", "q2"}, resamples=1)
    for name in ("accuracy", "coverage", "f1", "reference_groundedness", "accuracy_upper", "ragas_factual_f1"):
        assert (scores.n[name], scores.skipped[name]) == (2, 1), name  # q3 has no reference answer to be held against
        assert scores.values[name] == pytest.approx(EXPECTED[name] / 2), name
    for name in ("groundedness", "groundedness_lower", "groundedness_upper", "ragas_faithfulness", "factscore"):
        assert (scores.n[name], scores.values[name]) == (3, pytest.approx(EXPECTED[name] / 3)), name
    for name in ("abstention_rate", "unscored_rate", "contradiction_rate", "hallucination_upper", "answer_chars"):
        assert (scores.n[name], scores.skipped[name]) == (1, 2), name
    nobody = claims.score({}, queries=["q1"], resamples=1)
    assert nobody.values["accuracy"] == 0.0 and math.isnan(nobody.values["contradiction_rate"])


def test_what_nobody_judged_is_left_out_and_refused_by_name():
    only = judged(1, 1, ("answer", 0, "reference", "supported"), asked=("accuracy",))
    known = claims.known(None, claims.asked([only]))
    assert "accuracy" in known and "ragas_factual_precision" in known
    assert not {"groundedness", "coverage", "f1", "reference_groundedness_lower", "hallucination_upper"} & set(known)
    with pytest.raises(InputError, match=r"needs coverage \(judge for it"):
        claims.score({"q1": only}, "f1")
    with pytest.raises(InputError, match="did you mean accuracy"):
        claims.score({"q1": only}, "acuracy")


def test_pooled_means_weigh_each_claim_the_same():
    other = judged(1, None, ("answer", 0, "d1", "supported"), asked=("groundedness",), reference_chars=None)
    shares = claims.per_query({"q1": EXAMPLE, "q2": other}, "groundedness f1 verbosity answer_chars")
    # The second has no reference: its characters are in neither sum of verbosity.
    assert claims.totals(shares) == {"groundedness": (3, 5), "verbosity": (100, 80)}


@given(st.sampled_from(list(claims.MEASURES)), st.booleans(), st.integers(0, 3), st.integers(0, 2))
def test_where_a_measure_is_undefined_nothing_enters_its_micro_mean(name, forgotten, unscored, chars):
    empty = claims.Tally(0, 0, 0, unscored)
    without = claims.Tallied(dict.fromkeys(PURPOSES, empty), chars=chars, reference_chars=0, forgotten=forgotten)
    part, whole = claims.MEASURES[name].function(without)
    assert whole or not part


def test_verdicts_that_can_not_be_used_are_refused():
    stray = Verdict(Claim("q1", "answer", 7, "?"), "d1", "supported")
    with pytest.raises(InputError, match=r"query 'q1': a verdict is on claim 7 of the answer, which it doesn't have"):
        claims.tallies({"q1": Judged("q1", ("groundedness",), claims_of("answer", 1), None, (stray,))})
    for label in ("Supported", "true", "", True):
        with pytest.raises(InputError, match="is not known"):
            claims.tallies({"q1": judged(1, None, ("answer", 0, "d1", label))})
    with pytest.raises(InputError, match="category 'odd' of claim 0 is not known"):
        claims.tallies({"q1": judged(1, None, ("answer", 0, "d1", "unsupported", "odd"))})


def test_the_same_verdict_twice_counts_once():
    twice = judged(1, None, *[("answer", 0, "d1", "supported")] * 2, asked=("groundedness",))
    assert claims.per_query({"q1": twice}, "groundedness") == {"groundedness": {"q1": (1, 1)}}


# Properties, over arbitrary verdicts.

label = st.sampled_from([*LABELS, None])
rows = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), st.integers(0, 3), st.sampled_from(["reference", "d1", "d2"]), label),
        st.tuples(st.just("answer"), st.integers(0, 3), st.just("d3"), label, st.sampled_from(list(CATEGORIES))),
        st.tuples(st.just("reference"), st.integers(0, 2), st.sampled_from(["answer", "d1", "d2"]), label),
    ),
    max_size=25,
)
asked = st.lists(st.sampled_from(PURPOSES), unique=True).map(tuple)
answers = st.builds(
    lambda rows, asked, n, m, whole: judged(
        *(n if whole else None, m if whole else None),
        *[r for r in rows if whole and r[1] < (n if r[0] == "answer" else m)],
        asked=asked,
    ),
    rows,
    asked,
    st.integers(0, 4),
    st.integers(0, 3),
    st.booleans(),
)


@given(answers)
def test_shares_are_from_0_to_1_and_bounds_enclose(of):
    found = values(of)
    for name in set(SHARES) & found.keys():
        assert math.isnan(found[name]) or 0 <= found[name] <= 1, name
    for name in set(PURPOSES) & found.keys():
        low, value, high = found[f"{name}_lower"], found[name], found[f"{name}_upper"]
        assert math.isnan(low) == math.isnan(high)
        if not math.isnan(value):
            assert low <= value <= high
        if not math.isnan(low):
            assert low <= high
    if not math.isnan(found.get("groundedness", nan)):
        assert found["contradiction_rate"] <= found["hallucination_lower"] <= found["hallucination_upper"]
        assert found["hallucination_upper"] == pytest.approx(1 - found["groundedness"])
        assert found["factscore"] <= found["factscore_unpenalised"] == found["groundedness"]


@given(answers, st.randoms())
def test_the_order_of_verdicts_changes_nothing(of, random):
    mixed = list(of.verdicts)
    random.shuffle(mixed)
    other = Judged(of.query_id, of.asked, of.claims, of.reference, tuple(mixed), chars=100, reference_chars=80)
    assert values(of) == pytest.approx(values(other), nan_ok=True)


@given(st.lists(answers, min_size=1, max_size=5))
def test_bounds_enclose_means_over_queries_too(several):
    data = {f"q{i}": of for i, of in enumerate(several)}
    scores = claims.score(data, queries=[*data, "forgotten"], resamples=1)
    for name in set(PURPOSES) & scores.values.keys():
        value = scores.values[name]
        assert scores.values[f"{name}_lower"] <= value + 1e-12
        assert value <= scores.values[f"{name}_upper"] + 1e-12


@given(answers)
def test_replacing_a_failure_by_a_label_stays_within_the_bounds(of):
    """What a person says of the claims that the judge failed on can't take a measure out of its bounds."""
    before = values(of)
    for new in LABELS:
        mended = tuple(Verdict(v.claim, v.against, v.label or new, category=v.category) for v in of.verdicts)
        after = values(Judged(of.query_id, of.asked, of.claims, of.reference, mended, chars=100, reference_chars=80))
        for name in set(PURPOSES) & before.keys():
            if not math.isnan(after[name]):
                assert before[f"{name}_lower"] <= after[name] + 1e-12
                assert after[name] <= before[f"{name}_upper"] + 1e-12
