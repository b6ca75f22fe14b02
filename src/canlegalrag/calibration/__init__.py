"""Is the judge any good? A judge on pairs that people labelled, and measured rates corrected for its errors."""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from canlegalrag.calibration._correcting import CORRECTED, RESAMPLES, Truth, asked, triple
from canlegalrag.errors import CallError, InputError
from canlegalrag.measures.agreement import agreement, confusion
from canlegalrag.measures.decided import LABELS
from canlegalrag.measures.stats import block_bootstrap
from canlegalrag.protocols import Judge
from canlegalrag.records.pairs import read_pairs
from canlegalrag.types import Claim, Judged, LabelledPair, Task, Verdict

__all__ = ["CORRECTED", "calibrate", "fingerprint", "read_pairs"]

_AT_ONCE = 64  # tasks given to the judge together: enough for calls to overlap, few enough to show progress
_OF_KINDS = ("accuracy", "binary_accuracy", "unscored_rate")
_TRANSFER = "Corrected figures hold if the judge errs as often on the measured claims as on the pairs."
_SAMPLED = "PPI holds if the pairs are a random sample of the measured claims: pairs picked for being hard are none."
_REPEATS = (
    "Self-consistency: every pair judged again, in another order, with one more line break behind its evidence, so "
    "that no cache of replies can answer."
)


def calibrate(
    judge: Judge,
    pairs: Sequence[LabelledPair],
    *,
    repeats: int = 2,
    verdicts: Mapping[str, Judged] | None = None,
    blocks: Mapping[str, str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Judge labelled pairs, say how well the judge agrees with people and with itself, and correct what it measured.

    Args:
        judge: what is tried.
        pairs: with the labels of people.
        repeats: how often each pair is judged; the first time counts, the others show self-consistency.
        verdicts: what this judge, with this prompt, said of answers, without a person's corrections.
        blocks: query id to its block of variations, for the intervals of measured rates.
        progress: called with the number of pairs judged since.

    Returns:
        As JSON: `judge`, `counts`, `cost`, `pairs`, `bootstrap`, `agreement` (figure to value, low, high), `confusion`,
        `kinds`, `consistency`, `corrected` (by measure), `notes`, and `labels`, a row a pair. Undefined is None.

    Raises:
        InputError: no pairs, an id or a label that can't be, `repeats` below 1, or verdicts by somebody else.
        CallError: the judge fails, or gives what it wasn't asked for.
        BudgetSpent: the budget doesn't hold the next call.
    """
    _check(pairs, repeats)
    begun = dict(judge.counts)
    rounds = [_round(judge, pairs, n, progress) for n in range(repeats)]
    given = rounds[0]
    people, said = [pair.label for pair in pairs], [verdict.label for verdict in given]
    documents = [pair.doc_id or f"\0{pair.id}" for pair in pairs]
    figures = agreement(people, said, documents, RESAMPLES)
    costs = [verdict.cost for one in rounds for verdict in one]
    result = {
        "judge": dict(judge.identity),
        "counts": {name: count - begun.get(name, 0) for name, count in judge.counts.items()},
        "cost": None if None in costs else sum(cost or 0.0 for cost in costs),
        "pairs": _about(pairs, len(set(documents))),
        "bootstrap": {"unit": "document", "blocks": len(set(documents)), "resamples": RESAMPLES, "seed": 0},
        "agreement": {name: triple(*figure) for name, figure in figures.items()},
        "confusion": confusion(people, said),
        "kinds": _kinds(pairs, said, documents),
        "consistency": _consistency(pairs, rounds, documents),
        "labels": [_row(pair, [one[n] for one in rounds]) for n, pair in enumerate(pairs)],
    }
    corrected = {}
    if verdicts is not None:
        truth = Truth(people, said, documents, {(v.judge, v.prompt) for v in given})
        corrected = {name: truth.correct(verdicts, name, blocks or {}) for name in CORRECTED if asked(verdicts, name)}
        if not corrected:
            fix = "judge with --for accuracy,groundedness"
            raise InputError("verdicts", f"hold neither {' nor '.join(CORRECTED)}", fix)
    notes = [_REPEATS] if repeats > 1 else []
    return result | {"corrected": corrected, "notes": notes + ([_TRANSFER, _SAMPLED] if corrected else [])}


def fingerprint(pairs: Sequence[LabelledPair]) -> str:
    """SHA-256 over the digests of the pairs, sorted: their order doesn't matter."""
    rows = (json.dumps(asdict(pair), sort_keys=True).encode() for pair in pairs)
    return hashlib.sha256(b"".join(sorted(hashlib.sha256(row).digest() for row in rows))).hexdigest()


def _check(pairs: Sequence[LabelledPair], repeats: int) -> None:
    if type(repeats) is not int or repeats < 1:
        raise InputError("repeats", f"{repeats!r} is not a whole number from 1", "2 shows self-consistency")
    if not pairs:
        raise InputError("pairs", "there are none", "use a benchmark with labelled pairs (`sample`), or a file of them")
    seen = set()
    for pair in pairs:
        if pair.id in seen:
            raise InputError(f"pair {pair.id!r}", "is there twice", "an id of its own for each pair")
        if pair.label not in LABELS:
            raise InputError(f"pair {pair.id!r}", f"label {pair.label!r} is not known", f"one of: {', '.join(LABELS)}")
        seen.add(pair.id)


def _round(
    judge: Judge, pairs: Sequence[LabelledPair], again: int, progress: Callable[[int], None] | None
) -> list[Verdict]:
    """Judge every pair once, those of one piece of evidence together; in another order each time, but the first."""
    shared: dict[tuple[str, str], list[int]] = {}
    for n, pair in enumerate(pairs):
        against = f"{pair.doc_id}:{pair.start}-{pair.end}" if pair.doc_id else pair.id
        shared.setdefault((against, pair.evidence + "\n" * again), []).append(n)
    work = list(shared.items())
    if again:
        random.Random(again).shuffle(work)
        work = [(key, members[::-1]) for key, members in work]
    found: dict[int, Verdict] = {}
    for start in range(0, len(work), _AT_ONCE):
        part = work[start : start + _AT_ONCE]
        tasks = [
            Task(tuple(Claim(pairs[n].id, "answer", 0, pairs[n].claim) for n in members), against, evidence)
            for (against, evidence), members in part
        ]
        judged = judge.judge(tasks)
        _check_verdicts(judge, tasks, judged)
        for (_, members), one in zip(part, judged, strict=True):
            found.update(zip(members, one, strict=True))
        if progress:
            progress(sum(len(members) for _, members in part))
    return [found[n] for n in range(len(pairs))]


def _check_verdicts(judge: Judge, tasks: Sequence[Task], judged: Sequence[Sequence[Verdict]]) -> None:
    """Make sure that each claim got its own verdict, with a label that there is."""
    name = str(judge.identity.get("model", "judge"))
    if [[v.claim for v in one] for one in judged] != [list(task.claims) for task in tasks]:
        raise CallError(name, "gave verdicts on other claims than it was asked for", "one a claim, in order")
    for verdict in (verdict for one in judged for verdict in one):
        if verdict.label not in (*LABELS, None):
            raise CallError(name, f"gave the label {verdict.label!r}", f"one of: {', '.join(LABELS)}; or None")


def _about(pairs: Sequence[LabelledPair], documents: int) -> dict[str, Any]:
    return {
        "n": len(pairs),
        "documents": documents,
        "fingerprint": fingerprint(pairs),
        "labels": {label: sum(pair.label == label for pair in pairs) for label in LABELS},
        "kinds": dict(Counter(pair.kind for pair in pairs).most_common()),
    }


def _kinds(
    pairs: Sequence[LabelledPair], said: Sequence[str | None], documents: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """What makes pairs hard -> how many there are and how well the judge does on them, most pairs first."""
    found = {}
    for kind, n in Counter(pair.kind for pair in pairs).most_common():
        members = [i for i, pair in enumerate(pairs) if pair.kind == kind]
        figures = agreement(
            [pairs[i].label for i in members], [said[i] for i in members], [documents[i] for i in members], RESAMPLES
        )
        found[kind] = {"n": n, **{name: triple(*figures[name]) for name in _OF_KINDS}}
    return found


def _consistency(
    pairs: Sequence[LabelledPair], rounds: Sequence[Sequence[Verdict]], documents: Sequence[str]
) -> dict[str, Any] | None:
    """How often all rounds gave a pair the same label, of the pairs that all of them labelled."""
    if len(rounds) < 2:
        return None
    labels = [[one[n].label for one in rounds] for n in range(len(pairs))]
    scored = [n for n, of in enumerate(labels) if None not in of]
    same = [float(len(set(labels[n])) == 1) for n in scored]
    low, high = block_bootstrap(same, [documents[n] for n in scored], RESAMPLES)
    return {
        "repeats": len(rounds),
        "same": triple(sum(same) / len(same) if same else float("nan"), low, high),
        "n": len(scored),
        "unscored": len(pairs) - len(scored),
        "changed": [pairs[n].id for n in scored if len(set(labels[n])) > 1],
    }


def _row(pair: LabelledPair, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    first = verdicts[0]
    judged = {"judge": [v.label for v in verdicts], "probability": first.probability, "reason": first.reason}
    return {"id": pair.id, "kind": pair.kind, "people": pair.label, **judged}
