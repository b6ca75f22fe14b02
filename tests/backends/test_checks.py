"""What comes back from models is checked in one place."""

from itertools import chain
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.backends._batches import padded, token_batches
from canlegalrag.backends._checks import check_kind, check_positive, finite_scores, texts_of, unit_rows
from canlegalrag.backends._thinking import split_thinking
from canlegalrag.errors import CallError, InputError


@given(st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3), max_size=5))
def test_rows_are_units_or_zeros(vectors: list[list[float]]) -> None:
    rows = unit_rows("m", ["t"] * len(vectors), vectors)
    assert rows.dtype == np.float32 and rows.flags["C_CONTIGUOUS"]
    for row, vector in zip(rows, vectors, strict=True):
        assert np.linalg.norm(row) == pytest.approx(1.0 if any(vector) else 0.0, abs=1e-6)


def test_unit_rows_keep_the_direction_at_any_scale() -> None:
    for scale in (1e-300, 1.0, 1e300):
        np.testing.assert_allclose(unit_rows("m", ["t"], [[3 * scale, -4 * scale]]), [[0.6, -0.8]], rtol=1e-6)
    halves = np.array([[60_000, 60_000]], dtype=np.float16)  # the squares are beyond float16
    np.testing.assert_allclose(unit_rows("m", ["t"], halves), [[0.5**0.5] * 2], rtol=1e-6)


def test_no_texts_give_no_rows_of_the_right_width() -> None:
    assert unit_rows("m", [], []).shape == (0, 0)
    assert unit_rows("m", [], [], dim=7).shape == (0, 7)
    assert unit_rows("m", [], np.zeros((0, 5))).shape == (0, 5)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 2.0]], "1 vectors came back for 2 texts"),
        ([[1.0], [1.0], [1.0]], "3 vectors came back for 2 texts"),
        ([[1.0, 2.0], [1.0]], "several lengths"),
        ([[1.0, nan], [1.0, 2.0]], "text 0 holds NaN or infinity: 'a'"),
        ([[1.0, 2.0], [1.0, inf]], "text 1 holds NaN or infinity: 'b'"),
        ([["x"], ["y"]], "instead of vectors of numbers"),
        ([[None], [None]], "instead of vectors of numbers"),
        ([1.0, 2.0], "1-dimensional float64"),
        ([[], []], "0 dimensions"),
        (None, "a NoneType came back"),
        (5, "a int came back"),
    ],
)
def test_bad_vectors(vectors: Any, message: str) -> None:
    with pytest.raises(CallError, match=message) as caught:
        unit_rows("prov/model", ["a", "b"], vectors)
    assert str(caught.value).startswith("prov/model: ")


def test_another_dimension_is_refused() -> None:
    with pytest.raises(CallError, match="2 dimensions came back instead of 3"):
        unit_rows("m", ["a"], [[1.0, 2.0]], dim=3)


def test_scores() -> None:
    assert finite_scores("m", ["a", "b"], np.array([1.5, -2.0], dtype=np.float32)) == [1.5, -2.0]
    assert finite_scores("m", [], []) == []
    for bad, message in (
        ([1.0], "1 scores came back for 2 texts"),
        ([1.0, nan], "score of text 1 is nan: 'b'"),
        ([[1.0], [2.0]], "2-dimensional"),
        ([[1.0], [2.0, 3.0]], "several scores"),
        (["x", "y"], "instead of one score"),
    ):
        with pytest.raises(CallError, match=message):
            finite_scores("m", ["a", "b"], bad)


@pytest.mark.parametrize("texts", ["text", None, {"a": "b"}, {"a"}, ["a", None], ["a", 5], [b"a"], ["\ud800"]])
def test_texts_are_lists_of_strings(texts: Any) -> None:
    with pytest.raises(InputError, match="prov/model"):
        texts_of("prov/model", texts)


def test_texts_may_be_in_any_sequence() -> None:
    assert texts_of("m", ("a", "b")) == texts_of("m", np.array(["a", "b"])) == ["a", "b"]


def test_kinds_and_options() -> None:
    check_kind("m", "query")
    check_positive("m", "dim", None)
    with pytest.raises(InputError, match="kind 'passage' is not known"):
        check_kind("m", "passage")
    for value in (0, -1, 1.5, True, "8"):
        with pytest.raises(InputError, match="dim"):
            check_positive("m", "dim", value)


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 120))
def test_batches_hold_every_text_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = [batch.tolist() for batch in token_batches(lengths, budget)]
    assert sorted(chain.from_iterable(batches)) == [i for i, length in enumerate(lengths) if length]
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget
    longest = [max(lengths[i] for i in batch) for batch in batches]
    assert longest == sorted(longest, reverse=True)


def test_padding() -> None:
    assert padded([[1], [2, 3], []], 9).tolist() == [[1, 9], [2, 3], [9, 9]]
    assert padded([[1], [2, 3], []], 9, left=True).tolist() == [[9, 1], [2, 3], [9, 9]]


@pytest.mark.parametrize(
    ("text", "thinking", "reply"),
    [
        ("Four.", "", "Four."),
        ("  Four.\n", "", "Four."),
        ("<think>\nTwo.\n</think>\n\nFour.", "Two.", "Four."),
        ("<think></think>Four.", "", "Four."),
        ("Two.\n</think>\nFour.", "Two.", "Four."),
        ("<think>cut o", "cut o", ""),
        ("<think>a</think>b</think>c", "a", "b</think>c"),
        ("He wrote <think>x</think> there.", "", "He wrote <think>x</think> there."),
        ("", "", ""),
    ],
)
def test_thinking_is_parted_from_the_reply(text: str, thinking: str, reply: str) -> None:
    assert split_thinking(text) == (thinking, reply)
