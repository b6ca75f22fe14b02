"""Numbers as sentences say them."""

__all__ = ["many"]


def many(count: int, noun: str) -> str:
    """A number of things.

    >>> many(1, "answer"), many(2_000, "answer"), many(2, "query")
    ('1 answer', '2,000 answers', '2 queries')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"
