"""The terminal: what goes to stdout and stderr, and what a fault becomes."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Commands", "misuse", "note", "print_json", "progress", "progress_later", "show"]


class Commands(TyperGroup):
    """The group of commands: turns what goes wrong in any of them into a message and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; no traceback ever reaches a user for a fault in data, files or devices."""
        from canlegalrag.errors import CanLegalRAGError

        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a full disk or a closed pipe shows here, not at exit
            return result
        except CanLegalRAGError as error:
            note(f"canlegalrag: {error}")
            raise typer.Exit(1) from None
        except BrokenPipeError:  # `canlegalrag … | head`
            _drop_stdout()
            raise typer.Exit(0) from None
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            note(f"canlegalrag: {where}{error.strerror or error}")
            if sys.stdout is not None:
                _drop_stdout()
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            note("\ncanlegalrag: stopped; the same command goes on from here")
            raise typer.Exit(130) from None


def _drop_stdout() -> None:
    """Nothing more can be written there: keep Python from trying at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(text: str) -> None:
    """Say something on stderr."""
    print(text, file=sys.stderr)


@contextmanager
def misuse() -> Iterator[None]:
    """What goes wrong in here is the command line's fault: exit status 2."""
    from canlegalrag.errors import InputError, MissingExtra

    try:
        yield
    except (InputError, MissingExtra) as error:
        note(f"canlegalrag: {error}")
        raise typer.Exit(2) from None


def show(*parts: "RenderableType") -> None:
    """Tables on stdout: as wide as the terminal, or as wide as they want to be in a pipe."""
    from rich.console import Console

    if sys.stdout.isatty():
        console = Console(highlight=False, markup=False, emoji=False)
        for part in parts:
            console.print(part)
        return
    console = Console(width=5000, highlight=False, color_system=None, markup=False, emoji=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    print("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def print_json(value: Any) -> None:
    """JSON on stdout."""
    from canlegalrag.files import dumps

    print(dumps(value, indent=1))


@contextmanager
def progress(total: int, text: str) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr; silent where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(text, total=total)
        yield lambda n: bar.advance(task, n)


@contextmanager
def progress_later(total: int, text: str) -> Iterator[Callable[[int], None]]:
    """A progress bar that appears with its first step, since two can't be drawn at once."""
    started: list[Any] = []

    def step(n: int) -> None:
        if not started:
            manager = progress(total, text)
            started.extend((manager, manager.__enter__()))
        started[1](n)

    try:
        yield step
    finally:
        if started:
            started[0].__exit__(None, None, None)
