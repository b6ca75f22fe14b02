"""What sentences say otherwise than a claim, or don't say: negation, modals, quantifiers, numbers, parties."""

from collections.abc import Callable

from canlegalrag.backends._lexical_numbers import agree, conflict
from canlegalrag.backends._lexical_reading import Reading
from canlegalrag.backends._lexical_words import COUNTERPARTS, UNITS

__all__ = ["Faults", "faults"]

_MUCH = 1 / 4  # of the shared stems
_MEASURED = frozenset({*UNITS.values(), "date", "section"})
_ACROSS = (("at least", "at most"), ("at most", "at least"), ("before", "after"), ("after", "before"))
_FEW = (2.0, 3.0)  # "the two neighbours" only says who they are

Faults = list[tuple[str, str]]
"""Kind and words for it."""


def faults(
    claim: Reading, given: Reading, shared: set[str], opposed: dict[str, str], holds: Callable[[str], bool]
) -> tuple[Faults, Faults]:
    """What sentences say otherwise than a claim, and what of it they don't say.

    Args:
        claim: what is judged.
        given: the sentences.
        shared: stems that both have.
        opposed: stem of the claim -> its opposite in the sentences.
        holds: whether a number stands anywhere in the evidence.
    """
    conflicts: Faults = []
    gaps: Faults = []
    _polarity(claim, given, shared, opposed, conflicts)
    _modality(claim, given, shared, conflicts, gaps)
    _scope(claim, given, conflicts, gaps)
    _numbers(claim, given, holds, conflicts, gaps)
    _roles(claim, given, conflicts)
    return conflicts, gaps


def _portion(reading: Reading, shared: set[str], way: str) -> float:
    """Share of the shared stems that stand so, and aren't denied."""
    said = [any(way in one.split() and "denied" not in one for one in reading.stems[base]) for base in shared]
    return sum(said) / max(1, len(said))


def _polarity(claim: Reading, given: Reading, shared: set[str], opposed: dict[str, str], conflicts: Faults) -> None:
    def denied(reading: Reading, base: str) -> set[bool]:
        return {"denied" in way for way in reading.stems[base]}

    if any(denied(claim, base) == denied(given, other) for base, other in opposed.items()):
        conflicts.append(("polarity", "one says what the other denies"))
        return
    differs = [base for base in shared if denied(claim, base).isdisjoint(denied(given, base))]
    together = any(True in denied(claim, b) and True in denied(given, b) for b in shared)
    if differs and not together and not opposed:
        conflicts.append(("polarity", "one is negated, the other is not"))


def _modality(claim: Reading, given: Reading, shared: set[str], conflicts: Faults, gaps: Faults) -> None:
    if not (claim.bound or given.bound):
        return
    ours = {way: _portion(claim, shared, way) for way in ("must", "may", "advice")}
    theirs = {way: _portion(given, shared, way) for way in ours}
    for one, other in (("must", "may"), ("may", "must"), ("must", "advice"), ("advice", "must")):
        if ours[one] and not ours[other] and theirs[other] and not theirs[one]:
            much = min(ours[one], theirs[other]) >= _MUCH
            (conflicts if much else gaps).append(("modality", f"the claim says {one}, the evidence {other}"))
            return
    if ours["must"] >= _MUCH and not any(theirs.values()):
        gaps.append(("modality", "the evidence doesn't say that it must be so"))
    elif not any(ours.values()) and not theirs["must"] and max(theirs["may"], theirs["advice"]) >= _MUCH:
        gaps.append(("modality", "the evidence only says that it may or should be so"))


def _scope(claim: Reading, given: Reading, conflicts: Faults, gaps: Faults) -> None:
    if "whole" in claim.scope and "whole" not in given.scope:
        partial = "partial" in given.scope and "partial" not in claim.scope
        if partial or "always" in claim.scope:
            (conflicts if partial else gaps).append(("scope", "the claim is about all or always, the evidence is not"))
    if "only" in claim.scope and "only" not in given.scope:
        gaps.append(("scope", "the claim says only, the evidence doesn't"))
    for one, other in _ACROSS:
        if one in claim.scope and other in given.scope and one not in given.scope and other not in claim.scope:
            conflicts.append(("scope", f"the claim says {one}, the evidence {other}"))
    if "reported" in given.scope and "reported" not in claim.scope:
        gaps.append(("reported", "the evidence only tells what someone says or asks"))


def _numbers(claim: Reading, given: Reading, holds: Callable[[str], bool], conflicts: Faults, gaps: Faults) -> None:
    for number in claim.numbers:
        if any(agree(number, other) for other in given.numbers):
            continue
        if number.kind == "section" and holds(str(number.value[0])):
            continue  # legislation numbers its sections without saying the word
        others = [other for other in given.numbers if conflict(number, other)]
        if others:
            conflicts.append(("number", f"{number} against {others[0]}"))
        elif number.kind in _MEASURED or number.value[0] not in _FEW:
            gaps.append(("number", f"the number {number} isn't in the evidence"))


def _roles(claim: Reading, given: Reading, conflicts: Faults) -> None:
    for role in sorted(claim.roles - given.roles):
        across = COUNTERPARTS.get(role, frozenset()) & given.roles - claim.roles
        if across:
            conflicts.append(("role", f"{role} against {min(across)}"))
    for deed in claim.deeds:
        like = [d for d in given.deeds if d.words & deed.words]
        same = any((d.first, d.second) == (deed.first, deed.second) for d in like)
        if not same and any((d.second, d.first) == (deed.first, deed.second) for d in like):
            conflicts.append(("role", f"{deed.first.lstrip('=')} and {deed.second.lstrip('=')} are swapped"))
            return
