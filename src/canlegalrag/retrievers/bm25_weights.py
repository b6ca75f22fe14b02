"""What one occurrence of a query term is worth: the BM25 formulas, each with its source."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from canlegalrag.errors import InputError

__all__ = ["VARIANTS", "Variant", "variant"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Variant:
    """A BM25 formula with its parameters.

    The score of a document is the sum, over the tokens of the query (a repeated one counts each time), of
    `idf(df, n) * gain(tf, length)`. A term that the document doesn't hold adds nothing, in every variant.
    """

    name: str
    """One of `VARIANTS`."""
    k1: float
    """How slowly repetition of a term saturates; at least 0."""
    b: float
    """How much a long document is discounted: 0 not at all, 1 in full proportion."""
    delta: float
    """Lower bound on what an occurrence adds, where the formula has one."""
    idf_of: Callable[[Floats, int], Floats]
    """Inverse document frequencies out of document frequencies and the number of documents."""
    gain_of: Callable[[Any, Any, "Variant"], Any]
    """Gain out of term frequencies and length norms `1 - b + b * length / mean length`."""
    dtype: str = "float32"
    """What weights are kept and summed in; the rank-bm25 twins need float64 to agree to 1e-9."""

    def idf(self, df: npt.NDArray[np.int64], n: int) -> Floats:
        """(terms,) float64: the inverse document frequency of each term."""
        return self.idf_of(df.astype(np.float64), n)

    def norms(self, lengths: npt.NDArray[np.int64]) -> Floats:
        """(documents,) float64: `1 - b + b * length / mean length`."""
        mean = lengths.mean() if lengths.any() else 1.0
        return np.asarray(1 - self.b + self.b * lengths / mean)

    def gain(self, tf: npt.NDArray[Any], norms: Floats) -> Floats:
        """float64, the shape of `tf` (all above 0): what the occurrences are worth before the idf."""
        return np.asarray(self.gain_of(tf.astype(np.float64), norms, self))


def _idf_lucene(df: Floats, n: int) -> Floats:
    return np.log1p((n - df + 0.5) / (df + 0.5))


def _idf_okapi(df: Floats, n: int) -> Floats:
    return np.maximum(np.log((n - df + 0.5) / (df + 0.5)), 0.0)


def _idf_bm25l(df: Floats, n: int) -> Floats:
    return np.log((n + 1) / (df + 0.5))


def _idf_bm25plus(df: Floats, n: int) -> Floats:
    return np.log((n + 1) / df)


def _idf_rank_bm25_okapi(df: Floats, n: int) -> Floats:
    idf = np.log(n - df + 0.5) - np.log(df + 0.5)
    return np.where(idf < 0, 0.25 * idf.mean(), idf) if len(idf) else idf


def _gain_lucene(tf: Any, norm: Any, v: Variant) -> Any:
    return tf / (tf + v.k1 * norm)


def _gain_okapi(tf: Any, norm: Any, v: Variant) -> Any:
    return tf * (v.k1 + 1) / (tf + v.k1 * norm)


def _gain_bm25l(tf: Any, norm: Any, v: Variant) -> Any:
    shifted = tf / norm + v.delta
    return (v.k1 + 1) * shifted / (v.k1 + shifted)


def _gain_bm25plus(tf: Any, norm: Any, v: Variant) -> Any:
    return _gain_okapi(tf, norm, v) + v.delta


def _gain_rank_bm25_l(tf: Any, norm: Any, v: Variant) -> Any:
    return tf * _gain_bm25l(tf, norm, v)


VARIANTS = {
    v.name: v
    for v in (
        Variant("lucene", 1.2, 0.75, 0.0, _idf_lucene, _gain_lucene),
        Variant("okapi", 1.2, 0.75, 0.0, _idf_okapi, _gain_okapi),
        Variant("bm25l", 1.2, 0.75, 0.5, _idf_bm25l, _gain_bm25l),
        Variant("bm25plus", 1.2, 0.75, 1.0, _idf_bm25plus, _gain_bm25plus),
        Variant("rank_bm25_okapi", 1.5, 0.75, 0.0, _idf_rank_bm25_okapi, _gain_okapi, "float64"),
        Variant("rank_bm25_l", 1.5, 0.75, 0.5, _idf_bm25l, _gain_rank_bm25_l, "float64"),
    )
}
"""Every formula with its default parameters. With K = 1 - b + b * length / mean length, N documents, df of
them holding the term:

- `lucene`: ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 K). Apache Lucene's BM25Similarity since
  version 8 (no factor k1 + 1); lengths are exact, where Lucene keeps them in one byte.
- `okapi`: ln((N - df + 0.5) / (df + 0.5)) * tf (k1 + 1) / (tf + k1 K). Robertson, Walker et al., TREC-3, 1994.
  The idf is negative for a term in more than half of the documents; it is raised to 0, so that holding a
  word of the query never counts against a document. Such a document is still a match, with score 0.
- `bm25l`: ln((N + 1) / (df + 0.5)) * (k1 + 1)(c + delta) / (k1 + c + delta), c = tf / K. Lv and Zhai, "When
  documents are very long, BM25 fails!", SIGIR 2011.
- `bm25plus`: ln((N + 1) / df) * (tf (k1 + 1) / (tf + k1 K) + delta). Lv and Zhai, "Lower-bounding term
  frequency normalization", CIKM 2011.
- `rank_bm25_okapi`: what `BM25Okapi` of the package rank-bm25 0.2.2 computes: `okapi`, but a negative idf
  becomes a quarter of the mean idf over all terms (which can itself be negative).
- `rank_bm25_l`: what `BM25L` of rank-bm25 0.2.2 computes: `bm25l` multiplied by tf once more. It is not Lv and
  Zhai's formula: it doesn't saturate.
"""


def variant(name: str, k1: float | None = None, b: float | None = None, delta: float | None = None) -> Variant:
    """The formula of that name, with its own parameters where none are given.

    Raises:
        InputError: no variant has the name, or a parameter is out of range.

    >>> variant("lucene", k1=0.9).k1, variant("bm25l").delta
    (0.9, 0.5)
    """
    if not isinstance(name, str) or name not in VARIANTS:
        from difflib import get_close_matches

        near = get_close_matches(str(name).lower().replace("-", "_"), VARIANTS, n=3, cutoff=0.4)
        fix = f"did you mean {' or '.join(near)}?" if near else f"one of: {', '.join(VARIANTS)}"
        raise InputError("variant", f"there is no BM25 variant {name!r}", fix)
    base = VARIANTS[name]
    for field, value, top in (("k1", k1, np.inf), ("b", b, 1.0), ("delta", delta, np.inf)):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and np.isfinite(value) and 0 <= value <= top):
            limits = "between 0 and 1" if field == "b" else "at least 0"
            raise InputError(field, f"{value!r} is out of range", f"a number, {limits}")
    if delta and not base.delta:
        raise InputError("delta", f"{name!r} has no delta", "leave it out")
    return replace(
        base,
        k1=base.k1 if k1 is None else float(k1),
        b=base.b if b is None else float(b),
        delta=base.delta if delta is None else float(delta),
    )
