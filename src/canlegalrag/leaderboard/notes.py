"""What a reader must know of a board: who is ranked and who isn't, what the tests are over, what they can tell."""

from collections.abc import Sequence

from canlegalrag.leaderboard.designs import Design
from canlegalrag.leaderboard.directions import better
from canlegalrag.leaderboard.entries import judged_by_makers, judges, part
from canlegalrag.leaderboard.rows import NOBODY, Row
from canlegalrag.measures import claims

__all__ = ["about", "lacking", "unit", "without"]

_LEVEL = 0.05  # p after correction below which two systems are told apart


def without(n: int, measure: str) -> list[str]:
    """Of the systems that were never scored by a measure."""
    why = "nobody judged answers of theirs for it" if measure in claims.MEASURES else "their runs weren't scored by it"
    return [f"Systems left out because they have no {measure}, as {why}: {n}."] if n else []


def about(rows: Sequence[Row], pool: Sequence[Row], measure: str, judge: str) -> list[str]:
    """Of the rows that are ranked, and of those that aren't.

    Args:
        rows: all of them.
        pool: those that are ranked.
        measure: what ranks them.
        judge: whose verdicts those of the pool are, with the condition.
    """
    scored = [row for row in rows if row.mean is not None]
    if not scored:
        return [f"No system has a value of {measure} here."]
    return [*_unranked(scored, pool, judge), *_meaning(pool, measure)]


def _unranked(scored: Sequence[Row], pool: Sequence[Row], judge: str) -> list[str]:
    notes = []
    stand_ins = [row for row in scored if row.kind == "stand-in"]
    judged = [row for row in scored if row.judge]
    if any(of.startswith("offline/") for row in judged for of in judges(row.entry)):
        notes.append(
            "The judge offline/… is a stand-in: its figures show that a path works, not how good an answer is."
        )
    if stand_ins:
        notes.append("Stand-ins use no real model: they are shown after the others, and not ranked.")
    if any(row.judge.startswith(f"{NOBODY};") for row in judged):
        notes.append("Systems whose answers have no verdict of anybody aren't ranked: no claim of theirs was judged.")
    if pool and len({row.judge for row in judged}) > 1:
        notes.append(
            f"Only the systems judged by {judge} are ranked: scores of other judges or conditions can't be compared."
        )
    elif pool and judge:
        notes.append(f"Judged by {judge}.")
    return notes


def _meaning(pool: Sequence[Row], measure: str) -> list[str]:
    notes = []
    if not better(measure):
        notes.append(f"{measure} says nothing of quality: systems aren't ranked by it.")
    elif better(measure) < 0:
        notes.append(f"Of {measure} the lowest is the best.")
    if len(over := {row.n for row in pool}) > 1:
        notes.append(
            f"The means run over different numbers of queries, {min(over)} to {max(over)}: see what is skipped."
        )
    if measure.startswith("paper_"):
        notes.append(f"{measure} counts as the published code of CanLegalRAGBench does, not as the field's tools do.")
    if measure.startswith("paper_recall"):
        notes.append(f"{measure} counts passages: one document in many passages takes it beyond 1.")
    if any(judged_by_makers(row.entry) and measure in part(row.entry, "claims", "measures") for row in pool):
        notes.append("Verdicts that came with a submission are its makers': nobody here has judged its answers again.")
    return notes


def unit(of: Design, n: int, tests: int, signs: int, resamples: int) -> list[str]:
    """What the tests are over; and that they can tell nothing, where too few signs are drawn for so many pairs."""
    if not tests:
        return []
    drawn = signs if n >= 63 or 2**n > signs else 2**n
    notes = [
        f"Paired randomisation tests over {n} {'blocks of queries' if of.unit == 'block' else 'queries'} ({drawn:,} "
        f"signs), Holm's correction over {tests:,} pairs; ranks by bootstrap over the same, {resamples:,} resamples."
    ]
    if of.unit != "block":
        notes.append("Which queries belong together isn't known here, so differences may look surer than they are.")
    if drawn == signs and tests / (1 + signs) >= _LEVEL:
        notes.append(f"For {tests:,} pairs so few signs can tell nothing apart: show fewer systems.")
    return notes


def lacking(ranked: int, there: int, measure: str) -> list[str]:
    """Of ranked systems that can't be tested."""
    missing = ranked - there
    if not missing:
        return []
    who = "no system has" if missing == ranked else f"{missing} of {ranked} ranked systems lack"
    return [f"Of {measure} {who} the value of each query: they aren't tested, and ranks have no intervals."]
