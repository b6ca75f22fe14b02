"""Score recorded verdicts: from `verdicts.jsonl` to `scores.json`, with all that made the numbers."""

import platform
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from canlegalrag import __version__
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.measures import claims, retrieval
from canlegalrag.measures.decided import LABELS, PURPOSES, purpose_of
from canlegalrag.measures.shares import Share, summarise
from canlegalrag.near import Near
from canlegalrag.submission.rows import RESAMPLES, number, rows
from canlegalrag.types import Judged, Problem, Scores
from canlegalrag.wording import many

__all__ = ["judges_of", "score_verdicts", "unjudged"]

_SHOWN = 5  # problems of a kind, and names in one, that are told one by one


def score_verdicts(
    judged: Mapping[str, Judged],
    measures: str | Sequence[str] | None = None,
    *,
    benchmark: Benchmark | None = None,
    by: Sequence[str] = (),
    made: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> tuple[dict[str, Any], list[Problem]]:
    """Score what a judge said of answers, over all queries of a benchmark, or over those judged where there is none.

    Args:
        judged: query id -> answer with its verdicts, as `records.read_verdicts` gives it.
        measures: names, as a sequence or with blanks between them; None for all that was judged for.
        benchmark: gives the queries that count (one without an answer scores zero), blocks for the intervals, fields
            to group by.
        by: fields of the queries to group by, and `condition`, which is the answers' own.
        made: what made the verdicts, for the record.
        seed: of the bootstrap.

    Returns:
        What `scores.json` holds (`measures`, `per_query`, `by`, `provenance`), free of NaN, and what a reader of the
        numbers should know. A measure that is a share has beside its mean over queries (`mean`) the one over all
        claims (`micro`), and how many these are (`pooled`).

    Raises:
        InputError: an unknown measure or field, one that needs what nobody judged, verdicts that can't be used.
    """
    queries = list(judged if benchmark is None else benchmark.queries)
    part = {query: judged[query] for query in queries if query in judged}
    shares = claims.per_query(part, measures, queries=queries, references=_references(benchmark))
    blocks = benchmark.blocks if benchmark else None
    scores = summarise(shares, blocks=blocks, resamples=RESAMPLES, seed=seed)
    groups: dict[str, dict[str, Any]] = {}
    for name in by:
        labels = _labels(name, part, queries, benchmark)
        grouped = retrieval.group(scores, labels, blocks=blocks, resamples=RESAMPLES, seed=seed)
        groups[name] = {label: _rows(scored, shares) for label, scored in grouped.items()}
    problems = list(_problems(judged, part, benchmark))
    payload = {
        "measures": _rows(scores, shares),
        "per_query": {query: {name: number(of[query]) for name, of in scores.per_query.items()} for query in queries},
        "by": groups,
        "provenance": {
            "canlegalrag": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "definitions": {name: claims.PUBLISHED.get(name, "claims") for name in shares},
            "benchmark": benchmark.identity if benchmark else None,
            "queries": len(queries),
            "blocks": len({blocks[query] for query in queries}) if blocks else len(queries),
            "bootstrap": {"resamples": RESAMPLES, "seed": seed, "level": 0.95, "unit": "block" if blocks else "query"},
            "verdicts": _verdicts(part),
            "run": dict(made or {}),
            "problems": [str(problem) for problem in problems[:100]],
            "problem_count": len(problems),
        },
    }
    return payload, problems


def judges_of(judged: Mapping[str, Judged]) -> dict[str, int]:
    """Who gave verdicts, and how many: models by `provider/model`, people by any name without a slash.

    Verdicts without a name needed no judge: an answer that declines covers nothing.
    """
    counts = Counter(verdict.judge for of in judged.values() for verdict in of.verdicts if verdict.judge)
    return dict(counts.most_common())


def _is_model(judge: str) -> bool:
    return "/" in judge


def _references(benchmark: Benchmark | None) -> Collection[str] | None:
    """Queries with a reference answer; None where that isn't known. Without any, nothing is held against one."""
    return benchmark.answers if benchmark else None


def _labels(
    name: str, part: Mapping[str, Judged], queries: Sequence[str], benchmark: Benchmark | None
) -> Mapping[str, str]:
    if name == "condition":
        return {query: (part[query].condition if query in part else "") or "(none)" for query in queries}
    if benchmark is None:
        raise InputError(f"--by {name}", "is a field of a benchmark's queries, and there is none", "give --benchmark")
    return benchmark.labels(name)


def _rows(scores: Scores, shares: Mapping[str, Mapping[str, Share]]) -> dict[str, dict[str, Any]]:
    """Each measure's mean with its interval, n and skipped; of a share the mean over all claims of the same queries."""
    queries = next(iter(scores.per_query.values()), {})
    made = rows(scores, list(scores.values))
    pooled = claims.totals({name: {query: of[query] for query in queries} for name, of in shares.items()})
    for name, (part, whole) in pooled.items():
        made[name] |= {"micro": part / whole if whole else None, "pooled": whole}
    return made


def _verdicts(part: Mapping[str, Judged]) -> dict[str, Any]:
    """Who judged, by which prompts, at what cost, and what came of it."""
    given = [verdict for of in part.values() for verdict in of.verdicts]
    prompts: dict[str, set[str]] = {}
    for verdict in given:
        if verdict.prompt:
            prompts.setdefault(verdict.judge, set()).add(verdict.prompt)
    tallies = [of.tallies for of in claims.tallies(part).values()]
    asked = {purpose: sum(purpose in of.asked for of in part.values()) for purpose in PURPOSES}
    return {
        "answers": len(part),
        "judges": judges_of(part),
        "prompts": {judge: sorted(hashes) for judge, hashes in prompts.items()},
        "human": sum(bool(verdict.judge) and not _is_model(verdict.judge) for verdict in given),
        "cost": sum(verdict.cost for verdict in given if verdict.cost is not None),
        "cost_unknown": sum(verdict.cost is None for verdict in given),
        "labels": {purpose: _sum([of.get(purpose) for of in tallies]) for purpose in claims.asked(part.values())},
        "not_taken_apart": sum(None in of.values() for of in tallies),
        "categories": dict(Counter(v.category for v in given if v.category).most_common()),
        "conditions": dict(Counter(of.condition or "(none)" for of in part.values()).most_common()),
        "stops": dict(Counter(of.stop for of in part.values()).most_common()),
        "asked": asked,
    }


def _sum(tallies: Sequence[claims.Tally | None]) -> dict[str, int]:
    """Claims by what was decided of them, over all answers."""
    known = [tally for tally in tallies if tally is not None]
    return {name: sum(getattr(tally, name) for tally in known) for name in (*LABELS, "unscored")}


def _problems(
    judged: Mapping[str, Judged], part: Mapping[str, Judged], benchmark: Benchmark | None
) -> Iterator[Problem]:
    if benchmark is not None:
        yield from _strangers(judged, part, benchmark)
        yield from unjudged(part, benchmark)
    yield from _judges(part)
    conditions = sorted({of.condition for of in part.values()})
    if len(conditions) > 1:
        named = _some([condition or "(none)" for condition in conditions])
        yield Problem("verdicts", f"answers of several conditions: {named}", "score each on its own", fatal=False)
    asked = claims.asked(part.values()) if part else []
    for purpose in asked:
        without = [query for query, of in part.items() if purpose not in of.asked]
        if without:
            were = "was" if len(without) == len(part) == 1 else "were"
            what = f"{len(without)} of {many(len(part), 'answer')} {were} not judged for {purpose}: left out of it"
            yield Problem("verdicts", what, _some(without), fatal=False)
    for query, of in part.items():
        stray = {purpose_of(verdict) for verdict in of.verdicts}.difference(of.asked)
        if stray:
            what = f"has verdicts for {', '.join(sorted(stray))}, which is not in `asked`: left out"
            yield Problem(f"query {query!r}", what, "mend `asked`", fatal=False)
    faults = [(query, fault) for query, of in part.items() for fault in of.faults]
    for query, fault in faults[:_SHOWN]:
        yield Problem(f"query {query!r}", f"{fault:.300}", fatal=False)
    if len(faults) > _SHOWN:
        more = many(len(faults) - _SHOWN, "fault").replace(" ", " more ")
        yield Problem("verdicts", f"{more} of answers", "see `faults`", fatal=False)


def _strangers(judged: Mapping[str, Judged], part: Mapping[str, Judged], benchmark: Benchmark) -> Iterator[Problem]:
    """Answers to no query of the benchmark."""
    strangers = [query for query in judged if query not in part]
    if judged and not part:
        yield Problem("verdicts", "answer no query of the benchmark", "were they made for another?", fatal=False)
    near = Near(benchmark.queries, 50 if part else 0)
    for query in strangers[:_SHOWN]:
        yield Problem(f"query {query!r}", "is not in the benchmark: left out", near(query), fatal=False)
    if len(strangers) > _SHOWN:
        more = len(strangers) - _SHOWN
        what = f"{many(more, 'more query')} not in the benchmark: left out"
        yield Problem("verdicts", what, fatal=False)


def unjudged(judged: Collection[str], benchmark: Benchmark) -> Iterator[Problem]:
    """Queries without an answer that was judged: nobody picks by silence which of them count."""
    missing = [query for query in benchmark.queries if query not in judged]
    if len(missing) > 3:
        what = f"{len(missing)} queries have no judged answer: they score zero"
        yield Problem("verdicts", what, _some(missing), fatal=False)
    else:
        for query in missing:
            yield Problem(f"query {query!r}", "has no judged answer: scores zero", fatal=False)


def _judges(part: Mapping[str, Judged]) -> Iterator[Problem]:
    """Judges whose scores can't be set beside others': several in one file, several prompts."""
    given = [verdict for of in part.values() for verdict in of.verdicts]
    models = [judge for judge in judges_of(part) if _is_model(judge)]
    if len(models) > 1:
        what = f"are by {len(models)} judges ({_some(models)}), whose scores can't be compared"
        yield Problem("verdicts", what, "judge all answers by one", fatal=False)
    for judge in models:
        prompts = {verdict.prompt for verdict in given if verdict.judge == judge and verdict.prompt}
        if len(prompts) > 1:
            what = f"{judge} judged by {len(prompts)} prompts: {_some(sorted(prompts))}"
            yield Problem("verdicts", what, "judge all answers by one", fatal=False)


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_SHOWN]) + (" …" if len(ids) > _SHOWN else "")
