"""What a model did so far, counted right where several threads use it at once."""

from collections.abc import Mapping
from threading import Lock

__all__ = ["Counts"]


class Counts:
    """Named counters that only grow.

    >>> counts = Counts("texts", "truncated")
    >>> counts.add(texts=2)
    >>> counts.now()
    {'texts': 2, 'truncated': 0}
    """

    def __init__(self, *names: str) -> None:
        self._values = dict.fromkeys(names, 0)
        self._lock = Lock()

    def add(self, **more: int) -> None:
        """Count further."""
        with self._lock:
            for name, value in more.items():
                self._values[name] += value

    def now(self) -> Mapping[str, int]:
        """Where the counters stand, as a copy."""
        with self._lock:
            return dict(self._values)
