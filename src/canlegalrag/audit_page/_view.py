"""What an audit shows, worked out once for the terminal and for the page: rulings, stretches of the answer, notes."""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from canlegalrag.audit_page._evidence import Evidence, evidence
from canlegalrag.benchmark import Benchmark
from canlegalrag.files import dumps
from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.measures.decided import deciding, purpose_of
from canlegalrag.types import Answer, Claim, Judged, Verdict

__all__ = [
    "ADVICE",
    "MARKS",
    "WORDS",
    "Ruling",
    "Side",
    "Stretch",
    "cost",
    "notes",
    "rulings",
    "side",
    "skeleton",
    "stretches",
    "tally",
    "whose",
]

MARKS = {"supported": "✓", "contradicted": "✗", "unsupported": "?", None: "–"}
"""A sign for each label, so that a page reads without colour."""

WORDS = {"supported": "supported", "contradicted": "contradicted", "unsupported": "unsupported", None: "not scored"}
"""A word for each label."""

_WORST = ("contradicted", "unsupported", None, "supported")
_PLACES = {
    "groundedness": ("answer", "evidence"),
    "accuracy": ("answer", "reference"),
    "coverage": ("reference", "answer"),
    "reference_groundedness": ("reference", "evidence"),
}
"""Purpose -> side of the claims, and what a correction of it is `against`; the first of a side colours its text."""

ADVICE = "None of this is legal advice: it shows what a judge said of a text, and judges err."


@dataclass(frozen=True, slots=True)
class Ruling:
    """What was decided about a claim for one purpose."""

    purpose: str
    """`groundedness`, `accuracy`, `coverage` or `reference_groundedness`."""
    label: str | None
    """As `Verdict.label`."""
    verdict: Verdict | None
    """The verdict that decided; None where there is none."""
    evidence: Evidence | None
    """What it was judged against; None where there is no verdict."""
    others: tuple[Verdict, ...]
    """The verdicts against other pieces of evidence."""

    @property
    def mark(self) -> str:
        """Sign of the label."""
        return MARKS[self.label]

    @property
    def category(self) -> str:
        """Title of the category why it fails; empty where nobody sorted it."""
        if self.label in ("supported", None) or self.verdict is None:
            return ""
        found = next((v.category for v in (self.verdict, *self.others) if v.category), "")
        return CATEGORIES[found].title if found in CATEGORIES else found

    @property
    def human(self) -> bool:
        """Whether a person decided: a model's name has its provider before a slash."""
        return self.verdict is not None and bool(self.verdict.judge) and "/" not in self.verdict.judge


class Stretch(NamedTuple):
    """Characters that the same claims come from."""

    text: str
    """The characters."""
    label: str | None
    """The worst label of its claims."""
    claims: tuple[int, ...]
    """Positions of the claims; none for text that no claim comes from."""
    ending: tuple[int, ...]
    """Those whose sentence ends here: their marks follow."""


@dataclass(frozen=True, slots=True)
class Side:
    """The answer, or the reference answer, with what was decided about its claims."""

    letter: str
    """`A` or `R`: claims are named by it and their number from 1."""
    text: str | None
    """The text; None where it isn't at hand."""
    claims: tuple[Claim, ...] | None
    """As in `Judged`."""
    rulings: tuple[tuple[Ruling, ...], ...]
    """For each claim, one a purpose."""
    warning: str = ""
    """Why the text isn't marked."""

    def name(self, index: int) -> str:
        """`A1` for the first claim of the answer."""
        return f"{self.letter}{index + 1}"

    @property
    def main(self) -> str:
        """The purpose that colours the text; empty where nothing was judged."""
        return next((found[0].purpose for found in self.rulings if found), "")


def rulings(judged: Judged, which: str, benchmark: Benchmark) -> tuple[tuple[Ruling, ...], ...]:
    """What was decided about each claim of a side, a ruling for each purpose that was asked or that has verdicts."""
    claims = (judged.claims if which == "answer" else judged.reference) or ()
    of: dict[tuple[str, int], list[Verdict]] = {}
    for verdict in judged.verdicts:
        if verdict.claim.side == which:
            of.setdefault((purpose_of(verdict), verdict.claim.index), []).append(verdict)
    known = {*judged.asked, *(p for p, _ in of)}
    shown = [p for p, (of_side, _) in _PLACES.items() if of_side == which and p in known]
    return tuple(tuple(_ruling(p, of.get((p, n), []), judged, benchmark) for p in shown) for n in range(len(claims)))


def _ruling(name: str, verdicts: Sequence[Verdict], judged: Judged, benchmark: Benchmark) -> Ruling:
    """The label over all pieces of evidence, and the piece that decides."""
    best = deciding(verdicts)
    if best is None:
        return Ruling(name, None, None, None, ())
    others = tuple(v for v in verdicts if v is not best)
    return Ruling(name, best.label, best, evidence(best, judged, benchmark), others)


def side(judged: Judged, which: str, benchmark: Benchmark, answer: Answer | None) -> Side:
    """Put together what there is of the answer (`answer`) or of the reference answer (`reference`).

    Args:
        judged: what was said.
        which: of the two.
        benchmark: gives the documents.
        answer: its text; None where it isn't at hand.
    """
    claims, chars = (judged.claims, judged.chars) if which == "answer" else (judged.reference, judged.reference_chars)
    given = answer.text if answer is not None else None
    warning = ""
    if given is not None and chars and len(given) != chars:
        warning = f"Not the text that was judged: it has {len(given):,} characters, that one had {chars:,}."
    return Side("A" if which == "answer" else "R", given, claims, rulings(judged, which, benchmark), warning)


def stretches(shown: Side) -> list[Stretch]:
    """Cut a text where the sentences of claims begin and end; whole where that text wasn't judged."""
    text = shown.text or ""
    if shown.warning or not shown.main:
        return [Stretch(text, None, (), ())]
    spans = {
        n: (c.start, c.end)
        for n, c in enumerate(shown.claims or ())
        if c.start is not None and c.end is not None and 0 <= c.start < c.end <= len(text)
    }
    cuts = sorted({0, len(text), *(at for span in spans.values() for at in span)})
    found = []
    for start, end in itertools.pairwise(cuts):
        over = tuple(n for n, (a, b) in spans.items() if a <= start and end <= b)
        labels = {shown.rulings[n][0].label for n in over if shown.rulings[n]} or {None}
        worst = next(label for label in _WORST if label in labels)
        found.append(Stretch(text[start:end], worst, over, tuple(n for n in over if spans[n][1] == end)))
    return found


def tally(shown: Side) -> dict[str, Counter[str | None]]:
    """Purpose -> label -> how many claims."""
    counts: dict[str, Counter[str | None]] = {}
    for of_claim in shown.rulings:
        for ruling in of_claim:
            counts.setdefault(ruling.purpose, Counter())[ruling.label] += 1
    return counts


def skeleton(judged: Judged, ruling: Ruling, index: int) -> str:
    """A line for `corrections.jsonl`, to be copied; it is refused until a person has put a label into it."""
    which, against = _PLACES[ruling.purpose]
    row: dict[str, Any] = {"query_id": judged.query_id, "side": which, "index": index, "against": against}
    claims = (judged.claims if which == "answer" else judged.reference) or ()
    if index < len(claims):
        row["claim"] = claims[index].text  # so that it is never put to another claim, once the answer is judged anew
    return dumps(row | {"label": "supported|contradicted|unsupported", "reason": ""})


def cost(verdicts: Iterable[Verdict]) -> str:
    """What verdicts cost, in US dollars; "at least" where some of it isn't known."""
    costs = [v.cost for v in verdicts]
    known = sum(c for c in costs if c is not None)
    if None in costs:
        return f"at least ${known:.6f}" if known else "cost not known"
    return f"${known:.6f}" if known else "$0"


def notes(judgeds: Iterable[Judged]) -> list[str]:
    """What a reader must know first: what these verdicts are no substitute for, and whose they are."""
    return [ADVICE, *whose(judgeds)]


def whose(judgeds: Iterable[Judged]) -> list[str]:
    """Who gave the verdicts, and which of them is a stand-in."""
    names = sorted({v.judge or "(unnamed)" for judged in judgeds for v in judged.verdicts})
    lines = [f"Judged by {', '.join(names)}." if names else "Nobody has judged anything here."]
    lines += [
        f"{name} is a stand-in for a judge: it counts words, numbers and negations and reads nothing."
        for name in names
        if name.startswith("offline/")
    ]
    return lines
