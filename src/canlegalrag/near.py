"""Which id was probably meant: another case or normal form of one, or a like spelling."""

import difflib
import unicodedata
from collections.abc import Mapping
from functools import cached_property
from typing import Any

__all__ = ["Near", "fold"]


class Near:
    """Finds the id that was probably meant, in time that doesn't grow with the square of the corpus."""

    def __init__(self, known: Mapping[str, Any], most: int = 50) -> None:
        self._known, self._left = known, most

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {fold(k): k for k in self._known}

    @cached_property
    def _buckets(self) -> dict[str, list[str]]:
        buckets: dict[str, list[str]] = {}
        for k in self._known:
            buckets.setdefault(k[:3].casefold(), []).append(k)
        return buckets

    def __call__(self, id_: str) -> str:
        """What to suggest: another case or normal form first, as that is the commonest slip; then a like spelling."""
        same = self._folded.get(fold(id_))
        if same is not None:
            return f"differs from {same!r} by case or normal form only"
        self._left -= 1
        if self._left < 0 or len(id_) > 200:
            return ""
        candidates = self._buckets.get(id_[:3].casefold()) or (list(self._known) if len(self._known) < 1000 else [])
        close = difflib.get_close_matches(id_, candidates[:1000], 1, 0.7)
        return f"did you mean {close[0]!r}?" if close else ""


def fold(id_: str) -> str:
    """An id without what sets apart spellings of one: case and Unicode normal form."""
    return unicodedata.normalize("NFKC", id_).casefold()
