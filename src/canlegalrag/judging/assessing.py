"""Judge answers: what of reference, evidence and answer each claim is held against, and nothing that isn't needed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from canlegalrag.errors import CallError, InputError
from canlegalrag.judging.abstaining import abstains
from canlegalrag.judging.rounds import Inquiry, run
from canlegalrag.judging.windows import check
from canlegalrag.measures.decided import PURPOSES
from canlegalrag.protocols import Decomposer, Judge
from canlegalrag.types import Answer, Claim, Judged, Verdict

__all__ = ["Item", "as_evidence", "assess", "item_of"]

_OF_ANSWER = ("accuracy", "groundedness", "coverage")
_OF_REFERENCE = ("accuracy", "coverage", "reference_groundedness")
_RESERVED = ("reference", "answer", "evidence")

Claims = tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """An answer and what it is held against."""

    answer: Answer
    """What is judged."""
    reference: str | None = None
    """The reference answer; None where there is none."""
    reference_claims: Claims | None = None
    """Its claims; None where it hasn't been taken apart yet."""
    evidence: tuple[tuple[str, str], ...] | None = None
    """Name and text of each piece that the answer was taken from, best first; None where that isn't known."""


def item_of(
    answer: Answer,
    references: Mapping[str, Answer],
    claims: Mapping[str, tuple[Claim, ...]],
    evidence: tuple[tuple[str, str], ...] | None,
) -> Item:
    """An answer with what a benchmark holds against it: its query's reference answer and the claims of that."""
    reference = references.get(answer.query_id)
    return Item(answer, reference.text if reference else None, claims.get(answer.query_id) or None, evidence)


def assess(
    items: Sequence[Item],
    judge: Judge,
    decomposer: Decomposer,
    measures: Sequence[str],
    *,
    window: int = 12_000,
    overlap: int = 1_000,
) -> list[Judged]:
    """Take answers apart and judge their claims.

    Accuracy holds the answer's claims against the reference's, coverage the reference's against the answer's (in both,
    one claim a line is the evidence); groundedness holds the answer's against each piece of evidence in turn, reference
    groundedness the reference's. A claim that a piece, or a window of a long one, supports is not asked again; one that
    the judge fails on is, as another may support it. Calls go out in rounds, one call of the judge a round for all
    items together: each round the next window of everything that is still open.

    No call is made where the verdict is known, which goes under the judge's name: an answer that declines (`abstains`)
    has no claims and covers none; no evidence, or blank evidence, supports nothing. Where the evidence isn't known,
    there is no reference, or a text can't be taken apart, there are no verdicts, and `faults` says why.

    Args:
        items: answers; a query may occur more than once.
        judge: says whether evidence entails claims.
        decomposer: takes answers apart, and references without claims; asked once for all of them.
        measures: what to judge for, of `measures.decided.PURPOSES`.
        window: characters of evidence that a claim is held against at once.
        overlap: characters that two windows share at least, below half of `window`.

    Returns:
        One an item, in order; a claim has one verdict a piece of evidence, that of the window that decided.

    Raises:
        InputError: an unknown measure, windows that can't be, evidence with two pieces of one name or with a name that
            `Verdict.against` means something else by, claims that aren't the reference's.
        CallError: judge or decomposer returns something other than was asked for.
    """
    wanted = _wanted(measures)
    check(window, overlap)
    for item in items:
        _check(item)
    drafts = _apart(items, decomposer, wanted)
    model = str(judge.identity.get("model", "judge"))
    for draft in drafts:
        draft.ask(wanted, model, window, overlap)
    run([inquiry for draft in drafts for inquiry in draft.inquiries], judge)
    return [draft.judged(wanted) for draft in drafts]


def _wanted(measures: Sequence[str]) -> tuple[str, ...]:
    """What to judge for, each once, in the order of `PURPOSES`."""
    named = (measures,) if isinstance(measures, str) else tuple(measures)
    for name in named:
        if name not in PURPOSES:
            raise InputError(f"measure {name!r:.80}", "is not judged", f"one or more of: {', '.join(PURPOSES)}")
    if not named:
        raise InputError("measures", "there are none to judge for", f"one or more of: {', '.join(PURPOSES)}")
    return tuple(name for name in PURPOSES if name in named)


def _check(item: Item) -> None:
    """Refuse what would give verdicts that can't be told apart."""
    where = f"answer to {item.answer.query_id!r}"
    names = [name for name, _ in item.evidence or ()]
    for name in names:
        if name in _RESERVED:
            raise InputError(where, f"a piece of evidence is named {name!r}", "name it `id:start-end`")
        if names.count(name) > 1:
            raise InputError(where, f"two pieces of evidence are named {name!r}", "each has a name of its own")
    fault = _misnumbered(item.reference_claims or (), item.answer.query_id, "reference")
    if fault:
        raise InputError(where, fault, "give the claims of its reference answer, in order")


def _misnumbered(claims: Sequence[Claim], query_id: str, side: str) -> str:
    """What is wrong with claims that are meant to be those of a text; empty where nothing is."""
    for index, claim in enumerate(claims):
        if (claim.query_id, claim.side, claim.index) != (query_id, side, index):
            got = f"claim {claim.index} of the {claim.side} for {claim.query_id!r}"
            return f"claim {index} of the {side} for {query_id!r} was expected, not {got}"
    return ""


def _apart(items: Sequence[Item], decomposer: Decomposer, wanted: Sequence[str]) -> "list[_Draft]":
    """Each item with its claims, by one call for all texts; the same text of the same query is asked for once."""
    of_answer, of_reference = (any(name in wanted for name in names) for names in (_OF_ANSWER, _OF_REFERENCE))
    drafts, texts = [], {}
    for item in items:
        draft = _Draft(item, abstains(item.answer.text, item.answer.stop), reference=item.reference_claims)
        query_id = item.answer.query_id
        if draft.abstained:
            draft.claims = ()
        elif of_answer:
            draft.answer_key = (query_id, "answer", item.answer.text)
        if of_reference and item.reference is not None and item.reference_claims is None:
            draft.reference_key = (query_id, "reference", item.reference)
        texts.update(dict.fromkeys(filter(None, (draft.answer_key, draft.reference_key))))
        drafts.append(draft)
    asked = list(texts)
    given = decomposer.decompose(asked) if asked else []
    model = str(decomposer.identity.get("model", "decomposer"))
    if len(given) != len(asked):
        raise CallError(model, f"{len(given)} entries for {len(asked)} texts", "one entry a text")
    found = dict(zip(asked, given, strict=True))
    for (query_id, side, _), claims in found.items():
        fault = "" if isinstance(claims, str) else _misnumbered(claims, query_id, side)
        if fault:
            raise CallError(model, fault, "claims are numbered in order, from 0")
    for draft in drafts:
        draft.take(found)
    return drafts


@dataclass(slots=True)
class _Draft:
    """An item while it is judged."""

    item: Item
    """The answer and what it is held against."""
    abstained: bool
    """Whether the answer declines."""
    claims: Claims | None = None
    """Those of the answer."""
    reference: Claims | None = None
    """Those of the reference."""
    answer_key: tuple[str, str, str] | None = None
    """What the decomposer is asked for the answer."""
    reference_key: tuple[str, str, str] | None = None
    """What it is asked for the reference."""
    inquiries: list[Inquiry] = field(default_factory=list)
    """What is asked of the judge."""
    verdicts: list[Verdict] = field(default_factory=list)
    """What is known without asking."""
    faults: list[str] = field(default_factory=list)
    """Why something stays unscored."""

    def take(self, found: "dict[tuple[str, str, str], list[Claim] | str]") -> None:
        """Read what the decomposer said."""
        for key in filter(None, (self.answer_key, self.reference_key)):
            claims = found[key]
            if isinstance(claims, str):
                self.faults.append(f"the {key[1]} could not be taken apart: {claims}")
            elif key[1] == "answer":
                self.claims = tuple(claims)
            else:
                self.reference = tuple(claims)

    def ask(self, wanted: Sequence[str], model: str, window: int, overlap: int) -> None:
        """Set out what each measure needs."""
        if self.item.reference is None and self.reference is None and any(name in _OF_REFERENCE for name in wanted):
            self.faults.append("there is no reference answer")
        if self.reference == () and any(name in _OF_REFERENCE for name in wanted):
            self.faults.append("the reference answer states nothing")
        if self.item.evidence is None and any(name.endswith("groundedness") for name in wanted):
            self.faults.append("nobody says what the answer was taken from")
        for name in wanted:
            claims = self.claims if name in ("accuracy", "groundedness") else self.reference
            pieces, why = self._evidence(name)
            if not claims or pieces is None:
                continue
            if why:
                against = "answer" if name == "coverage" else "evidence"
                self.verdicts += [Verdict(claim, against, "unsupported", reason=why, judge=model) for claim in claims]
            else:
                self.inquiries.append(Inquiry(claims, pieces, model, window, overlap))

    def _evidence(self, measure: str) -> tuple[tuple[tuple[str, str], ...] | None, str]:
        """What a measure's claims are held against, None where there can be no verdict; why it supports nothing."""
        if measure == "accuracy":
            return ((("reference", as_evidence(self.reference)),) if self.reference else None), ""
        if measure == "coverage":
            if self.claims is None:
                return None, ""
            why = "the answer declines" if self.abstained else "the answer states nothing"
            return (("answer", as_evidence(self.claims)),), "" if self.claims else why
        return self.item.evidence, "" if self.item.evidence else "there is no evidence"

    def judged(self, wanted: tuple[str, ...]) -> Judged:
        """The record."""
        answer, reference = self.item.answer, self.item.reference
        return Judged(
            answer.query_id,
            wanted,
            self.claims,
            self.reference,
            tuple(self.verdicts + [verdict for inquiry in self.inquiries for verdict in inquiry.verdicts()]),
            answer.stop,
            self.abstained,
            answer.condition,
            len(answer.text),
            None if reference is None else len(reference),
            tuple(self.faults),
        )


def as_evidence(claims: Sequence[Claim]) -> str:
    r"""Claims as evidence: one a line.

    >>> as_evidence([Claim("q1", "reference", 0, "Rent  is due."), Claim("q1", "reference", 1, "It was paid.")])
    'Rent is due.\nIt was paid.'
    """
    return "\n".join(" ".join(claim.text.split()) for claim in claims)
