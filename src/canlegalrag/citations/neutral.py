"""Citations that begin with the year: neutral citations, CanLII's, and addresses on canlii.org."""

import re

from canlegalrag.citations.court import Court, by_code, jurisdiction_of_code
from canlegalrag.citations.draft import Draft
from canlegalrag.citations.fold import compact
from canlegalrag.citations.online import carswell

__all__ = ["address", "canlii", "neutral", "year_first"]

# The lookbehind stands after the year, so that the search can skip to a 1 or a 2 in one scan of memory.
_YEAR_FIRST = re.compile(
    r"((?:1[89]|20)[0-9]{2})(?<![0-9]{5})(\]?)[ \n]{0,3}"
    r"([A-Za-z]{2,14}(?:\([A-Za-z]\)|[ ](?:Civ|Crim)(?![a-z]))?|(?:[A-Z]\.[ ]?){2,8}"
    r"|Comp\.?[ ]Trib\.?|Trib\.?[ ][Cc]onc\.?)"
    r"[ \n]{0,3}(?:[Nn]o\.?[ ]|n°[ ]?)?([0-9]{1,7})(?![0-9])"
)
_RANGE = re.compile(r"-([0-9]{1,5})(?![0-9-])")
_ADDRESS = re.compile(
    r"canlii\.(?:org|ca)/[^\s<>\"]{1,200}?/((?:1[89]|20)[0-9]{2})([a-z]{2,10}(?:\([a-z]\)|-[a-z]+)?)([0-9]{1,7})"
    r"(?:[^0-9\s<>\",;)][^\s<>\",;)]{0,120})?(?![0-9])"
)
_SCHEME = re.compile(r"https?://(?:www\.)?\Z")
_FOREIGN = {
    **dict.fromkeys(["EWCA", "EWCACIV", "EWCACRIM", "EWHC", "UKSC", "UKHL", "UKPC", "UKUT", "CSIH", "CSOH"], "UK"),
    **dict.fromkeys(["HCA", "FCAFC", "NSWCA", "NSWSC", "NSWCCA", "VSCA", "VSC", "WASCA", "SASC"], "AU"),
    **dict.fromkeys(["NZSC", "NZCA", "NZHC"], "NZ"),
    **dict.fromkeys(["IESC", "IECA", "IEHC"], "IE"),
    **dict.fromkeys(["HKCA", "HKCFA"], "HK"),
    **dict.fromkeys(["ZACC", "ZASCA"], "ZA"),
}
_ALSO_REPORTS = ("FC", "CF")  # `[1985] FC 234` is a page of the Federal Court Reports
_NO_CODES = ("ONTARIO", "ONLY", "ONCE", "ABOUT", "ABOVE", "NUMBER", "NUMBERS", "PERSON", "PERSONS", "PEOPLE", "NEWS")
_FIRST_NEUTRAL = 1998  # no court numbered its decisions before


def year_first(text: str) -> list[Draft]:
    """Neutral, CanLII and Westlaw citations: a year, a name, a number.

    Args:
        text: folded.

    Returns:
        Drafts, in the order of the text.
    """
    drafts = []
    for m in _YEAR_FIRST.finditer(text):
        name = compact(m[3])
        if name == "CANLII":
            draft = canlii(m)
        elif name.startswith("CARSWELL") or name == "WL":
            number = m[4].lstrip("0") or "0"
            draft = None if m[2] else carswell(m.start(), m.end(), int(m[1]), m[3], number)
        else:
            draft = neutral(m, name)
        if draft:
            drafts.append(draft)
    return drafts


def canlii(m: re.Match[str]) -> Draft | None:
    """CanLII's own citation; the court, where it is given, stands in brackets after it."""
    if m[2]:
        return None
    number = m[4].lstrip("0") or "0"
    draft = Draft(kind="canlii", key=f"{m[1]} CanLII {number}", start=m.start(), end=m.end(), year=int(m[1]))
    draft.number, draft.reporter, draft.run = number, "CanLII", "CanLII"
    return draft


def neutral(m: re.Match[str], name: str) -> Draft | None:
    """A neutral citation, Canadian or foreign; None where the name is no court's."""
    bracketed = bool(m[2]) and m.start() > 0 and m.string[m.start() - 1] == "["
    if bool(m[2]) != bracketed or (bracketed and name in _ALSO_REPORTS):
        return None
    year, number, written = int(m[1]), m[4].lstrip("0") or "0", m[3].strip()
    draft = Draft(kind="neutral", key="", start=m.start() - bracketed, end=m.end(), year=year, court=written)
    draft.number = number
    if name in _FOREIGN:
        return _foreign(draft, _FOREIGN[name])
    row = by_code(name, year)
    if row is None:
        return None if bracketed else _unlisted(draft, name)
    if len(name) <= 2 and (year < _FIRST_NEUTRAL or not written.isupper()):
        return None
    draft.key, draft.run, draft.home = f"{year} {row.code} {number}", row.code, row.jurisdiction
    draft.court_id, draft.jurisdiction, draft.level, draft.division = row.id, row.jurisdiction, row.level, row.division
    if row.code_fr:
        draft.aliases.append(f"{year} {row.code_fr} {number}")
        draft.language = "fr" if name == compact(row.code_fr) else "en"
    _doubts(draft, row, m, bracketed)
    return draft


def _foreign(draft: Draft, country: str) -> Draft:
    head, _, tail = draft.court.replace(".", "").partition(" ")
    code = f"{head.upper()} {tail}".strip()
    draft.kind, draft.jurisdiction, draft.run = "foreign", country, code
    draft.key = f"[{draft.year}] {code} {draft.number}"
    return draft


def _doubts(draft: Draft, row: Court, m: re.Match[str], bracketed: bool) -> None:
    year = draft.year or 0
    through = _RANGE.match(m.string, m.end())
    if through:
        draft.end = through.end()
        draft.warnings.append(f"a range of numbers ({m[4]}-{through[1]}): only the first is in the key")
    if bracketed:
        draft.warnings.append("a neutral citation has no brackets around its year")
    if row.first and year < row.first:
        draft.warnings.append(f"{row.code} is not known to be used before {row.first}")
    if row.last and year > row.last:
        draft.warnings.append(f"{row.code} was used until {row.last}")


def _unlisted(draft: Draft, name: str) -> Draft | None:
    """A code that the table doesn't hold, but that begins as a province's codes do (`2015 QCCDPHA 12`)."""
    written, year = draft.court, draft.year or 0
    jurisdiction = jurisdiction_of_code(name)
    plain = written.isupper() and written.isalpha() and 4 <= len(written) <= 10 and name not in _NO_CODES
    vowels = sum(c in "AEIOU" for c in name)
    if not jurisdiction or not plain or vowels * 2 > len(name) or year < _FIRST_NEUTRAL:
        return None
    draft.key, draft.run = f"{year} {name} {draft.number}", name
    draft.jurisdiction = draft.home = jurisdiction
    draft.warnings.append(f"{name} is not in the table of courts")
    return draft


def address(text: str) -> list[Draft]:
    """Addresses of decisions on canlii.org, which hold the citation (`…/2019onsc1234.html`).

    Args:
        text: folded.

    Returns:
        Drafts, in the order of the text, each with the whole address as its span.
    """
    drafts = []
    for m in _ADDRESS.finditer(text):
        inner = _YEAR_FIRST.fullmatch(f"{m[1]} {m[2].upper()} {m[3]}")
        if not inner:
            continue
        name = compact(inner[3])
        draft = canlii(inner) if name == "CANLII" else neutral(inner, name)
        if draft:
            scheme = _SCHEME.search(text, max(0, m.start() - 12), m.start())
            draft.start, draft.end, draft.whole = scheme.start() if scheme else m.start(), m.end(), True
            draft.court = "" if name == "CANLII" else m[2]
            drafts.append(draft)
    return drafts
