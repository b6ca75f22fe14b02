"""Regulations by number, and the Constitution by name."""

import re

from canlegalrag.citations.draft import Draft
from canlegalrag.citations.fold import compact, squeeze

__all__ = ["constitution", "federal", "provincial", "revised"]

_PLACES_WORDS = (
    "O:ON ONT:ON ONTARIO:ON BC:BC ALTA:AB ALBERTA:AB MAN:MB MANITOBA:MB NB:NB NS:NS NL:NL NFLD:NL PEI:PE NWT:NT NU:NU "
    "Y:YT SASK:SK"
)
_PLACES = dict(pair.split(":") for pair in _PLACES_WORDS.split())
_SHORT_WORDS = "ON:O BC:BC AB:Alta MB:Man NB:NB NS:NS NL:NL PE:PEI NT:NWT NU:Nu YT:Y SK:Sask"
_SHORT = dict(pair.split(":") for pair in _SHORT_WORDS.split())
_PROVINCIAL = re.compile(r"Reg(?:s|ulations?)?\.?,?[ \n](?:[Nn]o\.?[ ])?([0-9]{1,5})([/-])([0-9]{2,4})(?![0-9])")
_PLACE = re.compile(r"(?<![A-Za-z0-9.])([A-Z][A-Za-z. ]{0,9}?)\.?[ \n]{1,2}\Z")
_FRENCH = re.compile(
    r"Règl(?:ement)?\.?[ ](?:de[ ]l'(Ont)(?:ario)?\.?|du[ ](Man)(?:itoba)?\.?)[ ]([0-9]{1,4})/([0-9]{2,4})(?![0-9])"
)
_FEDERAL = re.compile(r"/((?:19|20)?[0-9]{2})-([0-9]{1,4})(?![0-9])")
_FEDERAL_NAME = re.compile(r"(?<![A-Za-z0-9])(?:SOR|DORS|SI|TR)\Z")
_REVISED = re.compile(
    r"R(?<![A-Za-z0-9.]R)(?=R|\.)\.?[ ]?R\.?[ ]?(O|S|Q|NWT|N\.?W\.?T)\.?,?[ \n]((?:19|20)[0-9]{2})?,?[ \n]?"
    r"(?:c\.?[ ]?([A-Z][-.]?[0-9.]{1,6}),?[ ])?(?:Reg|r|Règl)\.?[ \n]([0-9]{1,4})(?![0-9])"
)


def _year(written: str) -> int:
    """The year from two figures or four; Confederation's statutes are as old as regulations get.

    >>> _year("96"), _year("10"), _year("2010")
    (1996, 2010, 2010)
    """
    return int(written) if len(written) == 4 else int(written[:2]) + (1900 if int(written[:2]) > 40 else 2000)


def provincial(text: str) -> list[Draft]:
    """A province's regulations by number and year (`O. Reg. 194/10`, `NB Reg 84-20`, `Règl. de l'Ont. 194/10`).

    Args:
        text: folded.

    Returns:
        Drafts, English forms first.
    """
    drafts = []
    for m in _PROVINCIAL.finditer(text):
        before = _PLACE.search(text, max(0, m.start() - 14), m.start())
        place = _PLACES.get(compact(before[1]), "") if before else ""
        if before and place:
            year_first = place == "NB"
            number, year = (m[3], m[1]) if year_first else (m[1], m[3])
            written = f"{m[1]}{'-' if year_first else '/'}{m[3]}"
            drafts.append(_numbered(before.start(), m.end(), place, written, number, year, "en"))
    for m in _FRENCH.finditer(text):
        place = "ON" if m[1] else "MB"
        drafts.append(_numbered(m.start(), m.end(), place, f"{m[3]}/{m[4]}", m[3], m[4], "fr"))
    return drafts


def _numbered(start: int, end: int, place: str, written: str, number: str, year: str, language: str) -> Draft:
    name = f"{_SHORT[place]} Reg"
    draft = Draft(kind="regulation", key=f"{name} {written}", start=start, end=end, jurisdiction=place)
    draft.reporter, draft.number, draft.year, draft.language = name, number, _year(year), language
    return draft


def federal(text: str) -> list[Draft]:
    """Federal regulations (`SOR/96-332`, `SI/`; in French `DORS/`, `TR/`).

    Args:
        text: folded.

    Returns:
        Drafts, in the order of the text.
    """
    drafts = []
    for m in _FEDERAL.finditer(text):
        named = _FEDERAL_NAME.search(text, max(0, m.start() - 5), m.start())
        if named:
            english = {"DORS": "SOR", "TR": "SI"}.get(named[0], named[0])
            year = m[1] if len(m[1]) == 2 or int(m[1]) >= 2000 else m[1][2:]
            draft = Draft(kind="regulation", key=f"{english}/{year}-{m[2]}", start=named.start(), end=m.end())
            draft.reporter, draft.number, draft.year, draft.jurisdiction = english, m[2], _year(m[1]), "CA"
            draft.language = "en" if named[0] == english else "fr"
            drafts.append(draft)
    return drafts


def revised(text: str) -> list[Draft]:
    """Revised regulations (`RRO 1990, Reg 194`, `RRQ, c. C-26, r. 1`).

    Args:
        text: folded.

    Returns:
        Drafts, in the order of the text.
    """
    drafts = []
    for m in _REVISED.finditer(text):
        name = "RR" + compact(m[1])
        word = "r" if name == "RRQ" else "Reg"
        key = squeeze(f"{name} {m[2] or ''} {f'c {m[3]}' if m[3] else ''} {word} {m[4]}")
        draft = Draft(kind="regulation", key=key, start=m.start(), end=m.end(), reporter=name, number=m[4])
        draft.year = int(m[2]) if m[2] else None
        draft.jurisdiction = {"RRO": "ON", "RRS": "SK", "RRQ": "QC", "RRNWT": "NT"}[name]
        drafts.append(draft)
    return drafts


_CHARTER = "Canadian Charter of Rights and Freedoms"
_1867, _1982 = "Constitution Act 1867", "Constitution Act 1982"
_PLAIN = r"(?:,? 1867)?(?!,? \(?No|,? 1[0-9]{3})"  # not `British North America Act, 1871`
# One pattern a name: each begins with letters that the search can look for in one scan of memory.
_NAMED = [
    (re.compile(pattern.replace(" ", r"[ \n]")), name, language)
    for pattern, name, language in (
        (r"Canadian Charter of Rights and Freedoms", _CHARTER, "en"),
        (r"Charte canadienne des droits et libertés", _CHARTER, "fr"),
        (r"Charter(?! of|[a-z])", "", "en"),
        (r"Charte(?![a-zé]| des| de la langue| canadienne des)", "", "fr"),
        (r"Constitution Act,? 1867", _1867, "en"),
        (r"Constitution Act,? 1982", _1982, "en"),
        (r"Loi constitutionnelle de 1867", _1867, "fr"),
        (r"Loi constitutionnelle de 1982", _1982, "fr"),
        (r"B\. ?N\. ?A\. Act" + _PLAIN, _1867, "en"),
        (r"British North America Act" + _PLAIN, _1867, "en"),
    )
]
_SECTION_BEFORE = re.compile(
    r"(?:[Ss]ections?|ss?\.?|[Aa]rt(?:icles?|\.)?|par(?:agraphe|\.)?)[ \n]"
    r"([0-9]{1,3})((?:\.[0-9])?(?:[ ]{0,2}\([0-9a-z]{1,4}\)){0,3})[ \n]{1,2}(?:of[ \n]the|de[ \n]la)[ \n]\Z"
)
_LAST_OF_CHARTER = 34


def constitution(text: str) -> list[Draft]:
    """The Charter and the Constitution Acts; the short name `Charter` only with a section.

    Args:
        text: folded.

    Returns:
        Drafts, name by name; those with `needs_section` stand only if a section follows.
    """
    drafts = []
    for pattern, name, language in _NAMED:
        for m in pattern.finditer(text):
            draft = Draft(kind="constitution", key=name or _CHARTER, start=m.start(), end=m.end(), jurisdiction="CA")
            draft.reporter, draft.language, draft.year = draft.key, language, 1867 if name == _1867 else 1982
            before = _SECTION_BEFORE.search(text, max(0, m.start() - 50), m.start())
            if before and not name and int(before[1]) > _LAST_OF_CHARTER:
                continue  # section 49 of `the Charter` is Quebec's
            if before:
                draft.start, draft.sections = before.start(), ((before[1] + before[2]).replace(" ", ""),)
            else:
                draft.needs_section = not name
            drafts.append(draft)
    return drafts
