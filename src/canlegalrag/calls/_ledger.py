"""What was sent and what it cost: a line a batch on disk, totals in memory, and the budget."""

import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from canlegalrag.calls._nouns import Call
from canlegalrag.errors import InputError
from canlegalrag.files import dumps

__all__ = ["Book", "Ledger", "Spent"]

Book: TypeAlias = list[float | None]
"""One number: US dollars spent for somebody; None once a price isn't known."""


@dataclass(slots=True)
class Spent:
    """What one model took so far in this process."""

    calls: int = 0
    """Batches sent, whatever became of them."""
    items: int = 0
    """Items sent."""
    cached: int = 0
    """Items that weren't sent, their replies being known."""
    tokens_in: int = 0
    """Tokens sent."""
    tokens_out: int = 0
    """Tokens received."""
    cost: float | None = 0.0
    """US dollars; None where a price isn't known."""
    seconds: float = 0.0
    """Sum over the batches, which may have run side by side; waiting included."""
    retries: int = 0
    """Tries after the first."""
    estimated: bool = False
    """Whether some tokens were taken from the number of characters."""


class Ledger:
    """Counts what is spent, and holds back what would exceed the budget."""

    def __init__(self, folder: Path | None, budget: float | None) -> None:
        if budget is not None and not budget >= 0:
            raise InputError("budget", f"{budget!r} is not a sum of money", "US dollars, such as 2.50")
        self.budget = budget
        self._totals: dict[str, Spent] = {}
        self._spent = 0.0
        self._reserved = 0.0
        self._flights = 0
        self._changed = threading.Condition()
        self._path = folder / "ledger.jsonl" if folder else None
        if self._path is not None:
            _mend(self._path)

    @property
    def spent(self) -> float:
        """US dollars spent in this process, as far as prices are known."""
        return self._spent

    def reserve(self, cost: float | None, *, wait: bool) -> bool:
        """Put money by for a batch.

        Args:
            cost: what it may cost; None where that isn't known, which is refused where there is a budget.
            wait: for batches of other threads to land, since they may cost less than was put by for them.

        Returns:
            Whether there is so much left of the budget.
        """
        with self._changed:
            if self.budget is not None:
                amount = cost or 0.0
                while self._spent + self._reserved + amount > self.budget:
                    if not wait or not self._flights:
                        return False
                    self._changed.wait()
            self._reserved += cost or 0.0
            self._flights += 1
            return True

    def release(self, cost: float | None) -> None:
        """Give back what was put by."""
        with self._changed:
            self._flights -= 1
            self._reserved = self._reserved - (cost or 0.0) if self._flights else 0.0
            self._changed.notify_all()

    def saved(self, call: Call, items: int) -> None:
        """Note items that didn't have to be sent."""
        with self._changed:
            self._totals.setdefault(call.name, Spent()).cached += items

    def add(self, call: Call, row: Mapping[str, Any], books: Iterable[Book] = ()) -> None:
        """Note a batch, and its cost in some books.

        Args:
            call: whom was asked.
            row: `items`, `tokens_in`, `tokens_out`, `cost`, `seconds`, `status`, `tries`,
                `estimated`.
            books: where the cost is noted too.
        """
        with self._changed:
            total = self._totals.setdefault(call.name, Spent())
            total.calls += 1
            total.items += row["items"]
            total.tokens_in += row["tokens_in"]
            total.tokens_out += row["tokens_out"]
            total.seconds += row["seconds"]
            total.retries += max(0, row["tries"] - 1)
            total.estimated |= row["estimated"]
            cost = row["cost"]
            total.cost = None if cost is None or total.cost is None else total.cost + cost
            self._spent += cost or 0.0
            for book in books:
                book[0] = None if cost is None or book[0] is None else book[0] + cost
            if self._path is None:
                return
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            head = {"time": now, "provider": call.provider, "model": call.model, "role": call.role}
            # One write to a file opened for appending: lines of two processes don't mix.
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(file, (dumps(head | dict(row)) + "\n").encode())
            finally:
                os.close(file)

    def totals(self) -> dict[str, dict[str, Any]]:
        """JSON by `provider/model`, for a run's record."""
        with self._changed:
            names = Spent.__slots__
            return {model: {n: getattr(spent, n) for n in names} for model, spent in sorted(self._totals.items())}


def _mend(path: Path) -> None:
    """End the half line that a kill may have left, so that the next one stands by itself."""
    if path.exists() and path.stat().st_size:
        with path.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
