"""Commands about verdicts: explain, audit, calibrate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from canlegalrag.cli.options import Budget, Cache, Json, Lenient, Source, app, finish, load, made_by, there
from canlegalrag.cli.paying import Jobs, JudgeName, Settings, models_of, paid, settings_of, took
from canlegalrag.terminal import misuse, note, print_json, progress, show
from canlegalrag.wording import many

if TYPE_CHECKING:
    from canlegalrag.types import Judged

__all__ = ["Categories", "Corrections", "audit", "calibrate", "explain", "read_judged"]

Verdicts = Annotated[Path, typer.Argument(help="verdicts.jsonl")]
Corrections = Annotated[Path | None, typer.Option(help="a person's verdicts, which go before the judge's (JSONL)")]
Categories = Annotated[Path | None, typer.Option(help="why claims fail, from `canlegalrag explain`")]


def read_judged(verdicts: Path, corrections: Path | None = None, categories: Path | None = None) -> dict[str, "Judged"]:
    """Verdicts from a file, with a person's corrections and the categories of those that fail."""
    from canlegalrag import records

    there(verdicts, *filter(None, (corrections, categories)))
    judged = records.read_verdicts(verdicts)
    if categories:
        judged = records.categorised(judged, records.read_categories(categories))
    return records.corrected(judged, records.read_corrections(corrections)) if corrections else judged


@app.command()
def explain(
    verdicts: Verdicts,
    out: Annotated[Path, typer.Option(help="categories.jsonl; what stopped goes on")],
    benchmark: Source = "sample",
    judge: Annotated[str, typer.Option(help="provider/model; offline/rules is a stand-in")] = "offline/rules",
    corrections: Corrections = None,
    settings: Settings = None,
    jobs: Jobs = 8,
    budget: Budget = None,
    cache: Cache = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Sort the claims that their evidence doesn't support by why they fail."""
    from canlegalrag import backends, claim_report, pipeline

    with misuse():
        options = settings_of(settings)
    judged = read_judged(verdicts, corrections)
    found = load(benchmark, lenient)
    with paid({"sorter": judge}, options, cache, budget, jobs) as calls, progress(len(judged), "answers") as step:
        with misuse():
            sorter = backends.sorter(judge, calls, **options)
        meta = pipeline.explain(found, judged, sorter, out, calls=calls, made=made_by(verdicts), progress=step)
    if json:
        print_json(meta)
    else:
        show(claim_report.categories_table({verdicts.stem: read_judged(verdicts, corrections, out)}))
    note(f"{out}: by {judge}; {took(meta)}")
    note(f"Score with them: canlegalrag score -b {benchmark} --verdicts {verdicts} --categories {out}")
    finish(found)


@app.command()
def audit(
    verdicts: Verdicts,
    query: Annotated[str | None, typer.Option(help="its id; without it, the page has all")] = None,
    benchmark: Source = "sample",
    answers: Annotated[Path | None, typer.Option(help="answers.jsonl, for the text of the answers")] = None,
    page: Annotated[Path | None, typer.Option("--html", help="write an HTML page here")] = None,
    corrections: Corrections = None,
    categories: Categories = None,
    lenient: Lenient = False,
) -> None:
    """Show an answer's claims with what was said of each, the evidence that decided, the judge and the cost."""
    from canlegalrag import audit_page
    from canlegalrag.errors import InputError
    from canlegalrag.files import write_atomic
    from canlegalrag.near import Near
    from canlegalrag.records import read_answers

    judged = read_judged(verdicts, corrections, categories)
    with misuse():
        if query is None and page is None:
            fix = f"one of: {', '.join(list(judged)[:5])} …; or --html PAGE for all"
            raise InputError("audit", "needs --query", fix)
        if query is not None and query not in judged:
            raise InputError(f"--query {query}", f"is not in {verdicts}", Near(dict.fromkeys(judged))(query))
        if answers:
            there(answers)
    found = load(benchmark, lenient)
    beside = verdicts.with_name("answers.jsonl")
    answers = answers or (beside if beside.is_file() else None)
    texts = read_answers(answers, found.documents) if answers else {}
    made = made_by(verdicts)
    if page:
        write_atomic(page, audit_page.html([judged[query]] if query else judged.values(), found, texts, made))
        note(f"{page}: {many(1 if query else len(judged), 'answer')}")
    elif query:
        show(audit_page.text(judged[query], found, texts.get(query), made))
    finish(found)


@app.command()
def calibrate(
    judge: JudgeName = "offline/lexical",
    pairs: Annotated[Path | None, typer.Option(help="labelled pairs of your own (JSONL); else the benchmark's")] = None,
    verdicts: Annotated[Path | None, typer.Option(help="verdicts.jsonl by this judge: corrects its rates")] = None,
    benchmark: Source = "sample",
    out: Annotated[Path | None, typer.Option(help="also write the JSON here")] = None,
    settings: Settings = None,
    jobs: Jobs = 8,
    budget: Budget = None,
    cache: Cache = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Measure a judge on labelled pairs, and correct a measured rate by what it gets wrong."""
    from canlegalrag import calibration
    from canlegalrag.claim_report import judges
    from canlegalrag.errors import InputError
    from canlegalrag.files import dumps, write_atomic

    there(*filter(None, (pairs, verdicts)))
    with misuse():
        options = settings_of(settings)
    found = load(benchmark, lenient)
    given = calibration.read_pairs(pairs, found.documents) if pairs else found.pairs
    if not given:
        raise InputError(benchmark, "has no labelled pairs", "give some with --pairs FILE")
    judged = read_judged(verdicts) if verdicts else None
    with (
        paid({"judge": judge}, options, cache, budget, jobs) as calls,
        progress(2 * len(given), "pairs judged") as step,
    ):
        model, _ = models_of(judge, "offline/sentences", calls, options)
        result = calibration.calibrate(model, given, verdicts=judged, blocks=found.blocks, progress=step)
    if out:
        write_atomic(out, dumps(result, indent=1) + "\n")
    if json:
        print_json(result)
    else:
        show(*judges.tables(result))
    finish(found)
