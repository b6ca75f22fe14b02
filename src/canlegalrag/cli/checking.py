"""The command that checks a submission: every problem, then the scores."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from canlegalrag.cli.options import Json, Lenient, Source, app, load
from canlegalrag.terminal import misuse, note, print_json, show
from canlegalrag.wording import many

if TYPE_CHECKING:
    from rich.table import Table

    from canlegalrag.submission import Checked

__all__ = ["check"]

_CITED = ("citation_precision", "citation_recall", "citation_f1", "cited_retrieved", "invented_rate", "coverage")
_GROUPED = ("ndcg@10", "recall@10", "mrr")
_WORST = 5
_FEWEST = 2  # queries of a group: a mean over one is that query


@app.command()
def check(
    folder: Annotated[
        Path | None, typer.Argument(help="system.json, run.jsonl or run.trec, answers.jsonl, verdicts.jsonl")
    ] = None,
    benchmark: Source = "sample",
    template: Annotated[
        Path | None, typer.Option(metavar="DIR", help="instead: write system.json to fill in, and what goes with it")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="write a table of all queries here, the worst first")] = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Check a submission as the Space does: list every problem, then score what is sound. Nothing is sent anywhere."""
    from canlegalrag import submission, tables
    from canlegalrag.errors import InputError
    from canlegalrag.files import write_atomic

    with misuse():
        if (folder is None) == (template is None):
            raise InputError("check", "give either a folder or --template DIR")
        if template is not None:
            _write_template(template)
            return
        assert folder is not None
        files = submission.parts(folder)
        if csv and csv.resolve() in {path.resolve() for path in files.values()}:
            raise InputError(str(csv), "is a part of the submission", "choose another --csv")
    found = load(benchmark, lenient)
    checked = submission.check(files, found)
    scores = submission.evaluate(checked, found)
    if csv:
        write_atomic(csv, submission.csv(scores["worst"]))
    if json:
        made = {
            "problems": [asdict(problem) for problem in checked.problems],
            "problem_count": checked.count,
            "fatal": checked.fatal,
            "digest": checked.digest,
        }
        print_json(made | scores | {"notes": [*map(str, checked.notes), *scores["notes"]]})
    else:
        show(*_said(checked), *_scores(scores))
        for line in [*scores["notes"], *_small(scores)]:
            note(tables.clean(line))
    note(_verdict(checked.count, checked.fatal))
    if checked.count:
        raise typer.Exit(1)


def _write_template(folder: Path) -> None:
    """Copy the template; nothing that is there is overwritten."""
    from importlib.resources import files

    from canlegalrag.errors import InputError
    from canlegalrag.files import read_text, write_atomic

    packaged = Path(str(files("canlegalrag"))) / "space" / "examples" / "template"
    source = packaged if packaged.is_dir() else Path(__file__).parents[3] / "space" / "examples" / "template"
    if not (source / "system.json").is_file():
        raise InputError("space/examples/template", "is missing from this installation", "install canlegalrag again")
    if folder.exists() and not folder.is_dir():
        raise InputError(str(folder), "is a file", "give a folder that is new or empty")
    parts = sorted(path for path in source.iterdir() if path.is_file())
    there = [path.name for path in parts if (folder / path.name).exists()]
    if there:
        raise InputError(str(folder), f"holds {' and '.join(there)} already", "choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path in parts:
        write_atomic(folder / path.name, read_text(path))
    note(f"{folder}: fill in system.json, add run.jsonl as README.txt says, then: canlegalrag check {folder}")


def _said(checked: "Checked") -> "list[Table]":
    """Problems and notes."""
    heads = {"Problems": "how to mend it", "Notes": "more"}
    return [
        _table(title, ["where", "what", heads[title]], [[p.where, ("fatal: " * p.fatal) + p.what, p.fix] for p in some])
        for title, some in (("Problems", checked.problems), ("Notes", checked.notes))
        if some
    ]


def _scores(scores: Mapping[str, Any]) -> "list[Table]":
    """A table a kind of scores, then the worst queries."""
    from canlegalrag import report

    made = []
    if scores["retrieval"]:
        made.append(report.scores_table(scores["retrieval"], "Rankings"))
        for field, groups in scores["retrieval"]["by"].items():
            kept = {label: {m: of[m] for m in _GROUPED} for label, of in groups.items() if _large(of)}
            made += [report.groups_table(field, kept)] if kept else []
    if scores["claims"]:
        made.append(report.scores_table(scores["claims"], "Claims"))
    if scores["citations"]:
        made.append(_citations(scores["citations"]["measures"]))
    if scores["worst"]:
        made.append(_worst(scores["worst"][:_WORST]))
    return made


def _large(of: Mapping[str, Any]) -> bool:
    """Whether a group's mean is one: over several queries that have a value."""
    return bool(of[_GROUPED[0]]["n"] >= _FEWEST)


def _small(scores: Mapping[str, Any]) -> list[str]:
    """Says which groups are left to JSON."""
    lines = []
    for field, groups in ((scores["retrieval"] or {}).get("by") or {}).items():
        small = sum(not _large(of) for of in groups.values())
        if small:
            said = f"{small} of {many(len(groups), 'group')} with fewer than {_FEWEST} queries"
            lines.append(f"by {field}: {said}: see --json")
    return lines


def _citations(measures: Mapping[str, Any]) -> "Table":
    from canlegalrag.tables import figure

    rows = []
    for name, row in ((name, measures[name]) for name in _CITED):
        ends = "–" if row["low"] is None else f"{row['low']:.3f} … {row['high']:.3f}"
        counts = [str(row["n"]), str(row["skipped"]), f"{row['part']:g} of {row['whole']:g}"]
        rows.append([name, figure(row["mean"]), ends, *counts])
    heads = ["measure", "mean", "95 % interval", "n", "skipped", "over all answers"]
    return _table("Citations", heads, rows, heads[1:])


def _worst(rows: Sequence[Mapping[str, Any]]) -> "Table":
    from canlegalrag.tables import figure

    facts = ("query_id", "text", "province", "persona", "variant")
    names = [name for name in rows[0] if name not in facts]
    texts = [" ".join(row["text"].split()) for row in rows]
    cells = [
        [row["query_id"], *(figure(row[name], 3) for name in names), text if len(text) <= 60 else f"{text[:59]}…"]
        for row, text in zip(rows, texts, strict=True)
    ]
    return _table("The worst queries; all with --csv FILE", ["query", *names, "question"], cells, names)


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> "Table":
    """A table of words, made harmless for a terminal; columns named in `right` stand to the right."""
    from rich.table import Table

    from canlegalrag.tables import clean

    made = Table(title=title, title_justify="left")
    for head in heads:
        made.add_column(head, justify="right" if head in right else "left")
    for row in rows:
        made.add_row(*(clean(cell) for cell in row))
    return made


def _verdict(count: int, fatal: bool) -> str:
    said = many(count, "problem")
    if fatal:
        return f"{said}: it can't be entered until the fatal ones are mended"
    return f"{said}: it can be entered, but what is named above is left out" if count else "No problems"
