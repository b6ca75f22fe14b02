"""Citations of an answer checked one by one against a registry: does it exist, under that name?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

from canlegalrag.citations import Citation, find
from canlegalrag.errors import InputError
from canlegalrag.measures.case_names import is_a_name, parted, same_name
from canlegalrag.measures.registry import LAWS, Registry
from canlegalrag.types import Answer

__all__ = ["STATUSES", "Checked", "Status", "authorities", "check"]

Status: TypeAlias = Literal["verified", "name mismatch", "not in registry", "unresolvable form"]
STATUSES: tuple[Status, ...] = ("verified", "name mismatch", "not in registry", "unresolvable form")
"""What a citation can turn out to be."""

_AFTER = re.compile(r"\s{0,3}\(([^()\n]{2,140}\s(?:v|c|vs)\.?\s[^()\n]{2,140})\)")
_FRENCH = re.compile(r"\b(?:loi|règlement|charte|décret|code (?:civil|criminel|de|du|des))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checked:
    """One mention of an authority: a citation with its parallels, and what became of it."""

    text: str
    """As written, from the first parallel citation to the last."""
    status: Status
    """One of `STATUSES`."""
    doc_ids: tuple[str, ...] = ()
    """Documents that it stands for where it is verified; several where nothing tells them apart."""
    name: str = ""
    """Style of cause (or title of the Act) that the answer gives it; empty where it gives none."""
    keys: tuple[str, ...] = ()
    """Canonical keys of the parallels, the first as written first; empty where nothing was recognised."""
    kind: str = "unknown"
    """Kind of the first citation, one of `canlegalrag.citations.KINDS`."""
    start: int = -1
    """First character in the answer; -1 where it stands only in the answer's list of citations."""
    end: int = -1
    """One past the last."""
    reason: str = ""
    """Why it isn't verified, in plain words; or what could not be compared."""

    @property
    def checkable(self) -> bool:
        """Whether the registry could tell if it exists."""
        return self.status != "unresolvable form"


def check(answer: str | Answer, registry: Registry) -> list[Checked]:
    """Check every citation of an answer.

    Parallel citations of one decision are one mention. It is

    * `verified`: the registry holds it, and the name beside it, if there is one, is the document's
      (`case_names.same_name`);
    * `name mismatch`: the registry holds it under another name, or its parallels belong to different documents;
    * `not in registry`: of a form that the registry covers (see `Registry`), and not held;
    * `unresolvable form`: nothing that could be looked up here.

    A citation that stands without a name takes the one that the answer gave it elsewhere, so that a made-up case
    doesn't pass at its second mention. Names of Acts are compared within one language only.

    Args:
        answer: text, or an Answer, whose listed `citations` count too where the text doesn't hold them.
        registry: what exists.

    Returns:
        One a mention, in the order of the text; then those that are only listed.

    Raises:
        InputError: the answer is no text.

    >>> from canlegalrag.types import Document
    >>> registry = Registry.build([Document("a", "Okafor v. Lindqvist", "", citations=("2021 BCSC 90101",))])
    >>> [c.status for c in check("Okafor, 2021 BCSC 90101; Doe v. Roe, 2021 BCSC 90101; 2020 BCSC 90999", registry)]
    ['verified', 'name mismatch', 'not in registry']
    """
    text = answer.text if isinstance(answer, Answer) else answer
    if not isinstance(text, str):
        raise InputError("answer", f"is a {type(text).__name__}, not a string", "give its text, or an Answer")
    mentions = _read(text)
    mentioned = {c.key for citations, _ in mentions for c in citations}
    names = _names_by_key(mentions)
    checked = []
    for citations, name in mentions:
        start, end = citations[0].start, citations[-1].end
        checked.append(_judge(text[start:end], start, citations, name or _given(names, citations, start), registry))
    for written in answer.citations if isinstance(answer, Answer) else ():
        listed = _read(written)
        for citations, name in listed:
            if not mentioned & {c.key for c in citations}:
                checked.append(_judge(written, -1, citations, name, registry))
        if not listed:
            reason = "no citation is recognised in it"
            checked.append(Checked(written, "unresolvable form", reason=reason))
    return checked


def authorities(checked: Sequence[Checked]) -> list[Checked]:
    """The distinct authorities among the mentions: what the measures count.

    Mentions of one document are one authority, whichever citation they use; so are unverified mentions of one status
    that share a key. A mention that several documents fit is dropped where another names one of them exactly.

    >>> from canlegalrag.types import Document
    >>> registry = Registry.build([Document("a", "Okafor v. Lindqvist", "", citations=("2021 BCSC 90101",))])
    >>> len(authorities(check("2021 BCSC 90101, para 3. And again 2021 BCSC 90101, para 9.", registry)))
    1
    """
    sets = {frozenset(c.doc_ids) for c in checked if c.status == "verified"}
    exact = {s for s in sets if not any(other < s for other in sets)} if any(len(s) > 1 for s in sets) else sets
    kept: list[Checked] = []
    seen: set[object] = set()
    for mention in checked:
        if mention.status == "verified":
            marks: set[object] = {frozenset(mention.doc_ids)}
            if not marks <= exact:
                continue
        else:
            marks = {(mention.status, key) for key in mention.keys or (mention.text,)}
        if not marks & seen:
            kept.append(mention)
        seen |= marks
    return kept


def _judge(written: str, start: int, citations: list[Citation], name: str, registry: Registry) -> Checked:
    """The status of one mention."""
    first = citations[0]
    keys = tuple(dict.fromkeys(c.key for c in citations))

    def found(status: Status, ids: tuple[str, ...] = (), reason: str = "") -> Checked:
        end = start + len(written) if start >= 0 else -1
        return Checked(written, status, ids, name, keys, first.kind, start, end, reason)

    held = [ids for c in citations if (ids := registry.look_up(c))]
    if not held:
        if any(registry.covers(c) for c in citations):
            return found("not in registry", reason=f"no document of the registry is {' or '.join(keys)}")
        return found("unresolvable form", reason=f"the registry holds no such series: {keys[0]} ({first.kind})")
    ids = tuple(i for i in held[0] if all(i in others for others in held))
    if not ids:
        return found("name mismatch", reason=f"the parallel citations {', '.join(keys)} belong to different documents")
    if first.kind in LAWS:
        sections = tuple(dict.fromkeys(s for c in citations for s in c.sections))
        ids = registry.with_sections(ids, sections)
        if not ids:
            return found("unresolvable form", reason=f"the registry holds other sections of {keys[0]} only")
    if not name or not any(registry.entries[i].title for i in ids):
        return found("verified", ids, "" if name else "no name to compare")
    under = tuple(i for i in ids if _named(name, registry.entries[i].title, first.kind in LAWS))
    if not under and parted(name):
        return found("verified", ids, "the name before it may be another case's")
    if not under:
        titles = " or ".join(dict.fromkeys(repr(registry.entries[i].title) for i in ids))
        return found("name mismatch", reason=f"{keys[0]} is {titles}")
    return found("verified", under)


def _named(name: str, title: str, law: bool) -> bool:
    if law and bool(_FRENCH.search(name)) != bool(_FRENCH.search(title)):
        return True  # the other language's title of an Act can't be compared word by word
    return same_name(name, title)


def _names_by_key(mentions: list[tuple[list[Citation], str]]) -> dict[str, list[tuple[int, str]]]:
    """Key -> places where the answer gives it a name, with the name."""
    names: dict[str, list[tuple[int, str]]] = {}
    for citations, name in mentions:
        if name and citations[0].kind not in LAWS and not parted(name):
            for citation in citations:
                names.setdefault(citation.key, []).append((citations[0].start, name))
    return names


def _given(names: dict[str, list[tuple[int, str]]], citations: list[Citation], start: int) -> str:
    """The name that the answer gave to a citation elsewhere: the last one before, else the first one after."""
    places = sorted(place for c in citations for place in names.get(c.key, ()))
    before = [name for at, name in places if at < start]
    return before[-1] if before else places[0][1] if places else ""


def _read(text: str) -> list[tuple[list[Citation], str]]:
    """Citations of a text, parallels together, with the name of each decision; offsets are those of the text."""
    mentions = [list(citations) for _, citations in groupby(find(text), key=lambda citation: citation.mention)]
    return [(citations, _name(text, citations)) for citations in mentions]


def _name(text: str, citations: list[Citation]) -> str:
    first = citations[0]
    style = first.style.split(" [")[0]
    if first.kind in LAWS:
        return style
    if style and is_a_name(style):
        return style
    after = _AFTER.match(text, citations[-1].end)
    return " ".join(after[1].split()) if after else ""
