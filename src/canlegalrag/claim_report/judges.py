"""How good a judge is, from `calibration.calibrate`: tables for the terminal and in Markdown."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from canlegalrag import tables as cells
from canlegalrag.claim_report._cells import table
from canlegalrag.measures.agreement import UNSCORED
from canlegalrag.measures.decided import LABELS
from canlegalrag.tables import figure
from canlegalrag.wording import many

__all__ = ["markdown", "notes", "tables"]

_Board = tuple[str, list[str], list[list[str]]]

_FIGURES = {
    "accuracy": "accuracy, three labels",
    "kappa": "kappa, three labels",
    "binary_accuracy": "accuracy, supported or not",
    "binary_kappa": "kappa, supported or not",
    "sensitivity": "sensitivity (supported)",
    "specificity": "specificity (not supported)",
    "unscored_rate": "unscored",
}

_BY_LABEL = ("precision", "recall", "f1", "people", "judge")


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Tables for the terminal: figures, confusion, errors by label and by kind, and rates as people would find them.

    Args:
        result: what `calibration.calibrate` gives.
    """
    *before, (title, heads, rows) = _boards(result)
    made = [table(h, r, t, "") for t, h, r in before]
    return [*made, table(heads, rows, title, "\n".join(notes(result)))]


def markdown(result: Mapping[str, Any], *, level: int = 2) -> str:
    """The same in Markdown.

    Args:
        result: as for `tables`.
        level: of the headings.
    """
    parts = [f"{'#' * level} {cells.plain(title)}\n\n{cells.markdown(h, rows)}" for title, h, rows in _boards(result)]
    return "\n".join([*parts, *(f"{cells.plain(line)}\n" for line in notes(result))])


def notes(result: Mapping[str, Any]) -> list[str]:
    """What a reader must know: whose figures these are, what they hold for, what was cut or couldn't be corrected."""
    judge, pairs = str(result["judge"].get("model", "")), result["pairs"]
    cost = "cost unknown" if result["cost"] is None else f"${result['cost']:.4f}"
    lines = [
        f"{judge} on {many(pairs['n'], 'pair')} ({pairs['fingerprint'][:16]}) from "
        f"{many(pairs['documents'], 'document')}, which the intervals draw; {cost}. "
        f"What has no label counts in {UNSCORED} alone."
    ]
    if judge.startswith("offline/"):
        lines.append(f"{judge} is a stand-in for a judge.")
    lines += result["notes"]
    for name, of in result["corrected"].items():
        lines += [f"{name}: {note}." for note in of["notes"]]
        for method in ("rogan_gladen", "ppi"):
            lines += [f"{name}, {method.replace('_', '-')}: {of[method]['why']}."] if of[method]["why"] else []
    return lines


def _boards(result: Mapping[str, Any]) -> list[_Board]:
    """Title, heads and rows of each table."""
    figures = result["agreement"]
    rows = [[said, *_cells(figures[name])] for name, said in _FIGURES.items()]
    if (same := result["consistency"]) is not None:
        rows.append([f"same label in {same['repeats']} rounds (n {same['n']})", *_cells(same["same"])])
    boards: list[_Board] = [
        (f"{result['judge'].get('model', '')} beside people", ["figure", "value", "95 % interval"], rows),
        (
            "Labels of people (rows) and of the judge",
            ["", *LABELS, UNSCORED],
            [[of, *(str(n) for n in row.values())] for of, row in result["confusion"].items()],
        ),
        (
            "By label",
            ["label", "precision", "recall", "f1", "share by people", "by the judge"],
            [[of, *(figure(figures[f"{name}_{of}"]["value"], 3) for name in _BY_LABEL)] for of in LABELS],
        ),
        (
            "By kind",
            ["kind", "n", "accuracy", "95 % interval", "supported or not", "95 % interval"],
            [
                [kind or "–", str(of["n"]), *_cells(of["accuracy"]), *_cells(of["binary_accuracy"])]
                for kind, of in result["kinds"].items()
            ],
        ),
    ]
    if result["corrected"]:
        boards.append(_corrected(result["corrected"]))
    return boards


def _corrected(corrected: Mapping[str, Mapping[str, Any]]) -> _Board:
    heads = ["supported claims", "n", "by the judge", "95 % interval"]
    heads += ["Rogan-Gladen", "95 % interval", "PPI", "95 % interval"]
    rows = [
        [name, str(of["n"]), *_cells(of["measured"]), *_cells(of["rogan_gladen"]), *_cells(of["ppi"])]
        for name, of in corrected.items()
    ]
    return "Measured over all claims pooled, and as people would find it", heads, rows


def _cells(of: Mapping[str, float | None]) -> tuple[str, str]:
    """A figure and its interval."""
    low, high = of["low"], of["high"]
    return figure(of["value"], 3), "–" if low is None or high is None else f"{low:.3f} … {high:.3f}"
