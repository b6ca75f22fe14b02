"""Building a dense index: cut, embed and write, a shard at a time, so that a kill loses a shard at most."""

import hashlib
import io
import json
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from canlegalrag.disk import write_whole
from canlegalrag.errors import CallError, InputError
from canlegalrag.files import dumps
from canlegalrag.protocols import Embedder, Kind
from canlegalrag.retrievers import dense_store
from canlegalrag.retrievers._passages import Array, Spans, Texts, check_document, check_spans, documents_of
from canlegalrag.retrievers.dense_shards import Shards
from canlegalrag.retrievers.dense_store import (
    BUILDING,
    LOCK,
    META,
    SHARD,
    Damaged,
    Stored,
    alone,
    check_same,
    plain,
)
from canlegalrag.types import Document

__all__ = ["Source", "build", "embed"]

_SAMPLE = 64  # documents that are cut again to see whether a finished index has the passages that are asked for


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What is indexed, and how."""

    documents: Mapping[str, Document] = field(repr=False)
    """By id; read twice, once to cut and once to embed, and never held."""
    passages: Spans | None = None
    """Where to cut; None for whole documents."""
    texts: Texts | None = None
    """What to embed for each passage in place of its stretch of the document."""
    title: bool = False
    """Whether the title stands before each text."""

    def cut(self, document: Document) -> Sequence[tuple[int, int]]:
        """The passages of a document, checked."""
        if self.passages is None:
            return [(0, len(document.text))]
        spans = self.passages(document)
        check_spans(document, spans, None)
        return spans

    def read(self, document: Document, spans: Sequence[Sequence[int]], first: int) -> list[str]:
        """What to embed for some passages of a document, of which the first has this position."""
        head = f"{document.title}\n" if self.title else ""
        if self.texts is None or self.passages is None:
            return [head + document.text[start:end] for start, end in spans]
        texts = self.texts(document)
        check_spans(document, self.passages(document), texts)
        return [head + text for text in texts[first : first + len(spans)]]


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Every passage that is to be embedded, in corpus order."""

    ids: tuple[str, ...]
    """Ids of the documents."""
    sizes: Array
    """(documents,) characters in each."""
    firsts: Array
    """(documents + 1,) the first passage of each."""
    spans: Array
    """(passages, 2) first character and one past the last; none where documents weren't cut."""
    corpus: str
    """SHA-256 of all that is read of the documents."""


def build(
    source: Source, embedder: Embedder, folder: Path, dtype: str, progress: Callable[[int], None] | None = None
) -> None:
    """Make sure that the folder holds this index, complete; takes up a build that was interrupted.

    Raises:
        InputError: nothing to index, or the folder holds something else.
        CallError: the embedder gave no usable vectors.
    """
    if dtype not in ("float32", "float16"):
        raise InputError("dtype", f"{dtype!r} is unknown", "float32 or float16")
    if not isinstance(source.documents, Mapping):
        raise InputError(
            "documents", f"is a {type(source.documents).__name__}", "give a mapping by id: it is read twice"
        )
    _check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder / LOCK):  # two processes that want one index: the second finds what the first made
        wanted = {"identity": plain(embedder.identity), "whole": source.passages is None, "title": source.title}
        done = (folder / META).exists()
        plan = _plan(source, cut=not done)
        wanted |= {"dtype": dtype, "shard": SHARD, "corpus": plan.corpus}
        if done:
            stored = dense_store.open_stored(folder)
            check_same(folder, stored.meta, wanted)
            check_same(folder, stored.meta, {"spans": stored.meta["spans"] if _same_spans(source, stored) else None})
        else:
            wanted["spans"] = hashlib.sha256(plan.firsts.tobytes() + plan.spans.tobytes()).hexdigest()
            with Shards(folder, wanted, len(plan.spans)) as shards:
                _embed_all(source, plan, embedder, shards, progress)
                _finish(source, plan, folder, wanted, shards)
        if (folder / BUILDING).exists():  # asked first, as a folder that can't be written refuses even nothing
            (folder / BUILDING).unlink(missing_ok=True)


def _check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else."""
    ours = any((folder / name).exists() for name in (META, BUILDING, LOCK))
    empty = not folder.is_symlink() if not folder.exists() else folder.is_dir() and not any(folder.iterdir())
    if not (empty or (ours and folder.is_dir())):
        raise Damaged(str(folder), "is in the way: it is not an index", "name a folder that is empty or new")


def _same_spans(source: Source, stored: Stored) -> bool:
    """Whether a finished index has the passages asked for: a sample is cut again, as cutting all would take long."""
    if stored.spans is None:
        return True
    for doc in np.linspace(0, len(stored.ids) - 1, min(_SAMPLE, len(stored.ids)), dtype=int).tolist():
        first, last = stored.firsts[doc : doc + 2].tolist()
        spans = source.cut(source.documents[stored.ids[doc]])
        if [list(span) for span in spans] != stored.spans[first:last].tolist():
            return False
    return True


def _plan(source: Source, *, cut: bool) -> _Plan:
    """Check every document, and cut it if wanted; offsets are kept, never texts."""
    known: dict[str, int] = {}
    firsts, spans, digest = [0], array("q"), hashlib.sha256()
    for key, document in source.documents.items():
        check_document(document, known)
        if key != document.id:
            raise InputError(repr(key), f"is the key of document {document.id!r}", "key documents by their id")
        for text in (document.id, document.text, f"{document.title}" if source.title else ""):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
        for span in source.cut(document) if cut else ():
            spans.extend(span)
        known[document.id] = len(document.text)
        firsts.append(len(spans) // 2)
    if not known:
        raise InputError("documents", "there are none", "give at least one document to index")
    sizes = np.array(list(known.values()), dtype=np.int64)
    pairs = np.frombuffer(spans, dtype=np.int64).reshape(-1, 2)
    return _Plan(tuple(known), sizes, np.array(firsts, dtype=np.int64), pairs, digest.hexdigest())


def _texts(source: Source, plan: _Plan, first: int, last: int) -> list[str]:
    """What to embed for a shard."""
    texts: list[str] = []
    unit = first
    while unit < last:
        doc = int(documents_of(np.array([unit]), plan.firsts)[0])
        end = min(last, int(plan.firsts[doc + 1]))
        document = source.documents[plan.ids[doc]]
        texts += source.read(document, plan.spans[unit:end].tolist(), unit - int(plan.firsts[doc]))
        unit = end
    return texts


def embed(embedder: Embedder, texts: Sequence[str], kind: Kind, dimensions: int | None = None) -> Array:
    """(texts, dimensions) float32 vectors, checked: their number, their size, finite, of length 1 or 0.

    Raises:
        CallError: they aren't so.
    """
    vectors = np.asarray(embedder.embed(texts, kind=kind))
    model = str(embedder.identity.get("model", type(embedder).__name__))
    if vectors.ndim != 2 or len(vectors) != len(texts) or vectors.dtype.kind != "f":
        what = f"gave {vectors.shape} {vectors.dtype} for {len(texts)} texts"
        raise CallError(model, what, "an embedder gives one row of floats a text")
    if dimensions is not None and vectors.shape[1] != dimensions:
        raise CallError(model, f"gave {vectors.shape[1]} dimensions where there were {dimensions}", "build a new index")
    vectors = vectors.astype(np.float32, copy=False)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    bad = np.flatnonzero(~((np.abs(lengths - 1) < 1e-3) | (lengths == 0)))
    if len(bad):
        what = f"gave a vector of length {lengths[bad[0]]:.4g} for {texts[bad[0]]!r:.60}"
        raise CallError(model, what, "an embedder gives rows of length 1, or of zeros for a text without content")
    return vectors


def _embed_all(
    source: Source, plan: _Plan, embedder: Embedder, shards: Shards, progress: Callable[[int], None] | None
) -> None:
    passages = len(plan.spans)
    done = len(shards.rows) * SHARD
    while True:
        if progress is not None:
            at = min(done, passages)
            progress(int(np.searchsorted(plan.firsts[1:], at, "right")))
        if done >= passages:
            return
        texts = _texts(source, plan, done, min(done + SHARD, passages))
        before = Counter(embedder.counts)
        vectors = embed(embedder, texts, "document", shards.dimensions)
        shards.write(vectors, Counter(embedder.counts) - before)
        done += SHARD


def _finish(source: Source, plan: _Plan, folder: Path, wanted: dict[str, Any], shards: Shards) -> None:
    """Write the small files, and last what says that the index is complete."""
    if not len(plan.spans):
        write_whole(folder / "vectors.npy", _npy(np.zeros((0, 0), dtype=wanted["dtype"])))
    blank = np.array([unit for row in shards.rows for unit in row["blank"]], dtype=np.int64)
    small = {
        "ids.json": json.dumps(plan.ids, ensure_ascii=True, separators=(",\n", ":")).encode(),
        "sizes.npy": _npy(plan.sizes),
        "firsts.npy": _npy(plan.firsts),
        "blank.npy": _npy(blank),
    }
    if source.passages is not None:
        small["passages.npy"] = _npy(plan.spans)
    for name, data in small.items():
        write_whole(folder / name, data)
    files: dict[str, Any] = {name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in small.items()}
    files["vectors.npy"] = [(folder / "vectors.npy").stat().st_size, None]
    meta = {"format": dense_store.FORMAT, "version": dense_store.VERSION, **wanted}
    meta |= {"documents": len(plan.ids), "passages": len(plan.spans), "dimensions": shards.dimensions or 0}
    counts = sum((Counter(row["counts"]) for row in shards.rows), Counter[str]())
    meta |= {"counts": dict(counts)}
    meta |= {"files": files, "vectors": [row["sha256"] for row in shards.rows]}
    write_whole(folder / META, (dumps(meta, indent=1) + "\n").encode())


def _npy(values: Array) -> bytes:
    data = io.BytesIO()
    np.save(data, values, allow_pickle=False)
    return data.getvalue()
