"""Authority measures: what the decisions retrieved or cited weigh in the query's province, and their dates.

>>> from canlegalrag.types import Document
>>> registry = Registry.build([
...     Document("scc", "", "", court="SCC", year=2019, citations=("2019 SCC 90065",)),
...     Document("on", "", "", court="ONCA", year=2020, citations=("2020 ONCA 90005",)),
... ])
>>> queries = {"q": Query("q", "May I be evicted?", province="Manitoba")}
>>> score(weigh(queries, {"q": ["scc", "on"]}, registry)).values["binding"]
0.5

The rule, kept simple: a query is taken to be before the superior court of its province, or in a federal matter before
the Federal Court or a federal tribunal. So decisions of the Supreme Court of Canada and of the province's own court of
appeal are binding, and those of the federal appellate courts, which decide federal matters only. All others are
persuasive: superior courts don't bind each other (they do bind provincial courts and tribunals, which this rule leaves
aside), no court binds beyond its province, and lower courts, tribunals, foreign courts and the Privy Council bind none.
It is the rank of the court that is measured, not whether the decision is in point, nor whether it still stands; in
Quebec's civil law the same ranks are used, where a decision weighs by its reasons more than by its court.

Only decisions count: legislation binds by itself where it is enacted.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from canlegalrag.errors import InputError
from canlegalrag.measures.citations import Found, first
from canlegalrag.measures.registry import Entry, Registry
from canlegalrag.measures.shares import Register, Share, choose, enter, summarise, total
from canlegalrag.types import Query, Scores

__all__ = [
    "MEASURES",
    "Weighed",
    "binding",
    "code_of",
    "later_than_query",
    "other_jurisdiction",
    "own_jurisdiction",
    "per_query",
    "persuasive",
    "rank",
    "score",
    "totals",
    "weigh",
]

MEASURES: Register = {}
"""Every authority measure by name."""

_CODES = {
    "alberta": "AB",
    "british columbia": "BC",
    "manitoba": "MB",
    "new brunswick": "NB",
    "newfoundland and labrador": "NL",
    "northwest territories": "NT",
    "nova scotia": "NS",
    "nunavut": "NU",
    "ontario": "ON",
    "prince edward island": "PE",
    "quebec": "QC",
    "saskatchewan": "SK",
    "yukon": "YT",
}
_FEDERAL = "CA"


@dataclass(frozen=True, slots=True)
class Weighed:
    """The decisions found for a query, and where and when it is asked."""

    decisions: tuple[Entry, ...]
    """Distinct decisions; legislation and documents that the registry lacks are left out."""
    province: str = ""
    """Two letters; empty where the query has no province."""
    year: int | None = None
    """Of the query, where it has one."""


def rank(decision: Entry, province: str) -> Literal["binding", "persuasive"] | None:
    """What a decision weighs before the superior court of a province; None where its court isn't known.

    Args:
        decision: from a registry.
        province: two letters.

    >>> rank(Entry("d", level="appeal", jurisdiction="BC"), "BC")
    'binding'
    """
    if not province or decision.law or not decision.jurisdiction:
        return None
    if decision.jurisdiction not in (province, _FEDERAL):
        return "persuasive"
    if not decision.level:
        return None
    return "binding" if decision.level in ("supreme", "appeal") else "persuasive"


@enter(MEASURES, "binding")
def binding(found: Weighed) -> Share:
    """Share of the decisions that bind the superior court of the query's province (see the rule of this page).

    Formula: decisions of the Supreme Court of Canada, of the province's court of appeal and of federal courts of
    appeal / decisions whose court is known.
    Range: 0 to 1; undefined where no decision of a known court is found, or the query has no province.
    Source: vertical stare decisis as in Canada (AG) v Bedford, 2013 SCC 72; between superior courts, R v Sullivan,
    2022 SCC 19; levels and jurisdictions from the table of courts of `citations`.

    >>> binding(Weighed((Entry("d", court_id="scc", level="supreme", jurisdiction="CA"),), "BC"))
    (1, 1)
    """
    ranks = _ranks(found)
    return ranks.count("binding"), len(ranks)


@enter(MEASURES, "persuasive")
def persuasive(found: Weighed) -> Share:
    """Share of the decisions that persuade at most.

    Formula: decisions that don't bind / decisions whose court is known: 1 - `binding`.
    Range: 0 to 1; undefined where `binding` is.
    Source: as `binding`.

    >>> persuasive(Weighed((Entry("d", court_id="onca", level="appeal", jurisdiction="ON"),), "BC"))
    (1, 1)
    """
    ranks = _ranks(found)
    return ranks.count("persuasive"), len(ranks)


@enter(MEASURES, "own_jurisdiction")
def own_jurisdiction(found: Weighed) -> Share:
    """Share of the decisions that courts and tribunals of the query's province gave.

    Formula: decisions of the province / decisions whose jurisdiction is known. Federal courts and the Supreme Court of
    Canada sit for all provinces and are of none.
    Range: 0 to 1; undefined where no decision of a known jurisdiction is found, or the query has no province.
    Source: this project.

    >>> own_jurisdiction(Weighed((Entry("a", jurisdiction="BC"), Entry("b", jurisdiction="CA")), "BC"))
    (1, 2)
    """
    known = _jurisdictions(found)
    return known.count(found.province), len(known)


@enter(MEASURES, "other_jurisdiction")
def other_jurisdiction(found: Weighed) -> Share:
    """Share of the decisions from another province, territory or country: law that may not be the query's.

    Formula: decisions neither of the province nor federal / decisions whose jurisdiction is known.
    Range: 0 to 1; undefined where `own_jurisdiction` is.
    Source: this project.

    >>> other_jurisdiction(Weighed((Entry("a", jurisdiction="ON"), Entry("b", jurisdiction="CA")), "BC"))
    (1, 2)
    """
    known = _jurisdictions(found)
    return len(known) - known.count(found.province) - known.count(_FEDERAL), len(known)


@enter(MEASURES, "later_than_query", needs=["years"])
def later_than_query(found: Weighed) -> Share:
    """Share of the decisions given after the query's year: 0 where nothing postdates it.

    Formula: decisions of a later year than the query's / decisions whose year is known.
    Range: 0 to 1, lower is better; undefined where the query has no year, or no decision with a year is found.
    Source: this project.

    >>> later_than_query(Weighed((Entry("a", year=2019), Entry("b", year=2021)), year=2020))
    (1, 2)
    """
    if found.year is None:
        return 0, 0
    years = [d.year for d in found.decisions if d.year is not None]
    return sum(year > found.year for year in years), len(years)


def weigh(
    queries: Mapping[str, Query],
    found: Found,
    registry: Registry,
    *,
    years: Mapping[str, int] | None = None,
    k: int | None = None,
) -> dict[str, Weighed]:
    """Look the decisions up that were found for each query: what every measure reads.

    Args:
        queries: those that count, with their provinces.
        found: a run, or ids: retrieved, or cited (`citations.cited_documents`); a query that it lacks found nothing.
        registry: courts, jurisdictions and years.
        years: query id to the year of the query, where it has one.
        k: only the first k documents count, passages of one document counting once.

    Returns:
        One a query.

    Raises:
        InputError: a province that doesn't exist; k is below 1.
    """
    if k is not None and k < 1:
        raise InputError("k", f"is {k}", "use at least 1, or leave it out")
    weighed = {}
    for id_, query in queries.items():
        known = [registry.entries[d] for d in first(found.get(id_, ()), k) if d in registry.entries]
        decisions = tuple(entry for entry in known if not entry.law)
        weighed[id_] = Weighed(decisions, code_of(query.province, id_), (years or {}).get(id_))
    return weighed


def per_query(
    weighed: Mapping[str, Weighed], measures: str | Sequence[str] | None = None
) -> dict[str, dict[str, Share]]:
    """Part and whole of every measure for every query: the value is their quotient, undefined where the whole is 0.

    Args:
        weighed: from `weigh`.
        measures: names; None for all that can be computed (`later_than_query` needs years).

    Raises:
        InputError: an unknown measure, or one whose evidence wasn't given.
    """
    dated = any(of.year is not None for of in weighed.values())
    wanted = choose(MEASURES, measures, {"years"} if dated else ())
    return {name: {query: MEASURES[name].function(of) for query, of in weighed.items()} for name in wanted}


def score(
    weighed: Mapping[str, Weighed],
    measures: str | Sequence[str] | None = None,
    *,
    blocks: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Scores:
    """Macro mean of every measure over the queries, with its 95 % block-bootstrap interval.

    Args:
        weighed: from `weigh`.
        measures: as in `per_query`.
        blocks: query id to its block of variations, as in `retrieval.score`.
        resamples: for the intervals.
        seed: of the draws.

    Raises:
        InputError: as `per_query`.
    """
    return summarise(per_query(weighed, measures), blocks=blocks, resamples=resamples, seed=seed)


def totals(weighed: Mapping[str, Weighed], measures: str | Sequence[str] | None = None) -> dict[str, Share]:
    """Micro counts: parts and wholes summed over the queries."""
    return total(per_query(weighed, measures))


def code_of(province: str, query: str = "") -> str:
    """Two letters of a province, written in words (French accents or none) or as its letters; empty for none.

    Raises:
        InputError: there is no such province or territory.

    >>> code_of("Québec"), code_of("NL"), code_of("")
    ('QC', 'NL', '')
    """
    plain = unicodedata.normalize("NFKD", province.strip().casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    if not plain:
        return ""
    if plain.upper() in _CODES.values():
        return plain.upper()
    if plain not in _CODES:
        what = f"{province!r} is no province or territory"
        raise InputError(f"query {query!r}" if query else "province", what, "write it in words, such as Nova Scotia")
    return _CODES[plain]


def _ranks(found: Weighed) -> list[str]:
    return [known for d in found.decisions if (known := rank(d, found.province))]


def _jurisdictions(found: Weighed) -> list[str]:
    return [d.jurisdiction for d in found.decisions if d.jurisdiction] if found.province else []
