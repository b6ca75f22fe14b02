"""Statutes: by volume and chapter (`RSC 1985, c C-46`), by place and year, by the year of the reign."""

import re
from functools import lru_cache

from canlegalrag.citations.draft import Draft
from canlegalrag.citations.fold import compact, squeeze

__all__ = ["by_place", "regnal", "statute"]

_CHAPTER = r"([A-Z]{0,3}[-. ]?[0-9]{1,4}(?:\.[0-9]{1,3})?[A-Z]?|CCQ-1991|[A-Z])(?![A-Za-z0-9])"
_C = r"(?:chapter|chapitre|chap|chs|ch|cc|c|Chap|Ch)\.?[ \n]{0,2}"
_SUPPLEMENT = r"\(?([0-9]{1,2})(?:st|nd|rd|th|e|er|re|d)?[ \n](?:Supp|suppl)[ ]?\.?\)?"
_STATUTE = re.compile(
    r"[RLCS](?<![A-Za-z0-9.][RLCS])(?=\.|[A-Z]|[ ][A-Z]\.)([A-Za-z.& -]{0,18}?),?[ \n]{0,2}"
    r"[(\[]?(?:((?:1[789]|20)[0-9]{2}(?:-[0-9]{2,4}){0,3})[)\]]?)?,?[ \n]{0,2}"
    r"(?:\((?:[A-Za-z0-9. ]{1,12}?(?:[Ss]ess|[Ss]upp|suppl)\.?)\),?[ \n]{0,2})?"
    rf"(?:{_SUPPLEMENT},?[ \n]{{0,2}})?{_C}{_CHAPTER}(?:,?[ \n]{{0,2}}{_SUPPLEMENT})?"
    r"(?:,?[ ]r(?:egs?|ègl)?\.?[ ]([0-9]{1,4}(?:\.[0-9]{1,3})?))?"
)
_OF = re.compile(  # the chapter first: `c. 207 of R.S.C., 1927`
    rf"{_C}{_CHAPTER}(?:,|,?[ \n](?:of|des?))[ \n](?:the[ \n])?([RLCS](?=\.|[A-Z])[A-Z. ]{{1,10}}),?[ \n]"
    r"\(?((?:18|19|20)[0-9]{2})\)?"
)
_BY_YEAR = re.compile(  # the place in brackets: `1953-54 (Can.), c. 51`
    r"1[89][0-9]{2}(?<![0-9]{5})(?:-[0-9]{2,4}){0,2},?[ ]\(([A-Z][A-Za-z. ]{0,6})\),?[ \n]{0,2}"
    rf"{_C}{_CHAPTER}"
)
_LONG = re.compile(  # in words: `Revised Statutes of Canada, 1927, c. 35`, or the chapter before
    r"Revised[ \n]Statutes[ \n]of[ \n](Canada|Ontario|Quebec|Manitoba|Saskatchewan|Alberta|British[ ]Columbia"
    rf"|Nova[ ]Scotia|New[ ]Brunswick),?[ \n]\(?((?:18|19|20)[0-9]{{2}})\)?(?:,?[ \n]{{0,2}}{_C}{_CHAPTER})?"
)
_CHAPTER_BEFORE = re.compile(rf"(?<![A-Za-z]){_C}{_CHAPTER},?[ \n](?:of|in)[ \n](?:the[ \n])?\Z")
_LONG_PLACES = {"British Columbia": "BC", "Nova Scotia": "NS", "New Brunswick": "NB"}
_PLACES_WORDS = (
    "C:CA CAN:CA O:ON ONT:ON BC:BC CB:BC A:AB ALTA:AB S:SK SASK:SK M:MB MAN:MB Q:QC QUE:QC NB:NB NS:NS NE:NS NL:NL "
    "TNL:NL N:NL TN:NL PEI:PE IPE:PE NWT:NT TNO:NT Y:YT YT:YT NU:NU"
)
_PLACES = dict(pair.split(":") for pair in _PLACES_WORDS.split())
_SHORT = {"CAN": "C", "ONT": "O", "ALTA": "A", "SASK": "S", "MAN": "M", "QUE": "Q"}
_FRENCH_WORDS = (
    "LRC:RSC LC:SC LRO:RSO LO:SO LRQ:CQLR RLRQ:CQLR LQ:SQ LRNB:RSNB LNB:SNB LRM:RSM LM:SM CPLM:CCSM LRY:RSY LY:SY "
    "LRTNO:RSNWT LTNO:SNWT SRC:RSC SRQ:RSQ SRO:RSO LRS:RSS LS:SS"
)
_FRENCH = dict(pair.split(":") for pair in _FRENCH_WORDS.split())
_CONSOLIDATED = {"CSUC": "ON", "CSLC": "QC", "CSC": "CA", "CSNB": "NB", "CSO": "ON"}
_CONTINUOUS = {"CQLR": "QC", "CCSM": "MB"}  # consolidations without a year
_SEPARATOR = {"RSO": ".", "SO": ".", "CCSM": "", "RSM": ""}


@lru_cache(maxsize=4096)
def _volume(letters: str) -> tuple[str, str, str] | None:
    """The volume, its jurisdiction and its language, from its letters.

    >>> _volume("LRC"), _volume("RSBC"), _volume("SCR")
    (('RSC', 'CA', 'fr'), ('RSBC', 'BC', 'en'), None)
    """
    name = _FRENCH.get(letters, letters)
    language = "fr" if name != letters else "en"
    place = _CONTINUOUS.get(name) or _CONSOLIDATED.get(name)
    for head in ("RS", "S"):
        if not place and name.startswith(head):
            rest = name[len(head) :]
            place = _PLACES.get(rest)
            name = head + _SHORT.get(rest, rest) if place else name
    return (name, place, language) if place else None


def statute(text: str) -> list[Draft]:
    """Statutes by volume and chapter; regulations under a chapter (`CQLR c C-25.01, r 1`, `CRC, c 870`).

    Args:
        text: folded.

    Returns:
        Drafts, in the order of the text.
    """
    drafts = []
    for m in _STATUTE.finditer(text):
        letters = compact(text[m.start() : m.end(1)].replace(" of ", "")).replace("&", "")
        if letters == "CRC" and not m[2]:
            number = m[4].strip()
            draft = Draft(kind="regulation", key=f"CRC c {number}", start=m.start(), end=m.end(), jurisdiction="CA")
            draft.reporter, draft.number = "CRC", number
            drafts.append(draft)
            continue
        volume = _volume(letters)
        if volume:
            found = _chapter_of(m, *volume)
            if found:
                drafts.append(found)
    return drafts


def _chapter_of(m: re.Match[str], name: str, place: str, language: str) -> Draft | None:
    years = m[2] or ""
    year = int(years[:4]) if years else None
    if language == "fr" and year and year < 1900:
        return None  # `L.C. 1860` is Lower Canada's
    if not years and name not in _CONTINUOUS and not name.startswith(("RS", "CS")):
        return None
    if name == "RSQ" and (not year or year >= 1977):
        name = "CQLR"  # its name in English until 2014, when it had no year either
    chapter, supplement = _chapter(m[4], name), m[3] or m[5] or ""
    shown = "" if name in _CONTINUOUS else years
    key = squeeze(f"{name} {shown} c {chapter} {f'({_nth(supplement)} Supp)' if supplement else ''}")
    draft = Draft(kind="statute", key=key, start=m.start(), end=m.end(), year=year, jurisdiction=place)
    draft.reporter, draft.page, draft.language = name, chapter, language
    draft.series = f"{_nth(supplement)} Supp" if supplement else ""
    if name.startswith("RS") and not years:
        draft.warnings.append("the year of the revised statutes is missing")
    if m[6]:
        draft.kind, draft.key, draft.number = "regulation", f"{key}, r {m[6]}", m[6]
    return draft


def by_place(text: str) -> list[Draft]:
    """Statutes whose volume comes last (`c. 207 of R.S.C., 1927`), is in words, or a place (`1953-54 (Can.), c. 51`).

    Args:
        text: folded.

    Returns:
        Drafts, form by form.
    """
    drafts = []
    for m in _OF.finditer(text):
        volume = _volume(compact(m[2]))
        if volume:
            drafts.append(_of_volume(m.start(), m.end(), volume, m[3], m[1]))
    for m in _LONG.finditer(text):
        before = None if m[3] else _CHAPTER_BEFORE.search(text, max(0, m.start() - 30), m.start())
        volume = _volume("RS" + _LONG_PLACES.get(squeeze(m[1]), m[1][0]))
        if volume and (m[3] or before):
            chapter, start = (before[1], before.start()) if before else (m[3], m.start())
            drafts.append(_of_volume(start, m.end(), volume, m[2], chapter))
    for m in _BY_YEAR.finditer(text):
        volume = _volume("S" + compact(m[1]))
        if volume:
            drafts.append(_of_volume(m.start(), m.end(), volume, m[0].partition(" ")[0].rstrip(","), m[2]))
    return drafts


def _of_volume(start: int, end: int, volume: tuple[str, str, str], years: str, written: str) -> Draft:
    name, place, language = volume
    chapter = _chapter(written, name)
    draft = Draft(kind="statute", key=f"{name} {years} c {chapter}", start=start, end=end, year=int(years[:4]))
    draft.reporter, draft.page, draft.jurisdiction, draft.language = name, chapter, place, language
    return draft


def _nth(figure: str) -> str:
    return figure + {"1": "st", "2": "nd", "3": "rd"}.get(figure, "th")


def _chapter(written: str, volume: str) -> str:
    """One writing a chapter: `C.46`, `C 46` and `C-46` are `C-46`; Ontario's keep a dot, Manitoba's have nothing.

    >>> _chapter("C.46", "RSC"), _chapter("H19", "RSO"), _chapter("H-175", "CCSM"), _chapter("17", "SO")
    ('C-46', 'H.19', 'H175', '17')
    """
    m = re.fullmatch(r"([A-Z]{1,3})[-. ]?([0-9].*)", written)
    return m[1] + _SEPARATOR.get(volume, "-") + m[2] if m else written.strip()


_REIGN = re.compile(
    r"[VGEWHCJ](?=ic|eo|d|ill|m|liz|en|ar|ac|\.,?[ ]?c)([a-z]{0,8})\.?[ ]?([IVX]{1,4}|[1-8](?:st|nd|rd|th)?)?\.?,?[ ]?"
    rf"(?:\([A-Za-z. ]{{1,12}}\),?[ ])?(?:{_C}|C\.?[ ])([0-9]{{1,3}}|[IVXLC]{{1,9}})(?![A-Za-z0-9])"
)
_REIGN_YEARS = re.compile(r"(?<![0-9A-Za-z.])([0-9]{1,2}(?:[ ]?(?:&|and|et|-|,)[ ]?[0-9]{1,2})?)[ ]\Z")
_AND = re.compile(r"[ ]?(?:&|and|et|-|,)[ ]?")
_REIGNS = {
    **dict.fromkeys(["Vict", "Vic", "Victoria", "V"], "Vict"),
    **dict.fromkeys(["Geo", "George"], "Geo"),
    **dict.fromkeys(["Edw", "Ed", "Edward"], "Edw"),
    **dict.fromkeys(["Wm", "Will", "William"], "Wm"),
    **dict.fromkeys(["Eliz", "Elizabeth"], "Eliz"),
    **dict.fromkeys(["Hen", "Henry"], "Hen"),
    **{"Car": "Car", "Jac": "Jac"},
}
_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII")


def regnal(text: str) -> list[Draft]:
    """Statutes by the year of the reign (`38 Vict., c. 11`), as all were cited before 1923.

    Args:
        text: folded.

    Returns:
        Drafts, in the order of the text.
    """
    drafts = []
    for m in _REIGN.finditer(text):
        reign = _REIGNS.get(text[m.start()] + m[1])
        before = _REIGN_YEARS.search(text, max(0, m.start() - 12), m.start()) if reign else None
        if before:
            years, number = _AND.sub("-", before[1]), (m[2] or "").rstrip("stndrh")
            name = squeeze(f"{reign} {_ROMAN[int(number)] if number.isdigit() else number}")
            draft = Draft(kind="statute", key=f"{years} {name} c {m[3]}", start=before.start(), end=m.end())
            draft.reporter, draft.volume, draft.page = name, years, m[3]
            drafts.append(draft)
    return drafts
