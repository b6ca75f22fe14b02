"""Databases and registries: `[2001] OJ No 1234`, `1996 CarswellOnt 4402`, `AZ-50123456`, `GE-16-1234`."""

import re

from canlegalrag.citations.court import by_code
from canlegalrag.citations.draft import Draft
from canlegalrag.citations.fold import compact

__all__ = ["carswell", "docket", "quebec_publisher", "quicklaw"]

_QUICKLAW_WORDS = "OJ:ON BCJ:BC AJ:AB SJ:SK MJ:MB QJ:QC NBJ:NB NSJ:NS NJ:NL PEIJ:PE NWTJ:NT YJ:YT NUJ:NU FCJ:CA TCJ:CA"
_QUICKLAW = dict(pair.split(":") for pair in _QUICKLAW_WORDS.split())
_QUICKLAW_FRENCH = {"JQ": "QJ", "ACF": "FCJ", "ACI": "TCJ"}
_CARSWELL_WORDS = (
    "Ont:ON Que:QC Alta:AB BC:BC Sask:SK Man:MB NB:NB NS:NS Nat:CA Nfld:NL PEI:PE NWT:NT Yukon:YT Nun:NU Nunavut:NU"
)
_CARSWELL = {pair.split(":")[0].upper(): pair.split(":") for pair in _CARSWELL_WORDS.split()}


def quicklaw(start: int, end: int, year: int, name: str, number: str) -> Draft:
    """A database that numbers its decisions by the year (`[2001] OJ No 1234`)."""
    code, number = compact(name), number.lstrip("0") or "0"
    database = _QUICKLAW_FRENCH.get(code, code)
    draft = Draft(kind="online_db", key=f"[{year}] {database} No {number}", start=start, end=end, year=year)
    draft.reporter, draft.number, draft.run, draft.home = database, number, database, _QUICKLAW.get(database, "")
    if code != database:
        draft.language = "fr"
        draft.aliases.append(f"[{year}] {code} no {number}")
    return draft


def carswell(start: int, end: int, year: int, name: str, number: str) -> Draft | None:
    """Westlaw's citation, of Canada (`1996 CarswellOnt 4402`) or of the United States (`2010 WL 12345`)."""
    where = compact(name).removeprefix("CARSWELL")
    place, home = _CARSWELL.get(where, (where.title(), ""))
    database = "WL" if name == "WL" else f"Carswell{place}"
    if compact(name) == "WL" and name != "WL":
        return None
    draft = Draft(kind="online_db", key=f"{year} {database} {number}", start=start, end=end, year=year)
    draft.reporter, draft.number, draft.run, draft.home = database, number, database, home
    return draft


# The other two families have a hyphen before figures: that is rare in prose, so it is what the search looks for.
_SOQUIJ = re.compile(r"AZ(?<![A-Za-z0-9]AZ)-?([0-9]{6,10})(?![0-9-])")
_HYPHEN = re.compile(r"-([0-9]{1,6})(?![0-9A-Za-z]|-[0-9])")
_PUBLISHER = re.compile(
    r"(?<![A-Za-z0-9.])(J\.?[ ]?E\.?|E\.?Y\.?B\.?|R\.?E\.?J\.?B\.?|D\.?[ ]?T\.?[ ]?E\.?|B\.?[ ]?E\.?)[ ]{1,2}"
    r"((?:1[89]|20)?[0-9]{2}[A-Z]{0,2})\Z"
)
_DOCKET = re.compile(r"-([0-9]{1,6})-([0-9]{2,5})(?:-[A-Z]{2})?(?![0-9A-Za-z-])")
_PREFIX = re.compile(r"(?<![A-Za-z0-9-])(?:GE|GP|GT|AD|AE|IMM|DES|T|A|[TNSEC][A-Z]L|[TNSEC][A-Z]T|HOT|LTB-[A-Z])\Z")
_RE = re.compile(r"[ \n]?\(Re\)")
_REGISTRIES = {"GE": "SST", "GP": "SST", "GT": "SST", "AD": "SST", "AE": "SST", "IMM": "FC", "T": "FC", "DES": "FC"}


def quebec_publisher(text: str) -> list[Draft]:
    """Numbers of SOQUIJ and of Éditions Yvon Blais (`J.E.`, `D.T.E.`, `B.E.`, `AZ-`, `EYB`, `REJB`).

    Args:
        text: folded.

    Returns:
        Drafts, SOQUIJ's file numbers first.
    """
    drafts = [_numbered(f"AZ-{m[1]}", "AZ", m[1], m.start(), m.end()) for m in _SOQUIJ.finditer(text)]
    for m in _HYPHEN.finditer(text):
        before = _PUBLISHER.search(text, max(0, m.start() - 16), m.start())
        if before:
            name, number = compact(before[1]), f"{before[2]}-{m[1]}"
            draft = _numbered(f"{name} {number}", name, number, before.start(), m.end())
            figures = int(before[2].rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
            draft.year = figures if figures > 99 else figures + (1900 if figures > 50 else 2000)
            drafts.append(draft)
    return drafts


def _numbered(key: str, name: str, number: str, start: int, end: int) -> Draft:
    return Draft(kind="online_db", key=key, reporter=name, number=number, start=start, end=end, home="QC", run=name)


def docket(text: str) -> list[Draft]:
    """File numbers of registries whose form gives them away: Federal Courts, Social Security Tribunal, LTB.

    Args:
        text: folded.

    Returns:
        Drafts, in the order of the text.
    """
    drafts = []
    for m in _DOCKET.finditer(text):
        before = _PREFIX.search(text, max(0, m.start() - 8), m.start())
        if not before or not _plausible(before[0], m[1], m[2]):
            continue
        number = text[before.start() : m.end()]
        named = _RE.match(text, m.end())
        draft = Draft(kind="docket", key=number, number=number, start=before.start(), end=m.end(), run="docket")
        draft.end = named.end() if named else m.end()
        row = by_code("FCA" if before[0] == "A" else _REGISTRIES.get(before[0], "ONLTB"))
        if row:
            draft.court_id, draft.jurisdiction, draft.level = row.id, row.jurisdiction, row.level
        drafts.append(draft)
    return drafts


def _plausible(prefix: str, first: str, second: str) -> bool:
    """Social Security: year then number; Federal Courts: number then year; LTB: five figures then year."""
    if _REGISTRIES.get(prefix) == "SST":
        return len(first) == 2
    if prefix in _REGISTRIES or prefix == "A":
        return len(second) == 2 and len(first) <= 5
    return len(first) >= 4 and len(second) == 2
