"""What a rate measured by a judge would be by people: corrected for the judge's errors, with all uncertainty kept.

`rogan_gladen` needs the judge to err as often on what was measured as on the labelled pairs, whatever the share of
supported ones; `ppi` needs the labelled pairs to be a random sample of what was measured.
"""

from collections.abc import Hashable, Sequence
from math import inf, isfinite, nan, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from canlegalrag.errors import InputError
from canlegalrag.measures.agreement import coded
from canlegalrag.measures.names import FloatArray
from canlegalrag.measures.rankings import IntArray

__all__ = ["Corrected", "Rate", "p_same", "ppi", "rate", "rogan_gladen"]

_Blocks = Sequence[Hashable] | None


class Rate(NamedTuple):
    """A share, and how much it is known by."""

    value: float
    """The share; NaN where there is nothing to count."""
    n: float
    """Independent observations that would tell as much; NaN where that can't be known."""


class Corrected(NamedTuple):
    """A corrected rate with its interval."""

    value: float
    """The rate, from 0 to 1; NaN where it can't be corrected."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""
    raw: float
    """The rate before it was cut to 0 to 1."""
    why: str = ""
    """What is undefined, or was cut, and why; empty where nothing is."""
    weight: float = nan
    """Of the judge's word beside people's (`ppi`): 0 leaves people's labels alone; NaN elsewhere."""


def rate(values: ArrayLike, blocks: _Blocks = None) -> Rate:
    """Share of ones among values (n,) of 0 and 1 that come in blocks, and the size that it is worth.

    Formula: n' = n / design effect, the variance of the mean over blocks against that of as many independent values,
    and never less than 1. Values that are all alike are worth as many as there are blocks: nothing shows how far those
    of a block go together. Unknown with fewer than two blocks. Source: Kish 1965; Rao and Scott 1992.

    >>> pairs = [1, 1, 0, 0] * 10  # 40 values that go together by two
    >>> rate(pairs).n, round(rate(pairs, [n // 2 for n in range(40)]).n, 1)
    (40.0, 19.5)
    """
    x, codes = _vector(values, blocks)
    n, found = len(x), int(codes.max(initial=-1)) + 1
    if not n:
        return Rate(nan, nan)
    share = float(x.mean())
    if found < 2:
        return Rate(share, nan)
    if share in (0.0, 1.0):
        return Rate(share, float(found))
    alone, together = share * (1.0 - share) / (n - 1), _variance(x, codes)
    return Rate(share, float(n) if found == n or together <= alone else n * alone / together)


def rogan_gladen(measured: Rate, sensitivity: Rate, specificity: Rate, level: float = 0.95) -> Corrected:
    """The share that people would call supported, given that a judge says `measured` of it and errs as known.

    Formula: (m + Sp - 1) / (Se + Sp - 1). The interval adds pseudo-observations (z^2 to m, 2 each to Se and Sp, half of
    them hits), then carries the variance of all three and a shift against their skewness.
    Range: 0 to 1, cut there; undefined where Se + Sp <= 1 (the judge is no better than chance), or a rate is. Where the
    whole interval lies outside 0 to 1 the rates contradict each other, and it is undefined too.
    Source: Rogan and Gladen 1978; Lang and Reiczigel 2014 for the interval.

    Raises:
        InputError: a rate isn't from 0 to 1, or its n is negative.

    >>> found = rogan_gladen(Rate(0.5, 400), Rate(0.9, 80), Rate(0.7, 120))
    >>> [round(x, 3) for x in (found.value, found.low, found.high)]  # (0.5 + 0.7 - 1) / 0.6
    [0.333, 0.199, 0.459]
    """
    for name, of in (("measured", measured), ("sensitivity", sensitivity), ("specificity", specificity)):
        if not (of.value != of.value or 0 <= of.value <= 1) or of.n < 0:
            raise InputError(name, f"{of.value!r} of {of.n!r} is no share", "a share from 0 to 1 of n observations")
    gain = sensitivity.value + specificity.value - 1.0
    if not isfinite(measured.value) or not isfinite(gain):
        return Corrected(nan, nan, nan, nan, "nothing was measured, or the pairs lack supported or other ones")
    if gain <= 1e-12:  # 0.9 + 0.1 - 1 isn't quite 0
        why = "sensitivity and specificity add up to 1 or less: the judge is no better than chance"
        return Corrected(nan, nan, nan, nan, why)
    raw = (measured.value + specificity.value - 1.0) / gain
    low, high = _lang_reiczigel(measured, sensitivity, specificity, NormalDist().inv_cdf((1.0 + level) / 2.0))
    return _cut(raw, low, high)


def _lang_reiczigel(measured: Rate, sensitivity: Rate, specificity: Rate, z: float) -> tuple[float, float]:
    """Ends of the interval, not cut."""
    (m, n_m), (se, n_se), (sp, n_sp) = _padded(measured, z * z), _padded(sensitivity, 2.0), _padded(specificity, 2.0)
    gain = se + sp - 1.0
    if gain <= 0:
        return -inf, inf  # by the padded rates the judge may be no better than chance: nothing is known
    share = (m + sp - 1.0) / gain
    of_se, of_sp = se * (1.0 - se) / n_se, sp * (1.0 - sp) / n_sp
    error = sqrt(m * (1.0 - m) / n_m + share**2 * of_se + (1.0 - share) ** 2 * of_sp) / gain
    centre = share + 2.0 * z * z * (share * of_se - (1.0 - share) * of_sp)
    return centre - z * error, centre + z * error


def _padded(of: Rate, more: float) -> Rate:
    """A rate with further observations, half of them hits."""
    return Rate((of.value * of.n + more / 2.0) / (of.n + more), of.n + more)


def ppi(
    judge: ArrayLike,
    pair_judge: ArrayLike,
    pair_people: ArrayLike,
    blocks: _Blocks = None,
    pair_blocks: _Blocks = None,
    level: float = 0.95,
) -> Corrected:
    """Prediction-powered mean: people's mean over the labelled pairs, moved by what the judge says of all the rest.

    Formula: mean(y) + w (mean(f) - mean(f_pairs)), with the w in 0 to 1 that makes the variance least,
    cov(y, f_pairs) / ((1 + n / N) var(f)); the variance is w^2 var(f) / N + var(y - w f_pairs) / n, over blocks where
    there are any. A judge that says nothing of people's labels has w = 0, which leaves people's mean.
    Range: 0 to 1, cut there; undefined without measured values, or with fewer than two pairs.
    Source: Angelopoulos et al. 2023 (arXiv 2301.09633), Angelopoulos, Duchi and Zrnic 2023 (arXiv 2311.01453) for w.

    Args:
        judge: (N,) 0 or 1, what the judge says where people said nothing.
        pair_judge: (n,) what it says of the labelled pairs.
        pair_people: (n,) what people say of them.
        blocks: label of each measured value's block; None for each on its own.
        pair_blocks: the same of the pairs.
        level: of the interval.

    Raises:
        InputError: lengths differ, or a value isn't from 0 to 1.

    >>> found = ppi([1, 0] * 500, [1, 1, 0, 0] * 10, [1, 0, 0, 0] * 10)
    >>> round(found.value, 3), round(found.weight, 3)  # the judge says 0.5 here and there: people's mean stands
    (0.25, 0.493)
    """
    f, codes = _vector(judge, blocks)
    g, pair_codes = _vector(pair_judge, pair_blocks)
    y, _ = _vector(pair_people, pair_blocks)
    if len(g) != len(y):
        raise InputError("pairs", f"{len(g)} labels of the judge, {len(y)} of people", "one of each a pair")
    if not len(f) or len(y) < 2:
        return Corrected(nan, nan, nan, nan, "nothing was measured, or there are fewer than two pairs")
    both = np.concatenate([f, g])
    spread = (1.0 + len(y) / len(f)) * float(both.var(ddof=1))
    together = float(((y - y.mean()) * (g - g.mean())).sum()) / (len(y) - 1)
    w = min(1.0, max(0.0, together / spread)) if spread > 0 else 0.0
    value = float(y.mean() + w * (f.mean() - g.mean()))
    error = sqrt((w * w * _variance(f, codes) if w else 0.0) + _variance(y - w * g, pair_codes))
    if error == 0:
        why = "no interval: neither the pairs nor the measured values vary"
        return Corrected(value, nan, nan, value, why, w)
    z = NormalDist().inv_cdf((1.0 + level) / 2.0)
    return _cut(value, value - z * error, value + z * error)._replace(weight=w)


def p_same(a: ArrayLike, b: ArrayLike, a_blocks: _Blocks = None, b_blocks: _Blocks = None) -> float:
    """Two-sided p that two samples of 0 and 1 have the same mean, by the normal approximation over blocks.

    1 where neither varies and both are alike, 0 where neither varies and they differ; NaN where a sample has fewer
    than two blocks.

    >>> round(p_same([1, 0] * 50, [1, 1, 1, 0] * 25), 5)  # 0.5 against 0.75 of 100 each
    0.00017
    """
    (x, x_codes), (y, y_codes) = _vector(a, a_blocks), _vector(b, b_blocks)
    if not len(x) or not len(y):
        return nan
    apart, spread = abs(float(x.mean() - y.mean())), _variance(x, x_codes) + _variance(y, y_codes)
    if not spread > 0:
        return spread if spread != spread else float(apart == 0)
    return 2.0 * NormalDist().cdf(-apart / sqrt(spread))


def _variance(x: FloatArray, codes: IntArray) -> float:
    """Variance of a mean over blocks: of independent values, the sample variance over n; NaN with one block."""
    n_blocks = int(codes.max()) + 1
    if n_blocks < 2:
        return nan
    sums = np.bincount(codes, weights=x - x.mean())
    return float((sums**2).sum()) * n_blocks / (n_blocks - 1) / len(x) ** 2


def _cut(raw: float, low: float, high: float) -> Corrected:
    """A rate within 0 to 1, and what was cut."""
    value = min(1.0, max(0.0, raw))
    if low != low or high != high:
        return Corrected(value, nan, nan, raw, "no interval: fewer than two blocks, which don't show how they differ")
    if high < 0 or low > 1:
        why = f"the rate comes out at {raw:.3f}, beyond chance: the pairs don't resemble what was measured"
        return Corrected(nan, nan, nan, raw, why)
    cut = [name for name, x in (("rate", raw), ("lower end", low), ("upper end", high)) if not 0 <= x <= 1]
    why = f"cut to 0 to 1: {', '.join(cut)}" if cut else ""
    return Corrected(value, max(0.0, low), min(1.0, high), raw, why)


def _vector(values: ArrayLike, blocks: _Blocks) -> tuple[FloatArray, IntArray]:
    """Values (n,) float64 and the number of each one's block (n,) int64."""
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not bool(((x >= 0) & (x <= 1)).all()):
        raise InputError("values", "hold what is not from 0 to 1, or aren't a list", "1 for supported, 0 for not")
    codes, _ = coded(blocks, len(x))
    return x, codes
