"""Plain input, as JSON or an `evaluate` module gives it: lists that are lists, strings that a file can hold, ids."""

import unicodedata
from collections.abc import Iterable, Mapping, Set
from typing import Any

from canlegalrag.errors import InputError

__all__ = ["HALF", "id_fault", "is_whole", "require_list", "require_strings"]

HALF = "holds half a surrogate pair, which no file can"
"""What is wrong with a string that `is_whole` refuses."""


def is_whole(text: str) -> bool:
    r"""Whether a string can be written as UTF-8: half a surrogate pair can't, and fails far from where it was given.

    >>> is_whole("québec"), is_whole("\ud800")
    (True, False)
    """
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def id_fault(text: str) -> str | None:
    r"""Say what keeps a string from being an id; None where it can be one.

    Of white space an id may hold plain spaces, and those inside only: LegalBench-RAG's ids are names of files. A TREC
    file can't carry these; JSON Lines can.

    >>> id_fault("cuad/AGENCY AGREEMENT.txt"), id_fault(" a"), id_fault("")
    (None, 'begins or ends with white space', 'is blank')
    >>> id_fault("a\tb")
    "holds '\\t', which no id may"
    """
    if not text.strip():
        return "is blank"
    if text.strip() != text:
        return "begins or ends with white space"
    if text.isascii() and text.isprintable():
        return None
    for c in text:
        if (c.isspace() and c != " ") or unicodedata.category(c) == "Cc":
            return f"holds {c!r}, which no id may"
    return None


def require_list(where: str, given: Any, fix: str) -> None:
    """Make sure that something has a length and an order, and isn't text, a mapping, a set or a generator.

    Raises:
        InputError: it is not so.
    """
    if given is None:
        raise InputError(where, "None stands where a list should", fix)
    try:
        len(given)
        sound = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping | Set)
    except TypeError:
        sound = False
    if not sound:
        raise InputError(where, f"a {type(given).__name__} stands where a list should", fix)


def require_strings(where: str, given: Any, fix: str) -> None:
    """Make sure that something is a list of strings that a file can hold; each fault is named by `repr`.

    Raises:
        InputError: it is not so.
    """
    require_list(where, given, fix)
    try:
        if is_whole("".join(given)):
            return
    except TypeError:
        pass
    for one in given:
        if not isinstance(one, str):
            raise InputError(where, f"{one!r:.80} is not a string", fix)
        if not is_whole(one):
            raise InputError(where, f"{one!r:.80} {HALF}", "read the source as UTF-8")
