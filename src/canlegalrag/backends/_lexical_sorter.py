"""A sorter without a model, for the first run and for tests: rules over what the lexical judge compares."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from canlegalrag.backends._checks import texts_of
from canlegalrag.backends._counts import Counts
from canlegalrag.backends._lexical import index
from canlegalrag.backends._lexical_reading import Reading, read
from canlegalrag.backends._lexical_stems import plain
from canlegalrag.types import Failure

__all__ = ["Rules"]

_NAME = "offline/rules"
_RESTATED = 0.8
_UNRELATED = 0.25
_FEW = 6  # stems that a claim which only links or concludes may have
_OPENING = re.compile(
    r"\s*(?:therefore|thus|hence|accordingly|overall|ultimately|consequently|in (?:conclusion|summary|short|sum)|"
    r"to (?:conclude|summari[sz]e)|as a result|for these reasons|donc|ainsi|bref|en (?:conclusion|somme|resume)|"
    r"par consequent|pour ces raisons)\b"
)


class Rules:
    """Sorts failures by the first rule that holds. A stand-in: it doesn't understand.

    1. `restates`: four fifths of the claim's words are the question's.
    2. `connective`: it begins with a concluding phrase, has up to six words of content, no number, citation or name.
    3. `unrelated`: less than a quarter of its words stand together in the evidence.
    4. `attribution`: half of its words do, but what it cites or names isn't there.
    5. `fact`: half of its words do, but a number, a party or a negation differs.
    6. `modality`: half of its words do, but a modal or a quantifier differs.
    7. `synthesis`: anything else.

    `general-law` and `misapplied-test` take understanding; it never gives them.
    """

    def __init__(self) -> None:
        self._counts = Counts("texts", "truncated")

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its categories depend on."""
        return {"model": _NAME, "revision": "1", "window": None}

    @property
    def counts(self) -> Mapping[str, int]:
        """Claims so far; nothing is ever truncated."""
        return self._counts.now()

    def sort(self, failures: Sequence[Failure]) -> list[tuple[str, str]]:
        """Sort each failure; the reason is the rule."""
        for failure in failures:
            texts_of(_NAME, [failure.verdict.claim.text, failure.question, failure.evidence])
        self._counts.add(texts=len(failures))
        return [_sorted(failure) for failure in failures]


def _sorted(failure: Failure) -> tuple[str, str]:
    claim, question = read(failure.verdict.claim.text), read(failure.question)
    if not (claim.stems or claim.numbers or claim.citations):
        return "", "the claim has no word that could be compared"
    if claim.stems and len(set(claim.stems) & set(question.stems)) >= _RESTATED * len(claim.stems):
        return "restates", "nearly all of its words are the question's"
    if _links(claim, failure.verdict.claim.text):
        return "connective", "it links or concludes, and says little"
    if not failure.evidence.strip():
        return "", "there is no evidence to compare it with"
    found = index(failure.evidence).decide(claim, failure.verdict.against)
    if found is None or found.coverage < _UNRELATED:
        return "unrelated", "hardly any of its words are in the evidence"
    faults = dict((*found.gaps, *found.conflicts))
    if found.coverage >= found.enough:
        for category, kinds in (
            ("attribution", ("citation", "name")),
            ("fact", ("number", "role", "polarity")),
            ("modality", ("modality", "scope")),
        ):
            kind = next((kind for kind in kinds if kind in faults), "")
            if kind:
                return category, faults[kind]
    return "synthesis", "its words are there, but no sentence has them together"


def _links(claim: Reading, text: str) -> bool:
    if claim.numbers or claim.citations or claim.names or len(claim.stems) > _FEW:
        return False
    return _OPENING.match(plain(text)) is not None
