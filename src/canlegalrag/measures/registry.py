"""The registry: which citations stand for which documents, and what a decision's court and name are."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from canlegalrag.citations import Citation, by_code, find, parse
from canlegalrag.errors import InputError
from canlegalrag.types import Document, Problem

__all__ = ["LAWS", "Entry", "Registry"]

LAWS = ("statute", "regulation", "constitution")
"""Kinds of citations that are legislation."""
_ONE_SERIES = ("neutral", "canlii")
_PUBLISHED = ("reporter", "online_db", "statute", "regulation")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Entry:
    """What the registry keeps of one document."""

    id: str
    """The document."""
    title: str = ""
    """Style of cause, or the title of the Act."""
    court_id: str = ""
    """Canonical id of the court (`onsc`); empty where unknown."""
    level: str = ""
    """`supreme`, `appeal`, `superior`, `provincial`, `tribunal`; empty where unknown."""
    jurisdiction: str = ""
    """Two letters, `CA` for federal; empty where unknown."""
    year: int | None = None
    """Of the decision or of the enactment."""
    law: bool = False
    """Whether it is legislation rather than a decision."""
    sections: tuple[str, ...] = ()
    """Sections that it holds, where it is an excerpt."""


@dataclass(frozen=True, slots=True)
class Registry:
    """Citations to documents, one way; built once, read by every check.

    A form can be checked here where it is *neutral* or *canlii* and the registry holds any citation of that kind (each
    is one system for all courts), or where it names a law report, database, volume of statutes or of regulations and
    the registry holds a citation of the same one, series included (`DLR (4th)` says nothing about `DLR (3d)`).
    Everything else (dockets, foreign and unknown forms, the constitution, series that the registry holds none of) can't
    be checked, unless the very citation is held. So `not in registry` means what it says: no such document here. It
    means that there is no such decision only as far as the registry is complete.
    """

    entries: Mapping[str, Entry] = field(repr=False)
    """Document id -> what is known of it."""
    keys: Mapping[str, tuple[str, ...]] = field(repr=False)
    """Canonical key -> documents, in the order given; more than one where the key is ambiguous."""
    aliases: Mapping[str, tuple[str, ...]] = field(repr=False)
    """Other forms of those keys (`2014 CCI 5` of `2014 TCC 5`) -> documents."""
    series: frozenset[str]
    """Series that the registry holds a citation of."""
    problems: tuple[Problem, ...] = ()
    """Documents that can't be found by a citation, and keys that several documents share; none is fatal."""

    @classmethod
    def build(cls, documents: Mapping[str, Document] | Iterable[Document]) -> "Registry":
        """Read the documents once: their citations, titles, courts and years; never their texts.

        Args:
            documents: as a benchmark holds them, or any number of them. A registry may hold more than the corpus:
                documents without a text, out of a citator, make it more complete.

        Raises:
            InputError: two documents have one id, or something is no document.

        >>> registry = Registry.build([Document("a", "Okafor v. Lindqvist", "", citations=("2021 BCSC 90101",))])
        >>> registry.resolve("2021 B.C.S.C. 90101")
        ('a',)
        """
        entries: dict[str, Entry] = {}
        keys: dict[str, dict[str, None]] = {}
        aliases: dict[str, dict[str, None]] = {}
        series: set[str] = set()
        problems: list[Problem] = []
        for document in documents.values() if isinstance(documents, Mapping) else documents:
            if not isinstance(document, Document):
                raise InputError("documents", f"a {type(document).__name__} is no Document", "build it from Documents")
            if document.id in entries:
                raise InputError(f"document {document.id!r}", "is given twice", "keep one")
            found = [c for written in document.citations for c in find(written)]
            if not found:
                what = "has no citation that can be read: no answer can cite it"
                problems.append(Problem(f"document {document.id!r}", what, "fill in `citations`", fatal=False))
            entries[document.id] = _entry(document, found)
            for citation in found:
                keys.setdefault(citation.key, {})[document.id] = None
                series.update(_series(citation))
                for alias in citation.aliases:
                    aliases.setdefault(alias, {})[document.id] = None
        for key, ids in keys.items():
            if len(ids) > 1:
                what = f"stands for {len(ids)} documents: {', '.join(list(ids)[:5])}"
                fix = "names and sections tell them apart where the answer gives them"
                problems.append(Problem(f"citation {key!r}", what, fix, fatal=False))
        return cls(
            entries,
            {key: tuple(ids) for key, ids in keys.items()},
            {key: tuple(ids) for key, ids in aliases.items()},
            frozenset(series),
            tuple(problems),
        )

    @property
    def ambiguous(self) -> dict[str, tuple[str, ...]]:
        """Keys that stand for several documents (language versions, excerpts of one Act, true clashes)."""
        return {key: ids for key, ids in self.keys.items() if len(ids) > 1}

    def look_up(self, citation: Citation) -> tuple[str, ...]:
        """Documents that a citation stands for, by its key alone; empty where there is none."""
        return self.keys.get(citation.key) or self.aliases.get(citation.key) or ()

    def covers(self, citation: Citation) -> bool:
        """Whether the registry can say of a citation that it isn't held: see the rule of the class."""
        return bool(_series(citation) & self.series)

    def resolve(self, written: str) -> tuple[str, ...]:
        """Documents that a string means: an id, or a citation with its section; empty where it means none."""
        if written in self.entries:
            return (written,)
        citation = parse(written)
        if citation is None:
            return ()
        ids = self.look_up(citation)
        return self.with_sections(ids, citation.sections) if citation.kind in LAWS else ids

    def with_sections(self, ids: tuple[str, ...], sections: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the documents that hold a section: an Act in excerpts is several documents with one key.

        A document that names no sections holds them all; without sections asked for, all documents stay.
        """
        if not sections:
            return ids
        return tuple(i for i in ids if not self.entries[i].sections or _meet(self.entries[i].sections, sections))


def _entry(document: Document, found: list[Citation]) -> Entry:
    row = by_code(document.court, document.year) if document.court and document.court != "STATUTE" else None
    said = next((c for c in found if c.court_id), None) or next((c for c in found if c.level or c.jurisdiction), None)
    first = found[0] if found else None
    law = document.court == "STATUTE" or bool(first and first.kind in LAWS)
    year = document.year if document.year is not None else next((c.year for c in found if c.year), None)
    court_id, level, jurisdiction = (
        (row.id, row.level, row.jurisdiction)
        if row
        else (said.court_id, said.level, said.jurisdiction)
        if said
        else ("", "", "")
    )
    return Entry(
        id=document.id,
        title=document.title,
        court_id="" if law else court_id,
        level="" if law else level,
        jurisdiction=jurisdiction or document.jurisdiction,
        year=year,
        law=law,
        sections=first.sections if first and law else (),
    )


def _series(citation: Citation) -> frozenset[str]:
    """The series of numbers that a citation belongs to, also under the names that its aliases have."""
    if citation.kind in _ONE_SERIES:
        return frozenset([citation.kind])
    if citation.kind not in _PUBLISHED:
        return frozenset()
    names = {_name_of(citation)}
    if citation.kind == "reporter":  # `FC` was the name of the reports that are `FCR` since 2003
        names |= {_name_of(c) for alias in citation.aliases if (c := parse(alias)) and c.kind == "reporter"}
    return frozenset(names)


def _name_of(citation: Citation) -> str:
    series = citation.series if citation.kind == "reporter" else ""
    return f"{citation.kind} {citation.reporter} {series}".strip()


def _meet(held: tuple[str, ...], asked: tuple[str, ...]) -> bool:
    ranges = [(_ends(h), h) for h in held]
    for section in asked:
        low, high = _ends(section) or (0.0, -1.0)
        for ends, text in ranges:
            if text == section or (ends and low <= ends[1] and ends[0] <= high):
                return True
    return False


def _ends(section: str) -> tuple[float, float] | None:
    """First and last whole section of `20-27`, `24(1)` or `231.2(3)-(5)`."""
    numbers = [m[0] for part in re.split("[-‑–—]", section) if (m := _NUMBER.match(part.strip()))]
    return (float(numbers[0]), float(numbers[-1])) if numbers else None
