"""Tables as CSV that no spreadsheet runs: what begins like a formula is text."""

import csv as csv_module
import io
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["csv"]

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula; the wide forms count in East Asian ones."""


def csv(rows: Sequence[Mapping[str, Any]]) -> str:
    r"""Rows as CSV with a line of heads: the fields of all rows, in the order in which they come first.

    Numbers stay numbers, None is an empty cell. A text that begins with `= + - @`, a tab or a line end, after spaces
    or not, gets a `'` before it, which spreadsheets show as text (its letters don't change).

    >>> csv([{"query_id": "=1+1", "ndcg@10": -0.5}])
    '"query_id","ndcg@10"\r\n"\'=1+1",-0.5\r\n'
    """
    heads = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO(newline="")
    writer = csv_module.writer(out, quoting=csv_module.QUOTE_NONNUMERIC)
    writer.writerow(map(_cell, heads))
    writer.writerows([_cell(row.get(name)) for name in heads] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> str | int | float:
    if value is None or value != value:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        value = str(value)
    if isinstance(value, str):
        value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return f"'{value}" if value.startswith(_STARTS) or value.lstrip().startswith(_STARTS) else value
    return float(value) if isinstance(value, float) else int(value)
