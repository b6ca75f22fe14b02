"""The board: systems on one benchmark by one measure, with intervals, ranks, and who can't be told apart."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.leaderboard.comparing import pairs, rank_intervals, ranks
from canlegalrag.leaderboard.designs import Design, design
from canlegalrag.leaderboard.directions import better
from canlegalrag.leaderboard.entries import (
    Entry,
    Named,
    benchmarks,
    labels,
    measures,
    number,
    part,
    payload,
    sound,
)
from canlegalrag.leaderboard.notes import about, lacking, unit, without
from canlegalrag.leaderboard.offering import offered
from canlegalrag.leaderboard.rows import COLUMNS, DEFAULT_COLUMNS, NOBODY, Row, cell, row, searched
from canlegalrag.measures.resampling import draws
from canlegalrag.submission import RESAMPLES, caveats

__all__ = ["Board", "board"]

_SLACK = 1e-6  # by which a mean may differ from that of its queries
_TESTED = 100  # systems: among more pairs than these have, `draws` signs can tell nothing apart


@dataclass(frozen=True, slots=True)
class Board:
    """Systems on one benchmark, ranked ones first."""

    benchmark: Named | None
    """What they ran on; None on an empty board."""
    measure: str
    """What ranks them."""
    rows: tuple[Row, ...]
    """Ranked systems from the best; then those that aren't ranked; none that was never scored by the measure."""
    notes: tuple[str, ...]
    """What a reader must know."""
    resamples: int = RESAMPLES
    """Behind each interval of ranks and each test."""
    tested: tuple[str, ...] = ()
    """Labels of the systems that were compared, whether they are shown or not."""
    measures: tuple[str, ...] = ()
    """What the systems of this benchmark can be ranked by, the usual ones first."""

    def shown(self, kinds: Sequence[str] = (), retrievers: Sequence[str] = (), words: str = "") -> "Board":
        """Rows of some kinds and retrievers whose name, authors or models hold all words; ranks stay as they are."""
        wanted = words.casefold().split()
        kept = tuple(
            row
            for row in self.rows
            if (not kinds or row.kind in kinds)
            and (not retrievers or row.retriever in retrievers)
            and all(word in searched(row) for word in wanted)
        )
        if len(kept) == len(self.rows):
            return self
        said = f"{len(kept)} of {len(self.rows)} systems are shown; ranks and tests are among all of them."
        return replace(self, rows=kept, notes=(said, *self.notes))

    def table(self, columns: Sequence[str] = DEFAULT_COLUMNS) -> tuple[list[str], list[list[str | int | float]]]:
        """Heads and rows: numbers as numbers, a dash where undefined; unknown columns are left out.

        Args:
            columns: names of `COLUMNS`, or of measures.
        """
        known = {*COLUMNS, *measures(row.entry for row in self.rows)}
        kept = [c for c in dict.fromkeys(columns) if c in known]
        heads = [COLUMNS.get(c, c) or self.measure for c in kept]
        return heads, [[cell(row, c, self.tested) for c in kept] for row in self.rows]


def board(
    entries: Iterable[Any],
    measure: str = "ndcg@10",
    *,
    fingerprint: str = "",
    loaded: Benchmark | None = None,
    field: str = "",
    group: str = "",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Board:
    """Rank the systems that ran on one benchmark.

    Stand-ins, and systems without a value, come last and have no rank; those that were never scored by the measure are
    left out. Measures of claims rank the systems of one judge and condition: those of most systems.

    Args:
        entries: of `baselines()` and of the store; what is no entry is left out and counted.
        measure: of retrieval or of claims.
        fingerprint: of the benchmark; empty for that of `loaded`, else for the only one there is.
        loaded: the benchmark, where it is at hand: tests are then over its blocks.
        field: `persona`, `province` or `variant`, to rank by the queries of one group.
        group: its value.
        resamples: behind each interval of ranks and each test.
        seed: of the draws.

    Raises:
        InputError: entries of several benchmarks, and none chosen.
    """
    usable, refused = sound(entries)
    notes = [f"Entries left out because they can't be read: {refused}."] if refused else []
    named = _chosen(usable, fingerprint or (loaded.fingerprint if loaded else ""), loaded)
    if named is None or not named.entries:
        return Board(named, measure, (), ("No system has been entered yet.", *notes), resamples)
    of = [entry for entry in usable if entry["benchmark"]["fingerprint"] == named.fingerprint]
    known = [(entry, label) for entry, label in zip(of, labels(of, measure), strict=True) if payload(entry, measure)]
    rows = [row(entry, label, measure, field, group) for entry, label in known]
    rows, more = _ranked(rows, measure, design(named, loaded), (field, group), resamples, seed)
    tested = tuple(row.label for row in rows if row.tied is not None)
    notes = [*more, *without(len(of) - len(rows), measure), *notes]
    return Board(named, measure, tuple(rows), tuple(notes), resamples, tested, tuple(offered(of)))


def _chosen(usable: Sequence[Entry], fingerprint: str, loaded: Benchmark | None) -> Named | None:
    known = benchmarks(usable)
    for named in known:
        if named.fingerprint == fingerprint:
            return named
    if loaded is not None and loaded.fingerprint == fingerprint:
        return Named(fingerprint, loaded.name, loaded.revision, 0)
    if fingerprint or not known:
        return None
    if len(known) > 1:
        listed = ", ".join(f"{named.name} ({named.fingerprint[:8]})" for named in known[:5])
        raise InputError(
            "entries", f"are of {len(known)} benchmarks, whose scores can't be compared", f"one of {listed}"
        )
    return known[0]


def _ranked(
    rows: Sequence[Row], measure: str, of: Design, at: tuple[str, str], resamples: int, seed: int
) -> tuple[list[Row], list[str]]:
    """The rows with their ranks, best first, and what must be said."""
    way = better(measure)
    rows = sorted(rows, key=lambda row: (-(way or 1) * (row.mean or 0.0), row.label))
    sound = [row for row in rows if _rankable(row)]
    judge = Counter(row.judge for row in sound).most_common(1)[0][0] if sound else ""
    pool = [row for row in sound if row.judge == judge and way]
    ranked = {row.label for row in pool}
    rest = [row for row in rows if row.label not in ranked]
    notes = about(rows, pool, measure, judge)
    if pool:
        places = ranks(np.array([[row.mean] for row in pool], dtype=np.float64) * way).ravel().tolist()
        pool = [replace(row, rank=place) for row, place in zip(pool, places, strict=True)]
        pool, more = _tested(pool, measure, of, at, resamples, seed)
        notes += more
    undefined = [row for row in rest if row.mean is None]
    return [*pool, *(row for row in rest if row.mean is not None), *undefined], notes


def _rankable(row: Row) -> bool:
    """Whether a system has a value that a real model, or somebody, stands behind."""
    return row.mean is not None and row.kind != "stand-in" and not row.judge.startswith(f"{NOBODY};")


def _tested(
    pool: Sequence[Row], measure: str, of: Design, at: tuple[str, str], resamples: int, seed: int
) -> tuple[list[Row], list[str]]:
    """The ranked rows with intervals of their ranks and who can't be told apart, and what must be said."""
    if at[0] and at[0] not in of.labels:
        return list(pool), [f"Systems aren't tested here: which queries are of this {at[0]} isn't known."]
    kept = {query for query, label in of.labels[at[0]].items() if label == at[1]} if at[0] else set(of.blocks)
    by_row = [_values(row, measure, kept) for row in pool]
    queries = _in_order({query for values in by_row for query in values}, of)
    table = np.array([[values.get(query, np.nan) for query in queries] for values in by_row], dtype=np.float64)
    blocks = [of.blocks.get(query, f"query {query}") for query in queries]
    there = [i for i, values in enumerate(by_row) if values]
    tested = there[:_TESTED]
    names = [pool[i].label for i in tested]
    signs = draws(len(names), resamples)
    found = pairs(names, table[tested], blocks, signs, seed)
    tied: dict[str, list[str]] = {name: [] for name in names}
    for pair in found:
        if not pair.apart:
            tied[pair.a].append(pair.b)
            tied[pair.b].append(pair.a)
    spans = (
        rank_intervals(table * better(measure), blocks, resamples, seed)
        if len(there) == len(pool)
        else [None] * len(pool)
    )
    rows = [
        replace(row, ranks=span, tied=tuple(tied[row.label]) if row.label in tied else None)
        for row, span in zip(pool, spans, strict=True)
    ]
    nothing = bool(found) and not any(pair.apart for pair in found)
    return rows, [
        *([f"No two of these {len(tested)} systems can be told apart."] if nothing else []),
        *unit(of, len(set(blocks)), len(found), signs, resamples),
        *caveats(found),
        *lacking(len(pool), len(there), measure),
        *([f"Only the best {_TESTED} of {len(there)} systems are compared."] if len(there) > _TESTED else []),
    ]


def _values(row: Row, measure: str, kept: set[str]) -> dict[str, float]:
    """Value of each query that has one, of those that count where these are known; none at all where they don't have
    the row's mean.
    """
    queries = part(payload(row.entry, measure), "per_query")
    known = {q: v for q in queries if (v := number(part(queries, q).get(measure))) is not None}
    if kept:
        known = {q: v for q, v in known.items() if q in kept}
    fits = known and row.mean is not None and abs(float(np.mean(list(known.values()))) - row.mean) < _SLACK
    return known if fits else {}


def _in_order(queries: set[str], of: Design) -> list[str]:
    """The queries in the benchmark's order where that is known: then the draws are those of its own reports."""
    known = [query for query in of.blocks if query in queries]
    return [*known, *sorted(queries.difference(known))]
