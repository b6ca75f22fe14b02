"""The published chunker of CanLegalRAGBench, for comparison."""

from collections.abc import Sequence

__all__ = ["paper_pieces"]

Span = tuple[int, int]


def paper_pieces(text: str, size: int, overlap: int) -> list[list[Span]]:
    """The published chunker: each chunk as the spans of its pieces."""
    chunks: list[list[Span]] = []
    current: list[Span] = []
    first = length = 0  # the pieces before `first` have left the window
    for start, end in _pieces(text, 0, len(text), size, ("\n\n", "\n", ". ", " ")):
        if length + end - start > size and first < len(current):
            chunks.append(current[first:])
            while first < len(current) and length > overlap:
                length -= current[first][1] - current[first][0]
                first += 1
            current, first = current[first:], 0
        current.append((start, end))
        length += end - start
    if current:
        chunks.append(current)
    return chunks


def _pieces(text: str, start: int, end: int, size: int, separators: Sequence[str]) -> list[Span]:
    """Pieces of text[start:end] by the first separator in it; those over `size` by the following ones."""
    while separators and text.find(separators[0], start, end) < 0:
        separators = separators[1:]
    if not separators:
        return [(start, end)] if start < end else []
    separator = separators[0]
    kept = len(separator) if separator.strip() else 0
    pieces: list[Span] = []
    while start < end:
        at = text.find(separator, start, end)
        stop = end if at < 0 else at + kept
        if stop - start > size:
            pieces += _pieces(text, start, stop, size, separators[1:])
        elif stop > start:
            pieces.append((start, stop))
        start = end if at < 0 else at + len(separator)
    return pieces
