"""The table of courts: codes to courts, and what stands in brackets to a court."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from canlegalrag.citations.fold import compact

__all__ = ["Court", "by_code", "courts", "from_brackets", "jurisdiction_of_code", "sources"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Court:
    """One series of neutral citations; a renamed court has several, all with its `id`."""

    code: str
    """Identifier in English citations, as the key writes it (`SCC`)."""
    id: str
    """The court, whatever its name was in the year (`abkb` for ABQB and ABKB)."""
    jurisdiction: str
    """Two letters of the province or territory; `CA` for federal."""
    level: str
    """`supreme`, `appeal`, `superior`, `provincial` or `tribunal`."""
    name: str
    """In English."""
    name_fr: str = ""
    """In French, where it has one."""
    code_fr: str = ""
    """Identifier in French citations, where it differs."""
    first: int | None = None
    """First year of use, where a source says."""
    last: int | None = None
    """Last year of use, where the code has fallen out of use."""
    parent: str = ""
    """Code of the court of which this is a division."""
    successor: str = ""
    """Code that followed."""
    division: str = ""
    """Which division of its court the series belongs to."""
    also: tuple[str, ...] = ()
    """Other spellings met in brackets, compact."""
    source: tuple[str, ...] = ()
    """Keys of `sources()`."""
    checked: bool = False
    """Whether the line was checked against a public document."""


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    import tomllib
    from importlib import resources

    return tomllib.loads((resources.files(__package__) / "courts.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def courts() -> tuple[Court, ...]:
    """Every series of the table, federal first, then by province.

    >>> next(c.name for c in courts() if c.code == "ONCA")
    'Court of Appeal for Ontario'
    """
    rows: list[dict[str, Any]] = _table()["court"]
    return tuple(Court(**row | {"also": tuple(row.get("also", ())), "source": tuple(row["source"])}) for row in rows)


def sources() -> dict[str, str]:
    """The documents behind the table, by the short names that its lines use."""
    return dict(_table()["sources"])


@lru_cache(maxsize=1)
def _codes() -> dict[str, list[Court]]:
    index: dict[str, list[Court]] = {}
    for court in courts():
        for code in {compact(court.code), compact(court.code_fr)} - {""}:
            index.setdefault(code, []).append(court)
    for court in courts():
        for code in court.also:
            if len(code) > 3:
                index.setdefault(code, [court])
    return index


@lru_cache(maxsize=4096)
def by_code(code: str, year: int | None = None) -> Court | None:
    """The series that a code means in a year, in either language; None where the table has none.

    >>> by_code("NBBR", 2010).code, by_code("NBBR", 2023).code, by_code("CSC").code
    ('NBQB', 'NBKB', 'SCC')
    """
    rows = _codes().get(compact(code))
    if not rows:
        return None
    for row in rows:
        if year is None or (year >= (row.first or 0) and year <= (row.last or 9999)):
            return row
    return rows[0]


_PREFIXES = {
    **dict.fromkeys(["ONTARIO", "ONT", "ON"], "ON"),
    **dict.fromkeys(["QUEBEC", "QUE", "QC", "PQ"], "QC"),
    **dict.fromkeys(["ALBERTA", "ALTA", "ALB", "AB"], "AB"),
    **dict.fromkeys(["BRITISHCOLUMBIA", "BC", "CB"], "BC"),
    **dict.fromkeys(["SASKATCHEWAN", "SASK", "SK"], "SK"),
    **dict.fromkeys(["MANITOBA", "MAN", "MB"], "MB"),
    **dict.fromkeys(["NEWBRUNSWICK", "NB"], "NB"),
    **dict.fromkeys(["NOVASCOTIA", "NS"], "NS"),
    **dict.fromkeys(["NEWFOUNDLAND", "NFLD", "NL", "NF"], "NL"),
    **dict.fromkeys(["PEI", "PE"], "PE"),
    **dict.fromkeys(["NWT", "NT"], "NT"),
    **dict.fromkeys(["YUKON", "YUK", "YT", "YK"], "YT"),
    **dict.fromkeys(["NUNAVUT", "NU"], "NU"),
    **dict.fromkeys(["FEDERAL", "FED", "F", "CAN"], "CA"),
}
_BY_LENGTH = sorted(_PREFIXES, key=len, reverse=True)

# What a court is called once its province is taken off: (level, division).
_APPEAL = [
    "CA",
    "COURTOFAPPEAL",
    "CTOFAPPEAL",
    "CTAPP",
    "APP",
    "SCAD",
    "AD",
    "APPDIV",
    "DIVAPP",
    "SCAPPDIV",
    "SCCA",
]
_SUPERIOR = [
    "SC",
    "QB",
    "KB",
    "BR",
    "HC",
    "HCJ",
    "CS",
    "SUPCT",
    "SUPERIORCOURT",
    "SCJ",
    "SUPCTJ",
    "HIGHCT",
    "CSUP",
]
_PROVINCIAL = [
    "PC",
    "PROVCT",
    "PROVCTJ",
    "CTJ",
    "CJ",
    "CQ",
    "CP",
    "CTJPROVDIV",
    "PROVDIV",
    "DISTCT",
    "DC",
    "COCT",
]
_CALLED = {
    **dict.fromkeys(_APPEAL, ("appeal", "")),
    **dict.fromkeys(_SUPERIOR, ("superior", "")),
    **dict.fromkeys(["TD", "SCTD", "TRIALDIV", "CTTD", "CTTRIALDIV"], ("superior", "TD")),
    **dict.fromkeys(["GENDIV", "CTGENDIV", "CTJGENDIV"], ("superior", "Gen Div")),
    **dict.fromkeys(["DIVCT", "SCDC", "HCJDIVCT", "SCJDIVCT", "GENDIVDIVCT"], ("superior", "Div Ct")),
    **dict.fromkeys(["FAMDIV", "SCFAMDIV", "SF"], ("superior", "Fam Div")),
    **dict.fromkeys(_PROVINCIAL, ("provincial", "")),
    **dict.fromkeys(["SMCLCT", "SCSM"], ("provincial", "Sm Cl Ct")),
}
_ONLY_WITH_PROVINCE = {"PC", "SC", "APP"}  # `(PC)` alone is the Privy Council, `(SC)` alone could be any


@lru_cache(maxsize=4096)
def from_brackets(written: str, home: str = "") -> tuple[str, str, str, str] | None:
    """The court that stands in brackets after a citation.

    Args:
        written: what the brackets hold (`ON SC`, `Ont Gen Div`, `C.A.`).
        home: jurisdiction that the report or database belongs to, which a bare `CA` then means.

    Returns:
        Court id, jurisdiction, level and division; None where no court is recognised. A court of appeal of no
        known province has a level and nothing else.

    >>> from_brackets("Ont. C.A."), from_brackets("C.A.", "QC"), from_brackets("CA"), from_brackets("dissenting")
    (('onca', 'ON', 'appeal', ''), ('qcca', 'QC', 'appeal', ''), ('', '', 'appeal', ''), None)
    """
    name = compact(written)
    if name in ("PC", "JCPC", "CP") and (name != "CP" or not home):
        return "ukjcpc", "UK", "supreme", ""
    if name in ("HL", "HLE", "HLENG"):
        return "ukhl", "UK", "supreme", ""
    row = _spelt().get(name)
    if row:
        return row.id, row.jurisdiction, row.level, row.division
    for prefix in _BY_LENGTH:
        called = _CALLED.get(name[len(prefix) :]) if name.startswith(prefix) else None
        if called:
            return _of(_PREFIXES[prefix], *called)
    called = _CALLED.get(name)
    if called and (home or name not in _ONLY_WITH_PROVINCE):
        return _of(home, *called) if home else ("", "", called[0], called[1])
    return None


def _of(jurisdiction: str, level: str, division: str) -> tuple[str, str, str, str]:
    for court in courts():
        if (court.jurisdiction, court.level) == (jurisdiction, level) and not court.parent:
            # The court that it is today: a General Division decision is one of the Superior Court of Justice.
            return court.id, jurisdiction, level, division
    return "", jurisdiction, level, division


@lru_cache(maxsize=1)
def _spelt() -> dict[str, Court]:
    index = {code: rows[-1] for code, rows in _codes().items() if len(code) > 2 or code in ("FC", "CF")}
    for court in courts():
        index.update(dict.fromkeys(court.also, court))
    return index


_CODE_PREFIXES = (
    "NWT",
    "AB",
    "BC",
    "MB",
    "NB",
    "NF",
    "NL",
    "NS",
    "NT",
    "NU",
    "ON",
    "PE",
    "QC",
    "SK",
    "YK",
    "YT",
)


def jurisdiction_of_code(code: str) -> str:
    """The province or territory that an unlisted code begins with; empty where it begins with none.

    >>> jurisdiction_of_code("QCCDPHA"), jurisdiction_of_code("RSO")
    ('QC', '')
    """
    for prefix in _CODE_PREFIXES:
        if code.startswith(prefix):
            return _PREFIXES[prefix]
    return ""
