"""Rates corrected for a judge's errors: by the published formulas, by simulation, and where they can't be."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.measures.correction import Rate, p_same, ppi, rate, rogan_gladen

shares = st.floats(0.0, 1.0)


@pytest.mark.parametrize(("share", "se", "sp"), [(0.1, 0.9, 0.8), (0.5, 0.7, 0.9), (0.8, 0.95, 0.6)])
def test_rogan_gladen_holds_the_truth_as_often_as_it_says(share: float, se: float, sp: float) -> None:
    """Claims, supported pairs and other pairs drawn anew 2,000 times: the interval covers, the value isn't off."""
    rng = np.random.default_rng(7)
    n, positive, negative, times = 400, 80, 120, 2000
    seen = rng.binomial(n, share * se + (1 - share) * (1 - sp), times) / n
    hits, passes = rng.binomial(positive, se, times) / positive, rng.binomial(negative, sp, times) / negative
    found = [
        rogan_gladen(Rate(m, n), Rate(h, positive), Rate(p, negative))
        for m, h, p in zip(seen.tolist(), hits.tolist(), passes.tolist(), strict=True)
    ]
    assert 0.935 <= np.mean([of.low <= share <= of.high for of in found]) <= 0.985
    assert np.mean([of.raw for of in found]) == pytest.approx(share, abs=0.02)
    naive = NormalDist().inv_cdf(0.975) * np.sqrt(seen * (1 - seen) / n)
    assert np.mean(abs(seen - share) <= naive) < 0.9  # what the judge says by itself doesn't


def test_rogan_gladen_by_the_published_formula() -> None:
    # 200 of 400, 72 of 80, 84 of 120; z = 1.96: m' = (200 + z^2/2) / (400 + z^2), se' = 73/82, sp' = 85/122.
    z = NormalDist().inv_cdf(0.975)
    m, se, sp = 0.5, 73 / 82, 85 / 122
    share = (m + sp - 1) / (se + sp - 1)
    v_m, v_se, v_sp = m * (1 - m) / (400 + z * z), se * (1 - se) / 82, sp * (1 - sp) / 122
    error = math.sqrt(v_m + share**2 * v_se + (1 - share) ** 2 * v_sp) / (se + sp - 1)
    centre = share + 2 * z * z * (share * v_se - (1 - share) * v_sp)
    found = rogan_gladen(Rate(0.5, 400), Rate(0.9, 80), Rate(0.7, 120))
    assert found.value == found.raw == pytest.approx(1 / 3)
    assert (found.low, found.high) == pytest.approx((centre - z * error, centre + z * error))
    assert found.why == ""


def test_a_judge_without_errors_leaves_the_rate() -> None:
    found = rogan_gladen(Rate(0.4, 1000), Rate(1.0, 1e9), Rate(1.0, 1e9))
    assert found.value == pytest.approx(0.4)
    assert (found.low, found.high) == pytest.approx((0.37, 0.43), abs=0.002)  # 1.96 sqrt(.24 / 1000)


@pytest.mark.parametrize(("se", "sp"), [(0.5, 0.5), (0.2, 0.3), (0.9, 0.1)])
def test_no_better_than_chance_is_undefined(se: float, sp: float) -> None:
    found = rogan_gladen(Rate(0.4, 100), Rate(se, 50), Rate(sp, 50))
    assert all(math.isnan(x) for x in found[:4])
    assert "no better than chance" in found.why


def test_what_is_cut_says_so_and_what_contradicts_itself_is_undefined() -> None:
    cut = rogan_gladen(Rate(0.15, 100), Rate(0.9, 50), Rate(0.8, 50))  # 0.15 is below the 0.2 of false alarms
    assert (cut.value, cut.low) == (0.0, 0.0)
    assert cut.raw == pytest.approx(-0.05 / 0.7)
    assert 0 < cut.high < 0.2
    assert cut.why == "cut to 0 to 1: rate, lower end"
    apart = rogan_gladen(Rate(0.0, 10_000), Rate(0.9, 500), Rate(0.5, 500))
    assert all(math.isnan(x) for x in apart[:3])
    assert "don't resemble" in apart.why


def test_rates_that_are_not_known() -> None:
    assert math.isnan(rogan_gladen(Rate(math.nan, math.nan), Rate(0.9, 9), Rate(0.9, 9)).value)
    assert math.isnan(rogan_gladen(Rate(0.5, 9), Rate(math.nan, math.nan), Rate(0.9, 9)).value)
    lone = rogan_gladen(Rate(0.5, 9), Rate(0.9, math.nan), Rate(0.9, 9))
    assert lone.value == pytest.approx(0.5)
    assert math.isnan(lone.low)
    for bad in (Rate(1.1, 9), Rate(0.5, -1)):
        with pytest.raises(InputError):
            rogan_gladen(bad, Rate(0.9, 9), Rate(0.9, 9))


@given(shares, shares, shares, st.integers(1, 500), st.integers(1, 500), st.integers(1, 500))
def test_rogan_gladen_stays_within_bounds(m: float, se: float, sp: float, a: int, b: int, c: int) -> None:
    found = rogan_gladen(Rate(m, a), Rate(se, b), Rate(sp, c))
    assert math.isnan(found.value) or 0 <= found.value <= 1
    assert math.isnan(found.low) or 0 <= found.low <= found.high <= 1


def draws(rng: np.random.Generator, n: int, share: float, se: float, sp: float) -> tuple[np.ndarray, np.ndarray]:
    people = rng.random(n) < share
    return people, np.where(people, rng.random(n) < se, rng.random(n) >= sp)


@pytest.mark.parametrize(("se", "sp"), [(0.9, 0.8), (0.6, 0.6), (0.5, 0.5)])
def test_ppi_holds_the_truth_as_often_as_it_says(se: float, sp: float) -> None:
    rng = np.random.default_rng(11)
    covered, widths, plain = [], [], []
    for _ in range(1000):
        people, judge = draws(rng, 200, 0.35, se, sp)
        found = ppi(draws(rng, 2000, 0.35, se, sp)[1], judge, people)
        covered.append(found.low <= 0.35 <= found.high)
        widths.append(found.high - found.low)
        plain.append(2 * 1.96 * people.std(ddof=1) / math.sqrt(200))
    assert 0.93 <= np.mean(covered) <= 0.97
    assert np.mean(widths) <= np.mean(plain) * 1.001
    if (se, sp) == (0.9, 0.8):
        assert np.mean(widths) < 0.8 * np.mean(plain)  # a good judge is worth labels


def test_ppi_of_blocks_holds_the_truth() -> None:
    """Pairs of a document and claims of an answer that are alike: intervals over blocks cover, others don't."""
    rng = np.random.default_rng(3)
    hits = {True: 0, False: 0}
    pair_blocks, blocks = np.repeat(range(50), 4).tolist(), np.repeat(range(60), 10).tolist()
    for _ in range(400):
        people, judge = (np.repeat(x, 4) for x in draws(rng, 50, 0.4, 0.85, 0.85))
        rest = np.repeat(draws(rng, 60, 0.4, 0.85, 0.85)[1], 10)
        for told in hits:
            found = ppi(rest, judge, people, *((blocks, pair_blocks) if told else (None, None)))
            hits[told] += found.low <= 0.4 <= found.high
    assert 0.92 <= hits[True] / 400 <= 0.98
    assert hits[False] / 400 < 0.75


@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_a_judge_that_says_nothing_leaves_the_mean_of_people(constant: float) -> None:
    people = np.array([1.0] * 30 + [0.0] * 70)
    found = ppi([constant] * 500, [constant] * 100, people)
    error = 1.959964 * people.std(ddof=1) / 10
    assert found.weight == 0
    assert (found.value, found.low, found.high) == pytest.approx((0.3, 0.3 - error, 0.3 + error), abs=1e-6)


def test_ppi_as_its_authors_have_it() -> None:
    theirs = pytest.importorskip("ppi_py", reason="ppi-python is the oracle")
    rng = np.random.default_rng(5)
    people, judge = draws(rng, 4000, 0.35, 0.9, 0.8)
    rest = draws(rng, 40_000, 0.35, 0.9, 0.8)[1]
    low, high = theirs.ppi_mean_ci(people.astype(float), judge.astype(float), rest.astype(float), alpha=0.05)
    found = ppi(rest, judge, people)
    assert (found.low, found.high) == pytest.approx((float(low[0]), float(high[0])), abs=2e-5)


def test_ppi_where_there_is_too_little() -> None:
    for rest, judge, people in (([], [1, 0], [1, 0]), ([1], [1], [1]), ([], [], [])):
        assert math.isnan(ppi(rest, judge, people).value)
    lone = ppi([1, 0, 1], [1, 0, 1], [1, 0, 0], None, ["d", "d", "d"])
    assert not math.isnan(lone.value)
    assert math.isnan(lone.low)
    alike = ppi([1, 1], [1, 1], [1, 1])
    assert alike.value == 1
    assert math.isnan(alike.low)  # a point would look like certainty
    with pytest.raises(InputError):
        ppi([1], [1, 0], [1])
    with pytest.raises(InputError):
        ppi([math.nan], [1, 0], [1, 0])
    with pytest.raises(InputError):
        ppi([1], [1, 0], [1, 0], blocks=["a", "b"])


def test_the_size_that_a_rate_is_worth() -> None:
    assert rate([1, 0, 1, 0, 1]) == Rate(0.6, 5.0)
    assert rate([1, 1, 1], ["a", "a", "b"]) == Rate(1.0, 2.0)
    assert math.isnan(rate([1, 0], ["a", "a"]).n)
    assert math.isnan(rate([]).value)
    assert rate([1, 0] * 20, [n // 2 for n in range(40)]).n == 40  # unlike within blocks: no more than there are


def test_p_same() -> None:
    assert p_same([1, 1], [1, 1]) == 1
    assert p_same([1, 1], [0, 0]) == 0
    assert math.isnan(p_same([], [1]))
    assert math.isnan(p_same([1, 0], [1, 0], ["a", "a"]))
    stats = pytest.importorskip("scipy.stats", reason="scipy is the oracle")
    a, b = np.repeat([1, 0], [60, 40]), np.repeat([1, 0], [90, 110])
    z = (0.6 - 0.45) / math.sqrt(a.var(ddof=1) / 100 + b.var(ddof=1) / 200)
    assert p_same(a, b) == pytest.approx(2 * stats.norm.sf(z))
