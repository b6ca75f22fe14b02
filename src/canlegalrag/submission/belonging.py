"""Whether the parts of a submission belong together: verdicts to answers, answers to the corpus that they cite."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from canlegalrag.benchmark import Benchmark
from canlegalrag.measures.citations import STATUSES, Registry, authorities
from canlegalrag.measures.citations import check as check_citations
from canlegalrag.measures.decided import purpose_of
from canlegalrag.near import Near
from canlegalrag.submission.faults import Faults, shown
from canlegalrag.submission.limits import Clock
from canlegalrag.text import terms
from canlegalrag.types import Answer, Judged, Verdict
from canlegalrag.wording import many

__all__ = ["cited", "to_answers"]

_NOT_EVIDENCE = ("reference", "answer", "evidence")
_SPAN = re.compile(r":[0-9]+-[0-9]+\Z")
_KIND = "judgements of other answers"
_CITED = {
    "name mismatch": "is under another name",
    "not in registry": "is not in the corpus",
    "unresolvable form": "can't be looked up",
}
_LETTERS = 4  # of words that tell texts apart
_WORDS = 5  # that claims must have for their words to tell anything
_SHARE = 0.5  # of them in the answer: claims of the sample have 0.87 in their own text, 0.41 at most in another's


def to_answers(
    judged: Mapping[str, Judged],
    lines: Mapping[str, str],
    answers: Mapping[str, Answer] | None,
    benchmark: Benchmark,
    faults: Faults,
    notes: Faults,
) -> dict[str, Judged]:
    """The judgements of these answers, by this benchmark's reference answers; others are named and left out.

    So is a verdict against what the answer wasn't taken from: what that says may be so, but the answer doesn't rest
    on it.

    Args:
        judged: query id -> what was judged.
        lines: query id -> where its line is.
        answers: what should have been judged; None where the submission has no answers.
        benchmark: has the reference answers and the documents.
        faults: where faults go.
        notes: where goes what is no fault.
    """
    kept, near = {}, Near(benchmark.documents)
    if answers is None and judged:
        _alone(next(iter(lines.values())).partition(":")[0], judged, faults, notes)
    for query, one in judged.items():
        answer = (answers or {}).get(query)
        what = "is of an answer that isn't in the answers" if answers is not None and answer is None else ""
        what = what or (_other_answer(one, answer) if answer else "") or _other_reference(one, benchmark)
        if what:
            faults.add(_KIND, lines[query], f"{what}: left out", "judge these answers on this benchmark")
            continue
        one = _of_something(one, answer, lines[query], faults)
        kept[query] = _of_evidence(one, answer, lines[query], benchmark, near, faults)
    return kept


def _alone(name: str, judged: Mapping[str, Judged], faults: Faults, notes: Faults) -> None:
    """Say what verdicts without answers are worth."""
    what = "come without the answers that were judged: nobody can tell whether they belong together"
    notes.add("verdicts without answers", name, what, "add answers.jsonl")
    if any(_unnamed(verdict) for one in judged.values() for verdict in one.verdicts):
        what = "without the answers nobody can tell what they were taken from: groundedness is unscored"
        faults.add("verdicts without evidence", name, what, "add answers.jsonl, with the passages of each answer")


def _unnamed(verdict: Verdict) -> bool:
    """Whether a verdict needs an answer that names its passages.

    That an answer which was given nothing rests on nothing is all that can be said without any.
    """
    return purpose_of(verdict).endswith("groundedness") and (verdict.against, verdict.label) != (
        "evidence",
        "unsupported",
    )


def _of_something(judged: Judged, answer: Answer | None, where: str, faults: Faults) -> Judged:
    """A judgement without what was held against evidence that nobody names: it is unscored."""
    if answer and answer.passages:
        return judged
    kept = tuple(verdict for verdict in judged.verdicts if not _unnamed(verdict))
    if answer and len(kept) < len(judged.verdicts):
        given = many(len(judged.verdicts) - len(kept), "verdict")
        what = f"{given} for groundedness, and the answer names no passage that it was taken from: unscored"
        fix = 'add "passages": [{"doc_id": …, "start": …, "end": …}] to the answer'
        faults.add("verdicts without evidence", where, what, fix)
    return replace(judged, verdicts=kept)


def _of_evidence(
    judged: Judged, answer: Answer | None, where: str, benchmark: Benchmark, near: Near, faults: Faults
) -> Judged:
    """A judgement without the verdicts against what the answer wasn't taken from, which are named."""
    names = {v.against: _SPAN.sub("", v.against) for v in judged.verdicts if v.against not in _NOT_EVIDENCE}
    given = {passage.doc_id for passage in answer.passages} if answer else set()
    strange = set(names.values()).difference(given or benchmark.documents)
    for name in sorted(strange):
        known = name in benchmark.documents
        which = "which the answer wasn't taken from" if known else "which is not in the corpus"
        fix = "judge by the answer's passages" if known else near(name)
        what = f"verdicts are against document {shown(name)}, {which}: left out"
        faults.add("verdicts against other documents", where, what, fix)
    return replace(judged, verdicts=tuple(v for v in judged.verdicts if names.get(v.against) not in strange))


def _other_answer(judged: Judged, answer: Answer) -> str:
    """What shows that another answer was judged; empty where nothing does."""
    if judged.chars != len(answer.text):
        return f"is of an answer of {judged.chars:,} characters, and this one has {len(answer.text):,}"
    if judged.condition != answer.condition:
        return f"is of the condition {shown(judged.condition)}, the answer of {shown(answer.condition)}"
    if judged.stop != answer.stop:
        return f"is of an answer that ended with {shown(judged.stop)}, and this one with {shown(answer.stop)}"
    for claim in judged.claims or ():
        if claim.end is not None and claim.end > len(answer.text):
            return f"has a claim that ends at {claim.end:,}, and the answer has {len(answer.text):,} characters"
    said = _words(" ".join(claim.text for claim in judged.claims or ()))
    if len(said) >= _WORDS and len(said & _words(answer.text)) < _SHARE * len(said):
        return "has claims most of whose words aren't in the answer"
    return ""


def _words(text: str) -> set[str]:
    return {word for word in terms(text, "legal") if len(word) >= _LETTERS}


def _other_reference(judged: Judged, benchmark: Benchmark) -> str:
    """What shows that it was judged by another reference answer; empty where nothing does."""
    reference = benchmark.answers.get(judged.query_id)
    length = len(reference.text) if reference else None
    if judged.reference_chars is not None and judged.reference_chars != length:
        has = "has none" if length is None else f"has one of {length:,}"
        return f"is by a reference answer of {judged.reference_chars:,} characters, and the benchmark {has}"
    ours = [claim.text for claim in benchmark.claims.get(judged.query_id, ())]
    if ours and judged.reference and [claim.text for claim in judged.reference] != ours:
        what = f"is by {many(len(judged.reference), 'claim')} of the reference answer"
        return f"{what}, not by the benchmark's {len(ours):,}"
    return ""


def cited(
    name: str,
    answers: Mapping[str, Answer],
    lines: Mapping[str, str],
    benchmark: Benchmark,
    notes: Faults,
    clock: Clock,
) -> None:
    """Say what became of each authority that the answers cite: a decision outside the corpus is no fault of form."""
    registry = Registry.build(benchmark.documents)
    counts: Counter[str] = Counter()
    for query, answer in answers.items():
        if clock.over:
            what = f"citations were checked for {clock.seconds:g} s, as far as {shown(query)}"
            notes.add("out of time", name, what)
            break
        for one in authorities(check_citations(answer, registry)):
            counts[one.status] += 1
            if one.status in _CITED:
                what = f"{shown(one.text)} {_CITED[one.status]}: {one.reason:.300}"
                notes.add(f"authorities: {one.status}", lines[query], what)
    if counts:
        said = ", ".join(f"{counts[status]:,} {status}" for status in STATUSES if counts[status])
        notes.add("citations", name, f"authorities cited: {said}")
