"""Windows cover a text, share what they must, and end where sentences do."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.judging.windows import windows

TEXT = st.text(st.sampled_from("ab é.\n 🏛́\r;«»"), max_size=400)


@given(TEXT, st.integers(1, 120), st.data())
def test_every_statement_within_the_overlap_is_whole_in_a_window(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, (size - 1) // 2))
    found = windows(text, size, overlap)
    assert found[0][0] == 0 and found[-1][1] == len(text)
    if text.strip():
        assert all(end - start <= size for start, end in found)
    for (start, end), (following, last) in pairwise(found):
        assert start < following <= end - overlap
        assert end < last
    if len(text) <= size:
        assert found == [(0, len(text))]


def test_windows_end_at_sentences() -> None:
    text = "The court dismissed the appeal with costs. " * 100
    found = windows(text, 1000, 100)
    assert all(text[:end].rstrip().endswith("costs.") for _, end in found)
    assert all(start == 0 or text[start - 1] == " " for start, _ in found)


def test_blank_and_empty_texts_are_one_window() -> None:
    assert windows("", 10, 2) == [(0, 0)]
    assert windows(" " * 50, 10, 2) == [(0, 50)]


def test_a_huge_text_without_a_space_is_cut_all_the_same() -> None:
    found = windows("x" * 1_000_000, 12_000, 1_000)
    assert found[-1][1] == 1_000_000
    assert all(end - start <= 12_000 for start, end in found)


@pytest.mark.parametrize(
    ("size", "overlap"), [(0, 0), (-1, 0), (10, -1), (10, 5), (10, 10), (1.5, 0), ("10", 0), (10, None)]
)
def test_windows_that_cannot_be(size: int, overlap: int) -> None:
    with pytest.raises(InputError, match="windows"):
        windows("some text", size, overlap)
