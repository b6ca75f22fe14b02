"""Measures of claims as others publish them, under their own names, so that their numbers can be compared.

They read the same verdicts as ours do. What verdicts can't give (others' prompts; whole texts as evidence, where ours
is taken apart into claims or pieces) stays different. A query without any answer scores 0 in all of them, which the
published codes leave out or refuse.
"""

from math import exp

import numpy as np

from canlegalrag.measures.claim_measures import MEASURES, groundedness
from canlegalrag.measures.decided import Tallied, Tally
from canlegalrag.measures.shares import Share, enter

__all__ = [
    "PUBLISHED",
    "factscore",
    "factscore_unpenalised",
    "ragas_factual_f1",
    "ragas_factual_precision",
    "ragas_factual_recall",
    "ragas_faithfulness",
]

PUBLISHED = {
    "ragas_factual_precision": "ragas",
    "ragas_factual_recall": "ragas",
    "ragas_factual_f1": "ragas",
    "ragas_faithfulness": "ragas",
    "factscore": "factscore",
    "factscore_unpenalised": "factscore",
}
"""Measure -> whose definition it follows."""

_GAMMA = 10
"""Facts that an answer must have to escape FActScore's penalty: the default of its package."""


@enter(MEASURES, "ragas_factual_precision", needs=["accuracy"], pooled=False)
def ragas_factual_precision(of: Tallied) -> Share:
    """Factual correctness of ragas in its mode `precision`: accuracy, rounded to two decimals.

    Formula: TP / (TP + FP + 1e-8), rounded, with TP and FP the answer's claims that the reference does and doesn't
    entail. It parts from `accuracy` by the rounding, and by being 0, not undefined, for an answer without claims
    (one that declines has none here). Claims without a label are left out, as ragas counts what its model returned.
    Range: 0 to 1; undefined where the answer could not be taken apart or no claim of it has a label (ragas raises).
    Source: ragas 0.4.3, `FactualCorrectness`.

    >>> ragas_factual_precision(Tallied({"accuracy": Tally(supported=2, contradicted=0, unsupported=1, unscored=0)}))
    (0.67, 1)
    """
    if of.forgotten:
        return 0, int("accuracy" in of.tallies)
    made = of.tallies.get("accuracy")
    if made is None or _failed(made):
        return 0, 0
    return _rounded(made.supported / (made.labelled + 1e-8))


@enter(MEASURES, "ragas_factual_recall", needs=["accuracy", "coverage"], pooled=False)
def ragas_factual_recall(of: Tallied) -> Share:
    """Factual correctness of ragas in its mode `recall`, which mixes claims of the answer with those of the reference.

    Formula: TP / (TP + FN + 1e-8), rounded to two decimals, with TP the *answer's* claims that the reference entails
    and FN the *reference's* claims that the answer doesn't entail. `coverage` counts claims of the reference in both
    places; here an answer that says one thing in more claims has a higher recall.
    Range: 0 to 1; 0 for an answer without claims; undefined where either text could not be taken apart or has claims
    and no label. Claims without a label are left out.
    Source: ragas 0.4.3, `FactualCorrectness`.

    >>> ragas_factual_recall(Tallied({"accuracy": Tally(2, 0, 1, 0), "coverage": Tally(1, 0, 1, 0)}))
    (0.67, 1)
    """
    counts = _mixed(of)
    if counts is None:
        return _nothing(of)
    tp, _, fn = counts
    return _rounded(tp / (tp + fn + 1e-8))


@enter(MEASURES, "ragas_factual_f1", needs=["accuracy", "coverage"], pooled=False)
def ragas_factual_f1(of: Tallied) -> Share:
    """Factual correctness of ragas in its mode `f1`, the default there.

    Formula: 2 P R / (P + R) with P = TP / (TP + FP) and R = TP / (TP + FN), which is 2 TP / (2 TP + FP + FN), 0 where
    TP is 0, rounded to two decimals; TP, FP, FN as in `ragas_factual_precision` and `ragas_factual_recall`. `f1` is
    that of accuracy and coverage, each over claims of one text.
    Range: 0 to 1; 0 for an answer without claims; undefined as `ragas_factual_recall`.
    Source: ragas 0.4.3, `FactualCorrectness`.

    >>> ragas_factual_f1(Tallied({"accuracy": Tally(2, 0, 1, 0), "coverage": Tally(0, 0, 2, 0)}))  # 4 / (4 + 1 + 2)
    (0.57, 1)
    """
    counts = _mixed(of)
    if counts is None:
        return _nothing(of)
    tp, fp, fn = counts
    if not tp:
        return 0.0, 1
    precise, complete = tp / (tp + fp), tp / (tp + fn)
    return _rounded(2 * (precise * complete) / (precise + complete))


@enter(MEASURES, "ragas_faithfulness", needs=["groundedness"])
def ragas_faithfulness(of: Tallied) -> Share:
    """Faithfulness of ragas: share of the answer's claims that can be inferred from the retrieved contexts.

    Formula: faithful / claims, not rounded. On the same verdicts it is `groundedness`. It parts from it in the
    evidence: ragas joins all contexts into one, so that a claim may rest on several together; here one piece must do.
    Claims without a label are left out, as ragas counts what its model returned.
    Range: 0 to 1; undefined where the answer has no claims, as in ragas.
    Source: ragas 0.4.3, `Faithfulness` (arXiv 2309.15217).

    >>> ragas_faithfulness(Tallied({"groundedness": Tally(supported=2, contradicted=1, unsupported=0, unscored=1)}))
    (2, 3)
    """
    return groundedness(of)


@enter(MEASURES, "factscore", needs=["groundedness"], pooled=False)
def factscore(of: Tallied) -> Share:
    """FActScore with its length penalty: groundedness, lowered for answers of fewer than ten claims.

    Formula: supported / labelled * (1 if n > 10 else exp(1 - 10 / n)), with n the answer's claims, labelled or not.
    Its evidence is what the system was given, where FActScore looks up Wikipedia. FActScore guesses a label for every
    claim; here a claim without one is left out of the share.
    Range: 0 to 1; undefined where the answer has no claim with a label (FActScore leaves answers without facts out of
    its mean, too, and gives their share as the respond ratio).
    Source: factscore 0.2.0 (gamma 10); the share itself is FActScore (arXiv 2305.14251).

    >>> factscore(Tallied({"groundedness": Tally(supported=5, contradicted=0, unsupported=0, unscored=0)}))
    (0.36787944117144233, 1)
    """
    share, n = groundedness(of), of.tallies.get("groundedness")
    if n is None or not n.labelled:
        return share  # 0 of 1 for a query without an answer, else undefined
    penalty = 1.0 if n.claims > _GAMMA else exp(1 - _GAMMA / n.claims)
    return penalty * (share[0] / share[1]), 1


@enter(MEASURES, "factscore_unpenalised", needs=["groundedness"])
def factscore_unpenalised(of: Tallied) -> Share:
    """FActScore without its length penalty, as its paper defines it.

    Formula: supported / labelled claims of the answer. On the same verdicts it is `groundedness`; `factscore` says
    where the verdicts differ.
    Range: 0 to 1; undefined as `factscore`.
    Source: FActScore (arXiv 2305.14251); `init_score` in factscore 0.2.0.

    >>> factscore_unpenalised(Tallied({"groundedness": Tally(supported=4, contradicted=1, unsupported=0, unscored=0)}))
    (4, 5)
    """
    return groundedness(of)


def _failed(tally: Tally) -> bool:
    """Whether there are claims and no label: not the same as no claims, of which ragas makes a 0."""
    return bool(tally.claims) and not tally.labelled


def _rounded(value: float) -> Share:
    """As ragas rounds, by numpy: 3 of 40 is 0.08, where Python's `round` makes 0.07 of it."""
    return float(np.round(value, 2)), 1


def _nothing(of: Tallied) -> Share:
    return 0, int(of.forgotten and {"accuracy", "coverage"} <= of.tallies.keys())


def _mixed(of: Tallied) -> tuple[int, int, int] | None:
    """The three counts of ragas, TP and FP over claims of the answer and FN over claims of the reference."""
    made, wanted = of.tallies.get("accuracy"), of.tallies.get("coverage")
    if of.forgotten or made is None or wanted is None or _failed(made) or _failed(wanted):
        return None
    return made.supported, made.labelled - made.supported, wanted.labelled - wanted.supported
