"""Paid calls: remembered by content, retried with patience, counted, and stopped by a budget.

A backend gives `Calls.map` its items and a function that sends one batch. What is known already isn't sent; the rest
goes out in batches, several at once; each reply is on disk as soon as it is there, so that nothing paid for is lost.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from canlegalrag.calls._ledger import Book, Ledger
from canlegalrag.calls._nouns import CHARACTERS_A_TOKEN, Call, Fault, Reply, Result
from canlegalrag.calls._retry import LONGEST_WAIT, Gate, Landed, Sleep, persist, seconds_asked
from canlegalrag.calls._store import Store
from canlegalrag.errors import BudgetSpent, CallError, InputError
from canlegalrag.plain import require_strings

__all__ = ["CHARACTERS_A_TOKEN", "LONGEST_WAIT", "Call", "Calls", "Fault", "Reply", "Result", "seconds_asked"]

Send = Callable[[Sequence[str]], Reply]
"""Sends one batch: gives one checked value an item, or raises `Fault`, or `CallError` for a reply of no use."""

_BOOKS: ContextVar[tuple[Book, ...]] = ContextVar("_BOOKS", default=())
"""What this thread has open under `Calls.spending`."""

_DENSE = 3
"""Characters a token where money is put by before a call: few, so that the budget holds for dense text too."""


@dataclass(frozen=True, slots=True)
class _Job:
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

    def tokens_in(self, batch: Sequence[str], characters: int = CHARACTERS_A_TOKEN) -> int:
        return sum(-(-self.size(item) // characters) for item in batch)

    def most(self, batch: Sequence[str]) -> float | None:
        """US dollars that a batch may cost."""
        return self.call.cost(self.tokens_in(batch, _DENSE), sum(map(self.tokens_out, batch)))


class Calls:
    """All paid calls of a process: one cache, one ledger, one budget. Threads may share it."""

    def __init__(
        self,
        cache: Path | None,
        *,
        budget: float | None = None,
        tries: int = 6,
        timeout: float = 60.0,
        workers: int = 8,
        sleep: Sleep | None = None,
    ) -> None:
        """Open the cache.

        Args:
            cache: folder of `calls.sqlite` and `ledger.jsonl`; None remembers nothing.
            budget: US dollars that this process may spend; None for no bound.
            tries: how often a batch is sent at most; a useless reply is asked for again twice at most.
            timeout: seconds without a byte until a call is given up.
            workers: batches in flight at most, for each provider.
            sleep: waits between tries; by default it ends early when the run is stopped.

        Raises:
            InputError: the folder can't be used, or a number makes no sense.
        """
        for name, value in (("tries", tries), ("workers", workers), ("timeout", timeout)):
            if not value > 0:
                raise InputError(name, f"{value!r} is not above 0", f"a number of {name}, such as 4")
        self.timeout = timeout
        self._tries = tries
        self._workers = workers
        self._sleep = sleep
        self._gates: dict[str, Gate] = {}
        self._owned = ExitStack()
        self._store = Store(cache) if cache is not None else None
        self.ledger = Ledger(cache, budget)
        if self._store is not None:
            self._owned.callback(self._store.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the cache, and the clients that backends left here."""
        self._owned.close()

    def on_close(self, close: Callable[[], object]) -> None:
        """Have something closed with the calls, such as a provider's client."""
        self._owned.callback(close)

    def totals(self) -> dict[str, dict[str, Any]]:
        """What this process spent, by `provider/model`, as JSON."""
        return self.ledger.totals()

    @contextmanager
    def spending(self) -> Iterator[Book]:
        """Sum what the calls of this thread cost in here, of all that the process spends.

        Yields:
            A list of one number, US dollars; it becomes None once something has no known price.
        """
        book: Book = [0.0]
        token = _BOOKS.set((*_BOOKS.get(), book))
        try:
            yield book
        finally:
            _BOOKS.reset(token)

    def map(
        self,
        call: Call,
        items: Sequence[str],
        send: Send,
        *,
        per_batch: int,
        chars_per_batch: int | None = None,
        size: Callable[[str], int] = len,
        tokens_out: Callable[[str], int] = lambda item: 0,
    ) -> list[Result]:
        """Have each item answered, once.

        Args:
            call: whom to ask; with the item, the name of the reply in the cache.
            items: texts; those that repeat are sent once.
            send: asks the provider for one batch; called from several threads.
            per_batch: items in a batch at most.
            chars_per_batch: characters in a batch at most, unless one item alone has more.
            size: characters that an item costs.
            tokens_out: tokens that an item's reply may have, for the budget.

        Returns:
            One result an item, in the order of the items.

        Raises:
            CallError: a batch failed for good; what landed before, and what was in flight, is kept.
            BudgetSpent: the next batch could exceed the budget; likewise.
            InputError: there is a budget, and the price isn't known.
        """
        require_strings(call.name, items, "a list of texts")
        if self.ledger.budget is not None and call.cost(1, 1 if any(map(tokens_out, items[:1])) else 0) is None:
            raise InputError(call.name, "has no known price, so that the budget can't hold", "give price_in, price_out")
        names = dict(zip(items, call.keys(items), strict=True))
        known = self._store.get(list(names.values())) if self._store is not None else {}
        missing = [item for item, key in names.items() if key not in known]
        self.ledger.saved(call, len(items) - len(missing))
        job = _Job(call, send, size, tokens_out, threading.Event(), _BOOKS.get())
        fresh = self._run(job, list(_batches(missing, per_batch, chars_per_batch, size)), names)
        return [Result(known[k], True) if (k := names[item]) in known else Result(fresh[k], False) for item in items]

    def _run(self, job: _Job, batches: list[list[str]], names: dict[str, bytes]) -> dict[bytes, bytes]:
        """Keep up to `workers` batches in flight until all landed or one failed for good."""
        fresh: dict[bytes, bytes] = {}
        if not batches:
            return fresh
        error: Exception | None = None
        flying: set[Future[CallError | dict[bytes, bytes]]] = set()
        batches.reverse()
        pool = ThreadPoolExecutor(min(self._workers, len(batches)), "canlegalrag-call")
        try:
            while flying or (batches and error is None):
                while batches and error is None and len(flying) < self._workers:
                    most = job.most(batches[-1])
                    if self.ledger.reserve(most, wait=not flying):
                        flying.add(pool.submit(self._send, job, batches.pop(), most, names))
                    elif flying:
                        break  # what is in flight may cost less than was put by for it
                    else:
                        budget = self.ledger.budget or 0.0
                        error = BudgetSpent(spent=self.ledger.spent, budget=budget, next_call=most or 0.0)
                landed, flying = wait(flying, return_when=FIRST_COMPLETED)
                for result in (future.result() for future in landed):
                    if isinstance(result, CallError):
                        error = error or result
                        job.stop.set()
                    else:
                        fresh |= result
        finally:
            job.stop.set()  # at Ctrl-C too: what is in flight lands and is kept, nothing more is sent
            pool.shutdown(wait=True)
        if error is not None:
            raise error
        return fresh

    def _send(
        self, job: _Job, batch: list[str], most: float | None, names: dict[str, bytes]
    ) -> CallError | dict[bytes, bytes]:
        """Send one batch, keep what comes, note what it took. In a worker's thread."""
        try:
            began = time.monotonic()
            gate = self._gates.setdefault(job.call.provider, Gate(self._workers))
            sleep = self._sleep or job.stop.wait
            landed = persist(job.send, batch, gate, tries=self._tries, stop=job.stop, sleep=sleep)
            values = {}
            if landed.reply is not None:
                values = {names[item]: value for item, value in zip(batch, landed.reply.values, strict=True)}
                if self._store is not None and landed.reply.keep:
                    self._store.put(values)
            if landed.tries:
                self.ledger.add(job.call, _row(job, batch, landed, time.monotonic() - began), job.books)
            return values if landed.reply is not None else _given_up(job.call, landed)
        finally:
            self.ledger.release(most)


def _batches(
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


def _row(job: _Job, batch: Sequence[str], landed: Landed, seconds: float) -> dict[str, Any]:
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


def _given_up(call: Call, landed: Landed) -> CallError:
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
