"""Commands that retrieve: recipes, retrieve, sweep, run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from canlegalrag.cli.answers import answer, show_answers
from canlegalrag.cli.options import Budget, Cache, Json, Lenient, Source, app, finish, load
from canlegalrag.terminal import misuse, note, print_json, progress, progress_later, show
from canlegalrag.wording import many

if TYPE_CHECKING:
    from canlegalrag.benchmark import Benchmark
    from canlegalrag.experiment import Outcome
    from canlegalrag.recipes import Models, Recipe, Size
    from canlegalrag.types import Problem

__all__ = ["recipes", "retrieve", "run", "sweep"]

Patterns = Annotated[
    list[str] | None, typer.Argument(metavar="[PATTERN]...", help='names, with * and ?: "bm25l-*"; none for all')
]
Table = Annotated[str | None, typer.Option(help="paper (its 46 configurations) or open (no key, no GPU)")]
Depth = Annotated[int, typer.Option(min=1, help="documents a query")]


@app.command()
def recipes(
    pattern: Patterns = None,
    table: Table = None,
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", "-b", help="estimate tokens and cost on this benchmark")
    ] = None,
    k: Depth = 100,
    json: Json = False,
) -> None:
    """List the retrieval configurations by name, with what each needs: packages, keys, a GPU, gigabytes, money."""
    from dataclasses import asdict

    from rich.table import Table as Grid

    from canlegalrag.recipes import estimate, match

    with misuse():
        rows = match(pattern or [], table)
    size = _size(load(benchmark), k) if benchmark else None
    found = [(recipe, estimate(recipe, size)) for recipe in rows]
    if json:
        print_json([_about(recipe) | {"needs": asdict(needed)} for recipe, needed in found])
        return
    grid = Grid("name", "table", "retriever", "settings", "needs", *(["tokens", "cost"] if size else []), "note")
    for column in grid.columns:
        column.overflow = "fold"  # in a narrow terminal too, a name and a key can be read whole
    for recipe, needed in found:
        settings = " ".join(f"{key}={value}" for key, value in recipe.options.items())
        cost = [f"{needed.tokens:,}", "unknown" if needed.cost is None else f"${needed.cost:,.2f}"] if size else []
        said = "; ".join(filter(None, ["assumed" if recipe.assumed else "", recipe.note]))
        grid.add_row(recipe.name, recipe.table, recipe.retriever, settings, needed.said(), *cost, said)
    show(grid)


def _about(recipe: "Recipe") -> dict[str, Any]:
    about = {"name": recipe.name, "table": recipe.table, "retriever": recipe.retriever, **recipe.options}
    return about | {"note": recipe.note, "assumed": recipe.assumed, "paper": dict(recipe.paper)}


def _size(benchmark: "Benchmark", k: int) -> "Size":
    from canlegalrag.recipes import Size

    asked = [query.asked for query in benchmark.queries.values()]
    sizes = [len(document.text) for document in benchmark.documents.values()]
    k += max((len(query.excluded) for query in benchmark.queries.values()), default=0)
    return Size(sum(sizes), len(asked), sum(map(len, asked)), k, len(sizes), max(sizes, default=0))


def _models(
    rows: Sequence["Recipe"], benchmark: "Benchmark", k: int, cache: Path | None, budget: float | None
) -> "Models":
    """Where the models of some recipes come from; says before anything is spent what may be."""
    from canlegalrag.recipes import Models, cache_folder, estimate

    paid = [needed for recipe in rows if (needed := estimate(recipe)).paid]
    if not paid:
        return Models()
    from canlegalrag.calls import Calls

    size = _size(benchmark, k)
    costs = [estimate(recipe, size).cost for recipe in rows]
    most = f"At most about ${sum(cost or 0.0 for cost in costs):,.2f} for what isn't cached yet"
    most += ", besides models whose price isn't known" if None in costs else ""
    limit = f"; stops at ${budget:,.2f}" if budget is not None else "; set a limit with --budget"
    note(f"{most}{limit}")
    return Models(Calls((cache or cache_folder()) / "calls", budget=budget))


@app.command()
def retrieve(
    recipe: Annotated[str, typer.Argument(help="a name from `canlegalrag recipes`, a TOML file, or bm25l:chunk=4096")],
    out: Annotated[Path, typer.Option(help="run.jsonl; a run that stopped goes on")],
    benchmark: Source = "sample",
    k: Depth = 100,
    budget: Budget = None,
    cache: Cache = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Rank a benchmark's documents for each of its queries."""
    from canlegalrag import pipeline
    from canlegalrag.recipes import parse

    with misuse():
        row = parse(recipe)
    found = load(benchmark, lenient)
    before = out.stat().st_size if out.exists() else -1
    with (
        _models([row], found, k, cache, budget) as models,
        progress(len(found.documents), "indexing documents") as indexed,
        progress_later(len(found.queries), "searching queries") as searched,
    ):
        meta = pipeline.retrieve(row, found, out, k=k, cache=cache, models=models, indexed=indexed, searched=searched)
    if json:
        print_json(meta)
    if out.stat().st_size == before:
        note(f"{out}: was complete already; the seconds are those of the first time")
    note(f"{out}: {many(len(found.queries), 'query')}, {_took(meta)}")
    finish(found)


def _took(meta: dict[str, Any]) -> str:
    """What a run took, and what its models could not read."""
    parts = [f"index {meta['seconds']['index']:.1f} s, search {meta['seconds']['search']:.2f} s"]
    if meta["cost"]:
        parts.append(f"${meta['cost']:.4f}")
    for model in meta["models"].values():
        cut = model["counts"].get("truncated", 0) + model.get("indexed", {}).get("truncated", 0)
        if cut:
            parts.append(f"{model['identity']['model']} read only the beginning of {many(cut, 'text')}")
    if meta["short"]:
        parts.append(f"fewer documents than asked for match {many(meta['short'], 'query')}")
    return "; ".join(parts)


@app.command()
def sweep(
    pattern: Patterns = None,
    benchmark: Source = "sample",
    table: Table = None,
    out: Annotated[Path, typer.Option(help="folder of runs, scores and report; what is there is gone on with")] = Path(
        "results"
    ),
    jobs: Annotated[int, typer.Option(min=1, help="recipes side by side")] = 1,
    offline: Annotated[
        bool, typer.Option("--offline", help="replace every model by its offline stand-in: shows that a row runs")
    ] = False,
    k: Depth = 100,
    budget: Budget = None,
    cache: Cache = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Run many recipes, survive those that fail, and show our scores beside the paper's; by default the open table."""
    from canlegalrag import experiment, report, reproduction
    from canlegalrag.recipes import blocked, match
    from canlegalrag.recipes import offline as stand_in

    with misuse():
        rows = match(pattern or [], table if pattern else table or "open")
        rows = [stand_in(recipe) for recipe in rows] if offline else rows
        experiment.folders_of(rows)
    found = load(benchmark, lenient)
    left = {recipe.name: why for recipe in rows if (why := blocked(recipe))}
    ready = [recipe for recipe in rows if recipe.name not in left]
    if not ready:
        _say_left(left)
        raise typer.Exit(1)
    with _models(ready, found, k, cache, budget) as models, progress(len(ready), "recipes") as step:
        outcome = experiment.run(
            found,
            ready,
            out,
            k=k,
            cache=cache,
            models=models,
            jobs=jobs,
            measures=experiment.SWEEP_MEASURES,
            keep_going=True,
            progress=step,
        )
    compared = reproduction.rows(outcome.results, ready) if any(r.table == "paper" for r in ready) else []
    if json:
        scores = {name: payload["measures"] for name, payload in outcome.results.items()}
        print_json(
            {"scores": scores, "paper": [row._asdict() for row in compared], "failed": outcome.failed, "left_out": left}
        )
    else:
        show(report.runs_table(outcome.results, experiment.SWEEP_MEASURES, experiment.MAIN))
        if compared:
            show(report.reproduction_table(compared))
    if compared and (said := reproduction.warning(found.name, len(found.documents), len(found.queries))):
        note(said)
    _end(found, outcome, out, left)


def _say_left(left: dict[str, str]) -> None:
    for name, why in left.items():
        note(f"Left out: {name}: {why}")


def _end(
    found: "Benchmark", outcome: "Outcome", out: Path, left: dict[str, str], more: Sequence["Problem"] = ()
) -> None:
    """How to read the table; exit status 1 where a recipe failed or was left out."""
    from canlegalrag import experiment

    for line in experiment.reading(outcome, out):
        note(line)
    _say_left(left)
    finish(found, [*outcome.problems, *more])
    if outcome.failed or left:
        raise typer.Exit(1)


@app.command()
def run(
    benchmark: Source = "sample",
    out: Annotated[Path, typer.Option(help="folder of runs, answers, scores and reports")] = Path("results"),
    recipe: Annotated[
        list[str] | None, typer.Option(metavar="RECIPE", help="instead of the default four; repeat the option")
    ] = None,
    k: Depth = 100,
    generator: Annotated[str, typer.Option(help="provider/model that answers")] = "offline/extractive",
    judge: Annotated[str, typer.Option(help="provider/model that judges the answers")] = "offline/lexical",
    answers: Annotated[
        bool | None,
        typer.Option(help="answer the queries too; by default where the benchmark has reference answers"),
    ] = None,
    budget: Budget = None,
    cache: Cache = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Do the whole job: retrieve with several recipes, score, compare; answer, judge, score; tables at the end."""
    from canlegalrag import experiment, report
    from canlegalrag.recipes import parse

    with misuse():
        rows = [parse(name) for name in recipe or experiment.RECIPES]
        folders = experiment.folders_of(rows)
    found = load(benchmark, lenient)
    with _models(rows, found, k, cache, budget) as models, progress(len(rows), "recipes") as step:
        outcome = experiment.run(found, rows, out, k=k, cache=cache, models=models, progress=step)
    answered = None
    if bool(found.answers) if answers is None else answers:
        first = experiment.best(outcome.results)
        spent = models.calls.ledger.spent if models.calls else 0.0
        left = None if budget is None else max(0.0, budget - spent)
        answered = answer(found, out, first, folders[first], generator, judge, cache, left)
    if json:
        scores = {name: payload["measures"] for name, payload in outcome.results.items()}
        said = {name: payload["measures"] for name, payload in answered.results.items()} if answered else {}
        print_json({"retrieval": scores, "answers": said})
    else:
        show(report.runs_table(outcome.results, experiment.MEASURES, experiment.MAIN))
    if answered:
        show_answers(answered, out / "answers" / folders[first], json)
    _end(found, outcome, out, {}, answered.problems if answered else ())
