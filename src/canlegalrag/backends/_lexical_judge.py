"""A judge without a model, for the first run and for tests: words, numbers, negation, modals, citations, parties."""

from collections.abc import Mapping, Sequence
from typing import Any

from canlegalrag.backends._checks import texts_of
from canlegalrag.backends._counts import Counts
from canlegalrag.backends._lexical import index
from canlegalrag.backends._lexical_reading import read
from canlegalrag.types import Claim, Task, Verdict

__all__ = ["Lexical"]

_NAME = "offline/lexical"


class Lexical:
    """Labels a claim by the sentence of the evidence that shares most with it. A stand-in: it doesn't understand.

    `supported`: it stands there word for word; or one or two neighbouring sentences have two of its words of
    content and a quarter of them at least, up to half the more sentences there are (inflection, accents and some
    synonyms aside), and their
    numbers, dates, amounts, sections, negations, modals (must, may), quantifiers, citations and parties agree.
    `contradicted`: they have as many, and a number of the same unit, the negation, the modal or the parties disagree.
    `unsupported`: anything else. So it takes for supported what only sounds alike, and misses most free paraphrases
    and every inference. The probability grows with the share of words and reaches a half only where it says
    `supported`: an order, no calibrated chance.
    """

    def __init__(self) -> None:
        self._counts = Counts("texts", "truncated")

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its verdicts depend on."""
        return {"model": _NAME, "revision": "2", "window": None}

    @property
    def counts(self) -> Mapping[str, int]:
        """Claims so far; nothing is ever truncated."""
        return self._counts.now()

    def judge(self, tasks: Sequence[Task]) -> list[list[Verdict]]:
        """Judge each task; tasks with the same evidence are best given one after the other."""
        for task in tasks:
            texts_of(_NAME, [task.evidence, *(claim.text for claim in task.claims)])
        self._counts.add(texts=sum(len(task.claims) for task in tasks))
        return [[_verdict(claim, task) for claim in task.claims] for task in tasks]


def _verdict(claim: Claim, task: Task) -> Verdict:
    reading = read(claim.text)
    if not (reading.stems or reading.numbers or reading.citations):
        reason = "the claim has no word that could be compared"
        return Verdict(claim, task.against, None, reason=reason, judge=_NAME)
    if not task.evidence.strip():  # nothing found, or a text lost: not for a judge to say, as chat judges don't
        return Verdict(claim, task.against, None, reason="the evidence is blank", judge=_NAME)
    evidence = index(task.evidence)
    stands = evidence.verbatim(claim.text)
    if stands:
        quote = task.evidence[stands[0] : stands[1]]
        return Verdict(claim, task.against, "supported", 1.0, "it stands there word for word", quote, _NAME)
    found = evidence.decide(reading, task.against)
    if found is None:
        reason = "no word of it is in the evidence"
        return Verdict(claim, task.against, "unsupported", 0.0, reason=reason, judge=_NAME)
    quote = task.evidence[found.start : found.end]
    return Verdict(claim, task.against, found.label, round(found.score, 6), found.reason, quote, _NAME)
