"""Asking again: how often, after how long, and how many at once."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from canlegalrag.calls._nouns import Fault, Reply
from canlegalrag.errors import CallError

__all__ = ["LONGEST_WAIT", "Gate", "Landed", "persist", "seconds_asked"]

LONGEST_WAIT = 120.0
"""Seconds: a server that asks for more in `Retry-After` is asked again after these."""
LONGEST_BACKOFF = 60.0
"""Seconds between two tries where the server asks for nothing."""
BAD_TRIES = 3
"""Tries for replies that came, and were paid, but are of no use."""

Sleep = Callable[[float], object]


def seconds_asked(value: str | None, now: datetime | None = None) -> float | None:
    """Read a `Retry-After` header: seconds, or an HTTP date; None where it is neither.

    >>> seconds_asked("7"), seconds_asked("soon"), seconds_asked("-3")
    (7.0, None, 0.0)
    >>> seconds_asked("Wed, 21 Oct 2026 07:28:00 GMT", datetime(2026, 10, 21, 7, 27, tzinfo=UTC))
    60.0
    """
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if seconds == seconds else None


def backoff(tries: int) -> float:
    """Seconds to wait after so many tries: full jitter under a doubling ceiling."""
    return random.uniform(0.0, min(LONGEST_BACKOFF, 2.0 ** (tries - 1)))


class Gate:
    """How many calls one provider gets at once: halved when it says 429, one more after each round that went well."""

    def __init__(self, most: int) -> None:
        self.limit = most
        self._most = most
        self._flying = 0
        self._good = 0
        self._slowed = 0
        self._closed_until = 0.0
        self._changed = threading.Condition()

    def enter(self, sleep: Sleep) -> int:
        """Wait for a place, and for the provider's rest to be over; gives what `slow` wants to know."""
        with self._changed:
            self._changed.wait_for(lambda: self._flying < self.limit)
            self._flying += 1
            slowed, rest = self._slowed, self._closed_until - time.monotonic()
        if rest > 0:
            sleep(rest)
        return slowed

    def leave(self, well: bool) -> None:
        """Give the place back."""
        with self._changed:
            self._flying -= 1
            if well:
                self._good += 1
                if self._good >= self.limit and self.limit < self._most:
                    self.limit, self._good = self.limit + 1, 0
            self._changed.notify_all()

    def slow(self, rest: float, slowed: int) -> None:
        """Leave the provider alone for a while; calls that were in flight together halve the limit once."""
        with self._changed:
            self._closed_until = max(self._closed_until, time.monotonic() + rest)
            if slowed == self._slowed:
                self.limit, self._good = max(1, self.limit // 2), 0
                self._slowed += 1


@dataclass(frozen=True, slots=True)
class Landed:
    """How a batch came down."""

    reply: Reply | None
    """None where every try failed."""
    fault: Fault | None
    """The last fault; None where a reply came."""
    tries: int
    """How often it was sent; 0 where it was given up before."""
    wasted: int
    """Tries that the provider was paid for to no use."""
    broke: bool = False
    """Whether it wasn't sent again because the budget doesn't hold it."""


def persist(
    send: Callable[[Sequence[str]], Reply],
    batch: Sequence[str],
    gate: Gate,
    *,
    tries: int,
    stop: threading.Event,
    sleep: Sleep,
    afford: Callable[[], bool],
) -> Landed:
    """Send a batch until a sound reply comes, as often as is sensible.

    Args:
        send: asks the provider; raises `Fault`, or `CallError` for a reply that is of no use.
        batch: the items.
        gate: of this provider.
        tries: at most.
        stop: set when the others gave up, or the user did: what is in flight still lands, nothing is sent again.
        sleep: waits so many seconds, or less when stopped.
        afford: puts money by for one more try, where one was paid to no use; false where there isn't enough.
    """
    wasted = done = 0
    fault: Fault | None = None
    while done < tries and not stop.is_set():
        slowed = gate.enter(sleep)
        reply = None
        try:
            if stop.is_set():
                break
            done += 1
            reply = _checked(send, batch)
        except Fault as error:
            fault = error
        finally:
            gate.leave(well=reply is not None)
        if reply is not None:
            return Landed(reply, None, done, wasted)
        if fault is None:  # can't be: a try ends in a reply or a fault
            break
        wasted += fault.bad
        if not fault.again or wasted >= BAD_TRIES or done >= tries:
            break
        if fault.bad and not afford():
            return Landed(None, fault, done, wasted, broke=True)
        rest = backoff(done)
        if fault.wait is not None:
            rest = min(fault.wait, LONGEST_WAIT) + random.uniform(0.0, 1.0)
        if fault.status == 429 or fault.wait is not None:
            gate.slow(rest, slowed)
        else:
            sleep(rest)
    return Landed(None, fault, done, wasted)


def _checked(send: Callable[[Sequence[str]], Reply], batch: Sequence[str]) -> Reply:
    try:
        reply = send(batch)
    except CallError as error:
        raise Fault(error.problem.what, bad=True) from None
    if len(reply.values) != len(batch):
        raise Fault(f"{len(reply.values)} values came back for {len(batch)} items", bad=True)
    return reply
