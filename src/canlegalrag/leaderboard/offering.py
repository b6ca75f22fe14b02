"""Which measures a board can be ranked by, those that most readers want first."""

from collections.abc import Iterable

from canlegalrag.leaderboard.entries import Entry, measures, number, part, payload
from canlegalrag.measures import claims
from canlegalrag.measures.retrieval import MEASURES

__all__ = ["offered"]

_FIRST = (
    "ndcg@10",
    "recall@10",
    "recall@100",
    "precision@10",
    "mrr",
    "map",
    "accuracy",
    "groundedness",
    "coverage",
    "f1",
)
_FAMILIES = ("standard", "paper", "span")


def offered(entries: Iterable[Entry]) -> list[str]:
    """Measures that some entry has a value of: the usual ones, then by family, claims last, each by rising cut-off."""
    entries = list(entries)
    found = [
        name
        for name in measures(entries)
        if any(number(part(payload(entry, name), "measures", name).get("mean")) is not None for entry in entries)
    ]
    bases = list(dict.fromkeys(name.partition("@")[0] for name in found))

    def place(name: str) -> tuple[int, int, int, int]:
        if name in _FIRST:
            return 0, _FIRST.index(name), 0, 0
        base, _, k = name.partition("@")
        return 1, _family(name, base), bases.index(base), int(k) if k.isdecimal() and len(k) < 10 else 0

    return sorted(found, key=place)


def _family(name: str, base: str) -> int:
    if name in claims.MEASURES:
        return len(_FAMILIES)
    return _FAMILIES.index(MEASURES[base].family) if base in MEASURES else len(_FAMILIES) + 1
