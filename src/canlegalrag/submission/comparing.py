"""Compare systems in pairs, query by query, in the benchmark's blocks; say what the comparison can't tell."""

import math
from collections.abc import Mapping, Sequence

from canlegalrag.benchmark import Benchmark, check_run
from canlegalrag.measures import retrieval, spans
from canlegalrag.measures.names import MEASURES, Measure
from canlegalrag.measures.resampling import draws
from canlegalrag.measures.span_faults import Place, in_query
from canlegalrag.measures.stats import Comparison, compare
from canlegalrag.submission.characters import gold_spans, require_offsets
from canlegalrag.submission.rows import RESAMPLES
from canlegalrag.submission.scoring import counted
from canlegalrag.types import Problem, Run
from canlegalrag.wording import many

__all__ = ["caveats", "compare_runs", "compare_values"]


def compare_runs(
    runs: Mapping[str, Run],
    measure: Measure,
    benchmark: Benchmark,
    *,
    depths: Mapping[str, int] | None = None,
    seed: int = 0,
    places: Mapping[str, Place] | None = None,
) -> tuple[list[Comparison], list[Problem]]:
    """Compare every pair of runs on one measure, query by query, in the benchmark's blocks.

    Args:
        runs: name -> rankings.
        measure: what to compare by.
        benchmark: judgments and blocks.
        depths: name -> k of the runs that are ours, for the paper's family.
        seed: of the resampling.
        places: name -> how to name a place in the run, see `lines_of`.

    Returns:
        One comparison a pair, and the problems of all runs, each with its run's name.
    """
    values = {}
    problems = []
    for name, run in runs.items():
        depth = (depths or {}).get(name)
        place = (places or {}).get(name)
        require_offsets(benchmark, run, [measure], depth, place or (lambda *at, name=name: f"{name}: {in_query(*at)}"))
        family = MEASURES[measure.name].family
        part = counted(benchmark, run, family, depth)
        found = (
            spans.per_query(gold_spans(benchmark), part, [measure])
            if family == "span"
            else retrieval.per_query(benchmark.qrels, part, [measure])
        )
        values[name] = found[str(measure)]
        problems += [Problem(f"{name}: {p.where}", p.what, p.fix, p.fatal) for p in check_run(benchmark, run, place)]
    return compare_values(values, benchmark, seed=seed), problems


def compare_values(
    values: Mapping[str, Mapping[str, float | None]], benchmark: Benchmark, *, seed: int = 0
) -> list[Comparison]:
    """Compare every pair of systems whose values a query are known already.

    Args:
        values: name -> query id -> value; None or NaN where undefined.
        benchmark: gives the queries and their blocks.
        seed: of the resampling.
    """
    blocks = benchmark.blocks
    table = {
        name: [math.nan if (value := by_query[q]) is None else value for q in benchmark.qrels]
        for name, by_query in values.items()
    }
    signs = draws(len(table), RESAMPLES)
    return compare(table, [blocks.get(q, q) for q in benchmark.qrels], resamples=signs, seed=seed)


def caveats(comparisons: Sequence[Comparison], level: float = 0.05) -> list[str]:
    """What a reader of comparisons must know before taking "can't be told apart" for "equal".

    A sign-flip test of two systems that differ in b blocks has 2^b outcomes, so its p is at least 2/2^b, and Holm's
    correction multiplies the smallest p by the number of pairs. More pairs get more draws, so that these
    leave room (`measures.resampling.draws`).
    """
    if not comparisons:
        return []
    least = min(1.0, min(map(_least, comparisons)) * len(comparisons))
    lines = []
    if least >= level:
        fix = "Use more blocks." if len(comparisons) == 1 else "Compare fewer runs, or use more blocks."
        lines.append(f"{_smallest(comparisons, least)}, so nothing can be told apart at {level}. {fix}")
    elif least >= level / 10:
        lines.append(
            f"{_smallest(comparisons, least)}, so only a difference of one sign in almost every block can be told "
            "apart. That two runs can't be told apart is no sign that they are equal."
        )
    few = [c for c in comparisons if _least(c) >= level > least]
    if few:
        c = max(few, key=_least)
        more = f" So it is with {many(len(few) - 1, 'more pair')}." if len(few) > 1 else ""
        lines.append(
            f"{_where(c)}: the smallest p that the test can give is {_least(c):.3g}, so they can't be told apart at "
            f"{level}.{more}"
        )
    return lines + _beside(comparisons, level)


def _beside(comparisons: Sequence[Comparison], level: float) -> list[str]:
    """Why an interval may leave zero out where the verdict doesn't tell the pair apart."""
    odd = [c for c in comparisons if not c.apart and (c.low > 0 or c.high < 0)]
    why = []
    if any(c.p < level for c in odd):
        why.append("an interval is of one pair alone, the verdict is corrected for all pairs")
    if any(not c.p < level for c in odd):
        why.append("over few blocks a bootstrap interval is too narrow, and the verdict is the test's")
    return [f"Some intervals leave zero out though the pair can't be told apart: {'; '.join(why)}."] if why else []


def _least(c: Comparison) -> float:
    """The smallest p that the test of a pair can give, before correction."""
    return min(1.0, 2.0 / 2.0 ** min(_differing(c), 60))


def _differing(c: Comparison) -> int:
    return c.blocks if c.differing is None else c.differing


def _smallest(comparisons: Sequence[Comparison], least: float) -> str:
    """The smallest p that all of the tests can give, and what keeps it from being smaller."""
    blocks, most = comparisons[0].blocks, max(map(_differing, comparisons))
    if len(comparisons) == 1:
        return f"{_where(comparisons[0])}: the smallest p that the test can give is {least:.3g}"
    few = f", no pair of which differs in more than {most} of the blocks" if most < blocks else ""
    pairs = f"{many(blocks, 'block')} and {many(len(comparisons), 'pair')}{few}"
    return f"{pairs}: the smallest corrected p that the test can give is {least:.3g}"


def _where(c: Comparison) -> str:
    """In how many blocks two systems differ: the others can't speak for either."""
    return f"{c.a} and {c.b} differ in {_differing(c) or 'none'} of {many(c.blocks, 'block')}"
