"""Whether a quote stands in a text."""

import re

__all__ = ["quoted"]

_ALIKE = {"'": "['‘’]", "‘": "['‘’]", "’": "['‘’]", '"': '["“”«»]', "“": '["“”«»]', "”": '["“”«»]'}
_ALIKE |= {"-": "[-‐‑–—]", "–": "[-‐‑–—]", "—": "[-‐‑–—]"}


def quoted(quote: str, text: str) -> str:
    r"""The words of a text that a quote gives, as they stand there; empty where one of its pieces isn't in the text.

    White space, letter case, the form of quotation marks and dashes, and marks around the quote don't count; an
    ellipsis parts it into pieces, which must follow each other.

    >>> quoted('"the tenant\'s notice … 14 days"', "If the tenant’s\nnotice is late by 14 days, it fails.")
    'the tenant’s notice … 14 days'
    >>> quoted("30 days", "within 14 days")
    ''
    """
    pieces, at = [], 0
    for piece in re.split(r"…|\.\.\.+|\[\.\.\.\]|\[…\]", quote):
        words = piece.strip(" \t\r\n\"'“”‘’«»[]").split()
        if not words:
            continue
        pattern = r"\s+".join("".join(_ALIKE.get(c, re.escape(c)) for c in word) for word in words)
        found = re.compile(pattern, re.IGNORECASE).search(text, at)
        if found is None:
            return ""
        pieces.append(" ".join(found[0].split()))
        at = found.end()
    return " … ".join(pieces)
