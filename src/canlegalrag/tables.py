"""Tables of text as HTML and as Markdown, with every cell made harmless."""

import re
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["clean", "figure", "html", "markdown", "plain"]

_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    r"""Text without what drives a terminal, turns the order of letters around, or is no character; as long as before.

    >>> clean("a\x1b[2Jb\r\n")
    'a�[2Jb \n'
    """
    return _UNSAFE.sub("�", str(text)).replace("\r", " ")


def figure(value: float | None, digits: int = 4) -> str:
    """A number for a cell, a dash where it is undefined.

    >>> figure(0.5, 2), figure(None)
    ('0.50', '–')
    """
    return "–" if value is None or value != value else f"{value:.{digits}f}"


def html(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that scrolls by itself where it is wider than the page."""
    head = "".join(f"<th>{escape(h)}</th>" for h in heads)
    body = "".join("<tr>" + "".join(_td(cell) for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _td(text: str) -> str:
    """A cell: words to the left, figures to the right."""
    number = not text or text[0] in "0123456789+−–-."
    return f"<td{'' if number else ' class=text'}>{escape(text)}</td>"


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A table whose first column stands to the left, the others to the right.

    >>> print(markdown(["run", "mrr"], [["a|b", "0.5"]]), end="")
    | run | mrr |
    | --- | --: |
    | a\|b | 0.5 |
    """
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "".join(f"| {' | '.join(map(plain, cells))} |\n" for cells in lines)


def plain(text: str) -> str:
    """Text for Markdown: no cell of a table ends early, no HTML begins."""
    return escape(text, quote=False).replace("|", "\\|").replace("\n", " ")
