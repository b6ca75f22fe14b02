"""Law reports: the year in brackets (`[1999] 1 SCR 497`) or volume and page (`26 DLR (4th) 200`)."""

import re

from canlegalrag.citations.abbreviations import (
    Reporter,
    is_bare_word,
    looks_cut,
    looks_like_a_report,
    ordinal,
    plain,
    reporter_of,
)
from canlegalrag.citations.court import by_code
from canlegalrag.citations.draft import Draft
from canlegalrag.citations.fold import compact, squeeze
from canlegalrag.citations.online import quicklaw

__all__ = ["bracket_year", "inherit_year", "volume_page"]

_NAME = r"([A-Z](?:[A-Za-zÀ-ÿ.&']|[ \n](?![ \n])){0,32}?)"
_SERIES = (
    r"(?:[ ]?\(([0-9]{1,2}(?:st|nd|rd|th|d|e|er)|N\.?[ ]?S\.?|n\.?s\.?|N\.?S\.?W\.?)\)"
    r"|[ ]?([2-6](?:d|nd|rd|th))(?![a-z]))?"
)
_PAGE = (
    r"[,.]?[ \n]{1,3}(?:p(?:p|age)?\.?[ ])?((?:[Nn]o\.?[ ]?|n[o°]\.?[ ]?)?)"
    r"([0-9]{1,7}(?:_[0-9]|[ab](?![A-Za-z]))?)(?![0-9])"
)
_ROMAN = r"|[ivxl]{1,7}(?![A-Za-z]))"  # leave to appeal is noted on Roman pages: `[1997] 1 S.C.R. xii`
_BRACKET = re.compile(
    r"\[[ ]?((?:1[6-9]|20)[0-9]{2})(?:[-/][0-9]{2,4})?[ ]?\][,.]?[ \n]{0,3}(?:([0-9]{1,3})[ \n]{1,3})?"
    + (_NAME + _SERIES + _PAGE.replace("?)(?![0-9])", "?(?![0-9])" + _ROMAN))
)
_VOLUME = re.compile(
    # The first lookahead is cheap and sends nearly all numbers away: a capital, then a figure not far from it.
    r"[0-9](?<![0-9][0-9])[0-9]{0,3}(?=[ \n]{1,3}[A-Z][A-Za-zÀ-ÿ.,&'()0-9 \n]{0,44}?[0-9])(?=[ \n]{1,3}"
    + (_NAME + _SERIES + _PAGE + ")")
)
_ARTICLE = re.compile(r"(?<![A-Za-z])(?:arts?|ss?)\.?[ \n]\Z")  # `art. 1053 C.C. 12`
_QUOTES = ("”", "»", '"', "'", "”,", '",')
_YEAR_BEFORE = re.compile(r"[(\[]((?:1[5-9]|20)[0-9]{2})(?:[-/][0-9]{2,4})?[)\]],?[ \n]{1,3}\Z")
_YEAR_BARE = re.compile(r"(?<![0-9-])((?:19|20)[0-9]{2}),?[ \n]{1,2}\Z")  # `1950 2 D.L.R. 121`
_YEAR_AFTER = re.compile(r"[ \n]?\(([A-Za-z0-9. ]{0,30}?)[, ]{0,2}((?:1[6-9]|20)[0-9]{2})\)")
_LAW_REPORTS = re.compile(r"(?<![A-Za-z.])(?:S\.?[ ]?C\.?[ ]?)?L\.?[ ]?R\.?,?[ ]{1,2}\Z")
_LAW_REPORTS_NAMES = ("HL", "PC", "QB", "CP", "Ex", "Ch", "Ch App", "Eq", "P & D", "A & E", "Ind App", "CCR", "HL Sc")
_LAW_REPORTS_COURTS = {compact(name): name for name in _LAW_REPORTS_NAMES} | {"PD": "P & D", "AE": "A & E"}
_QUEBEC_REPORTS = re.compile(
    r"(?:Q\.?[ ]?(?:O\.?[ ]?)?R\.?|R\.?[ ]?J\.?[ ]?Q\.?|Que\.?|M\.?[ ]?L\.?[ ]?R\.?),?[ ]{1,2}\Z"
)
_QUEBEC_COURTS = {"KB": "Que KB", "QB": "Que QB", "SC": "CS", "CS": "CS", "BR": "BR"}
_ALSO_CODES = ("FC", "CF", "CA", "CR", "CS", "CP")  # reports first, whatever court has the same letters
_YEARS_AS_VOLUMES = ("DTC", "CTC", "GTC", "GSTC", "CLLC", "STC")  # no other report has a thousand volumes
_LAST_YEARLY_VOLUME = 12  # a report that begins anew each year has no more volumes than months


def bracket_year(text: str) -> list[Draft]:
    """Reports whose volume is a year in square brackets; databases that number so (`[2001] OJ No 1234`).

    Args:
        text: folded.

    Returns:
        Drafts, in the order of the text.
    """
    drafts = []
    for m in _BRACKET.finditer(text):
        year, volume, name, series, page = int(m[1]), m[2] or "", m[3], ordinal(m[4] or m[5] or ""), m[7]
        start = m.start()
        if not volume and compact(name) not in _ALSO_CODES and by_code(name):
            continue  # `[2005] SCC 24` is a neutral citation in brackets
        if m[6]:
            if not volume and name.replace(".", "").replace(" ", "").isupper() and not by_code(name):
                drafts.append(quicklaw(start, m.end(), year, name, page))
            continue
        if compact(name) in ("QR", "LR", "MLR"):
            continue  # `[1903] Q.R. 24 S.C. 495`: the volume follows, `volume_page` takes it
        quebec = _QUEBEC_REPORTS.search(text, max(0, start - 9), start)
        if quebec and compact(name) in _QUEBEC_COURTS:
            start, name = quebec.start(), _QUEBEC_COURTS[compact(name)]
        found = reporter_of(name, year)
        if not page[0].isdigit() and not _notes_leave(found, year, volume, page, text[m.end() : m.end() + 1]):
            continue
        if found:
            drafts.append(_cited(start, m.end(), found, volume, series, page, year))
        elif looks_like_a_report(_with_stop(m, 3)):
            name = _with_stop(m, 3)
            key = squeeze(f"[{year}] {volume} {name} {_in_brackets(series)} {page}")
            drafts.append(_unknown(start, m.end(), key, name, volume, series, page))
            drafts[-1].year = year
    return drafts


def _notes_leave(found: tuple[Reporter, bool] | None, year: int, volume: str, page: str, after: str) -> bool:
    """Whether a Roman page can be one: only the Supreme Court Reports have them, and `v.` stands between parties."""
    if not found or found[0].name != "SCR" or year < found[0].yearly or int(volume or 1) > _LAST_YEARLY_VOLUME:
        return False
    return not (page == "v" and after == ".")


def volume_page(text: str) -> list[Draft]:
    """Reports cited by volume and page, the year before or after them in round brackets.

    Args:
        text: folded.

    Returns:
        Drafts, in the order of the text.
    """
    drafts = []
    for m in _VOLUME.finditer(text):
        at = m.start()
        if at and (text[at - 1].isalnum() or text[at - 1] in "./-$:" or _ARTICLE.search(text, max(0, at - 6), at)):
            continue
        if at > 6 and text[at - 2] == "]" and text[at - 7] == "[":
            continue  # `[1999] 1 SCR 497`: `bracket_year` has it
        draft = _volume(m)
        if draft:
            _take_year(text, draft)
            if draft.kind != "unknown" or text[max(0, draft.start - 2) : draft.start].strip(" \n") not in _QUOTES:
                drafts.append(draft)  # after a quotation it is an article in a law review
    return drafts


def _volume(m: re.Match[str]) -> Draft | None:
    volume, name, series, page = m[0], _with_stop(m, 1), ordinal(m[2] or m[3] or ""), m[5]
    text, start, end = m.string, m.start(), m.end(5)
    if m[4] or volume.startswith("0"):
        return None
    quebec = _QUEBEC_REPORTS.search(text, max(0, start - 9), start)
    if quebec and compact(name) in _QUEBEC_COURTS:
        start, name = quebec.start(), _QUEBEC_COURTS[compact(name)]
    report = None if quebec else _LAW_REPORTS.search(text, max(0, start - 7), start)
    if report and compact(name) in _LAW_REPORTS_COURTS:
        return _law_reports(report.start(), end, volume, _LAW_REPORTS_COURTS[compact(name)], page)
    found = reporter_of(name)
    if found and len(volume) == 4 and 0 < found[0].yearly <= int(volume) < 2100:
        return _cited(start, end, found, "", series, page, int(volume))  # `1932 S.C.R. 5`: the brackets are missing
    alone = m.start() == 0 and end == len(text)  # a key, which has no dots, must parse to itself
    if len(volume) > 3 and compact(name) not in _YEARS_AS_VOLUMES:
        return None
    if found and (alone or not is_bare_word(name, series)):
        return _cited(start, end, found, volume, series, page)
    if found or not looks_cut(name) or by_code(name):
        return None
    key = squeeze(f"{volume} {name} {_in_brackets(series)} {page}")
    return _unknown(start, end, key, name, volume, series, page)


def _with_stop(m: re.Match[str], group: int) -> str:
    """A name with its last dot, which the pattern takes for the stop before the page."""
    return m[group] + "." * (m.string[m.end(group)] == "." and not m[group].endswith("."))


def _take_year(text: str, draft: Draft) -> None:
    """The year in brackets before the volume, or after the page; for tax cases the volume is the year."""
    if draft.year:
        return
    before = _YEAR_BEFORE.search(text, max(0, draft.start - 14), draft.start)
    after = None if before else _YEAR_AFTER.match(text, draft.end)
    if before:
        round_brackets = text[before.start()] == "("
        draft.start, draft.year = before.start(), int(before[1])
        if round_brackets:
            _year_is_volume(draft, draft.year)
    elif draft.yearly and (bare := _YEAR_BARE.search(text, max(0, draft.start - 8), draft.start)):
        draft.start, draft.year = bare.start(), int(bare[1])
        _year_is_volume(draft, draft.year)
    elif after and draft.kind != "unknown":
        draft.end, draft.year, draft.court = after.end(), int(after[2]), after[1].strip()
    elif draft.reporter == "DTC" and int(draft.volume) > 50:
        draft.year = int(draft.volume) + (1900 if int(draft.volume) < 100 else 0)


def _year_is_volume(draft: Draft, year: int) -> None:
    """`(1986) 1 SCR 103` means `[1986] 1 SCR 103`: from 1923 on, the year is part of the volume."""
    if _begins_anew(draft, year):
        draft.warnings.append("the year is part of the volume and belongs in square brackets")
        draft.key = f"[{year}] {draft.key}"
        draft.aliases = [f"[{year}] {alias}" for alias in draft.aliases]


def inherit_year(draft: Draft, year: int) -> None:
    """`[1927] A.C. 515, 1 W.W.R. 692`: the year in the brackets stands for the second report too."""
    if draft.year is None and _begins_anew(draft, year):
        draft.year, draft.key = year, f"[{year}] {draft.key}"
        draft.aliases = [f"[{year}] {alias}" for alias in draft.aliases]


def _begins_anew(draft: Draft, year: int) -> bool:
    """Whether the report's volumes begin anew in that year, so that a volume without its year says nothing."""
    numbered = draft.volume.isdigit() and int(draft.volume) <= _LAST_YEARLY_VOLUME
    return numbered and not draft.series and 0 < draft.yearly <= year


def _cited(
    start: int, end: int, found: tuple[Reporter, bool], volume: str, series: str, page: str, year: int | None = None
) -> Draft:
    """A report of the table; `year` where it stands in square brackets."""
    report, french = found
    of_the_year = not volume or (0 < report.yearly <= (year or 0) and int(volume) <= _LAST_YEARLY_VOLUME)
    shown = f"[{year}]" if year and of_the_year and not (series and volume) else ""
    key = squeeze(f"{shown} {volume} {report.name} {_in_brackets(series)} {page}")
    draft = Draft(kind="foreign" if report.country else "reporter", key=key, start=start, end=end, year=year)
    draft.reporter, draft.volume, draft.series, draft.page = report.name, volume, series, page
    draft.home, draft.run, draft.yearly = report.home, report.name + series, report.yearly
    draft.jurisdiction = report.country
    if report.fr:
        draft.aliases.append(key.replace(f" {report.name} ", f" {report.fr} "))
        draft.language = "fr" if french else "en"
    if report.name in ("FC", "FCR"):  # one report: FC was its name until 2003, many write FCR for all years
        draft.aliases.append(key.replace(f" {report.name} ", " FC " if report.name == "FCR" else " FCR "))
    row = by_code(report.court) if report.court else None
    if row:
        draft.court_id, draft.jurisdiction, draft.level = row.id, row.jurisdiction, row.level
    return draft


def _law_reports(start: int, end: int, volume: str, court: str, page: str) -> Draft:
    """The Law Reports of 1865 to 1875 (`L.R. 3 H.L. 330`): the court between volume and page names the series."""
    draft = Draft(kind="foreign", key=f"LR {volume} {court} {page}", start=start, end=end, jurisdiction="UK")
    draft.reporter, draft.volume, draft.page, draft.run = f"LR {court}", volume, page, f"LR {court}"
    return draft


def _unknown(start: int, end: int, key: str, name: str, volume: str, series: str, page: str) -> Draft:
    draft = Draft(kind="unknown", key=key, start=start, end=end, warnings=["the report is not in the table"])
    draft.reporter, draft.volume, draft.series, draft.page = plain(name), volume, series, page
    draft.run = plain(name) + series
    return draft


def _in_brackets(series: str) -> str:
    return f"({series})" if series else ""
