"""Google's Gemini models through google-genai: embeddings, one vector a text, and texts."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from canlegalrag.backends._remote import Limits, RemoteEmbedder, RemoteGenerator, Said
from canlegalrag.backends._wire import address, key
from canlegalrag.calls import Call, Calls, Fault, seconds_asked
from canlegalrag.errors import MissingExtra
from canlegalrag.protocols import Kind
from canlegalrag.types import Prompt

if TYPE_CHECKING:
    from canlegalrag.backends import Needs

__all__ = ["embedder", "generator", "needs"]

_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_SOURCE = "https://aistudio.google.com/apikey"
_SERVER = "https://generativelanguage.googleapis.com"
_BATCH, _CHARACTERS = 100, 400_000
"""The batch route takes 100 texts."""
_TASKS: dict[Kind, str] = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
_PROMPTS: dict[Kind, str] = {"query": "task: search result | query: ", "document": "title: none | text: "}
"""gemini-embedding-2 takes no task type: Google's guide has the task stand in the text."""
_WINDOWS = {"gemini-embedding-001": 2048, "gemini-embedding-2": 8192, "gemini-2.5": 1_048_576}
_PRICES = {
    "gemini-embedding-001": (0.15, 0.0, "list price seen in the code of CanLegalRAGBench"),
    "gemini-embedding-2": (0.20, 0.0, "list price seen in the code of CanLegalRAGBench"),
    "gemini-2.5-flash-lite": (None, None, "price not known: give price_in and price_out"),
    "gemini-2.5-flash": (0.30, 2.50, "assumed: Google's list price"),
    "gemini-2.5-pro": (1.25, 10.00, "assumed: Google's list price up to 200,000 tokens a prompt"),
}
_THINKING = 1024
"""Tokens that a 2.5 model may think unless told otherwise; it would take them from the reply's."""
_DECLINED = {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "ESCALATION"}


def embedder(
    model: str,
    calls: Calls | None,
    *,
    dim: int | None = None,
    base_url: str | None = None,
    price_in: float | None = None,
) -> RemoteEmbedder:
    """A Gemini embedder.

    Args:
        model: `gemini-embedding-001`, `gemini-embedding-2` …
        calls: cache, ledger, budget; None for none.
        dim: dimensions to ask for; None for the model's own, 3072.
        base_url: of another server with the same routes.
        price_in: US dollars per million tokens; None for the list price.

    Raises:
        InputError: a key is missing.
        MissingExtra: google-genai isn't installed.
    """
    calls = calls or Calls(None)
    by_task = model.startswith("gemini-embedding-001")
    options = {"dim": dim, "task_types": dict(_TASKS)} if by_task else {"dim": dim}
    client, call = _client(model, calls, options, base_url, price_in, 0.0)
    from google.genai import types

    def post(texts: list[str], kind: Kind) -> tuple[Any, int | None]:
        # Each text is a content of its own: a bare list of strings would be the parts of one content, and
        # gemini-embedding-2 gives one vector a content.
        contents: Any = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        task = _TASKS[kind] if by_task else None
        config = types.EmbedContentConfig(task_type=task, output_dimensionality=dim)
        reply = _asked(lambda: client.models.embed_content(model=model, contents=contents, config=config))
        read = reply.usage_metadata.prompt_token_count if reply.usage_metadata else None
        return [one.values or [] for one in reply.embeddings or []], read

    limits = Limits(_BATCH, _CHARACTERS, _of(model, _WINDOWS))
    return RemoteEmbedder(call, calls, post, limits, prompts=None if by_task else _PROMPTS, dim=dim)


def generator(
    model: str,
    calls: Calls | None,
    *,
    thinking: int | None = None,
    base_url: str | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
) -> RemoteGenerator:
    """A Gemini generator.

    Args:
        model: `gemini-2.5-flash`, `gemini-2.5-pro` …
        calls: cache, ledger, budget; None for none.
        thinking: tokens that the model may think, 0 for none where it can do without; they come on top of a prompt's
            `max_tokens`. None: 1,024 for the 2.5 models, and nothing is said to others.
        base_url: of another server with the same routes.
        price_in: US dollars per million tokens; None for the list price.
        price_out: US dollars per million tokens, thinking included; None for the list price.

    Raises:
        InputError: a key is missing.
        MissingExtra: google-genai isn't installed.
    """
    calls = calls or Calls(None)
    budget = _THINKING if thinking is None and model.startswith("gemini-2.5") else thinking
    client, call = _client(model, calls, {"thinking": budget}, base_url, price_in, price_out)
    from google.genai import types

    # Newer clients go on asking by themselves where a reply is unfinished: requests that nobody would count.
    known = types.GenerateContentConfig.model_fields
    alone: dict[str, Any] = {"automatic_continuation": False} if "automatic_continuation" in known else {}

    def ask(prompt: Prompt, patience: float) -> Said:
        config = types.GenerateContentConfig(
            system_instruction=prompt.system or None,
            temperature=0,
            max_output_tokens=prompt.max_tokens + max(budget or 0, 0),
            thinking_config=None if budget is None else types.ThinkingConfig(thinking_budget=budget),
            response_mime_type="application/json" if prompt.schema is not None else None,
            response_json_schema=dict(prompt.schema) if prompt.schema is not None else None,
            http_options=types.HttpOptions(timeout=int(patience * 1000)),
            **alone,
        )
        return _said(_asked(lambda: client.models.generate_content(model=model, contents=prompt.user, config=config)))

    window = _of(model, _WINDOWS)
    return RemoteGenerator(call, calls, ask, window=window, thinking=max(budget or 0, 0))


def needs(model: str, role: str) -> "Needs":
    """What a model takes before it can be asked."""
    from canlegalrag.backends import Needs

    price_in, price_out, note = _price(model)
    window = _of(model, _WINDOWS)
    return Needs(
        extra="google",
        key=next((name for name in _KEYS if os.environ.get(name, "").strip()), _KEYS[0]),
        gigabytes=None,
        gpu=False,
        price_in=price_in,
        price_out=price_out,
        thinking=_THINKING if model.startswith("gemini-2.5") else 0,
        window=window,
        note=note,
    )


def _of(model: str, table: dict[str, Any]) -> Any:
    return next((value for start, value in table.items() if model.startswith(start)), None)


def _price(model: str) -> tuple[float | None, float | None, str]:
    return _of(model, _PRICES) or (None, None, "price not known: give price_in and price_out")


def _client(
    model: str,
    calls: Calls,
    options: dict[str, Any],
    base_url: str | None,
    price_in: float | None,
    price_out: float | None,
) -> tuple[Any, Call]:
    try:
        from google import genai
        from google.genai import types
    except ImportError:
        raise MissingExtra("google-genai", "google") from None
    name, secret = key(_KEYS, _SOURCE)
    if base_url:
        options = options | {"base_url": address(base_url)}
    http = types.HttpOptions(
        base_url=options.get("base_url", _SERVER),  # said here, or a variable of the client's could change it unseen
        timeout=int(calls.timeout * 1000),
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    client = genai.Client(api_key=secret, vertexai=False, http_options=http)
    calls.on_close(client.close)
    listed_in, listed_out, _ = _price(model)
    paid_in = listed_in if price_in is None else price_in
    paid_out = listed_out if price_out is None else price_out
    return client, Call("google", model, "", options, paid_in, paid_out, name, secret)


def _asked(ask: Any) -> Any:
    """Ask, and read from Google's errors how long to wait: they say it in the body, not in a header."""
    from google.genai import errors

    try:
        return ask()
    except errors.APIError as error:
        details = error.details.get("error", {}).get("details", []) if isinstance(error.details, dict) else []
        waits = [one.get("retryDelay", "") for one in details if isinstance(one, dict)]
        wait = next((seconds_asked(one.removesuffix("s")) for one in waits if one), None)
        if error.code == 429 and wait is not None:
            raise Fault(f"status 429: {error.message}", status=429, wait=wait) from None
        raise


def _said(reply: Any) -> Said:
    usage = reply.usage_metadata
    read = usage.prompt_token_count if usage else None
    written = None
    if usage and (usage.candidates_token_count is not None or usage.thoughts_token_count is not None):
        written = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    candidates: Sequence[Any] = reply.candidates or []
    if not candidates:
        if reply.prompt_feedback and reply.prompt_feedback.block_reason:
            return Said("", "refusal", tokens_in=read, tokens_out=0)
        raise Fault("the reply holds no candidate", bad=True)
    parts = candidates[0].content.parts or [] if candidates[0].content else []
    text = "".join(part.text or "" for part in parts if not part.thought)
    thinking = "".join(part.text or "" for part in parts if part.thought)
    reason = candidates[0].finish_reason
    name = reason.name if reason else "STOP"
    stop = "length" if name in ("MAX_TOKENS", "CONTINUATION") else "refusal" if name in _DECLINED else "stop"
    return Said(text, stop, thinking, read, written)
