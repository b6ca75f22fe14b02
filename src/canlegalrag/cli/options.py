"""What the commands share: the app, their options, and how they load, look up and end."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from canlegalrag.terminal import Commands, misuse, note

if TYPE_CHECKING:
    from canlegalrag.benchmark import Benchmark

__all__ = ["Budget", "Cache", "Json", "Lenient", "Source", "app", "finish", "load", "made_by", "there"]

app = typer.Typer(
    cls=Commands, no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
)

Source = Annotated[
    str, typer.Option("--benchmark", "-b", help="sample, a folder, legalbenchrag:FOLDER, or a Hub id owner/name")
]
Lenient = Annotated[bool, typer.Option("--lenient", help="go on in spite of faults in the benchmark; they are listed")]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout instead of a table")]
Budget = Annotated[
    float | None, typer.Option(min=0, help="US dollars: stop before more is spent; what was paid is kept")
]
Cache = Annotated[Path | None, typer.Option(help="folder of indexes; default $CANLEGALRAG_CACHE or the user's cache")]


def load(source: str, lenient: bool = False) -> "Benchmark":
    """Load a benchmark, or end with what is wrong with it; faults that were let pass go to stderr."""
    from canlegalrag.benchmark import load as read
    from canlegalrag.report import problems_table

    with misuse():
        benchmark = read(source, strict=not lenient)
    if benchmark.problems:
        note(problems_table(benchmark.problems))
    return benchmark


def there(*paths: Path) -> None:
    """Say at once that a file isn't there."""
    from canlegalrag.errors import InputError

    for path in paths:
        if path.is_fifo():
            raise InputError(str(path), "is a pipe, and is read more than once", "write it to a file first")
        if not path.is_file():
            raise InputError(str(path), "is a folder" if path.is_dir() else "no such file", "check the path")


def made_by(run: Path) -> dict[str, Any]:
    """What made a run, if what stands beside it is about the run as it is."""
    from canlegalrag.pipeline import meta_path, read_meta

    made = read_meta(run)
    if not made and meta_path(run).exists():
        note(f"{run}: was changed since it was made; what stands in {meta_path(run).name} isn't used")
    return made


def finish(benchmark: "Benchmark | None", problems: Sequence[Any] = ()) -> None:
    """List a run's problems; exit status 1 where there are any, there or in the benchmark."""
    from canlegalrag.report import problems_table

    if problems:
        note(problems_table(problems))
    if problems or (benchmark and any(p.fatal for p in benchmark.problems)):
        raise typer.Exit(1)
