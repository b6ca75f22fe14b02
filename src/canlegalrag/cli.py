"""The command line: each command is a thin layer over one library call; imports happen inside the commands."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from canlegalrag.benchmark import Benchmark

__all__ = ["app", "main"]

_JOURNEY = """
The benchmark kit for retrieval-augmented question answering over Canadian case law.

The journey, from nothing to numbers:

\b
  canlegalrag run                         the whole job on the embedded sample, offline
  canlegalrag info [SOURCE]               what a benchmark holds
  canlegalrag recipes                     the retrieval configurations by name
  canlegalrag retrieve bm25l -b SOURCE --out run.jsonl
  canlegalrag score -b SOURCE --run run.jsonl --measures "ndcg@10 recall@10"
  canlegalrag compare -b SOURCE a.jsonl b.jsonl
  canlegalrag build SOURCE --out DIR      a benchmark as Parquet with a card

SOURCE is `sample`, a folder, or a dataset on the Hugging Face Hub (owner/name).

Data goes to stdout, progress and notes to stderr. Exit status: 0 fine, 1 problems found, 2 misuse.
"""

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

Source = Annotated[str, typer.Option("--benchmark", "-b", help="sample, a folder, or a Hub id owner/name")]
Lenient = Annotated[bool, typer.Option("--lenient", help="go on in spite of faults in the benchmark; they are listed")]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout instead of a table")]
Cache = Annotated[Path | None, typer.Option(help="folder of indexes; default $CANLEGALRAG_CACHE or the user's cache")]


def main() -> None:
    """Run the command line; the library's errors become a message and an exit status."""
    from canlegalrag.errors import CanLegalRAGError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # names have accents, terminals may not
    try:
        app()
    except CanLegalRAGError as error:
        _note(f"canlegalrag: {error}")
        sys.exit(1)
    except BrokenPipeError:  # `canlegalrag … | head`
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        _note("\ncanlegalrag: stopped; the same command goes on from here")
        sys.exit(130)


def _note(text: str) -> None:
    print(text, file=sys.stderr)


@contextmanager
def _misuse() -> Iterator[None]:
    """What goes wrong in here is the command line's fault: exit status 2."""
    from canlegalrag.errors import InputError, MissingExtra

    try:
        yield
    except (InputError, MissingExtra) as error:
        _note(f"canlegalrag: {error}")
        raise typer.Exit(2) from None


def _show(*parts: "RenderableType") -> None:
    """Tables on stdout: as wide as the terminal, or as wide as they want to be in a pipe."""
    from rich.console import Console

    if sys.stdout.isatty():
        console = Console(highlight=False)
        for part in parts:
            console.print(part)
        return
    console = Console(width=240, highlight=False, color_system=None)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    print("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def _print_json(value: Any) -> None:
    from canlegalrag.files import dumps

    print(dumps(value, indent=1))


@contextmanager
def _progress(total: int, text: str) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr; silent where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(text, total=total)
        yield lambda n: bar.advance(task, n)


def _load(source: str, lenient: bool = False) -> "Benchmark":
    from canlegalrag.benchmark import load
    from canlegalrag.report import problems_table

    with _misuse():
        benchmark = load(source, strict=not lenient)
    if benchmark.problems:
        _note(problems_table(benchmark.problems))
    return benchmark


def _version(wanted: bool) -> None:
    if wanted:
        from canlegalrag import __version__

        print(f"canlegalrag {__version__}")
        raise typer.Exit


@app.callback(help=_JOURNEY)
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Hold the options that come before a command."""


@app.command()
def info(
    source: Annotated[str, typer.Argument(help="sample, a folder, or a Hub id owner/name")] = "sample",
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Say what a benchmark holds: documents, courts, queries, blocks, judgments, fingerprint."""
    from canlegalrag.report import info_table

    benchmark = _load(source, lenient)
    summary = benchmark.summary()
    if json:
        _print_json(summary)
    else:
        _show(info_table({key: value for key, value in summary.items() if key != "problems"}))
    raise typer.Exit(1 if any(p.fatal for p in benchmark.problems) else 0)


@app.command()
def build(
    source: Annotated[str, typer.Argument(help="sample, a folder, or a Hub id owner/name")],
    out: Annotated[Path, typer.Option(help="folder of the dataset repository; replaced if it was built before")],
    lenient: Lenient = False,
) -> None:
    """Write a benchmark as a dataset repository: Parquet configs, card, manifest."""
    from canlegalrag.build import build as write

    benchmark = _load(source, lenient)
    with _misuse(), _progress(len(benchmark.documents), "writing documents") as step:
        manifest = write(benchmark, out, progress=step)
    rows = sum(entry["rows"] for entry in manifest["files"].values())
    _note(f"{out}: {rows} rows in {len(manifest['files'])} files, fingerprint {manifest['fingerprint'][:16]}")
    raise typer.Exit(1 if benchmark.problems else 0)


@app.command()
def recipes(json: Json = False) -> None:
    """List the retrieval configurations that `retrieve` knows by name."""
    from rich.table import Table

    from canlegalrag.recipes import published

    rows = published().values()
    if json:
        _print_json([{"name": r.name, "retriever": r.retriever, **r.options, "note": r.note} for r in rows])
        return
    table = Table("name", "retriever", "settings", "note")
    for recipe in rows:
        settings = " ".join(f"{key}={value}" for key, value in recipe.options.items())
        table.add_row(recipe.name, recipe.retriever, settings, recipe.note)
    _show(table)


@app.command()
def retrieve(
    recipe: Annotated[str, typer.Argument(help="a name from `canlegalrag recipes`, a TOML file, or bm25l:chunk=4096")],
    out: Annotated[Path, typer.Option(help="run.jsonl; a run that stopped goes on")],
    benchmark: Source = "sample",
    k: Annotated[int, typer.Option(min=1, help="documents a query")] = 100,
    cache: Cache = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Rank a benchmark's documents for each of its queries."""
    from canlegalrag import pipeline
    from canlegalrag.recipes import parse

    with _misuse():
        row = parse(recipe)
    found = _load(benchmark, lenient)
    with (
        _progress(len(found.documents), "indexing documents") as indexed,
        _progress_later(len(found.queries), "searching queries") as searched,
    ):
        meta = pipeline.retrieve(row, found, out, k=k, cache=cache, indexed=indexed, searched=searched)
    if json:
        _print_json(meta)
    seconds = meta["seconds"]
    short = f"; {meta['short']} queries match fewer documents than asked for" if meta["short"] else ""
    _note(
        f"{out}: {len(found.queries)} queries, index {seconds['index']:.1f} s, search {seconds['search']:.2f} s{short}"
    )


@contextmanager
def _progress_later(total: int, text: str) -> Iterator[Callable[[int], None]]:
    """A progress bar that appears with its first step, since two can't be drawn at once."""
    started: list[Any] = []

    def step(n: int) -> None:
        if not started:
            manager = _progress(total, text)
            started.extend((manager, manager.__enter__()))
        started[1](n)

    try:
        yield step
    finally:
        if started:
            started[0].__exit__(None, None, None)


@app.command()
def score(
    run: Annotated[Path, typer.Option(help="run.jsonl, or a TREC run")],
    benchmark: Annotated[str | None, typer.Option("--benchmark", "-b", help="sample, a folder, or a Hub id")] = None,
    qrels: Annotated[Path | None, typer.Option(help="judgments instead: TREC, TSV, JSONL or Parquet")] = None,
    measures: Annotated[str | None, typer.Option(help='for example "ndcg@10 recall@10 paper_ndcg@10"')] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="province, persona, variant …; repeat the option for several"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="also write the JSON here")] = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Score a run: means over all queries of the benchmark, with intervals, n and skipped."""
    from canlegalrag import report, submission
    from canlegalrag.files import read_qrels, read_run, write_atomic
    from canlegalrag.measures.retrieval import parse_all
    from canlegalrag.pipeline import read_meta

    if (benchmark is None) == (qrels is None):
        _note("canlegalrag: give either --benchmark SOURCE or --qrels FILE")
        raise typer.Exit(2)
    if by and not benchmark:
        _note("canlegalrag: --by needs --benchmark: bare judgments have no fields")
        raise typer.Exit(2)
    with _misuse():
        wanted = parse_all(measures or submission.DEFAULT_MEASURES)
    found = _load(benchmark, lenient) if benchmark else None
    if found:
        with _misuse():
            for name in by or ():
                found.labels(name)
    payload, problems = submission.score_run(
        read_run(run),
        wanted,
        benchmark=found,
        qrels=read_qrels(qrels) if qrels else None,
        by=by or (),
        made=read_meta(run),
    )
    if out:
        write_atomic(out, submission.scores_json(payload))
    if json:
        _print_json(payload)
    else:
        groups = [report.groups_table(field, rows) for field, rows in payload["by"].items()]
        _show(report.scores_table(payload), *groups)
    if problems:
        _note(report.problems_table(problems))
        raise typer.Exit(1)


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="two or more runs")],
    benchmark: Source = "sample",
    measure: Annotated[str, typer.Option(help="what to compare by")] = "ndcg@10",
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Compare runs in pairs: difference, interval, p, Holm; says which can't be told apart."""
    from canlegalrag import report, submission
    from canlegalrag.files import read_run
    from canlegalrag.measures.retrieval import parse
    from canlegalrag.pipeline import read_meta

    names = _names(runs)
    with _misuse():
        parsed = parse(measure)
    if len(names) < 2 or len(set(names)) < len(names):
        _note("canlegalrag: give two or more different runs")
        raise typer.Exit(2)
    found = _load(benchmark, lenient)
    named = dict(zip(names, runs, strict=True))
    depths = {name: k for name, path in named.items() if isinstance(k := read_meta(path).get("k"), int)}
    rankings = {name: read_run(path) for name, path in named.items()}
    comparisons, problems = submission.compare_runs(rankings, parsed, found, depths=depths)
    if json:
        _print_json({"measure": measure, "pairs": report.pairs(comparisons)})
    else:
        _show(report.comparison_table(comparisons, measure))
    for line in submission.caveats(comparisons):
        _note(line)
    if problems:
        _note(report.problems_table(problems))
        raise typer.Exit(1)


def _names(runs: list[Path]) -> list[str]:
    """What to call runs in a table: `results/bm25l/run.jsonl` is `bm25l`, where that tells them apart."""
    short = [path.parent.name if path.stem == "run" and path.parent.name else path.stem for path in runs]
    return short if len(set(short)) == len(short) else [str(path) for path in runs]


@app.command()
def run(
    benchmark: Source = "sample",
    out: Annotated[Path, typer.Option(help="folder of runs, scores and report")] = Path("results"),
    recipe: Annotated[
        list[str] | None, typer.Option(metavar="RECIPE", help="instead of the default four; repeat the option")
    ] = None,
    k: Annotated[int, typer.Option(min=1, help="documents a query")] = 100,
    cache: Cache = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Do the whole job: retrieve with several recipes, score, compare, report; a table at the end."""
    from canlegalrag import experiment, report
    from canlegalrag.recipes import parse

    with _misuse():
        rows = [parse(name) for name in recipe or experiment.RECIPES]
    found = _load(benchmark, lenient)
    with _progress(len(rows), "recipes") as step:
        results, comparisons = experiment.run(found, rows, out, k=k, cache=cache, progress=step)
    if json:
        _print_json({name: payload["measures"] for name, payload in results.items()})
    else:
        _show(report.runs_table(results, experiment.MEASURES, experiment.MAIN))
    for line in experiment.reading(results, comparisons, out):
        _note(line)
