"""Command that runs the Space on this machine: its app is run as a script, since the library never imports gradio."""

import os
from pathlib import Path
from typing import Annotated

import typer

from canlegalrag.cli.options import app
from canlegalrag.terminal import misuse

__all__ = ["space"]


@app.command()
def space(
    benchmark: Annotated[str, typer.Option("--benchmark", "-b", help="sample, a folder, or a Hub id owner/name")] = "",
    submissions: Annotated[str, typer.Option(help="where entries are kept: a folder, or hub:owner/name")] = "",
    chat: Annotated[str, typer.Option(help="provider/model that answers; default offline/extractive")] = "",
    host: Annotated[str, typer.Option(help="address to listen at; 0.0.0.0 for all of this machine's")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="default: the first free one from 7860")] = None,
) -> None:
    """Run the Space here: try a query, check a submission, read the leaderboard. Options go before the environment."""
    import runpy
    from importlib.util import find_spec

    from canlegalrag.errors import MissingExtra

    with misuse():
        script = _script()
        for package in ("gradio", "plotly"):
            if find_spec(package) is None:
                raise MissingExtra(package, "space")
    given = {"CANLEGALRAG_BENCHMARK": benchmark, "CANLEGALRAG_SUBMISSIONS": submissions, "CANLEGALRAG_CHAT": chat}
    given |= {"GRADIO_SERVER_NAME": host, "GRADIO_SERVER_PORT": str(port or "")}
    os.environ.update({name: value for name, value in given.items() if value})
    runpy.run_path(str(script), run_name="__main__")


def _script() -> Path:
    """`space/app.py`: in the installed package, or in the clone."""
    from importlib.resources import files

    from canlegalrag.errors import InputError

    packaged = Path(str(files("canlegalrag"))) / "space" / "app.py"
    cloned = Path(__file__).parents[3] / "space" / "app.py"
    found = next((path for path in (packaged, cloned) if path.is_file()), None)
    if found is None:
        raise InputError("space/app.py", "is missing from this installation", "install canlegalrag again")
    return found
