"""The noun of this package: one citation, as found."""

import re
from dataclasses import dataclass

__all__ = ["KINDS", "Citation", "group"]

KINDS = (
    "neutral",
    "canlii",
    "reporter",
    "online_db",
    "statute",
    "regulation",
    "constitution",
    "foreign",
    "docket",
    "unknown",
)
"""What a citation can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One citation; a decision cited in three reports is three citations of one `group`."""

    kind: str
    """One of `KINDS`; `unknown` has the shape of a law report that the table doesn't hold."""
    key: str
    """The canonical form, equal for every way of writing the same citation (`2003 SCC 24`)."""
    text: str
    """As written, with its court in brackets and its pinpoints, without the style of cause."""
    start: int
    """First character of `text` in the string searched."""
    end: int
    """One past its last character."""
    year: int | None = None
    """Year of the decision, of the volume or of the statute, as the citation says it."""
    court: str = ""
    """Court as written: the code of a neutral citation, or what the brackets say (`ON SC`)."""
    court_id: str = ""
    """Canonical id of the court (`onsc`); empty where the citation doesn't say or the table doesn't hold it."""
    jurisdiction: str = ""
    """Two letters: province or territory, `CA` for federal, `UK`, `US` …; empty where unknown."""
    level: str = ""
    """`supreme`, `appeal`, `superior`, `provincial`, `tribunal`; empty where unknown."""
    division: str = ""
    """Division of the court, where the citation says it (`Div Ct`, `TD`, `AD-EI`)."""
    number: str = ""
    """Number of the decision in its series, of the docket or of the regulation."""
    reporter: str = ""
    """Law report, database or volume of statutes, in canonical form (`SCR`, `OJ`, `RSC`)."""
    volume: str = ""
    """Volume of the report."""
    series: str = ""
    """Series of the report (`4th`), or supplement of the statutes."""
    page: str = ""
    """First page in the report, or chapter of the statute."""
    paragraphs: tuple[tuple[int, int], ...] = ()
    """Paragraphs pinpointed, as ranges with both ends included."""
    pages: tuple[tuple[int, int], ...] = ()
    """Pages pinpointed, as ranges with both ends included."""
    sections: tuple[str, ...] = ()
    """Sections, articles or rules pinpointed, as written (`27.1`, `231.2(3)(b)`)."""
    style: str = ""
    """Style of cause before it (`R. v. Jordan`), or the title of the statute; empty where none is there."""
    language: str = ""
    """`en` or `fr` where the form tells; empty where both languages write it alike."""
    aliases: tuple[str, ...] = ()
    """Other keys of the same decision: the parallel citations beside it and the form in the other language."""
    group: int = 0
    """Number of the decision among those cited, in the order of first mention; its citations share it, parallel or
    repeated: those that have a key or an alias in common, directly or through others."""
    mention: int = 0
    """Number of the mention: parallel citations that stand together share it, a repeated citation has its own."""
    warnings: tuple[str, ...] = ()
    """What is odd about the citation, in plain words."""

    def __str__(self) -> str:
        """The key: it parses to itself."""
        return self.key

    @property
    def slug(self) -> str:
        """The key without white space, fit for an id in a TREC run.

        >>> Citation(kind="neutral", key="2019 SCC 65", text="2019 CSC 65", start=0, end=11).slug
        '2019-scc-65'
        """
        return re.sub(r"[^a-z0-9]+", "-", self.key.lower()).strip("-")


def group(citations: list[Citation]) -> list[list[Citation]]:
    """Put the citations of one decision together, parallel and repeated, decisions in the order of first mention.

    Args:
        citations: what one call of `find` gave.

    Returns:
        One list a decision (or statute …), never empty.
    """
    decisions: dict[int, list[Citation]] = {}
    for citation in citations:
        decisions.setdefault(citation.group, []).append(citation)
    return list(decisions.values())
