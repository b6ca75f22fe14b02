"""Uncertainty: block bootstrap intervals, paired randomisation tests and Holm's correction, many at once.

Both resamplings are linear in the values, so that all measures and all pairs of systems share one set of draws:
one matrix product of counts (or signs) with block sums. Same seed, same draws, same numbers.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from canlegalrag.errors import InputError
from canlegalrag.measures.names import FloatArray
from canlegalrag.measures.rankings import IntArray
from canlegalrag.measures.resampling import block_sums, check_resamples, every_sign, middle, random_signs, resampled

__all__ = [
    "FEWEST",
    "Comparison",
    "block_bootstrap",
    "compare",
    "drawn_means",
    "holm",
    "intervals",
    "paired_test",
    "percentiles",
]

_CELLS = 160_000
"""Resampled differences of pairs of systems held at once: few enough to stay in the cache."""
FEWEST = 5
"""Blocks that an interval needs: of b blocks b^b resamples can be drawn, 27 of three and 3,125 of five, and few alike
blocks give an interval without width, which says that all is known where next to nothing is."""
_TIE = 1e-12
"""Sums of signed differences closer than this, relative to the sum of the values, are equal but for rounding."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same queries; positive differences favour `a`."""

    a: str
    """One system."""
    b: str
    """The other."""
    mean_a: float
    """Mean of `a` over the queries that count for both."""
    mean_b: float
    """Mean of `b` over the same queries."""
    difference: float
    """`mean_a - mean_b`."""
    low: float
    """Lower end of the 95 % block-bootstrap interval of the difference; NaN with fewer than `FEWEST` blocks."""
    high: float
    """Upper end."""
    p: float
    """Two-sided p of the paired randomisation test."""
    p_holm: float
    """p after Holm's correction over all pairs compared."""
    n: int
    """Queries that count: those on which every system has a value."""
    skipped: int
    """Queries left out because some system has no value."""
    blocks: int
    """Blocks that were resampled and flipped as wholes."""
    apart: bool
    """Whether the two can be told apart: p_holm is below the level asked for."""
    differing: int | None = None
    """Blocks on which the two differ: flipping another changes nothing. None where they weren't counted."""


def block_bootstrap(
    values: ArrayLike, blocks: Sequence[Hashable] | None = None, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """95 % percentile interval of a mean whose queries are drawn in blocks.

    Blocks are drawn with replacement, as many as there are; the mean of a resample is the sum of all values
    drawn over their number, so that blocks may differ in size. NaN values count nowhere.

    Args:
        values: (queries,) float.
        blocks: label of each query's block; None for each query on its own.
        resamples: how many.
        seed: of the draws.

    Returns:
        The 2.5th and the 97.5th percentile; NaN where fewer than `FEWEST` blocks hold a value, since so few say
        next to nothing about how blocks differ.

    Raises:
        InputError: values and blocks of different lengths, or no resamples.

    Source: Efron and Tibshirani 1993, chapter 8 (blocks) and 13 (percentiles).

    >>> block_bootstrap([0.0, 1.0] * 5, list("rrssttuuvv"))  # blocks alike: nothing can vary
    (0.5, 0.5)
    >>> block_bootstrap([0.0, 1.0] * 2, list("rrss"))
    (nan, nan)
    """
    low, high = intervals(np.atleast_2d(np.asarray(values, dtype=np.float64)), blocks, resamples, seed)[0].tolist()
    return low, high


def intervals(
    values: ArrayLike, blocks: Sequence[Hashable] | None = None, resamples: int = 10_000, seed: int = 0
) -> FloatArray:
    """`block_bootstrap` of every row of values (rows, queries) on the same draws: low and high, (rows, 2) float64.

    >>> intervals([[0.0, 1.0] * 5, [1.0, 1.0] * 5], list("rrssttuuvv")).tolist()
    [[0.5, 0.5], [1.0, 1.0]]

    Raises:
        InputError: as `block_bootstrap`.
    """
    return percentiles(drawn_means(values, blocks, resamples, seed))


def percentiles(drawn: FloatArray) -> FloatArray:
    """95 % percentile interval (rows, 2) of each row of drawn means (rows, resamples); NaN where all of it is NaN."""
    result = np.full((len(drawn), 2), np.nan)
    for row, means in zip(result, drawn, strict=True):
        # A resample may draw only blocks without a value: it has no mean.
        known = means[~np.isnan(means)]
        if len(known):
            row[:] = middle(known)
    return result


def drawn_means(
    values: ArrayLike, blocks: Sequence[Hashable] | None = None, resamples: int = 10_000, seed: int = 0
) -> FloatArray:
    """Means (rows, resamples) of values (rows, queries) on blocks drawn with replacement, as in `block_bootstrap`.

    NaN where a resample has no value, and all along where fewer than `FEWEST` blocks hold one.

    Raises:
        InputError: as `block_bootstrap`.
    """
    check_resamples(resamples)
    table = _table(values)
    there = ~np.isnan(table)
    codes, n_blocks = _codes(blocks, table.shape[1])
    sums = block_sums(np.where(there, table, 0.0), codes, n_blocks)
    sizes = block_sums(there.astype(np.float64), codes, n_blocks)
    means = np.full((len(table), resamples), np.nan)
    usable = np.flatnonzero((sizes > 0).sum(axis=1) >= FEWEST)
    if len(usable):
        drawn = np.concatenate(list(resampled(np.vstack([sums[usable], sizes[usable]]), resamples, seed)), axis=1)
        total, size = drawn[: len(usable)], drawn[len(usable) :]
        means[usable] = np.divide(total, size, out=np.full(total.shape, np.nan), where=size > 0)
    return means


def paired_test(
    a: ArrayLike, b: ArrayLike, blocks: Sequence[Hashable] | None = None, resamples: int = 10_000, seed: int = 0
) -> float:
    """Two-sided p of the paired randomisation test that two systems score alike.

    If they do, the sign of each difference is chance. The test asks how often random signs give a mean
    difference as large as the one seen. Signs are flipped for whole blocks where blocks are given (queries of
    one seed rise and fall together), else for each query. All 2^blocks signs are tried where there are no more
    than `resamples` of them (p is then exact: count / 2^blocks), else `resamples` are drawn
    (p = (1 + count) / (1 + resamples), never 0).

    Args:
        a: (queries,) float, values of one system.
        b: (queries,) float, of the other, query by query; a query with NaN in either counts nowhere.
        blocks: label of each query's block; None for each query on its own.
        resamples: how many.
        seed: of the draws.

    Returns:
        p, 1 where all differences are 0, NaN where no query counts.

    Raises:
        InputError: lengths differ, or no resamples.

    Source: Fisher 1935; Smucker, Allan and Carterette 2007.

    >>> paired_test([0.4, 0.6, 0.9], [0.1, 0.2, 0.7])  # 2 of the 8 signs: all plus, all minus
    0.25
    """
    table, codes, n_blocks, _ = _shared([a, b], blocks)
    return float(_sign_tests(table, codes, n_blocks, np.array([0]), np.array([1]), resamples, seed)[0])


def compare(
    values: Mapping[str, ArrayLike],
    blocks: Sequence[Hashable] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.05,
) -> list[Comparison]:
    """Compare every pair of systems: difference, interval, p, and p after Holm's correction over all pairs.

    Args:
        values: system to its values (queries,), the same queries in the same order for all.
        blocks: label of each query's block; None for each query on its own.
        resamples: for the intervals and for the tests.
        seed: of the draws.
        level: p after correction below which two systems are told apart.

    Returns:
        One comparison a pair, in the order of the systems.

    Raises:
        InputError: lengths differ, or no resamples.

    >>> (c,) = compare({"bm25": [0.4, 0.6, 0.9], "dense": [0.1, 0.2, 0.7]})
    >>> round(c.difference, 3), c.p, c.apart
    (0.3, 0.25, False)
    """
    names = list(values)
    if len(names) < 2:
        return []
    table, codes, n_blocks, skipped = _shared(list(values.values()), blocks)
    n = table.shape[1]
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    low, high = _difference_intervals(table, codes, n_blocks, first, second, resamples, seed)
    p = _sign_tests(table, codes, n_blocks, first, second, resamples, seed)
    adjusted = holm(p)
    differing = _differing(table, codes, n_blocks, first, second)
    means = table.mean(axis=1) if n else np.full(len(names), np.nan)
    return [
        Comparison(
            a=names[i],
            b=names[j],
            mean_a=float(means[i]),
            mean_b=float(means[j]),
            difference=float((table[i] - table[j]).mean()) if n else float("nan"),
            low=float(low[pair]),
            high=float(high[pair]),
            p=float(p[pair]),
            p_holm=float(adjusted[pair]),
            n=n,
            skipped=skipped,
            blocks=n_blocks,
            apart=bool(adjusted[pair] < level),
            differing=differing[pair],
        )
        for pair, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
    ]


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's step-down correction: p-values (n,) that keep the chance of any false alarm below the level.

    Formula: the i-th smallest of m is multiplied by m - i + 1, made monotone, and cut at 1. NaN stays NaN and
    doesn't count in m.
    Source: Holm 1979.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)[: int((~np.isnan(p)).sum())]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return adjusted


def _difference_intervals(
    table: FloatArray, codes: IntArray, n_blocks: int, first: IntArray, second: IntArray, resamples: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Bootstrap intervals (pairs,) of the differences between rows of the table (systems, queries)."""
    check_resamples(resamples)
    if n_blocks < FEWEST:
        return np.full(len(first), np.nan), np.full(len(first), np.nan)
    sums = block_sums(np.vstack([table, np.ones(table.shape[1])]), codes, n_blocks)
    drawn = np.concatenate(list(resampled(sums, resamples, seed)), axis=1)
    means = drawn[:-1] / drawn[-1]
    step = max(1, _CELLS // resamples)
    parts = [middle(means[first[i : i + step]] - means[second[i : i + step]]) for i in range(0, len(first), step)]
    low, high = np.concatenate(parts).T
    return low, high


def _sign_tests(
    table: FloatArray, codes: IntArray, n_blocks: int, first: IntArray, second: IntArray, resamples: int, seed: int
) -> FloatArray:
    """Two-sided p (pairs,) of the sign-flip tests between rows of the table (systems, queries)."""
    check_resamples(resamples)
    if n_blocks < 1:
        return np.full(len(first), np.nan)
    # Shifting every system alike leaves differences as they are and keeps rounding small.
    sums = block_sums(table - table.mean(axis=0), codes, n_blocks)
    exact = n_blocks < 63 and 2**n_blocks <= resamples
    count, draws = np.zeros(len(first), dtype=np.int64), 0
    size = np.abs(table).sum(axis=1)
    seen = np.abs((sums[first] - sums[second]).sum(axis=1))
    least = (seen - _TIE * (size[first] + size[second]))[:, None]
    for signs in every_sign(n_blocks) if exact else random_signs(n_blocks, resamples, seed):
        flipped = sums @ signs.T
        draws += len(signs)
        step = max(1, _CELLS // len(signs))
        for i in range(0, len(first), step):
            part = slice(i, i + step)
            count[part] += (np.abs(flipped[first[part]] - flipped[second[part]]) >= least[part]).sum(axis=1)
    return count / draws if exact else (1 + count) / (1 + draws)


def _differing(table: FloatArray, codes: IntArray, n_blocks: int, first: IntArray, second: IntArray) -> list[int]:
    """Blocks on which the rows of each pair differ by more than rounding."""
    # Counted pair by pair: all pairs of many systems, each with all its blocks, would not fit in memory.
    sums, size = block_sums(table, codes, n_blocks), block_sums(np.abs(table), codes, n_blocks)
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return [int((np.abs(sums[i] - sums[j]) > _TIE * (size[i] + size[j])).sum()) for i, j in pairs]


def _shared(values: object, blocks: Sequence[Hashable] | None) -> tuple[FloatArray, IntArray, int, int]:
    """Values (systems, queries) of the queries that all systems have, blocks, their number, queries left out."""
    table = _table(values)
    codes, _ = _codes(blocks, table.shape[1])
    kept = ~np.isnan(table).any(axis=0)
    codes = np.unique(codes[kept], return_inverse=True)[1]
    return table[:, kept], codes, int(codes.max(initial=-1)) + 1, int((~kept).sum())


def _table(values: object) -> FloatArray:
    """Values as (rows, queries) float64."""
    try:
        table = np.asarray(values, dtype=np.float64)
    except ValueError:
        what = "differ in length (different numbers of queries), or hold text"
        raise InputError("values", what, "give each system one number a query, in the same order") from None
    if table.ndim != 2:
        raise InputError("values", f"have {table.ndim} dimension(s), not 2", "give one value a query")
    if np.isinf(table).any():
        raise InputError("values", "hold an infinite value", "use NaN for a query without a value")
    return table


def _codes(blocks: Sequence[Hashable] | None, n: int) -> tuple[IntArray, int]:
    """Block of each query as a number (n,), and how many blocks there are."""
    if blocks is None:
        return np.arange(n), n
    if len(blocks) != n:
        raise InputError("blocks", f"{len(blocks)} labels for {n} queries", "give one label a query")
    known: dict[Hashable, int] = {}
    codes = np.array([known.setdefault(block, len(known)) for block in blocks], dtype=np.int64)
    return codes, len(known)
