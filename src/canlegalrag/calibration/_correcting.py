"""Rates that a judge measured, and what they would be by people, given its errors on labelled pairs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.measures import correction
from canlegalrag.measures.correction import Corrected, Rate
from canlegalrag.measures.decided import decided, purpose_of
from canlegalrag.measures.stats import block_bootstrap
from canlegalrag.types import Judged, Verdict
from canlegalrag.wording import many

__all__ = ["CORRECTED", "RESAMPLES", "Truth", "asked", "triple"]

CORRECTED = ("accuracy", "groundedness")
"""Rates that can be corrected."""

RESAMPLES = 10_000
"""Bootstrap resamples behind each interval."""

_UNLIKE = 0.01  # p below which pairs and measured claims are taken to differ
_FEW = 20  # blocks below which intervals are too narrow


@dataclass(frozen=True, slots=True)
class Truth:
    """The labelled pairs with what the judge said of them."""

    people: Sequence[str]
    """Label of each pair by people."""
    judge: Sequence[str | None]
    """By the judge."""
    documents: Sequence[str]
    """Where each pair is from."""
    names: set[tuple[str, str]]
    """Judge and prompt of the verdicts on the pairs."""

    def correct(self, verdicts: Mapping[str, Judged], purpose: str, blocks: Mapping[str, str]) -> dict[str, Any]:
        """Share of the measured claims that are supported: as the judge says, and as people would."""
        claims = _measured(verdicts, purpose, blocks, self.names)
        kept = [n for n, label in enumerate(self.judge) if label is not None]
        judge = [float(self.judge[n] == "supported") for n in kept]
        people = [float(self.people[n] == "supported") for n in kept]
        documents = [self.documents[n] for n in kept]
        alike = correction.p_same(claims.values, judge, claims.blocks, documents)
        ppi = correction.ppi(claims.values, judge, people, claims.blocks, documents)
        if alike < _UNLIKE:
            here, there = sum(claims.values) / len(claims.values), sum(judge) / len(judge)
            why = f"the judge calls {there:.0%} of the pairs supported and {here:.0%} of the claims: they aren't alike"
            ppi = Corrected(nan, nan, nan, nan, why)
        low, high = block_bootstrap(claims.values, claims.blocks, RESAMPLES)
        measured = correction.rate(claims.values, claims.blocks)
        sensitivity = _rate(judge, people, documents, 1.0)
        specificity = _rate([1.0 - x for x in judge], people, documents, 0.0)
        return {
            "n": len(claims.values),
            "answers": claims.answers,
            "blocks": len(set(claims.blocks)),
            "unscored": claims.unscored,
            "unasked": claims.unasked,
            "pieces": claims.pieces,
            "measured": triple(measured.value, low, high),
            "rogan_gladen": _corrected(correction.rogan_gladen(measured, sensitivity, specificity)),
            "ppi": _corrected(ppi) | {"weight": _number(ppi.weight), "p_alike": _number(alike)},
            "notes": claims.notes(),
        }


@dataclass(slots=True)
class _Claims:
    """Measured claims of one purpose."""

    values: list[float] = field(default_factory=list)
    """1 for each supported one, 0 for each other that has a label."""
    blocks: list[str] = field(default_factory=list)
    """Block of each one's query."""
    answers: int = 0
    """Answers that were judged for it."""
    unscored: int = 0
    """Claims without a label."""
    unasked: int = 0
    """Claims of answers without evidence, which no judge saw."""
    pieces: int = 0
    """Pieces of evidence that a claim was held against, at most."""

    def notes(self) -> list[str]:
        """What keeps the corrected figures from being right."""
        found = []
        if self.pieces > 1:
            found.append(
                f"a claim was held against up to {self.pieces} pieces of evidence, each a chance of a false "
                "'supported'; the pairs know one piece, so that the corrected rates are likely too high"
            )
        if 0 < len(set(self.blocks)) < _FEW:
            found.append(f"few blocks of queries ({len(set(self.blocks))}): the intervals are likely too narrow")
        if self.unscored:
            found.append(f"{many(self.unscored, 'claim')} without a label: counted nowhere")
        return found


def asked(verdicts: Mapping[str, Judged], purpose: str) -> bool:
    """Whether any answer was judged for a purpose."""
    return any(purpose in judged.asked for judged in verdicts.values())


def _measured(
    verdicts: Mapping[str, Judged], purpose: str, blocks: Mapping[str, str], names: set[tuple[str, str]]
) -> _Claims:
    """Every claim that was judged for a purpose, once it is sure that the same judge did it."""
    found = _Claims()
    for query, judged in verdicts.items():
        deciders = decided(judged, purpose) if purpose in judged.asked else None
        found.answers += deciders is not None
        held = Counter(v.claim.index for v in judged.verdicts if purpose_of(v) == purpose)
        found.pieces = max(found.pieces, *held.values(), 0) if deciders is not None else found.pieces
        for verdict in deciders or ():
            if (
                verdict is not None
                and verdict.against == "evidence"
                and not verdict.prompt
                and verdict.judge != "human"
            ):
                found.unasked += 1
            elif verdict is None or verdict.label is None:
                found.unscored += 1
            else:
                _same_judge(query, verdict, names)
                found.values.append(float(verdict.label == "supported"))
                found.blocks.append(blocks.get(query, query))
    return found


def _same_judge(query: str, verdict: Verdict, names: set[tuple[str, str]]) -> None:
    """Refuse a verdict by another judge: its errors are not those that are known."""
    if (verdict.judge, verdict.prompt) not in names:
        by = " or ".join(sorted(f"{judge} {prompt}".strip() for judge, prompt in names))
        what = f"claim {verdict.claim.index} was judged by {f'{verdict.judge} {verdict.prompt}'.strip()}, not by {by}"
        fix = "give verdicts of the judge that is calibrated, with its prompt, without a person's corrections"
        raise InputError(f"query {query!r}", what, fix)


def _rate(hits: Sequence[float], people: Sequence[float], documents: Sequence[str], of: float) -> Rate:
    """Share of hits among the pairs that people call supported (1) or not (0)."""
    kept = [n for n, said in enumerate(people) if said == of]
    return correction.rate([hits[n] for n in kept], [documents[n] for n in kept])


def _corrected(of: Corrected) -> dict[str, Any]:
    return {**triple(of.value, of.low, of.high), "raw": _number(of.raw), "why": of.why}


def triple(value: float, low: float, high: float) -> dict[str, float | None]:
    """A figure with its interval as JSON holds it."""
    return {"value": _number(value), "low": _number(low), "high": _number(high)}


def _number(value: float) -> float | None:
    return None if value != value else float(value)
