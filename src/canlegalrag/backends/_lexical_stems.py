"""Stems: what a word is counted as by the lexical judge, with synonyms and opposites."""

import unicodedata
from functools import lru_cache

from canlegalrag.backends._lexical_words import ROLES, STOP, opposed

__all__ = ["OPPOSITES", "plain", "stem"]

_IRREGULAR = {
    word: base
    for base, words in {
        "pay": "paid",
        "give": "gave given",
        "hold": "held",
        "keep": "kept",
        "leave": "left",
        "find": "found",
        "make": "made",
        "tell": "told",
        "uphold": "upheld",
        "say": "said",
        "write": "wrote written",
        "take": "took taken",
        "know": "knew known",
        "go": "went gone",
        "come": "came",
        "begin": "began begun",
        "sell": "sold",
        "buy": "bought",
        "bring": "brought",
        "lose": "lost",
        "send": "sent",
        "spend": "spent",
        "lend": "lent",
        "break": "broke broken",
        "choose": "chose chosen",
        "show": "shown",
        "see": "saw seen",
        "build": "built",
        "win": "won",
        "mean": "meant",
        "grow": "grew grown",
        "fall": "fell fallen",
        "drive": "drove driven",
        "prove": "proof proven",
        "child": "children",
        "person": "people persons",
        "verse": "verse versement",
        "payer": "paie paye payee",
        "donner": "donne donnee",
        "rendre": "rendu rendue",
        "recevoir": "recu recue recoit",
    }.items()
    for word in words.split()
}
_SUFFIXES = (
    "isations izations isation ization ements ations itions ement ation ition ments ances ences ment ance ence ings "
    "ions ing ion able ible ally ity ities ees ee ers er ed es ly al s e"
)
_SHORTEST = 3
_LONGEST = 7


def plain(word: str) -> str:
    """Lower case without accents."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFD", word.casefold().replace("œ", "oe").replace("æ", "ae"))
    return "".join(c for c in folded if not unicodedata.combining(c))


def _stripped(word: str) -> str:
    """A rough stem: irregular forms, one ending, double letters, seven letters."""
    word = _IRREGULAR.get(word, word)
    if word.endswith(("ies", "ied")) and len(word) > 4:
        word = word[:-3] + "y"
    else:
        for suffix in _SUFFIXES.split():
            if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST:
                word = word[: -len(suffix)]
                break
    if len(word) > _SHORTEST and word[-1] == word[-2]:
        word = word[:-1]
    return word[:_LONGEST].removesuffix("y") if len(word) > _SHORTEST else word


_GROUPS = """
    terminate dismiss fire discharge end finish cancel | decide decision determine
    apply application | notify notice notification
    suite apartment unit flat | house home dwelling residence | car vehicle automobile | doctor physician
    begin start commence | buy purchase | occupy live reside move | ask request | job employment
    salary wage remuneration | help assist | show prove establish demonstrate | child kid | increase raise
    hurt injure injury | contract agreement | error mistake | evict eviction | order direct | need require
    damages compensation | repair fix mend | gave provide give | receive obtain get | statute act law legislation
    keep retain | allow grant | refuse deny reject | appeal appellate | judge justice member adjudicator
    evidence testimony | testify depose | disabled disability handicap | pregnant pregnancy | letter mail
    let permit | tell inform advise told | sufficient enough adequate | false untrue untruth lie | conceal hide hidden
    amount sum money | stop cease halt | quit resign resignation | kill destroy | look examine consider weigh view
    choose elect select choice | agree consent agreement accord | forbid prohibit ban bar | test standard criterion
    remedy relief redress | serious grave gross | reason ground cause why | harm damage loss | sick ill illness disease
    big large great | small little minor slight modest | quick prompt soon swift | late delay | separate apart distinct
    work employ position post | owner proprietor | property premises land | lawyer solicitor counsel attorney
    silence silent quiet | search seizure | enter entry entrance | answer reply respond response | happen occur arise
    likely probable probably | purpose aim intent intention intend mean | fair just equitable | careless negligent
    rule principle | excuse justify justification | money fund | behaviour conduct misconduct | lodge file filed
    shorten reduce cut | wait await | use employ usage | cheap inexpensive | doubt uncertain uncertainty
    loyer loyers | bail bails | preavis avis | logement appartement | congedier congediement renvoyer
    fardeau onus burden
"""


_OPPOSITES = """
    allow dismiss  allow refuse  uphold quash  uphold overturn  affirm overturn
    valid invalid  lawful unlawful  legal illegal  reasonable unreasonable  fair unfair  guilty acquitted
    convict acquit  succeed fail  win lose  increase decrease  increase reduce  increase lower  accept refuse
    open close  include exclude  possible impossible  able unable
    sufficient insufficient  proper improper  justified unjustified  liable immune  enforceable unenforceable
    constitutional unconstitutional  admissible inadmissible  necessary unnecessary  relevant irrelevant
    credible incredible  conscious unconscious  paid unpaid  known unknown  early late  high low  minor adult
    correct incorrect  consistent inconsistent  voluntary involuntary  direct indirect  public private
    full partial  permanent temporary  oral written  verbal written
    accueilli rejete  valide invalide  coupable acquitte  augmenter diminuer  accepter refuser
    raisonnable deraisonnable  public prive
"""
_CONCEPTS = {
    _stripped(word): _stripped(group.split()[0])
    for group in _GROUPS.replace("\n", "|").split("|")
    if group.split()
    for word in group.split()
}


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """What a word is counted as: synonyms alike, endings and accents off; empty for function words.

    >>> stem("terminated") == stem("dismissal"), stem("Repairs") == stem("repaired"), stem("the")
    (True, True, '')
    """
    bare = plain(word)
    if bare in STOP or len(bare) < 2 or not bare.isalpha():
        return ""
    if bare in ROLES:
        return f"={ROLES[bare]}"
    base = _stripped(bare)
    return _CONCEPTS.get(base, base)


OPPOSITES = {
    word: others - {word}
    for word, others in opposed(" ".join(stem(word) for word in _OPPOSITES.split())).items()
    if others - {word}
}
"""Stem -> stems that deny it."""
