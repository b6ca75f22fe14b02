"""A person's verdicts, from `corrections.jsonl`, in the place of a model's."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from canlegalrag.errors import InputError
from canlegalrag.measures.decided import LABELS, purpose_of
from canlegalrag.near import Near
from canlegalrag.records._fields import rows
from canlegalrag.types import Judged, Verdict
from canlegalrag.wording import many

__all__ = ["Correction", "corrected", "read_corrections"]


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person says of one claim."""

    where: str
    """File and line."""
    query_id: str
    """The query answered."""
    side: str
    """Whose claim it is: `answer` or `reference`."""
    index: int
    """Position of the claim."""
    against: str
    """`reference`, `answer`, or `evidence` for all of the evidence together."""
    label: str
    """`supported`, `contradicted` or `unsupported`."""
    reason: str = ""
    """The person's reason."""
    judge: str = "human"
    """Who says so."""
    claim: str = ""
    """What it claims, which must be what the verdicts have there; empty where nobody says."""


def read_corrections(path: str | Path) -> list[Correction]:
    """Read a person's verdicts, one a line, in the order of the file.

    Raises:
        InputError: a line that is none, one by a model, or two about the same claim.
    """
    path = Path(path)
    found: dict[tuple[str, str, int, str], Correction] = {}
    for row in rows(path):
        side = row.choice("side", ("answer", "reference"), "answer")
        against = row.choice("against", ("reference", "answer", "evidence"))
        if against == side:
            what = f"holds the {side}'s claims against themselves"
            raise row.fault("against", what, "evidence, or the other side's: reference or answer")
        label, reason, judge = row.choice("label", LABELS), row.text("reason", ""), row.text("judge", "human")
        place = (row.id("query_id"), side, row.whole("index"), against)
        if place in found:
            raise InputError(row.where, f"corrects the same claim as {found[place].where}", "keep one")
        if not judge.strip() or "/" in judge:
            fix = '"judge": "human", or a name without a slash'
            raise row.fault("judge", f"{judge!r:.80} is no person: provider/model is a model's", fix)
        found[place] = Correction(row.where, *place, label, reason, judge, row.text("claim", ""))
    if not found:
        fix = '{"query_id": "q1", "index": 0, "against": "evidence", "label": "supported"}'
        raise InputError(str(path), "holds no corrections", fix)
    return list(found.values())


def corrected(judged: Mapping[str, Judged], corrections: Sequence[Correction]) -> dict[str, Judged]:
    """What was judged, with a person's verdict in the place of all that a model said of that claim for that purpose.

    A category stays with a claim that the person finds unsupported or contradicted too.

    Raises:
        InputError: there is no such claim, it claims something else, or that wasn't asked of it.
    """
    near = Near(judged)
    by_query: dict[str, list[Correction]] = defaultdict(list)
    for one in corrections:
        if one.query_id not in judged:
            hint = near(one.query_id) or "corrections and verdicts must be of one judgement"
            raise InputError(f"{one.where}: query_id", f"query {one.query_id!r} was not judged", hint)
        by_query[one.query_id].append(one)
    return {query: _corrected(old, by_query[query]) if query in by_query else old for query, old in judged.items()}


def _corrected(judged: Judged, corrections: Sequence[Correction]) -> Judged:
    verdicts = list(judged.verdicts)
    for one in corrections:
        claims = judged.claims if one.side == "answer" else judged.reference
        if claims is None or one.index >= len(claims):
            has = "isn't taken apart" if claims is None else f"has {many(len(claims), 'claim')}"
            what = f"there is no claim {one.index}: the {one.side} {has}"
            raise InputError(f"{one.where}: index", what, "indexes count from 0")
        if one.claim and one.claim != claims[one.index].text:
            what = f"claim {one.index} of the {one.side} is another: {claims[one.index].text!r:.80}"
            raise InputError(f"{one.where}: claim", what, "corrections and verdicts must be of one judgement")
        verdict = Verdict(claims[one.index], one.against, one.label, reason=one.reason, judge=one.judge)
        measure = purpose_of(verdict)
        if measure not in judged.asked:
            asked = ", ".join(judged.asked) or "nothing"
            raise InputError(f"{one.where}: against", f"{measure} was not asked of this answer, but {asked}")
        places = [n for n, v in enumerate(verdicts) if v.claim == verdict.claim and purpose_of(v) == measure]
        category = next((verdicts[n].category for n in places if verdicts[n].category), "")
        kept = [v for n, v in enumerate(verdicts) if n not in places]
        kept.insert(
            places[0] if places else len(kept), replace(verdict, category="" if one.label == "supported" else category)
        )
        verdicts = kept
    return replace(judged, verdicts=tuple(verdicts))
