"""Does a judge say what people say? Agreement, kappa and errors by label, each with its interval.

Every figure is a function of one table of counts: rows are the labels that people gave, columns those of the judge and,
last, the pairs that it left without a label. Those leave every figure but `unscored_rate` and the bounds of accuracy:
failed is not wrong, and not right. The same functions run over the observed table and over all resampled ones at once.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from canlegalrag.errors import InputError
from canlegalrag.measures.decided import LABELS
from canlegalrag.measures.names import FloatArray
from canlegalrag.measures.rankings import IntArray
from canlegalrag.measures.resampling import block_sums, check_resamples, resampled
from canlegalrag.measures.stats import FEWEST, percentiles

__all__ = ["FIGURES", "UNSCORED", "Estimate", "agreement", "binary", "coded", "confusion", "counted"]

UNSCORED = "unscored"
"""The column of pairs that the judge left without a label."""

_SUPPORTED = 0


class Estimate(NamedTuple):
    """A figure with its 95 % interval; NaN where undefined."""

    value: float
    """The figure."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""


def confusion(people: Sequence[str], judge: Sequence[str | None]) -> dict[str, dict[str, int]]:
    """How many pairs have which labels: by people's label, then by the judge's.

    Raises:
        InputError: as `counted`.

    >>> confusion(["supported", "supported"], ["supported", None])["supported"]
    {'supported': 1, 'contradicted': 0, 'unsupported': 0, 'unscored': 1}
    """
    table = counted(people, judge).sum(axis=2).astype(int).tolist()
    return {of: dict(zip((*LABELS, UNSCORED), row, strict=True)) for of, row in zip(LABELS, table, strict=True)}


def counted(people: Sequence[str], judge: Sequence[str | None]) -> FloatArray:
    """One at the place of each pair: (3, 4, pairs) float64, zeros elsewhere.

    Raises:
        InputError: lengths differ, or a label isn't known.
    """
    if len(people) != len(judge):
        raise InputError("labels", f"{len(people)} of people, {len(judge)} of the judge", "one of each a pair")
    rows, columns = {of: n for n, of in enumerate(LABELS)}, {of: n for n, of in enumerate((*LABELS, None))}
    cells = np.zeros((len(LABELS), len(LABELS) + 1, len(people)))
    for n, (said, judged) in enumerate(zip(people, judge, strict=True)):
        if said not in rows or judged not in columns:
            bad = judged if said in rows else said
            what = f"label {bad!r} of pair {n} is not known"
            raise InputError("labels", what, f"one of: {', '.join(LABELS)}; None where the judge failed")
        cells[rows[said], columns[judged], n] = 1.0
    return cells


def coded(blocks: Sequence[Hashable] | None, n: int) -> tuple[IntArray, int]:
    """Number of each one's block (n,), each its own where there are none, and how many blocks there are.

    Raises:
        InputError: not as many labels.
    """
    if blocks is not None and len(blocks) != n:
        raise InputError("blocks", f"{len(blocks)} labels for {n} pairs or claims", "give one label each")
    known: dict[Hashable, int] = {}
    codes = [known.setdefault(block, len(known)) for block in (range(n) if blocks is None else blocks)]
    return np.array(codes, dtype=np.int64), len(known)


def binary(table: FloatArray) -> FloatArray:
    """Two labels of three: supported or not, (2, 3, …); the last column stays that of the unscored."""
    rows = np.stack([table[0], table[1] + table[2]])
    return np.stack([rows[:, 0], rows[:, 1] + rows[:, 2], rows[:, 3]], axis=1)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part of a whole, NaN where the whole is 0."""
    part, whole = np.broadcast_arrays(part, whole)
    shares: FloatArray = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
    return shares


def _scored(table: FloatArray) -> FloatArray:
    return table[:, :-1]


def accuracy(table: FloatArray) -> FloatArray:
    """Share of the labelled pairs on which judge and people agree.

    Formula: agreeing / pairs that the judge labelled. Range: 0 to 1; undefined where it labelled none.

    >>> float(accuracy(counted(["supported", "unsupported"], ["supported", None]).sum(axis=2)))
    1.0
    """
    return _share(np.trace(table), _scored(table).sum(axis=(0, 1)))


def accuracy_bound(table: FloatArray, *, right: bool) -> FloatArray:
    """Accuracy if the judge's failures were all wrong, or all right.

    Formula: (agreeing [+ unscored]) / pairs. Range: 0 to 1; undefined without pairs.
    """
    return _share(np.trace(table) + (table[:, -1].sum(axis=0) if right else 0.0), table.sum(axis=(0, 1)))


def kappa(table: FloatArray) -> FloatArray:
    """Agreement beyond what the two would reach by chance, given how often each gives each label.

    Formula: (p_o - p_e) / (1 - p_e), p_e = sum over labels of people's share times the judge's.
    Range: -1 to 1, 0 is chance; undefined where both give one and the same label throughout, or nothing is labelled.
    Source: Cohen 1960.

    >>> said, judged = ["supported"] * 2 + ["unsupported"] * 2, ["supported", "unsupported"] + ["unsupported"] * 2
    >>> float(kappa(counted(said, judged).sum(axis=2)))  # p_o = 3/4, p_e = 1/2 * 1/4 + 1/2 * 3/4
    0.5
    """
    scored = _scored(table)
    n = scored.sum(axis=(0, 1))
    chance = (scored.sum(axis=1) * scored.sum(axis=0)).sum(axis=0)
    return _share(np.trace(scored) * n - chance, n * n - chance)


def recall(table: FloatArray, label: int) -> FloatArray:
    """Share of the pairs with a label by people to which the judge gives that label: of `supported`, its sensitivity.

    Formula: both / people's, labelled pairs. Range: 0 to 1; undefined where there is none.
    """
    return _share(table[label, label], _scored(table)[label].sum(axis=0))


def precision(table: FloatArray, label: int) -> FloatArray:
    """Share of the pairs with a label by the judge to which people give that label.

    Formula: both / the judge's. Range: 0 to 1; undefined where the judge never gives it.
    """
    return _share(table[label, label], table[:, label].sum(axis=0))


def f1(table: FloatArray, label: int) -> FloatArray:
    """Harmonic mean of precision and recall of a label.

    Formula: 2 both / (people's + the judge's), labelled pairs. Range: 0 to 1; undefined where neither gives it.
    """
    return _share(2.0 * table[label, label], _scored(table)[label].sum(axis=0) + table[:, label].sum(axis=0))


def specificity(table: FloatArray) -> FloatArray:
    """Share of the pairs that people don't call supported of which the judge says the same.

    Formula: both not supported / people's not supported, labelled pairs. Range: 0 to 1; undefined where there is none.
    """
    return recall(binary(table), 1)


def base_rate(table: FloatArray, label: int, *, judged: bool) -> FloatArray:
    """Share of a label, as people give it over all pairs, or the judge over those that it labelled.

    Range: 0 to 1; undefined without pairs.
    """
    if judged:
        return _share(table[:, label].sum(axis=0), _scored(table).sum(axis=(0, 1)))
    return _share(table[label].sum(axis=0), table.sum(axis=(0, 1)))


def unscored_rate(table: FloatArray) -> FloatArray:
    """Share of the pairs that the judge left without a label.

    Range: 0 to 1; undefined without pairs.
    """
    return _share(table[:, -1].sum(axis=0), table.sum(axis=(0, 1)))


def _binary_accuracy(table: FloatArray) -> FloatArray:
    return accuracy(binary(table))


def _binary_kappa(table: FloatArray) -> FloatArray:
    return kappa(binary(table))


def _of_labels(name: str, function: Callable[..., FloatArray], **fixed: bool) -> dict[str, Callable[..., FloatArray]]:
    return {f"{name}_{label}": partial(function, label=n, **fixed) for n, label in enumerate(LABELS)}


FIGURES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "accuracy": accuracy,
    "accuracy_lower": partial(accuracy_bound, right=False),
    "accuracy_upper": partial(accuracy_bound, right=True),
    "kappa": kappa,
    "binary_accuracy": _binary_accuracy,
    "binary_kappa": _binary_kappa,
    "sensitivity": partial(recall, label=_SUPPORTED),
    "specificity": specificity,
    **_of_labels("precision", precision),
    **_of_labels("recall", recall),
    **_of_labels("f1", f1),
    **_of_labels("people", base_rate, judged=False),
    **_of_labels("judge", base_rate, judged=True),
    "unscored_rate": unscored_rate,
}
"""Every figure by name: from a table of counts (3, 4, …) to a value for each. `binary_…` ask only whether a pair is
supported; `people_…` and `judge_…` are base rates."""


def agreement(
    people: Sequence[str],
    judge: Sequence[str | None],
    blocks: Sequence[Hashable] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Every figure of `FIGURES` with its 95 % bootstrap interval, all on the same draws.

    Args:
        people: their label of each pair.
        judge: its label of each; None where it failed.
        blocks: what pairs are drawn by, such as their documents; None for each pair on its own.
        resamples: how many.
        seed: of the draws.

    Returns:
        The figures. Where all pairs are alike (a judge that is always right) nothing varies between draws, and the
        interval is a point: read it with the number of pairs.

    Raises:
        InputError: lengths differ, a label isn't known, or no resamples.

    >>> found = agreement(["supported", "unsupported"] * 9, ["supported", "unsupported", "supported"] * 6)
    >>> round(found["accuracy"].value, 3), found["accuracy"].low < 0.5 < found["accuracy"].high
    (0.5, True)
    """
    check_resamples(resamples)
    cells = counted(people, judge)
    codes, n_blocks = coded(blocks, len(people))
    table = cells.sum(axis=2)
    values = {name: float(function(table)) for name, function in FIGURES.items()}
    if n_blocks < FEWEST:
        return {name: Estimate(value, np.nan, np.nan) for name, value in values.items()}
    sums = block_sums(cells.reshape(-1, len(people)), codes, n_blocks)
    drawn = np.concatenate(list(resampled(sums, resamples, seed)), axis=1).reshape(*cells.shape[:2], -1)
    ends = percentiles(np.stack([function(drawn) for function in FIGURES.values()])).tolist()
    return {name: Estimate(values[name], *end) for name, end in zip(FIGURES, ends, strict=True)}
