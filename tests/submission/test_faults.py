"""Every problem is counted, none hides another."""

from pathlib import PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.submission.faults import Faults, plain_name, shown
from canlegalrag.submission.limits import LIMITS


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 60)), max_size=8))
def test_all_are_counted_and_each_kind_is_shown(kinds: list[tuple[str, int]]) -> None:
    faults = Faults(LIMITS)
    for kind, n in kinds:
        for line in range(n):
            faults.add(f"lines of {kind}", f"run.jsonl:{line + 1}", f"is {kind}")
    found = faults.listed()
    assert faults.count == sum(n for _, n in kinds)
    assert len(found) <= LIMITS.shown
    for kind in dict(kinds):
        named = sum(p.what == f"is {kind}" for p in found)
        more = [p.what for p in found if p.what.endswith(f"more lines of {kind}")]
        total = sum(n for k, n in kinds if k == kind)
        assert named >= 1
        assert more == ([f"{total - named} more lines of {kind}"] if total > named else [])


def test_fatal_ones_come_first_then_file_by_file_and_line_by_line() -> None:
    faults = Faults(LIMITS)
    for line in (10, 9, 2):
        faults.add("a", f"run.jsonl:{line}: x", "")
    faults.add("b", "answers.jsonl:1", "")
    faults.add("c", "run.jsonl", "")
    faults.add("d", "answers.jsonl", "", fatal=True)
    where = [p.where for p in faults.listed()]
    assert where == [
        "answers.jsonl",
        "run.jsonl",
        "run.jsonl:2: x",
        "run.jsonl:9: x",
        "run.jsonl:10: x",
        "answers.jsonl:1",
    ]
    assert faults.fatal


@given(st.text(max_size=300))
def test_names_and_values_are_short_and_on_one_line(text: str) -> None:
    name = plain_name(PurePosixPath(text))
    assert name and name.isprintable() and len(name) <= 80 and "/" not in name and ":" not in name
    assert shown(text).isprintable() and len(shown(text)) <= 80
