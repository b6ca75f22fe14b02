"""Why claims fail, to and from `categories.jsonl`, and with the verdicts that it explains."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from canlegalrag.errors import InputError
from canlegalrag.files import dumps
from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.measures.decided import purpose_of
from canlegalrag.records._fields import rows
from canlegalrag.types import Judged, Verdict

__all__ = ["Sorted", "categorised", "read_categories", "sorted_line"]


@dataclass(frozen=True, slots=True)
class Sorted:
    """Why one claim of an answer isn't grounded."""

    query_id: str
    """The query answered."""
    index: int
    """Position of the claim among those of the answer."""
    category: str
    """A key of `measures.categories.CATEGORIES`; empty where it couldn't be sorted."""
    reason: str = ""
    """The reason, or why it couldn't be sorted."""
    judge: str = ""
    """`provider/model` of the sorter."""
    claim: str = ""
    """What it claims, which must be what the verdicts have there; empty where nobody says."""
    where: str = ""
    """File and line; empty where it was read from none."""


def sorted_line(one: Sorted) -> str:
    """One sorted claim as a line of `categories.jsonl`.

    >>> sorted_line(Sorted("q1", 2, "fact", "other year", "offline/rules", "It is so."))
    '{"query_id": "q1", "index": 2, "category": "fact", "reason": "other year", "judge": "offline/rules", \
"claim": "It is so."}'
    """
    row = {"query_id": one.query_id, "index": one.index, "category": one.category}
    return dumps(row | {"reason": one.reason, "judge": one.judge, "claim": one.claim})


def read_categories(path: str | Path) -> list[Sorted]:
    """Read why claims fail, one a line; an empty file is one of answers without such claims.

    Raises:
        InputError: a line that is none, or two about the same claim.
    """
    found: dict[tuple[str, int], Sorted] = {}
    for row in rows(Path(path)):
        place = (row.id("query_id"), row.whole("index"))
        if place in found:
            raise InputError(row.where, f"sorts the same claim as {found[place].where}", "keep one")
        category = row.choice("category", ("", *CATEGORIES))
        reason, judge, claim = (row.text(name, "") for name in ("reason", "judge", "claim"))
        found[place] = Sorted(*place, category, reason, judge, claim, row.where)
    return list(found.values())


def categorised(judged: Mapping[str, Judged], found: Iterable[Sorted]) -> dict[str, Judged]:
    """What was judged, with the category of each claim at those of its verdicts that fail for want of evidence.

    Raises:
        InputError: there is no such claim, or it claims something else.
    """
    categories: dict[str, dict[int, str]] = {}
    for one in found:
        where = one.where or "categories"
        claims = judged[one.query_id].claims if one.query_id in judged else None
        if claims is None or one.index >= len(claims):
            what = f"query {one.query_id!r} has no claim {one.index} of its answer"
            raise InputError(where, what, "categories and verdicts must be of one judgement")
        if one.claim and one.claim != claims[one.index].text:
            what = f"claim {one.index} of {one.query_id!r} is another: {claims[one.index].text!r:.80}"
            raise InputError(where, what, "categories and verdicts must be of one judgement")
        categories.setdefault(one.query_id, {})[one.index] = one.category
    return {query: _categorised(old, categories.get(query, {})) for query, old in judged.items()}


def _categorised(judged: Judged, categories: Mapping[int, str]) -> Judged:
    if not categories:
        return judged

    def with_category(verdict: Verdict) -> Verdict:
        claim = verdict.claim
        fails = verdict.label in ("unsupported", "contradicted")
        if not fails or purpose_of(verdict) != "groundedness" or claim.index not in categories:
            return verdict
        return replace(verdict, category=categories[claim.index])

    return replace(judged, verdicts=tuple(map(with_category, judged.verdicts)))
