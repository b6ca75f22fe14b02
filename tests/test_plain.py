"""Plain input: what counts as a list, and which strings a file can hold."""

from collections import deque

import numpy as np
import pytest

from canlegalrag.errors import InputError
from canlegalrag.plain import id_fault, is_whole, require_list, require_strings


@pytest.mark.parametrize("given", [[], (), ["a"], deque(["a"]), np.array(["a"]), range(3), {"a": 1}.values()], ids=repr)
def test_what_has_a_length_and_an_order_is_a_list(given):
    assert require_list("x", given, "fix") is None  # and raised nothing


@pytest.mark.parametrize(
    "given",
    [None, 1, 1.5, "ab", b"ab", {"a": 1}, {"a"}, frozenset("a"), {"a": 1}.keys(), iter("a"), np.array("a"), list],
    ids=repr,
)
def test_what_is_no_list_is_refused(given):
    with pytest.raises(InputError, match=r"^x: .* stands where a list should \(fix\)$"):
        require_list("x", given, "fix")


def test_strings():
    require_strings("x", ["a", "québec", "\U0001f600", np.str_("b"), ""], "fix")
    with pytest.raises(InputError, match=r"^x: 7 is not a string \(fix\)$"):
        require_strings("x", ["a", 7], "fix")
    # Two halves that stand side by side in different strings are still two halves.
    with pytest.raises(InputError, match=r"^x: '\\ud83d' holds half a surrogate pair, which no file can"):
        require_strings("x", ["a", "\ud83d", "\ude00"], "fix")
    assert not is_whole("\ud83d\ude00") and is_whole("\U0001f600")


@pytest.mark.parametrize(
    "id_", ["a", "001", "2001-québec-007", "cuad/A||B: 50% off  (1).txt", "q\u0301", "a\u200bb", "\U0001f600"]
)
def test_what_can_be_an_id(id_):
    assert id_fault(id_) is None


@pytest.mark.parametrize(
    ("id_", "fault"),
    [
        ("", "is blank"),
        (" ", "is blank"),
        ("\u00a0\n", "is blank"),
        (" a", "begins or ends with white space"),
        ("a\n", "begins or ends with white space"),
        ("a\u3000", "begins or ends with white space"),
        ("a\tb", "holds '\\t', which no id may"),
        ("a\r\nb", "holds '\\r', which no id may"),
        ("a\u00a0b", "holds '\\xa0', which no id may"),
        ("a\u2028b", "holds '\\u2028', which no id may"),
        ("a\x00b", "holds '\\x00', which no id may"),
        ("a\x85b", "holds '\\x85', which no id may"),
        ("a\x7fb", "holds '\\x7f', which no id may"),
    ],
)
def test_what_cannot_be_an_id(id_, fault):
    assert id_fault(id_) == fault
