"""The command that checks a submission: every problem, then the scores."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from canlegalrag.cli.options import Json, Lenient, Source, app, load
from canlegalrag.terminal import misuse, note, print_json, show

__all__ = ["check"]


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(help="system.json, run.jsonl or run.trec, answers.jsonl, verdicts.jsonl")],
    benchmark: Source = "sample",
    csv: Annotated[Path | None, typer.Option(help="write a table of all queries here, the worst first")] = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Check a submission as the Space does: list every problem, then score what is sound. Nothing is sent anywhere."""
    from canlegalrag import submission
    from canlegalrag.errors import InputError
    from canlegalrag.files import write_atomic

    with misuse():
        files = submission.parts(folder)
        if csv and csv.resolve() in {path.resolve() for path in files.values()}:
            raise InputError(str(csv), "is a part of the submission", "choose another --csv")
    found = load(benchmark, lenient)
    checked = submission.check(files, found)
    scores = submission.evaluate(checked, found)
    if csv:
        write_atomic(csv, submission.csv(scores["worst"]))
    if json:
        print_json(
            {
                "problems": [asdict(problem) for problem in checked.problems],
                "problem_count": checked.count,
                "fatal": checked.fatal,
                "notes": [asdict(one) for one in checked.notes],
                "digest": checked.digest,
                **scores,
            }
        )
    else:
        _show(checked, scores)
    note(_verdict(checked.count, checked.fatal))
    if checked.count:
        raise typer.Exit(1)


def _show(checked: Any, scores: dict[str, Any]) -> None:
    """Problems and notes, then a table a kind of scores."""
    from rich.table import Table

    from canlegalrag import report

    for title, problems in (("Problems", checked.problems), ("Notes", checked.notes)):
        if problems:
            table = Table("where", "what", "how to mend it" if title == "Problems" else "more", title=title)
            for one in problems:
                table.add_row(one.where, ("fatal: " if one.fatal else "") + one.what, one.fix)
            show(table)
    if scores["retrieval"]:
        show(report.scores_table(scores["retrieval"], "Rankings"))
        for field, groups in scores["retrieval"]["by"].items():
            kept = ("ndcg@10", "recall@10", "mrr")
            show(report.groups_table(field, {label: {m: of[m] for m in kept} for label, of in groups.items()}))
    if scores["claims"]:
        show(report.scores_table(scores["claims"], "Claims"))
    for line in scores["notes"]:
        note(line)


def _verdict(count: int, fatal: bool) -> str:
    if fatal:
        return f"{count:,} problems: it can't be entered until the fatal ones are mended"
    return f"{count:,} problems: it can be entered, but what is named above is left out" if count else "No problems"
