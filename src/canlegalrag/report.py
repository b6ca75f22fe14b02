"""Tables for the terminal and one self-contained HTML page: every mean beside its interval, n and skipped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

from rich.table import Table

from canlegalrag import charts, price_report, span_report, tables
from canlegalrag.measures.stats import FEWEST, Comparison
from canlegalrag.reproduction import Row
from canlegalrag.submission import number, shallow
from canlegalrag.tables import figure
from canlegalrag.wording import many

__all__ = [
    "comparison_table",
    "groups_table",
    "html",
    "info_table",
    "pairs",
    "problems_table",
    "reproduction_table",
    "runs_table",
    "scores_table",
    "span_tables",
]

Payload = Mapping[str, Any]


def _signed(value: float, digits: int = 3) -> str:
    """A difference, with a true minus."""
    return "–" if value != value else f"{value:+.{digits}f}".replace("-", "−")


def _interval(row: Mapping[str, Any]) -> str:
    return "–" if row["low"] is None else f"{row['low']:.3f} … {row['high']:.3f}"


def info_table(summary: Mapping[str, Any]) -> Table:
    """What a benchmark holds, one fact a row."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in summary.items():
        if isinstance(value, Mapping):
            shown = ", ".join(f"{k} {v}" for k, v in value.items())
        elif isinstance(value, list):
            shown = ", ".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in value) or "none"
        else:
            shown = f"{value:,}" if isinstance(value, int) else str(value)
        table.add_row(key.replace("_", " "), shown)
    return table


def scores_table(payload: Payload, title: str = "") -> Table:
    """One run: a row a measure."""
    table = Table(title=title or None, title_justify="left")
    for name in ("measure", "mean", "95 % interval", "n", "skipped", "family"):
        table.add_column(name, justify="right" if name in ("mean", "n", "skipped") else "left")
    for name, row in payload["measures"].items():
        family = payload["provenance"]["definitions"][name]
        table.add_row(name, figure(row["mean"]), _interval(row), str(row["n"]), str(row["skipped"]), family)
    return table


def span_tables(payload: Payload) -> list[Table]:
    """Measures of characters by data set, where there are several, and recall at equal retrieved characters."""
    spans = payload.get("spans", {})
    found = []
    sets = spans.get("by_dataset", {})
    if len(sets) > 1:
        table = Table(title="by data set; macro is their mean with equal weight", title_justify="left")
        for name in ("measure", *sets, "macro", "95 % interval"):
            table.add_column(name, justify="left" if name in ("measure", "95 % interval") else "right")
        for name, row in spans["macro"].items():
            cells = [f"{figure(part[name]['mean'])} ({part[name]['n']})" for part in sets.values()]
            table.add_row(name, *cells, figure(row["mean"]), _interval(row))
        found.append(table)
    if spans:
        curve = spans["curve"]
        labels = curve["by_dataset"] if len(sets) > 1 else {}
        table = Table(title="span_recall at equal retrieved characters", title_justify="left")
        for name in ("characters", "all queries", *labels, *(["macro"] if labels else []), "rankings as long"):
            table.add_column(name, justify="right")
        columns = [curve["recall"], *labels.values(), *([curve["macro"]] if labels else []), curve["filled"]]
        for characters, *values in zip(curve["characters"], *columns, strict=True):
            table.add_row(f"{characters:,}", *map(figure, values))
        found.append(table)
    return found


def groups_table(field: str, groups: Mapping[str, Mapping[str, Any]], measures: Sequence[str] = ()) -> Table:
    """One run by a field of the queries: a row a value, a column a measure; the first five, where none are named."""
    known = list(next(iter(groups.values()), {}))
    measures = [m for m in measures if m in known] or known[:5]
    more = f"{many(len(known) - len(measures), 'more measure')}: --json" if len(measures) < len(known) else None
    bare = sum(any(_bare(rows[m]) for m in measures) for rows in groups.values())
    few = f"no interval: fewer than {FEWEST} blocks ({bare} of {many(len(groups), 'group')})" if bare else None
    caption = "\n".join(filter(None, (few, more))) or None
    table = Table(title=f"by {field}", title_justify="left", caption=caption, caption_justify="left")
    for name in (field, "n", *measures):
        table.add_column(name, justify="left" if name == field else "right")
    for label, rows in groups.items():
        cells = [f"{figure(rows[m]['mean'])} [{_interval(rows[m])}]" for m in measures]
        table.add_row(label, str(rows[measures[0]]["n"]), *cells)
    return table


def _bare(row: Mapping[str, Any]) -> bool:
    """Whether a mean has no interval."""
    return row["mean"] is not None and row["low"] is None


def _board(results: Mapping[str, Payload], measures: Sequence[str], main: str) -> tuple[list[str], list[list[str]]]:
    """Heads and cells of the table of several runs, best first by the main measure, which carries its interval."""
    ordered = sorted(results, key=lambda r: -(results[r]["measures"][main]["mean"] or 0.0))
    heads = ["run"]
    for name in measures:
        heads += [name, "95 % interval"] if name == main else [name]
    body = []
    for run in ordered:
        rows = results[run]["measures"]
        cells = [run]
        for name in measures:
            cells += [figure(rows[name]["mean"], 3), *([_interval(rows[name])] if name == main else [])]
        body.append([*cells, str(rows[main]["n"]), str(rows[main]["skipped"])])
    return [*heads, "n", "skipped"], body


def _stand_ins(results: Iterable[str]) -> str:
    """What must be read before the figures where a run carries a model's name and was made without it."""
    if not any(name.endswith("(offline)") for name in results):
        return ""
    return (
        "Rows named (offline) ran with stand-ins in place of the models that they name: their figures show that a row "
        "runs, and say nothing about those models."
    )


def runs_table(results: Mapping[str, Payload], measures: Sequence[str], main: str) -> Table:
    """Several runs: a row a run, best first by the main measure, whose interval is shown."""
    heads, body = _board(results, measures, main)
    table = Table(title=_stand_ins(results) or None, title_justify="left")
    for head in heads:
        table.add_column(head, justify="left" if head == "run" else "right")
    for cells in body:
        table.add_row(*cells)
    return table


def reproduction_table(rows: Sequence[Row]) -> Table:
    """Our scores beside the paper's figures, in its way of counting; the last column is the standard one."""
    title = "Beside the paper: its figures are from secondary notes and in its own way of counting"
    table = Table(title=title, title_justify="left")
    for name in ("recipe", "measure", "ours", "paper", "ours − paper", "standard measure"):
        table.add_column(name, justify="left" if name in ("recipe", "measure") else "right")
    for row in rows:
        difference = "–" if row.difference is None else _signed(row.difference)
        figures = (figure(row.ours, 3), figure(row.paper, 3), difference, figure(row.standard, 3))
        table.add_row(row.name, row.measure, *figures)
    return table


def comparison_table(comparisons: Sequence[Comparison], measure: str) -> Table:
    """Every pair of runs: difference, interval, p and whether they can be told apart."""
    holm = f", Holm over {len(comparisons)} pairs" if len(comparisons) > 1 else ""
    title = f"{measure}: {'paired randomisation tests' if holm else 'a paired randomisation test'} over blocks{holm}"
    table = Table(title=title, title_justify="left")
    for name in ("a", "b", "mean a", "mean b", "a − b", "95 % interval", "p", "p (Holm)", "verdict"):
        table.add_column(name, justify="left" if name in ("a", "b", "verdict") else "right")
    for c in comparisons:
        interval = "–" if c.low != c.low else f"{_signed(c.low)} … {_signed(c.high)}"
        table.add_row(
            c.a, c.b, figure(c.mean_a), figure(c.mean_b), _signed(c.difference, 4), interval, *_p(c), verdict(c)
        )
    return table


def pairs(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Comparisons for JSON: undefined numbers are None."""
    rows = [asdict(c) for c in comparisons]
    return [{k: number(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows]


def _p(c: Comparison) -> tuple[str, str]:
    return figure(c.p), figure(c.p_holm)


def verdict(c: Comparison) -> str:
    """What may be said of a pair."""
    if not c.apart:
        return "can't be told apart"
    return f"{c.a if c.difference > 0 else c.b} is better"


def problems_table(problems: Iterable[Any], most: int = 20) -> str:
    """Problems as lines for stderr, the first ones and a count."""
    shown = [str(p) for p in problems]
    more = [f"… and {len(shown) - most} more"] if len(shown) > most else []
    return "\n".join(shown[:most] + more)


_STYLE = """
:root{--ink:#1b1b1f;--dim:#6a6a75;--line:#dddde3;--back:#fff;--mark:#8c1d2f;--band:#f4f1ee}
@media(prefers-color-scheme:dark){:root{--ink:#ececf0;--dim:#a0a0ab;--line:#3a3a42;--back:#17171b}
:root{--mark:#e0788a;--band:#222228}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back)}
body{max-width:80rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2.2rem}p,figcaption{color:var(--dim);max-width:46rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
td,th{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
td:first-child,th:first-child,td.text{text-align:left}tr:hover td{background:var(--band)}
figure{margin:1rem 0}svg text{font:12px system-ui,sans-serif;fill:var(--ink)}code{font-size:.9em}
"""


def html(
    results: Mapping[str, Payload],
    comparisons: Sequence[Comparison],
    *,
    title: str,
    main: str,
    fields: Sequence[str] = ("persona", "variant"),
    notes: Sequence[str] = (),
) -> str:
    """A page about several runs on one benchmark; it needs no network and no script.

    Args:
        results: run's name -> what `score_run` gives.
        comparisons: pairs of the runs on the main measure.
        title: of the page.
        main: the measure to plot and to order by.
        fields: groupings to show for the best run; those of more than twelve groups are left to `scores.json`.
        notes: what a reader must know of the comparisons.
    """
    ordered = sorted(results, key=lambda r: -(results[r]["measures"][main]["mean"] or 0.0))
    first = results[ordered[0]]
    families = first["provenance"]["definitions"]
    measures = [m for m in first["measures"] if families[m] != "span"]  # of characters: in tables of their own
    parts = [
        f"<p>{_about(first)}</p>",
        "<h2>Scores</h2>",
        *([f"<p>{escape(said)}</p>"] if (said := _stand_ins(results)) else []),
        tables.html(*_board(results, measures, main)),
        _definitions(first, measures),
        *(f"<p>{escape(line)}</p>" for line in _depths(results)),
        f"<h2>{escape(main)} with 95 % intervals</h2>",
        _figure_of(charts.forest([(run, results[run]["measures"][main]) for run in ordered], main)),
    ]
    for caption, series in by_chunk(results, (main, "recall@10", "paper_ndcg@10", "paper_recall@10")).items():
        parts += [f"<h2>By chunk size: {escape(caption)}</h2>", _figure_of(charts.lines(series, caption))]
    parts.append(span_report.html(results, span_report.published(results)))
    parts.append(price_report.html(results, main))
    if comparisons:
        parts += [f"<h2>Who can be told apart, by {escape(main)}</h2>", _comparisons(comparisons, notes)]
    for field in fields:
        groups = first["by"].get(field, {})
        if 0 < len(groups) <= 12:
            heads = [field, "n", *measures]
            body = [[label, str(g[main]["n"]), *(_cell(g[m]) for m in measures)] for label, g in groups.items()]
            parts += [f"<h2>{escape(ordered[0])} by {escape(field)}</h2>", tables.html(heads, body)]
    return page(title, "".join(parts))


def page(title: str, body: str) -> str:
    """A page of its own: needs no network and no script."""
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
    head += f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
    return f"{head}<h1>{escape(title)}</h1>{body}</html>\n"


def by_chunk(results: Mapping[str, Payload], measures: Sequence[str]) -> dict[str, charts.Series]:
    """Curves over the size of passages, a chart for each variant that was run at three sizes or more.

    Returns:
        Variant -> measure -> (size in characters or `whole`, mean), sizes ascending.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for payload in results.values():
        recipe = payload["provenance"]["run"].get("recipe", {})
        method, _, size = str(recipe.get("chunk", "")).partition(":")
        label = " and ".join(str(recipe[key]) for key in ("variant", "embedder") if key in recipe)
        label += f", {recipe.get('tokenizer', 'legal')} tokens" if "variant" in recipe else ""
        label += "".join(f", {key} {recipe[key]}" for key in ("precision", "reranker", "rounds") if key in recipe)
        label += ", the paper's chunker" if method == "paper" else ""
        for measure in measures:
            mean = payload["measures"].get(measure, {}).get("mean")
            if method and mean is not None:
                found.setdefault(label, {}).setdefault(measure, {})[size.partition(":")[0] or method] = mean
    order = lambda point: int(point[0]) if point[0].isdigit() else 10**9  # noqa: E731
    return {
        label: {measure: sorted(points.items(), key=order) for measure, points in curves.items()}
        for label, curves in found.items()
        if max(len(points) for points in curves.values()) >= 3
    }


def _figure_of(svg: str) -> str:
    return f'<figure class="wide">{svg}</figure>'


def markdown(results: Mapping[str, Payload], measures: Sequence[str], main: str) -> str:
    """The table of several runs in Markdown, best first by the main measure, whose interval is shown."""
    heads, body = _board(results, measures, main)
    said = _stand_ins(results)
    return (f"{said}\n\n" if said else "") + tables.markdown(heads, body)


def _depths(results: Mapping[str, Payload]) -> list[str]:
    """Which runs list fewer documents than a measure looks at; those of which the same is said in one line."""
    named: dict[str, list[str]] = {}
    for run, payload in results.items():
        if said := shallow(payload):
            named.setdefault(said, []).append(run)
    return [f"{', '.join(runs)}: {said[0].lower()}{said[1:]}" for said, runs in named.items()]


def _cell(row: Mapping[str, Any]) -> str:
    return figure(row["mean"], 3)


def _about(payload: Payload) -> str:
    made = payload["provenance"]
    benchmark = made["benchmark"] or {"name": "judgments", "fingerprint": ""}
    unit, n = made["bootstrap"]["unit"], made["blocks"]
    return (
        f"{escape(benchmark['name'])}, content {escape(benchmark['fingerprint'][:16])}, "
        f"{many(made['queries'], 'query')}. Means run over all queries of the benchmark; a query without a ranking "
        f"counts as zero. Intervals are percentile bootstrap intervals over {many(n, unit)}. Made with canlegalrag "
        f"{escape(made['canlegalrag'])}."
    )


def _definitions(payload: Payload, measures: Sequence[str]) -> str:
    families = payload["provenance"]["definitions"]
    paper = [m for m in measures if families[m] == "paper"]
    text = "Measures count documents (the best passage stands for its document) unless they begin with paper_."
    if paper:
        text += f" {', '.join(paper)}: as the published code of CanLegalRAGBench counts, passages before documents."
    skipped = {m: payload["measures"][m]["skipped"] for m in measures if payload["measures"][m]["skipped"]}
    text += f" Skipped as undefined: {', '.join(f'{m} {n}' for m, n in skipped.items()) or 'none'}."
    return f"<p>{escape(text)}</p>"


def _comparisons(comparisons: Sequence[Comparison], notes: Sequence[str]) -> str:
    heads = ["a", "b", "a − b", "low", "high", "p", "p (Holm)", "verdict"]
    rows = [
        [c.a, c.b, _signed(c.difference, 4), _signed(c.low), _signed(c.high), *_p(c), verdict(c)] for c in comparisons
    ]
    holm = f", Holm's correction over {len(comparisons)} pairs" if len(comparisons) > 1 else ""
    note = (
        f"Paired randomisation tests that flip whole blocks ({comparisons[0].blocks} of them){holm}. Queries of one "
        "block share a seed, so they aren't independent."
    )
    more = "".join(f"<p>{escape(line)}</p>" for line in notes)
    return f"<p>{escape(note)}</p>{more}{tables.html(heads, rows)}"
