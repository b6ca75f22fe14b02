"""Names of cases and Acts compared: is this the name of that decision, however it is spelt?"""

import re
import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache

__all__ = ["is_a_name", "parted", "same_name"]

_ALIKE = 0.83
"""Similarity from which two words of five letters or more are one name misspelt: one wrong letter in six is 0.83."""

_VERSUS = re.compile(r"\s(?:v|c|vs|versus|contre)\.?\s|;", re.IGNORECASE)
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
    **dict.fromkeys(("mnr",), "minister national revenue"),
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


def same_name(claimed: str, title: str) -> bool:
    """Say whether a name that stands before a citation is that of the decision (or Act) cited.

    Names are compared party by party, in either order, in words without accents, case, punctuation, corporate endings
    and `et al.`; the Crown's names, common abbreviations and their French are one word each. Two parties claimed must
    be two parties of the title; one party alone is a short form and must be one of them. Two parties are the same where
    they share at least half of the telling words of the one that has fewer (given names come and go), a word that is
    spelt within 0.83 of the other counting as shared (`difflib`'s ratio); where neither has a telling word
    (governments), one common word is enough, or the Crown on one side; where only one has none, its words must all be
    in the other.

    Args:
        claimed: as the answer writes it.
        title: as the registry holds it.

    >>> same_name("Okafor", "Okafor v. Lindqvist Holdings Ltd."), same_name("The Queen v. Hruska", "R. v. Hruska")
    (True, True)
    >>> same_name("Okafor v. Jones", "Okafor v. Lindqvist Holdings Ltd.")
    False
    """
    ours = [_words(part) for part in _parties(claimed)]
    theirs = [_words(part) for part in _parties(title)]
    ours, theirs = [w for w in ours if w], [w for w in theirs if w]
    if not ours or not theirs:
        return True
    if len(ours) > 1 and len(theirs) > 1:
        # Pairs of different parties of the title, so that `R. v. R.` doesn't lend one party twice.
        pairs = [(i, j) for i in range(len(theirs)) for j in range(len(theirs)) if i != j]
        first = [_same_party(ours[0], party) for party in theirs]
        last = [_same_party(ours[-1], party) for party in theirs]
        return any(first[i] and last[j] for i, j in pairs)
    return any(_same_party(a, b) for a in ours for b in theirs)


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
    return not _NO_CASE.search(style) and bool(set(_words(style)) - _COMMON)


@lru_cache(maxsize=65536)
def _parties(name: str) -> tuple[str, ...]:
    return tuple(part for part in _VERSUS.split(name[:1000]) if part and part.strip())


@lru_cache(maxsize=65536)
def _words(party: str) -> tuple[str, ...]:
    """Words of a party in their common spelling, those that tell nothing left out; `Co.` leaves none."""
    plain = unicodedata.normalize("NFKD", party.casefold().replace("œ", "oe").replace("æ", "ae"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = re.sub(r"\b[ld]['’]|['’]", "", plain)
    plain = re.sub(r"\bmc (?=[a-z])", "mc", plain)
    plain = _RE.sub(" ", re.sub(r"[^\w()]+|_", " ", plain).strip())
    written = re.findall(r"[^\W_]+", plain)
    if _CROWN.fullmatch(" ".join(written)):
        return ("crown",)
    joined = _initials_joined(written)
    told = [w for word in joined if word not in _DROPPED for w in _SAME.get(word, word).split()]
    if len(written) > 1 and written[-1] == "r" and len(written[-2]) > 1:
        told.append("crown")  # words of the sentence before stand in front of the Crown: `was refused. R. v. Roe`
    return tuple(dict.fromkeys([w for w in told if len(w) > 1] or told))


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


def _same_party(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    if _acronym(a, b) or _acronym(b, a):
        return True
    telling_a, telling_b = [w for w in a if w not in _COMMON], [w for w in b if w not in _COMMON]
    if telling_a and telling_b:
        fewer, more = sorted((telling_a, telling_b), key=len)
        shared = sum(any(_same_word(w, other) for other in more) for w in fewer)
        return shared * 2 >= len(fewer)
    if telling_a or telling_b:
        few, many = (a, b) if telling_b else (b, a)
        return set(few) <= set(many)
    return bool(set(a) & set(b)) or "crown" in a or "crown" in b


def _acronym(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """`CEIC` for the Canada Employment Insurance Commission."""
    return len(short) == 1 and len(short[0]) >= 3 and len(long) >= 3 and short[0] == "".join(w[0] for w in long)


@lru_cache(maxsize=65536)
def _same_word(a: str, b: str) -> bool:
    if a == b:
        return True
    return min(len(a), len(b)) >= 5 and SequenceMatcher(None, a, b, autojunk=False).ratio() >= _ALIKE
