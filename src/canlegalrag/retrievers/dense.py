"""Dense retrieval: ranks documents, or passages of documents, by the inner product of unit vectors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from canlegalrag.errors import InputError
from canlegalrag.protocols import Embedder
from canlegalrag.retrievers import dense_search
from canlegalrag.retrievers._passages import Spans, Texts, Top, check_search, passage_hits
from canlegalrag.retrievers.dense_ann import Approximate
from canlegalrag.retrievers.dense_build import Source, build, embed
from canlegalrag.retrievers.dense_store import Stored, check_same, open_stored, plain
from canlegalrag.types import Document, Hit

__all__ = ["SEARCHES", "Dense"]

SEARCHES = ("exact", "hnsw", "ivfpq")


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """A retriever over vectors in a folder; made by `build` or `open`.

    Every document with content is ranked, however far it is; a text whose vector is zero never is. Scores are float32;
    equal ones rank in corpus order. A query has the same list alone and in a batch where its vector has.
    """

    embedder: Embedder
    """Embeds the queries, as it embedded the documents."""
    index: Stored
    """Vectors, and whose they are."""
    documents: Mapping[str, Document] | None = field(default=None, repr=False)
    """Where the text of a passage is read; without it `Passage.text` is None."""
    approximate: Approximate | None = None
    """Finds candidates in place of exact search."""

    @classmethod
    def build(
        cls,
        documents: Mapping[str, Document],
        embedder: Embedder,
        folder: str | Path,
        *,
        passages: Spans | None = None,
        texts: Texts | None = None,
        dtype: str = "float32",
        title: bool = False,
        search: str = "exact",
        progress: Callable[[int], None] | None = None,
    ) -> "Dense":
        """Make the index that a folder is to hold, or open it where it is there; goes on where a build was killed.

        The result is the same, byte for byte, however often it was interrupted, as the embedder is always given the
        same shards of `dense_store.SHARD` passages. A process that finds another at work waits for it.

        Args:
            documents: a mapping by id; read twice and never copied.
            embedder: makes the vectors.
            folder: where the index is; empty, new, or holding this very index.
            passages: gives the spans (first character, one past the last) to rank; None ranks whole documents.
            texts: gives what to embed for each of `passages` in place of its stretch of the document.
            dtype: `float32`, or `float16` for half the size and scores rounded at the fourth digit.
            title: put the title before the text of each document or passage.
            search: one of `SEARCHES`; what is approximate is built from the vectors into the same folder.
            progress: called with the number of documents embedded so far.

        Raises:
            InputError: no documents, a bad document or span, or the folder holds something else, among it an index of
                another corpus, embedder, cut or option.
            CallError: the embedder gave no usable vectors.
            MissingExtra: an approximate search without faiss.
        """
        _check_search(search)
        folder = Path(folder)
        build(Source(documents, passages, texts, title), embedder, folder, dtype, progress)
        return cls.open(folder, embedder, documents, search=search)

    @classmethod
    def open(
        cls,
        folder: str | Path,
        embedder: Embedder,
        documents: Mapping[str, Document] | None = None,
        *,
        search: str = "exact",
    ) -> "Dense":
        """Open an index; its vectors are mapped, and read as they are used.

        Small files are checked whole, vectors by a sample (`verify` checks all); the documents by their ids now, and by
        their length when a passage is read.

        Args:
            folder: what `build` made.
            embedder: for the queries; must be the one that embedded the documents.
            documents: where the text of passages is read.
            search: one of `SEARCHES`.

        Raises:
            InputError: no complete index, a damaged one, or one of another embedder or other documents.
            MissingExtra: an approximate search without faiss.
        """
        _check_search(search)
        index = open_stored(Path(folder))
        check_same(index.folder, index.meta, {"identity": plain(embedder.identity)})
        if documents is not None and tuple(documents) != index.ids:
            check_same(index.folder, index.meta, {"corpus": "of other documents"})
        return cls(embedder, index, documents, None if search == "exact" else Approximate.over(index, search))

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank the corpus for each query, as `protocols.Retriever` says.

        Raises:
            InputError: `queries` is one text, or `k` is below 1; or a document isn't the one that was indexed.
            CallError: the embedder gave no usable vectors.
        """
        index = self.index
        tops = self.top(queries, k)
        if index.spans is not None:
            return [passage_hits(t, index.ids, index.sizes, index.firsts, index.spans, self.documents) for t in tops]
        return [[Hit(index.ids[u], s) for u, s in zip(t.units.tolist(), t.scores.tolist(), strict=True)] for t in tops]

    def top(self, queries: Sequence[str], k: int) -> list[Top]:
        """The ranking of `search` as arrays, without the objects: positions and scores for each query."""
        return self._top(queries, k, self.approximate)

    def _top(self, queries: Sequence[str], k: int, approximate: Approximate | None) -> list[Top]:
        k = check_search(queries, k)
        index = self.index
        if not len(queries) or not len(index.vectors):
            return [Top(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)) for _ in queries]
        vectors = embed(self.embedder, queries, "query", index.vectors.shape[1])
        if approximate is not None:
            return approximate.search(vectors, k)
        return dense_search.search(index.vectors, index.blank, index.firsts, vectors, k)

    def recall(self, queries: Sequence[str], k: int) -> float:
        """Mean share of the k best passages of exact search that the approximate search has among its own.

        From 0 to 1; 1 for exact search; NaN where nothing is found. It is recorded beside the approximate index.
        """
        if self.approximate is None:
            return 1.0
        pairs = zip(self._top(queries, k, None), self.top(queries, k), strict=True)
        shares = [np.isin(e.units[:k], a.units[:k]).mean() for e, a in pairs if len(e.units)]
        value = float(np.mean(shares)) if shares else float("nan")
        self.approximate.record(k, len(shares), value)
        return value

    def verify(self) -> None:
        """Check every byte of the index against its checksums.

        Raises:
            InputError: one was changed.
        """
        open_stored(self.index.folder).verify()
        if self.approximate is not None:
            self.approximate.verify()


def _check_search(search: str) -> None:
    if search not in SEARCHES:
        raise InputError("search", f"{search!r} is unknown", f"one of {', '.join(SEARCHES)}")
