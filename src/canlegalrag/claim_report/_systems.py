"""Systems side by side: headline measures, intervals, what must be known of them, and the worst queries."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from canlegalrag.benchmark import Benchmark
from canlegalrag.claim_report._cells import table
from canlegalrag.tables import figure

__all__ = [
    "COUNTED",
    "HEADLINES",
    "Payload",
    "answers_table",
    "board",
    "intervals",
    "intervals_table",
    "judged_by",
    "notes",
    "worst",
    "worst_board",
    "worst_table",
]

Payload = Mapping[str, Any]

HEADLINES = ("accuracy", "groundedness", "coverage", "reference_groundedness", "f1")
"""What is drawn, in the order in which it is shown."""

_COLUMNS = {
    **{name: name.replace("_", " ") for name in HEADLINES},
    "hallucination": "hallucination",
    "contradiction_rate": "contradiction",
    "abstention_rate": "abstained",
    "unscored_rate": "unscored",
    "claims_per_answer": "claims an answer",
    "verbosity": "verbosity",
}
"""Measure -> head of its column; hallucination is two measures, shown as an interval."""

_BESIDE = 3
"""Systems that stand side by side in the terminal."""

COUNTED = "n and skipped are of the first measure; where another has a different n, it stands in its cell."
"""How to read the counts of a table of systems."""

_NAMED = 8
"""Judges that are named one by one."""


def answers_table(results: Mapping[str, Payload], title: str = "") -> Table:
    """Systems with their headline measures: a row a system; a few stand side by side, as a terminal is narrow.

    Args:
        results: system's name -> what `submission.claims.score_verdicts` gives.
        title: of the table.
    """
    heads, rows = board(results)
    if len(rows) <= _BESIDE:
        heads, *rows = [list(line) for line in zip(heads, *rows, strict=True)]
    return table(heads, rows, title, "\n".join([*notes(results), COUNTED]), left=("condition",))


def intervals_table(results: Mapping[str, Payload], title: str = "") -> Table:
    """Every measure of every system with its interval, its bounds, n and skipped: a row each."""
    return table(*intervals(results), title, "", left=("measure", "defined by"))


def notes(results: Mapping[str, Payload]) -> list[str]:
    """What a reader must know of the figures: whose verdicts they are, and what the columns mean."""
    judges = {frozenset(name for name in _judges(of) if "/" in name) for of in results.values()}
    lines = [f"Judged by {judged_by(results)}."]
    if human := sum(of["provenance"]["verdicts"]["human"] for of in results.values()):
        lines.append(f"A person's verdicts stand in the place of the judge's: {human}.")
    if len(judges) > 1:
        lines.append("Not all systems were judged by the same judge: such figures can't be compared.")
    lines += [
        f"{name} is a stand-in for a judge: its figures show that the path works, not how good an answer is."
        for name in sorted(set().union(*judges))
        if name.startswith("offline/")
    ]
    shown = {m for of in results.values() for m in of["measures"]}
    if {"hallucination_lower", "hallucination_upper"} <= shown:
        lines.append(
            "Hallucination lies between two shares of the answer's claims: at least those that the evidence "
            "contradicts or that are wrong in kind, at most all that it doesn't support. It is no confidence interval. "
            "Where claims weren't sorted by why they fail, the lower end counts contradictions alone."
        )
    if any(_bounds(of["measures"], m) for of in results.values() for m in HEADLINES):
        lines.append(
            "In brackets, where claims are unscored: the figure if the judge's failures were all not supported, and if "
            "they were all supported."
        )
    return lines


def _judges(of: Payload) -> list[str]:
    """Who judged a system's answers."""
    return sorted(map(str, of["provenance"]["verdicts"]["judges"]))


def _conditions(of: Payload) -> str:
    return ", ".join(name for name in of["provenance"]["verdicts"]["conditions"] if name != "(none)")


def judged_by(results: Mapping[str, Payload]) -> str:
    names = sorted({name for of in results.values() for name in _judges(of)})
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more if names else "nobody who is named"


def worst(payload: Payload, most: int = 10) -> tuple[str, list[str]]:
    """The queries that did worst, by the first headline measure that there is.

    Returns:
        The measure's name, and ids of queries, the lowest value first, then by id; queries without a value are no
        failures and are left out.
    """
    measure = next((m for m in ("groundedness", *HEADLINES) if m in payload["measures"]), "")
    values = {query: row[measure] for query, row in payload["per_query"].items() if row.get(measure) is not None}
    return measure, sorted(values, key=lambda query: (values[query], query))[:most]


def worst_table(payload: Payload, benchmark: Benchmark | None = None, most: int = 10) -> Table:
    """The worst queries with their figures: what to open with `canlegalrag audit` first."""
    measure, _ = worst(payload, 0)
    heads, rows = worst_board(payload, benchmark, most)
    return table(heads, rows, f"worst by {measure}" if measure else "", "", left=("question",))


def worst_board(
    payload: Payload, benchmark: Benchmark | None = None, most: int = 10
) -> tuple[list[str], list[list[str]]]:
    """Heads and cells of `worst_table`."""
    columns = [m for m in HEADLINES if m in payload["measures"]]
    rows = []
    for query in worst(payload, most)[1]:
        cells = [figure(payload["per_query"][query].get(m), 2) for m in columns]
        found = benchmark.queries.get(query) if benchmark else None
        asked = " ".join(found.text.split()) if found else ""
        rows.append([query, *cells, *([asked if len(asked) <= 60 else asked[:59] + "…"] if benchmark else [])])
    return ["query", *(_COLUMNS[m] for m in columns), *(["question"] if benchmark else [])], rows


def board(results: Mapping[str, Payload]) -> tuple[list[str], list[list[str]]]:
    """Heads and cells of the table of systems; a measure that none has, has no column."""
    shown = {m for of in results.values() for m in of["measures"]}
    shown |= {"hallucination"} if {"hallucination_lower", "hallucination_upper"} <= shown else set()
    columns = [m for m in _COLUMNS if m in shown]
    conditions = any(_conditions(of) not in name for name, of in results.items())  # else the names say it
    body = []
    for name, of in results.items():
        rows = of["measures"]
        first = next((rows[_key(m)] for m in columns if _key(m) in rows), {"n": 0, "skipped": 0})
        cells = [_cell(rows, m, first["n"]) for m in columns]
        labels = [name, _conditions(of) or "–"] if conditions else [name]
        body.append([*labels, *cells, str(first["n"]), str(first["skipped"])])
    heads = ["system", "condition"] if conditions else ["system"]
    return [*heads, *(_COLUMNS[m] for m in columns), "n", "skipped"], body


def _key(measure: str) -> str:
    """The measure whose n a column has."""
    return "hallucination_upper" if measure == "hallucination" else measure


def _cell(rows: Mapping[str, Any], measure: str, n: int) -> str:
    """A mean; with its bounds where claims are unscored, and with its n where that isn't the row's."""
    if _key(measure) not in rows:
        return "–"
    row = rows[_key(measure)]
    if measure == "hallucination":
        low = rows.get("hallucination_lower", {}).get("mean")
        shown = "–" if low is None or row["mean"] is None else f"{low:.3f} … {row['mean']:.3f}"
    else:
        shown = figure(row["mean"], 1 if measure == "claims_per_answer" else 3)
    if bounds := _bounds(rows, measure):
        shown += f" ({bounds})"
    return shown if row["n"] == n else f"{shown} n={row['n']}"


def _bounds(rows: Mapping[str, Any], measure: str) -> str:
    """Lower and upper bound of a mean; empty where nothing is unscored, or nobody computed them."""
    low, high = (rows.get(f"{measure}_{end}", {}).get("mean") for end in ("lower", "upper"))
    if measure == "hallucination" or low is None or high is None or low == high:
        return ""
    return f"{low:.3f} … {high:.3f}"


def intervals(results: Mapping[str, Payload]) -> tuple[list[str], list[list[str]]]:
    body = []
    for name, of in results.items():
        for measure, row in of["measures"].items():
            digits = 1 if measure == "answer_chars" else 3
            ends = "–" if row["low"] is None else f"{row['low']:.{digits}f} … {row['high']:.{digits}f}"
            micro = figure(row["micro"], 3) if "micro" in row else ""
            counts = [str(row["n"]), str(row["skipped"]), of["provenance"]["definitions"][measure]]
            body.append([name, measure, figure(row["mean"], digits), ends, micro, *counts])
    return ["system", "measure", "mean", "95 % interval", "over all claims", "n", "skipped", "defined by"], body
