"""Windows of equal length, blind to words."""

__all__ = ["windows"]


def windows(start: int, stop: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Windows over start … stop, one every `size - overlap`; the last is the first to reach the end."""
    return [(at, min(at + size, stop)) for at in range(start, max(stop - overlap, start + 1), size - overlap)]
