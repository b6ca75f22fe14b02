"""The search: the families of forms put together, overlaps settled, parallel citations grouped."""

import re

from canlegalrag.citations import names, neutral, online, regulations, reporters, statutes, tails
from canlegalrag.citations.citation import Citation
from canlegalrag.citations.draft import LAWS, Draft
from canlegalrag.citations.fold import fold

__all__ = ["FAMILIES", "search"]

FAMILIES = (
    neutral.year_first,
    neutral.address,
    reporters.bracket_year,
    reporters.volume_page,
    online.quebec_publisher,
    online.docket,
    statutes.statute,
    statutes.by_place,
    statutes.regnal,
    regulations.provincial,
    regulations.federal,
    regulations.revised,
    regulations.constitution,
)
_WORTH = {"unknown": 0, "docket": 1, "constitution": 1, "foreign": 2, "reporter": 2, "statute": 3, "regulation": 3}
_BETWEEN = re.compile(r"[ \n,()\[\]<>=]{0,12}(?:https?://[^\s<>]{1,200})?[ \n,()<>]{0,6}\Z")
_LONGEST_GAP = 220
_MOST_PARALLEL = 12
_YEARS_APART = 3  # a decision may be reported in a later year's volume, not in a much later one


def search(text: str) -> list[Citation]:
    """Find the citations in a text; see `find`."""
    folded = fold(text)
    drafts = _apart([draft for family in FAMILIES for draft in family(folded)])
    limits = [draft.start for draft in drafts[1:]] + [len(folded)]
    for draft, limit in zip(drafts, limits, strict=False):
        tails.take(folded, draft, limit)
    drafts = [draft for draft in drafts if draft.sections or not draft.needs_section]
    mentions = _mentions(folded, drafts)
    _number(mentions)
    _name(text, mentions)
    return [draft.finished(text) for draft in drafts]


def _apart(drafts: list[Draft]) -> list[Draft]:
    """Keep one draft where several claim the same characters: the best known kind, then the longest."""
    kept: list[Draft] = []
    for draft in sorted(drafts, key=lambda d: (d.start, -d.end)):
        if not kept or draft.start >= kept[-1].end:
            kept.append(draft)
        elif _worth(draft) > _worth(kept[-1]):
            kept[-1] = draft
    return kept


def _worth(draft: Draft) -> tuple[bool, int, int]:
    return draft.whole, _WORTH.get(draft.kind, 4), draft.end - draft.start


def _mentions(text: str, drafts: list[Draft]) -> list[list[Draft]]:
    """Put parallel citations together: those with nothing but commas and brackets between them."""
    mentions: list[list[Draft]] = []
    for draft in drafts:
        if mentions and _parallel(text, mentions[-1], draft):
            first = mentions[-1][0]
            if first.year and first.key.startswith("["):
                reporters.inherit_year(draft, first.year)
            mentions[-1].append(draft)
        else:
            mentions.append([draft])
        draft.mention = len(mentions) - 1
    return mentions


def _number(mentions: list[list[Draft]]) -> None:
    """Number the decisions in the order of their first mention; mentions with a key in common are of one decision."""
    first = list(range(len(mentions)))  # of each mention, an earlier one of the same decision, or itself

    def earliest(mention: int) -> int:
        while first[mention] != mention:
            first[mention] = mention = first[first[mention]]  # halves the way for the next one who asks
        return mention

    holder: dict[str, int] = {}
    for at, mention in enumerate(mentions):
        for draft in mention:
            for key in (draft.key, *draft.aliases):
                one, other = sorted((earliest(at), earliest(holder.setdefault(key, at))))
                first[other] = one
    numbers: dict[int, int] = {}
    for at, mention in enumerate(mentions):
        number = numbers.setdefault(earliest(at), len(numbers))
        for draft in mention:
            draft.group = number


def _parallel(text: str, group: list[Draft], draft: Draft) -> bool:
    last = group[-1]
    if last.kind in LAWS or draft.kind in LAWS or len(group) >= _MOST_PARALLEL:
        return False
    if draft.start - last.end > _LONGEST_GAP or not _BETWEEN.match(text[last.end : draft.start]):
        return False
    for other in group:
        if other.key != draft.key and (other.run == draft.run or other.kind == draft.kind == "neutral"):
            return False  # two numbers of one series are two decisions, and a decision has one neutral citation
        if draft.year and other.year and abs(draft.year - other.year) > _YEARS_APART:
            return False
    return True


def _name(text: str, mentions: list[list[Draft]]) -> None:
    """Give every citation of a decision its style of cause, its language and the keys of the others."""
    floor = 0
    for group in mentions:
        first = group[0]
        if first.kind != "constitution":
            style = names.style_before(text, first.start, floor, title=first.kind in LAWS)
            language = names.language_of(style) if first.kind not in LAWS else ""
            keys = dict.fromkeys(key for draft in group for key in (draft.key, *draft.aliases))
            for draft in group:
                draft.style, draft.language = style, draft.language or language
                draft.aliases = [key for key in keys if key != draft.key]
        floor = group[-1].end
