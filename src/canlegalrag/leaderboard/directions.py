"""Which way a measure is better: the board ranks by that, and by nothing that isn't about quality."""

__all__ = ["better"]

_LOWER = {
    "contradiction_rate",
    "hallucination_lower",
    "hallucination_upper",
    "reference_contradiction_rate",
    "wrong_document_rate",
}
_NEITHER = {
    "abstention_rate",
    "answer_chars",
    "claims_per_answer",
    "judged",
    "retrieved_characters",
    "unscored_rate",
    "verbosity",
}


def better(measure: str) -> int:
    """1 where higher is better, -1 where lower is, 0 for a measure that says nothing of quality.

    >>> better("ndcg@10"), better("contradiction_rate"), better("judged@10")
    (1, -1, 0)
    """
    name = measure.partition("@")[0]
    return 0 if name in _NEITHER else -1 if name in _LOWER else 1
