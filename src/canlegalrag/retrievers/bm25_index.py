"""The inverted index under BM25: built from a stream of texts, read one query at a time."""

import os
import tempfile
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canlegalrag.retrievers.bm25_weights import Variant
from canlegalrag.text import encode

__all__ = ["IndexBuilder", "Postings", "best"]

Ints = npt.NDArray[np.int64]
Array = npt.NDArray[Any]

_List = tuple[slice, int]  # where a list stands, how often the query says its term
_Dense = tuple[int, int, float]  # row, how often the query says its term, the most that this can add

BATCH = 8_000_000
"""Characters coded at once: enough to be paid back by the vectorised steps, small enough for the caches."""
_BLOCK = 1 << 18
_FEW = 256  # units that it doesn't pay to thin out further
_COMMON = 6  # a term in a sixth of the units is a dense row: a third more bytes than its lists, a fifth of the time


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """For each term, the units (documents or passages) that hold it and what it is worth there.

    The commonest terms are dense rows, which add without indirection and can be read for a few units alone;
    the others are lists in the manner of a CSC matrix.
    """

    terms: dict[str, int] = field(repr=False)
    """term -> code."""
    idf: Array
    """(terms,) float64."""
    starts: Array
    """(terms + 1,) int64: where the list of each term starts; a dense term's is empty."""
    units: Array
    """(postings,) int32: units, rising within a term."""
    weights: Array
    """(postings,) of the variant's dtype: idf times gain."""
    rows: Array
    """(terms,) int32: row in `dense`, -1 for a list."""
    dense: Array
    """(rows, units) of the variant's dtype; 0 where the unit doesn't hold the term."""
    tops: Array
    """(rows,) of the variant's dtype: the highest weight in each dense row."""
    coarse: Array
    """(rows, units) uint8: `dense` in 255ths of its highest weight, rounded down; no rows where that is float32."""

    def scores(self, query: Sequence[str], k: int | None = None, firsts: Array | None = None) -> tuple[Array, float]:
        """Score every unit for the tokens of a query.

        Args:
            query: tokens; those that the index doesn't know are passed over.
            k: only the k best are wanted: the scores of units that can't be among them may stay incomplete
                (too low). The others are the same to the bit.
            firsts: (documents + 1,) first unit of each document; then it is the k best documents that are
                wanted, by their best unit.

        Returns:
            (units,) scores, and the floor: only units above it hold a token of the query.
        """
        counts = Counter(map(self.terms.__getitem__, filter(self.terms.__contains__, query)))
        codes = np.fromiter(counts, dtype=np.int64, count=len(counts))
        total = np.zeros(self.dense.shape[1], dtype=self.weights.dtype)
        lists, dense = self._split(counts, codes)
        if lists:
            units = np.concatenate([self.units[span] for span, _ in lists])
            np.add.at(total, units, np.concatenate([_times(self.weights[span], n) for span, n in lists]))
        masked = bool((self.idf[codes] <= 0).any())
        starts = None if firsts is None else firsts[np.flatnonzero(np.diff(firsts))]
        if masked or k is None:
            for row, n, _ in dense:
                total += _times(self.dense[row], n)
        elif not len(self.coarse) or not self._sift(total, dense, k, starts):
            self._lift(total, dense, k, starts)
        return (self._masked(total, lists, dense), -np.inf) if masked else (total, 0.0)

    def _sift(self, total: Array, dense: list[_Dense], k: int, starts: Array | None) -> bool:
        """Add the dense rows to the units that coarse sums leave among the k best; False: too many to gain by it.

        A coarse sum is a lower bound, and with one 255th more for each summand an upper one. This is for float64,
        an eighth of which is read; float32 gains more by `_lift`, unless floors keep common terms weighty.
        """
        step = float(self.tops.max()) / 255
        steps = sum(n for _, n, _ in dense)
        most = float(total.max()) / step + 255 * (steps + 1)
        if not dense or not most < 1 << 32:
            return not dense
        kind = np.uint16 if most < 1 << 16 else np.uint32
        sums: Array = (total / step).astype(kind)
        for row, n, _ in dense:
            np.add(sums, self.coarse[row] if n == 1 else self.coarse[row] * kind(n), out=sums)
        bound = _bound(sums if starts is None else np.maximum.reduceat(sums, starts), k)
        lowest = int(max(bound, 0)) - steps - 2  # one for the lists, one for rounding
        near = np.flatnonzero(sums >= lowest) if lowest > 0 else ()
        if not 0 < 16 * len(near) < len(sums):
            return False
        rows, times = (np.array([item[i] for item in dense]) for i in (0, 1))
        block = self.dense[rows[:, None], near] * times[:, None].astype(total.dtype)
        block[0] += total[near]
        total[near] = np.add.accumulate(block)[-1]  # term after term, as everywhere: sums round
        return True

    def _lift(self, total: Array, dense: list[_Dense], k: int, starts: Array | None) -> None:
        """Add the dense rows, weightiest first, to the units that they can still lift among the k best.

        All weights are positive, so what a unit has so far is a lower bound, and that plus the highest weight
        of each row to come an upper one (the MaxScore argument; Turtle and Flood, 1995).
        """
        at, part = None, total
        reach = sum(most for *_, most in dense)
        hope = np.inf  # what the bound can have grown to: below the reach, looking is in vain
        for i, (row, n, most) in enumerate(dense):
            if i % 4 == 0 and hope > reach and (at is None or (starts is None and len(at) > _FEW)):
                lowest = float(_bound(part if starts is None else np.maximum.reduceat(part, starts), k))
                hope = max(lowest, 0.0)
                if lowest > reach:  # sums round: a wider net costs little and loses nothing
                    near = np.flatnonzero(part >= lowest - reach - 1e-3 * lowest)
                    if 4 * len(near) < len(part):
                        if at is not None:
                            total[at] = part
                        at, part = near if at is None else at[near], part[near]
            reach -= most
            hope += most
            part += _times(self.dense[row] if at is None else self.dense[row].take(at), n)
        if at is not None:
            total[at] = part

    def _split(self, counts: Mapping[int, int], codes: Ints) -> tuple[list[_List], list[_Dense]]:
        """The lists and the dense rows (weightiest first) of a query, with how often it says each term."""
        lists, dense = [], []
        ends = zip(self.starts[codes].tolist(), self.starts[codes + 1].tolist(), strict=True)
        for (start, end), row, n in zip(ends, self.rows[codes].tolist(), counts.values(), strict=True):
            if row < 0:
                lists.append((slice(start, end), n))
            else:
                dense.append((row, n, float(self.tops[row]) * n))
        return lists, sorted(dense, key=lambda item: -item[2])

    def _masked(self, total: Array, lists: list[_List], dense: list[_Dense]) -> Array:
        """Scores with minus infinity where no token is held: with an idf of 0 or less, 0 doesn't say it."""
        held = np.zeros(len(total), dtype=np.bool_)
        for span, _ in lists:
            held[self.units[span]] = True
        for row, *_ in dense:
            held |= self.dense[row] != 0
        return np.where(held, total, -np.inf)


def _times(weights: Array, n: int) -> Array:
    return weights if n == 1 else weights * weights.dtype.type(n)


def _bound(scores: Array, k: int) -> Any:
    """A lower bound for the k-th highest score, close to it; minus infinity where there are fewer.

    The k-th highest of the maxima over disjoint groups is one, and cheaper than the k-th highest itself.
    """
    columns = len(scores) // 32
    if columns >= 2 * k:
        tops = scores[: columns * 32].reshape(32, columns).max(axis=0)
        return np.partition(tops, columns - k)[columns - k]
    return np.partition(scores, len(scores) - k)[len(scores) - k] if len(scores) > k else -np.inf


def best(scores: Array, k: int, floor: float) -> Ints:
    """(at most k,) the k highest scores above the floor, highest first, ties by position; exact.

    >>> best(np.array([0.5, 2.0, 0.0, 2.0, 1.0]), 3, 0.0).tolist()
    [1, 3, 4]
    """
    bound = _bound(scores, k)
    found = np.flatnonzero(scores >= bound if bound > floor else scores > floor)
    values = scores[found]
    if len(found) > k:
        worst = np.partition(values, len(found) - k)[len(found) - k]
        found = found[values >= worst]
        values = scores[found]
    return found[np.argsort(-values, kind="stable")[:k]]


class _Run(NamedTuple):
    """Postings of one batch, sorted by the batch's own term codes, then by unit."""

    terms: list[str]
    counts: Array
    units: Array
    tf: Array
    lengths: Ints


def _run(texts: Sequence[str], tokenizer: str) -> _Run:
    """Code, sort and count the tokens of a batch; touches nothing shared, so batches can run side by side."""
    terms, codes, ends = encode(texts, tokenizer)
    lengths = np.diff(ends, prepend=0)
    n = len(texts)
    kind = np.uint32 if len(terms) * n < 1 << 32 else np.uint64
    key = np.multiply(codes, n, dtype=kind, casting="unsafe")
    key = np.add(key, np.repeat(np.arange(n, dtype=kind), lengths), out=key)
    key.sort()
    last = np.append(np.flatnonzero(key[1:] != key[:-1]), len(key) - 1) if len(key) else np.zeros(0, np.int64)
    tf = np.diff(last, prepend=-1)
    code, unit = np.divmod(key[last], kind(n))
    small = np.uint16 if tf.max(initial=0) < 1 << 16 else np.uint32
    counts = np.bincount(code.astype(np.int64), minlength=len(terms))
    return _Run(terms, counts, unit.astype(np.int32), tf.astype(small), lengths)


class IndexBuilder:
    """Takes texts one by one and gives their postings; holds a few batches, and spills the rest to disk.

    Args:
        tokenizer: name of the tokenizer.
        threads: batches coded side by side; 0 for one a core, at most 4. The result is the same.
    """

    def __init__(self, tokenizer: str, threads: int = 0) -> None:
        self.tokenizer = tokenizer
        self.threads = threads or min(4, os.cpu_count() or 1)
        self.n = 0
        self._texts: list[str] = []
        self._size = 0
        self._terms: dict[str, int] = defaultdict(count().__next__)  # a new term gets the next code
        self._stored = 0
        self._lengths: list[Ints] = []
        self._parts: list[tuple[Array, Array, int, np.dtype[Any]]] = []
        self._pending: deque[Future[_Run]] = deque()

    def __enter__(self) -> "IndexBuilder":
        """Open the temporary file and the threads."""
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="bm25")
        self._spill: IO[bytes] = tempfile.TemporaryFile(prefix="canlegalrag-")
        return self

    def __exit__(self, *_: object) -> None:
        """Close them."""
        self._pool.shutdown(cancel_futures=True)
        self._spill.close()

    def add(self, text: str) -> None:
        """Take the next text."""
        self._texts.append(text)
        self._size += len(text) + 1
        self.n += 1
        if self._size >= BATCH:
            self._submit()

    def _submit(self) -> None:
        self._pending.append(self._pool.submit(_run, self._texts, self.tokenizer))
        self._texts, self._size = [], 0
        while len(self._pending) > self.threads:
            self._store(self._pending.popleft().result())

    def _store(self, run: _Run) -> None:
        """Give the run's terms their codes in the whole, and write its postings to disk."""
        codes = np.fromiter(map(self._terms.__getitem__, run.terms), dtype=np.int32, count=len(run.terms))
        self._spill.write((run.units + np.int32(self._stored)).data)
        self._spill.write(run.tf.data)
        self._parts.append((codes, run.counts.astype(np.int32), len(run.units), run.tf.dtype))
        self._lengths.append(run.lengths)
        self._stored += len(run.lengths)

    def finish(self, variant: Variant) -> tuple[Postings, Ints]:
        """Merge the runs and weigh the postings.

        Returns:
            The postings, and (units,) int64 lengths in tokens.
        """
        if self._texts:
            self._submit()
        while self._pending:
            self._store(self._pending.popleft().result())
        lengths = np.concatenate(self._lengths) if self._lengths else np.zeros(0, np.int64)
        df = np.zeros(len(self._terms), dtype=np.int64)
        for codes, counts, _, _ in self._parts:
            df[codes] += counts
        idf = variant.idf(df, self.n)
        is_dense = (_COMMON * df >= self.n) & (idf > 0)
        rows = np.where(is_dense, np.cumsum(is_dense) - 1, -1).astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(np.where(is_dense, 0, df))])
        units, tf, dense_tf = self._merged(starts, rows, int(is_dense.sum()))
        norms = variant.norms(lengths)
        weights = _weigh(variant, tf, units, starts, norms, idf)
        dense = np.zeros(dense_tf.shape, dtype=variant.dtype)

        def fill(code: int) -> None:
            row = rows[code]
            held = np.flatnonzero(dense_tf[row])
            dense[row, held] = variant.gain(dense_tf[row, held], norms[held]) * idf[code]

        deque(self._pool.map(fill, np.flatnonzero(is_dense).tolist()), maxlen=0)
        tops = dense.max(axis=1, initial=0)
        coarse = np.zeros((len(dense) if variant.dtype == "float64" else 0, self.n), dtype=np.uint8)
        for fine, row in zip(dense, coarse, strict=False):
            row[:] = fine / (tops.max() / 255)
        return Postings(dict(self._terms), idf, starts, units, weights, rows, dense, tops, coarse), lengths

    def _merged(self, starts: Ints, rows: Array, n_dense: int) -> tuple[Array, Array, Array]:
        """Units and term frequencies by term out of the runs, and those of the dense rows."""
        kind = max((dtype for *_, dtype in self._parts), key=lambda d: d.itemsize, default=np.dtype(np.uint16))
        units = np.empty(starts[-1], dtype=np.int32)
        tf = np.empty(starts[-1], dtype=kind)
        dense = np.zeros(n_dense * self.n, dtype=kind)
        free = starts[:-1].copy()  # where the next posting of each term goes
        self._spill.seek(0)
        for codes, counts, size, dtype in self._parts:
            run_units = np.frombuffer(self._spill.read(4 * size), dtype=np.int32)
            run_tf = np.frombuffer(self._spill.read(dtype.itemsize * size), dtype=dtype)
            row = rows[codes].astype(np.int64)
            shift = np.where(row < 0, free[codes] - (np.cumsum(counts) - counts), row * self.n)
            to = np.repeat(shift, counts)
            is_list = np.repeat(row < 0, counts)
            listed, filled = np.flatnonzero(is_list), np.flatnonzero(~is_list)
            at = to[listed] + listed
            units[at], tf[at] = run_units[listed], run_tf[listed]
            dense[to[filled] + run_units[filled]] = run_tf[filled]
            free[codes] += counts
        return units, tf, dense.reshape(n_dense, self.n)


def _weigh(variant: Variant, tf: Array, units: Array, starts: Ints, norms: Array, idf: Array) -> Array:
    """(postings,) weights, a block of whole terms at a time, so that float64 is never held for all."""
    weights = np.empty(len(tf), dtype=variant.dtype)
    cuts = np.searchsorted(starts, np.arange(0, len(tf) + _BLOCK, _BLOCK))
    cuts[-1:] = np.minimum(cuts[-1:], len(starts) - 1)
    for first, last in pairwise(cuts):
        span = slice(starts[first], starts[last])
        worth = np.repeat(idf[first:last], np.diff(starts[first : last + 1]))
        weights[span] = variant.gain(tf[span], norms[units[span]]) * worth
    return weights
