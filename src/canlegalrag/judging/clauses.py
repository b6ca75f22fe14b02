"""What a sentence says: whether it states anything, and whether it is two statements joined."""

import re

from canlegalrag.citations import find

__all__ = ["is_heading", "is_question", "parts", "starts_alone", "states_nothing"]

# Finite verbs that can be told by their form alone; a verb that isn't here only keeps a sentence whole.
_SURE = """
    is|are|was|were|isn't|aren't|wasn't|weren't|has|have|had|hasn't|haven't|hadn't|does|did|doesn't|didn't|do|don't|may
    might|must|shall|will|would|should|can|cannot|can't|could|won't|wouldn't|shouldn't|couldn't|applies|requires|bears
    provides|gives|says|holds|owes|keeps|remains|continues|begins|ends|depends|follows|means|est|sont|était|étaient|fut
    furent|ont|avait|avaient|sera|seront|serait|n'est|n'a|n'ont|n'était|doit|doivent|devait|devra|peut|peuvent|pouvait
    pourra|pourrait|faut|vaut|prévoit|exige|permet|s'applique|incombe|ne
"""
# These can be participles too ("the drugs found there").
_PAST = "held|said|found|ruled|decided|rejected|upheld|refused|granted|dismissed|allowed|ordered|declined|failed"
_SURE_VERB = re.compile("|".join(_SURE.split()), re.IGNORECASE)
_VERB = re.compile(rf"(?<![\w'])(?:{_SURE_VERB.pattern}|{_PAST})(?![\w'])", re.IGNORECASE)

# Words that reach over a conjunction: what they govern can't be cut away from what follows.
_REACHING = re.compile(
    r"(?<![\w'])(?:if|unless|provided|except|only|whether|either|neither|both|between|not only|that|which|who|whom"
    r"|whose|because|since|although|though|while|when|where|until|once|so long as|as long as|in case|than|what|how|why"
    r"|si|s'il|s'ils|sauf|seulement|soit|ni|que|qu'\w+|qui|dont|parce|puisque|bien que|quoique|lorsque|lorsqu'\w+"
    r"|quand|où|tant que|pourvu|à moins|afin|pour que|ne)(?![\w'])",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?<![\w'])(?:if|unless|provided|except|whether|so long as|as long as|respectively|so that"
    r"|de sorte que|si|s'il|s'ils|sauf|à moins|pourvu|tant que|respectivement)(?![\w'])",
    re.IGNORECASE,
)
# A subject and its verb, at the start of a clause that stands alone. Pronouns of the third person stand for something
# in the other half, so they aren't here.
_SUBJECT = re.compile(
    r"(?:(?:you|I|we|nobody|no one|everyone|vous|nous|on|je|tu|nul|personne)|"
    r"(?:the|an?|no|any|each|every|your|my|our|le|la|les|une?|des|aucune?|chaque|tout|toute|votre|vos|notre|nos|mon|ma|mes)"
    r"(?:\s+[\w'-]+){1,4}?|l'[\w-]+(?:\s+[\w'-]+){0,3}?)\s+(?P<verb>[\w']+)\s+(?!(?:not|pas|also|too)\W*$)(?=\w)",
    re.IGNORECASE,
)
_LINKING = re.compile(r"\s+(?:of|that|which|who|whose|to|for|and|or|de|du|que|qui|et|ou)\s", re.IGNORECASE)
_REFERRING = re.compile(
    r"(?:the|les?|la)\s+(?:rest|others?|former|latter|same|remainder|reste|autres?|mêmes?)\b", re.IGNORECASE
)
# What opens a sentence and holds for all of it: a place, a source, a time.
_OPENED = re.compile(
    r"(?:in|under|at|on|as|for|by|with|after|before|from|during|here|there|according"
    r"|dans|selon|en|à|aux?|sur|pour|par|avec|après|avant|depuis|sous|ici|devant)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s*;\s+(?:(?:and|but|et|mais)\s+)?|,\s+(?:and|but|et|mais)\s+", re.IGNORECASE)
_ALIKE = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "\xa0": " ", "\u202f": " ", "\u2011": "-"})
_EMPHASIS = re.compile(r"\*+(?=\S)|(?<=\S)\*+")

_LONGEST = 2000  # characters of a sentence that is worth cutting: what is longer is a list or no prose

_HEADINGS = """
    answer; short answer; direct answer; opening; introduction; overview; summary; background; facts; the facts; issue;
    issues; law; the law; legal framework; analysis; discussion; reasons; reasoning; application; argument; arguments;
    supporting arguments; support; authorities; conclusion; next steps; what to do; sources; references; citations;
    disclaimer; note; réponse; réponse courte; ouverture; résumé; contexte; faits; les faits; question; questions;
    droit; le droit; cadre juridique; analyse; motifs; arguments à l'appui; en conclusion; prochaines étapes; références
"""
_HEADING = re.compile("(?:" + "|".join(sorted((h.strip() for h in _HEADINGS.split(";")), key=len, reverse=True)) + ")")
_REPLY = re.compile(
    r"(?:yes|no|oui|non|maybe|perhaps|peut-être|it depends|that depends|cela dépend|ça dépend"
    r"|(?:quite |very |most )?(?:probably|possibly|likely|unlikely|certainly|definitely)(?: not| so| yes| no)?"
    r"|not (?:necessarily|always|quite|really|exactly|at all|likely|automatically)"
    r"|(?:probablement|certainement|sans doute)(?: pas| que (?:oui|non))?"
    r"|pas (?:nécessairement|toujours|vraiment|tout à fait|forcément|du tout|automatiquement))"
    r"(?P<rest>\s*$|\s*[.,;:!—–].*| to (?:both|all|each|either)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_ADJUNCT = re.compile(r"(?:for|on|in|to|at|under|as|from|with|pour|sur|dans|à|selon|en)\b", re.IGNORECASE)
_SIGNALS = re.compile(
    r"\b(?:see|also|e\.?g|cf|generally|compare|with|citing|cited|in|and|at|para?s?|accord|sources?|references?|cites?"
    r"|sections?|articles?|arts?|ss?|l|voir|aussi|notamment|comparer|et|aux?|à|citant|p\.? ?ex)\b",
    re.IGNORECASE,
)


def is_question(sentence: str) -> bool:
    """Whether a sentence only asks.

    >>> is_question("Must he pay?"), is_question('The court asked "who must pay?"')
    (True, False)
    """
    plain = sentence.strip().strip("*_ \xa0")
    if plain[:1] in '"“«(':
        plain = plain.rstrip('"”»)\xa0 ')
    return plain.endswith("?")


def is_heading(sentence: str) -> bool:
    """Whether a sentence is only a title: one of the usual ones, a line in bold, or a lead-in without a verb.

    >>> is_heading("**Short answer**"), is_heading("Under the Act:"), is_heading("Landlord bears onus")
    (True, True, False)
    """
    plain = " ".join(sentence.translate(_ALIKE).split())
    bare = _plain(plain).rstrip(":. ")
    if _HEADING.fullmatch(bare.lower()):
        return True
    if re.fullmatch(r"(\*\*|__)(?!\s)[^*_]+[^*_.!?]\1:?", plain):
        return not _VERB.search(bare)
    return plain.rstrip("*_ ").endswith(":") and not _VERB.search(bare)


def states_nothing(sentence: str) -> bool:
    """Whether a sentence states nothing of its own that evidence could support.

    >>> [states_nothing(s) for s in ("No.", "Probably not.", "See R. v. Oakes, [1986] 1 SCR 103.", "No appeal lies.")]
    [True, True, True, False]
    """
    if is_question(sentence) or is_heading(sentence):
        return True
    plain = _plain(sentence.translate(_ALIKE))
    label = _HEADING.match(plain.lower())
    if label and plain[label.end() : label.end() + 1] == ":":
        plain = plain[label.end() + 1 :].strip()
    if not re.search(r"[^\W\d_]", plain):
        return True
    return _is_reply(plain) or _is_citation(plain)


def _is_reply(plain: str) -> bool:
    """Whether it is a yes or no, with at most a short adjunct: what was affirmed is in the question."""
    match = _REPLY.fullmatch(plain)
    if not match:
        return False
    rest = match["rest"].strip(" .,;:!—–")
    if not rest:
        return True
    return (
        len(rest.split()) <= 6 and bool(_ADJUNCT.match(rest)) and not _VERB.search(rest) and not re.search(r"\d", rest)
    )


def _is_citation(plain: str) -> bool:
    """Whether nothing is left without citations and the words that introduce them."""
    found = find(plain)
    if not found:
        return False
    left, last = [], 0
    for citation in found:
        before = plain[last : citation.start].rstrip(" ,(;")
        left.append(before.removesuffix(citation.style))
        last = citation.end
    left.append(plain[last:])
    return not re.search(r"[^\W\d_]", _SIGNALS.sub("", " ".join(left)))


def parts(sentence: str) -> list[str]:
    """The statements that a sentence joins, in order: one, unless each half stands alone.

    It is cut at a semicolon, or at a comma with `and`, `but`, `et` or `mais`, where both halves have a subject and a
    finite verb of their own and neither needs the other. So it stays whole where it holds a citation, a colon or a
    condition, opens with what holds for all of it ("In that case, …"), where something in the first half reaches over
    the cut (that, because, either …), the second refers to the first (it, they, the latter …), or the cut is within a
    quotation or brackets; and whenever the words alone don't tell. Emphasis marks and line ends are left out.

    >>> parts("The notice is void, and the landlord must pay costs.")
    ['The notice is void', 'the landlord must pay costs.']
    >>> parts("The court held that the notice is void, and the landlord must pay costs.")
    ['The court held that the notice is void, and the landlord must pay costs.']
    """
    plain = _plain(sentence)
    same = plain.translate(_ALIKE)
    cuts, last = [], 0
    if (
        len(same) <= _LONGEST
        and _JOINT.search(same)
        and not (":" in same or _OPENED.match(same) or _CONDITION.search(same) or find(same))
    ):
        for joint in _JOINT.finditer(same):
            start, end = joint.span()
            if _balanced(same[:start]) and _stands(same[last:start]) and starts_alone(same[end:]):
                cuts.append((start, end))
                last = end
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(plain)]
    return [plain[a:b] for a, b in zip(starts, ends, strict=True)]


def _balanced(before: str) -> bool:
    """Whether no quotation and no brackets are open."""
    pairs = ("()", "[]", "“”", "«»")
    return not before.count('"') % 2 and all(before.count(pair[0]) == before.count(pair[1]) for pair in pairs)


def _stands(half: str) -> bool:
    """Whether the first half is a statement by itself, and governs nothing of the second."""
    return len(half.split()) >= 4 and bool(_VERB.search(half)) and not _REACHING.search(half)


def starts_alone(half: str) -> bool:
    """Whether a clause begins with a subject and a finite verb of its own.

    >>> starts_alone("the landlord must prove it"), starts_alone("it is void")
    (True, False)
    """
    match = _SUBJECT.match(half)
    if not match or len(half.split()) < 4 or not _SURE_VERB.fullmatch(match["verb"]) or _REFERRING.match(half):
        return False
    return not _LINKING.search(half[: match.start("verb")])


def _plain(sentence: str) -> str:
    """A sentence without marks of emphasis, white space as single spaces."""
    return " ".join(_EMPHASIS.sub("", sentence).replace("__", "").split())
