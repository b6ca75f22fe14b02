"""The recursive chunker of LegalBench-RAG: LangChain's rule with the published separators, over offsets."""

from canlegalrag.chunking.fixed import windows

__all__ = ["cut_by_separators"]

Span = tuple[int, int]

# Before them comes the blank line, after them "anywhere".
_SEPARATORS = "\n!?.:;, "
# Stands for the first half of a blank line; not "\0", which str.find is slow to find outside Latin-1.
_BLANK_LINE = "\1"


def cut_by_separators(text: str, size: int, overlap: int) -> list[Span]:
    """Pieces that each start with a separator, put together while they fit; those too long cut by the next one."""
    # In a copy for the first level alone one character stands for a blank line, so that every level looks for a
    # single one. As in LangChain, the first two of three line feeds are the separator.
    marked = text.replace(_BLANK_LINE, " ").replace("\n\n", _BLANK_LINE + "\n")
    levels = [(marked, _BLANK_LINE), *((text, separator) for separator in _SEPARATORS)]
    found: list[Span] = []
    _cut(found, levels, 0, (0, len(text)), size, overlap)
    return found


def _cut(found: list[Span], levels: list[tuple[str, str]], level: int, span: Span, size: int, overlap: int) -> None:
    """Add the chunks of a span to `found`, cut by the separator of the first level from `level` on that is in it."""
    first, stop = span
    if stop - first <= size:  # whatever it is split into fits together again
        found.append(span)
        return
    for below, (text, separator) in enumerate(levels[level:], level + 1):  # noqa: B007
        if text.find(separator, first + 1, stop) >= 0:
            break
    else:
        found += windows(first, stop, size, overlap)
        return
    end = first  # of the last chunk, where the next piece starts; nothing before `first` is shared
    while end < stop:
        start = end
        if overlap:  # whole pieces, as many as leave room for the next one
            after = text.find(separator, end + 1, stop)
            low = max(end - overlap, (after if after > 0 else stop) - size, first)
            shared = text.find(separator, low, end)
            start = shared if shared >= 0 else end
        last = stop if stop - start <= size else text.rfind(separator, end + 1, start + size + 1)
        if last > 0:
            found.append((start, last))
            end = last
        else:  # the next piece is too long
            after = text.find(separator, end + size + 1, stop)
            first = after if after > 0 else stop
            _cut(found, levels, below, (end, first), size, overlap)
            end = first
