"""Whether an answer only declines to answer."""

import re
from functools import cache

from canlegalrag.errors import InputError
from canlegalrag.judging.clauses import is_heading, is_question, starts_alone
from canlegalrag.judging.sentences import spans
from canlegalrag.text import normalise

__all__ = ["abstains"]

_STOPS = frozenset({"refusal", "empty"})
_LONGEST = 3000  # characters: nobody declines at more length,
_LONGEST_CLAUSE = 500  # nor in one clause at more than this

# What phrases are put together from. `given` can only be what a system read; `papers` can be evidence in a case too.
_WORDS = {
    "all": r"(?:(?:the|these|those|this|any of|none of|of|your|my|all|both|other|les|ces|le|ce|l'|aucune? des)\s*)*",
    "marked": r"(?:provided|given|supplied|retrieved|available|above|fournie?s?|disponibles?|ci-dessus)",
    "papers": r"(?:documents?|materials?|sources?|texts?|information|decisions?|cases?|authorities|renseignements"
    r"|décisions?)",
    "given": r"(?:passages?|excerpts?|snippets?|search results?|extraits?|contexte?)",
    "had": r"(?:(?:that )?(?:i|you|we) (?:have|had|was|were|gave)(?: been)?)",
    "lack": r"(?:contain|provide|include|address|answer|mention|discuss|specify|say|state|cover|give|offer|speak to"
    r"|deal with)",
    "about": r"(?:information|answer|anything|details?|guidance|enough|sufficient|question|basis|relevant"
    r"|renseignement|réponse|informations|répondre|assez)",
    "not": r"(?:(?:do|does|did)(?: not|n't)|can(?:not| not|'t)|could(?: not|n't))(?: \w+ly| even| seem to| appear to)?",
    "unable": r"(?:can(?:not| not|'t)|(?:could|will|would)(?: not|n't)|won't"
    r"|(?: ?am| ?are| was| were|'m|'re)(?: unable| not able)(?: to)?)",
    "answer": r"(?:answer|respond|reply|provide|give|help|assist|advise|offer|comment|comply|locate|confirm|verify"
    r"|address|determine|tell|find (?!that)|say (?!that)|conclude (?!that)|do (?:that|this|so))",
    "répondre": r"(?:répondre|fournir|donner|déterminer|dire (?!que)|trouver|aider|confirmer|me prononcer|conseiller)",
    "manque": r"ne (?:contien\w+|mentionnen?t?|permett?\w*|précisen?t?|traiten?t?|abordent?|réponden?t?|fourni\w+"
    r"|disent|dit|comprennent|portent?|indiquent?|parlent?) (?:pas|aucune?|rien)",
    "help": r"(?:lawyer|legal (?:advice|professional|counsel|help|aid|clinic|expert|assistance|research\w*)|attorney"
    r"|counsel|solicitor|paralegal|notary|law society|professional|avocate?|notaire|conseill?\w* juridique|juriste"
    r"|more (?:information|details?|context)|(?:additional|further|other|relevant|plus d'|plus de) ?\w*|rephras\w+"
    r"|reformul\w+)",
}
_WORDS["them"] = ("(?:{all}(?:{marked} )?(?:legal )?(?:{given}|{papers})(?: {had})?(?: {marked})?(?: to me)?)").format(
    **_WORDS
)
_WORDS["only"] = (
    "(?:{all}(?:{marked} )?{given}(?: {marked})?|{all}{marked} (?:legal )?{papers}|{all}{papers}(?: {had})? {marked}"
    "|they|none of them|ils|elles)"
).format(**_WORDS)

_DECLINING = (
    r"(?:i|we) ?{unable}(?: \w+ly)? {answer}",
    r"(?:i|we) (?:must |have to |respectfully )?(?:decline|refuse) to\b",
    r"(?:i|we) (?:do not|don't|did not|didn't) know",
    r"(?:i|we) (?:do not|don't|did not|didn't) have (?:enough|sufficient|any|the|access|adequate|specific|relevant)",
    r"(?:i|we) (?:lack|have no|have not been given|haven't been given|was not given)\b",
    r"(?:i|we) (?:found no|did not find|didn't find)\b(?! breach| error| reason| fault)",
    r"{only} {not} {lack}\b(?! that)",
    r"{them} {not} {lack}\b.*\b{about}\b",
    r"(?:none|neither) of {all}{given} {lack}(?:e?s)?\b",
    r"(?:none|neither) of {all}{papers} {lack}(?:e?s)?\b.*\b{about}\b",
    r"{only} (?:is|are|was|were) (?:not |in)(?:sufficient|enough|relevant|adequate|helpful|about)\b",
    r"{only} (?:contain|provide|include|give|offer|have|say)s? (?:no|nothing|insufficient|too little)\b",
    r"{them} (?:contain|provide|include|give|offer|have)s? (?:no|insufficient) (?:\w+ )?{about}\b",
    r"there (?:is|was)(?: not|n't) (?:enough|sufficient|any|adequate) (?:\w+ )?"
    r"(?:information|context|details?|material)\b",
    r"there (?:is|was) (?:no|insufficient|too little) (?:\w+ )?(?:information|context|details?|mention)\b",
    r"there (?:is|was) nothing in {only}",
    r"(?:the|this|your|that) (?:question|query) (?:cannot|can't|can not|could not) be (?:answered|determined)",
    r"(?:an|the|no) (?:\w+ )?answer (?:cannot|can't|can not|could not|can|could) be"
    r" (?:given|found|provided|determined)",
    r"it is (?:not possible|impossible) (?:for me )?to (?:answer|determine|say (?!that)|tell|respond)\b",
    r"(?:this|that|it|the answer) (?:is not|isn't) (?:\w+ )?(?:stated|addressed|mentioned|covered|answered"
    r"|discussed|found|available) (?:in|by) {them}",
    r"(?:n/?a|unknown|unanswerable|no comment|no answer(?: found| available)?)$",
    r"(?:not enough|insufficient|no|no relevant) (?:information|context)\b(?!.*\b(?:was|is|were|has|must|may)\b)",
    r"not (?:stated|found|specified|mentioned|answerable|addressed|available|covered)(?: (?:in|by|from) {them})?$",
    r"je (?:ne |n')(?:peux|puis|saurais|suis|pouvais)(?: pas)?(?: en mesure| capable)?(?: de| d')?"
    r"(?: vous)? {répondre}",
    r"je (?:ne sais pas|l'ignore|n'ai (?:pas|aucun)|ne dispose (?:pas|d'aucun)|ne trouve (?:pas|aucun))",
    r"{only} {manque}",
    r"{them} {manque}\b.*\b{about}",
    r"il (?:n'y a (?:pas (?:assez|suffisamment)|aucune?)|manque) .*"
    r"(?:information|renseignement|contexte|réponse|détail)",
    r"il (?:m'est impossible|est impossible|n'est pas possible|ne m'est pas possible) de (?:vous )?{répondre}",
    r"aucune? (?:information|réponse|renseignement|passage|extrait|document)(?: fournie?)? (?:ne |n')",
    r"(?:informations?|renseignements?|contexte) insuffisante?s?$",
)
"""Ways to say that there is no answer."""

_LEADING = (
    r"i(?:'m| am) (?:very |so )?(?:sorry|afraid)(?: that)?|i apologi[sz]e|it (?:seems|appears)(?: that)?"
    r"|please note(?: that)?|(?:short |direct )?answer|as an? (?:ai|language model|assistant)[^,]*"
    r"|at (?:this|present)(?: time)?|(?:based|relying|going) (?:only |solely |strictly )?on [^,]*"
    r"|(?:from|given|in|with|without|within|according to|considering|regarding|as to|for|on|to answer) [^,]*"
    r"|(?:after|having) (?:read|review|search)\w* [^,]*"
    r"|and|but|so|or|however|although|though|while|therefore|thus|unfortunately|regrettably|sorry|because|since|as|here"
    r"|currently",
    r"je (?:suis désolée?|regrette)|(?:d'après|selon|à partir d|à la lumière d|sur la base d|avec|sans|dans|vu"
    r"|compte tenu d)[^,]*|et|mais|donc|or|car|toutefois|cependant|malheureusement|désolée?",
)
"""What may stand before that."""

_FILLING = (
    r"(?:i(?:'m| am)|we(?:'re| are)) (?:very |so |truly )?(?:sorry|afraid)\b[^,;]*$|sorry\b[^,;]*$|i apologi[sz]e\b",
    r"désolée?\b[^,;]*$|je (?:suis désolée?|regrette|m'excuse)\b[^,;]*$",
    r"(?:please|kindly|you (?:should|may|might|could|can|(?:will|would) need)|consult|contact|seek|try"
    r"|for (?:legal|more)|i (?:would )?(?:recommend|suggest|advise|encourage)|it (?:is|would be|may be) "
    r"(?:best|advisable|wise|helpful|better)|if you (?:can|could|have|need|provide|share|wish))\b.*\b{help}\b",
    r"(?:veuillez|vous (?:devriez|pouvez|pourriez)|je vous|n'hésitez|consultez|il (?:serait|est|vaut))\b.*\b{help}\b",
    r"let me know\b|feel free\b|i(?:'d| would| will|'ll) be (?:happy|glad)\b|i (?:can|could) then\b",
    r"thank you\b|merci\b",
    r"(?:this is not|i am not|i'm not) an? (?:legal advice|lawyer)|this is not legal advice",
    r"(?:ceci n'est pas|je ne suis pas) (?:un avis juridique|avocate?)",
    r"(?:you(?:'ve| have)? asked|(?:your|the) question (?:is|was|asks|concerns)|vous (?:me )?demandez)\b",
    r"(?:{only}|{them})(?: (?:only|mostly|mainly|primarily|all|do))* (?:discuss|deal|concern|relate|address|cover|focus"
    r"|mention|refer|describe|involve|are about|is about|portent?|traitent?|concernent?)(?:es|s)?\b"
    r"(?! that| que)(?!.*\d)",
)
"""What goes with declining and says nothing else."""

_CLAUSE = re.compile(
    r"\s*[;—]\s*|\s*,\s+(?=(?:and|but|so|however|although|though|while|et|mais|toutefois|cependant|or)\b)"
    r"|\s+(?=(?:but|mais)\s)",
    re.IGNORECASE,
)


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """The phrases as one pattern, compiled at its first use."""
    return re.compile("|".join(f"(?:{phrase.format(**_WORDS)})" for phrase in phrases), re.IGNORECASE)


def abstains(text: str, stop: str = "stop") -> bool:
    """Whether an answer declines: it was refused or empty (`stop`), is blank, or does nothing but decline.

    Only the words decide, English and French. Each clause must say that there is no answer, or be what goes with
    that: an apology, a title, a question back, what the passages are about, advice to see a lawyer; one that says
    anything else makes it an answer. So an answer with a caveat is an answer, and in doubt a text is one: its claims
    are judged.

    >>> abstains("I'm sorry, but the passages do not say. Please consult a lawyer.")
    True
    >>> abstains("You have 21 days. The passages do not say more."), abstains("The court cannot order costs.")
    (False, False)

    Args:
        text: the whole answer.
        stop: as `Completion.stop`.

    Raises:
        InputError: the text is no string.
    """
    if not isinstance(text, str):
        raise InputError("abstaining", f"a {type(text).__name__} is no text", "give a string")
    if stop in _STOPS or not any(c.isalnum() for c in text):
        return True
    if len(text.strip()) > _LONGEST:
        return False
    declined = False
    for start, end in spans(text):
        sentence = text[start:end]
        if is_question(sentence) or is_heading(sentence):
            continue
        for clause in _CLAUSE.split(normalise(sentence).replace("*", "")):
            clause = clause.strip(" .,:!\"'“”«»()")
            if len(clause) > _LONGEST_CLAUSE:
                return False
            if _declines(clause):
                declined = True
            elif not _fills(clause):
                return False
    return declined


def _led_up(clause: str) -> bool:
    """Whether a clause is nothing but words that lead up to something."""
    # Each phrase is taken for good (`?>`): else "in a in b in c …" could be cut in more ways than there is time for.
    return bool(re.fullmatch(rf"(?>(?:{_pattern(_LEADING).pattern})(?![\w'])[\s,:.]*+)*+", clause, re.IGNORECASE))


def _declines(clause: str) -> bool:
    """Whether a clause says that there is no answer, after words that only lead up to that, and joins no statement."""
    for found in _pattern(_DECLINING).finditer(clause):
        if _led_up(clause[: found.start()]):
            return not any(starts_alone(more) for more in re.split(r",\s+", clause[found.end() :])[1:])
    return False


def _fills(clause: str) -> bool:
    """Whether a clause only goes with declining."""
    if _led_up(clause):
        return True
    return any(_led_up(clause[: found.start()]) for found in _pattern(_FILLING).finditer(clause))
