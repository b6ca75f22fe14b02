"""Verdicts that contradict themselves: they were edited, or nobody judged; they are named and left unscored."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from canlegalrag.benchmark import Benchmark
from canlegalrag.judging.assessing import as_evidence
from canlegalrag.judging.quotes import quoted
from canlegalrag.submission.faults import Faults, shown
from canlegalrag.submission.limits import Clock
from canlegalrag.types import Answer, Judged, Verdict

__all__ = ["MARK", "consistent"]

MARK = "contradicts itself"
"""What the reason of a verdict begins with that was left unscored for it."""

_HALF = 0.5
_SPAN = re.compile(r"(.*):([0-9]{1,12})-([0-9]{1,12})\Z", re.DOTALL)


def consistent(
    judged: Mapping[str, Judged],
    lines: Mapping[str, str],
    answers: Mapping[str, Answer] | None,
    benchmark: Benchmark,
    faults: Faults,
    clock: Clock,
) -> dict[str, Judged]:
    """Judgements without the labels that what stands beside them denies.

    That is `supported` with a probability of support below a half, or by a quote that isn't in the evidence. Verdicts
    that don't contradict themselves prove nothing by that.

    Args:
        judged: query id -> what was judged.
        lines: query id -> where its line is.
        answers: what was judged; None where the submission has no answers.
        benchmark: has the documents.
        faults: where faults go.
        clock: when to stop.
    """
    found: dict[str, Judged] = {}
    for query, one in judged.items():
        reading = _Reading(one, (answers or {}).get(query), benchmark)
        verdicts = []
        for n, verdict in enumerate(one.verdicts):
            if clock.over:
                what = f"checking took more than {clock.seconds:g} s: nobody looked whether the rest contradicts itself"
                faults.add("out of time", lines[query], what, "send less", fatal=True)
                return found | {q: of for q, of in judged.items() if q not in found}
            if why := reading.denied(verdict):
                where = f"{lines[query]}: verdicts[{n}]"
                fix = "judge it again; a judge that goes by another threshold gives no probability"
                kind = "verdicts that contradict themselves"  # fatal, as means over what is left would flatter
                faults.add(kind, where, f"is `supported`, {why}: unscored", fix, fatal=True)
                verdict = replace(verdict, label=None, reason=f"{MARK}: supported, {why}")
            verdicts.append(verdict)
        found[query] = replace(one, verdicts=tuple(verdicts))
    return found


@dataclass(slots=True)
class _Reading:
    """A judgement beside its evidence."""

    judged: Judged
    """What was judged."""
    answer: Answer | None
    """Of which answer."""
    benchmark: Benchmark
    """Has the documents."""
    texts: dict[str, str] = field(default_factory=dict)
    """Evidence by its name, as far as it was needed."""

    def denied(self, verdict: Verdict) -> str:
        """What denies a verdict of support; empty where nothing does."""
        if verdict.label != "supported":
            return ""
        if verdict.probability is not None and verdict.probability < _HALF:
            return f"with a probability of {verdict.probability:.3g}"
        if verdict.quote and not self._holds(verdict.against, verdict.quote):
            return f"by a quote that isn't in the evidence, {shown(verdict.quote)}"
        return ""

    def _holds(self, name: str, quote: str) -> bool:
        if name not in self.texts:
            self.texts[name] = self._text(name)
        text = self.texts[name]
        if quote in text:
            return True
        return len(quote) <= 2 * len(text) and bool(quoted(quote, text))  # a pattern is no longer than what it is for

    def _text(self, name: str) -> str:
        """Evidence by its name; empty where there is no such piece."""
        if name == "reference":
            return as_evidence(self.judged.reference or ())
        if name == "answer":
            return as_evidence(self.judged.claims or ())
        documents = self.benchmark.documents
        if name == "evidence":
            passages = self.answer.passages if self.answer else ()
            return "\n".join(documents[p.doc_id].text[p.start : p.end] for p in passages)
        if name in documents:
            return documents[name].text
        span = _SPAN.match(name)
        if span is None or span[1] not in documents:
            return ""
        return documents[span[1]].text[int(span[2]) : int(span[3])]
