"""What several runs say about characters: tables beside published figures, and two charts, as Markdown and as HTML."""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from canlegalrag import charts, tables
from canlegalrag.recipes import baseline

__all__ = ["Published", "html", "markdown", "published"]

Payload = Mapping[str, Any]

_ALL = "all queries"
_MACRO = "macro"
_DASH = "–"
_EQUAL = "Recall at equal retrieved characters"


@dataclass(frozen=True, slots=True)
class Published:
    """What others published for a benchmark."""

    name: str
    """The system."""
    about: str
    """How it was run."""
    source: str
    """Where the figures are from."""
    figures: Mapping[str, Mapping[str, float]]
    """Data set, or `macro` -> `precision@1` or the like -> percent."""


class _Table(NamedTuple):
    """A table with what must be said about it."""

    caption: str
    """Its heading."""
    note: str
    """How to read it; empty where the page has said so."""
    heads: list[str]
    """Of the columns."""
    rows: list[list[str]]
    """Cells."""


def published(results: Mapping[str, Payload]) -> Published | None:
    """The figures of `baselines/legalbenchrag.toml` for results on LegalBench-RAG; None for any other benchmark."""
    names = {(payload["provenance"]["benchmark"] or {}).get("name", "") for payload in results.values()}
    if not names or not all(name.startswith("legalbenchrag") for name in names):
        return None
    data = tomllib.loads(baseline("legalbenchrag.toml").read_text(encoding="utf-8"))["published"]
    return Published(**data)


def markdown(results: Mapping[str, Payload], beside: Published | None = None) -> str:
    """The tables as Markdown; empty where no result counts characters.

    Args:
        results: run's name -> what `score_run` gives.
        beside: what was published for this benchmark.
    """
    found = _ordered(results)
    if not found:
        return ""
    parts = ["# Retrieved characters\n", *(f"{tables.plain(line)}\n" for line in _notes(results, found, beside))]
    for table in _tables(found, beside):
        parts.append(f"## {tables.plain(table.caption)}\n")
        parts += [f"{tables.plain(table.note)}\n"] if table.note else []
        parts.append(tables.markdown(table.heads, table.rows))
    return "\n".join(parts)


def html(results: Mapping[str, Payload], beside: Published | None = None) -> str:
    """The same as sections of a page, with recall over k and over retrieved characters drawn; empty as `markdown`."""
    found = _ordered(results)
    if not found:
        return ""
    parts = ["<h2>Retrieved characters</h2>", *(f"<p>{escape(line)}</p>" for line in _notes(results, found, beside))]
    for table in _tables(found, beside):
        parts.append(f"<h2>{escape(table.caption)}</h2>")
        parts += [f"<p>{escape(table.note)}</p>"] if table.note else []
        parts.append(tables.html(table.heads, table.rows))
    label, depths = _headline(found), _depths(found)
    shown = dict(list(found.items())[: charts.CURVES])
    best = (
        f"The best {len(shown)} of {len(found)} by R@{depths[-1]}; the tables have all. "
        if len(shown) < len(found)
        else ""
    )
    means = {name: _sections(payload)[label] for name, payload in shown.items()}
    over_k = {name: _points(depths, [_mean(rows, f"span_recall@{k}") for k in depths]) for name, rows in means.items()}
    curves = {name: payload["spans"]["curve"] for name, payload in shown.items()}
    equal = {name: _points(curve["characters"], _recall(curve, label)) for name, curve in curves.items()}
    for what, series in ((f"span_recall@k over k, {label}", over_k), (f"{_EQUAL}, {label}", equal)):
        parts.append(f'<figure class="wide"><figcaption>{escape(f"{best}{what}, from 0 to 1")}</figcaption>')
        parts.append(f"{charts.lines(series, what)}</figure>")
    return "".join(parts)


def _ordered(results: Mapping[str, Payload]) -> dict[str, Payload]:
    """The results that count characters at some k, the best first by recall at the greatest k."""
    found = {name: payload for name, payload in results.items() if payload.get("spans")}
    found = {name: payload for name, payload in found.items() if _depths({name: payload})}
    if not found:
        return {}
    label, deepest = _headline(found), f"span_recall@{_depths(found)[-1]}"

    def recall(name: str) -> float:
        mean = _mean(_sections(found[name]).get(label, {}), deepest)
        return -1.0 if mean is None else mean

    return {name: found[name] for name in sorted(found, key=recall, reverse=True)}


def _depths(found: Mapping[str, Payload]) -> list[int]:
    """Every k at which the recall of characters is known, ascending."""
    names = [m.partition("@") for payload in found.values() for m in payload["measures"]]
    return sorted({int(k) for name, _, k in names if name == "span_recall"})


def _sections(payload: Payload) -> dict[str, Mapping[str, Any]]:
    """Measures by data set and `macro`, the mean of several; of all queries where there are no data sets."""
    sets = payload["spans"]["by_dataset"]
    if not sets:
        return {_ALL: payload["measures"]}
    return {**sets, _MACRO: payload["spans"]["macro"]} if len(sets) > 1 else dict(sets)


def _headline(found: Mapping[str, Payload]) -> str:
    """The section that orders the tables and is drawn: the last."""
    return list(_sections(next(iter(found.values()))))[-1]


def _mean(rows: Mapping[str, Any], measure: str) -> float | None:
    mean: float | None = rows.get(measure, {}).get("mean")
    return mean


def _recall(curve: Mapping[str, Any], label: str) -> Sequence[float | None]:
    """Recall at equal retrieved characters of a section."""
    sets: Mapping[str, Sequence[float | None]] = {**curve["by_dataset"], _ALL: curve["recall"], _MACRO: curve["macro"]}
    return sets[label]


def _points(places: Sequence[int], values: Sequence[float | None]) -> list[tuple[str, float]]:
    """Points of a curve; what is undefined has none."""
    return [(f"{place:,}", value) for place, value in zip(places, values, strict=True) if value is not None]


def _tables(found: Mapping[str, Payload], beside: Published | None) -> Iterator[_Table]:
    """A table a section, then recall at equal retrieved characters."""
    columns = _columns(_depths(found))
    first = _sections(next(iter(found.values())))
    for label in first:
        means = {name: _sections(payload).get(label, {}) for name, payload in found.items()}
        rows = [[name, *(_cell(of, measure) for measure in columns.values())] for name, of in means.items()]
        rows += _published_row(beside, label, set(first), columns.values())
        yield _Table(f"{label}, {_counted(means)}", "", ["recipe", *columns], rows)
    label = _headline(found)
    curves = {name: payload["spans"]["curve"] for name, payload in found.items()}
    budgets = next(iter(curves.values()))["characters"]
    rows = [[name, *map(_filled, _recall(curve, label), curve["filled"])] for name, curve in curves.items()]
    note = (
        "Each ranking is read from its top until so many characters are read, whatever its hits' length. In brackets, "
        "where below 100: percent of all rankings that are that long; a deeper run might have found more there."
    )
    yield _Table(f"{_EQUAL}, {label}", note, ["recipe", *(f"{budget:,}" for budget in budgets)], rows)


def _published_row(
    beside: Published | None, label: str, labels: Set[str], measures: Iterable[str]
) -> Iterator[list[str]]:
    """The row of published figures, where some are known; their mean can't stand beside that of other data sets."""
    if beside is None or (label == _MACRO and labels != beside.figures.keys()):
        return
    known = beside.figures.get(label, {})
    cells = [f"{known[name]:.2f}" if name in known else "" for name in (m.removeprefix("span_") for m in measures)]
    if any(cells):
        yield [f"{beside.name} ({beside.source})", *cells]


def _columns(depths: Sequence[int]) -> dict[str, str]:
    """Head of a column -> its measure."""
    some = max((k for k in depths if k <= 8), default=depths[0])
    return {
        **{f"P@{k}": f"span_precision@{k}" for k in depths},
        **{f"R@{k}": f"span_recall@{k}" for k in depths},
        f"F1@{some}": f"span_f1@{some}",
        f"wrong document@{depths[0]}": f"wrong_document_rate@{depths[0]}",
        f"characters@{some}": f"retrieved_characters@{some}",
    }


def _cell(rows: Mapping[str, Any], measure: str) -> str:
    mean = _mean(rows, measure)
    if measure.startswith("retrieved_"):
        return _DASH if mean is None else f"{mean:,.0f}"
    return _percent(mean)


def _percent(value: float | None) -> str:
    return _DASH if value is None else f"{100 * value:.2f}"


def _filled(recall: float | None, filled: float | None) -> str:
    """Recall, and where not all rankings are so long, the percentage that is, never rounded up to all."""
    if filled is None or filled >= 1:
        return _percent(recall)
    return f"{_percent(recall)} ({math.floor(1000 * filled + 1e-6) / 10:.1f})"


def _counted(means: Mapping[str, Mapping[str, Any]]) -> str:
    """How many queries the means of a table run over."""
    rows = next(iter(means.values()))
    row = next(row for measure, row in rows.items() if measure.startswith("span_recall@"))
    skipped = f", {row['skipped']:,} without gold span skipped" if row["skipped"] else ""
    return f"n = {row['n']:,}{skipped}"


def _notes(results: Mapping[str, Payload], found: Mapping[str, Payload], beside: Published | None) -> list[str]:
    """What a reader must know before the tables."""
    some = next(head for head in _columns(_depths(found)) if head.startswith("F1"))
    lines = [
        f"P@k and R@k: precision and recall of the first k hits, in characters and in percent. {some}: mean of the "
        "queries' harmonic means of both. Wrong document: percent of those hits that are from a document without gold. "
        f"Characters: how many the hits have. Ordered by R@{_depths(found)[-1]}, {_headline(found)}.",
        "Strict, as shown: hits are merged first, so that a character counts once and no share exceeds 100. Reference: "
        "as the scorer published with LegalBench-RAG counts, each hit as it is, so that recall can exceed 100, and a "
        "query without gold span is zero. Reference values (reference_span_…) are in each recipe's scores.json, with "
        f"n and the interval of every mean.{_largest(found)}",
    ]
    if _headline(found) == _MACRO:
        lines.append("macro: mean of the data sets, each with equal weight, however many queries it has.")
    if beside:
        lines.append(
            f"{beside.name}: {beside.about}; {beside.source}, which don't say whether of all queries or of mini's. "
            "Such chunks don't overlap, so the two ways of counting hardly differ for them. Empty cells aren't known."
        )
    if left := [name for name in results if name not in found]:
        more = f" and {len(left) - 5} more" if len(left) > 5 else ""
        lines.append(f"Not here, since their hits have no offsets that can be used: {', '.join(left[:5])}{more}.")
    return lines


def _largest(found: Mapping[str, Payload]) -> str:
    """The mean whose recall differs most between the two ways of counting; empty where only one is known."""
    seen = []
    for name, payload in found.items():
        for label, rows in _sections(payload).items():
            for k in _depths(found):
                strict, reference = _mean(rows, f"span_recall@{k}"), _mean(rows, f"reference_span_recall@{k}")
                if strict is not None and reference is not None:
                    seen.append((100 * (reference - strict), f"{name}, {label}, R@{k}"))
    if not seen:
        return ""
    difference, where = max(seen, key=lambda pair: abs(pair[0]))
    if round(abs(difference), 2) == 0:
        return " Here the two recalls are equal to two decimals."
    return f" Largest difference of the two recalls here, reference − strict: {difference:+.2f} ({where})."
