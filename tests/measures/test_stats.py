"""Intervals and tests: known values, scipy as an oracle, and what happens at the edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.measures.stats import FEWEST, block_bootstrap, compare, holm, intervals, paired_test

stats = pytest.importorskip("scipy.stats", reason="the rival is not installed: pip install scipy")


def exact_p(differences):
    """scipy's exact sign-flip p."""
    result = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
    return result.pvalue


@pytest.mark.parametrize("seed", range(6))
def test_exact_p_equals_scipys(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 11))
    a, b = rng.random((2, n))
    assert paired_test(a, b) == pytest.approx(exact_p(a - b), abs=1e-15)


@pytest.mark.parametrize("seed", range(6))
def test_exact_p_with_rounding_equals_that_of_whole_numbers(seed):
    # Tenths tie in truth but not in binary: 0.1 + 0.2 is not 0.3. Whole numbers don't round.
    whole = np.random.default_rng(seed).integers(-3, 4, size=12)
    assert paired_test(whole / 10 + 0.7, np.full(12, 0.7)) == exact_p(whole)


def test_sampled_p_is_near_the_exact_one():
    rng = np.random.default_rng(0)
    a = rng.random(16) + 0.15
    b = rng.random(16)
    exact = paired_test(a, b, resamples=1 << 16)
    sampled = paired_test(a, b, resamples=20_000)
    # Five standard errors of a share of 20,000 draws.
    assert sampled == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 20_000))
    assert sampled != exact


def test_sampled_p_is_never_zero():
    assert paired_test(np.ones(200), np.zeros(200), resamples=999) == 1 / 1000


def test_blocks_are_flipped_as_wholes():
    # Two blocks of three: 2 of 4 signs are as extreme; query by query 2 of 64 would be.
    a, b = [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]
    assert paired_test(a, b, list("xxxyyy")) == 0.5
    assert paired_test(a, b) == 2 / 64
    # Blocks need not be neighbours, and their labels may be anything that hashes.
    assert paired_test(a, b, [("x", 1), 7, ("x", 1), 7, ("x", 1), 7]) == 0.5


def test_no_difference_is_no_evidence():
    assert paired_test([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]) == 1.0
    noise = np.full(300, 0.3)
    assert paired_test(noise, np.full(300, 0.1 + 0.2), resamples=500) == 1.0


def test_one_block_tells_nothing():
    assert paired_test([1.0, 1.0], [0.0, 0.0], ["x", "x"]) == 1.0
    assert block_bootstrap([1.0, 0.0], ["x", "x"]) == pytest.approx((math.nan, math.nan), nan_ok=True)
    (found,) = compare({"a": [1.0, 1.0], "b": [0.0, 0.0]}, ["x", "x"])
    assert math.isnan(found.low) and math.isnan(found.high)
    assert (found.difference, found.p, found.blocks, found.apart) == (1.0, 1.0, 1, False)


def test_an_interval_needs_five_blocks():
    """Two blocks that agree would give an interval without width, as if nothing were left to doubt."""
    assert all(map(math.isnan, block_bootstrap([1.0, 1.0], ["x", "y"])))
    assert all(map(math.isnan, block_bootstrap([1.0] * 4)))
    assert block_bootstrap([1.0] * 5) == (1.0, 1.0)
    four, five = (compare({"a": [1.0] * n, "b": [0.0] * n})[0] for n in (4, 5))
    assert math.isnan(four.low) and (five.low, five.high) == (1.0, 1.0)


def test_compare_counts_the_blocks_that_differ():
    """Flipping a block without a difference changes nothing: 3 of 5 blocks leave 2^3 outcomes, so p is 2/8."""
    a, b = [0.9, 0.5, 0.5, 0.3, 0.1, 0.3], [0.1, 0.5, 0.1, 0.2, 0.3, 0.1]
    (c,) = compare({"a": a, "b": b}, ["v", "w", "x", "y", "z", "z"])  # z: -0.2 and +0.2, but for rounding
    assert (c.blocks, c.differing, c.p) == (5, 3, 0.25)
    (same,) = compare({"a": a, "b": a})
    assert (same.differing, same.p) == (0, 1.0)


def test_bootstrap_is_near_scipys():
    values = np.random.default_rng(1).random(120)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2))
    low, high = block_bootstrap(values, resamples=20_000)
    width = high - low
    assert low == pytest.approx(theirs.confidence_interval.low, abs=0.03 * width)
    assert high == pytest.approx(theirs.confidence_interval.high, abs=0.03 * width)


def test_a_block_counts_with_all_its_queries():
    # Ratio of sums: of blocks {0 x 3} four times and {1}, a resample with the latter k times has the mean
    # k / (k + 3 (5 - k)): above 2/11 (k = 2) only in 5.8 %, above 1/3 (k = 3) in 0.7 %.
    assert block_bootstrap([0.0] * 12 + [1.0], list("aaabbbcccddde")) == pytest.approx((0.0, 1 / 3))
    values = np.array([0.0, 0.0, 0.0, 1.0] * 40)
    blocks = [f"{i // 4}-{i % 4 == 3}" for i in range(160)]
    low, high = block_bootstrap(values, blocks)
    assert low < 0.25 < high


def test_correlated_queries_make_wider_intervals():
    rng = np.random.default_rng(4)
    values = np.repeat(rng.random(30), 8)
    blocks = np.repeat(np.arange(30), 8).tolist()
    low, high = block_bootstrap(values, blocks)
    narrow_low, narrow_high = block_bootstrap(values)
    assert (high - low) > 2 * (narrow_high - narrow_low)
    # Blocks of equals are as good as one query each.
    assert (low, high) == pytest.approx(block_bootstrap(values[::8]), abs=1e-12)


def test_nan_counts_nowhere():
    values = [0.0, 1.0, math.nan, 1.0, math.nan, 0.0]
    assert block_bootstrap(values * 3, [i // 3 for i in range(18)]) == (0.5, 0.5)
    # Of five blocks one has no value.
    assert math.isnan(block_bootstrap([1.0, 0.0, 1.0, 0.0, math.nan], [1, 2, 3, 4, 5])[0])
    assert math.isnan(block_bootstrap([], [])[0])
    assert paired_test([0.5, math.nan, 0.9], [0.1, 0.2, math.nan]) == 1.0  # one query is left
    assert math.isnan(paired_test([math.nan], [1.0]))


def test_rows_share_the_draws():
    table = np.random.default_rng(5).random((3, 50))
    table[1, ::7] = math.nan
    together = intervals(table, seed=9)
    for row, expected in zip(table, together, strict=True):
        assert block_bootstrap(row, seed=9) == pytest.approx(tuple(expected), abs=1e-12)
    assert not np.array_equal(together, intervals(table, seed=10))


def test_the_parts_do_not_change_the_draws(monkeypatch):
    rng = np.random.default_rng(6)
    values = {"a": rng.random(70), "b": rng.random(70), "c": rng.random(70)}
    whole = compare(values, resamples=500)
    monkeypatch.setattr("canlegalrag.measures.resampling._CELLS", 200)
    parts = compare(values, resamples=500)
    for one, other in zip(whole, parts, strict=True):
        assert (one.p, one.low, one.high) == pytest.approx((other.p, other.low, other.high), abs=1e-12)


def test_compare_says_what_can_be_told_apart():
    rng = np.random.default_rng(8)
    base = rng.random(60)
    values = {"good": base + 0.3, "same": base + rng.normal(0, 0.05, 60), "poor": base}
    found = {(c.a, c.b): c for c in compare(values)}
    assert list(found) == [("good", "same"), ("good", "poor"), ("same", "poor")]
    for (a, b), c in found.items():
        differences = values[a] - values[b]
        assert c.difference == pytest.approx(differences.mean())
        assert c.mean_a - c.mean_b == pytest.approx(c.difference)
        assert (c.low, c.high) == pytest.approx(block_bootstrap(differences), abs=1e-12)
        assert c.p == paired_test(values[a], values[b])
        assert (c.n, c.skipped, c.blocks) == (60, 0, 60)
    assert found["good", "poor"].apart and not found["same", "poor"].apart
    assert [c.p_holm for c in found.values()] == holm([c.p for c in found.values()]).tolist()


def test_compare_uses_the_same_queries_for_all_pairs():
    values = {"a": [1.0, 0.0, math.nan, 1.0], "b": [0.0, 0.0, 1.0, 0.0], "c": [math.nan, 1.0, 1.0, 1.0]}
    assert {(c.n, c.skipped) for c in compare(values)} == {(2, 2)}
    (nothing,) = compare({"a": [math.nan], "b": [1.0]})
    assert (nothing.n, nothing.blocks, nothing.apart) == (0, 0, False)
    assert math.isnan(nothing.p) and math.isnan(nothing.p_holm) and math.isnan(nothing.low)


def test_compare_needs_two():
    assert compare({}) == compare({"a": [1.0]}) == []


def test_holm_by_hand_and_with_nan():
    # Sorted 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.5 x 1; each at least the one before.
    assert holm([0.5, 0.01, 0.03, 0.02]).tolist() == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm([math.nan, 0.04, 0.01]).tolist() == pytest.approx([math.nan, 0.04, 0.02], nan_ok=True)
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_never_lowers_p_and_keeps_the_order(p):
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all() and (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=20))
def test_the_test_is_symmetric_and_the_interval_within_the_values(rows):
    a, b, blocks = zip(*rows, strict=True)
    p = paired_test(a, b, blocks, resamples=64)
    assert p == paired_test(b, a, blocks, resamples=64)
    assert 0 < p <= 1
    low, high = block_bootstrap(a, blocks, resamples=64)
    if len(set(blocks)) >= FEWEST:
        assert min(a) - 1e-12 <= low <= high <= max(a) + 1e-12
    else:
        assert math.isnan(low) and math.isnan(high)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: block_bootstrap([1.0, 2.0], ["x"]), "1 labels for 2 queries"),
        (lambda: block_bootstrap([1.0, math.inf]), "infinite"),
        (lambda: block_bootstrap([1.0, 2.0], resamples=0), "resamples"),
        (lambda: block_bootstrap([], resamples=0), "resamples"),
        (lambda: paired_test([1.0], [1.0, 2.0]), "different numbers of queries"),
        (lambda: paired_test([1.0], [1.0], resamples=0), "resamples"),
        (lambda: paired_test(1.0, 2.0), "dimension"),
        (lambda: compare({"a": [1.0], "b": [1.0, 2.0]}), "different numbers of queries"),
        (lambda: compare({"a": ["x"], "b": ["y"]}), "values"),
    ],
)
def test_misuse_is_explained(call, message):
    with pytest.raises(InputError, match=message):
        call()
