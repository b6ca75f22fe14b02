"""What follows a citation and belongs to it: its court in brackets, paragraphs, pages, sections."""

import re

from canlegalrag.citations.court import from_brackets
from canlegalrag.citations.draft import LAWS, Draft
from canlegalrag.citations.fold import compact

__all__ = ["brackets", "pinpoints", "sections", "take"]

_BRACKETS = re.compile(r"[ \n]?\(([^()\n]{1,40}|[^()\n]{1,30}\([^()\n]{1,12}\)[^()\n]{0,4})\)")
_TAGS_WORDS = "CANLII QL WL WLCAN WLNEXTCAN LEXIS LEXISNEXIS AZIMUT CARSWELL SOQUIJ EYB RE"
_TAGS = frozenset(_TAGS_WORDS.split())
_SHORT_TITLE = r"(?:[ ]\[[A-Z][^\]\n]{0,40}\])?"  # pinpoints may follow one: `2015 SCC 5 [Carter] at para 56`
_LEAD = re.compile(
    _SHORT_TITLE + r",?[ \n]{0,2}(?:(at|aux?|à(?:[ ]la)?)[ \n]{1,2})?"
    r"(?:(paragraphe?s?|paras?|pars?|¶{1,2})|(pages?|pp?))?\.?[ \n]?(?=\[?[0-9])"
)
_ITEM = re.compile(r"\[?([0-9]{1,5})\]?(?:[ ]?(?:-|to|à|au)[ ]?\[?([0-9]{1,5})\]?)?(?![0-9A-Za-z])")
_NEXT = re.compile(
    r"(?:,[ ]?(?:and[ ]|et[ ])?|[ ](?:and|et|&)[ ])(?=\[?[0-9])(?!\[?[0-9]{1,5}\]?(?:-[0-9]+)?[ \n]{0,2}[A-Za-z(\[])"
)
_SECTION_LEAD = re.compile(
    _SHORT_TITLE
    + r",?[ \n]{0,2}(?:(?:ss?|secs?|sect|sections?|arts?|articles?|pars?|paras?|rr?|rules?|regs?|subs?|cl)\.?[ \n]?"
    r"|§{1,2}[ ]?)"
    r"(?=[0-9])"
)
_SECTION = re.compile(
    r"[0-9]{1,5}(?:\.[0-9]{1,3}){0,3}[A-Za-z]?"
    r"(?:\([0-9A-Za-z.]{1,6}\)|[ ]{1,2}\((?:[0-9]{1,2}(?:\.[0-9])?|[a-z]|[ivx]{2,4})\)){0,5}(?:[a-z]\))?(?![0-9A-Za-z])"
    r"(?:-[0-9]{1,5}(?:\.[0-9]{1,3})?(?![0-9A-Za-z]))?"
)
_SECTION_NEXT = re.compile(
    r"(?:,[ ]?(?:and[ ]|et[ ])?|[ ](?:and|et|&|to|à)[ ])(?=[0-9])(?![0-9]{1,5}[ \n]{1,2}[A-Z])(?![0-9]{4}[,)])"
)
_MOST = 60  # pinpoints of one citation: a longer list is a table, not a pinpoint


def take(text: str, draft: Draft, limit: int) -> None:
    """Extend a draft over what follows it, up to the next citation.

    Args:
        text: folded.
        draft: changed in place.
        limit: where the next citation begins.
    """
    if draft.whole or draft.kind == "docket":
        return
    if draft.kind in LAWS:
        sections(text, draft, limit)
    else:
        brackets(text, draft, limit)
        pinpoints(text, draft, limit)
        brackets(text, draft, limit)


def brackets(text: str, draft: Draft, limit: int) -> None:
    """Take the brackets that name a court or a database."""
    for _ in range(3):
        m = _BRACKETS.match(text, draft.end, limit)
        if not m:
            return
        court = from_brackets(m[1], draft.home)
        if court is None and compact(m[1]) not in _TAGS:
            return
        draft.end = m.end()
        if court is None:
            continue
        if draft.kind == "neutral":
            draft.division = draft.division or court[3]
            continue
        draft.court = m[1]
        if not draft.court_id:
            draft.court_id, place, draft.level, draft.division = court
            draft.jurisdiction = place or draft.jurisdiction


def pinpoints(text: str, draft: Draft, limit: int) -> None:
    """Take paragraphs and pages (`at paras 12-14, 20`, `aux pp. 505 et 506`)."""
    for _ in range(2):
        m = _LEAD.match(text, draft.end, limit)
        if not m or not (m[1] or m[2] or m[3]):
            return
        ranges, end = _ranges(text, m.end(), limit)
        if not ranges:
            return
        draft.end = end
        if m[2] or (not m[3] and draft.kind in ("neutral", "canlii", "online_db")):
            draft.paragraphs += tuple(ranges)
        else:
            draft.pages += tuple(ranges)
        if m[1] and m[1] != "at" and not draft.language:
            draft.language = "fr"


def _ranges(text: str, at: int, limit: int) -> tuple[list[tuple[int, int]], int]:
    ranges: list[tuple[int, int]] = []
    end = at
    while len(ranges) < _MOST:
        m = _ITEM.match(text, at, limit)
        if not m:
            break
        first, last = int(m[1]), int(m[2] or m[1])
        if m[2] and last < first and len(m[2]) < len(m[1]):  # `505-6` is 505 to 506
            last = int(m[1][: -len(m[2])] + m[2])
        ranges.append((first, max(first, last)))
        end = m.end()
        more = _NEXT.match(text, end, limit)
        if not more:
            break
        at = more.end()
    return ranges, end


def sections(text: str, draft: Draft, limit: int) -> None:
    """Take sections, articles and rules (`, s 231.2(3)(b)`, `art. 7 et 8`)."""
    m = _SECTION_LEAD.match(text, draft.end, limit)
    if not m or (draft.sections and "," not in m[0]):
        return
    at = m.end()
    while len(draft.sections) < _MOST:
        item = _SECTION.match(text, at, limit)
        if not item:
            break
        draft.sections += (item[0].replace(" ", ""),)
        draft.end = item.end()
        more = _SECTION_NEXT.match(text, draft.end, limit)
        if not more:
            break
        at = more.end()
