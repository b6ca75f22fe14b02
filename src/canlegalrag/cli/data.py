"""Commands on data: info, build, citations."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from canlegalrag.cli.options import Json, Lenient, app, finish, load
from canlegalrag.terminal import misuse, note, print_json, progress, show
from canlegalrag.wording import many

__all__ = ["build", "citations", "info"]


@app.command()
def info(
    source: Annotated[
        str, typer.Argument(help="sample, a folder, legalbenchrag:FOLDER, or a Hub id owner/name")
    ] = "sample",
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Say what a benchmark holds: documents, courts, queries, blocks, judgments, fingerprint."""
    from canlegalrag.report import info_table

    benchmark = load(source, lenient)
    summary = benchmark.summary()
    if json:
        print_json(summary)
    else:
        show(info_table({key: value for key, value in summary.items() if key != "problems"}))
    finish(benchmark)


@app.command()
def build(
    source: Annotated[str, typer.Argument(help="sample, a folder, legalbenchrag:FOLDER, or a Hub id owner/name")],
    out: Annotated[Path, typer.Option(help="folder of the dataset repository; replaced if it was built before")],
    lenient: Lenient = False,
) -> None:
    """Write a benchmark as a dataset repository: Parquet configs, card, manifest."""
    from canlegalrag.build import build as write

    benchmark = load(source, lenient)
    with misuse(), progress(len(benchmark.documents), "writing documents") as step:
        manifest = write(benchmark, out, progress=step)
    rows = sum(entry["rows"] for entry in manifest["files"].values())
    held = f"{many(rows, 'row')} in {many(len(manifest['files']), 'file')}"
    note(f"{out}: {held}, fingerprint {manifest['fingerprint'][:16]}")
    finish(benchmark)


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
    note(f"{many(len(found), 'citation')} of {many(len({c.group for c in found}), 'authority')}")


def _check_citations(text: str, source: str, json: bool) -> None:
    """Each citation of an answer with what became of it, linked to its document; exit status 1 if any is false."""
    from dataclasses import asdict

    from rich.table import Table

    from canlegalrag.measures.citations import Registry, check

    benchmark = load(source)
    found = check(text, Registry.build(benchmark.documents))
    if json:
        print_json([asdict(c) for c in found])
    else:
        table = Table("status", "citation", "name given", "document", "why")
        for c in found:
            table.add_row(c.status, c.text, c.name, ", ".join(c.doc_ids), c.reason)
        show(table)
    false = sum(c.status in ("name mismatch", "not in registry") for c in found)
    said = f"{many(len(found), 'citation')}, {false or 'none'} of them"
    note(f"{said} invented or misnamed as far as {benchmark.name} can tell")
    if false:
        raise typer.Exit(1)
