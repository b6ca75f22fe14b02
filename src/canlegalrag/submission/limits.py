"""What a submission may weigh: limits with their reasons, and the clock that every loop looks at."""

import time
from dataclasses import dataclass

__all__ = ["LIMITS", "Clock", "Limits", "size"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings that no honest submission meets and that keep one visitor from stalling the rest."""

    file_bytes: int = 20_000_000
    """Of a file: 4,000 queries with 100 hits each, or as many long answers."""
    total_bytes: int = 40_000_000
    """Of all files: what is read is held in memory, at up to ten times its size."""
    system_bytes: int = 100_000
    """Of `system.json`: a page of text is a twentieth of it."""
    lines: int = 200_000
    """Of a file: 2,000 queries with 100 hits each, where each hit is a line."""
    line_chars: int = 2_000_000
    """Of a line: 1,000 hits are 100,000, the claims of a long answer with all their verdicts 500,000."""
    hits: int = 1_000
    """A query: no measure looks deeper, and 1,000 is what TREC runs hold."""
    depth: int = 50
    """Of JSON: the formats need 4; deeper nesting only exhausts the stack of whoever reads it."""
    id_chars: int = 200
    """Of an id: the longest of any benchmark known here is a path of 120."""
    answer_chars: int = 20_000
    """Of an answer: five times the longest that 2,048 tokens give; its claims are judged one by one."""
    passages: int = 1_000
    """An answer: no generator reads more."""
    evidence_chars: int = 1_000_000
    """An answer that is judged here: what 250,000 tokens hold."""
    verdicts: int = 20_000
    """An answer: 100 claims against 200 pieces of evidence."""
    name_chars: int = 80
    """Of a system's name: it heads a row of a table."""
    field_chars: int = 500
    """Of any other text of `system.json`: it stands on a card."""
    items: int = 50
    """Authors, or things used: a card lists them all."""
    seconds: float = 60.0
    """Of checking: ten times what the largest files take."""
    scoring_seconds: float = 60.0
    """Of judging answers here, and of looking up what they cite; a usual submission takes ten."""
    shown: int = 200
    """Problems listed: nobody mends more at once; all are counted."""
    shown_of_kind: int = 20
    """Problems of one kind listed, so that a million of them don't hide the others."""


LIMITS = Limits()
"""What the Space and the command line check by."""


class Clock:
    """Says when time is up."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def over(self) -> bool:
        """Whether time is up."""
        return time.monotonic() >= self._end


def size(count: int) -> str:
    """Bytes as people read them.

    >>> size(50_000_000), size(1_500), size(0)
    ('50 MB', '1.5 kB', '0 bytes')
    """
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}".replace(".0 ", " ")
    return f"{count} bytes"
