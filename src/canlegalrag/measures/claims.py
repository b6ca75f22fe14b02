"""Claim measures: are an answer's claims right, do they rest on the evidence, and does it say what it should?

>>> from canlegalrag.types import Claim, Verdict
>>> claim = Claim("q1", "answer", 0, "The landlord must return the deposit.")
>>> other = Claim("q1", "answer", 1, "It bears interest.")
>>> verdicts = (Verdict(claim, "reference", "supported"), Verdict(other, "reference", None, reason="cut off"))
>>> scores = score({"q1": Judged("q1", ("accuracy",), (claim, other), (), verdicts)})
>>> [scores.values[name] for name in ("accuracy", "accuracy_lower", "accuracy_upper", "unscored_rate")]
[1.0, 0.5, 1.0, 0.5]

Pure functions over recorded verdicts (`Judged`): no model is called. What a verdict decides is in `decided`, each
measure in `claim_measures`, those that others publish in `claim_variants`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.measures.claim_measures import MEASURES
from canlegalrag.measures.claim_variants import PUBLISHED
from canlegalrag.measures.decided import PURPOSES, Tallied, Tally, decided, deciding, forgotten, tallied
from canlegalrag.measures.shares import Share, choose, summarise, total
from canlegalrag.types import Judged, Scores

__all__ = [
    "CATEGORIES",
    "MEASURES",
    "PUBLISHED",
    "PURPOSES",
    "Tallied",
    "Tally",
    "asked",
    "decided",
    "deciding",
    "known",
    "per_query",
    "score",
    "tallies",
    "totals",
]


def asked(judged: Iterable[Judged]) -> list[str]:
    """What any of the answers was judged for; everything where there is no answer, as then all of it is 0."""
    named = [set(of.asked) for of in judged]
    return [purpose for purpose in PURPOSES if not named or any(purpose in of for of in named)]


def known(measures: str | Sequence[str] | None, purposes: Collection[str]) -> list[str]:
    """The measures asked for; None for all that the purposes allow.

    Raises:
        InputError: an unknown measure, or one that needs what nobody judged.

    >>> known("f1", ["accuracy"])
    Traceback (most recent call last):
    canlegalrag.errors.InputError: measure 'f1': needs coverage (judge for it, which takes reference answers, \
what the system was given, or both; or leave the measure out)
    """
    fix = "judge for it, which takes reference answers, what the system was given, or both; or leave the measure out"
    return choose(MEASURES, measures, purposes, fix)


def tallies(
    judged: Mapping[str, Judged],
    *,
    queries: Iterable[str] | None = None,
    references: Collection[str] | None = None,
) -> dict[str, Tallied]:
    """Count the labels of every query: what all measures read.

    Args:
        judged: query id to answer with its verdicts; those of no query are left out.
        queries: the queries that count, those without an answer scoring zero; None for those of `judged`.
        references: the queries that have a reference answer; None where all have.

    Returns:
        One a query, in order.

    Raises:
        InputError: a verdict on a claim that isn't there, a label or a category that is not known.
    """
    purposes = asked(judged.values())
    return {
        query: tallied(judged[query])
        if query in judged
        else forgotten(purposes, reference=references is None or query in references)
        for query in (judged if queries is None else queries)
    }


def per_query(
    judged: Mapping[str, Judged],
    measures: str | Sequence[str] | None = None,
    *,
    queries: Iterable[str] | None = None,
    references: Collection[str] | None = None,
) -> dict[str, dict[str, Share]]:
    """Part and whole of every measure for every query: the value is their quotient, undefined where the whole is 0.

    Args:
        judged: as in `tallies`.
        measures: names, as a sequence or with blanks between them; None for all that was judged for.
        queries: as in `tallies`.
        references: as in `tallies`.

    Raises:
        InputError: as `known` and `tallies`.
    """
    wanted = known(measures, asked(judged.values()))
    counted = tallies(judged, queries=queries, references=references)
    return {name: {query: MEASURES[name].function(of) for query, of in counted.items()} for name in wanted}


def score(
    judged: Mapping[str, Judged],
    measures: str | Sequence[str] | None = None,
    *,
    queries: Iterable[str] | None = None,
    references: Collection[str] | None = None,
    blocks: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Scores:
    """Macro mean of every measure over the queries, with its 95 % block-bootstrap interval.

    Args:
        judged: as in `tallies`.
        measures: as in `per_query`.
        queries: as in `tallies`.
        references: as in `tallies`.
        blocks: query id to its block of variations, as in `retrieval.score`.
        resamples: for the intervals.
        seed: of the draws.

    Returns:
        As `retrieval.score`; `retrieval.group` splits it.

    Raises:
        InputError: as `per_query`.
    """
    shares = per_query(judged, measures, queries=queries, references=references)
    return summarise(shares, blocks=blocks, resamples=resamples, seed=seed)


def totals(shares: Mapping[str, Mapping[str, Share]]) -> dict[str, Share]:
    """Micro counts, for the measures that have them: parts and wholes summed, so that each claim weighs the same.

    >>> totals({"accuracy": {"q1": (1, 4), "q2": (3, 4)}, "f1": {"q1": (0.5, 1), "q2": (0.5, 1)}})
    {'accuracy': (4, 8)}
    """
    return total({name: of for name, of in shares.items() if MEASURES[name].pooled})
