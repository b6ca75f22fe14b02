"""Commands about answers: generate, judge, explain, audit, calibrate."""

import json as json_module
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from canlegalrag.cli.options import Budget, Cache, Json, Lenient, Source, app, finish, load, made_by, there
from canlegalrag.terminal import misuse, note, print_json, progress, show

if TYPE_CHECKING:
    from canlegalrag.benchmark import Benchmark
    from canlegalrag.calls import Calls
    from canlegalrag.experiment import Answered
    from canlegalrag.protocols import Decomposer, Judge
    from canlegalrag.types import Judged

__all__ = ["answer", "audit", "calibrate", "explain", "generate", "judge", "read_judged", "show_answers"]

Jobs = Annotated[int, typer.Option(min=1, help="calls in flight at once")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="a provider's setting: base_url=…, price_in=…, price_out=…"),
]
Verdicts = Annotated[Path, typer.Argument(help="verdicts.jsonl")]
JudgeName = Annotated[str, typer.Option(help="provider/model; offline/lexical is a stand-in that needs none")]
Corrections = Annotated[Path | None, typer.Option(help="a person's verdicts, which go before the judge's (JSONL)")]
Categories = Annotated[Path | None, typer.Option(help="why claims fail, from `canlegalrag explain`")]


def _settings(given: list[str] | None) -> dict[str, Any]:
    """Settings as values: numbers, true, false and objects as in JSON, all else as text."""
    from canlegalrag.errors import InputError

    found: dict[str, Any] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise InputError(f"--set {one!r}", "is not written NAME=VALUE", "--set price_in=0.15")
        try:
            found[name] = json_module.loads(value)
        except ValueError:
            found[name] = value
    return found


@contextmanager
def _paid(
    models: Mapping[str, str], options: Mapping[str, Any], cache: Path | None, budget: float | None, jobs: int
) -> Iterator["Calls"]:
    """Paid calls, once it is said what the models (role -> provider/model) cost."""
    from canlegalrag import backends
    from canlegalrag.calls import Calls
    from canlegalrag.recipes import cache_folder

    for name, role in {name: role for role, name in models.items()}.items():
        with misuse():
            needed = backends.needs(name, role)
        prices = [options.get(key, getattr(needed, key)) for key in ("price_in", "price_out")]
        if prices != [0, 0]:
            price = "at a price that isn't known: give it with --set price_in=… --set price_out=…"
            if None not in prices:
                price = f"at ${prices[0]} a million tokens read and ${prices[1]} written"
            limit = f"stops at ${budget:,.2f}" if budget is not None else "set a limit with --budget"
            note(f"{name} may cost money, {price}; {limit}")
    with Calls((cache or cache_folder()) / "calls", budget=budget, workers=jobs) as calls:
        yield calls


def _took(meta: Mapping[str, Any]) -> str:
    cost = "cost unknown" if meta["cost"] is None else f"${meta['cost']:.4f}"
    return f"{sum(meta['seconds'].values()):.1f} s, {cost}"


@app.command()
def generate(
    run: Annotated[Path, typer.Option(help="run.jsonl, or a TREC run")],
    out: Annotated[Path, typer.Option(help="answers.jsonl; what stopped goes on")],
    benchmark: Source = "sample",
    model: Annotated[str, typer.Option(help="provider/model of the generator")] = "offline/extractive",
    condition: Annotated[str, typer.Option(help="pipeline: what the run found; oracle: the gold alone")] = "pipeline",
    k: Annotated[int, typer.Option(min=1, help="hits that are read, by their whole documents where these fit")] = 10,
    tokens: Annotated[int, typer.Option(min=1, help="tokens that the documents may take")] = 115_000,
    max_tokens: Annotated[int, typer.Option(min=1, help="tokens that an answer may have")] = 2048,
    settings: Settings = None,
    jobs: Jobs = 8,
    budget: Budget = None,
    cache: Cache = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Answer a benchmark's queries from what a run found, or from the gold documents alone."""
    from canlegalrag import backends, pipeline
    from canlegalrag.files import read_run

    there(run)
    with misuse():
        options = _settings(settings)
    found = load(benchmark, lenient)
    with (
        _paid({"generator": model}, options, cache, budget, jobs) as calls,
        progress(len(found.queries), "answers") as step,
    ):
        with misuse():
            generator = backends.generator(model, calls, **options)
        meta = pipeline.generate(
            found,
            read_run(run, found.documents),
            generator,
            out,
            condition=condition,
            k=k,
            tokens=tokens,
            max_tokens=max_tokens,
            calls=calls,
            made=made_by(run),
            progress=step,
        )
    if json:
        print_json(meta)
    stops = ", ".join(f"{n} {stop}" for stop, n in meta["stops"].items() if stop != "stop")
    cut = f"; {meta['cut']} had their documents cut to {tokens:,} tokens" if meta["cut"] else ""
    note(f"{out}: {sum(meta['stops'].values())} answers{f' ({stops})' if stops else ''}{cut}; {_took(meta)}")
    finish(found)


@app.command()
def judge(
    answers: Annotated[Path, typer.Option(help="answers.jsonl")],
    out: Annotated[Path, typer.Option(help="verdicts.jsonl; what stopped goes on")],
    benchmark: Source = "sample",
    judge: JudgeName = "offline/lexical",
    measures: Annotated[
        str, typer.Option("--for", help="of accuracy,groundedness,coverage,reference_groundedness")
    ] = "accuracy,groundedness,coverage",
    decomposer: Annotated[
        str | None, typer.Option(help="what takes answers apart; the judge if it can, else offline/sentences")
    ] = None,
    window: Annotated[int, typer.Option(min=200, help="characters of evidence judged at once")] = 12_000,
    overlap: Annotated[int, typer.Option(min=0, help="characters that two windows share")] = 1_000,
    settings: Settings = None,
    jobs: Jobs = 8,
    budget: Budget = None,
    cache: Cache = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Take answers apart into claims, and judge these against reference and evidence."""
    from canlegalrag import pipeline
    from canlegalrag.records import read_answers

    there(answers)
    with misuse():
        options = _settings(settings)
    found = load(benchmark, lenient)
    given = read_answers(answers, found.documents)
    models = {"judge": judge} | ({"decomposer": decomposer} if decomposer else {})
    with _paid(models, options, cache, budget, jobs) as calls, progress(len(given), "answers judged") as step:
        model, splitter = _models(judge, decomposer, calls, options)
        meta, problems = pipeline.judge(
            found,
            given,
            model,
            splitter,
            out,
            measures=measures.replace(",", " ").split(),
            window=window,
            overlap=overlap,
            calls=calls,
            made=made_by(answers),
            progress=step,
        )
    if json:
        print_json(meta)
    labels = ", ".join(f"{n:,} {label}" for label, n in meta["labels"].items())
    note(f"{out}: {labels or 'nothing to judge'}; by {judge}, claims by {meta['decomposer']['model']}; {_took(meta)}")
    note(f"Score them: canlegalrag score -b {benchmark} --verdicts {out}")
    finish(found, problems)


def _models(
    judge: str, decomposer: str | None, calls: "Calls", options: Mapping[str, Any]
) -> tuple["Judge", "Decomposer"]:
    """The judge, and what takes answers apart: where nothing is asked for, the judge itself if it can."""
    from canlegalrag import backends
    from canlegalrag.errors import InputError

    with misuse():
        made = backends.judge(judge, calls, **options)
        if decomposer is not None:
            return made, backends.decomposer(decomposer, calls, **(options if decomposer == judge else {}))
    try:
        return made, backends.decomposer(judge, calls, **options)
    except InputError:  # a model that judges only
        return made, backends.decomposer("offline/sentences")


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
        options = _settings(settings)
    judged = read_judged(verdicts, corrections)
    found = load(benchmark, lenient)
    with _paid({"sorter": judge}, options, cache, budget, jobs) as calls, progress(len(judged), "answers") as step:
        with misuse():
            sorter = backends.sorter(judge, calls, **options)
        meta = pipeline.explain(found, judged, sorter, out, calls=calls, made=made_by(verdicts), progress=step)
    if json:
        print_json(meta)
    else:
        show(claim_report.categories_table({verdicts.stem: read_judged(verdicts, corrections, out)}))
    note(f"{out}: by {judge}; {_took(meta)}")
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
        note(f"{page}: {1 if query else len(judged)} answers")
    elif query:
        show(audit_page.text(judged[query], found, texts.get(query), made))
    finish(found)


def answer(
    found: "Benchmark",
    out: Path,
    run: str,
    folder: str,
    generator: str,
    judge: str,
    cache: Path | None,
    budget: float | None,
) -> "Answered":
    """Answer a benchmark's queries from a run of an experiment and from the gold, judge and score.

    Args:
        found: the benchmark.
        out: folder of the experiment.
        run: name of the run.
        folder: where in `out` it lies.
        generator: provider/model that answers.
        judge: provider/model that judges, and sorts what fails where it can.
        cache: folder of what was paid for.
        budget: US dollars that may be spent.
    """
    from canlegalrag import backends, experiment
    from canlegalrag.errors import InputError

    steps = 2 * len(found.queries) * 2
    with (
        _paid({"generator": generator, "judge": judge}, {}, cache, budget, 8) as calls,
        progress(steps, "answers generated and judged") as step,
    ):
        model, splitter = _models(judge, None, calls, {})
        with misuse():
            writer = backends.generator(generator, calls)
        try:
            sorter = backends.sorter(judge, calls)
        except InputError:  # a model that judges only
            sorter = backends.sorter("offline/rules")
        return experiment.answer(
            found,
            out / folder / "run.jsonl",
            out / "answers" / folder,
            writer,
            model,
            splitter,
            sorter,
            name=run,
            calls=calls,
            progress=step,
        )


def show_answers(answered: "Answered", folder: Path, json: bool) -> None:
    """The table of answers, and where to read on."""
    from canlegalrag import claim_report

    if not json:
        show(claim_report.answers_table(answered.results))
    note(f"Answers: {folder / 'answers.html'}; claim by claim: audit.html in {folder}/pipeline and {folder}/oracle")


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
        options = _settings(settings)
    found = load(benchmark, lenient)
    given = calibration.read_pairs(pairs, found.documents) if pairs else found.pairs
    if not given:
        raise InputError(benchmark, "has no labelled pairs", "give some with --pairs FILE")
    judged = read_judged(verdicts) if verdicts else None
    with (
        _paid({"judge": judge}, options, cache, budget, jobs) as calls,
        progress(2 * len(given), "pairs judged") as step,
    ):
        model, _ = _models(judge, "offline/sentences", calls, options)
        result = calibration.calibrate(model, given, verdicts=judged, blocks=found.blocks, progress=step)
    if out:
        write_atomic(out, dumps(result, indent=1) + "\n")
    if json:
        print_json(result)
    else:
        show(*judges.tables(result))
    finish(found)
