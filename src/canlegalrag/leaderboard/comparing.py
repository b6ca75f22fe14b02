"""Which systems can be told apart, and which ranks each could have, over the queries that both of a pair have.

`measures.stats.compare` leaves out a query that any system lacks. On a board that anybody can enter that would let one
entry empty the comparisons of all others; here each pair keeps the queries that it shares.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from canlegalrag.measures.names import FloatArray
from canlegalrag.measures.rankings import IntArray
from canlegalrag.measures.resampling import block_sums, every_sign, random_signs
from canlegalrag.measures.stats import Comparison, drawn_means, holm

__all__ = ["pairs", "rank_intervals", "ranks"]

_CELLS = 400_000  # signed sums held at once
_TIE = 1e-12  # relative: sums closer than this are equal but for rounding


def pairs(
    names: Sequence[str], values: FloatArray, blocks: Sequence[str], resamples: int, seed: int, level: float = 0.05
) -> list[Comparison]:
    """Compare every pair of systems by a paired randomisation test whose signs are flipped block by block.

    Args:
        names: of the systems.
        values: (systems, queries) float64; NaN where undefined.
        blocks: (queries,) block of each query.
        resamples: signs drawn; all of them are tried where there are no more than that.
        seed: of the draws.
        level: p after Holm's correction over all pairs below which two systems are told apart.

    Returns:
        One comparison a pair, in the order of the systems; without intervals.

    >>> values = np.array([[0.4, 0.6, 0.9], [0.1, 0.2, 0.7]])
    >>> (pair,) = pairs(["bm25", "dense"], values, ["a", "b", "c"], 1000, 0)
    >>> pair.p, pair.n, pair.differing, pair.apart
    (0.25, 3, 3, False)
    """
    if len(names) < 2:
        return []
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    there = ~np.isnan(values)
    kept = np.flatnonzero(there.any(axis=0))  # a query that nobody has tells nothing
    values, there = values[:, kept], there[:, kept]
    known = [blocks[query] for query in kept.tolist()]
    place = {block: n for n, block in enumerate(dict.fromkeys(known))}
    codes = np.array([place[block] for block in known], dtype=np.int64)
    both = there[first] & there[second]
    a, b = np.where(both, values[first], 0.0), np.where(both, values[second], 0.0)
    n = both.sum(axis=1)
    tie = _TIE * (np.abs(a) + np.abs(b)).sum(axis=1)
    differences = block_sums(a - b, codes, len(place))
    if there.all():
        p = _p(block_sums(values - values.mean(axis=0), codes, len(place)), tie, (first, second), resamples, seed)
    else:
        p = _p(differences, tie, None, resamples, seed)
    p = np.where(n > 0, p, np.nan)
    adjusted = holm(p)
    differing = (np.abs(differences) > tie[:, None]).sum(axis=1)
    held = (block_sums(both.astype(np.float64), codes, len(place)) > 0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        mean_a, mean_b = a.sum(axis=1) / n, b.sum(axis=1) / n
    return [
        Comparison(
            a=names[i],
            b=names[j],
            mean_a=float(mean_a[at]),
            mean_b=float(mean_b[at]),
            difference=float(mean_a[at] - mean_b[at]),
            low=float("nan"),
            high=float("nan"),
            p=float(p[at]),
            p_holm=float(adjusted[at]),
            n=int(n[at]),
            skipped=len(blocks) - int(n[at]),
            blocks=int(held[at]),
            apart=bool(adjusted[at] < level),
            differing=int(differing[at]),
        )
        for at, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
    ]


def _p(
    sums: FloatArray, tie: FloatArray, systems: tuple[IntArray, IntArray] | None, resamples: int, seed: int
) -> FloatArray:
    """Two-sided p (pairs,) of sign-flip tests.

    Args:
        sums: differences summed by block (pairs, blocks); or the systems' values (systems, blocks), far fewer rows to
            flip, where all have the same queries.
        tie: (pairs,) what sums may differ by and be equal.
        systems: the rows of each pair, in the second case.
        resamples: signs drawn.
        seed: of the draws.
    """
    n = sums.shape[1]
    if not n:
        return np.full(len(tie), np.nan)
    exact = n < 63 and 2**n <= resamples
    seen = sums.sum(axis=1) if systems is None else (sums[systems[0]] - sums[systems[1]]).sum(axis=1)
    least = (np.abs(seen) - tie)[:, None]
    count, drawn = np.zeros(len(tie), dtype=np.int64), 0
    for signs in every_sign(n) if exact else random_signs(n, resamples, seed):
        drawn += len(signs)
        flipped = sums @ signs.T
        step = max(1, _CELLS // len(signs))
        for i in range(0, len(tie), step):
            at = slice(i, i + step)
            part = flipped[at] if systems is None else flipped[systems[0][at]] - flipped[systems[1][at]]
            count[at] += (np.abs(part) >= least[at]).sum(axis=1)
    return count / drawn if exact else (1 + count) / (1 + drawn)


def rank_intervals(
    values: FloatArray, blocks: Sequence[str], resamples: int, seed: int
) -> list[tuple[int, int] | None]:
    """95 % interval of each system's rank, over resamples in which blocks are drawn with replacement.

    Args:
        values: (systems, queries) float64; NaN where undefined.
        blocks: (queries,) block of each query.
        resamples: how many.
        seed: of the draws.

    Returns:
        The 2.5th and 97.5th percentile, rounded outwards; None where fewer than `stats.FEWEST` blocks hold a value.

    >>> rank_intervals(np.array([[1.0] * 5, [0.0] * 5, [0.0] * 5]), list("abcde"), 100, 0)
    [(1, 1), (2, 2), (2, 2)]
    """
    if not len(values):
        return []
    means = drawn_means(values, blocks, resamples, seed)
    drawn = np.sort(ranks(means), axis=1)
    low, high = int(np.floor(0.025 * (resamples - 1))), int(np.ceil(0.975 * (resamples - 1)))
    known: list[bool] = np.any(~np.isnan(means), axis=1).tolist()
    return [(int(row[low]), int(row[high])) if there else None for row, there in zip(drawn, known, strict=True)]


def ranks(means: FloatArray) -> IntArray:
    """Rank of each system (systems, columns) in each column, 1 for the highest; equals share the better rank.

    Means that differ by rounding only are equal; a NaN comes last.

    >>> ranks(np.array([[0.5], [0.9], [0.5], [float("nan")]])).ravel().tolist()
    [2, 1, 2, 4]
    """
    table = -np.round(np.where(np.isnan(means), -np.inf, means), 12)
    order = np.argsort(table, axis=0, kind="stable")
    rising = np.take_along_axis(table, order, axis=0)
    places = np.broadcast_to(np.arange(1, len(table) + 1)[:, None], table.shape)
    new = np.ones(table.shape, dtype=bool)
    new[1:] = rising[1:] > rising[:-1]
    shared = np.maximum.accumulate(np.where(new, places, 0), axis=0)
    found = np.empty(table.shape, dtype=np.int64)
    np.put_along_axis(found, order, shared, axis=0)
    return found
