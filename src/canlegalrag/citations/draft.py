"""A citation in the making: what the families of forms produce, before it is finished and frozen."""

from dataclasses import dataclass, field, fields

from canlegalrag.citations.citation import Citation

__all__ = ["LAWS", "Draft"]

LAWS = ("statute", "regulation", "constitution")
"""Kinds that are legislation: never parallel, pinpointed by section."""


@dataclass(slots=True, kw_only=True)
class Draft:
    """The fields of a `Citation`, open to change, and what only the search needs to know."""

    kind: str
    key: str
    start: int
    end: int
    year: int | None = None
    court: str = ""
    court_id: str = ""
    jurisdiction: str = ""
    level: str = ""
    division: str = ""
    number: str = ""
    reporter: str = ""
    volume: str = ""
    series: str = ""
    page: str = ""
    paragraphs: tuple[tuple[int, int], ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    sections: tuple[str, ...] = ()
    style: str = ""
    language: str = ""
    aliases: list[str] = field(default_factory=list)
    group: int = 0
    mention: int = 0
    warnings: list[str] = field(default_factory=list)
    home: str = ""
    """Jurisdiction that a bare `(CA)` after the citation means."""
    run: str = ""
    """The series of numbers that it belongs to: two numbers of one series are two decisions."""
    yearly: int = 0
    """First year from which the year is the volume of the report."""
    whole: bool = False
    """Nothing that follows belongs to it (an address)."""
    needs_section: bool = False
    """It stands only if a section is pinpointed."""

    def finished(self, text: str) -> Citation:
        """The citation, with its text as written in `text`."""
        taken = {name: getattr(self, name) for name in _SHARED}
        taken["aliases"] = tuple(self.aliases)
        taken["warnings"] = tuple(self.warnings)
        return Citation(text=text[self.start : self.end], **taken)


_SHARED = tuple(f.name for f in fields(Citation) if f.name != "text")
