"""What is measured of claims: how many are right, grounded, covered, contradicted; and how far that can be trusted.

Each measure gives a part and a whole (`shares`): the value of a query is their quotient, undefined where the whole is
0, so that an answer without claims is never a 0 and never a 1. Claims without a label leave every share but
`unscored_rate` and the bounds: failed is not wrong. A query without any answer scores 0 in what an answer should have
much of (`accuracy`, `groundedness`, `coverage`, `reference_groundedness`, `f1`, and the bounds), where pooled counts
take it for one claim that isn't supported; its contradictions, length and abstention are undefined.
"""

from functools import partial

from canlegalrag.measures.decided import PURPOSES, Tallied
from canlegalrag.measures.shares import Register, Share, enter

__all__ = [
    "MEASURES",
    "abstention_rate",
    "accuracy",
    "answer_chars",
    "claims_per_answer",
    "contradiction_rate",
    "coverage",
    "f1",
    "groundedness",
    "hallucination_lower",
    "hallucination_upper",
    "lower",
    "reference_contradiction_rate",
    "reference_groundedness",
    "unscored_rate",
    "upper",
    "verbosity",
]

MEASURES: Register = {}
"""Every measure of claims by name."""


def _supported(of: Tallied, purpose: str) -> Share:
    """Supported claims and labelled claims; nothing of one where the query was forgotten."""
    if of.forgotten:
        return 0, int(purpose in of.tallies)
    tally = of.tallies.get(purpose)
    return (0, 0) if tally is None else (tally.supported, tally.labelled)


def _contradicted(of: Tallied, purpose: str) -> Share:
    tally = of.tallies.get(purpose)
    return (0, 0) if tally is None else (tally.contradicted, tally.labelled)


@enter(MEASURES, "accuracy", needs=["accuracy"])
def accuracy(of: Tallied) -> Share:
    """Share of the answer's claims that the reference answer entails.

    Formula: supported / labelled claims of the answer, judged against the claims of the reference.
    Range: 0 to 1; undefined where the answer has no claim with a label, or there is no reference.
    Source: CanLegalRAGBench (arXiv 2605.30497), Acc.

    >>> from canlegalrag.measures.decided import Tally
    >>> accuracy(Tallied({"accuracy": Tally(supported=3, contradicted=0, unsupported=1, unscored=2)}))
    (3, 4)
    """
    return _supported(of, "accuracy")


@enter(MEASURES, "groundedness", needs=["groundedness"])
def groundedness(of: Tallied) -> Share:
    """Share of the answer's claims that the evidence given to the system entails.

    Formula: supported / labelled claims of the answer, where a claim is supported if one piece of evidence supports it
    (`decided.deciding`).
    Range: 0 to 1; undefined where the answer has no claim with a label.
    Source: CanLegalRAGBench (arXiv 2605.30497), groundedness as its text defines it; its equation is
    `reference_groundedness`.

    >>> from canlegalrag.measures.decided import Tally
    >>> groundedness(Tallied({"groundedness": Tally(supported=2, contradicted=1, unsupported=1, unscored=0)}))
    (2, 4)
    """
    return _supported(of, "groundedness")


@enter(MEASURES, "coverage", needs=["coverage"])
def coverage(of: Tallied) -> Share:
    """Share of the reference answer's claims that the answer entails.

    Formula: supported / labelled claims of the reference, judged against the claims of the answer.
    Range: 0 to 1; 0 for an answer that declines; undefined where the reference has no claim with a label.
    Source: CanLegalRAGBench (arXiv 2605.30497); claim recall in RAGChecker (arXiv 2408.08067).

    >>> from canlegalrag.measures.decided import Tally
    >>> coverage(Tallied({"coverage": Tally(supported=1, contradicted=0, unsupported=4, unscored=0)}))
    (1, 5)
    """
    return _supported(of, "coverage")


@enter(MEASURES, "reference_groundedness", needs=["reference_groundedness"])
def reference_groundedness(of: Tallied) -> Share:
    """Share of the reference answer's claims that the evidence given to the system entails.

    Formula: supported / labelled claims of the reference, the best over the pieces of evidence. It measures the
    evidence, not the answer: two systems that were given the same evidence score the same.
    Range: 0 to 1; undefined where the reference has no claim with a label.
    Source: CanLegalRAGBench (arXiv 2605.30497), the equation of groundedness as printed, which runs over the claims of
    the reference; context recall elsewhere.

    >>> from canlegalrag.measures.decided import Tally
    >>> reference_groundedness(Tallied({"reference_groundedness": Tally(4, 0, 1, unscored=1)}))
    (4, 5)
    """
    return _supported(of, "reference_groundedness")


@enter(MEASURES, "f1", needs=["accuracy", "coverage"], pooled=False)
def f1(of: Tallied) -> Share:
    """Harmonic mean of accuracy and coverage.

    Formula: 2 A C / (A + C), 0 where both are 0; a whole of 1 carries the value.
    Range: 0 to 1; undefined where accuracy or coverage is, so also for an answer that declines.
    Source: van Rijsbergen 1979; over claims, RAGChecker (arXiv 2408.08067).

    >>> from canlegalrag.measures.decided import Tally
    >>> f1(Tallied({"accuracy": Tally(1, 0, 1, 0), "coverage": Tally(2, 0, 0, 0)}))  # a half and 1
    (0.6666666666666666, 1)
    """
    (right, made), (covered, wanted) = accuracy(of), coverage(of)
    if not made or not wanted:
        return 0, 0
    precise, complete = right / made, covered / wanted
    return (2 * precise * complete / (precise + complete) if right or covered else 0.0), 1


@enter(MEASURES, "contradiction_rate", needs=["groundedness"])
def contradiction_rate(of: Tallied) -> Share:
    """Share of the answer's claims that the evidence given to the system contradicts.

    Formula: contradicted / labelled claims of the answer; a claim that another piece supports isn't contradicted.
    Range: 0 to 1, lower is better; undefined where the answer has no claim with a label.
    Source: this project; the three labels are those of natural language inference.

    >>> from canlegalrag.measures.decided import Tally
    >>> contradiction_rate(Tallied({"groundedness": Tally(supported=2, contradicted=1, unsupported=1, unscored=0)}))
    (1, 4)
    """
    return _contradicted(of, "groundedness")


@enter(MEASURES, "reference_contradiction_rate", needs=["accuracy"])
def reference_contradiction_rate(of: Tallied) -> Share:
    """Share of the answer's claims that the reference answer contradicts.

    Formula: contradicted / labelled claims of the answer, judged against the claims of the reference. Where accuracy
    is low, it tells wrong claims from claims that the reference merely doesn't have.
    Range: 0 to 1, lower is better; undefined where the answer has no claim with a label.
    Source: this project.

    >>> from canlegalrag.measures.decided import Tally
    >>> reference_contradiction_rate(Tallied({"accuracy": Tally(1, contradicted=1, unsupported=2, unscored=3)}))
    (1, 4)
    """
    return _contradicted(of, "accuracy")


@enter(MEASURES, "hallucination_lower", needs=["groundedness"])
def hallucination_lower(of: Tallied) -> Share:
    """Share of the answer's claims that are certainly hallucinated: contradicted, or unsupported and wrong in kind.

    Formula: (contradicted + unsupported of a category that is wrong) / labelled claims of the answer, against the
    evidence. Unsupported claims that nobody sorted don't count, so that without a sorting it is `contradiction_rate`.
    Range: 0 to 1, lower is better; undefined where the answer has no claim with a label.
    Source: the categories of CanLegalRAGBench (arXiv 2605.30497), see `categories.CATEGORIES`.

    >>> from canlegalrag.measures.decided import Tally
    >>> hallucination_lower(Tallied({"groundedness": Tally(1, contradicted=1, unsupported=3, unscored=0, wrong=2)}))
    (3, 5)
    """
    tally = of.tallies.get("groundedness")
    return (0, 0) if tally is None else (tally.contradicted + tally.wrong, tally.labelled)


@enter(MEASURES, "hallucination_upper", needs=["groundedness"])
def hallucination_upper(of: Tallied) -> Share:
    """Share of the answer's claims that may be hallucinated: all that the evidence doesn't support.

    Formula: (contradicted + unsupported) / labelled claims of the answer, which is 1 - groundedness. With
    `hallucination_lower` it encloses what unsupported claims that only restate, connect or sum up leave open; what the
    judge's failures leave open is said by the bounds of groundedness.
    Range: 0 to 1, lower is better; undefined where the answer has no claim with a label.
    Source: CanLegalRAGBench (arXiv 2605.30497).

    >>> from canlegalrag.measures.decided import Tally
    >>> hallucination_upper(Tallied({"groundedness": Tally(1, contradicted=1, unsupported=3, unscored=0, wrong=2)}))
    (4, 5)
    """
    tally = of.tallies.get("groundedness")
    return (0, 0) if tally is None else (tally.contradicted + tally.unsupported, tally.labelled)


@enter(MEASURES, "abstention_rate")
def abstention_rate(of: Tallied) -> Share:
    """Share of the answers that decline to answer.

    Formula: answers that are a refusal, empty, or only say that they can't / answers. Such an answer has no claims, so
    that its accuracy and groundedness are undefined, and its coverage is 0.
    Range: 0 to 1; undefined for a query without any answer, which is forgotten, not declined.
    Source: 1 - the respond ratio of FActScore (arXiv 2305.14251).

    >>> abstention_rate(Tallied({}, abstained=True))
    (1, 1)
    """
    return int(of.abstained), int(not of.forgotten)


@enter(MEASURES, "unscored_rate")
def unscored_rate(of: Tallied) -> Share:
    """Share of what was asked of the judge that has no label: how far the other measures can be trusted.

    Formula: claims without a label / claims, summed over what the answer was judged for. Where a text could not be
    taken apart, what needs its claims counts as one claim without a label.
    Range: 0 to 1, lower is better; undefined where there was nothing to judge.
    Source: this project.

    >>> from canlegalrag.measures.decided import Tally
    >>> unscored_rate(Tallied({"accuracy": Tally(3, 0, 0, unscored=1), "groundedness": Tally(4, 0, 0, unscored=0)}))
    (1, 8)
    >>> unscored_rate(Tallied({"accuracy": None, "groundedness": None}))
    (2, 2)
    """
    if of.forgotten:
        return 0, 0
    known = [tally for tally in of.tallies.values() if tally is not None]
    failed = len(of.tallies) - len(known)
    return sum(tally.unscored for tally in known) + failed, sum(tally.claims for tally in known) + failed


@enter(MEASURES, "claims_per_answer", count=True, pooled=False)
def claims_per_answer(of: Tallied) -> Share:
    """Number of claims of the answer.

    Formula: claims. Range: 0 upwards; undefined where the answer could not be taken apart, or there is none.
    Source: facts per response in FActScore (arXiv 2305.14251), which leaves answers without facts out; here they are 0.

    >>> claims_per_answer(Tallied({}, claims=7))
    (7, 1)
    """
    return (0, 0) if of.claims is None else (of.claims, 1)


@enter(MEASURES, "answer_chars", count=True, pooled=False)
def answer_chars(of: Tallied) -> Share:
    """Number of characters of the answer.

    Formula: Unicode code points. Range: 0 upwards; undefined where there is no answer. Source: this project.

    >>> answer_chars(Tallied({}, chars=1200))
    (1200, 1)
    """
    return (0, 0) if of.chars is None else (of.chars, 1)


@enter(MEASURES, "verbosity")
def verbosity(of: Tallied) -> Share:
    """Length of the answer against that of the reference answer.

    Formula: characters of the answer / characters of the reference. Long answers cover more and are less accurate, so
    that systems are best compared at like verbosity.
    Range: 0 upwards, 1 is as long as the reference; undefined without an answer or a reference.
    Source: this project.

    >>> verbosity(Tallied({}, chars=1200, reference_chars=400))
    (1200, 400)
    """
    # Nothing of nothing where one is missing: its characters must not enter the micro mean.
    return (0, 0) if of.chars is None or not of.reference_chars else (of.chars, of.reference_chars)


def lower(of: Tallied, purpose: str) -> Share:
    """The share supported if every claim without a label were not supported: `accuracy_lower` and its like.

    Formula: supported / claims, with a label or without; 0 where the text could not be taken apart.
    Range: 0 to 1, never above the measure itself; undefined where there are no claims.
    Source: worst-case bounds for missing values (Manski 1989).

    >>> from canlegalrag.measures.decided import Tally
    >>> lower(Tallied({"accuracy": Tally(supported=3, contradicted=0, unsupported=1, unscored=2)}), "accuracy")
    (3, 6)
    """
    return _bound(of, purpose, optimistic=False)


def upper(of: Tallied, purpose: str) -> Share:
    """The share supported if every claim without a label were supported: `accuracy_upper` and its like.

    Formula: (supported + without a label) / claims; 1 where the text could not be taken apart.
    Range: 0 to 1, never below the measure itself; undefined where there are no claims.
    Source: worst-case bounds for missing values (Manski 1989).

    >>> from canlegalrag.measures.decided import Tally
    >>> upper(Tallied({"accuracy": Tally(supported=3, contradicted=0, unsupported=1, unscored=2)}), "accuracy")
    (5, 6)
    """
    return _bound(of, purpose, optimistic=True)


def _bound(of: Tallied, purpose: str, *, optimistic: bool) -> Share:
    if of.forgotten or purpose not in of.tallies:
        return _supported(of, purpose)
    tally = of.tallies[purpose]
    if tally is None:
        return int(optimistic), 1
    return tally.supported + optimistic * tally.unscored, tally.claims


for _purpose in PURPOSES:
    enter(MEASURES, f"{_purpose}_lower", needs=[_purpose])(partial(lower, purpose=_purpose))
    enter(MEASURES, f"{_purpose}_upper", needs=[_purpose])(partial(upper, purpose=_purpose))
