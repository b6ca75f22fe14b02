"""Natural breaks: paragraphs, lines, sentences, words; what the `recursive` chunking cuts at."""

import re
from collections.abc import Sequence
from string import ascii_letters
from unicodedata import category

__all__ = ["cut_naturally"]

# Never the end of a sentence, in English and French; initials and the empty word of ". . ." are added.
_ABBREVIATIONS = """
    para paras par sec secs ss sch sched ch chap cl cls reg regs pp nos arts figs vol vols ed eds cf vs al viz cit loc
    ibid supra mr mrs ms mm dr st ste hon messrs prof gen capt col lt maj sgt cst insp supt gov sr jr inc ltd ltée co
    cos corp cie assn bros dept dist univ jj ja cj cja janv févr avr juil sept oct nov déc crim civ supp ann
"""
_CAPITALISED = """
    Can Que Qué Ont Man Alta Sask Nfld Jan Feb Mar Apr Jun Jul Aug Dec Dom Rep Rev Stat Cas Ins Ry
    Geo Vic Vict Wm Chas Jas Thos Edw Eliz
"""


def _as_written(words: str) -> list[str]:
    """Each word small, capitalised and in capitals."""
    return [form for word in words.split() for form in (word, word.capitalize(), word.upper())]


_ABBREVIATED = frozenset(["", *ascii_letters, *_as_written(_ABBREVIATIONS), *re.findall(r"\w+", _CAPITALISED)])
# Abbreviations before a number, words elsewhere ("No. 3", "art. 12", but "the prior art. The …").
_BEFORE_NUMBER = frozenset(_as_written("no art fig ex app"))
_NEEDS_CARE = _ABBREVIATED | _BEFORE_NUMBER
_NUMBER = re.compile(r"[(§\[]?\d|[IVXLC]+\b")
_AFTER_STOP = re.compile(r"[\"'”’»)\]]*[^\S\r]+(?:»[^\S\r]+)?")
_OPENING = "([{\"'“‘’«‹—–-"
_LAST_SPACE = re.compile(r"(?s:.*)[^\S\r]")
_FIRST_SPACE = re.compile(r"\r?\n|[^\S\r]")
_LONE_CR = re.compile(r"\r(?!\n)")
_PARAGRAPH_SEPARATOR = re.compile("(?s:.)\u2029")
_WITHIN_LINE = " \t\r\xa0\u2007\u2009\u202f"
_BLANK = "\n" + _WITHIN_LINE
_LOOK_BACK = 64


def cut_naturally(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """Natural breaks: the ends first, each a step on from the last, then a start before each."""
    if len(text) <= size:
        return [(0, len(text))]
    ends = _ends(_with_line_feeds(text), size, overlap)
    starts = _starts(text, ends, size, overlap)
    ends.append(len(text))
    return list(zip(starts, ends, strict=True))


def _with_line_feeds(text: str) -> str:
    """The text with every lone CR, U+2028 and U+2029 read as a line feed, at the same offsets."""
    # Three scans by memchr cost a hundredth of one regular expression over the same text.
    if "\r" in text:
        text = _LONE_CR.sub("\n", text)
    if "\u2029" in text:  # a paragraph: looks like a blank line from behind
        text = _PARAGRAPH_SEPARATOR.sub("\n\n", text)
        text = text.replace("\u2029", "\n")
    return text.replace("\u2028", "\n")


def _ends(text: str, size: int, overlap: int) -> list[int]:
    """End of every passage but the last. Kept inline: this loop is the whole cost of chunking."""
    new = size - overlap
    third = new // 3
    rfind, length = text.rfind, len(text)
    ends: list[int] = []
    end, limit = 0, size
    while limit < length:
        low = limit - third
        line = at = rfind("\n", low, limit)
        if line >= 0:
            while at >= 0 and (text[at - 1] not in _BLANK or not _blank_before(text, at)):
                at = rfind("\n", low, at)
            end = (at if at >= 0 else line) + 1
        else:
            at = rfind(".", low, limit - 1)
            if (
                at > 0
                and (space := rfind(" ", low, at)) > 0
                and (word := text[space + 1 : at]).isalpha()
                and word not in _NEEDS_CARE
                and text[at + 1] == " "
                and text[at + 2].isupper()
            ):
                end = at + 2
            else:
                end = _sentence(text, at, low, limit) or _word(text, low, limit) or _cut(text, end, overlap, low, limit)
        ends.append(end)
        limit = end + new
    return ends


def _blank_before(text: str, at: int) -> bool:
    """Whether the line that the line feed at `at` closes is blank."""
    return text[max(0, at - _LOOK_BACK) : at].rstrip(_WITHIN_LINE)[-1:] in ("\n", "")


def _sentence(text: str, at: int, low: int, limit: int) -> int:
    """Start of the last sentence in (low, limit] after a full stop, else after ? or !, else 0.

    `at` is the last full stop in the window, or -1. An ellipsis ends nothing.
    """
    rfind = text.rfind
    while at >= 0:
        following = text[at + 1]
        if following == " " and (space := rfind(" ", low, at)) >= 0 and text[space + 1 : at] in _ABBREVIATED:
            pass  # the common case of a full stop within a sentence, seen early
        elif (
            not following.isalnum()
            and (match := _AFTER_STOP.match(text, at + 1, limit))
            and _ends_sentence(text, at, match.end())
        ):
            return match.end()
        at = rfind(".", low, at)
    for mark in "?!":
        at = rfind(mark, low, limit - 1)
        while at >= 0:
            if (match := _AFTER_STOP.match(text, at + 1, limit)) and not text[match.end()].islower():
                return match.end()
            at = rfind(mark, low, at)
    return 0


def _ends_sentence(text: str, at: int, after: int) -> bool:
    """Whether the full stop at `at` ends a sentence, the next starting at `after`."""
    if text[after].islower() or text[after] in ",;:)]":
        return False
    if not text[at + 1].isspace():  # a closing mark
        return True
    before = text[max(0, at - 24) : at]
    word = (before.split() or [""])[-1].replace("’", "'").rpartition("'")[2].strip(_OPENING)
    if word in _BEFORE_NUMBER:
        return not _NUMBER.match(text, after)
    if word.isdigit():  # the number of a paragraph, or of an item
        return len(word) > 3 or before[: -len(word)].rstrip(_WITHIN_LINE)[-1:] not in ("\n", "", ".", ";", ":")
    if "." in word:
        return not all(len(part) < 5 and not part.isdigit() for part in word.replace("-", ".").split("."))
    return word not in _ABBREVIATED and not before[-1].isspace()


def _word(text: str, low: int, limit: int) -> int:
    """Start of the last word to start in (low, limit], 0 if none; French spaces before » ! ? ; : are passed over."""
    first = at = text.rfind(" ", low, limit)
    while at >= 0 and (text[at + 1] in "»!?;:" or text[at - 1] == "«"):
        at = text.rfind(" ", low, at)
    return (at if at >= 0 else first) + 1


def _cut(text: str, end: int, overlap: int, low: int, limit: int) -> int:
    """Where to cut text without spaces: after other white space, after any before `low`, or between two characters."""
    if match := _LAST_SPACE.match(text, low, limit):
        return match.end()
    least = end + overlap  # a passage adds more than it repeats
    if least < low and (match := _LAST_SPACE.match(text, least, low)) and not text[end : match.end()].isspace():
        return match.end()
    at = limit
    while at > max(end + 1, limit - _LOOK_BACK) and _joined(text, at):
        at -= 1
    return limit if _joined(text, at) else at


def _joined(text: str, at: int) -> bool:
    """Whether the characters on the two sides of `at` make one: a letter and its mark, CR and LF, a flag …"""
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return before == "\r" and after == "\n"
    if category(after)[0] == "M" or "\u200d" in (before, after) or "\U0001f3fb" <= after <= "\U0001f3ff":
        return not before.isspace()
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    letters = text[max(0, at - _LOOK_BACK) : at]
    flags = len(letters) - len(letters.rstrip("".join(map(chr, range(0x1F1E6, 0x1F200)))))
    return flags % 2 == 1 and "\U0001f1e6" <= after <= "\U0001f1ff"


def _starts(text: str, ends: Sequence[int], size: int, overlap: int) -> list[int]:
    """Start of every passage: 0, then up to `overlap` before each end, where a word starts."""
    if not overlap:
        return [0, *ends]
    find, far, near = text.find, overlap + 1, overlap // 2 + 1
    if (size - overlap) // 2 - _LOOK_BACK > overlap:  # every step is longer than the overlap: the starts rise
        starts = [find(" ", end - far, end - near) + 1 for end in ends]
        if 0 in starts:
            starts = [s or _start(text, e - overlap, e - near) for s, e in zip(starts, ends, strict=True)]
        return [0, *starts]
    starts = [0]
    for end in ends:
        low = max(end - overlap, starts[-1] + 1)
        high = max(low, end - near)
        starts.append(find(" ", low - 1, high) + 1 or _start(text, low, high))
    return starts


def _start(text: str, low: int, high: int) -> int:
    """A start in [low, high] where no word does: after other white space, or not inside a character."""
    if match := _FIRST_SPACE.search(text, low - 1, high):
        return match.end()
    at = low
    while at < min(high, low + _LOOK_BACK) and _joined(text, at):
        at += 1
    return low if _joined(text, at) else at
