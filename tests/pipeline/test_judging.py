"""Judging and explaining as stages: what is asked, what is refused, what a kill leaves."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from canlegalrag import pipeline
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import CallError, InputError
from canlegalrag.judging.evidence import evidence_of
from canlegalrag.judging.sentences import Sentences
from canlegalrag.pipeline.explaining import failures
from canlegalrag.records import categorised, read_categories, read_verdicts
from canlegalrag.types import Answer, Claim, Document, Failure, Passage, Query, Task, Verdict

TEXT = "The deposit is due in ten days. Notice is one month. The weather was fine."
DOCUMENTS = {d.id: d for d in (Document("a", "Doe v. Roe", TEXT), Document("answer", "Odd", "It is due."))}
QUERIES = {f"q{n}": Query(f"q{n}", f"Is deposit {n} due?") for n in range(1, 5)}
REFERENCES = {q: Answer(q, "The deposit is due in ten days.") for q in ("q1", "q2")}
CLAIMS = {"q1": (Claim("q1", "reference", 0, "The deposit is due.", 0, 31),)}
SMALL = Benchmark("small", DOCUMENTS, QUERIES, {"q1": {"a": 1}}, REFERENCES, claims=CLAIMS)
WHOLE = Passage("a", 0, 0, len(TEXT))
ANSWERS = {
    "q1": Answer("q1", "The deposit is due in ten days. The moon is green.", passages=(WHOLE,), condition="oracle"),
    "q2": Answer("q2", "Notice is one month.", passages=(Passage("a", 0, 0, 31), Passage("a", 1, 32, 52))),
    "q3": Answer("q3", "It is due."),
}


@dataclass
class Contains:
    """Supports a claim that stands in the evidence word for word, and counts what it was asked."""

    asked: int = 0
    fails: bool = False

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": "test/contains"}

    @property
    def counts(self) -> Mapping[str, int]:
        return {"tasks": self.asked}

    def judge(self, tasks: Sequence[Task]) -> list[list[Verdict]]:
        if self.fails:
            raise CallError("test/contains", "status 500")
        self.asked += len(tasks)
        return [[self._verdict(claim, task) for claim in task.claims] for task in tasks]

    def _verdict(self, claim: Claim, task: Task) -> Verdict:
        found = claim.text.rstrip(".") in task.evidence
        return Verdict(claim, task.against, "supported" if found else "unsupported", judge="test/contains", cost=0.25)


@dataclass
class Counting:
    """Sorts every failure as unrelated, and keeps them."""

    seen: list[Failure]
    category: str = "unrelated"

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": "test/counting"}

    @property
    def counts(self) -> Mapping[str, int]:
        return {"failures": len(self.seen)}

    def sort(self, failures: Sequence[Failure]) -> list[tuple[str, str]]:
        self.seen += failures
        return [(self.category, "because")] * len(failures)


def judge(out: Path, answers: Mapping[str, Answer] = ANSWERS, **given: Any) -> Any:
    return pipeline.judge(SMALL, answers, given.pop("judge", Contains()), Sentences(), out, **given)


def labels(judged: Any, side: str = "answer") -> list[tuple[int, str, str | None]]:
    return [(v.claim.index, v.against, v.label) for v in judged.verdicts if v.claim.side == side]


def test_answers_are_judged_for_what_is_asked(tmp_path: Path) -> None:
    out, steps = tmp_path / "v.jsonl", list[int]()
    meta, problems = judge(out, progress=steps.append, made={"model": {"model": "x/y"}, "condition": "oracle"})
    judged = read_verdicts(out)
    assert list(judged) == ["q1", "q2", "q3"]
    assert labels(judged["q1"]) == [
        (0, "reference", "unsupported"),  # the reference's claim says less
        (1, "reference", "unsupported"),
        (0, "a", "supported"),
        (1, "a", "unsupported"),
    ]
    assert labels(judged["q1"], "reference") == [(0, "answer", "supported")]
    assert judged["q1"].reference == CLAIMS["q1"] and judged["q1"].condition == "oracle"
    assert [c.text for c in judged["q2"].reference or ()] == ["The deposit is due in ten days."]  # taken apart here
    assert labels(judged["q2"])[1:] == [(0, "a:0-31", "unsupported"), (0, "a:32-52", "supported")]
    assert judged["q3"].asked == ("accuracy", "coverage") and not judged["q3"].verdicts
    assert [str(p) for p in problems] == [
        "answer to 'q3': names no passages, so that groundedness can't be judged "
        '(add "passages": [{"doc_id": …, "start": …, "end": …}])'
    ]
    assert meta["missing"] == ["q4"] and meta["labels"] == {"unsupported": 6, "supported": 3}
    assert meta["answered_by"] == {
        "model": {"model": "x/y"}, "prompt": None, "condition": "oracle", "recipe": None, "k": None,
    }  # fmt: skip
    assert steps == [3] and pipeline.read_meta(out) == meta


def test_unknown_queries_are_named_and_nothing_to_judge_is_refused(tmp_path: Path) -> None:
    _, problems = judge(tmp_path / "v.jsonl", {**ANSWERS, "Q1": Answer("Q1", "Yes.")}, measures=["accuracy"])
    assert [str(p) for p in problems] == [
        "answer to 'Q1': is to no query of small, and isn't judged (differs from 'q1' by case or normal form only)"
    ]
    with pytest.raises(InputError, match="answers: none is to a query of small"):
        judge(tmp_path / "w.jsonl", {"z": Answer("z", "Yes.")})
    with pytest.raises(InputError, match="measure 'precision': is not judged"):
        judge(tmp_path / "w.jsonl", measures=["precision"])
    with pytest.raises(InputError, match="measures: none is named"):
        judge(tmp_path / "w.jsonl", measures=[])
    with pytest.raises(InputError, match="answer to 'q1': document 'b' is not in the corpus"):
        judge(tmp_path / "w.jsonl", {"q1": Answer("q1", "Yes.", passages=(Passage("b", 0, 0, 1),))})
    assert not (tmp_path / "w.jsonl").exists() or not (tmp_path / "w.jsonl").read_bytes()


def test_evidence_has_names_of_its_own() -> None:
    """A document that is called `answer` isn't the answer; what is given twice is judged once."""
    passages = (
        Passage("answer", 0, 0, 10),
        WHOLE,
        Passage("a", 1, 0, 31),
        Passage("a", 2, 0, 31),
        Passage("a", 3, 5, 5),
    )
    found = evidence_of(Answer("q1", "x", passages=passages), DOCUMENTS)
    assert found == (("answer:0-10", "It is due."), ("a", TEXT), ("a:0-31", TEXT[:31]))
    assert evidence_of(Answer("q1", "x"), DOCUMENTS) is None
    assert evidence_of(Answer("q1", "x", usage={"context": {}}), DOCUMENTS) == ()
    with pytest.raises(InputError, match="passage 0:99 is outside the 74 characters of a"):
        evidence_of(Answer("q1", "x", passages=(Passage("a", 0, 0, 99),)), DOCUMENTS)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"measures": ["accuracy"]}, "was made with measures"),
        ({"window": 5000}, "was made with window 12000, not 5000"),
        ({"answers": {"q1": ANSWERS["q1"]}}, "was made with answers"),
    ],
)
def test_what_differs_is_not_mixed_in(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    judge(tmp_path / "v.jsonl")
    with pytest.raises(InputError, match=said):
        judge(tmp_path / "v.jsonl", **changes)


def test_it_goes_on_and_asks_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds and costs of the answers may differ, they change no verdict."""
    monkeypatch.setattr("canlegalrag.pipeline._output.BATCH", 1)
    out, one = tmp_path / "v.jsonl", Contains()
    judge(out, judge=one)
    whole, first = out.read_bytes(), one.asked
    again = {q: replace(a, usage={**a.usage, "seconds": 3}) for q, a in ANSWERS.items()}
    meta, _ = judge(out, again, judge=one)
    assert out.read_bytes() == whole and one.asked == first and meta["counts"]["judge"] == {"tasks": first}
    out.write_bytes(whole[:-9])
    judge(out, judge=one)
    assert out.read_bytes() == whole


@pytest.mark.parametrize("stage", ["judge", "explain"])
def test_what_was_changed_by_hand_is_not_gone_on_with(stage: str, tmp_path: Path) -> None:
    """The record would vouch for it. Lines that were deleted are made again; lines that a kill left are ours."""
    verdicts, out = tmp_path / "verdicts.jsonl", tmp_path / f"{stage}.jsonl"
    judge(verdicts)
    judged = read_verdicts(verdicts)

    def run() -> None:
        if stage == "judge":
            judge(out)
        else:
            pipeline.explain(SMALL, judged, Counting([]), out)

    run()
    whole, meta = out.read_bytes(), pipeline.meta_path(out)
    record = meta.read_text(encoding="utf-8")
    out.write_bytes(whole.replace(b'"unsupported"', b'"supported"').replace(b'"unrelated"', b'"fact"'))
    with pytest.raises(InputError, match=f"{stage}.jsonl: was changed since it was made"):
        run()
    out.write_bytes(whole[: whole.rindex(b"{", 0, 200) if stage == "judge" else 0])
    run()
    assert out.read_bytes() == whole
    first = whole.index(b"\n") + 1  # a kill after the last lines, before their record
    old = json.loads(record) | {"sha256": hashlib.sha256(whole[:first]).hexdigest(), "lines": 1}
    meta.write_text(json.dumps(old), encoding="utf-8")
    run()
    assert out.read_bytes() == whole and pipeline.read_meta(out)["lines"] == whole.count(b"\n")


def test_the_order_and_the_repeats_of_measures_do_not_matter(tmp_path: Path) -> None:
    judge(tmp_path / "v.jsonl", measures=["coverage", "accuracy", "coverage"])
    meta, _ = judge(tmp_path / "v.jsonl", measures=["accuracy", "coverage"])
    assert meta["measures"] == ["accuracy", "coverage"]


def test_what_an_answer_was_taken_from_is_part_of_it(tmp_path: Path) -> None:
    """Nothing given (by a stage of ours) and nobody says what was given: the same line but for its usage."""
    bare = Answer("q1", "It is due.")
    judge(tmp_path / "v.jsonl", {"q1": bare})
    with pytest.raises(InputError, match="was made with answers"):
        judge(tmp_path / "v.jsonl", {"q1": replace(bare, usage={"context": {}})})


def test_without_reference_answers_only_groundedness_is_judged(tmp_path: Path) -> None:
    """Else the queries that were forgotten would score zero for what no answer can have."""
    benchmark = replace(SMALL, answers={}, claims={})
    everything = ["accuracy", "groundedness", "coverage"]
    meta, problems = pipeline.judge(
        benchmark, ANSWERS, Contains(), Sentences(), tmp_path / "v.jsonl", measures=everything
    )
    assert meta["measures"] == ["groundedness"]
    assert str(problems[0]).startswith("small: has no reference answers, so that accuracy and coverage can't be judged")
    judged = read_verdicts(tmp_path / "v.jsonl")
    assert [of.asked for of in judged.values()] == [("groundedness",), ("groundedness",), ()]
    with pytest.raises(InputError, match="small has no reference answers, which accuracy need"):
        pipeline.judge(benchmark, ANSWERS, Contains(), Sentences(), tmp_path / "w.jsonl", measures=["accuracy"])


def test_a_fault_that_many_answers_share_is_told_once(tmp_path: Path) -> None:
    bare = {q: Answer(q, "It is due.") for q in (*QUERIES, *(f"x{n}" for n in range(9)))}
    _, problems = judge(tmp_path / "v.jsonl", bare)
    said = [str(problem) for problem in problems]
    assert len(said) == 5
    assert said[3].startswith("answers: 6 more are to no query of small")
    assert said[4].startswith("answers: 4 name no passages (q1, q2, q3 …), so that their groundedness can't be judged")


def test_what_was_not_judged_for_groundedness_has_nothing_to_explain(tmp_path: Path) -> None:
    judge(tmp_path / "v.jsonl", measures=["accuracy"])
    with pytest.raises(InputError, match="verdicts: were not judged for groundedness"):
        pipeline.explain(SMALL, read_verdicts(tmp_path / "v.jsonl"), Counting([]), tmp_path / "c.jsonl")
    assert not (tmp_path / "c.jsonl").exists()


def test_a_judge_that_fails_for_good_leaves_what_was_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canlegalrag.pipeline._output.BATCH", 1)
    out = tmp_path / "v.jsonl"

    class Later(Contains):
        def judge(self, tasks: Sequence[Task]) -> list[list[Verdict]]:
            self.fails = any(task.claims[0].query_id == "q2" for task in tasks)
            return super().judge(tasks)

    with pytest.raises(CallError, match="status 500"):
        judge(out, judge=Later())
    assert list(read_verdicts(out)) == ["q1"] and pipeline.read_meta(out)["labels"]
    judge(out)
    judge(tmp_path / "whole.jsonl")
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


CODE = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import test_judging as t
from canlegalrag import pipeline
pipeline._output.BATCH = 2
pipeline.judge(t.many()[0], t.many()[1], t.Contains(), t.Sentences(), Path(sys.argv[1]),
               progress=lambda n: time.sleep(0.2))
"""


def many() -> tuple[Benchmark, dict[str, Answer]]:
    queries = {f"q{n}": Query(f"q{n}", "Is it due?") for n in range(60)}
    answers = {q: Answer(q, f"Notice is one month. Rent {q} is due.", passages=(WHOLE,)) for q in queries}
    return Benchmark("many", DOCUMENTS, queries, {}), answers


def test_a_killed_stage_goes_on(tmp_path: Path) -> None:
    out, (benchmark, answers) = tmp_path / "v.jsonl", many()
    process = subprocess.Popen([sys.executable, "-c", CODE, str(out), str(Path(__file__).parent)])
    until = time.monotonic() + 60
    while time.monotonic() < until and (not out.exists() or out.stat().st_size < 3000):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    killed = out.read_bytes()
    for path in (out, tmp_path / "whole.jsonl"):
        pipeline.judge(benchmark, answers, Contains(), Sentences(), path)
    assert 0 < len(killed) < out.stat().st_size
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_what_fails_is_explained_with_what_is_nearest(tmp_path: Path) -> None:
    judge(tmp_path / "v.jsonl")
    judged = read_verdicts(tmp_path / "v.jsonl")
    sorter, out = Counting([]), tmp_path / "categories.jsonl"
    meta = pipeline.explain(SMALL, judged, sorter, out)
    (failure,) = sorter.seen  # q1's moon; q2's claim is supported by its second passage
    assert (failure.verdict.claim.text, failure.question) == ("The moon is green.", "Is deposit 1 due?")
    assert failure.evidence in TEXT and failure.evidence.startswith("The")
    assert json.loads(out.read_text()) == {
        "query_id": "q1", "index": 1, "category": "unrelated", "reason": "because", "judge": "test/counting",
        "claim": "The moon is green.",
    }  # fmt: skip
    assert meta["categories"] == {"unrelated": 1} and pipeline.read_meta(out) == meta
    after = categorised(judged, read_categories(out))
    assert [v.category for v in after["q1"].verdicts] == ["", "", "", "unrelated", ""]
    pipeline.explain(SMALL, judged, sorter, out)
    assert len(sorter.seen) == 1
    with pytest.raises(InputError, match="was made with verdicts"):
        pipeline.explain(SMALL, {"q1": judged["q1"]}, sorter, out)
    with pytest.raises(CallError, match="category 'odd' is not known"):
        pipeline.explain(SMALL, judged, Counting([], "odd"), tmp_path / "other.jsonl")
    with pytest.raises(InputError, match="verdicts: none is about a query of small"):
        pipeline.explain(SMALL, {"z": judged["q1"]}, sorter, tmp_path / "z.jsonl")


def test_the_quote_of_the_judge_goes_before_the_nearest_sentence(tmp_path: Path) -> None:
    judge(tmp_path / "v.jsonl")
    judged = read_verdicts(tmp_path / "v.jsonl")["q1"]
    claim = (judged.claims or ())[1]
    for verdicts, evidence in (
        ((Verdict(claim, "a", "contradicted", quote="The weather was fine."),), "The weather was fine."),
        ((Verdict(claim, "a", "unsupported"), Verdict(claim, "z:0-9", "unsupported", quote="Said.")), "Said."),
        ((Verdict(claim, "z:0-9", "unsupported"), Verdict(claim, "evidence", "unsupported")), ""),
        ((Verdict(replace(claim, text="one month of notice"), "a:32-74", "unsupported"),), "Notice is one month."),
    ):
        claims = (judged.claims or ())[:1] + (verdicts[0].claim,)
        (found,) = failures(SMALL, replace(judged, claims=claims, verdicts=verdicts))
        assert found.evidence == evidence
    assert failures(SMALL, replace(judged, verdicts=(Verdict(claim, "a", None),))) == []
    assert failures(SMALL, replace(judged, asked=("accuracy",))) == []
    assert failures(SMALL, replace(judged, claims=None, verdicts=())) == []
