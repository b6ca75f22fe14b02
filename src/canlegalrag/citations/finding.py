"""Find, parse and normalise: what callers use."""

from dataclasses import replace

from canlegalrag.citations.citation import Citation

__all__ = ["find", "normalise", "parse"]


def find(text: str) -> list[Citation]:
    """Find the citations in a text.

    Work grows with the length of the text only: no pattern repeats within a repetition.

    Args:
        text: running text, English or French.

    Returns:
        Citations in the order of the text, spans never overlapping; those of one decision, parallel or repeated,
        share a `group`.

    Raises:
        TypeError: text is no string.

    >>> [c.key for c in find("R. v. Jordan, 2016 SCC 27, [2016] 1 S.C.R. 631, at para. 5; see 2019 CSC 65")]
    ['2016 SCC 27', '[2016] 1 SCR 631', '2019 SCC 65']
    """
    if not isinstance(text, str):
        raise TypeError(f"find: text is a {type(text).__name__}, not a string")
    from canlegalrag.citations.search import search  # compiles the patterns: at the first use, not at import

    return search(text)


def parse(string: str) -> Citation | None:
    """Parse a string that holds one citation, or the parallel citations of one decision.

    Returns:
        The first citation, with the others as its `aliases`; None where there is none. A string with more than
        one decision gives a warning.

    >>> parse("R v Oakes (1986), 26 DLR (4th) 200 (SCC)").court_id
    'scc'
    """
    found = find(string)
    if not found:
        return None
    first = found[0]
    if all(citation.group == first.group for citation in found):
        others = dict.fromkeys(key for citation in found for key in (citation.key, *citation.aliases))
        return replace(first, aliases=tuple(key for key in others if key != first.key))
    return replace(first, warnings=(*first.warnings, "more than one decision: this is the first"))


def normalise(string: str) -> str | None:
    """The canonical key of a citation; None where the string holds none.

    >>> normalise("2003 CSC 24"), normalise("Smith v. Jones, 2002 B.C.S.C. 1234"), normalise("45 courts in 2012")
    ('2003 SCC 24', '2002 BCSC 1234', None)
    """
    found = parse(string)
    return found.key if found else None
