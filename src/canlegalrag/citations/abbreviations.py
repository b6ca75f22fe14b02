"""The table of law reports, and what an abbreviation looks like that the table doesn't hold."""

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from canlegalrag.citations.fold import compact, squeeze

__all__ = ["Reporter", "is_bare_word", "looks_cut", "looks_like_a_report", "ordinal", "plain", "reporter_of"]


@dataclass(frozen=True, slots=True)
class Reporter:
    """One law report."""

    name: str
    """Abbreviation, as the key writes it."""
    country: str = ""
    """`UK`, `US` … for a foreign one; empty for a Canadian one."""
    fr: str = ""
    """French abbreviation of the same volumes."""
    court: str = ""
    """Code of the one court that it reports, if it reports one alone."""
    home: str = ""
    """Jurisdiction that a bare `(CA)` after it means."""
    yearly: int = 0
    """First year from which the year is the volume; 0 where volumes run through."""


@lru_cache(maxsize=1)
def _index() -> dict[str, list[tuple[Reporter, bool]]]:
    table = tomllib.loads((resources.files(__package__) / "reporters.toml").read_text(encoding="utf-8"))
    index: dict[str, list[tuple[Reporter, bool]]] = {}
    for country, rows in table.items():
        for name, row in rows.items():
            described = {k: v for k, v in row.items() if k != "also"}
            reporter = Reporter(name, "" if country == "canada" else country, **described)
            spelt = {compact(name), *row.get("also", [])}
            if "&" in compact(name) and len(compact(name)) > 4:
                spelt.add(compact(name).replace("&", ""))
            for spelling in sorted(spelt):
                index.setdefault(spelling, []).append((reporter, False))
            if reporter.fr:
                index.setdefault(compact(reporter.fr), []).insert(0, (reporter, True))
    return index


@lru_cache(maxsize=8192)
def reporter_of(written: str, year: int | None = None) -> tuple[Reporter, bool] | None:
    """The report that an abbreviation means, and whether it is the French one.

    Args:
        written: with or without dots and spaces.
        year: where it stands in square brackets as the volume; it decides between two reports of one name.

    >>> reporter_of("S.C.R.")[0].court, reporter_of("RCS")[1], reporter_of("W.L.R.", 1970)[0].country
    ('SCC', True, 'UK')
    """
    name = compact(written)
    found = _index().get(name) or (_index().get(name.replace("&", "")) if len(name) > 4 else None)
    if not found:
        return None
    yearly = [f for f in found if year and 0 < f[0].yearly <= year]
    return yearly[0] if yearly else found[0]


_ORDINALS = {
    "2e": "2d",
    "2nd": "2d",
    "3e": "3d",
    "3rd": "3d",
    "4e": "4th",
    "5e": "5th",
    "6e": "6th",
    "7e": "7th",
    "ns": "NS",
}


def ordinal(series: str) -> str:
    """Series as the key writes it.

    >>> ordinal("2e"), ordinal("3rd"), ordinal("4th"), ordinal("N.S.")
    ('2d', '3d', '4th', 'NS')
    """
    bare = series.replace(".", "").replace(" ", "")
    return _ORDINALS.get(bare, bare)


def plain(name: str) -> str:
    """An abbreviation without its dots.

    >>> plain("Alta. L.R."), plain("De G. M. & G.")
    ('Alta LR', 'De G M & G')
    """
    return squeeze(name.replace(". ", " ").replace(".", ""))


_NOT_REPORTS_WORDS = (
    "JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER JAN FEB MAR APR JUN JUL "
    "AUG SEPT SEP OCT NOV DEC SEC SECS SECTION SECTIONS ART ARTS NO NOS P PP PAGE VOL CH CHAP C VICT GEO EDW WILL "
    "ELIZ ANNE HEN CAR JAC MR MRS DR MESSRS ST HON RULE RULES FORM PART PARA PARAS LOT LOTS CON PLAN EXHIBIT EX FT IN "
    "PM AM AD PCT PER ITEM REG ORDER TAB VOLUME SESS SUPP ETC ED AT CCLC CCQ CCP CC CCR CRC HALS REV ID IBID LINE "
    "LINES Q A JJ J CJ QC KC BLOCK RANGE TP TWP SCHED CYC ENCYC"
)
_NOT_REPORTS = frozenset(_NOT_REPORTS_WORDS.split())
_PROSE = re.compile(r"[a-z]{8}|(?:^| )[a-z]{3}")


def looks_like_a_report(name: str) -> bool:
    """Whether an unlisted name after a bracketed year has the shape of an abbreviation."""
    words = plain(name).split()
    if not 1 <= len(words) <= 6 or any(compact(w) in _NOT_REPORTS for w in words) or _PROSE.search(name):
        return False
    return len(compact(name)) >= 2 and ("." in name or name.replace(" ", "").isupper())


def looks_cut(name: str) -> bool:
    """Whether an unlisted name between two numbers has the shape of an abbreviation: every word cut with a dot."""
    words = name.replace("&", " ").split()
    return (
        0 < len(words) <= 5
        and len(compact(name)) > 2
        and all(w.endswith(".") for w in words)
        and not any(compact(w) in _NOT_REPORTS for w in words)
        and not _PROSE.search(name)
        and not compact(name).endswith(("LJ", "LQ", "LQR", "LREV"))  # law reviews
    )


_BARE_WORDS = (
    "East Grant Hare Price Kay Keen Dow Moore Story Knapp Mason Rettie Oldright Allen Taunt Salk Burr Iowa Ohio"
)
_BARE = frozenset(_BARE_WORDS.split())


def is_bare_word(name: str, series: str) -> bool:
    """Whether a listed name is prose more often than a report (`12 How 3`, `3 A 5`): those need a dot or a series."""
    if len(compact(name)) == 1:
        return not series
    bare = "." not in name and len(name) <= 8 and " " not in name
    return bare and not name.isupper() and name not in _BARE and not series
