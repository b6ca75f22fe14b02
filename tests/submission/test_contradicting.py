"""Verdicts that what stands beside them denies."""

from dataclasses import replace
from typing import Any

import pytest

from canlegalrag import backends, load
from canlegalrag.judging.assessing import Item, assess
from canlegalrag.judging.evidence import evidence_of
from canlegalrag.submission import LIMITS
from canlegalrag.submission.contradicting import MARK, consistent
from canlegalrag.submission.faults import Faults
from canlegalrag.submission.limits import Clock
from canlegalrag.types import Answer, Claim, Judged, Passage, Verdict

SAMPLE = load("sample")
DOCUMENT = "2019-bcsc-90104"
TEXT = SAMPLE.documents[DOCUMENT].text
ANSWER = Answer("b1-q1", "The tenancy ended.", passages=(Passage(DOCUMENT, 0, 100, 300),))
CLAIM = Claim("b1-q1", "answer", 0, "The tenancy ended.")
REFERENCE = Claim("b1-q1", "reference", 0, "She may stay.")


def looked(*verdicts: Verdict, seconds: float = 60) -> tuple[list[Verdict], Faults]:
    judged = Judged("b1-q1", ("groundedness",), (CLAIM,), (REFERENCE,), verdicts, chars=len(ANSWER.text))
    faults = Faults(LIMITS)
    found = consistent(
        {"b1-q1": judged}, {"b1-q1": "verdicts.jsonl:1"}, {"b1-q1": ANSWER}, SAMPLE, faults, Clock(seconds)
    )
    return list(found["b1-q1"].verdicts), faults


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"probability": 0.0}, "with a probability of 0"),
        ({"probability": 0.499}, "with a probability of 0.499"),
        ({"quote": "no judge ever wrote this"}, "by a quote that isn't in the evidence, 'no judge ever wrote this'"),
        ({"quote": "x" * 1_000_000}, "by a quote that isn't in the evidence, 'xxx"),
        ({"quote": TEXT[400:430], "against": f"{DOCUMENT}:100-300"}, "by a quote that isn't in the evidence"),
        ({"quote": TEXT[400:430], "against": "evidence"}, "by a quote that isn't in the evidence"),
        ({"quote": TEXT[:30], "against": f"{DOCUMENT}:{'9' * 5000}-5"}, "by a quote that isn't in the evidence"),
        ({"quote": "She may go.", "against": "reference"}, "by a quote that isn't in the evidence"),
    ],
)
def test_support_that_is_denied_is_unscored_and_named(more: dict[str, Any], why: str) -> None:
    verdict = replace(Verdict(CLAIM, DOCUMENT, "supported", judge="x/judge"), **more)
    (found,), faults = looked(verdict)
    assert found.label is None and found.reason.startswith(f"{MARK}: supported, {why}")
    assert found.judge == "x/judge"
    (problem,) = faults.listed()
    assert problem.where == "verdicts.jsonl:1: verdicts[0]" and problem.what.startswith(f"is `supported`, {why}")
    assert problem.fatal  # means over what is left would flatter


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(CLAIM, DOCUMENT, "supported"),
        Verdict(CLAIM, DOCUMENT, "supported", probability=0.5, quote=TEXT[50:2000]),
        Verdict(CLAIM, f"{DOCUMENT}:100-300", "supported", quote=TEXT[110:290]),
        Verdict(CLAIM, "evidence", "supported", quote=" ".join(TEXT[110:150].upper().split())),
        Verdict(CLAIM, DOCUMENT, "supported", quote=f"{TEXT[:30]} … {TEXT[900:930]}"),
        Verdict(CLAIM, "reference", "supported", quote="She may stay."),
        Verdict(REFERENCE, "answer", "supported", quote="the tenancy ended"),
        Verdict(CLAIM, DOCUMENT, "unsupported", probability=0.9, quote="nowhere"),
        Verdict(CLAIM, DOCUMENT, "contradicted", probability=0.1, quote="nowhere"),
        Verdict(CLAIM, DOCUMENT, None, quote="nowhere"),
    ],
)
def test_what_nothing_denies_stays_as_it_is(verdict: Verdict) -> None:
    found, faults = looked(verdict)
    assert found == [verdict] and faults.count == 0


def test_what_the_stand_in_says_never_contradicts_itself() -> None:
    passages = tuple(Passage(id_, 0, 0, len(document.text)) for id_, document in list(SAMPLE.documents.items())[:3])
    answer = Answer("b1-q1", SAMPLE.answers["b1-q1"].text, passages=passages)
    item = Item(answer, answer.text, SAMPLE.claims["b1-q1"], evidence_of(answer, SAMPLE.documents))
    judge, decomposer = backends.judge("offline/lexical"), backends.decomposer("offline/sentences")
    (judged,) = assess([item], judge, decomposer, ("accuracy", "groundedness", "coverage"))
    assert any(verdict.label == "supported" and verdict.quote for verdict in judged.verdicts)
    faults = Faults(LIMITS)
    found = consistent({"b1-q1": judged}, {"b1-q1": "1"}, {"b1-q1": answer}, SAMPLE, faults, Clock(60))
    assert found == {"b1-q1": judged} and faults.count == 0


def test_when_time_is_up_that_is_said() -> None:
    verdict = Verdict(CLAIM, DOCUMENT, "supported", probability=0.0)
    found, faults = looked(verdict, seconds=0.0)
    assert found == [verdict] and faults.fatal
    assert "nobody looked whether the rest contradicts itself" in faults.listed()[0].what
