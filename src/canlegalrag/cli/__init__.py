"""The command line: each command is a thin layer over one library call; imports happen inside the commands."""

import os
import sys
from typing import Annotated

import typer

from canlegalrag.cli import answers, auditing, checking, data, publishing, retrieval, scoring, space
from canlegalrag.cli.options import app

__all__ = ["answers", "app", "auditing", "checking", "data", "main", "publishing", "retrieval", "scoring", "space"]

_JOURNEY = """
The benchmark kit for retrieval-augmented question answering over Canadian case law.

The journey, from nothing to numbers:

\b
  canlegalrag run                         the whole job on the embedded sample, offline
  canlegalrag info [SOURCE]               what a benchmark holds
  canlegalrag recipes                     the retrieval configurations by name, and what each needs
  canlegalrag retrieve bm25l -b SOURCE --out run.jsonl
  canlegalrag sweep "bm25*" -b SOURCE      many of them, beside the paper's figures
  canlegalrag score -b SOURCE --run run.jsonl --measures "ndcg@10 recall@10"
  canlegalrag generate -b SOURCE --run run.jsonl --model provider/model --out answers.jsonl
  canlegalrag judge -b SOURCE --answers answers.jsonl --judge provider/model --out verdicts.jsonl
  canlegalrag score -b SOURCE --verdicts verdicts.jsonl
  canlegalrag explain verdicts.jsonl --out categories.jsonl    why claims fail
  canlegalrag audit verdicts.jsonl --query ID      one answer, claim by claim
  canlegalrag calibrate --judge provider/model     is the judge any good?
  canlegalrag compare -b SOURCE a.jsonl b.jsonl
  canlegalrag build SOURCE --out DIR      a benchmark as Parquet with a card
  canlegalrag citations FILE              the Canadian citations in a text
  canlegalrag check FOLDER -b SOURCE      a submission: every problem, then its scores
  canlegalrag space                       the demo, submission checker and leaderboard, in a browser
  canlegalrag publish dataset --repo OWNER/NAME    what would go to the Hub; --push sends it

SOURCE is `sample`, a folder, `legalbenchrag:FOLDER`, or a dataset on the Hugging Face Hub (owner/name).

Data goes to stdout, progress and notes to stderr. Exit status: 0 fine, 1 problems found, 2 misuse.
"""


def main() -> None:
    """Run the command line; the library's errors become a message and an exit status."""
    if sys.stdout is None:  # closed by the shell (`>&-`)
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # names have accents, terminals may not
    app()


def _version(wanted: bool) -> None:
    if wanted:
        from canlegalrag import __version__

        print(f"canlegalrag {__version__}")
        raise typer.Exit


@app.callback(help=_JOURNEY)
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Hold the options that come before a command."""
