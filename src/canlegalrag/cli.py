"""The command line: each command is a thin layer over one library call; imports happen inside the commands."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from canlegalrag.terminal import Commands, misuse, note, print_json, progress, progress_later, show

if TYPE_CHECKING:
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
  canlegalrag citations FILE              the Canadian citations in a text

SOURCE is `sample`, a folder, or a dataset on the Hugging Face Hub (owner/name).

Data goes to stdout, progress and notes to stderr. Exit status: 0 fine, 1 problems found, 2 misuse.
"""


app = typer.Typer(
    cls=Commands, no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
)

Source = Annotated[str, typer.Option("--benchmark", "-b", help="sample, a folder, or a Hub id owner/name")]
Lenient = Annotated[bool, typer.Option("--lenient", help="go on in spite of faults in the benchmark; they are listed")]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout instead of a table")]
Cache = Annotated[Path | None, typer.Option(help="folder of indexes; default $CANLEGALRAG_CACHE or the user's cache")]


def main() -> None:
    """Run the command line; the library's errors become a message and an exit status."""
    if sys.stdout is None:  # closed by the shell (`>&-`)
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # names have accents, terminals may not
    app()


def _load(source: str, lenient: bool = False) -> "Benchmark":
    from canlegalrag.benchmark import load
    from canlegalrag.report import problems_table

    with misuse():
        benchmark = load(source, strict=not lenient)
    if benchmark.problems:
        note(problems_table(benchmark.problems))
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
        print_json(summary)
    else:
        show(info_table({key: value for key, value in summary.items() if key != "problems"}))
    _finish(benchmark)


@app.command()
def build(
    source: Annotated[str, typer.Argument(help="sample, a folder, or a Hub id owner/name")],
    out: Annotated[Path, typer.Option(help="folder of the dataset repository; replaced if it was built before")],
    lenient: Lenient = False,
) -> None:
    """Write a benchmark as a dataset repository: Parquet configs, card, manifest."""
    from canlegalrag.build import build as write

    benchmark = _load(source, lenient)
    with misuse(), progress(len(benchmark.documents), "writing documents") as step:
        manifest = write(benchmark, out, progress=step)
    rows = sum(entry["rows"] for entry in manifest["files"].values())
    note(f"{out}: {rows} rows in {len(manifest['files'])} files, fingerprint {manifest['fingerprint'][:16]}")
    _finish(benchmark)


@app.command()
def citations(
    file: Annotated[str, typer.Argument(help="a text file in UTF-8 or UTF-16; - reads stdin")] = "-",
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", "-b", help="check each against this corpus: exists, invented, misnamed")
    ] = None,
    json: Json = False,
) -> None:
    """Find the Canadian citations in a text; with --benchmark, check each against a corpus and name its document."""
    from dataclasses import asdict

    from rich.table import Table

    from canlegalrag.citations import find
    from canlegalrag.files import decode, read_text

    text = decode("stdin", sys.stdin.buffer.read()) if file == "-" else read_text(Path(file))
    if benchmark:
        _check_citations(text, benchmark, json)
        return
    found = find(text)
    if json:
        print_json([asdict(c) for c in found])
        return
    table = Table("line", "kind", "key", "court", "pinpoint", "style of cause", "warnings")
    line = at = 0
    for c in found:
        line, at = line + text.count("\n", at, c.start), c.start
        pinpoints = [f"para {a}" if a == b else f"paras {a}-{b}" for a, b in c.paragraphs]
        pinpoints += [f"p {a}" if a == b else f"pp {a}-{b}" for a, b in c.pages] + [f"s {s}" for s in c.sections]
        table.add_row(str(line + 1), c.kind, c.key, c.court_id, ", ".join(pinpoints), c.style, "; ".join(c.warnings))
    show(table)
    note(f"{len(found)} citations of {len({c.group for c in found})} authorities")


def _check_citations(text: str, source: str, json: bool) -> None:
    """Each citation of an answer with what became of it, linked to its document; exit status 1 if any is false."""
    from dataclasses import asdict

    from rich.table import Table

    from canlegalrag.measures.citations import Registry, check

    benchmark = _load(source)
    found = check(text, Registry.build(benchmark.documents))
    if json:
        print_json([asdict(c) for c in found])
    else:
        table = Table("status", "citation", "name given", "document", "why")
        for c in found:
            table.add_row(c.status, c.text, c.name, ", ".join(c.doc_ids), c.reason)
        show(table)
    false = sum(c.status in ("name mismatch", "not in registry") for c in found)
    note(f"{len(found)} citations, {false} of them invented or misnamed as far as {benchmark.name} can tell")
    if false:
        raise typer.Exit(1)


@app.command()
def recipes(json: Json = False) -> None:
    """List the retrieval configurations that `retrieve` knows by name."""
    from rich.table import Table

    from canlegalrag.recipes import published

    rows = published().values()
    if json:
        print_json([{"name": r.name, "retriever": r.retriever, **r.options, "note": r.note} for r in rows])
        return
    table = Table("name", "retriever", "settings", "note")
    for recipe in rows:
        settings = " ".join(f"{key}={value}" for key, value in recipe.options.items())
        table.add_row(recipe.name, recipe.retriever, settings, recipe.note)
    show(table)


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

    with misuse():
        row = parse(recipe)
    found = _load(benchmark, lenient)
    before = out.stat().st_size if out.exists() else -1
    with (
        progress(len(found.documents), "indexing documents") as indexed,
        progress_later(len(found.queries), "searching queries") as searched,
    ):
        meta = pipeline.retrieve(row, found, out, k=k, cache=cache, indexed=indexed, searched=searched)
    if json:
        print_json(meta)
    if out.stat().st_size == before:
        note(f"{out}: was complete already; the seconds are those of the first time")
    seconds = meta["seconds"]
    short = f"; {meta['short']} queries match fewer documents than asked for" if meta["short"] else ""
    note(
        f"{out}: {len(found.queries)} queries, index {seconds['index']:.1f} s, search {seconds['search']:.2f} s{short}"
    )
    _finish(found)


@app.command()
def score(
    run: Annotated[Path, typer.Option(help="run.jsonl, or a TREC run")],
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", "-b", help="sample (default), a folder, or a Hub id")
    ] = None,
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
    from canlegalrag.errors import InputError
    from canlegalrag.files import read_qrels, read_run, write_atomic
    from canlegalrag.measures.retrieval import parse_all

    with misuse():
        if benchmark and qrels:
            raise InputError("score", "give either --benchmark SOURCE or --qrels FILE")
        if by and qrels:
            raise InputError("--by", "needs --benchmark", "bare judgments have no fields")
        if out and out.resolve() == run.resolve():
            raise InputError(str(out), "is the run itself", "choose another --out")
        wanted = parse_all(measures or submission.DEFAULT_MEASURES)
        _there(run, *([qrels] if qrels else []))
    found = None if qrels else _load(benchmark or "sample", lenient)
    if found:
        with misuse():
            for name in by or ():
                found.labels(name)
    payload, problems = submission.score_run(
        read_run(run),
        wanted,
        benchmark=found,
        qrels=read_qrels(qrels) if qrels else None,
        by=by or (),
        made=_made(run),
    )
    if out:
        write_atomic(out, submission.scores_json(payload))
    if json:
        print_json(payload)
    else:
        groups = [report.groups_table(field, rows) for field, rows in payload["by"].items()]
        show(report.scores_table(payload), *groups)
    _finish(found, problems)


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
    from canlegalrag.errors import InputError
    from canlegalrag.files import read_run
    from canlegalrag.measures.retrieval import parse

    names = _names(runs)
    with misuse():
        parsed = parse(measure)
        if len(names) < 2 or len(set(names)) < len(names):
            raise InputError("compare", "give two or more different runs")
        _there(*runs)
    found = _load(benchmark, lenient)
    named = dict(zip(names, runs, strict=True))
    depths = {name: made["k"] for name, path in named.items() if (made := _made(path))}
    rankings = {name: read_run(path) for name, path in named.items()}
    comparisons, problems = submission.compare_runs(rankings, parsed, found, depths=depths)
    if json:
        print_json({"measure": measure, "pairs": report.pairs(comparisons)})
    else:
        show(report.comparison_table(comparisons, measure))
    for line in submission.caveats(comparisons):
        note(line)
    _finish(found, problems)


def _there(*paths: Path) -> None:
    """Say at once that a file isn't there."""
    from canlegalrag.errors import InputError

    for path in paths:
        if not path.is_file():
            raise InputError(str(path), "is a folder" if path.is_dir() else "no such file", "check the path")


def _made(run: Path) -> dict[str, Any]:
    """What made a run, if what stands beside it is about the run as it is."""
    from canlegalrag.pipeline import meta_path, read_meta

    made = read_meta(run)
    if not made and meta_path(run).exists():
        note(f"{run}: was changed since it was made; what stands in {meta_path(run).name} isn't used")
    return made


def _finish(benchmark: "Benchmark | None", problems: Sequence[Any] = ()) -> None:
    """List a run's problems; exit status 1 where there are any, there or in the benchmark."""
    from canlegalrag.report import problems_table

    if problems:
        note(problems_table(problems))
    if problems or (benchmark and any(p.fatal for p in benchmark.problems)):
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

    with misuse():
        rows = [parse(name) for name in recipe or experiment.RECIPES]
        experiment.folders_of(rows)
    found = _load(benchmark, lenient)
    with progress(len(rows), "recipes") as step:
        results, comparisons, problems = experiment.run(found, rows, out, k=k, cache=cache, progress=step)
    if json:
        print_json({name: payload["measures"] for name, payload in results.items()})
    else:
        show(report.runs_table(results, experiment.MEASURES, experiment.MAIN))
    for line in experiment.reading(results, comparisons, out):
        note(line)
    _finish(found, problems)
