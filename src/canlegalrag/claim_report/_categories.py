"""Why claims fail: counts and shares by category, as a table and as bars."""

from collections import Counter
from collections.abc import Mapping

from rich.table import Table

from canlegalrag import charts
from canlegalrag.claim_report._cells import table
from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.measures.decided import decided
from canlegalrag.types import Judged

__all__ = ["board", "categories", "categories_table", "chart", "counted"]


def categories(judged: Mapping[str, Judged]) -> Counter[str]:
    """Category -> how many of the answers' claims fail for it: those that the evidence contradicts or doesn't support.

    Returns:
        Keys of `CATEGORIES`; empty for claims that nobody sorted.
    """
    counts: Counter[str] = Counter()
    for one in judged.values():
        sorted_as: dict[int, str] = {}
        for verdict in one.verdicts:
            if verdict.category and verdict.claim.side == "answer":
                sorted_as.setdefault(verdict.claim.index, verdict.category)
        for best in decided(one, "groundedness") or ():
            if best is not None and best.label in ("unsupported", "contradicted"):
                counts[sorted_as.get(best.claim.index, "")] += 1
    return counts


def categories_table(judged: Mapping[str, Mapping[str, Judged]], title: str = "") -> Table:
    """Why claims fail: a row a category, for each system its count and its share of the claims that fail."""
    return table(*board({name: categories(of) for name, of in judged.items()}), title, "")


def counted(judged: Mapping[str, Mapping[str, Judged]]) -> dict[str, Counter[str]]:
    """System -> its categories, if anything at all was sorted."""
    found = {name: categories(of) for name, of in judged.items()}
    return found if any(name for counts in found.values() for name in counts) else {}


def board(found: Mapping[str, Mapping[str, int]]) -> tuple[list[str], list[list[str]]]:
    """Heads and cells: every category, those that aren't known, those not sorted, all."""
    heads = ["why", "wrong in kind", *(head for name in found for head in (name, "share"))]
    body = []
    for key, label in _labels(found):
        cells = [label, "" if key not in CATEGORIES else "yes" if CATEGORIES[key].wrong else "no"]
        for counts in found.values():
            total = sum(counts.values())
            cells += [str(counts.get(key, 0)), _percent(counts.get(key, 0), total)]
        body.append(cells)
    totals = [(str(t), _percent(t, t)) for t in (sum(counts.values()) for counts in found.values())]
    return heads, [*body, ["all that fail", "", *(cell for pair in totals for cell in pair)]]


def _labels(found: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str]]:
    """Key and title of each category that is shown."""
    rest = sorted({key for counts in found.values() for key in counts} - CATEGORIES.keys() - {""})
    unsorted = [("", "not sorted")] if any(counts.get("") for counts in found.values()) else []
    return [*((key, of.title) for key, of in CATEGORIES.items()), *((key, key) for key in rest), *unsorted]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def chart(found: Mapping[str, Mapping[str, int]], title: str) -> str:
    totals = {name: sum(counts.values()) for name, counts in found.items()}
    groups = [
        (
            label,
            [
                (counts.get(key, 0) / max(1, totals[name]), f"{counts.get(key, 0)} of {totals[name]}")
                for name, counts in found.items()
            ],
        )
        for key, label in _labels(found)
    ]
    return charts.bars(groups, list(found), title)
