"""Reproduction: our scores beside the paper's figures, in its way of counting and in the standard one."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from canlegalrag.recipes import Recipe, averages, published
from canlegalrag.wording import many

__all__ = ["Row", "method", "rows", "warning"]

_PAIRS = (("paper_recall@10", "recall@10"), ("paper_ndcg@10", "ndcg@10"))
"""The paper's measure, and the standard one of that name."""


class Row(NamedTuple):
    """One measure of one recipe, or of the average over a method's recipes."""

    name: str
    """Recipe, or `average of METHOD (n of m)`: over n recipes, where the paper has m."""
    measure: str
    """The measure in the paper's way of counting."""
    ours: float | None
    """Our score in that way; None where it is undefined."""
    paper: float | None
    """The paper's figure, from secondary notes; None where none is known."""
    difference: float | None
    """Ours less the paper's; None where one is missing, or where an average is over fewer recipes than the paper's."""
    standard: float | None
    """Our score in the standard way of counting."""


def method(recipe: Recipe) -> str:
    """Which of the paper's five methods a recipe belongs to; the outermost step decides.

    >>> method(Recipe("x", "dense", {"embedder": "a/b", "reranker": "c/d"}))
    'rerank'
    """
    if "rounds" in recipe.options:
        return "irg"
    return "rerank" if "reranker" in recipe.options else recipe.retriever


def rows(results: Mapping[str, Mapping[str, Any]], recipes: Sequence[Recipe]) -> list[Row]:
    """Every recipe in the paper's measures, then the averages over methods of the paper's table.

    Args:
        results: recipe's name -> what its `scores.json` holds; recipes without a result are left out.
        recipes: the recipes.
    """
    found = []
    for recipe in recipes:
        if recipe.name in results:
            means = {name: row["mean"] for name, row in results[recipe.name]["measures"].items()}
            for counted, standard in _PAIRS:
                figure = recipe.paper.get(counted)
                found.append(_row(recipe.name, counted, means.get(counted), figure, means.get(standard)))
    return found + _averages(results, recipes)


def _averages(results: Mapping[str, Mapping[str, Any]], recipes: Sequence[Recipe]) -> list[Row]:
    """Over rows of the paper's table alone: neither one's own nor a stand-in says anything of a method there."""
    counted, standard = _PAIRS[0]
    found = []
    for name, figure in averages().items():
        whole = sum(r.table == "paper" and method(r) == name for r in published().values())
        group = [r for r in recipes if r.table == "paper" and method(r) == name and r.name in results]
        if group:
            means = [
                _mean([results[r.name]["measures"].get(m, {}).get("mean") for r in group]) for m in (counted, standard)
            ]
            row = _row(f"average of {name} ({len(group)} of {whole})", counted, means[0], figure, means[1])
            found.append(row if len(group) == whole else row._replace(difference=None))
    return found


def _row(name: str, counted: str, ours: float | None, paper: float | None, standard: float | None) -> Row:
    difference = None if ours is None or paper is None else ours - paper
    return Row(name, counted, ours, paper, difference, standard)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def warning(benchmark: str, documents: int, queries: int) -> str:
    """What must be said beside the paper's figures; empty on the corpus and the queries that they are of."""
    if queries == 532 and documents == 1000:
        return ""
    return (
        f"The paper's figures are of its 532 queries and the first 1,000 documents of CanLegalRAGBench; this is "
        f"{benchmark}, {many(queries, 'query')} and {many(documents, 'document')}, so a difference is no fault of "
        "either."
    )
