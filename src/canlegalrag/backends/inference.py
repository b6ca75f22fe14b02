"""Models behind the chat and embedding routes that most servers speak: Hugging Face's providers, or any base URL.

Without a base URL, `inference/ORG/MODEL` goes to Hugging Face's inference providers with HF_TOKEN. With one (the option
`base_url`, or CANLEGALRAG_BASE_URL) it goes to that server: OpenRouter, vLLM, TGI, llama.cpp, Gemini's compatible
endpoint. Chat is always POST …/chat/completions. We send it ourselves: for an address, `InferenceClient` rewrites the
JSON schema into TGI's own form, and without another key it sends the saved Hugging Face token there.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from canlegalrag.backends._remote import Limits, RemoteEmbedder, RemoteGenerator, Said
from canlegalrag.backends._wire import address, in_order, key, reported
from canlegalrag.calls import Call, Calls, Fault
from canlegalrag.errors import InputError, MissingExtra
from canlegalrag.protocols import Kind
from canlegalrag.types import Prompt

if TYPE_CHECKING:
    from canlegalrag.backends import Needs

__all__ = ["embedder", "generator", "needs"]

ROUTER = "https://router.huggingface.co/v1"
"""Where Hugging Face takes chat for all of its providers."""
_LIMITS = Limits(per_batch=32, chars_per_batch=131_072)
"""TEI's default is 32 texts; other servers take more."""
_PROMPTS: dict[str, dict[Kind, str]] = {
    "qwen3-embedding": {
        "query": "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "document": "",
    },
    "embeddinggemma": {"query": "task: search result | query: ", "document": "title: none | text: "},
}
"""Prompts of the models' own configuration, which these routes don't apply; by a part of the model's name."""
_MOST = 10**9
"""Tokens, and US dollars, of one reply at most: whoever says more doesn't know."""
_STOPS = {
    "stop": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refusal",
}


def embedder(
    model: str,
    calls: Calls | None,
    *,
    base_url: str | None = None,
    provider: str = "hf-inference",
    dim: int | None = None,
    window: int | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    price_in: float | None = None,
) -> RemoteEmbedder:
    """An embedder behind a network.

    Args:
        model: as the server names it.
        calls: cache, ledger, budget; None for none.
        base_url: of a server with /embeddings; None for CANLEGALRAG_BASE_URL, and without it for Hugging Face.
        provider: which of Hugging Face's inference providers.
        dim: dimensions to ask for.
        window: tokens that the model reads, to count what is cut.
        query_prompt: what stands before a query; None for what the model is known to want.
        document_prompt: what stands before a passage; likewise.
        price_in: US dollars per million tokens.

    Raises:
        InputError: a key is missing, or an option can't be.
        MissingExtra: the client isn't installed.
    """
    calls = calls or Calls(None)
    known = next((prompts for part, prompts in _PROMPTS.items() if part in model.lower()), {})
    prompts: dict[Kind, str] = {
        "query": known.get("query", "") if query_prompt is None else query_prompt,
        "document": known.get("document", "") if document_prompt is None else document_prompt,
    }
    limits = Limits(_LIMITS.per_batch, _LIMITS.chars_per_batch, window)
    url = _base_url(base_url)
    asked: dict[str, Any] = {"dimensions": dim} if dim else {}
    if url:
        server = _Server(url, calls)
        call = server.call(model, {"dim": dim, "base_url": url}, price_in, 0.0)

        def post(texts: list[str], kind: Kind) -> tuple[Any, int | None]:
            body = {"model": model, "input": texts, "encoding_format": "float", **asked}
            reply = server.post("/embeddings", body, calls.timeout)
            return in_order(reply.get("data"), "embedding", len(texts)), _count(reply, "prompt_tokens")

    else:
        client, name, secret = _hub(provider, calls)
        call = Call("inference", model, "", {"dim": dim, "provider": provider}, price_in, 0.0, name, secret)

        def post(texts: list[str], kind: Kind) -> tuple[Any, int | None]:
            try:
                rows = client.feature_extraction(texts, model=model, **asked)
            except (TypeError, ValueError) as error:
                if "convert" in str(error) or "array" in str(error) or "float" in str(error):
                    raise Fault("the reply holds no vectors", bad=True) from None
                raise
            if rows.ndim != 2:  # three where a server gives a vector a token
                raise Fault(f"the reply is an array of shape {rows.shape}, not one vector a text", bad=True)
            return rows, None

    return RemoteEmbedder(call, calls, post, limits, prompts=prompts, dim=dim)


def generator(
    model: str,
    calls: Calls | None,
    *,
    base_url: str | None = None,
    provider: str | None = None,
    extra: Mapping[str, Any] | None = None,
    window: int | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
) -> RemoteGenerator:
    """A generator behind a network.

    Args:
        model: as the server names it.
        calls: cache, ledger, budget; None for none.
        base_url: of a server with /chat/completions; None for CANLEGALRAG_BASE_URL, and without it for Hugging Face.
        provider: which of Hugging Face's inference providers; None lets Hugging Face choose.
        extra: further fields of the request, such as a reasoning effort; a field that is None isn't sent.
        window: tokens that the model reads.
        price_in: US dollars per million tokens.
        price_out: US dollars per million tokens.

    Raises:
        InputError: a key is missing, or an option can't be.
        MissingExtra: the client isn't installed.
    """
    calls = calls or Calls(None)
    server = _Server(_base_url(base_url) or ROUTER, calls)
    named = f"{model}:{provider}" if provider else model
    options = {"base_url": server.url, "provider": provider, "extra": dict(extra or {})}
    call = server.call(model, options, price_in, price_out)

    def ask(prompt: Prompt, patience: float) -> Said:
        body: dict[str, Any] = {
            "model": named,
            "messages": [
                *([{"role": "system", "content": prompt.system}] if prompt.system else []),
                {"role": "user", "content": prompt.user},
            ],
            "temperature": 0,
            "max_tokens": prompt.max_tokens,
        }
        if prompt.schema is not None:
            form = {"name": "reply", "strict": True, "schema": dict(prompt.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        body = {name: value for name, value in {**body, **(extra or {})}.items() if value is not None}
        return _said(server.post("/chat/completions", body, patience))

    return RemoteGenerator(call, calls, ask, window=window)


def needs(model: str, role: str) -> "Needs":
    """What a model takes before it can be asked."""
    from canlegalrag.backends import Needs

    url = _base_url(None)
    own = bool(url) and urlsplit(url).hostname != urlsplit(ROUTER).hostname
    note = "price not known: give price_in and price_out"
    return Needs(
        extra="inference",
        key="" if own else "HF_TOKEN",  # a server of one's own may want none, and says so where it does
        gigabytes=None,
        gpu=False,
        price_in=None,
        price_out=None,
        window=None,
        note=note,
    )


def _base_url(given: str | None) -> str:
    url = given or os.environ.get("CANLEGALRAG_BASE_URL", "")
    return address(url) if url else ""


class _Server:
    """One address, one pool of connections, one key. Threads may share it."""

    def __init__(self, url: str, calls: Calls) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingExtra("httpx", "inference") from None
        self.url = url
        self.key_name, self.secret = _server_key(url)
        headers = {"Authorization": f"Bearer {self.secret}"} if self.secret else {}
        self._client = httpx.Client(headers=headers, follow_redirects=False)
        calls.on_close(self._client.close)

    def call(self, model: str, options: dict[str, Any], price_in: float | None, price_out: float | None) -> Call:
        """A call to this server."""
        return Call("inference", model, "", options, price_in, price_out, self.key_name, self.secret)

    def post(self, route: str, body: Mapping[str, Any], patience: float) -> dict[str, Any]:
        """Send JSON, get JSON; some servers report an error with status 200."""
        response = self._client.post(self.url + route, json=body, timeout=patience)
        if 300 <= response.status_code < 400:
            raise Fault(f"status {response.status_code}: the server sends us elsewhere", status=response.status_code)
        response.raise_for_status()
        reply = response.json()
        if not isinstance(reply, dict):
            raise Fault("the reply is not a JSON object", bad=True)
        error = reply.get("error")
        if error:
            said = error if isinstance(error, dict) else {}
            code = said.get("code")
            status = code if type(code) is int and 400 <= code < 600 else None
            raise reported("the server reports an error", f"{said.get('message', error)}", status)
        return reply


def _server_key(url: str) -> tuple[str, str]:
    """The key's variable and the key; a server of one's own may want none."""
    if urlsplit(url).hostname == urlsplit(ROUTER).hostname:
        return key(["HF_TOKEN"], "https://huggingface.co/settings/tokens")
    try:
        return key(["CANLEGALRAG_API_KEY", "OPENAI_API_KEY"], "the server's owner")
    except InputError as error:
        if "is not set" in error.problem.what:
            return "CANLEGALRAG_API_KEY", ""
        raise


def _hub(provider: str, calls: Calls) -> tuple[Any, str, str]:
    name, secret = key(["HF_TOKEN"], "https://huggingface.co/settings/tokens")
    try:
        from huggingface_hub import InferenceClient
    except ImportError:
        raise MissingExtra("huggingface-hub", "inference") from None
    make: Any = InferenceClient  # its providers are a closed list for type checkers
    client = make(provider=provider, token=secret, timeout=calls.timeout)
    calls.on_close(client.close)
    return client, name, secret


def _count(reply: Mapping[str, Any], name: str) -> int | None:
    usage = reply.get("usage")
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and 0 <= value <= _MOST else None


def _said(reply: Mapping[str, Any]) -> Said:
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise Fault("the reply holds no message", bad=True)
    reason = choice.get("finish_reason")
    if reason == "error" or choice.get("error"):
        raise Fault("the server broke off with an error", bad=True)
    text = message.get("content")
    if isinstance(text, list):  # some servers send parts
        text = "".join(part.get("text") or "" for part in text if isinstance(part, dict))
    thinking = message.get("reasoning") or message.get("reasoning_content")
    stop = _STOPS.get(str(reason).lower(), "stop")
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        text, stop = text or refusal, "refusal"
    usage = reply.get("usage")
    cost = usage.get("cost") if isinstance(usage, dict) else None
    return Said(
        text if isinstance(text, str) else "",
        stop,
        thinking if isinstance(thinking, str) else "",
        _count(reply, "prompt_tokens"),
        _count(reply, "completion_tokens"),
        float(cost) if isinstance(cost, int | float) and cost is not True and 0 <= cost <= _MOST else None,
    )
