"""CSV that no spreadsheet runs."""

import csv as csv_module
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.submission import csv


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ('=HYPERLINK("https://example.org")', '\'=HYPERLINK("https://example.org")'),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("  =1", "'  =1"),
        ("＝1", "'＝1"),
        ("a=1", "a=1"),
        ("<script>", "<script>"),
        ("", ""),
        (None, ""),
        (float("nan"), ""),
        (-1.5, "-1.5"),
        (3, "3"),
        (True, "True"),
        ("a\0b", "a\N{REPLACEMENT CHARACTER}b"),
        (["=1"], "['=1']"),
    ],
)
def test_cells(value: Any, cell: str) -> None:
    text = csv([{"x": value}])
    assert list(csv_module.reader(io.StringIO(text, newline=""))) == [["x"], [cell]]


def test_heads_are_those_of_all_rows_and_harmless_too() -> None:
    assert csv([{"a": 1}, {"=b": "x", "a": 2}]) == '"a","\'=b"\r\n1,""\r\n2,"x"\r\n'
    assert csv([]) == "\r\n"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_no_text_begins_a_formula_and_none_is_lost(values: list[str]) -> None:
    text = csv([{str(n): value for n, value in enumerate(values)}])
    cells = list(csv_module.reader(io.StringIO(text, newline="")))[1]
    for value, cell in zip(values, cells, strict=True):
        assert not cell.lstrip().startswith(("=", "+", "-", "@"))
        assert cell.removeprefix("'") == value.replace("\0", "\N{REPLACEMENT CHARACTER}").removeprefix("'")
