"""What a chat model's reply says of each item sent: every bad reply has its own outcome, and none is a pass."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from canlegalrag.judging.rows import Bare, Twice, read
from canlegalrag.types import Completion

__all__ = ["FAILURES", "SYNONYMS", "WHY", "Choice", "Unusable", "choices", "stated"]

FAILURES = ("empty", "refusal", "prose", "cut", "broken", "missing", "label", "conflict", "blank")
"""Why there is no label. `empty`: nothing was said; `refusal`: the model declined; `prose`: there is no JSON of the
kind asked for; `cut`: it ended before this item; `broken`: it stopped being JSON before this item; `missing`: it is
sound and leaves the item out; `label`: it names none of the labels; `conflict`: it names two; `blank`: there was no
evidence, so that nobody was asked."""

SYNONYMS = {
    "supported": "supported supports support entailed entails entailment",
    "contradicted": "contradicted contradicts contradict contradiction refuted refutes",
    "unsupported": "unsupported not_supported neutral",
}
"""What else a model may call a label, where only one can be meant. Not here: `true` and `yes` (is the claim true, or
does the evidence support it?), `false`, `no` and `not entailed` (contradicted or unsupported?), `partly supported`."""

WHY = {
    "empty": "the reply was empty",
    "refusal": "the model declined to reply",
    "prose": "the reply held no JSON of the kind that was asked for",
    "cut": "the reply was cut off before this item",
    "broken": "the reply stopped being JSON before this item",
    "missing": "the reply left this item out",
}
"""In words, where the items themselves don't say."""

_LONGEST = 1000
"""Characters kept of a reason or a quote."""
_LONGEST_CLAIM = 2000
"""Characters of a claim; what has more isn't one statement."""


class Unusable(str):
    """Why a reply can't be used."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The label that an item got."""

    label: str | None
    """None where there is none."""
    failure: str = ""
    """Which of `FAILURES`; empty where there is a label."""
    reason: str = ""
    """The model's reason, or why there is no label."""
    quote: str = ""
    """The model's quote, as it gave it."""
    cost: float | None = 0.0
    """US dollars: its share of the calls; None where that isn't known."""


def _silence(completion: Completion) -> str:
    """Why there is nothing to read: one of `FAILURES`; empty where there is something."""
    if completion.stop in ("refusal", "empty"):
        return completion.stop
    if completion.text.strip():
        return ""
    return "cut" if completion.stop == "length" else "empty"


def _why(completion: Completion, fault: str) -> str:
    """A fault in words: those of the provider where it refused the prompt, and no model declined."""
    said = completion.usage.get("refused") if fault == "refusal" else None
    return _short(f"the provider refused to ask the model: {said}", _LONGEST) if said else WHY[fault]


def choices(
    completion: Completion, ids: Sequence[str], *, name: str, field: str, labels: Mapping[str, str]
) -> dict[str, Choice]:
    """Match a reply to the items that were sent, by id.

    Args:
        completion: the reply.
        ids: of the items.
        name: of the list that was asked for.
        field: of a row, where the label stands.
        labels: what a model may say, in lower case with `_` between words, to the label that is meant.

    Returns:
        One choice an id.
    """
    silence = _silence(completion)
    if silence:
        return dict.fromkeys(ids, Choice(None, silence, _why(completion, silence)))
    reply = read(completion.text, name)
    fault = reply.fault or "missing"
    if fault == "prose" and completion.stop == "length":
        fault = "cut"
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in reply.rows:
        said = row.get("id")
        if isinstance(said, str):
            rows.setdefault(said.strip(), []).append(row)
    return {id_: _choice(rows[id_], field, labels) if id_ in rows else Choice(None, fault, WHY[fault]) for id_ in ids}


def _choice(rows: Sequence[Mapping[str, Any]], field: str, labels: Mapping[str, str]) -> Choice:
    """What the rows of one item say together: one label, or none."""
    said = [row.get(field) for row in rows]
    meant = {_label(one, labels) for one in said}
    label = next(iter(meant))
    if len(meant) > 1 or any(isinstance(one, Twice) for one in said):
        shown = " and ".join(dict.fromkeys(_shown(one) for one in said))
        return Choice(None, "conflict", _short(f"the reply gave more than one label: {shown}", _LONGEST))
    if label is None:
        return Choice(None, "label", f"the reply gave {_shown(said[0])} for a label")
    return Choice(label, "", _text(rows[0].get("reason")), _text(rows[0].get("quote")))


def _label(said: Any, labels: Mapping[str, str]) -> str | None:
    if not isinstance(said, str) or isinstance(said, Bare):
        return None
    return labels.get(re.sub(r"[\s_-]+", "_", said.strip(" \t\r\n.*'\"").casefold()))


def _shown(said: Any) -> str:
    """A label as it was said, in short."""
    if said is None:
        return "nothing"
    if isinstance(said, Twice):
        return "two at once"
    if isinstance(said, Bare):
        return _short(said, 40)
    return repr(_short(said, 40)) if isinstance(said, str) else f"a {type(said).__name__}"


def _text(said: Any) -> str:
    return _short(said, _LONGEST) if isinstance(said, str) and not isinstance(said, Bare) else ""


def _short(text: str, most: int) -> str:
    """White space as single spaces, and no more characters than so many."""
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def stated(
    completion: Completion, first: int, last: int, *, unplaced: bool = False
) -> list[tuple[int | None, str]] | Unusable:
    """Read claims out of a reply that must be whole.

    Args:
        completion: the reply.
        first: sentence asked for, from 0.
        last: one past the last.
        unplaced: keep a claim whose sentence isn't one of these, with None for its sentence.

    Returns:
        The sentence of each claim, from 0, and the claim, repeats left out; or why the reply can't be used.
    """
    silence = _silence(completion)
    reply = read(completion.text, "claims")
    fault = silence or ("cut" if reply.fault == "prose" and completion.stop == "length" else reply.fault)
    if fault:
        return Unusable(_why(completion, fault).removesuffix(" before this item"))
    if reply.lists != 1:
        return Unusable(f"the reply held {reply.lists or 'no'} list{'s' * (reply.lists > 1)} of claims")
    claims: dict[tuple[int | None, str], None] = {}
    for row in reply.rows:
        said = row.get("claim")
        claim = "" if isinstance(said, Bare) or not isinstance(said, str) else " ".join(said.split())
        if not 0 < len(claim) <= _LONGEST_CLAIM:
            return Unusable("the reply listed something that is no claim")
        at = row.get("sentence")
        place = int(at) - 1 if isinstance(at, str) and re.fullmatch(r"[0-9]{1,6}", at.strip()) else -1
        if not first <= place < last and not unplaced:
            return Unusable("the reply named a sentence that wasn't asked for")
        claims[place if first <= place < last else None, claim] = None
    return Unusable("the reply listed something that is no claim") if reply.strays else list(claims)
