"""What verdicts decide: one label a claim for each purpose, counted once for every measure of claims."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from canlegalrag.errors import InputError
from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.types import Judged, Verdict

__all__ = ["LABELS", "PURPOSES", "Tallied", "Tally", "decided", "deciding", "forgotten", "purpose_of", "tallied"]

PURPOSES = ("accuracy", "groundedness", "coverage", "reference_groundedness")
"""What claims are judged for."""

LABELS = ("supported", "contradicted", "unsupported")
"""What a judge may say of a claim."""

_STRENGTH = {"supported": 0, None: 1, "contradicted": 2, "unsupported": 3}
_OF_ANSWER = ("accuracy", "groundedness")
_BY_REFERENCE = ("accuracy", "coverage", "reference_groundedness")


class Tally(NamedTuple):
    """How many claims have which label."""

    supported: int
    """Entailed by the evidence."""
    contradicted: int
    """Denied by it."""
    unsupported: int
    """Neither."""
    unscored: int
    """Without a label: the judge failed."""
    wrong: int = 0
    """Those of the unsupported whose category says that they are wrong in kind (`categories.CATEGORIES`)."""

    @property
    def labelled(self) -> int:
        """Claims with a label."""
        return self.supported + self.contradicted + self.unsupported

    @property
    def claims(self) -> int:
        """All claims, with a label or without."""
        return self.labelled + self.unscored


@dataclass(frozen=True, slots=True)
class Tallied:
    """All that measures of claims read of one query."""

    tallies: Mapping[str, Tally | None]
    """Purpose to its tally; None where the text could not be taken apart, so that nobody knows how many claims it has;
    without those that nobody asked for, or that have no reference answer to go by."""
    claims: int | None = None
    """Claims of the answer; None where it wasn't taken apart."""
    chars: int | None = None
    """Characters of the answer; None where there is none."""
    reference_chars: int | None = None
    """Characters of the reference answer; None where there is none."""
    abstained: bool = False
    """Whether the answer declines to answer."""
    forgotten: bool = False
    """Whether there is no answer at all: it scores zero."""


def purpose_of(verdict: Verdict) -> str:
    """What a verdict was given for: one of `PURPOSES`."""
    if verdict.claim.side == "answer":
        return "accuracy" if verdict.against == "reference" else "groundedness"
    return "coverage" if verdict.against == "answer" else "reference_groundedness"


def deciding(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The verdict that decides a claim over several pieces of evidence; None where there is no verdict.

    One piece that supports it is enough. Otherwise a piece without a label leaves the claim without one, as that piece
    might have supported it; then a contradiction goes before mere lack of support. Of equals the first decides.

    Raises:
        InputError: a label that no judge may give.

    >>> from canlegalrag.types import Claim
    >>> claim = Claim("q1", "answer", 0, "The tenancy ended in May.")
    >>> found = {"a": "unsupported", "b": "contradicted", "c": None, "d": "supported"}
    >>> given = [Verdict(claim, against, label) for against, label in found.items()]
    >>> [deciding(given[:n]).against for n in (1, 2, 3, 4)]
    ['a', 'b', 'c', 'd']
    """
    best: Verdict | None = None
    for verdict in verdicts:
        if verdict.label not in _STRENGTH:
            where = f"query {verdict.claim.query_id!r}, claim {verdict.claim.index} of the {verdict.claim.side}"
            raise InputError(where, f"label {verdict.label!r} is not known", f"one of {', '.join(LABELS)}, or null")
        if best is None or _STRENGTH[verdict.label] < _STRENGTH[best.label]:
            best = verdict
    return best


def decided(judged: Judged, purpose: str) -> tuple[Verdict | None, ...] | None:
    """For each claim that a purpose is about, the verdict that decides it; None for a claim that has no verdict.

    Args:
        judged: an answer with its verdicts.
        purpose: one of `PURPOSES`.

    Returns:
        One a claim, in order; None where the text could not be taken apart.

    Raises:
        InputError: a verdict on a claim that isn't there.
    """
    side = "answer" if purpose in _OF_ANSWER else "reference"
    claims = judged.claims if side == "answer" else judged.reference
    found: dict[int, list[Verdict]] = {claim.index: [] for claim in claims or ()}
    for verdict in judged.verdicts:
        if purpose_of(verdict) == purpose:
            if verdict.claim.index not in found:
                what = f"a verdict is on claim {verdict.claim.index} of the {side}, which it doesn't have"
                raise InputError(f"query {judged.query_id!r}", what, "judge it again, or mend the file")
            found[verdict.claim.index].append(verdict)
    return None if claims is None else tuple(deciding(found[claim.index]) for claim in claims)


def tallied(judged: Judged) -> Tallied:
    """Count the labels of an answer's claims for each purpose that it was judged for.

    Raises:
        InputError: a verdict on a claim that isn't there, a label or a category that is not known.
    """
    without: set[str] = set()
    if judged.reference is None and judged.reference_chars is None:
        without = set(_BY_REFERENCE).difference(map(purpose_of, judged.verdicts))
    return Tallied(
        {
            purpose: _tally(judged, purpose)
            for purpose in PURPOSES
            if purpose in judged.asked and purpose not in without
        },
        claims=None if judged.claims is None else len(judged.claims),
        chars=judged.chars,
        reference_chars=judged.reference_chars,
        abstained=judged.abstained,
    )


def forgotten(purposes: Collection[str], *, reference: bool = True) -> Tallied:
    """What stands for a query without an answer.

    Args:
        purposes: what the other answers were judged for.
        reference: whether it has a reference answer.
    """
    held = [purpose for purpose in purposes if reference or purpose not in _BY_REFERENCE]
    return Tallied(dict.fromkeys(held), forgotten=True)


def _tally(judged: Judged, purpose: str) -> Tally | None:
    deciders = decided(judged, purpose)
    if deciders is None:
        return None
    labels = [None if verdict is None else verdict.label for verdict in deciders]
    supported, contradicted, unsupported = map(labels.count, LABELS)
    wrong = 0
    if purpose == "groundedness":
        kind = _wrong(judged)
        wrong = sum(v is not None and v.label == "unsupported" and v.claim.index in kind for v in deciders)
    return Tally(supported, contradicted, unsupported, labels.count(None), wrong)


def _wrong(judged: Judged) -> set[int]:
    """Claims of the answer with a category that is wrong in kind, whichever of their verdicts carries it."""
    found = set()
    for verdict in judged.verdicts:
        if verdict.category and purpose_of(verdict) == "groundedness":
            if verdict.category not in CATEGORIES:
                what = f"category {verdict.category!r} of claim {verdict.claim.index} is not known"
                raise InputError(f"query {judged.query_id!r}", what, f"one of {', '.join(CATEGORIES)}")
            if CATEGORIES[verdict.category].wrong:
                found.add(verdict.claim.index)
    return found
