"""Windows of long evidence: every statement shorter than the overlap is whole in one of them."""

import operator

from canlegalrag.chunking import spans
from canlegalrag.errors import InputError

__all__ = ["check", "windows"]


def windows(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """(start, end) of overlapping windows that cover every character of a text, in order.

    A window ends at the end of a paragraph, line or sentence where one is in its last third, and starts where a word
    does. Neighbours share `overlap` to twice `overlap` characters, so that whatever is no longer than `overlap` is
    whole in some window. A text that fits is one window, and so is an empty one.

    >>> text = "The appeal is allowed. Costs follow. The order is void."
    >>> [text[a:b] for a, b in windows(text, 40, 8)]
    ['The appeal is allowed. Costs follow. ', 'Costs follow. The order is void.']

    Args:
        text: any string.
        size: characters of a window at most, at least 1.
        overlap: characters that neighbours share at least, from 0, below half the size.

    Raises:
        InputError: a size or an overlap that can't be.
    """
    size, overlap = check(size, overlap)
    if len(text) <= size:
        return [(0, len(text))]
    # The chunker's overlap is between half of what it is asked for and the whole. White space alone it doesn't cut.
    return spans(text, size=size, overlap=2 * overlap) or [(0, len(text))]


def check(size: int, overlap: int) -> tuple[int, int]:
    """Make sure that windows of this size and overlap go forward.

    Raises:
        InputError: they don't.
    """
    try:
        size, overlap = operator.index(size), operator.index(overlap)
    except TypeError:
        raise InputError("windows", f"size {size!r}, overlap {overlap!r}", "both are whole numbers") from None
    if size < 1:
        raise InputError("windows", f"size {size} is below 1", "12000 characters are usual")
    if not 0 <= 2 * overlap < size:
        raise InputError("windows", f"overlap {overlap} does not fit size {size}", "take 0 <= overlap < size / 2")
    return size, overlap
