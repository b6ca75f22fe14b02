"""Commands about answers: generate, judge."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from canlegalrag.cli.options import Budget, Cache, Json, Lenient, Source, app, finish, load, made_by, there
from canlegalrag.cli.paying import Jobs, JudgeName, Settings, models_of, paid, settings_of, took
from canlegalrag.terminal import misuse, note, print_json, progress, show
from canlegalrag.wording import many

if TYPE_CHECKING:
    from canlegalrag.benchmark import Benchmark
    from canlegalrag.experiment import Answered

__all__ = ["answer", "generate", "judge", "show_answers"]


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
        options = settings_of(settings)
    found = load(benchmark, lenient)
    with (
        paid({"generator": model}, options, cache, budget, jobs) as calls,
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
    note(f"{out}: {many(sum(meta['stops'].values()), 'answer')}{f' ({stops})' if stops else ''}{cut}; {took(meta)}")
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
    from canlegalrag.measures import claims
    from canlegalrag.records import read_answers, read_verdicts

    there(answers)
    with misuse():
        options = settings_of(settings)
    found = load(benchmark, lenient)
    given = read_answers(answers, found.documents)
    models = {"judge": judge} | ({"decomposer": decomposer} if decomposer else {})
    with paid(models, options, cache, budget, jobs) as calls, progress(len(given), "answers judged") as step:
        model, splitter = models_of(judge, decomposer, calls, options)
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
    judged = read_verdicts(out)
    asked = [name for name in meta["measures"] if any(name in one.asked for one in judged.values())]
    counts = claims.totals(claims.per_query(judged, asked)) if asked else {}
    shares = [f"{name} {part:,g} of {whole:,g} claims" for name, (part, whole) in counts.items() if whole]
    if unscored := meta["labels"].get("unscored", 0):
        shares.append(f"{unscored:,} without a verdict")
    done = ", ".join(shares) or "nothing to judge"
    note(f"{out}: {done}; by {judge}, claims by {meta['decomposer']['model']}; {took(meta)}")
    note(f"Score them: canlegalrag score -b {benchmark} --verdicts {out}")
    finish(found, problems)


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
        paid({"generator": generator, "judge": judge}, {}, cache, budget, 8) as calls,
        progress(steps, "answers generated and judged") as step,
    ):
        model, splitter = models_of(judge, None, calls, {})
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
