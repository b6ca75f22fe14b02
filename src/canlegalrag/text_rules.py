"""The rules that the tokenizers of `text.py` follow: which bytes part words, what a chunk's tokens are."""

# Both tokenizers work in two steps. (1) On bytes: whatever surely separates becomes a space; what is left
# between spaces is a chunk. (2) A chunk alone decides its tokens. A corpus has few distinct chunks, so the
# second step, in Python, is paid once a chunk and not once a token, and the first is vectorised.

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["FOLD", "ODD", "RULES", "SPACE", "Bytes", "Codes", "Ints", "Rules", "Token", "joins"]

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


class Token(NamedTuple):
    """A token and where it stands: `text` is its normal form, the source is `original[start:end]`."""

    text: str
    """Normal form: lower case, NFC; what an index stores."""
    start: int
    """First character, in the original text."""
    end: int
    """One past the last character, in the original text."""


FOLD: dict[int, str | None] = dict.fromkeys(map(ord, "\u2010\u2011\ufe63\uff0d"), "-")
FOLD |= dict.fromkeys(map(ord, "\u2018\u2019\u02bc\uff07"), "'")
FOLD |= dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), None)  # invisible: hyphenation, joiners
_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae"})


_APOSTROPHE, _COMMA, _HYPHEN, _STOP = 1, 2, 3, 4  # stand-ins for ' , - . until their neighbours are known
SPACE = 32
_MARKS = {ord("'"): _APOSTROPHE, ord(","): _COMMA, ord("-"): _HYPHEN, ord("."): _STOP}
_BACK = np.frombuffer(bytes([SPACE, *_MARKS]), dtype=np.uint8)
_ASCII_TABLE = bytes(ord(chr(c).lower()) if c < 128 and chr(c).isalnum() else SPACE for c in range(256))
_LEGAL_TABLE = bytes(_MARKS.get(c, c if c >= 128 else _ASCII_TABLE[c]) for c in range(256))
ODD = np.array([c >= 128 or c in _MARKS for c in range(256)])
_PARTS_C2 = np.isin(np.arange(256), [0xA0, 0xAB, 0xBB])  # second byte of no-break space, «, »
_PARTS_E280 = np.isin(np.arange(256), [*range(0x80, 0x8B), 0x93, 0x94, 0x9C, 0x9D, 0x9E, 0xA2, 0xA6, 0xAF])
"""Third byte of the spaces of U+2000, the dashes, the double quotes, the bullet, the ellipsis, U+202F."""
_DIGIT, _LETTER, _HIGH = 1, 2, 3  # and 0 for what separates
_CLASS = np.zeros(256, dtype=np.uint8)
_CLASS[ord("0") : ord("9") + 1] = _DIGIT
_CLASS[ord("a") : ord("z") + 1] = _LETTER
_CLASS[128:] = _HIGH

_MARKS_OF_LETTERS = "".join(c for c in map(chr, range(0x300, 0x3100)) if unicodedata.category(c)[0] == "M")
_WORD = rf"[^\W_](?:[^\W_]|[{_MARKS_OF_LETTERS}])*"
_TOKEN = re.compile(
    r"(?<![^\W_])[a-z]{1,2}-[0-9]+(?:\.[0-9]+)*(?![^\W_])"  # chapter of a statute: c-46, p-40.1
    r"|(?<![0-9,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])"  # 5,000
    r"|[0-9]+(?:\.[0-9]+)+"  # 163.1
    rf"|{_WORD}(?:'{_WORD})*"
    r"|§"
)
_ELISION = re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'(?=.)")

_SECTION = frozenset({"s", "ss", "sec", "section", "sections", "§", "art", "article", "articles"})
_COURT_CODES = """
    scc csc fca caf fc cf fct cfpi tcc cci cmac cacm chrt tcdp sst tss citt tcce cirb ccri pslreb
    fpslreb bcca bcsc bcpc bchrt abca abqb abkb abpc abcj skca skqb skkb skpc mbca mbqb mbkb mbpc onca
    onsc oncj onscdc onltb hrto qcca qccs qccq qctdp qctal qctat qccm nbca nbqb nbkb nbpc nsca nssc nspc
    nsfc nssm peca pesc pescad pesctd pepc nlca nlsc nltd nlpc nfca ykca yksc yktc yksm nwtca nwtsc
    nwttc nuca nucj
"""
_COURTS = frozenset(_COURT_CODES.split())
_YEAR = re.compile(r"(?:1[89]|20)[0-9]{2}")


def _folded(raw: str) -> tuple[str, list[tuple[int, int]]]:
    """The case-folded normal form of a chunk, and for each of its characters the span that it came from."""
    if raw.isascii():
        return raw.lower(), [(i, i + 1) for i in range(len(raw))]
    out: list[str] = []
    spans: list[tuple[int, int]] = []
    i = 0
    while i < len(raw):
        j = i + 1
        while j < len(raw) and (unicodedata.combining(raw[j]) or "\u1160" <= raw[j] <= "\u11ff"):
            j += 1  # a letter and its marks (or a Hangul syllable) are one character of the normal form
        part = unicodedata.normalize("NFC", unicodedata.normalize("NFC", raw[i:j]).casefold())
        part = part.translate(FOLD).translate(_LIGATURES)
        out.append(part)
        spans += [(i, j)] * len(part)
        i = j
    return "".join(out), spans


def _legal_chunks(buffer: Bytes) -> None:
    """Decide in place, by its neighbours, whether a mark between two words joins them or parts them.

    Quotation marks, dashes and no-break spaces part in any case; left in, they would make a new chunk of every
    word that they touch.
    """
    at = np.flatnonzero(buffer == 0xC2)
    at = at[_PARTS_C2[buffer[at + 1]]]
    buffer[at] = buffer[at + 1] = SPACE
    at = np.flatnonzero(buffer == 0xE2)
    at = at[buffer[at + 1] == 0x80]
    at = at[_PARTS_E280[buffer[at + 2]]]
    buffer[at] = buffer[at + 1] = buffer[at + 2] = SPACE
    at = np.flatnonzero(buffer < SPACE)
    mark, before, after = buffer[at], _CLASS[buffer[at - 1]], _CLASS[buffer[at + 1]]
    joins = (mark == _APOSTROPHE) & (before >= _LETTER) & (after >= _LETTER)
    joins |= ((mark == _COMMA) | (mark == _STOP)) & (before == _DIGIT) & (after == _DIGIT)
    joins |= (mark == _HYPHEN) & (before == _LETTER) & (after == _DIGIT)
    buffer[at] = _BACK[np.where(joins, mark, 0)]


def _legal_split(chunk: str) -> list[Token]:
    """Tokens of one chunk, offsets within the chunk."""
    folded, spans = _folded(chunk)
    found = []
    for match in _TOKEN.finditer(folded):
        start, end = match.span()
        word = match.group()
        if word[0] in "0123456789":
            word = word.replace(",", "")
        elif "'" in word:
            elided = _ELISION.match(word)
            start += elided.end() if elided else 0
            end -= 2 if word.endswith("'s") and end - start > 2 else 0
            word = folded[start:end]
        found.append(Token(word, spans[start][0], spans[end - 1][1]))
    return found


def _ascii_split(chunk: str) -> list[Token]:
    """The chunk itself."""
    return [Token(chunk, 0, len(chunk))]


def _ascii_bytes(text: str) -> bytes:
    """One byte a character; the two whose lower case reaches into ASCII are lowered first (`İ` to two)."""
    if "\u212a" in text or "\u0130" in text:
        text = text.replace("\u212a", "k").replace("\u0130", "i ")
    return text.encode("latin-1", "replace")  # faster than ASCII, and all beyond ASCII separates in the end


def _legal_bytes(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which no file should hold, separates like any symbol."""
    return text.encode("utf-8", "surrogatepass")


def _ascii_origins(text: str, data: bytes) -> Ints:
    """For each byte, the character that it came from."""
    if "\u0130" not in text:
        return np.arange(len(data) + 1)
    widths = np.fromiter((1 + (c == "\u0130") for c in text), dtype=np.int64, count=len(text))
    return np.append(np.repeat(np.arange(len(text)), widths), len(text))


def _legal_origins(text: str, data: bytes) -> Ints:
    """For each byte, the character that it came from."""
    first = (np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80
    return np.append(np.cumsum(first) - 1, len(text))


class Rules(NamedTuple):
    """A tokenizer: how it goes to bytes, parts chunks, splits a chunk, and whether it adds joined tokens."""

    to_bytes: Callable[[str], bytes]
    origins: Callable[[str, bytes], Ints]
    table: bytes
    chunks: Callable[[Bytes], None] | None
    split: Callable[[str], list[Token]]
    adds_joined: bool


RULES = {
    "legal": Rules(_legal_bytes, _legal_origins, _LEGAL_TABLE, _legal_chunks, _legal_split, True),
    "ascii": Rules(_ascii_bytes, _ascii_origins, _ASCII_TABLE, None, _ascii_split, False),
}


_S, _N, _Y, _C = 1, 2, 4, 8  # roles of a term: marks a section; starts with a digit; a year; a court


def joins(lookup: dict[str, int], codes: Codes, ends: Ints) -> tuple[Ints, Ints, Codes]:
    """After which tokens a joined one follows, how many it joins, and its code; new terms go into `lookup`."""
    found = list(lookup)
    role = np.zeros(len(found), dtype=np.uint8)
    for names, mark in ((_SECTION, _S), (_COURTS, _C)):
        role[[lookup[name] for name in names if name in lookup]] = mark
    for i in [i for i, term in enumerate(found) if "0" <= term < ":"]:
        role[i] = _N | (_Y if _YEAR.fullmatch(found[i]) else 0)
    roles = np.append(role[codes], 0)
    head = np.flatnonzero(roles & _S)
    head = head[roles[head + 1] & _N != 0]
    court = np.flatnonzero(roles & _C)
    court = court[(roles[court - 1] & _Y != 0) & (roles[court + 1] & _N != 0) & (court > 0)]
    at = np.concatenate([head, court]) + 1
    width = np.repeat([2, 3], [len(head), len(court)])
    whole = np.searchsorted(ends, at - width + 1, "right") == np.searchsorted(ends, at, "right")
    at, width = at[whole], width[whole]
    order = np.argsort(at)
    at, width = at[order], width[order]
    new = []
    for i, n in zip(at.tolist(), width.tolist(), strict=True):
        words = [found[c] for c in codes[i - n + 1 : i + 1]]
        term = "".join(words) if n == 3 else f"s.{words[1]}"
        new.append(lookup.setdefault(term, len(lookup)))
    return at, width, np.array(new, dtype=np.int32)
