"""Draws: the right percentiles, all signs, and sums of blocks."""

import numpy as np
import pytest

from canlegalrag.measures.resampling import block_sums, every_sign, middle, random_signs, resampled


@pytest.mark.parametrize("n", [1, 2, 3, 40, 1000])
def test_percentiles_are_numpys(n):
    draws = np.random.default_rng(n).normal(size=(3, n))
    assert middle(draws) == pytest.approx(np.quantile(draws, (0.025, 0.975), axis=1).T, abs=1e-14)
    assert middle(draws[0]) == pytest.approx(middle(draws)[0])


@pytest.mark.parametrize("n", [1, 3, 8])
def test_every_sign_is_there_once(n):
    signs = np.concatenate(list(every_sign(n)))
    assert signs.shape == (2**n, n)
    assert len({tuple(row) for row in signs.tolist()}) == 2**n
    assert set(signs.ravel().tolist()) == {-1.0, 1.0}


@pytest.mark.parametrize("n", [1, 64, 65, 200])
def test_random_signs_are_fair_and_repeatable(n):
    signs = np.concatenate(list(random_signs(n, 4000, seed=1)))
    assert signs.shape == (4000, n)
    # Five standard errors of the mean of 4000 n signs; no column is stuck.
    assert abs(signs.mean()) < 5 / np.sqrt(4000 * n)
    assert (np.abs(signs.mean(axis=0)) < 6 / np.sqrt(4000)).all()
    assert np.array_equal(signs, np.concatenate(list(random_signs(n, 4000, seed=1))))
    assert not np.array_equal(signs, np.concatenate(list(random_signs(n, 4000, seed=2))))


def test_a_resample_draws_as_many_blocks_as_there_are():
    totals = np.concatenate(list(resampled(np.vstack([np.ones(7), np.arange(7.0)]), 2000, seed=0)), axis=1)
    assert (totals[0] == 7).all()
    # Mean of 7 draws of 0 to 6: 21, with standard deviation 2 sqrt 7 a resample.
    assert totals[1].mean() == pytest.approx(21, abs=5 * 2 * np.sqrt(7 / 2000))
    assert totals[1].std() == pytest.approx(2 * np.sqrt(7), rel=0.1)


def test_block_sums():
    table = np.array([[1.0, 2.0, 4.0], [0.5, 0.0, 0.25]])
    assert block_sums(table, np.array([1, 0, 1]), 2).tolist() == [[2.0, 5.0], [0.0, 0.75]]
