"""Checks of what goes into models and of what comes back: counts, dimensions, finite numbers, unit rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from canlegalrag.errors import CallError, InputError
from canlegalrag.plain import require_strings

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["check_kind", "check_positive", "finite_scores", "texts_of", "unit_rows"]

_BLOCK = 8192  # rows that are brought to length 1 at a time, so that the float64 copy stays small


def texts_of(model: str, texts: Sequence[str]) -> list[str]:
    """The texts as a list, once it is sure that they are strings which a file can hold.

    Raises:
        InputError: they are no list of strings.
    """
    require_strings(model, texts, "give a list of strings")
    return list(texts)


def check_kind(model: str, kind: str) -> None:
    """Make sure that a text is embedded as a query or as a document.

    Raises:
        InputError: it is neither.
    """
    if kind not in ("query", "document"):
        raise InputError(model, f"kind {kind!r} is not known", "query or document")


def check_positive(model: str, option: str, value: Any) -> None:
    """Make sure that an option, where it is given, is a whole number of at least 1.

    Raises:
        InputError: it is something else.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise InputError(
            model, f"{option} {value!r} is not a whole number from 1", f"leave {option} out for the default"
        )


def unit_rows(model: str, texts: Sequence[str], vectors: Any, *, dim: int | None = None) -> "NDArray[np.float32]":
    """Vectors as an `Embedder` gives them: (texts, dimensions) float32, C-contiguous, rows of length 1 or 0.

    Args:
        model: `provider/model`, for the error.
        texts: what was embedded; only the number of them counts.
        vectors: what came back: an array, or a list of lists of numbers.
        dim: how many dimensions there must be; None for any number.

    Raises:
        CallError: there are more or fewer vectors than texts, vectors of several lengths, or what is no finite number.

    >>> unit_rows("m", ["a", "b"], [[3.0, 4.0], [0.0, 0.0]]).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    if not hasattr(vectors, "__len__"):
        raise CallError(model, f"a {type(vectors).__name__} came back instead of vectors")
    if len(vectors) != len(texts):
        raise CallError(model, f"{len(vectors)} vectors came back for {len(texts)} texts")
    try:
        rows = np.asarray(vectors)
    except ValueError as error:  # lists of several lengths
        raise CallError(model, "vectors of several lengths came back") from error
    if not len(texts):
        return np.zeros((0, rows.shape[1] if rows.ndim == 2 else dim or 0), dtype=np.float32)
    if rows.ndim != 2 or rows.dtype.kind not in "fiu":
        raise CallError(model, f"{rows.ndim}-dimensional {rows.dtype} came back instead of vectors of numbers")
    if rows.shape[1] == 0 or (dim is not None and rows.shape[1] != dim):
        raise CallError(
            model, f"vectors of {rows.shape[1]} dimensions came back" + (f" instead of {dim}" if dim else "")
        )
    unit = np.empty(rows.shape, dtype=np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK].astype(np.float64)
        peak = np.abs(block).max(axis=1, keepdims=True)
        if not np.isfinite(peak).all():
            bad = start + int(np.flatnonzero(~np.isfinite(peak[:, 0]))[0])
            raise CallError(model, f"the vector of text {bad} holds NaN or infinity: {texts[bad]!r:.80}")
        block /= np.where(peak == 0, 1.0, peak)  # squares of very large or small numbers leave the range otherwise
        norm = np.sqrt(np.einsum("ij,ij->i", block, block))[:, None]
        unit[start : start + _BLOCK] = block / np.where(norm == 0, 1.0, norm)
    return unit


def finite_scores(model: str, texts: Sequence[str], scores: Any) -> list[float]:
    """Scores as a `Reranker` gives them: one finite number a text.

    Raises:
        CallError: there are more or fewer scores than texts, or one is no finite number.
    """
    try:
        given = np.asarray(scores)
    except ValueError as error:
        raise CallError(model, "several scores a text came back") from error
    if not len(texts) and given.size == 0:
        return []
    if given.ndim != 1 or given.dtype.kind not in "fiu":
        raise CallError(model, f"{given.ndim}-dimensional {given.dtype} came back instead of one score a text")
    if len(given) != len(texts):
        raise CallError(model, f"{len(given)} scores came back for {len(texts)} texts")
    finite = np.isfinite(given)
    if not finite.all():
        bad = int(np.flatnonzero(~finite)[0])
        raise CallError(model, f"the score of text {bad} is {given[bad]}: {texts[bad]!r:.80}")
    return [float(score) for score in given]
