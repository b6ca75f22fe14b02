"""A sentence as the lexical judge reads it: what it is about, what is denied, ordered or allowed, who does what."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from canlegalrag import citations
from canlegalrag.backends._lexical_numbers import Number, numbers
from canlegalrag.backends._lexical_stems import plain, stem
from canlegalrag.backends._lexical_words import (
    ADVICE,
    ALWAYS,
    BREAKS,
    FAILS,
    FRAMES,
    MAY,
    MUST,
    NEGATORS,
    ONLY,
    PARTIAL,
    PRONOUNS,
    REPORTS,
    ROLES,
    WHOLE,
)
from canlegalrag.citations import Citation
from canlegalrag.text import normalise

__all__ = ["Deed", "Reading", "flat", "quashed", "read"]

_TOKEN = re.compile(r"[^\W\d_]+(?:'t\b)?|\d+|[,;:.()–—?!]")
_PARAGRAPH = re.compile(r"^\s*(?:\[\d+\]|\(?\d{1,3}[.)])\s+")
_IDIOMS = re.compile(
    r"\b(?:not only|no doubt|whether or not|or not|no later than|not later than|not less than|"
    r"no less than|not fewer than|no fewer than|not more than|no more than|at all|after all|"
    r"above all|in all|in any (?:case|event)|"
    r"non seulement|pas moins de|pas plus de)\b"
)
_AT_LEAST = re.compile(r"\b(?:at least|(?:not|no) (?:less|fewer) than|minimum|au moins|pas moins de)\b")
_AT_MOST = re.compile(r"\b(?:at most|(?:not|no) (?:more|later) than|up to|maximum|au plus|pas plus de)\b")
_WHENCE = re.compile(r"\bset(?:s|ting)? aside\b")
_REACH = {"denied": 4, "must": 3, "may": 3, "advice": 3}
"""Words of content that a negator or a modal reaches."""
_SHORT = frozenset({"no", "without", "aucun", "aucune", "sans", "nul", "nulle"})
"""They deny the noun behind them, so they reach two."""
_DIGIT = re.compile(r"\d")
_SAID = re.compile(
    r"\b(?:(?:submit\w*|says?|said|claims?|claimed|believes?|dit|affirme) (?:that|que)|doubt\w* whether)\b"
)
_MARKS = (
    ("whole", WHOLE),
    ("always", ALWAYS),
    ("partial", PARTIAL),
    ("only", ONLY),
    ("reported", REPORTS),
    ("pronoun", PRONOUNS),
    ("before", frozenset({"before", "avant"})),
    ("after", frozenset({"after", "apres"})),
)
_FRAMES = frozenset(map(stem, FRAMES))
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "v", "st", "me", "mme"})
_STOPS = frozenset(",;:.()–—?!")


@dataclass(frozen=True, slots=True)
class Deed:
    """Two parties or people with what is said between them."""

    first: str
    """Who acts: before the words, or after `by`."""
    second: str
    """The other."""
    words: frozenset[str]
    """Stems between them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the lexical judge knows of a sentence, or of several."""

    stems: Mapping[str, frozenset[str]]
    """Stem -> ways in which it stands there: `denied`, `must`, `may`, `advice` joined by a space; empty for plainly."""
    content: tuple[str, ...]
    """Those stems that say something: not what only names what is cited, nor who decides, if there are others."""
    people: frozenset[str]
    """Those of parties and names."""
    names: frozenset[str]
    """Stems of words with a capital inside a sentence."""
    roles: frozenset[str]
    """Parties."""
    numbers: tuple[Number, ...]
    """Numbers outside citations."""
    citations: tuple[Citation, ...]
    """Decisions, statutes and regulations cited."""
    deeds: tuple[Deed, ...]
    """Who does what to whom."""
    bound: bool
    """Whether a modal stands in it."""
    scope: frozenset[str]
    """Of `whole`, `always`, `partial`, `only`, `at least`, `at most`, `reported`, `pronoun`, `before`, `after`."""


def quashed(text: str) -> str:
    """With one word for `set aside`, which is no setting and no side."""
    return _WHENCE.sub("quashed", text)


@lru_cache(maxsize=16_384)
def flat(text: str) -> str:
    """A sentence without accents and capitals, with plain quotation marks and single spaces."""
    return " ".join(plain(normalise(text)).replace("“", '"').replace("”", '"').split())


@lru_cache(maxsize=16_384)
def read(text: str) -> Reading:
    """Read a sentence.

    >>> read("The landlord did not repair the roof.").stems["repair"]
    frozenset({'denied'})
    """
    text = normalise(_PARAGRAPH.sub("", text))
    cited = citations.find(text) if _DIGIT.search(text) else []
    for citation in cited:
        text = text[: citation.start] + " " * (citation.end - citation.start) + text[citation.end :]
    words = _IDIOMS.sub(lambda m: " " * len(m[0]), quashed(text).replace("can not", "cannot"))
    tokens = _TOKEN.findall(words)
    lower = plain(" ".join(tokens)).split(" ") if tokens else []
    names = _names(tokens, lower)
    bare = plain(text)
    pinpoints = [section.partition("(") for c in cited for section in c.sections if "-" not in section]
    counted = (*numbers(bare), *(Number("section", (a, b + c)) for a, b, c in pinpoints))
    scope = {name for name, pattern in (("at least", _AT_LEAST), ("at most", _AT_MOST)) if pattern.search(bare)}
    scope.update(name for name, marks in _MARKS if not marks.isdisjoint(lower))
    if _SAID.search(bare):
        scope.add("reported")
    stems = _stems(lower)
    idle = {base for c in cited for base in read(c.style).stems}
    content = tuple(base for base in stems if base not in idle)
    return Reading(
        stems=stems,
        content=tuple(base for base in content if base not in _FRAMES) or content,
        people=frozenset(base for base in stems if base in names or base.startswith("=")),
        names=names,
        roles=frozenset(ROLES[word] for word in lower if word in ROLES),
        numbers=counted,
        citations=tuple(cited),
        deeds=_deeds(lower, names),
        bound=any(way not in ("", "denied") for ways in stems.values() for way in ways),
        scope=frozenset(scope),
    )


def _names(tokens: list[str], lower: list[str]) -> frozenset[str]:
    found = set()
    for i, token in enumerate(tokens):
        inside = i > 0 and (tokens[i - 1] not in ".?!:" or (i > 1 and lower[i - 2] in _TITLES))
        if inside and token[0].isupper() and lower[i] not in ROLES and stem(token):
            found.add(stem(token))
    return frozenset(found)


def _stems(lower: list[str]) -> dict[str, frozenset[str]]:
    """Each stem with the ways in which it stands."""
    found: dict[str, set[str]] = {}
    reach: dict[str, int] = {}
    for i, word in enumerate(lower):
        if word in _STOPS or word in BREAKS:
            reach = {}
            continue
        way = _way(lower, i)
        if way:
            reach[way] = 2 if word in _SHORT else _REACH[way]
            continue
        base = stem(word)
        if base:
            found.setdefault(base, set()).add(" ".join(sorted(name for name, left in reach.items() if left > 0)))
            reach = {name: left - 1 for name, left in reach.items()}
    return {base: frozenset(ways) for base, ways in found.items()}


def _way(lower: list[str], i: int) -> str:
    """What a word does to those behind it."""
    word, after = lower[i], lower[i + 1] if i + 1 < len(lower) else ""
    if word in NEGATORS or word.endswith("n't") or (word in FAILS and after == "to"):
        return "denied"
    if word in ("pas", "plus", "rien", "guere") and not {"ne", "n"}.isdisjoint(lower[max(0, i - 5) : i]):
        return "denied"
    if word in MUST or (word in ("has", "have", "had") and after == "to"):
        return "must"
    if word in MAY and not (word == "may" and after.isdigit()):
        return "may"
    return "advice" if word in ADVICE else ""


def _deeds(lower: list[str], names: frozenset[str]) -> tuple[Deed, ...]:
    """Neighbouring parties or names with words between them; `by` turns them round."""
    found = []
    first, between, turned = "", set[str](), False
    for word in lower:
        if word in ";.?!":
            first = ""
            continue
        base = stem(word)
        actor = base if base.startswith("=") or (base and base in names) else ""
        if not actor:
            between |= {base} - {""}
            turned = word in ("by", "par") or (turned and not base)
            continue
        if first and between and first != actor:
            pair = (actor, first) if turned else (first, actor)
            found.append(Deed(*pair, frozenset(between)))
        first, between, turned = actor, set(), False
    return tuple(found)
