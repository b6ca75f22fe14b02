"""Names of cases and Acts compared: is this the name of that decision, however it is spelt?"""

import re
import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

__all__ = ["is_a_name", "parted", "same_name"]

_ALIKE = 0.83
"""Similarity from which two words of five letters or more are one name misspelt: one wrong letter in six is 0.83."""

_VERSUS = re.compile(  # a capital C after an initial is one too: `M. C. I.`
    r"\s(?:v|(?-i:c|(?<![A-Z]\.\s)C)|vs|versus|contre)\.?\s|;", re.IGNORECASE
)
_RE = re.compile(r"^(?:in )?re\b:?|\bre$|\(re\)|^in the matter of\b|^reference re\b|^renvoi relatif a\b", re.IGNORECASE)
_CROWN = re.compile(
    r"r|rex|regina|hmtq|queen|king|(?:the )?crown|couronne|(?:her|his) majesty.*|sa majeste.*"
    r"|(?:the|la|le) (?:queen|king|reine|roi)(?: (?:in right|du chef).*)?"
)
_TAIL = re.compile(r", ?[a-z]+ .*$")
_PLAIN_TAIL = re.compile(r", ?(?:et al|supra|above|cited|reported|neutral citation|cited as|an?|une?)\b")
_NO_CASE = re.compile(
    r"^(?:(?:Chief |Madam |Mr\.? )?Justice|Judge|Member|Master)\b"
    r"|\b(?:Acts?|Code|Charter|Regulations?|Rules|Loi|Charte)$"
)

_DROPPED_WORDS = (
    "the of and for in on to by a an le la les de du des et aux au en sur ltd limited inc incorporated corp "
    "corporation co company llp lp ltee limitee cie compagnie enr senc srl ulc plc llc al ors others another "
    "autres supra above cited as reported neutral citation case decision"
)
_DROPPED = frozenset(_DROPPED_WORDS.split())
"""Words that tell nothing about whose case it is."""

_SAME = {
    **dict.fromkeys(("attorney", "procureur", "procureure"), "attorney"),
    **dict.fromkeys(("general", "generale", "gen"), "general"),
    **dict.fromkeys(("minister", "ministre", "ministere", "ministry", "min"), "minister"),
    **dict.fromkeys(("canada", "canadian", "canadien", "canadienne", "can", "cdn"), "canada"),
    **dict.fromkeys(("commission", "comm", "comn"), "commission"),
    **dict.fromkeys(("association", "assn", "assoc"), "association"),
    **dict.fromkeys(("society", "societe"), "society"),
    **dict.fromkeys(("department", "dept"), "department"),
    **dict.fromkeys(("government", "governments", "govt", "gouvernement"), "government"),
    **dict.fromkeys(("insurance", "assurance", "assurances", "ins"), "insurance"),
    **dict.fromkeys(("employment", "emploi"), "employment"),
    **dict.fromkeys(("international", "intl", "internationale"), "international"),
    **dict.fromkeys(("national", "natl", "nationale"), "national"),
    **dict.fromkeys(("railway", "railways", "railroad", "ry", "rly", "rlwy", "rail"), "railway"),
    **dict.fromkeys(("manufacturing", "mfg"), "manufacturing"),
    **dict.fromkeys(("university", "univ", "universite"), "university"),
    **dict.fromkeys(("holdings", "holding", "hldgs"), "holdings"),
    **dict.fromkeys(("brothers", "bros"), "brothers"),
    **dict.fromkeys(("city", "ville", "cite"), "city"),
    **dict.fromkeys(("bank", "banque"), "bank"),
    **dict.fromkeys(("estate", "succession"), "estate"),
    **dict.fromkeys(("revenue", "revenu"), "revenue"),
    **dict.fromkeys(("citizenship", "citoyennete"), "citizenship"),
    **dict.fromkeys(("safety", "security", "securite"), "safety"),
    **dict.fromkeys(("public", "publique"), "public"),
    **dict.fromkeys(("rights", "droits"), "rights"),
    **dict.fromkeys(("board", "bd", "conseil"), "board"),
    **dict.fromkeys(("quebec", "que", "qc"), "quebec"),
    **dict.fromkeys(("ontario", "ont"), "ontario"),
    **dict.fromkeys(("alberta", "alta"), "alberta"),
    **dict.fromkeys(("saskatchewan", "sask"), "saskatchewan"),
    **dict.fromkeys(("manitoba", "man"), "manitoba"),
    **dict.fromkeys(("newfoundland", "nfld"), "newfoundland"),
    **dict.fromkeys(("ag", "pg"), "attorney general"),
    **dict.fromkeys(("mnr", "mrn"), "minister national revenue"),
    **dict.fromkeys(("msppc",), "minister public safety emergency preparedness"),
    **dict.fromkeys(("pgc",), "attorney general canada"),
    **dict.fromkeys(("pgq",), "attorney general quebec"),
    **dict.fromkeys(("bc", "cb"), "british columbia"),
    **dict.fromkeys(("nb",), "new brunswick"),
    **dict.fromkeys(("ns",), "nova scotia"),
    **dict.fromkeys(("st",), "saint"),
}
"""Spellings of common words: abbreviations, and French beside English."""

_COMMON_WORDS = (
    "crown tribunal court appeal division federal supreme superior provincial town municipality district regional "
    "province county township deputy solicitor director superintendent registrar properties enterprises services "
    "group immigration social health human child family children school police union labour relations workers "
    "compensation act code law regulation loi reglement charter charte tax council commissioner crime canlii "
    "labrador prince edward island northwest territories territory yukon nunavut "
    "january february march april may june july august september october november december"
)
_COMMON = frozenset(_COMMON_WORDS.split()).union(*(common.split() for common in _SAME.values()))
"""Words that many parties share: alone they don't tell whose case it is."""

_NO, _WEAK, _PLAIN, _TELLING = range(4)
"""How well two parties agree: not; by two initials only; by common words; by words that tell whose case it is."""

_LONGEST_INITIALS = 10
_MOST_SKIPPED = 4  # `de la ... et de la`: little words that initials may pass over in a row


class _Party(NamedTuple):
    """One party of a name."""

    words: tuple[str, ...]
    """In their common spelling, those that tell nothing left out."""
    initials: tuple[str, ...] = ()
    """Those of `words` that are written in capitals only, and may be initials."""
    orders: tuple[tuple[str, ...], ...] = ()
    """All words as spelt, whose initials the other name may have: as they stand, and what is in brackets first."""


def same_name(claimed: str, title: str) -> bool:
    """Say whether a name that stands before a citation is that of the decision (or Act) cited.

    Names are compared party by party, in either order, in words without accents, case, punctuation, corporate endings
    and `et al.`; the Crown's names, common abbreviations and their French are one word each. Two parties claimed must
    be two parties of the title; one party alone is a short form and must be one of them. Two parties are the same where
    they share at least half of the telling words of the one that has fewer (given names come and go), a word that is
    spelt within 0.83 of the other counting as shared (`difflib`'s ratio); where neither has a telling word
    (governments), one common word is enough, or the Crown on one side; where only one has none, its words must all be
    in the other. A word in capitals is also the run of words of the other party whose initials it is (`MCI`, `M.C.I.`
    for the Minister of Citizenship and Immigration), little words passed over: up to three letters need a common word
    in the run, a word that both parties have, or (three) the whole party; two also need the name's other party to agree
    by a telling word.

    Args:
        claimed: as the answer writes it.
        title: as the registry holds it.

    >>> same_name("Okafor", "Okafor v. Lindqvist Holdings Ltd."), same_name("The Queen v. Hruska", "R. v. Hruska")
    (True, True)
    >>> same_name("Okafor v. Jones", "Okafor v. Lindqvist Holdings Ltd.")
    False
    """
    ours = [party for part in _parties(claimed) if (party := _party(part)).words]
    theirs = [party for part in _parties(title) if (party := _party(part)).words]
    if not ours or not theirs:
        return True
    if len(ours) > 1 and len(theirs) > 1:
        # Pairs of different parties of the title, so that `R. v. R.` doesn't lend one party twice.
        pairs = [(i, j) for i in range(len(theirs)) for j in range(len(theirs)) if i != j]
        first = [_agreement(ours[0], party) for party in theirs]
        last = [_agreement(ours[-1], party) for party in theirs]
        # Two plain ones are enough; a weak one needs a telling one beside it.
        return any(first[i] and last[j] and first[i] + last[j] >= _PLAIN + _PLAIN for i, j in pairs)
    return any(_agreement(a, b) >= _PLAIN for a in ours for b in theirs)


def parted(style: str) -> bool:
    """Say whether words of a sentence part the name from the citation, which is then perhaps another case's.

    >>> parted("A v. B, the court applied"), parted("A v. B, cited as"), parted("A v. B et al.")
    (True, False, False)
    """
    tail = _TAIL.search(style)
    return bool(tail and not _PLAIN_TAIL.match(tail[0]))


def is_a_name(style: str) -> bool:
    """Say whether what stands before a citation names a case, rather than a court, a place, a month or a judge.

    >>> is_a_name("Okafor"), is_a_name("British Columbia"), is_a_name("Justice Adair"), is_a_name("R. v. B.C.")
    (True, False, False, True)
    """
    if _VERSUS.search(style) or _RE.search(style):
        return True
    return not _NO_CASE.search(style) and bool(set(_party(style).words) - _COMMON)


@lru_cache(maxsize=65536)
def _parties(name: str) -> tuple[str, ...]:
    return tuple(part for part in _VERSUS.split(name[:1000]) if part and part.strip())


@lru_cache(maxsize=65536)
def _party(part: str) -> _Party:
    """A party read; `Co.` leaves it no words."""
    plain = unicodedata.normalize("NFKD", part.replace("œ", "oe").replace("æ", "ae").replace("Œ", "OE"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = re.sub(r"\b[LDld]['’]|['’]", "", plain)
    plain = re.sub(r"\b([Mm][Cc]) (?=[A-Za-z])", r"\1", plain)
    plain = _RE.sub(" ", re.sub(r"[^\w()]+|_", " ", plain).strip())
    cased = re.findall(r"[^\W_]+", plain)
    written = [word.casefold() for word in cased]
    if _CROWN.fullmatch(" ".join(written)):
        return _Party(("crown",))
    joined = _initials_joined(cased)
    told = [w for word in joined for w in _spelt_alike(word.casefold())]
    if len(written) > 1 and written[-1] == "r" and len(written[-2]) > 1:
        told.append("crown")  # words of the sentence before stand in front of the Crown: `was refused. R. v. Roe`
    words = tuple(dict.fromkeys([w for w in told if len(w) > 1] or told))
    capitals = [w.casefold() for w in joined if 2 <= len(w) <= _LONGEST_INITIALS and w.isupper() and w.isalpha()]
    return _Party(words, tuple(w for w in capitals if w in words and w not in _COMMON), _orders(plain, written))


def _spelt_alike(word: str) -> list[str]:
    return [] if word in _DROPPED else _SAME.get(word, word).split()


def _orders(plain: str, written: list[str]) -> tuple[tuple[str, ...], ...]:
    """`Canada (Citizenship and Immigration)` is the Minister of Citizenship and Immigration, of Canada too."""
    head, opened, inner = plain.partition("(")
    outer = [w.casefold() for w in re.findall(r"[^\W_]+", head)]
    if not opened or not outer:
        return (tuple(written),)
    inside = [w.casefold() for w in re.findall(r"[^\W_]+", inner)]
    office = [] if {"minister", "ministre"} & set(inside) or not set(outer) <= _COMMON | set(_SAME) else ["minister"]
    return tuple(written), (*office, *inside, *outer)


def _initials_joined(words: list[str]) -> list[str]:
    """`d p` and `dp` are one spelling of one party."""
    joined: list[str] = []
    run = ""
    for word in [*words, ""]:
        if len(word) == 1:
            run += word
            continue
        joined += [run] if run else []
        run = ""
        joined += [word] if word else []
    return joined


def _agreement(a: _Party, b: _Party) -> int:
    """How well two parties agree, from `_NO` to `_TELLING`."""
    if _acronym(a.words, b.words) or _acronym(b.words, a.words):
        return _PLAIN
    agreed = _words_agree(_expanded(a, b, 3), _expanded(b, a, 3))
    if agreed or not any(len(w) == 2 for w in a.initials + b.initials):
        return agreed
    return _WEAK if _words_agree(_expanded(a, b, 2), _expanded(b, a, 2)) else _NO


def _words_agree(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    telling_a, telling_b = [w for w in a if w not in _COMMON], [w for w in b if w not in _COMMON]
    if telling_a and telling_b:
        fewer, more = sorted((telling_a, telling_b), key=len)
        shared = sum(any(_same_word(w, other) for other in more) for w in fewer)
        return _TELLING if shared * 2 >= len(fewer) else _NO
    if telling_a or telling_b:
        few, many = (a, b) if telling_b else (b, a)
        return _PLAIN if set(few) <= set(many) else _NO
    return _PLAIN if set(a) & set(b) or "crown" in a or "crown" in b else _NO


def _expanded(party: _Party, other: _Party, shortest: int) -> tuple[str, ...]:
    """Words of a party, its initials replaced by the words of the other one that they stand for."""
    if not party.initials:
        return party.words
    words: list[str] = []
    shared = not set(party.words).isdisjoint(other.words)  # `TD Bank`
    for word in party.words:
        stands = word in party.initials and len(word) >= shortest and word not in other.words
        words += _run_of(word, other.orders, shared) or [word] if stands else [word]
    return tuple(dict.fromkeys(words))


def _run_of(initials: str, orders: tuple[tuple[str, ...], ...], shared: bool) -> list[str]:
    """The words that initials stand for, in their common spelling; none where no run of words has them."""
    for words in orders:
        for start in range(len(words)):
            for little in (False, True):  # `DOJ` has the initial of a little word, `MCI` hasn't
                run = _run_from(initials, words, start, little)
                spelt = [w for word in run for w in _spelt_alike(word)]
                whole = len(initials) > 2 and set(words) - _DROPPED <= set(run)
                if spelt and (shared or whole or len(initials) > 3 or not _COMMON.isdisjoint(spelt)):
                    return spelt
    return []


def _run_from(initials: str, words: tuple[str, ...], start: int, little: bool) -> list[str]:
    run: list[str] = []
    skipped = 0
    for word in words[start:]:
        if word[0] == initials[len(run)] and (little or word not in _DROPPED):
            run.append(word)
            skipped = 0
            if len(run) == len(initials):
                return run
        elif word in _DROPPED and run and skipped < _MOST_SKIPPED:
            skipped += 1
        else:
            break
    return []


def _acronym(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """`CEIC` for the Canada Employment Insurance Commission."""
    return len(short) == 1 and len(short[0]) >= 3 and len(long) >= 3 and short[0] == "".join(w[0] for w in long)


@lru_cache(maxsize=65536)
def _same_word(a: str, b: str) -> bool:
    if a == b:
        return True
    return min(len(a), len(b)) >= 5 and SequenceMatcher(None, a, b, autojunk=False).ratio() >= _ALIKE
