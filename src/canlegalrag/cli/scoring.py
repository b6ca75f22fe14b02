"""Commands that score: score, compare."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from canlegalrag.cli.auditing import Categories, Corrections, read_judged
from canlegalrag.cli.options import Json, Lenient, Source, app, finish, load, made_by, there
from canlegalrag.terminal import misuse, note, print_json, show

if TYPE_CHECKING:
    pass

__all__ = ["compare", "score"]


@app.command()
def score(
    run: Annotated[Path | None, typer.Option(help="run.jsonl, or a TREC run")] = None,
    verdicts: Annotated[Path | None, typer.Option(help="verdicts.jsonl instead: what answers claim")] = None,
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", "-b", help="sample (default), folder, legalbenchrag:FOLDER, or Hub id")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="judgments instead: TREC, TSV, JSONL or Parquet")] = None,
    measures: Annotated[str | None, typer.Option(help='for example "ndcg@10 recall@10 span_recall@8"')] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="province, persona, variant …; repeat the option for several"),
    ] = None,
    corrections: Corrections = None,
    categories: Categories = None,
    out: Annotated[Path | None, typer.Option(help="also write the JSON here")] = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Score a run, or verdicts on answers: means over all queries of the benchmark, with intervals, n and skipped."""
    from canlegalrag import claim_report, report, submission
    from canlegalrag.files import read_qrels, read_run, write_atomic
    from canlegalrag.measures.retrieval import parse_all

    given = _given(run, verdicts, benchmark, qrels, by or (), corrections or categories, out)
    with misuse():
        wanted = parse_all(measures) if measures and run else None
        there(given, *([qrels] if qrels else []))
    found = None if qrels else load(benchmark or "sample", lenient)
    if found:
        with misuse():
            for name in by or ():
                if not (verdicts and name == "condition"):
                    found.labels(name)
    if run:
        payload, problems = submission.score_run(
            read_run(run),
            wanted,
            benchmark=found,
            qrels=read_qrels(qrels) if qrels else None,
            by=by or (),
            made=made_by(run),
            place=submission.lines_of(run),
        )
    else:
        judged = read_judged(given, corrections, categories)
        payload, problems = submission.score_verdicts(
            judged, measures, benchmark=found, by=by or (), made=made_by(given)
        )
    if out:
        write_atomic(out, submission.scores_json(payload))
    if json:
        print_json(payload)
    else:
        columns = list(payload["measures"]) if measures else claim_report.HEADLINES if verdicts else ()
        groups = [report.groups_table(field, rows, columns) for field, rows in payload["by"].items()]
        show(report.scores_table(payload), *report.span_tables(payload), *groups)
        if run and (said := submission.shallow(payload)):
            note(said)
        if verdicts:
            for line in claim_report.notes({verdicts.stem: payload}):
                note(line)
    finish(found, problems)


def _given(
    run: Path | None,
    verdicts: Path | None,
    benchmark: str | None,
    qrels: Path | None,
    by: Sequence[str],
    overlay: Path | None,
    out: Path | None,
) -> Path:
    """The file to score, once it is sure that the options go together."""
    from canlegalrag.errors import InputError

    given = run or verdicts
    with misuse():
        if given is None or (run and verdicts):
            raise InputError("score", "give either --run FILE or --verdicts FILE")
        if qrels and (benchmark or verdicts):
            raise InputError("--qrels", "goes with --run alone", "give either --benchmark SOURCE or --qrels FILE")
        if overlay and run:
            raise InputError("--corrections, --categories", "go with --verdicts only")
        if by and qrels:
            raise InputError("--by", "needs --benchmark", "bare judgments have no fields")
        if out and out.resolve() == given.resolve():
            raise InputError(str(out), "is the input itself", "choose another --out")
    return given


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
        there(*runs)
    found = load(benchmark, lenient)
    named = dict(zip(names, runs, strict=True))
    depths = {name: made["k"] for name, path in named.items() if (made := made_by(path))}
    rankings = {name: read_run(path) for name, path in named.items()}
    places = {name: submission.lines_of(path) for name, path in named.items()}
    comparisons, problems = submission.compare_runs(rankings, parsed, found, depths=depths, places=places)
    if json:
        print_json({"measure": measure, "pairs": report.pairs(comparisons)})
    else:
        show(report.comparison_table(comparisons, measure))
    for line in submission.caveats(comparisons):
        note(line)
    finish(found, problems)


def _names(runs: list[Path]) -> list[str]:
    """What to call runs in a table: `results/bm25l/run.jsonl` is `bm25l`, where that tells them apart."""
    short = [path.parent.name if path.stem == "run" and path.parent.name else path.stem for path in runs]
    return short if len(set(short)) == len(short) else [str(path) for path in runs]
