"""Approximate search for millions of vectors: FAISS finds candidates, which are scored exactly."""

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from canlegalrag.disk import write_whole
from canlegalrag.errors import InputError, MissingExtra
from canlegalrag.files import dumps
from canlegalrag.retrievers._passages import Array, Top, documents_of, ranked
from canlegalrag.retrievers.dense_search import rescore
from canlegalrag.retrievers.dense_store import LOCK, Stored, alone

__all__ = ["Approximate"]

_BLOCK = 8192  # vectors added at once
_EDGES, _BREADTH = 32, 128  # of HNSW: links a vector, and candidates looked at while linking
_LEAST = 9984  # vectors that product quantisation with 256 centroids is trained on, 39 a centroid
_AGAIN = "delete the file, and open the index again"


@dataclass(frozen=True, slots=True, eq=False)
class Approximate:
    """A FAISS index over the vectors of a dense index, in a file beside them; made by `over`.

    `hnsw` is a graph (Malkov and Yashunin 2018) over float16 copies; `ivfpq` is an inverted file of product-quantised
    vectors (Jégou et al. 2011), a byte for every four dimensions or so. Both are built by one thread from the same
    vectors in the same order, and so are the same each time; queries are asked one by one, and so don't depend on
    their batch.
    """

    kind: str
    """`hnsw` or `ivfpq`."""
    stored: Stored
    """The vectors."""
    index: Any
    """The FAISS index."""

    @classmethod
    def over(cls, stored: Stored, kind: str) -> "Approximate":
        """Open the index of this kind, or build it where there is none that is whole: it follows from the vectors.

        Raises:
            InputError: there are too few vectors to train on.
            MissingExtra: faiss isn't installed.
        """
        faiss = _faiss()
        with alone(stored.folder / LOCK):
            path, record = _paths(stored.folder, kind)
            wanted = {"kind": kind, "faiss": faiss.__version__, "vectors": _sum_of(stored)}
            made = _made(record)
            same = {key: made.get(key) for key in wanted} == wanted
            index = _opened(faiss, path, made, len(stored.vectors)) if same else None
            if index is None:
                with _one_thread(faiss):
                    index = _built(faiss, stored, kind)
                    _write(faiss, index, path)
                made = wanted | {"bytes": path.stat().st_size, "sha256": _sha256(path)}
                write_whole(record, (dumps(made, indent=1) + "\n").encode())
        return cls(kind, stored, index)

    def search(self, queries: Array, k: int) -> list[Top]:
        """Rank passages for each query, as `dense_search.search` does, among those that FAISS finds."""
        return [self._one(query, k) for query in queries]

    def _one(self, query: Array, k: int) -> Top:
        stored, n = self.stored, len(self.stored.vectors)
        documents = int(np.count_nonzero(np.diff(stored.firsts)))
        depth = min(n, 8 * k)
        while query.any():
            found = np.sort(self._nearest(query, depth))
            found = found[(found >= 0) & ~np.isin(found, stored.blank)]
            if depth == n or len(np.unique(documents_of(found, stored.firsts))) >= min(k, documents):
                return ranked(found, rescore(stored.vectors, found, query), stored.firsts, k)
            depth = min(n, 2 * depth)
        return Top(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))

    def _nearest(self, query: Array, depth: int) -> Array:
        faiss = _faiss()
        if self.kind == "hnsw":
            options = faiss.SearchParametersHNSW(efSearch=max(_BREADTH, depth))
        else:  # lists enough for the depth: four times what would do were they all alike
            lists = self.index.nlist
            least = math.ceil(4 * lists * depth / len(self.stored.vectors))
            options = faiss.SearchParametersIVF(nprobe=min(lists, max(lists // 16, 8, least)))
        _, units = self.index.search(query[None], depth, params=options)
        found: Array = units[0]
        return found

    def record(self, k: int, queries: int, value: float) -> None:
        """Note a measured recall in the file that says what the index is."""
        _, path = _paths(self.stored.folder, self.kind)
        with alone(self.stored.folder / LOCK):
            made = _made(path)
            made["recall"] = {"k": k, "queries": queries, "value": None if math.isnan(value) else value}
            write_whole(path, (dumps(made, indent=1) + "\n").encode())

    def verify(self) -> None:
        """Check every byte of the file.

        Raises:
            InputError: one was changed.
        """
        path, record = _paths(self.stored.folder, self.kind)
        if _sha256(path) != _made(record).get("sha256"):
            raise InputError(str(path), "is damaged: its checksum differs", _AGAIN)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise MissingExtra("faiss-cpu", "dense") from None
    return faiss


def _paths(folder: Path, kind: str) -> tuple[Path, Path]:
    return folder / f"{kind}.faiss", folder / f"{kind}.json"


def _made(record: Path) -> dict[str, Any]:
    """What made an index; nothing where that can't be read, so that it is built again."""
    try:
        made = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return made if isinstance(made, dict) else {}


def _opened(faiss: Any, path: Path, made: Mapping[str, Any], vectors: int) -> Any:
    """The index in a file; None where it isn't whole."""
    try:
        index = faiss.read_index(str(path)) if path.stat().st_size == made.get("bytes") else None
    except (OSError, RuntimeError):
        return None
    return index if index is not None and index.ntotal == vectors else None


def _write(faiss: Any, index: Any, path: Path) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        faiss.write_index(index, str(temporary))
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sum_of(stored: Stored) -> str:
    """One checksum for all vectors."""
    return hashlib.sha256("".join(stored.meta["vectors"]).encode()).hexdigest()


@contextmanager
def _one_thread(faiss: Any) -> Iterator[None]:
    """Several threads would link the graph in another order each time."""
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def _built(faiss: Any, stored: Stored, kind: str) -> Any:
    n, dimensions = stored.vectors.shape
    if kind == "hnsw":
        index = faiss.IndexHNSWSQ(dimensions, faiss.ScalarQuantizer.QT_fp16, _EDGES, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = _BREADTH
        index.is_trained = True  # rounding to float16 needs no training
    else:
        if n < _LEAST:
            raise InputError("search", f"ivfpq is trained on {_LEAST:,} vectors, and there are {n:,}", "search exactly")
        lists = min(int(4 * math.sqrt(n)), n // 64)
        parts = next(m for m in range(max(1, dimensions // 4), 0, -1) if dimensions % m == 0)
        index = faiss.index_factory(dimensions, f"IVF{lists},PQ{parts}", faiss.METRIC_INNER_PRODUCT)
        index.do_polysemous_training = False  # takes most of the time, for a kind of search that isn't used here
        step = max(1, n // max(64 * lists, _LEAST))
        index.train(np.ascontiguousarray(stored.vectors[::step], dtype=np.float32))
    for first in range(0, n, _BLOCK):
        index.add(np.ascontiguousarray(stored.vectors[first : first + _BLOCK], dtype=np.float32))
    return index
