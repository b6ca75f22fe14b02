"""Cells of a table for the terminal."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from canlegalrag.tables import clean

__all__ = ["table"]


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], title: str, caption: str, left: Sequence[str] = ()
) -> Table:
    """A table for the terminal, its cells taken as they are.

    Args:
        heads: of the columns; the first column stands to the left.
        rows: their cells.
        title: over the table; empty for none.
        caption: under it; empty for none.
        left: heads of further columns that stand to the left.
    """
    made = Table(title=Text(clean(title)) if title else None, caption=Text(clean(caption)) if caption else None)
    made.title_justify = made.caption_justify = "left"
    for n, head in enumerate(heads):
        made.add_column(Text(clean(head)), justify="left" if n == 0 or head in left else "right")
    for row in rows:
        made.add_row(*(Text(clean(cell)) for cell in row))
    return made
