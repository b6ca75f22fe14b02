"""What a reader of a submission's scores of claims must know: whose verdicts they are, and what they count."""

from collections.abc import Iterator, Mapping
from typing import Any

from canlegalrag.benchmark import Benchmark
from canlegalrag.submission.claims import judges_of
from canlegalrag.submission.contradicting import MARK
from canlegalrag.submission.entering import Checked
from canlegalrag.submission.faults import shown
from canlegalrag.wording import many

__all__ = ["of_claims"]

_NAMED = 5  # judges and queries, one by one


def of_claims(checked: Checked, payload: Mapping[str, Any] | None, benchmark: Benchmark) -> Iterator[str]:
    """Notes on the scores of claims.

    Args:
        checked: the submission.
        payload: what `score_verdicts` gave of its claims; None where nothing of them could be scored.
        benchmark: what it answers.
    """
    if checked.judged is not None:
        yield from _of_verdicts(checked, benchmark)
    if payload is not None:
        yield from _of_counts(payload["measures"])


def _of_verdicts(checked: Checked, benchmark: Benchmark) -> Iterator[str]:
    judged = checked.judged or {}
    if not judged:
        yield "No line of the verdicts can be used: claims aren't scored."
        return
    judges = list(judges_of(judged))
    named = ", ".join(name if name.isprintable() and len(name) <= 80 else shown(name) for name in judges[:_NAMED])
    more = f" and {len(judges) - _NAMED:,} more" if len(judges) > _NAMED else ""
    yield (
        f"Claims are judged by {named or 'nobody who is named'}{more}. These verdicts came with the submission: nobody "
        "here saw them made."
    )
    for name in judges:
        if name.startswith("offline/"):
            yield (
                f"{shown(name)} is a stand-in for a judge: its figures show that the path works, not how good an "
                "answer is. To compare systems, judge with a model."
            )
    denied = sum(v.label is None and v.reason.startswith(MARK) for of in judged.values() for v in of.verdicts)
    if denied:
        label = f"{many(denied, 'verdict')} `supported` that what stands beside them denies"
        yield (
            f"Unscored: {label}. So the means are over the other claims, and say nothing; the lower bounds count these "
            "as not supported."
        )
    without = [query for query in benchmark.queries if query in (checked.answers or {}) and query not in judged]
    if without:
        some = ", ".join(without[:_NAMED]) + (" …" if len(without) > _NAMED else "")
        yield (
            f"{len(without):,} of {many(len(checked.answers or {}), 'answer')} without verdicts that count ({some}): "
            "each is zero in measures of claims, as if forgotten, so that nobody picks which answers are judged."
        )


def _of_counts(measures: Mapping[str, Any]) -> Iterator[str]:
    """Measures that seem to add up to 1 and are over different queries."""
    grounded, denied = measures.get("groundedness"), measures.get("hallucination_upper")
    if grounded and denied and denied["n"] and grounded["n"] != denied["n"]:
        yield (
            f"groundedness is over {many(grounded['n'], 'query')}, those without a judged answer as zero; "
            f"hallucination and contradiction are over the {denied['n']:,} with claims that have a verdict: the two "
            "don't add up to 1."
        )
