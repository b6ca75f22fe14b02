"""Names of recipes, derived from their settings, so that a name never says what its row doesn't do."""

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["derived"]

_BM25 = {"lucene": "bm25", "rank_bm25_okapi": "rank-bm25-okapi", "rank_bm25_l": "rank-bm25-l"}
_PAPER_BM25 = {"rank_bm25_okapi": "bm25-okapi", "rank_bm25_l": "bm25l"}  # what the paper calls them


def derived(retriever: str, options: Mapping[str, Any]) -> str:
    """What a configuration is called: method, model, size of passages, what is around it.

    Settings that are left at their defaults aren't in it. The paper's chunker makes it `paper-…`; there the reranker is
    always Kanon 2's and the generator Gemini's, so they aren't named.

    >>> derived("dense", {"embedder": "huggingface/Qwen/Qwen3-Embedding-8B", "chunk": "paper:8192:256"})
    'paper-qwen3-embedding-8b-8192'
    >>> derived("hybrid", {"embedder": "static/wordllama", "chunk": "whole", "reranker": "offline/overlap"})
    'hybrid-bm25-wordllama-rerank-offline-overlap'
    """
    method, _, sizes = str(options.get("chunk", "whole")).partition(":")
    paper = method == "paper"
    parts = ["paper"] if paper else []
    if retriever == "hybrid":
        parts.append("hybrid")
    if retriever != "dense":
        variant = str(options.get("variant", "lucene"))
        plain = _BM25.get(variant, variant.replace("_", "-"))
        parts += [] if paper and retriever == "hybrid" else [_PAPER_BM25.get(variant, plain) if paper else plain]
    if retriever != "bm25":
        parts.append(_model(options["embedder"]))
    if method not in ("whole", "recursive", "paper"):
        parts.append(method)
    parts += [sizes.partition(":")[0]] if sizes else []
    search = options.get("search", "exact")
    parts += [search] if search != "exact" else []
    if "rounds" in options:
        parts += ["irg"] if paper else ["irg", _model(options["generator"])]
    if "reranker" in options:
        parts += ["rerank"] if paper else ["rerank", _model(options["reranker"])]
    return "-".join(parts)


def _model(name: Any) -> str:
    """The last part of a model's name in lower case; a stand-in keeps its provider, so that no table hides it."""
    provider, _, model = str(name).partition("/")
    last = model.rstrip("/").rpartition("/")[2] or model
    plain = re.sub(r"[^a-z0-9.]+", "-", last.lower()).strip("-.")
    return f"offline-{plain}" if provider == "offline" else plain
