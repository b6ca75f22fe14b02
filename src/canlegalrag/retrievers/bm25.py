"""BM25: ranks documents, or passages of documents, by the words that they share with a query."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from canlegalrag.errors import InputError
from canlegalrag.retrievers import bm25_store
from canlegalrag.retrievers._passages import (
    Array,
    Spans,
    Texts,
    Top,
    check_document,
    check_search,
    check_spans,
    documents_of,
    passage_hits,
)
from canlegalrag.retrievers.bm25_index import IndexBuilder, Postings, best
from canlegalrag.retrievers.bm25_weights import Variant, variant
from canlegalrag.text import encode
from canlegalrag.types import Document, Hit

__all__ = ["BM25", "Top"]


@dataclass(frozen=True, slots=True, eq=False)
class BM25:
    """A retriever over an inverted index; made by `build` or `load`.

    Documents that share no token with the query are never found. Equal scores rank in corpus order: by the
    place of the document in the corpus, then of the passage in the document. A query gives the same list alone
    and in a batch.

    >>> corpus = [Document("a", "", "The tenant was evicted."), Document("b", "", "The landlord paid.")]
    >>> [hit.doc_id for hit in BM25.build(corpus).search(["evicted tenant"], k=10)[0]]
    ['a']
    """

    variant: Variant
    """The formula and its parameters."""
    tokenizer: str
    """Name of the tokenizer, of documents and queries alike."""
    ids: tuple[str, ...] = field(repr=False)
    """Ids of the documents, in corpus order."""
    postings: Postings = field(repr=False)
    """The index over units: documents, or passages."""
    lengths: Array = field(repr=False)
    """(units,) tokens in each unit."""
    sizes: Array = field(repr=False)
    """(documents,) characters in each document, to know the documents again."""
    firsts: Array | None = field(default=None, repr=False)
    """(documents + 1,) the first passage of each document; None where whole documents are ranked."""
    spans: Array | None = field(default=None, repr=False)
    """(passages, 2) first character and one past the last; None where whole documents are ranked."""
    documents: Mapping[str, Document] | None = field(default=None, repr=False)
    """Where the text of a passage is read; without it `Passage.text` is None."""

    @classmethod
    def build(
        cls,
        documents: Mapping[str, Document] | Iterable[Document],
        *,
        variant: str = "lucene",
        tokenizer: str = "legal",
        passages: Spans | None = None,
        texts: Texts | None = None,
        k1: float | None = None,
        b: float | None = None,
        delta: float | None = None,
        max_chars: int | None = None,
        title: bool = False,
        threads: int = 0,
        progress: Callable[[int], None] | None = None,
    ) -> "BM25":
        """Index documents, reading each once; a stream is never held in memory.

        Args:
            documents: a mapping by id (kept, for the text of passages) or a stream (not kept: see `attach`).
            variant: the formula, a name in `bm25_weights.VARIANTS`.
            tokenizer: a name in `text.TOKENIZERS`.
            passages: gives the spans (first character, one past the last) to rank; None ranks whole documents.
            texts: gives what to index for each of `passages` in place of its stretch of the document, as the
                published chunker glues words together where it drops a separator.
            k1: parameter of the formula; None for its own default.
            b: likewise.
            delta: likewise.
            max_chars: index only the first characters of each document.
            title: put the title before the text of each document or passage.
            threads: batches read side by side, 0 for one a core; the index is the same.
            progress: called with the number of documents read so far.

        Raises:
            InputError: no documents, a bad or repeated id, a text that is no text, a span outside its document,
                an unknown variant or tokenizer, a parameter out of range.
        """
        formula = _formula(variant, k1, b, delta)
        encode([], tokenizer)  # fails now, rather than after the first documents, where there is no such name
        if max_chars is not None and max_chars < 1:
            raise InputError("max_chars", f"{max_chars!r} is out of range", "at least 1, or None")
        kept: Mapping[str, Document] | None = documents if isinstance(documents, Mapping) else None
        stream: Iterable[Document] = documents.values() if isinstance(documents, Mapping) else documents
        units = _Units(passages, texts, max_chars, title)
        with IndexBuilder(tokenizer, threads) as builder:
            for document in stream:
                units.add(document, builder)
                if progress is not None:
                    progress(len(units.ids))
            if not units.ids:
                raise InputError("documents", "there are none", "give at least one document to index")
            postings, lengths = builder.finish(formula)
        if kept is not None and list(kept) != list(units.ids):
            wrong = next(key for key, document in kept.items() if key != document.id)
            raise InputError(repr(wrong), f"is the key of document {kept[wrong].id!r}", "key documents by their id")
        sizes = np.array(list(units.ids.values()), dtype=np.int64)
        ids, firsts, spans = tuple(units.ids), None, None
        if passages is not None:
            firsts = np.array(units.firsts, dtype=np.int64)
            spans = np.frombuffer(units.spans, dtype=np.int64).reshape(-1, 2)
        return cls(formula, tokenizer, ids, postings, lengths, sizes, firsts, spans, kept)

    def attach(self, documents: Mapping[str, Document]) -> "BM25":
        """The same retriever, reading the text of passages in these documents."""
        return replace(self, documents=documents)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank the corpus for each query, as `protocols.Retriever` says.

        Raises:
            InputError: `queries` is one text, or `k` is below 1; or the attached documents are not the ones
                that were indexed.
        """
        found = self.top(queries, k)
        if self.firsts is None or self.spans is None:
            ids = self.ids
            return [[Hit(ids[u], s) for u, s in zip(t.units.tolist(), t.scores.tolist(), strict=True)] for t in found]
        return [passage_hits(t, self.ids, self.sizes, self.firsts, self.spans, self.documents) for t in found]

    def top(self, queries: Sequence[str], k: int) -> list[Top]:
        """The ranking of `search` as arrays, without the objects: positions and scores for each query."""
        k = check_search(queries, k)
        terms, codes, ends = encode(queries, self.tokenizer)
        words = [terms[code] for code in codes]
        found = []
        start = 0
        for end in ends.tolist():
            scores, floor = self.postings.scores(words[start:end], k, self.firsts)
            units = best(scores, k, floor)
            if self.firsts is not None:
                units = _deeper(units, scores, floor, k, self.firsts)
            found.append(Top(units, scores[units]))
            start = end
        return found

    def scores(self, query: str) -> Array:
        """(units,) the score of every document or passage; 0 where it holds no token of the query."""
        terms, codes, _ = encode([query], self.tokenizer)
        scores, floor = self.postings.scores([terms[code] for code in codes])
        return scores if floor == 0 else np.where(np.isneginf(scores), 0, scores)

    def save(self, folder: str | Path) -> None:
        """Write the index to a folder, whole or not at all; an index that is there is replaced.

        Raises:
            InputError: the folder holds something else.
        """
        p, v = self.postings, self.variant
        meta = {"variant": v.name, "k1": v.k1, "b": v.b, "delta": v.delta, "tokenizer": self.tokenizer}
        arrays = {"idf": p.idf, "starts": p.starts, "units": p.units, "weights": p.weights, "rows": p.rows}
        arrays |= {"dense": p.dense, "tops": p.tops, "coarse": p.coarse, "lengths": self.lengths, "sizes": self.sizes}
        if self.firsts is not None and self.spans is not None:
            arrays |= {"firsts": self.firsts, "spans": self.spans}
        bm25_store.write(Path(folder), meta, {"ids": list(self.ids), "terms": list(p.terms)}, arrays)

    @classmethod
    def load(cls, folder: str | Path, documents: Mapping[str, Document] | None = None) -> "BM25":
        """Open a saved index; its arrays are mapped, so it opens at once and pages are read as they are used.

        Args:
            folder: what `save` wrote.
            documents: where the text of passages is read.

        Raises:
            InputError: the folder is no index, of another version, or damaged.
        """
        meta, lists, arrays = bm25_store.read(Path(folder))
        try:
            formula = _formula(meta["variant"], meta["k1"], meta["b"], meta["delta"] or None)
            terms = {term: code for code, term in enumerate(lists["terms"])}
            names = ("idf", "starts", "units", "weights", "rows", "dense", "tops", "coarse")
            postings = Postings(terms, *(arrays[name] for name in names))
            rest = (arrays["lengths"], arrays["sizes"], arrays.get("firsts"), arrays.get("spans"))
            return cls(formula, meta["tokenizer"], tuple(lists["ids"]), postings, *rest, documents)
        except (KeyError, InputError) as error:
            raise InputError(str(folder), f"index.json is damaged: {error}", "build the index again") from None


_formula = variant  # `build` has an argument of the same name


class _Units:
    """What is indexed, in corpus order: ids and sizes of documents, spans of passages."""

    def __init__(self, passages: Spans | None, texts: Texts | None, max_chars: int | None, title: bool) -> None:
        self.passages, self.texts, self.max_chars, self.title = passages, texts, max_chars, title
        self.ids: dict[str, int] = {}
        self.firsts = [0]
        self.spans = array("q")  # start, end, start, end, …: millions of tuples would outweigh the index

    def add(self, document: Document, builder: IndexBuilder) -> None:
        """Check a document and give its texts to the builder."""
        check_document(document, self.ids)
        self.ids[document.id] = len(document.text)
        head = f"{document.title}\n" if self.title else ""
        if self.passages is None:
            builder.add(head + document.text[: self.max_chars])
            return
        spans = self.passages(document)
        texts = self.texts(document) if self.texts else None
        check_spans(document, spans, texts)
        for n, (start, end) in enumerate(spans):
            if self.max_chars is not None and start >= self.max_chars:
                continue
            end = end if self.max_chars is None else min(end, self.max_chars)
            builder.add(head + (document.text[start:end] if texts is None else texts[n]))
            self.spans.extend((start, end))
        self.firsts.append(len(self.spans) // 2)


def _deeper(units: Array, scores: Array, floor: float, k: int, firsts: Array) -> npt.NDArray[np.int64]:
    """Below the k best passages, the best passage of each further document, until k documents are there."""
    found = np.unique(documents_of(units, firsts))
    if len(units) < k or len(found) == k:
        return units
    docs = np.flatnonzero(np.diff(firsts))  # documents without passages have no best one
    tops = np.maximum.reduceat(scores, firsts[docs])
    further = docs[best(tops, k, floor)]
    further = further[~np.isin(further, found)]
    places = [int(firsts[d]) + int(np.argmax(scores[firsts[d] : firsts[d + 1]])) for d in further.tolist()]
    return np.append(units, np.array(places, dtype=np.int64))
