"""Which id was probably meant: another case, normal form or punctuation of one, or a like spelling."""

import difflib
import re
import unicodedata
from collections.abc import Mapping
from functools import cached_property
from typing import Any

__all__ = ["Near", "fold", "loose"]


class Near:
    """Finds the id that was probably meant, in time that doesn't grow with the square of the corpus."""

    def __init__(self, known: Mapping[str, Any], most: int = 50) -> None:
        self._known, self._left = known, most

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {fold(k): k for k in self._known}

    @cached_property
    def _loose(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for k in self._known:
            key = loose(k)
            found[key] = "" if key in found else k  # of two, neither is the one that was meant
        return found

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
        if alike := self._loose.get(loose(id_)):
            return f"did you mean {alike!r}?"
        self._left -= 1
        if self._left < 0 or len(id_) > 200:
            return ""
        candidates = self._buckets.get(id_[:3].casefold()) or (list(self._known) if len(self._known) < 1000 else [])
        close = difflib.get_close_matches(id_, candidates[:1000], 1, 0.7)
        return f"did you mean {close[0]!r}?" if close else ""


def fold(id_: str) -> str:
    """An id without what sets apart spellings of one: case and Unicode normal form."""
    return unicodedata.normalize("NFKC", id_).casefold()


def loose(id_: str) -> str:
    """An id without what sets a citation apart from an id made of it: also blanks, hyphens and points are alike.

    >>> loose("2021 BCSC 90101") == loose("2021-bcsc-90101"), loose("1.1") == loose("11")
    (True, False)
    """
    return re.sub(r"[\W_]+", "-", fold(id_)).strip("-")
