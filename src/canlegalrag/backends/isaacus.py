"""Isaacus's models for legal texts: the embedder and the reranker of the Kanon 2 family."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from canlegalrag.backends._checks import finite_scores, texts_of
from canlegalrag.backends._remote import Limits, RemoteEmbedder
from canlegalrag.backends._wire import address, faults, in_order, key
from canlegalrag.calls import Call, Calls, Fault, Reply
from canlegalrag.errors import MissingExtra
from canlegalrag.protocols import Kind

if TYPE_CHECKING:
    from canlegalrag.backends import Needs

__all__ = ["embedder", "needs", "reranker"]

_TASKS: dict[Kind, str] = {"query": "retrieval/query", "document": "retrieval/document"}
_SERVER = "https://api.isaacus.com/v1"
_WINDOW = 16_384
_LIMITS = Limits(per_batch=128, chars_per_batch=400_000, window=_WINDOW)
"""The embedding route takes 128 texts."""
_PRICE = 0.35
_PRICED = ("kanon-2-embedder", "kanon-2-reranker")


def embedder(
    model: str,
    calls: Calls | None,
    *,
    dim: int | None = None,
    base_url: str | None = None,
    price_in: float | None = None,
) -> RemoteEmbedder:
    """An Isaacus embedder.

    Args:
        model: `kanon-2-embedder`.
        calls: cache, ledger, budget; None for none.
        dim: dimensions to ask for; None for the model's own.
        base_url: of another server with the same routes.
        price_in: US dollars per million tokens; None for the list price.

    Raises:
        InputError: the key is missing.
        MissingExtra: isaacus isn't installed.
    """
    calls = calls or Calls(None)
    asked: dict[str, Any] = {"dimensions": dim} if dim else {}
    client, call = _client(model, calls, {"dim": dim, "tasks": dict(_TASKS)}, base_url, price_in)

    def post(texts: list[str], kind: Kind) -> tuple[Any, int | None]:
        route = client.embeddings.with_raw_response.create
        reply = _json(route, model=model, texts=texts, task=_TASKS[kind], **asked)
        return in_order(reply.get("embeddings"), "embedding", len(texts)), _tokens(reply)

    return RemoteEmbedder(call, calls, post, _LIMITS, dim=dim)


def reranker(
    model: str, calls: Calls | None, *, base_url: str | None = None, price_in: float | None = None
) -> "_Reranker":
    """An Isaacus reranker.

    Args:
        model: `kanon-2-reranker`.
        calls: cache, ledger, budget; None for none.
        base_url: of another server with the same routes.
        price_in: US dollars per million tokens; None for the list price.

    Raises:
        InputError: the key is missing.
        MissingExtra: isaacus isn't installed.
    """
    calls = calls or Calls(None)
    client, call = _client(model, calls, {}, base_url, price_in)
    return _Reranker(client, call, calls)


def needs(model: str, role: str) -> "Needs":
    """What a model takes before it can be asked."""
    from canlegalrag.backends import Needs

    price = _PRICE if model in _PRICED else None
    note = "list price" if price else "price not known: give price_in"
    return Needs(
        extra="isaacus",
        key="ISAACUS_API_KEY",
        gigabytes=None,
        gpu=False,
        price_in=price,
        price_out=0.0,
        window=_WINDOW,
        note=note,
    )


class _Reranker:
    """Scores of texts for a query, between 0 and 1. The provider cuts long texts up and takes the best piece's score.

    A text without content, or any text for a query without content, is not sent and scores 0.
    """

    def __init__(self, client: Any, call: Call, calls: Calls) -> None:
        self._client = client
        self._call = replace(call, role="rerank")
        self._calls = calls
        self._counts = {"texts": 0, "truncated": 0}

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model and what else the provider is told."""
        return {"model": self._call.name, "window": _WINDOW, **self._call.options}

    @property
    def counts(self) -> Mapping[str, int]:
        """Texts scored; none is cut off."""
        return dict(self._counts)

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score each text for the query: higher is better.

        Raises:
            InputError: these aren't texts.
            CallError: the provider gave no usable scores.
            BudgetSpent: the budget doesn't hold the next call.
        """
        (query,) = texts_of(self._call.name, [query])
        texts = texts_of(self._call.name, texts)
        self._counts["texts"] += len(texts)
        full = [n for n, text in enumerate(texts) if query.strip() and text.strip()]
        call = replace(self._call, options={**self._call.options, "query": query})
        found = self._calls.map(
            call,
            [texts[n] for n in full],
            lambda batch: self._reply(query, batch),
            per_batch=_LIMITS.per_batch,
            chars_per_batch=_LIMITS.chars_per_batch,
            size=lambda text: len(text) + len(query),
        )
        scores = [0.0] * len(texts)
        for n, one in zip(full, found, strict=True):
            scores[n] = float(json.loads(one.value))
        return scores

    def _reply(self, query: str, batch: Sequence[str]) -> Reply:
        route = self._client.rerankings.with_raw_response.create
        with faults():
            reply = _json(route, model=self._call.model, query=query, texts=list(batch), is_iql=False)
            scores = in_order(reply.get("results"), "score", len(batch))
        scores = finite_scores(self._call.name, batch, scores)
        return Reply([json.dumps(score).encode() for score in scores], _tokens(reply))


def _client(
    model: str, calls: Calls, options: dict[str, Any], base_url: str | None, price_in: float | None
) -> tuple[Any, Call]:
    try:
        from isaacus import Isaacus
    except ImportError:
        raise MissingExtra("isaacus", "isaacus") from None
    name, secret = key(["ISAACUS_API_KEY"], "https://platform.isaacus.com")
    if base_url:
        options = options | {"base_url": address(base_url)}
    client = Isaacus(api_key=secret, base_url=options.get("base_url", _SERVER), timeout=calls.timeout, max_retries=0)
    calls.on_close(client.close)
    price = (_PRICE if model in _PRICED else None) if price_in is None else price_in
    return client, Call("isaacus", model, "", options, price, 0.0, name, secret)


def _json(route: Callable[..., Any], **body: Any) -> dict[str, Any]:
    """The reply as it was sent: the client's own classes let anything pass."""
    reply = json.loads(route(**body).http_response.content)
    if not isinstance(reply, dict):
        raise Fault("the reply is not a JSON object", bad=True)
    return reply


def _tokens(reply: Mapping[str, Any]) -> int | None:
    usage = reply.get("usage")
    read = usage.get("input_tokens") if isinstance(usage, dict) else None
    return read if type(read) is int and read >= 0 else None
