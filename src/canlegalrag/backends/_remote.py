"""Embedders and generators behind a network: the same for every provider but for the call itself."""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from canlegalrag.backends._checks import check_kind, check_positive, texts_of, unit_rows
from canlegalrag.backends._thinking import split_thinking
from canlegalrag.backends._wire import faults
from canlegalrag.calls import CHARACTERS_A_TOKEN, Call, Calls, Fault, Reply
from canlegalrag.errors import CallError, InputError
from canlegalrag.plain import HALF, is_whole, require_list
from canlegalrag.protocols import Kind
from canlegalrag.types import Completion, Prompt

__all__ = ["Limits", "RemoteEmbedder", "RemoteGenerator", "Said"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a provider takes."""

    per_batch: int
    """Texts in one request."""
    chars_per_batch: int
    """Characters in one request."""
    window: int | None = None
    """Tokens of a text that the model reads; None where it isn't known."""


class RemoteEmbedder:
    """Vectors from a provider. Texts without content are never sent: their rows are zeros.

    A provider cuts what is longer than the window without saying so; `counts["truncated"]` takes the length of a text
    in tokens from its characters, four to one.
    """

    def __init__(
        self,
        call: Call,
        calls: Calls,
        post: Callable[[list[str], Kind], tuple[Any, int | None]],
        limits: Limits,
        *,
        prompts: Mapping[Kind, str] | None = None,
        dim: int | None = None,
    ) -> None:
        """Describe the embedder.

        Args:
            call: whom to ask, without the role.
            calls: cache, ledger, budget.
            post: sends texts, prompts before them; gives one vector a text and the tokens read.
            limits: of the provider.
            prompts: what stands before a text, by its kind.
            dim: dimensions asked for; None for the model's own.
        """
        check_positive(call.name, "dim", dim)
        self._call = call
        self._calls = calls
        self._post = post
        self._limits = limits
        self._prompts = dict(prompts or {})
        self._dim = dim
        self._seen: int | None = dim
        self._counts = {"texts": 0, "truncated": 0}

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, dimensions asked for, prompts, window and whatever else the provider is told."""
        prompts = {kind: self._prompts.get(kind, "") for kind in get_args(Kind)}
        window = self._limits.window
        return {"model": self._call.name, "dim": self._dim, "prompts": prompts, "window": window, **self._call.options}

    @property
    def counts(self) -> Mapping[str, int]:
        """Texts embedded, and those that are probably longer than the window."""
        return dict(self._counts)

    def embed(self, texts: Sequence[str], *, kind: Kind) -> NDArray[np.float32]:
        """Embed texts.

        Returns:
            (texts, dimensions) float32, unit rows in the order of the texts; zeros for a text without content.

        Raises:
            InputError: these aren't texts, or the kind is unknown.
            CallError: the provider gave no usable vectors.
            BudgetSpent: the budget doesn't hold the next call.
        """
        check_kind(self._call.name, kind)
        texts = texts_of(self._call.name, texts)
        full = [n for n, text in enumerate(texts) if text and not text.isspace()]
        before = self._prompts.get(kind, "")
        rows = self._rows([before + texts[n] for n in full], kind)
        if not len(rows) and self._seen is None and texts:
            rows = self._rows(["."], kind)[:0]  # only the model knows how many zeros
        self._counts["texts"] += len(texts)
        window = (self._limits.window or math.inf) * CHARACTERS_A_TOKEN
        self._counts["truncated"] += sum(len(before) + len(texts[n]) > window for n in full)
        if len(full) == len(texts) and len(rows):
            return rows
        placed = np.zeros((len(texts), rows.shape[1]), np.float32)
        placed[full] = rows
        return placed

    def _rows(self, texts: list[str], kind: Kind) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self._seen or 0), np.float32)
        call = replace(self._call, role=f"embed {kind}")
        limits = self._limits
        found = self._calls.map(
            call,
            texts,
            lambda batch: self._reply(list(batch), kind),
            per_batch=limits.per_batch,
            chars_per_batch=limits.chars_per_batch,
        )
        sizes = {len(one.value) // 4 for one in found}
        if len(sizes) > 1 or (self._seen is not None and sizes != {self._seen}):
            dims = ", ".join(map(str, sorted(sizes | ({self._seen} if self._seen else set()))))
            fix = "has the model behind this name changed? empty the cache folder"
            raise CallError(self._call.name, f"gives vectors of different dimensions: {dims}", fix)
        (self._seen,) = sizes
        return np.frombuffer(b"".join(one.value for one in found), np.float32).reshape(len(texts), self._seen).copy()

    def _reply(self, batch: list[str], kind: Kind) -> Reply:
        with faults():
            vectors, tokens = self._post(batch, kind)
        rows = unit_rows(self._call.name, batch, vectors, dim=self._dim)
        if not rows.any(axis=1).all():
            raise Fault("a vector of zeros came back for a text with content", bad=True)
        return Reply([row.tobytes() for row in rows], tokens)


@dataclass(frozen=True, slots=True)
class Said:
    """What a provider's reply to one prompt holds."""

    text: str
    """The reply, with or without a thinking block in it."""
    stop: str
    """`stop`, `length` or `refusal`."""
    thinking: str = ""
    """Thinking that came in a field of its own."""
    tokens_in: int | None = None
    """Tokens read; None where the provider doesn't say."""
    tokens_out: int | None = None
    """Tokens written, thinking included; None where the provider doesn't say."""
    cost: float | None = None
    """US dollars, where the provider says."""


class RemoteGenerator:
    """Texts from a provider, at temperature 0."""

    def __init__(
        self, call: Call, calls: Calls, ask: Callable[[Prompt, float], Said], *, window: int | None, thinking: int = 0
    ) -> None:
        """Describe the generator.

        Args:
            call: whom to ask.
            calls: cache, ledger, budget.
            ask: sends one prompt, and waits so many seconds for the reply.
            window: tokens that the model reads.
            thinking: tokens that it may think beside those of the reply.
        """
        self._call = replace(call, role="generate")
        self._calls = calls
        self._ask = ask
        self._window = window
        self._thinking = thinking
        self._counts = {"texts": 0, "truncated": 0, "refused": 0}

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, its window, and whatever else the provider is told."""
        return {"model": self._call.name, "window": self._window, "temperature": 0, **self._call.options}

    @property
    def counts(self) -> Mapping[str, int]:
        """Prompts answered, and those that the provider `refused` for what they hold, such as one longer than the
        window: none is ever cut.
        """
        return dict(self._counts)

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answer each prompt, in order; one that was answered before comes from the cache.

        A prompt that the provider refuses for what it holds has a `refusal`, with what was said under `refused` in its
        `usage`.

        Raises:
            InputError: these aren't prompts.
            CallError: the provider gave no usable reply.
            BudgetSpent: the budget doesn't hold the next call.
        """
        require_list(self._call.name, prompts, "a list of prompts")
        items = [self._item(prompt) for prompt in prompts]
        sent = dict(zip(items, prompts, strict=True))
        found = self._calls.map(
            self._call,
            items,
            lambda batch: self._reply(sent[batch[0]]),
            per_batch=1,
            tokens_out=lambda item: sent[item].max_tokens + self._thinking,
            refused=_refused,
        )
        self._counts["texts"] += len(prompts)
        completions = []
        for one in found:
            said = json.loads(one.value)
            said["usage"]["cached"] = one.cached
            self._counts["refused"] += "refused" in said["usage"]
            completions.append(Completion(**said))
        return completions

    def _item(self, prompt: Prompt) -> str:
        if not isinstance(prompt, Prompt) or not prompt.user.strip():
            raise InputError(self._call.name, f"{prompt!r:.80} is not a prompt with a message", "Prompt(user=…)")
        if prompt.max_tokens < 1:
            raise InputError(self._call.name, f"max_tokens is {prompt.max_tokens}", "1 or more")
        whole = [prompt.system, prompt.user, prompt.schema, prompt.max_tokens]
        item = json.dumps(whole, sort_keys=True, ensure_ascii=False, allow_nan=False)
        if not is_whole(item):
            raise InputError(self._call.name, f"a prompt {HALF}", "read the source as UTF-8")
        return item

    def _reply(self, prompt: Prompt) -> Reply:
        # A reply comes whole, so that nothing is heard until it is written: 20 tokens a second is slow.
        patience = self._calls.timeout + (prompt.max_tokens + self._thinking) / 20
        began = time.monotonic()
        with faults():
            said = self._ask(prompt, patience)
        thinking, text = split_thinking(_mended(said.text))
        thinking = _mended(said.thinking) or thinking
        stop = "empty" if said.stop == "stop" and not text.strip() else said.stop
        written = said.tokens_out
        if written is None:
            written = -(-(len(text) + len(thinking)) // CHARACTERS_A_TOKEN)
        usage = {"output_tokens": written, "seconds": round(time.monotonic() - began, 3)}
        if said.tokens_in is not None:
            usage["input_tokens"] = said.tokens_in
            cost = self._call.cost(said.tokens_in, written) if said.cost is None else said.cost
            if cost is not None:
                usage["cost"] = cost
        value = json.dumps({"text": text, "stop": stop, "thinking": thinking, "usage": usage}).encode()
        return Reply([value], said.tokens_in, written, said.cost, keep=stop != "empty")


def _refused(what: str) -> bytes:
    usage = {"output_tokens": 0, "cost": 0.0, "refused": what}
    return json.dumps({"text": "", "stop": "refusal", "thinking": "", "usage": usage}).encode()


def _mended(text: str) -> str:
    """Text that a file can hold: half a surrogate pair, which JSON can carry, becomes a replacement character."""
    return text if is_whole(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
