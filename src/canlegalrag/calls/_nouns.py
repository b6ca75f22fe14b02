"""What a paid call is made of: whom it asks, what came back, what went wrong."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Call", "Fault", "Reply", "Result"]

CHARACTERS_A_TOKEN = 4
"""What a token is taken for where a provider doesn't count them: English prose has between 4 and 5."""

_ABOUT_A_TEXT = re.compile(
    r"context.?(length|window|size)|maximum (context|prompt)|too (long|large)|too many tokens"
    r"|exceed\w*\b.{0,60}\b(context|tokens?|length)|`?inputs`? (tokens|must have less)|reduce the length"
    r"|content.?(filter|policy|management)|safety|moderation|flagged|blocked|inappropriate|content exists risk",
    re.IGNORECASE,
)
"""What providers say where it is this text that they refuse, and not the request's form."""
_FLAGGED = re.compile(r"moderation|flagged", re.IGNORECASE)
"""What OpenRouter says with 403, which otherwise is about the key (https://openrouter.ai/docs/errors)."""
_ABOUT_MORE = re.compile(
    r"\b(account|api.?key|billing|balance|credits?|quota|per (minute|hour|day|month)|at most \d+ completion tokens)\b",
    re.IGNORECASE,
)
"""What they say where it is the key, the account or a parameter: then the next text would be refused too."""


@dataclass(frozen=True, slots=True)
class Call:
    """Whom to ask and how: all that a reply depends on beside the item itself, and what it costs."""

    provider: str
    """Name of the backend."""
    model: str
    """The model's name at the provider."""
    role: str
    """What is asked: `embed query`, `embed document`, `rerank`, `generate`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else decides the reply (dimensions, prompts, server), as JSON."""
    price_in: float | None = None
    """US dollars per million tokens sent; None where it isn't known."""
    price_out: float | None = None
    """US dollars per million tokens received; None where it isn't known."""
    key_name: str = ""
    """Environment variable of the key, for messages."""
    secret: str = field(default="", repr=False)
    """The key itself: it decides no reply, and is cut out of whatever a provider says."""

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self.provider}/{self.model}"

    def keys(self, items: Sequence[str]) -> list[bytes]:
        """Name each item's reply in the cache: sha256 of everything that it depends on.

        >>> a, b = Call("p", "m", "embed query"), Call("p", "m", "embed document")
        >>> a.keys(["x"]) == a.keys(["x"]), a.keys(["x"]) == b.keys(["x"])
        (True, False)
        """
        whole = [self.provider, self.model, self.role, self.options]
        text = json.dumps(whole, sort_keys=True, ensure_ascii=True, allow_nan=False)
        start = hashlib.sha256(text.encode() + b"\0")
        names = []
        for item in items:
            digest = start.copy()
            digest.update(item.encode())
            names.append(digest.digest())
        return names

    def cost(self, tokens_in: float, tokens_out: float) -> float | None:
        """US dollars for so many tokens; None where a price that matters isn't known.

        >>> Call("p", "m", "embed query", price_in=0.15, price_out=0.0).cost(2_000_000, 0)
        0.3
        """
        total = 0.0
        for tokens, price in ((tokens_in, self.price_in), (tokens_out, self.price_out)):
            if tokens and price is None:
                return None
            total += tokens * (price or 0.0) / 1e6
        return total

    def scrubbed(self, text: str) -> str:
        """Text of a provider such as a file can hold, without the key, should it stand in it, and not too long."""
        text = " ".join(text.encode("utf-8", "replace").decode().split())
        if self.secret:
            text = text.replace(self.secret, "[key]")
        return text if len(text) <= 300 else f"{text[:299]}…"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider answered to one batch, checked."""

    values: Sequence[bytes]
    """One value an item, in the order sent."""
    tokens_in: int | None = None
    """Tokens read; None where the provider doesn't say."""
    tokens_out: int = 0
    """Tokens written."""
    cost: float | None = None
    """US dollars, where the provider says; else it follows from the prices."""
    keep: bool = True
    """Whether to remember it; an empty answer is worth asking for again."""


@dataclass(frozen=True, slots=True)
class Result:
    """One item's value."""

    value: bytes
    """As the sender packed it."""
    cached: bool
    """Whether it was known already, so that nothing was paid."""


class Fault(Exception):
    """One try that failed. Senders raise it; it never leaves this package."""

    def __init__(
        self, what: str, *, status: int | None = None, wait: float | None = None, again: bool = False, bad: bool = False
    ) -> None:
        """Describe the fault.

        Args:
            what: what went wrong, in a few words.
            status: HTTP status, where a server gave one.
            wait: seconds that the server asks to be left alone.
            again: whether another try may help; statuses say that by themselves.
            bad: the server answered, and was paid, but the reply is of no use: worth two more tries.
        """
        self.what = what
        self.status = status
        self.wait = wait
        self.bad = bad
        passing = status is not None and (status in (408, 409, 425, 429) or (status >= 500 and status != 501))
        self.again = again or bad or passing
        known = {400: _ABOUT_A_TEXT, 403: _FLAGGED, 422: _ABOUT_A_TEXT}.get(status or 0)
        text = known is not None and known.search(what) is not None and _ABOUT_MORE.search(what) is None
        self.about_text = status == 413 or text
        super().__init__(what)
