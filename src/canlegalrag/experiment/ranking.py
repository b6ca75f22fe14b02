"""Retrieve with several recipes, score, compare, report."""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from canlegalrag import pipeline, report, span_report, submission
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import dumps, read_run, write_atomic
from canlegalrag.measures import spans
from canlegalrag.measures.names import Measure
from canlegalrag.measures.retrieval import parse_all
from canlegalrag.measures.stats import Comparison
from canlegalrag.recipes import Models, Recipe
from canlegalrag.types import Problem

__all__ = ["MAIN", "MEASURES", "RECIPES", "SWEEP_MEASURES", "Outcome", "best", "folders_of", "reading", "run"]

RECIPES = ("bm25", "bm25l", "bm25l-1024", "paper-bm25l-1024")
"""Run by default: the two formulas on whole decisions, passages, and what the paper ran. With four, six pairs are
compared, and the sample's eight blocks can still tell a pair apart."""

MAIN = "ndcg@10"
"""The measure that orders the tables and is compared."""

MEASURES = (MAIN, "recall@10", "precision@10", "hit@10", "mrr", "map", "paper_ndcg@10", "paper_recall@10")
"""What the tables show: the standard family, and two of the paper's to see how far they part."""

SWEEP_MEASURES = (*MEASURES, "paper_doc_recall@10", "recall@100")
"""What a sweep scores: also the second of the two recalls that the paper's code has."""

T = TypeVar("T")

_FIELDS = ("dataset", "province", "persona", "variant")
_NAMED = 5  # of the recipes that can't be told from the best


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job."""

    results: Mapping[str, dict[str, Any]] = field(repr=False)
    """Recipe's name -> what its `scores.json` holds, in the order of the recipes."""
    comparisons: Sequence[Comparison] = field(repr=False)
    """All pairs by the main measure."""
    problems: Sequence[Problem]
    """Of the runs, each with its recipe's name."""
    failed: Mapping[str, str]
    """Recipe's name -> why it has no result."""


def run(
    benchmark: Benchmark,
    recipes: Sequence[Recipe],
    out: Path,
    *,
    k: int = 100,
    cache: Path | None = None,
    models: Models | None = None,
    jobs: int = 1,
    measures: Sequence[str] = MEASURES,
    keep_going: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Do the whole job into `out`: `<recipe>/run.jsonl`, `<recipe>/scores.json`, `comparisons.json`,
    `table.md`, `report.html`; where the runs carry passages and the benchmark snippets, `spans.md` too.

    Args:
        benchmark: what to run on.
        recipes: what to run.
        out: folder; runs that are there already are gone on with.
        k: documents a query.
        cache: folder of indexes.
        models: where models are loaded once for all recipes.
        jobs: recipes that run side by side; the results are the same.
        measures: what to score; the main measure is always among them. Characters are counted besides, at each of
            `spans.DEPTHS` up to k, where the benchmark has snippets and the run offsets.
        keep_going: list a recipe that fails, and go on with the others.
        progress: called with 1 after each recipe.

    Raises:
        InputError: two recipes have one name; every recipe failed.
    """
    folders = folders_of(recipes)
    wanted = parse_all(measures)
    fields = [f for f in _FIELDS if set(benchmark.labels(f).values()) - {"(none)"}]
    models = models or Models()
    failed: dict[str, str] = {}
    stopped = Event()

    def going(_: int) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt

    def one(recipe: Recipe) -> tuple[dict[str, Any], list[Problem]] | None:
        path = out / folders[recipe.name] / "run.jsonl"
        try:
            made = pipeline.retrieve(
                recipe, benchmark, path, k=k, cache=cache, models=models, indexed=going, searched=going
            )
            payload, problems = _score(benchmark, path, made, wanted, fields)
        except Exception as error:  # a model's library may raise anything
            if not keep_going:
                raise
            failed[recipe.name] = str(error) if str(error) else type(error).__name__
            return None
        finally:
            if progress:
                progress(1)
        return payload, [Problem(f"{recipe.name}: {p.where}", p.what, p.fix, p.fatal) for p in problems]

    done = dict(zip((r.name for r in recipes), _side_by_side(one, recipes, jobs, stopped), strict=True))
    results = {name: found[0] for name, found in done.items() if found}
    if not results:
        why = "; ".join(f"{name}: {said}" for name, said in list(failed.items())[:3])
        raise InputError(
            f"all {len(recipes)} recipes" if len(recipes) > 1 else "the recipe",
            f"failed: {why}",
            "mend the first, and run again",
        )
    comparisons = _write(benchmark, results, out, fields)
    problems = [problem for found in done.values() if found for problem in found[1]]
    return Outcome(results, comparisons, problems, {r.name: failed[r.name] for r in recipes if r.name in failed})


def _score(
    benchmark: Benchmark, path: Path, made: dict[str, Any], measures: Sequence[Measure], fields: Sequence[str]
) -> tuple[dict[str, Any], list[Problem]]:
    """Score a run of ours, and write that beside it."""
    depths = [depth for depth in spans.DEPTHS if depth <= made["k"]]
    payload, problems = submission.score_run(
        read_run(path), measures, benchmark=benchmark, by=fields, made=made, depths=depths
    )
    write_atomic(path.with_name("scores.json"), submission.scores_json(payload))
    return payload, problems


def _side_by_side(one: Callable[[Recipe], T], recipes: Sequence[Recipe], jobs: int, stopped: Event) -> list[T]:
    """Do each recipe. Ctrl-C, and a fault that isn't let pass, stop those under way at their next batch."""
    if jobs <= 1:
        return [one(recipe) for recipe in recipes]  # in this thread, where Ctrl-C comes at once
    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(one, recipes))
        finally:
            stopped.set()


def _write(
    benchmark: Benchmark, results: Mapping[str, dict[str, Any]], out: Path, fields: Sequence[str]
) -> Sequence[Comparison]:
    """Compare the results, and write what is about all of them."""
    values = {name: {q: row[MAIN] for q, row in payload["per_query"].items()} for name, payload in results.items()}
    comparisons = submission.compare_values(values, benchmark)
    write_atomic(out / "comparisons.json", dumps(report.pairs(comparisons), indent=1) + "\n")
    shown = [name for name in SWEEP_MEASURES if name in next(iter(results.values()))["measures"]]
    write_atomic(out / "table.md", report.markdown(results, shown, MAIN))
    counted = span_report.markdown(results, span_report.published(results))
    if counted:
        write_atomic(out / "spans.md", counted)
    else:  # of an earlier job
        (out / "spans.md").unlink(missing_ok=True)
    title = f"Retrieval on {benchmark.name}"
    notes = submission.caveats(comparisons)
    page = report.html(results, comparisons, title=title, main=MAIN, fields=fields, notes=notes)
    write_atomic(out / "report.html", page)
    return comparisons


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


def best(results: Mapping[str, dict[str, Any]]) -> str:
    """The recipe with the highest mean of the main measure."""
    return max(results, key=lambda recipe: results[recipe]["measures"][MAIN]["mean"] or 0.0)


def reading(outcome: Outcome, out: Path) -> list[str]:
    """How to read the table, in a few lines: who leads, who can't be told from it, what failed, where the rest lies."""
    results, comparisons = outcome.results, outcome.comparisons
    first = best(results)
    tied = [c.b if c.a == first else c.a for c in comparisons if first in (c.a, c.b) and not c.apart]
    more = f" and {len(tied) - _NAMED} more" if len(tied) > _NAMED else ""
    said = f"; not shown to differ from it: {', '.join(tied[:_NAMED])}{more}" if tied else ""
    lines = [f"Best {MAIN}: {first}{said}"]
    lines += submission.caveats(comparisons)
    lines += dict.fromkeys(filter(None, map(submission.shallow, results.values())))
    lines += [f"Failed: {name}: {why}" for name, why in outcome.failed.items()]
    counted = ", spans.md" if any("spans" in payload for payload in results.values()) else ""
    lines.append(f"Written: {out / 'report.html'}{counted}, and run.jsonl and scores.json of each recipe beside it")
    return lines
