"""One job of paid calls: what is sent in which batches, how these came down, and what it took."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from canlegalrag.calls._ledger import Book
from canlegalrag.calls._nouns import CHARACTERS_A_TOKEN, Call, Reply
from canlegalrag.calls._retry import LONGEST_WAIT, Landed
from canlegalrag.errors import CallError

__all__ = ["Fresh", "Job", "Refused", "Send", "batches_of", "given_up", "row"]

Send = Callable[[Sequence[str]], Reply]
"""Sends one batch: gives one checked value an item, or raises `Fault`, or `CallError` for a reply of no use."""

_DENSE = 3
"""Characters a token where money is put by before a call: few, so that the budget holds for dense text too."""


@dataclass(frozen=True, slots=True)
class Job:
    """One `map`."""

    call: Call
    send: Send
    size: Callable[[str], int]
    """Characters that an item costs."""
    tokens_out: Callable[[str], int]
    """Tokens that an item's reply may have."""
    stop: threading.Event
    """Set when nothing more is to be sent."""
    books: tuple[Book, ...]
    """Where its cost is noted, besides the ledger."""
    refused: Callable[[str], bytes] | None
    """The value of an item that the provider refuses for what it holds; None where that fails like the rest."""

    def tokens_in(self, batch: Sequence[str], characters: int = CHARACTERS_A_TOKEN) -> int:
        return sum(-(-self.size(item) // characters) for item in batch)

    def most(self, batch: Sequence[str]) -> float | None:
        """US dollars that a batch may cost."""
        return self.call.cost(self.tokens_in(batch, _DENSE), sum(map(self.tokens_out, batch)))


@dataclass(slots=True)
class Fresh:
    """What a `map` has got so far."""

    sound: set[str]
    """Who ever gave a reply, of this process: `provider/model`."""
    values: dict[bytes, bytes] = field(default_factory=dict)
    """By the names of the items."""
    refused: list[CallError] = field(default_factory=list)
    """What was said of items that were refused."""
    error: Exception | None = None
    """Why no more is sent."""

    def take(self, job: Job, landed: "Exception | Refused | dict[bytes, bytes]") -> None:
        """Note how a batch came down, and stop the others where it failed for good."""
        if isinstance(landed, Exception):
            self.error = self.error or landed
        elif isinstance(landed, Refused):
            self.values |= landed.values
            self.refused.append(landed.error)
        else:
            self.values |= landed
            self.sound.add(job.call.name)
        if self.error is not None:
            job.stop.set()

    def check(self, job: Job) -> None:
        """Where all that was sent is refused it isn't for what the texts hold."""
        if self.refused and job.call.name not in self.sound:
            self.error = self.error or self.refused[0]


@dataclass(frozen=True, slots=True)
class Refused:
    """An item that the provider refuses for what it holds."""

    values: dict[bytes, bytes]
    """What stands for the reply."""
    error: CallError
    """What the provider said."""


def batches_of(
    items: Sequence[str], most: int, characters: int | None, size: Callable[[str], int]
) -> Iterator[list[str]]:
    batch: list[str] = []
    held = 0
    for item in items:
        length = size(item)
        if batch and (len(batch) >= most or (characters is not None and held + length > characters)):
            yield batch
            batch, held = [], 0
        batch.append(item)
        held += length
    if batch:
        yield batch


def row(job: Job, batch: Sequence[str], landed: Landed, seconds: float) -> dict[str, Any]:
    """One batch as the ledger has it. Useless replies were paid for: their tokens are guessed and counted."""
    guess = job.tokens_in(batch)
    reply = landed.reply
    tokens_in, tokens_out, cost = guess * landed.wasted, 0, job.call.cost(guess * landed.wasted, 0)
    estimated = landed.wasted > 0
    if reply is not None:
        read = guess if reply.tokens_in is None else reply.tokens_in
        estimated |= reply.tokens_in is None
        paid = job.call.cost(read, reply.tokens_out) if reply.cost is None else reply.cost
        cost = None if cost is None or paid is None else cost + paid
        tokens_in, tokens_out = tokens_in + read, reply.tokens_out
    status = "ok" if landed.fault is None else job.call.scrubbed(landed.fault.what)
    return {
        "items": len(batch),
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "cost": cost,
        "seconds": round(seconds, 3),
        "status": status,
        "tries": landed.tries,
        "estimated": estimated,
    }


def given_up(call: Call, landed: Landed) -> CallError:
    """The last fault as an error that says what to do."""
    fault = landed.fault
    if fault is None:
        return CallError(call.name, "wasn't sent: the run was stopped", "run it again: what is paid for is kept")
    what = call.scrubbed(fault.what) + (f", {landed.tries} tries" if landed.tries > 1 else "")
    key = call.key_name or "the key"
    fixes = {
        400: "the provider refuses the request: mend what it names",
        401: f"check {key}: the provider refuses it",
        402: "the account has no credit left: top it up; what is paid for is kept",
        403: f"check what {key} may do: the provider refuses it",
        404: "check the model's name, and the server's address where one is given",
        413: "the texts are too long for one request: cut them into shorter passages",
        422: "the provider refuses the request: mend what it names",
        429: f"try later, or with fewer workers (waits of up to {LONGEST_WAIT:.0f} s are obeyed); "
        "what is paid for is kept",
        501: "the server doesn't offer this: another route, model or start option is needed",
    }
    fallback = "try again later: what is paid for is kept" if fault.again else "see the provider's documentation"
    return CallError(call.name, what, fixes.get(fault.status or 0, fallback))
