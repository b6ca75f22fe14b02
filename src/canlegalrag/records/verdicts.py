"""What a judge said of answers to and from `verdicts.jsonl`: one line a query."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.files import dumps, loads
from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.measures.decided import LABELS, PURPOSES
from canlegalrag.plain import HALF, is_whole
from canlegalrag.records._fields import Row, once, rows
from canlegalrag.records.answers import STOPS
from canlegalrag.types import Claim, Judged, Verdict
from canlegalrag.wording import many

__all__ = ["judged_line", "judged_rows", "read_verdicts"]

_SIDES = ("answer", "reference")
_NAMES = (*_SIDES, "evidence")
_DEAREST = 1e9  # US dollars: what is dearer is a mistake, and sums of it might be infinite


def judged_line(judged: Judged) -> str:
    """One judged answer as a line of `verdicts.jsonl`; a verdict names its claim by side and index.

    Raises:
        InputError: a verdict is about a claim that isn't there.
    """
    row = {
        "query_id": judged.query_id,
        "asked": list(judged.asked),
        "condition": judged.condition,
        "stop": judged.stop,
        "abstained": judged.abstained,
        "chars": judged.chars,
        "reference_chars": judged.reference_chars,
        "claims": _claim_rows(judged.claims),
        "reference": _claim_rows(judged.reference),
        "verdicts": [_verdict_row(judged, verdict) for verdict in judged.verdicts],
        "faults": list(judged.faults),
    }
    return dumps(row)


def _claim_rows(claims: Sequence[Claim] | None) -> list[dict[str, Any]] | None:
    if claims is None:
        return None
    return [{"text": claim.text, "start": claim.start, "end": claim.end} for claim in claims]


def _verdict_row(judged: Judged, verdict: Verdict) -> dict[str, Any]:
    claim = verdict.claim
    claims = (judged.claims if claim.side == "answer" else judged.reference) or ()
    if not 0 <= claim.index < len(claims) or claims[claim.index] != claim:
        what = f"a verdict is about {claim.text!r:.80}, which is not claim {claim.index} of its {claim.side}"
        raise InputError(f"query {judged.query_id!r}", what, "a judge gives back the claims that it was given")
    return {
        "side": claim.side,
        "index": claim.index,
        "against": verdict.against,
        "label": verdict.label,
        "probability": verdict.probability,
        "reason": verdict.reason,
        "quote": verdict.quote,
        "judge": verdict.judge,
        "prompt": verdict.prompt,
        "cost": verdict.cost,
        "category": verdict.category,
    }


def read_verdicts(path: str | Path) -> dict[str, Judged]:
    """Read what a judge said of answers, by query; a label of null stays None: unscored.

    Raises:
        InputError: a line that isn't so, a query given twice, a verdict about no claim or given twice, an unknown
            label, a number that isn't finite.
    """
    path = Path(path)
    found = _by_query(rows(path))
    if not found:
        raise InputError(
            str(path), "holds no verdicts", 'its lines are {"query_id": …, "claims": […], "verdicts": […]}'
        )
    return found


def judged_rows(lines: Iterable[Mapping[str, Any] | str]) -> dict[str, Judged]:
    """As `read_verdicts`, from the lines themselves: objects, or JSON.

    Raises:
        InputError: as `read_verdicts`.

    >>> judged_rows(['{"query_id": "q1", "claims": null, "reference": null}'])["q1"].claims is None
    True
    """
    return _by_query(Row(f"verdicts[{n}]", _values(f"verdicts[{n}]", line)) for n, line in enumerate(lines))


def _values(where: str, line: Any) -> Mapping[str, Any]:
    """The fields of a line; through JSON, so that what no file can hold is refused here too."""
    try:
        values = loads(line if isinstance(line, str) else dumps(line))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(where, f"not JSON: {error}", "one object a query") from None
    if not isinstance(values, dict):
        raise InputError(where, f"a {type(values).__name__}, not a JSON object", "one object a query")
    if not is_whole(dumps(values)):
        raise InputError(where, HALF, "read the source as UTF-8")
    return values


def _by_query(lines: Iterable[Row]) -> dict[str, Judged]:
    found: dict[str, Judged] = {}
    for row in lines:
        query_id = row.id("query_id")
        once(row, query_id, found)
        found[query_id] = _judged(row, query_id)
    return found


def _judged(row: Row, query_id: str) -> Judged:
    claims = _claims(row, "claims", query_id, "answer")
    reference = _claims(row, "reference", query_id, "reference")
    sides = {"answer": claims, "reference": reference}
    verdicts = [_verdict(one, sides) for one in row.rows("verdicts")]
    asked = row.strings("asked")
    if not asked and verdicts:
        raise row.fault(
            "asked", "is missing or empty, so that nobody knows what was judged for", f"of {', '.join(PURPOSES)}"
        )
    for n, name in enumerate(asked):
        if name not in PURPOSES:
            raise row.fault(f"asked[{n}]", f"{name!r:.80} is not known", f"one of: {', '.join(PURPOSES)}")
    seen = set()
    for n, verdict in enumerate(verdicts):
        place = (verdict.claim.side, verdict.claim.index, verdict.against)
        if place in seen:
            what = f"{place[0]} claim {place[1]} is judged against {place[2]!r:.80} twice"
            raise row.fault(f"verdicts[{n}]", what, "one verdict a claim and piece of evidence")
        seen.add(place)
    return Judged(
        query_id,
        asked=asked,
        claims=claims,
        reference=reference,
        verdicts=tuple(verdicts),
        stop=row.choice("stop", STOPS, "stop"),
        abstained=row.flag("abstained"),
        condition=row.text("condition", ""),
        chars=row.whole("chars", 0),
        reference_chars=row.whole("reference_chars") if row.has("reference_chars") else None,
        faults=row.strings("faults"),
    )


def _claims(row: Row, name: str, query_id: str, side: str) -> tuple[Claim, ...] | None:
    """Claims of a side; null where there are none to be had, which isn't an empty list."""
    if name not in row.values:
        raise row.fault(name, "is missing", f'"{name}": [{{"text": "…"}}], or null where it couldn\'t be taken apart')
    if not row.has(name):
        return None
    made = []
    for index, one in enumerate(row.rows(name)):
        start = end = None
        if one.has("start") or one.has("end"):
            start, end = one.whole("start"), one.whole("end")
            if end < start:
                raise one.fault("end", f"{end} is before the start, {start}", "0 <= start <= end")
        made.append(Claim(query_id, side, index, one.text("text"), start, end))
    return tuple(made)


def _verdict(row: Row, sides: dict[str, tuple[Claim, ...] | None]) -> Verdict:
    side, index = row.choice("side", _SIDES), row.whole("index")
    claims = sides[side]
    if claims is None or index >= len(claims):
        has = "isn't taken apart" if claims is None else f"has {many(len(claims), 'claim')}"
        raise row.fault("index", f"there is no claim {index}: the {side} {has}", "indexes count from 0")
    against = row.text("against")
    if not against.strip() or against == side:
        what = "is blank" if not against.strip() else f"holds the {side}'s claims against themselves"
        raise row.fault("against", what, "reference, answer, a document's id, or id:start-end")
    name = against.strip().casefold()
    if name in _NAMES and against != name:  # taken for a document's id, it would count for another measure
        raise row.fault("against", f"{against!r:.80} is neither {name!r} nor a document's id", f'"against": "{name}"')
    if "label" not in row.values:
        raise row.fault("label", "is missing", f"one of: {', '.join(LABELS)}, or null where the judge failed")
    known = "cost" not in row.values or row.has("cost")
    return Verdict(
        claims[index],
        against,
        row.choice("label", LABELS) if row.has("label") else None,
        probability=row.number("probability", 1.0),
        reason=row.text("reason", ""),
        quote=row.text("quote", ""),
        judge=row.text("judge", ""),
        prompt=row.text("prompt", ""),
        cost=(row.number("cost", _DEAREST) or 0.0) if known else None,
        category=row.choice("category", ("", *CATEGORIES), ""),
    )
