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
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from canlegalrag.calls._job import Fresh, Job, Refused, Send, batches_of, given_up, row
from canlegalrag.calls._ledger import Book, Ledger
from canlegalrag.calls._nouns import CHARACTERS_A_TOKEN, Call, Fault, Reply, Result
from canlegalrag.calls._retry import LONGEST_WAIT, Gate, Sleep, persist, seconds_asked
from canlegalrag.calls._store import Store
from canlegalrag.errors import BudgetSpent, InputError
from canlegalrag.plain import require_strings

__all__ = ["CHARACTERS_A_TOKEN", "LONGEST_WAIT", "Call", "Calls", "Fault", "Reply", "Result", "seconds_asked"]

_BOOKS: ContextVar[tuple[Book, ...]] = ContextVar("_BOOKS", default=())
"""What this thread has open under `Calls.spending`."""


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
        self._sound: set[str] = set()
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

    def trust(self, model: str) -> None:
        """Take it that `provider/model` does answer, so that what it refuses is refused for what it holds."""
        self._sound.add(model)

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
        refused: Callable[[str], bytes] | None = None,
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
            refused: gives the value, which isn't kept, of an item that the provider refuses for what it holds, such as
                a text longer than the window or one that a filter blocks, from what the provider says. Without it, in
                batches of several, or as long as nothing at all is answered, such a refusal is an error.

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
        if known:
            self._sound.add(call.name)
        job = Job(call, send, size, tokens_out, threading.Event(), _BOOKS.get(), refused)
        fresh = self._run(job, list(batches_of(missing, per_batch, chars_per_batch, size)), names)
        return [Result(known[k], True) if (k := names[item]) in known else Result(fresh[k], False) for item in items]

    def _run(self, job: Job, batches: list[list[str]], names: dict[str, bytes]) -> dict[bytes, bytes]:
        """Keep up to `workers` batches in flight until all landed or one failed for good."""
        if not batches:
            return {}
        fresh = Fresh(self._sound)
        flying: set[Future[Exception | Refused | dict[bytes, bytes]]] = set()
        batches.reverse()
        pool = ThreadPoolExecutor(min(self._workers, len(batches)), "canlegalrag-call")
        try:
            while flying or (batches and fresh.error is None):
                while batches and fresh.error is None and len(flying) < self._workers:
                    most = job.most(batches[-1])
                    if self.ledger.reserve(most, wait=not flying):
                        flying.add(pool.submit(self._send, job, batches.pop(), most, names))
                    elif flying:
                        break  # what is in flight may cost less than was put by for it
                    else:
                        fresh.error = self._broke(most)
                landed, flying = wait(flying, return_when=FIRST_COMPLETED)
                for future in landed:
                    fresh.take(job, future.result())
            fresh.check(job)
        finally:
            job.stop.set()  # at Ctrl-C too: what is in flight lands and is kept, nothing more is sent
            pool.shutdown(wait=True)
        if fresh.error is not None:
            raise fresh.error
        return fresh.values

    def _send(
        self, job: Job, batch: list[str], most: float | None, names: dict[str, bytes]
    ) -> Exception | Refused | dict[bytes, bytes]:
        """Send one batch, keep what comes, note what it took. In a worker's thread."""
        held = [most]

        def afford() -> bool:
            enough = self.ledger.reserve(most, wait=False)
            held.extend([most] * enough)
            return enough

        try:
            began = time.monotonic()
            gate = self._gates.setdefault(job.call.provider, Gate(self._workers))
            sleep = self._sleep or job.stop.wait
            landed = persist(job.send, batch, gate, tries=self._tries, stop=job.stop, sleep=sleep, afford=afford)
            values = {}
            if landed.reply is not None:
                values = {names[item]: value for item, value in zip(batch, landed.reply.values, strict=True)}
                if self._store is not None and landed.reply.keep:
                    self._store.put(values)
            if landed.tries:
                self.ledger.add(job.call, row(job, batch, landed, time.monotonic() - began), job.books)
            if landed.reply is not None:
                return values
            if landed.broke:
                return self._broke(most)
            error = given_up(job.call, landed)
            if job.refused is None or len(batch) > 1 or landed.fault is None or not landed.fault.about_text:
                return error
            return Refused({names[batch[0]]: job.refused(error.problem.what)}, error)
        finally:
            for cost in held:
                self.ledger.release(cost)

    def _broke(self, most: float | None) -> BudgetSpent:
        return BudgetSpent(spent=self.ledger.spent, budget=self.ledger.budget or 0.0, next_call=most or 0.0)
