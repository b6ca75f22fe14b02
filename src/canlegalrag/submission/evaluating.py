"""Score what is sound of a submission: rankings, claims, citations; and make of it what a leaderboard stores."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from canlegalrag import __version__, backends
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import dumps, loads
from canlegalrag.judging.assessing import Item, assess, item_of
from canlegalrag.judging.evidence import evidence_of
from canlegalrag.measures import citations
from canlegalrag.measures.decided import PURPOSES
from canlegalrag.measures.names import parse_all
from canlegalrag.submission.characters import SPAN_DEPTHS
from canlegalrag.submission.claims import score_verdicts, unjudged
from canlegalrag.submission.entering import Checked
from canlegalrag.submission.limits import LIMITS, Clock, Limits
from canlegalrag.submission.rows import RESAMPLES, number, rows
from canlegalrag.submission.scoring import score_run, shallow
from canlegalrag.submission.telling import of_claims
from canlegalrag.types import Answer, Judged
from canlegalrag.wording import many

__all__ = ["ALL_MEASURES", "GROUPS", "JUDGED_HERE", "entry", "evaluate"]

ALL_MEASURES = (
    "ndcg@10 recall@10 recall@100 precision@10 hit@10 mrr map rprec judged@10 "
    "paper_ndcg@10 paper_recall@10 paper_doc_recall@10 paper_precision@10 paper_hit@10 paper_mrr"
)
"""Of both families, what a submission's run is scored by. Where they can be computed, `bpref`, which needs documents
that were judged irrelevant, and the measures of characters join them."""

GROUPS = ("persona", "province", "variant")
"""What scores are also grouped by, where the queries have it."""

JUDGED_HERE = "offline/lexical"
"""Judges answers that come without verdicts: a stand-in that compares words, and no measure of quality."""

_WORST = ("ndcg@10", "recall@10", "hit@10", "mrr")
_LATE = "time was up before it was judged"
_OF_CLAIMS = ("accuracy", "groundedness", "coverage")


def evaluate(checked: Checked, benchmark: Benchmark, limits: Limits = LIMITS) -> dict[str, Any]:
    """Score what is sound of a submission.

    Args:
        checked: from `check`.
        benchmark: the same.
        limits: how long answers may be judged here.

    Returns:
        JSON without NaN. `retrieval`: what `score_run` gives, None without a run; `claims`: what `score_verdicts`
        gives, by the submission's verdicts, or by `JUDGED_HERE` where it has answers only; `citations`: measures of
        what answers cite; both None without answers; `worst`: a row a query with its text and scores, the worst first;
        `notes`: what a reader of the numbers must know.
    """
    by = [name for name in GROUPS if set(benchmark.labels(name).values()) - {"(none)"}]
    notes: list[str] = []
    retrieval = _retrieval(checked, benchmark, by) if checked.run else None
    judged = checked.judged
    if judged is None and checked.answers:
        judged = _judge(checked.answers, benchmark, limits, notes)
    claims = None
    if judged:
        given = {"judged_here": checked.judged is None}
        claims, problems = score_verdicts(judged, benchmark=benchmark, by=by, made=given)
        told = set(unjudged(judged, benchmark)) if checked.answers is not None else set()  # in words that know why
        notes += [str(problem) for problem in problems if problem not in told]
    notes += of_claims(checked, claims, benchmark)
    notes += [said] if retrieval and (said := shallow(retrieval)) else []
    return {
        "retrieval": retrieval,
        "claims": claims,
        "citations": _citations(checked, benchmark, limits, notes) if checked.answers else None,
        "worst": _worst(retrieval, claims, benchmark),
        "notes": notes,
    }


def _retrieval(checked: Checked, benchmark: Benchmark, by: list[str]) -> dict[str, Any]:
    longest = max(map(len, checked.run.values()))
    depths = [k for k in SPAN_DEPTHS if k <= longest]
    irrelevant = any(grade <= 0 for judged in benchmark.qrels.values() for grade in judged.values())
    measures = parse_all(ALL_MEASURES + (" bpref" if irrelevant else ""))
    payload, _ = score_run(checked.run, measures, benchmark=benchmark, by=by, made=dict(checked.made), depths=depths)
    return payload


def _judge(answers: Mapping[str, Answer], benchmark: Benchmark, limits: Limits, notes: list[str]) -> dict[str, Judged]:
    """Judge answers by the offline stand-in; those that time doesn't allow are unscored, not wrong."""
    judge, decomposer = backends.judge(JUDGED_HERE), backends.decomposer("offline/sentences")
    notes.append(
        f"No verdicts were given: claims are judged here by {JUDGED_HERE}, which compares words and is a stand-in. "
        "To compare systems, judge with a model and add verdicts.jsonl."
    )
    clock, found = Clock(limits.scoring_seconds), dict[str, Judged]()
    purposes = _OF_CLAIMS if benchmark.answers else ("groundedness",)
    for query, answer in answers.items():
        if clock.over:
            found[query] = _unjudged(answer, purposes)
            continue
        item = _item(answer, benchmark, limits)
        one = assess([item], judge, decomposer, purposes)[0]
        asked = [name for name in one.asked if name != "groundedness" or item.evidence is not None]
        found[query] = replace(one, asked=tuple(asked))
    late = sum(_LATE in one.faults for one in found.values())
    if late:
        notes.append(f"{late:,} of {many(len(found), 'answer')} not judged within {clock.seconds:g} s: unscored.")
    return found


def _unjudged(answer: Answer, asked: tuple[str, ...]) -> Judged:
    return Judged(
        answer.query_id,
        asked,
        None,
        None,
        stop=answer.stop,
        condition=answer.condition,
        chars=len(answer.text),
        faults=(_LATE,),
    )


def _item(answer: Answer, benchmark: Benchmark, limits: Limits) -> Item:
    """An answer with what it is held against.

    More evidence than anybody reads isn't judged by: the answer's groundedness is unscored then.
    """
    evidence = None
    given = sum(passage.end - passage.start for passage in answer.passages)
    if given <= limits.evidence_chars:
        evidence = evidence_of(answer, benchmark.documents)
    return item_of(answer, benchmark.answers, benchmark.claims, evidence)


def _citations(checked: Checked, benchmark: Benchmark, limits: Limits, notes: list[str]) -> dict[str, Any] | None:
    """Measures of what the answers cite, of which a query without an answer cites nothing; None where time is up."""
    clock, registry = Clock(limits.scoring_seconds), citations.Registry.build(benchmark.documents)
    found: dict[str, citations.Cited] = {}
    answers, retrieved = checked.answers or {}, checked.run or None
    for query in benchmark.queries:
        if clock.over:
            notes.append(f"Citations were not looked up within {clock.seconds:g} s: unscored.")
            return None
        given = {query: answers[query]} if query in answers else {}
        found |= citations.check_answers(given, registry, qrels=benchmark.qrels, retrieved=retrieved, queries=[query])
    shares = citations.per_query(found)
    scores = citations.score(found, blocks=benchmark.blocks, resamples=RESAMPLES)
    totals = citations.totals(found)
    return {
        "measures": {
            name: row | {"part": number(totals[name][0]), "whole": totals[name][1]}
            for name, row in rows(scores, list(shares)).items()
        },
        "answers": len(answers),
    }


def _worst(
    retrieval: Mapping[str, Any] | None, claims: Mapping[str, Any] | None, benchmark: Benchmark
) -> list[dict[str, Any]]:
    """A row a query, the worst ranking first; those with nothing to find come last."""
    if retrieval is None and claims is None:
        return []
    made = []
    for id_, query in benchmark.queries.items():
        row: dict[str, Any] = {"query_id": id_, "text": query.text, "province": query.province}
        row |= {"persona": query.persona, "variant": query.variant}
        ranked = retrieval["per_query"].get(id_, {}) if retrieval else {}
        row |= {name: ranked.get(name) for name in _WORST} if retrieval else {}
        said = claims["per_query"].get(id_, {}) if claims else {}
        row |= {name: said[name] for name in PURPOSES if name in said}
        made.append(row)
    names = _WORST if retrieval else PURPOSES
    infinity = float("inf")
    return sorted(made, key=lambda row: tuple(infinity if (v := row.get(name)) is None else v for name in names))


def entry(checked: Checked, scores: Mapping[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    """What a leaderboard stores of a submission: scores and its card, no contact address, no answers, no gold.

    Args:
        checked: from `check`.
        scores: from `evaluate`.
        benchmark: the same.

    Returns:
        `cost` is US dollars for all queries, `seconds` one query's on average: what `system.json` says, else what the
        answers' `usage` comes to where every answer has it, and for `cost` every query an answer; None where nobody
        knows.

    Raises:
        InputError: it can't be entered until its fatal problems are mended.
    """
    if checked.fatal or checked.system is None or not checked.digest:
        first = next((str(problem) for problem in checked.problems if problem.fatal), "it has no system.json")
        raise InputError("submission", f"can't be entered: {first}", "mend what the check lists as fatal")
    system = {name: value for name, value in asdict(checked.system).items() if name != "contact"}
    cost, seconds = system.pop("cost"), system.pop("seconds")
    usages = [answer.usage for answer in (checked.answers or {}).values()]
    spent = _sum(usages, "cost") if len(usages) == len(benchmark.queries) else None  # else it is what a part cost
    took = _sum(usages, "seconds")
    if seconds is None and took is not None:
        seconds = took / len(usages)
    made = {
        "id": checked.digest[:16],
        "digest": checked.digest,
        "received": datetime.now(UTC).isoformat(timespec="seconds"),
        "kind": "submission",
        "system": system,
        "benchmark": benchmark.identity,
        "retrieval": scores["retrieval"],
        "claims": scores["claims"],
        "citations": scores["citations"],
        "cost": spent if cost is None else cost,
        "seconds": seconds,
        "problems": checked.count,
        "notes": list(scores["notes"]),
        "canlegalrag": __version__,
    }
    plain: dict[str, Any] = loads(dumps(made))  # as it will be read again: lists, and no NaN
    return plain


def _sum(usages: list[Mapping[str, Any]], name: str) -> float | None:
    """The sum of what every answer says that it took; None where one doesn't say."""
    values = [usage.get(name) for usage in usages]
    known = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v < 1e12]
    return float(sum(known)) if values and len(known) == len(values) else None
