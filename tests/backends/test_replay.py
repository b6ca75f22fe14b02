"""Recorded verdicts as a judge: the same again, and nothing where nothing is recorded."""

from dataclasses import replace
from pathlib import Path

import pytest

from canlegalrag import backends
from canlegalrag.errors import InputError
from canlegalrag.protocols import Judge
from canlegalrag.records import judged_line
from canlegalrag.types import Claim, Judged, Task, Verdict


def claim(text: str, index: int = 0, query: str = "q1", side: str = "answer") -> Claim:
    return Claim(query, side, index, text)


PAID, LATE, AGAIN = claim("Rent was paid."), claim("Rent is late.", 1), claim("Rent was paid.", 2)


def record(path: Path, *verdicts: Verdict) -> str:
    judged = Judged("q1", ("accuracy",), (PAID, LATE, AGAIN), None, verdicts)
    other = Claim("q2", "answer", 0, "Rent was paid.")
    second = Judged("q2", ("accuracy",), (other,), None, (Verdict(other, "reference", "contradicted", judge="human"),))
    path.write_text(judged_line(judged) + "\n" + judged_line(second) + "\n", encoding="utf-8")
    return f"replay/{path}"


@pytest.fixture
def file(tmp_path: Path) -> str:
    given = {"reason": "it says so", "quote": "paid", "judge": "inference/model", "prompt": "abc", "cost": 0.5}
    return record(
        tmp_path / "verdicts é.jsonl",
        Verdict(PAID, "reference", "supported", 0.9, **given),
        Verdict(LATE, "reference", None, reason="cut off", judge="inference/model"),
    )


def test_what_was_recorded_is_given_again_and_costs_nothing(file: str) -> None:
    judge = backends.judge(file)
    assert isinstance(judge, Judge)
    tasks = [Task((LATE, PAID), "reference", "whatever"), Task((PAID,), "doc-1", "…"), Task((), "reference", "")]
    first, second, none = judge.judge(tasks)
    assert [v.label for v in first] == [None, "supported"] and none == []
    assert first[0].reason == "cut off"
    assert first[1] == Verdict(PAID, "reference", "supported", 0.9, "it says so", "paid", "inference/model", "abc", 0.0)
    assert (second[0].label, second[0].judge) == (None, file)
    assert second[0].reason == "no verdict is recorded for this claim against 'doc-1'"
    assert judge.counts == {"texts": 3, "truncated": 0, "missing": 1}


def test_the_query_and_the_words_decide_not_the_place(file: str) -> None:
    judge = backends.judge(file)
    elsewhere = Claim("q1", "answer", 7, "Rent was paid.", 3, 9)
    (found,) = judge.judge([Task((elsewhere,), "reference", "")])[0]
    assert (found.label, found.claim) == ("supported", elsewhere)
    # `reference` is another text for another query, so its verdict is another.
    assert judge.judge([Task((claim("Rent was paid.", query="q2"),), "reference", "")])[0][0].label == "contradicted"
    assert judge.judge([Task((claim("Rent was paid.", query="q3"),), "reference", "")])[0][0].label is None
    assert judge.judge([Task((claim("Rent was paid"),), "reference", "")])[0][0].label is None


def test_a_claim_recorded_twice(tmp_path: Path) -> None:
    supported, failed = Verdict(PAID, "reference", "supported"), Verdict(AGAIN, "reference", None, reason="failed")
    for order in ((supported, failed), (replace(failed, claim=PAID), replace(supported, claim=AGAIN))):
        judge = backends.judge(record(tmp_path / "v.jsonl", *order))
        assert judge.judge([Task((PAID,), "reference", "")])[0][0].label == "supported"
    judge = backends.judge(record(tmp_path / "v.jsonl", supported, Verdict(AGAIN, "reference", "unsupported")))
    (found,) = judge.judge([Task((PAID,), "reference", "")])[0]
    assert (found.label, found.reason) == (None, "recorded with two different labels")


def test_the_identity_is_the_content(file: str, tmp_path: Path) -> None:
    before = backends.judge(file).identity
    assert before["model"] == file
    after = record(Path(file.removeprefix("replay/")), Verdict(PAID, "reference", "unsupported"))
    assert backends.judge(after).identity["revision"] != before["revision"]


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no such file \(give the path of a verdicts.jsonl\)"):
        backends.judge(f"replay/{tmp_path}/none.jsonl")
    with pytest.raises(InputError, match="there is no such file"):
        backends.judge(f"replay/{tmp_path}")
    (tmp_path / "bad.jsonl").write_text("{not json\n")
    with pytest.raises(InputError, match=r"bad.jsonl:1"):
        backends.judge(f"replay/{tmp_path}/bad.jsonl")


def test_it_needs_the_file_and_nothing_else(file: str) -> None:
    assert backends.roles("replay") == ["judge"]
    assert backends.needs(file, "judge").note == "reads recorded verdicts"
    assert "there is no file" in backends.needs("replay/none.jsonl", "judge").note
    with pytest.raises(InputError, match="replay has no sorter"):
        backends.sorter(file)


def test_verdicts_on_another_answer_are_none(tmp_path: Path) -> None:
    """Coverage holds the reference's claims against the answer's: another answer covers something else."""
    due = Claim("q1", "reference", 0, "Rent is due.")
    verdicts = (Verdict(due, "answer", "supported"), Verdict(PAID, "reference", "contradicted"))
    judged = Judged("q1", ("accuracy", "coverage"), (PAID, LATE), (due,), verdicts)
    path = tmp_path / "v.jsonl"
    path.write_text(judged_line(judged) + "\n", encoding="utf-8")
    judge = backends.judge(f"replay/{path}")
    same, window, other, reference = judge.judge(
        [
            Task((due,), "answer", "Rent was paid.\nRent is late."),
            Task((due,), "answer", "Rent is late."),
            Task((due,), "answer", "Rent was paid.\nIt rained."),
            Task((PAID,), "reference", "Rent was due."),
        ]
    )
    assert [v[0].label for v in (same, window, other, reference)] == ["supported", "supported", None, None]
    assert other[0].reason == "the verdict that is recorded is on another answer, with other claims"
