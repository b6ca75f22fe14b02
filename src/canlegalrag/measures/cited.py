"""What is measured of an answer's citations: existence, agreement with the gold, whether it was retrieved.

Each measure gives a part and a whole (`shares`): the value of a query is their quotient, undefined where the whole is
0. Counts have a whole of 1. Authorities that can't be checked leave every share but `coverage`: unscored is not wrong.
"""

from dataclasses import dataclass

from canlegalrag.measures.checking import Checked, Status
from canlegalrag.measures.shares import Register, Share, enter

__all__ = [
    "MEASURES",
    "Cited",
    "citation_f1",
    "citation_precision",
    "citation_recall",
    "cited_retrieved",
    "coverage",
    "distinct",
    "invented_rate",
    "name_mismatch",
    "not_in_registry",
    "unresolvable",
    "verified",
]

MEASURES: Register = {}
"""Every citation measure by name."""


@dataclass(frozen=True, slots=True)
class Cited:
    """What an answer cites, and what it is held against."""

    authorities: tuple[Checked, ...]
    """The distinct authorities of the answer."""
    gold: frozenset[str] | None = None
    """Relevant documents; None where nobody says."""
    retrieved: frozenset[str] | None = None
    """Documents retrieved; None where nobody says."""

    @property
    def checkable(self) -> list[Checked]:
        """Authorities that the registry can tell about."""
        return [a for a in self.authorities if a.checkable]

    def of(self, status: Status) -> list[Checked]:
        """Authorities with a status."""
        return [a for a in self.authorities if a.status == status]

    def among(self, documents: frozenset[str]) -> list[Checked]:
        """Verified authorities that are one of the documents, or may be where nothing tells several apart."""
        return [a for a in self.authorities if documents.intersection(a.doc_ids)]


@enter(MEASURES, "citation_precision", needs=["qrels"])
def citation_precision(answer: Cited) -> Share:
    """Share of the authorities cited that are gold.

    Formula: verified authorities that are a gold document / checkable authorities, so that an invented one and a gold
    one under a wrong name both count against it. An authority that fits several documents is gold if one of them is.
    Range: 0 to 1; undefined where nothing checkable is cited, and without gold documents.
    Source: set precision at the level of decisions; compare ALCE's citation precision (arXiv 2305.14627), which asks
    whether a passage supports a sentence.

    >>> real, made_up = Checked("2021 BCSC 90101", "verified", ("a",)), Checked("2021 BCSC 90999", "not in registry")
    >>> citation_precision(Cited((real, made_up), gold=frozenset({"a", "b"})))
    (1, 2)
    """
    if not answer.gold:
        return 0, 0
    return len(answer.among(answer.gold)), len(answer.checkable)


@enter(MEASURES, "citation_recall", needs=["qrels"])
def citation_recall(answer: Cited) -> Share:
    """Share of the gold documents that are cited.

    Formula: gold documents that a verified authority is (or may be, where it fits several) / gold documents.
    Range: 0 to 1; 0 where nothing is cited; undefined without gold documents.
    Source: set recall at the level of decisions.

    >>> citation_recall(Cited((Checked("2021 BCSC 90101", "verified", ("a",)),), gold=frozenset({"a", "b"})))
    (1, 2)
    """
    gold = answer.gold or frozenset()
    return len({i for a in answer.authorities for i in a.doc_ids} & gold), len(gold)


@enter(MEASURES, "citation_f1", needs=["qrels"])
def citation_f1(answer: Cited) -> Share:
    """Harmonic mean of citation precision and recall, 0 for an answer that cites nothing.

    Formula: (verified authorities that are gold + gold documents cited) / (checkable authorities + gold documents),
    which is 2PR / (P + R) where every authority fits one document. Unlike precision it can't be raised by silence.
    Range: 0 to 1; undefined without gold documents.
    Source: Dice 1945; van Rijsbergen 1979.

    >>> real, made_up = Checked("2021 BCSC 90101", "verified", ("a",)), Checked("2021 BCSC 90999", "not in registry")
    >>> citation_f1(Cited((real, made_up), gold=frozenset({"a", "b"})))  # precision and recall are both a half
    (2, 4)
    """
    if not answer.gold:
        return 0, 0
    precise, complete = citation_precision(answer), citation_recall(answer)
    return precise[0] + complete[0], precise[1] + complete[1]


@enter(MEASURES, "cited_retrieved", needs=["retrieved"])
def cited_retrieved(answer: Cited) -> Share:
    """Share of the authorities cited that the system had retrieved, rather than remembered or made up.

    Formula: verified authorities that are a retrieved document / checkable authorities.
    Range: 0 to 1; 0 where nothing was retrieved; undefined where nothing checkable is cited.
    Source: this project.

    >>> cited_retrieved(Cited((Checked("2021 BCSC 90101", "verified", ("a",)),), retrieved=frozenset({"a", "x"})))
    (1, 1)
    """
    return len(answer.among(answer.retrieved or frozenset())), len(answer.checkable)


@enter(MEASURES, "invented_rate")
def invented_rate(answer: Cited) -> Share:
    """Share of the authorities cited that don't exist, or exist under another name.

    Formula: (not in registry + name mismatch) / checkable authorities. Against a corpus rather than a complete citator
    it is an upper bound: a real decision that the corpus lacks is not in the registry either.
    Range: 0 to 1, lower is better; undefined where nothing checkable is cited.
    Source: this project; the fault is that of Mata v. Avianca (SDNY 2023) and of Zhang v Chen, 2024 BCSC 285.

    >>> real, wrong = Checked("2021 BCSC 90101", "verified", ("a",)), Checked("2021 BCSC 90102", "name mismatch")
    >>> invented_rate(Cited((real, wrong, Checked("[1932] AC 562", "unresolvable form"))))
    (1, 2)
    """
    return len(answer.of("not in registry")) + len(answer.of("name mismatch")), len(answer.checkable)


@enter(MEASURES, "coverage")
def coverage(answer: Cited) -> Share:
    """Share of the authorities cited that could be checked: how far the other shares can be trusted.

    Formula: checkable authorities / authorities.
    Range: 0 to 1; undefined where nothing is cited.
    Source: this project.

    >>> coverage(Cited((Checked("2021 BCSC 90101", "verified", ("a",)), Checked("[1932] AC 562", "unresolvable form"))))
    (1, 2)
    """
    return len(answer.checkable), len(answer.authorities)


@enter(MEASURES, "authorities", count=True)
def distinct(answer: Cited) -> Share:
    """Number of distinct authorities that an answer cites.

    Formula: verified + name_mismatch + not_in_registry + unresolvable. Range: 0 upwards; defined for every query.
    Source: this project.

    >>> distinct(Cited((Checked("2021 BCSC 90101", "verified", ("a",)), Checked("[1932] AC 562", "unresolvable form"))))
    (2, 1)
    """
    return len(answer.authorities), 1


@enter(MEASURES, "verified", count=True)
def verified(answer: Cited) -> Share:
    """Number of authorities that exist, under the name given if one is given.

    Formula: authorities of status `verified` (see `check`). Range: 0 upwards; defined for every query.
    Source: this project.

    >>> verified(Cited((Checked("2021 BCSC 90101", "verified", ("a",)),)))
    (1, 1)
    """
    return len(answer.of("verified")), 1


@enter(MEASURES, "name_mismatch", count=True)
def name_mismatch(answer: Cited) -> Share:
    """Number of real citations under a name that isn't theirs.

    Formula: authorities of status `name mismatch` (see `check`). Range: 0 upwards; defined for every query.
    Source: this project.

    >>> name_mismatch(Cited((Checked("2021 BCSC 90101", "name mismatch"),)))
    (1, 1)
    """
    return len(answer.of("name mismatch")), 1


@enter(MEASURES, "not_in_registry", count=True)
def not_in_registry(answer: Cited) -> Share:
    """Number of citations of a form that the registry covers, without a document.

    Formula: authorities of status `not in registry` (see `check`). Range: 0 upwards; defined for every query.
    Source: this project.

    >>> not_in_registry(Cited((Checked("2021 BCSC 90999", "not in registry"),)))
    (1, 1)
    """
    return len(answer.of("not in registry")), 1


@enter(MEASURES, "unresolvable", count=True)
def unresolvable(answer: Cited) -> Share:
    """Number of authorities that could not be checked.

    Formula: authorities of status `unresolvable form` (see `check`). Range: 0 upwards; defined for every query.
    Source: this project.

    >>> unresolvable(Cited((Checked("[1932] AC 562", "unresolvable form"),)))
    (1, 1)
    """
    return len(answer.of("unresolvable form")), 1
