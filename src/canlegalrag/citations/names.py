"""The style of cause before a citation, and the title before a statute."""

import re

from canlegalrag.citations.fold import fold

__all__ = ["language_of", "style_before"]

_WINDOW = 220
_SHORTEST = 5
_LONGEST_PARTY = 140
_MOST_WORDS = 18  # of the party before `v.`
_NUMBER = re.compile(r"\n\[[0-9]{1,3}\][ ]?\Z")  # of a footnote that begins with the citation
_WRAPPED = 40  # a line shorter than this ends where its paragraph does, a longer one may be wrapped
_VERSUS = re.compile(r"[ ](?:v|c|vs|versus)\.?[ ]")
_VERSUS_LAST = (" v.", " v", " c.", " c", " vs.", " vs", " versus")
_VERSUS_FIRST = ("v. ", "v ", "c. ", "c ", "vs. ", "vs ", "versus ")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,120}>")
_BRACKET = re.compile(r"[()\[\]]")
_QUOTES = '“”«»"'
_QUOTE = re.compile(f"[{_QUOTES}]")
_PARTING = re.compile(f"[—―{_QUOTES}]")
_DASH = re.compile(r"([ ]?)[—―]([ ]?)|([ ])–([ ])")
_SINGLE_QUOTED = re.compile(r"(?:\A|[ (\[])['‘]([A-ZÀ-Ý][^'‘’]*(?:['’][a-z][^'‘’]*)*),?['’]\Z")
_LOOSE = " (,[<:—―–-"
_TRAILING = _LOOSE + _QUOTES
_FAMILY = re.compile(r"(?:Droit de la famille|Protection de la jeunesse|Adoption)[ ]?[—―–-][ ]?[0-9]{2,8}\Z")
_SIGNALS_WORDS = (
    "see also in voir dans cf e.g eg as per citing cited following followed applying applied and or but that by "
    "from under where whereas with to compare accord held c.f contra par selon ainsi que mais et aussi again both "
    "affirming affirmed reversing aff'd rev'd while since than at on for l'affaire l'arrêt arrêt case generally "
    "decision decisions of namely including notamment decided reported overruled approved distinguished is was doctrine"
)
_SIGNALS = frozenset(_SIGNALS_WORDS.split())
_LINKS_WORDS = (
    "of the and de du des la le les et en à aux au for ex rel re d' l' & van von der den di al al. et. "
    "ltd inc. inc ltd. ltée ltée."
)
_LINKS = frozenset(_LINKS_WORDS.split())
_LEADING = _LINKS - {"van", "von", "der", "den", "di"}  # links with which no name begins
_SHORT_WORDS = (
    "v c r co ltd inc corp bros mr mrs ms dr st ste jr sr no nos ont alta sask man que att gen a.g p.g ry rly cie ltée "
    "assn ass'n ass assoc dept min cdn can int'l intl mfg assur ins insur trans comm comrs ct bd dist mun twp et al "
    "supt exrs admr trs rlwy rway steam nav hon rev sec d j m e n s w h g f t l p k b u y z i o q x atty pty pac wm "
    "geo chas jas jos thos robt saml edw alex benj invt inv bldg bldgs blvd ave amer brit nat natl fed govt mut prov "
    "prod elec tel univ hosp ind mach merch pub pharm soc guar fid acc cas const constr dev exch mtge sav tr mme mlle "
    "mgr mt ft pt lbr gt n.w nfld tp co'y rel"
)
_SHORT = frozenset(_SHORT_WORDS.split())
_ONWARD_WORDS = "co co. ltd ltd. ld. inc inc. corp. corpn. ry. rly. rway. assn. ass'n gen. cie ltée"
_ONWARD = frozenset(_ONWARD_WORDS.split())  # no sentence begins with one of these
_JUDGE = re.compile(r"(?:C\.?J|J{1,2}|J{1,2}\.?A|C\.?J\.?[A-Z]{1,3})\.?,?")
_SURNAME = re.compile(r"[A-ZÀ-Ý][\w'-]*[a-zà-ÿ][\w'-]+,?")
_FORENAMES_WORDS = (
    "Albert Alexander Alfred Anne Arthur Charles Daniel David Edward Elizabeth Ernest Frank Frederick George Henry "
    "Jack James Jean John Joseph Louis Margaret Mary Michael Paul Peter Richard Robert Samuel Thomas Walter William"
)
_NO_SURNAMES = frozenset([*_FORENAMES_WORDS.split(), "Canada", "Court", "Queen", "King", "The", "In", "Re"])
_JUDGE_AFTER = re.compile(
    r"(?:,[ ](?:per[ ])?[A-ZÀ-Ý][\w'-]+,?[ ](?:C\.?J|JJ?|J\.?A)\.?"
    r"|(?<=[\w.)])[ ][A-ZÀ-Ý][a-zà-ÿ][\w'-]+[ ](?:CJ|JJ?|JA|CJC))\Z"
)
_ALONE = re.compile(
    r"((?:Re|In[ ]re|Reference[ ]re|Renvoi[ ](?:relatif[ ]à|sur)|Ex[ ]parte)[ ][^;:]{2,120}"
    r"|[A-ZÀ-Ý][\w'.&-]*(?:[ ](?:[A-ZÀ-Ý(][\w'.&)-]*|of|the|and|de|du|des|la|et|&)){0,9}(?:[ ]\(Re\))?)\Z"
)
_TITLE = re.compile(
    r"((?:The[ ])?[A-ZÀ-Ý][\w'-]*(?:,?[ ](?:\(?[A-ZÀ-Ý][\w'-]*\)?|of|the|and|for|to|in|on|respecting|with)){0,14}"
    r"(?:,?[ ](?:1[89]|20)[0-9]{2}(?:-[0-9]{2})?)?"
    r"|(?:Loi|Code|Charte)(?:[ ][\w'(),-]+){1,14})\Z"
)
_LABEL = re.compile(r",?[ ](?:[Nn]eutral )?[Cc](?:itation|ited as)$|,?[ ][Rr](?:éférence neutre|eported (?:at|in|as))$")
_ITEM = re.compile(r"[ ]?(?:[0-9]{1,3}[.)]|[-•·–+#]{1,4})[ ]")
_COLON = re.compile(r":(?![ ](?:Ex|In|Re)\b)")
_SET_OFF = re.compile(r"[ ]?(?:[:—–]|-[ ])")
_NUMBERED = re.compile(r"(?:Local|locale|Lodge|Nos?\.?)[ ]?[0-9]{1,3}\Z|[0-9]{4}\Z")
_FOOTNOTE = re.compile(r"[ ]?\[?[0-9]{1,3}\]?$")
_YEAR = re.compile(r",?[ ](?:19|20)[0-9]{2}$")
_NO_PARTY = re.compile(
    r"\bJ{1,2}\.|\b(?:Court|Division|Cour|Tribunal|Report|Appeal|Date)\b"
    r"|^(?:Chief |Madam |Mr\.? |M\. le )?(?:Justice|juge)\b"
)
_NO_NAME_WORDS = (
    "and or of the et en du de january february march april may june july august september october november december "
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre early late mid spring summer "
    "autumn fall winter monday tuesday wednesday thursday friday saturday sunday ont ontario que qué quebec québec "
    "canada alta alberta bc b.c british columbia colombie-britannique man manitoba sask saskatchewan new brunswick "
    "nouveau-brunswick nova scotia nouvelle-écosse prince edward island newfoundland labrador terre-neuve yukon "
    "nunavut northwest territories england britain great united kingdom states america toronto ottawa montreal "
    "montréal vancouver calgary edmonton saskatoon winnipeg halifax fredericton charlottetown "
    "neutral citation citations reference references référence neutre source sources case cases decision decisions "
    "authority authorities note answer law jurisprudence docket file number no indexed as cited reported see held"
)
_NO_NAME = frozenset(_NO_NAME_WORDS.split())  # months, places and labels, which stand before a citation too
_ENDS_TITLE = ("Act", "Code", "Loi")
_ENACTED = re.compile(r"\b(?:Acts?|Code|Charter|Ordinance|Laws?|Rules|Regulations?|Loi|Charte)\b")


def style_before(text: str, start: int, floor: int, *, title: bool = False) -> str:
    """The name that stands before a citation, in the same paragraph.

    Args:
        text: as written.
        start: first character of the citation.
        floor: end of the citation before it; the name begins after it.
        title: look for the title of a statute, not for parties.

    Returns:
        The name, folded, white space squeezed; empty where none stands there.
    """
    begin = max(floor, start - _WINDOW)
    if start - begin < _SHORTEST or _NUMBER.search(text, max(begin, start - 8), start):
        return ""
    joined = _paragraph(text[begin:start], begin > 0 and text[begin - 1] != "\n")
    window = joined.rstrip(_TRAILING)
    gap = joined[len(window) :]
    if window.endswith(("'", "’")) and (quoted := _SINGLE_QUOTED.search(window)):
        window = quoted[1]
    window = window[window.rfind(";") + 1 :]
    versus = None if title else _last(_VERSUS, window)
    if versus:
        return _parties(window[: versus.start()], versus[0], window[versus.end() :], gap)
    return _unpaired(window, gap, title)


def _unpaired(window: str, gap: str, title: bool) -> str:
    """What stands there without `v.`: the title of a statute, one party, or a reference."""
    if "," not in gap and not (window.endswith(_ENDS_TITLE) if title else _SET_OFF.match(gap)):
        return ""
    if window.startswith(_VERSUS_FIRST):
        return ""  # what stands before it is another paragraph's, or another citation's
    family = None if title or window[-1:] not in "0123456789" else _FAMILY.search(window)
    if family:
        return " ".join(fold(family[0]).split())
    mark = _last(_PARTING, window)
    window = fold(window[mark.end() :] if mark else window)
    window = window[_opened(window) :].lstrip(" ),.'")
    if title or "," in gap:
        return _title(window) if title else _alone(window)
    window = window[item.end() if (item := _ITEM.match(window)) else 0 :]
    # Before a colon or a dash, a name fills its line: `1. Okafor: 2021 BCSC 90101`.
    fills = not mark and _SET_OFF.match(gap) and not window.isupper() and _alone(window) == window
    return window if fills else ""


def _paragraph(window: str, cut_short: bool) -> str:
    """The end of the window from where its paragraph begins: lines joined, marks of Markdown and HTML dropped."""
    lines = window.split("\n")
    at = len(lines) - 1
    while at and (_runs_on(lines[at - 1], lines[at]) or (at == 1 and cut_short)):
        at -= 1
    joined = " ".join(lines[at:]).replace("&amp;", "&")
    joined = _TAG.sub("", joined) if "<" in joined else joined
    joined = joined[joined.rfind(">") + 1 :].replace("*", "").replace("_", "").replace("`", "")
    return " ".join(joined.split()) + (" " if window[-1:].isspace() else "")


def _runs_on(line: str, following: str) -> bool:
    """Whether a line is wrapped: it is long, or it breaks at `v.` or before the citation."""
    line = line.strip()
    if len(line) >= _WRAPPED or line.endswith(_VERSUS_LAST) or following.lstrip().startswith(_VERSUS_FIRST):
        return True
    return line.endswith(",") and not following.strip() and bool(_VERSUS.search(line))


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007
        pass
    return found


def _opened(text: str) -> int:
    """Where the text begins that no bracket parts from the end: after the last one left open, or closed too often."""
    opened: list[int] = []
    closed = 0
    for bracket in _BRACKET.finditer(text):
        if bracket[0] in "([":
            opened.append(bracket.end())
        elif opened:
            opened.pop()
        else:
            closed = bracket.end()
    return max(opened[-1] if opened else 0, closed)


def _title(window: str) -> str:
    """The title of an Act that ends the window."""
    m = _TITLE.search(window)
    name = m[1] if m and len(m[1].split()) > 1 and _ENACTED.search(m[1]) else ""
    return _without_signals(name)


def _alone(window: str) -> str:
    """A name without `v.` that ends the window: `Reference re …`, or a short form of one party."""
    m = _ALONE.search(window)
    name = _without_signals(m[1]) if m else ""
    plausible = name[:1].isupper() and len(name) > 2 and name.count("(") == name.count(")")
    if not plausible or _ends_sentence(name) or _NO_PARTY.search(name):
        return ""
    return name if {word.rstrip(".,") for word in name.lower().split()} - _NO_NAME else ""


def _parties(before: str, versus: str, after: str, gap: str) -> str:
    """The two parties around `v.`; `gap` is what stands between them and the citation."""
    left, right = _left(before), _right(after, gap)
    if left.startswith("'") and "'" not in left[1:] and right.endswith("'"):
        left, right = left[1:], right[:-1]
    return f"{left}{versus}{right}" if left.strip(_QUOTES) and right else ""


def _right(after: str, gap: str) -> str:
    dash = _DASH.search(after)
    if dash and (dash[1] or dash[2] or dash[3] or not after[dash.end() : dash.end() + 1].isupper()):
        if not after[dash.end() : dash.end() + 1].isupper():
            return ""
        after = after[: dash.start()]  # what follows a dash tells of the case: `v. Lindqvist — Court of Appeal, 2021`
    if len(_QUOTE.findall(after)) % 2:
        closing = _QUOTE.search(gap)
        if not closing:
            return ""
        after += closing[0]
    after = fold(after)
    while after.endswith((")", "]")) and _opened(after) == len(after):
        after = after[:-1].rstrip(_TRAILING)
    at = _opened(after)
    if at:
        if after[at - 1] in ")]" or after[at : at + 1].islower():
            return ""
        after = after[: at - 1]
    after = _YEAR.sub("", _LABEL.sub("", after))
    after = _JUDGE_AFTER.sub("", after if _NUMBERED.search(after) else _FOOTNOTE.sub("", after)).rstrip(_LOOSE)
    return "" if len(after) > _LONGEST_PARTY or _ends_sentence(after) else after


def _left(before: str) -> str:
    quoted = before.endswith(("”", "»", '"'))  # `The “Evgenia” v.`: the pair is part of the name
    mark = _last(_PARTING, before[: max(before.rfind(q, 0, -1) for q in '“«"')] if quoted else before)
    before = fold(before[mark.end() :] if mark else before)
    tokens = before[_opened(before) :].replace("[", " ").split()[-_MOST_WORDS:]
    taken: list[str] = []
    depth = 0
    while tokens:
        token = tokens.pop()
        depth += token.count(")") - token.count("(")
        if depth < 0 or (depth == 0 and taken and (_closes(token, taken[-1]) or _is_judge(token, tokens))):
            break
        begins = token[0].isupper() or token[0] in "(&'\"“«"
        if depth == 0 and not begins and token.lower().rstrip(",") not in _LINKS:
            break
        taken.append(token)
    taken.reverse()
    while taken and taken[0].startswith("("):  # brackets before a name belong to what stands before it
        at = next((i for i, token in enumerate(taken) if token.rstrip(".,:").endswith(")")), len(taken))
        taken = taken[at + 1 :]
    return _without_signals(" ".join(taken))


def _is_judge(token: str, before: list[str]) -> bool:
    """Whether the token is the title of a judge, whose name is the last word before it: `Abella J. R. v. Cairney`."""
    if token[0] not in "CJ" or not before or not _JUDGE.fullmatch(token):
        return False
    return before[-1].rstrip(",") not in _NO_SURNAMES and bool(_SURNAME.fullmatch(before[-1]))


def _closes(token: str, following: str) -> bool:
    """Whether a sentence or a clause ends with the token: a dot after a word that is no abbreviation."""
    if token[-1] in ":;!?":
        return True
    if token[-1] != "." or len(token) < 3 or "." in token[:-1] or following.lower().rstrip(",") in _ONWARD:
        return False
    return token[:-1].lower().lstrip("(") not in _SHORT


def _ends_sentence(right: str) -> bool:
    words = right.split()
    if any(_closes(w, words[i + 1]) and words[i + 1][:1].isupper() for i, w in enumerate(words[:-1]) if w[-1] != ":"):
        return True
    return bool(_COLON.search(right))


def _without_signals(name: str) -> str:
    words = name.rpartition("Cited ")[2].split()  # `Cases Cited`, a heading
    if words[:2] == ["In", "re"] or words[:1] == ["Re"]:
        return " ".join(words)
    while words and (words[0].lower().rstrip(",.") in _SIGNALS or words[0] in _LEADING):
        words.pop(0)
    return " ".join(words)


def language_of(style: str) -> str:
    """The language that the style tells: ` c. ` is French, ` v. ` is English.

    >>> language_of("R. c. Tremblay"), language_of("R v Oakes"), language_of("Vavilov")
    ('fr', 'en', '')
    """
    if not style or not (versus := _VERSUS.search(style)):
        return ""
    return "fr" if versus[0].startswith(" c") else "en"
