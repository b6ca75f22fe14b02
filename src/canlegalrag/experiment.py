"""The whole job on one benchmark: retrieve with several recipes, score, compare, report."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from canlegalrag import pipeline, report, submission
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import dumps, read_run, write_atomic
from canlegalrag.measures.retrieval import parse_all
from canlegalrag.measures.stats import Comparison
from canlegalrag.recipes import Recipe
from canlegalrag.types import Problem

__all__ = ["MAIN", "MEASURES", "RECIPES", "folders_of", "reading", "run"]

RECIPES = ("bm25", "bm25l", "bm25l-1024", "paper-bm25l-1024")
"""Run by default: the two formulas on whole decisions, passages, and what the paper ran. With four, six pairs are
compared, and the sample's eight blocks can still tell a pair apart."""

MAIN = "ndcg@10"
"""The measure that orders the tables and is compared."""

MEASURES = (MAIN, "recall@10", "precision@10", "hit@10", "mrr", "map", "paper_ndcg@10", "paper_recall@10")
"""What the tables show: the standard family, and two of the paper's to see how far they part."""

_FIELDS = ("province", "persona", "variant")


def run(
    benchmark: Benchmark,
    recipes: Sequence[Recipe],
    out: Path,
    *,
    k: int = 100,
    cache: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[dict[str, dict[str, Any]], list[Comparison], list[Problem]]:
    """Do the whole job into `out`: `<recipe>/run.jsonl`, `<recipe>/scores.json`, `comparisons.json`,
    `table.md`, `report.html`.

    Args:
        benchmark: what to run on.
        recipes: what to run.
        out: folder; runs that are there already are gone on with.
        k: documents a query.
        cache: folder of indexes.
        progress: called with 1 after each recipe.

    Returns:
        Recipe's name -> what its `scores.json` holds, the comparisons of all pairs by nDCG@10, the runs' problems.

    Raises:
        InputError: two recipes have one name.
    """
    folders = folders_of(recipes)
    measures = parse_all(MEASURES)
    fields = [f for f in _FIELDS if set(benchmark.labels(f).values()) - {"(none)"}]
    results: dict[str, dict[str, Any]] = {}
    found: list[Problem] = []
    for recipe in recipes:
        path = out / folders[recipe.name] / "run.jsonl"
        made = pipeline.retrieve(recipe, benchmark, path, k=k, cache=cache)
        payload, problems = submission.score_run(read_run(path), measures, benchmark=benchmark, by=fields, made=made)
        write_atomic(path.with_name("scores.json"), submission.scores_json(payload))
        results[recipe.name] = payload
        found += [Problem(f"{recipe.name}: {p.where}", p.what, p.fix, p.fatal) for p in problems]
        if progress:
            progress(1)
    values = {name: {q: row[MAIN] for q, row in payload["per_query"].items()} for name, payload in results.items()}
    comparisons = submission.compare_values(values, benchmark)
    write_atomic(out / "comparisons.json", dumps(report.pairs(comparisons), indent=1) + "\n")
    write_atomic(out / "table.md", report.markdown(results, MEASURES, MAIN))
    title = f"Retrieval on {benchmark.name}"
    notes = submission.caveats(comparisons)
    page = report.html(results, comparisons, title=title, main=MAIN, fields=fields, notes=notes)
    write_atomic(out / "report.html", page)
    return results, comparisons, found


def folders_of(recipes: Sequence[Recipe]) -> dict[str, str]:
    """Recipe's name -> name of its folder: the name itself where it can be one, else made safe and told apart.

    Raises:
        InputError: two recipes have one name.
    """
    names = [recipe.name for recipe in recipes]
    if len(set(names)) < len(names):
        raise InputError("--recipe", "two recipes have the same name", "give each its own")
    plain = {r.name: re.sub(r"[^A-Za-z0-9._=+-]+", "-", r.name)[:60].strip(".-") for r in recipes}
    return {r.name: r.name if plain[r.name] == r.name else f"{plain[r.name]}-{r.identity}" for r in recipes}


def reading(results: Mapping[str, Mapping[str, Any]], comparisons: Sequence[Comparison], out: Path) -> list[str]:
    """How to read the table, in a few lines: who leads, who can't be told from it, where the rest lies."""
    best = max(results, key=lambda r: results[r]["measures"][MAIN]["mean"] or 0.0)
    tied = [c.b if c.a == best else c.a for c in comparisons if best in (c.a, c.b) and not c.apart]
    said = f"; not shown to differ from it: {', '.join(tied)}" if tied else ""
    lines = [f"Best {MAIN}: {best}{said}"]
    lines += submission.caveats(comparisons)
    lines.append(f"Written: {out / 'report.html'}, and run.jsonl and scores.json of each recipe beside it")
    return lines
