"""Tokens and normal forms, offsets kept: what a word is, for everything that counts or compares words."""

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, count, repeat
from typing import NamedTuple

import numpy as np

from canlegalrag.errors import InputError
from canlegalrag.text_rules import FOLD, ODD, RULES, SPACE, Bytes, Codes, Ints, Rules, Token, joins

__all__ = ["TOKENIZERS", "Encoded", "Token", "encode", "normalise", "terms", "tokens"]

TOKENIZERS = ("legal", "ascii")
"""Names that a tokenizer is chosen by; the first is the default."""


class Encoded(NamedTuple):
    """Tokens of many texts as integers: what an index is built from."""

    terms: list[str]
    """Distinct tokens; a code is a position in this list."""
    codes: Codes
    """Codes of all tokens in reading order, text after text."""
    ends: Ints
    """For each text, one past its last token in `codes`."""


def normalise(text: str) -> str:
    """Bring a text to one spelling, case kept: NFC, plain spaces, hyphens and apostrophes, nothing invisible.

    Every run of white space (no-break spaces and line ends too) becomes one space. Offsets are lost: use it to
    compare, not to point.

    >>> normalise("L\u2019article\u00a07,  c. C\u201146")
    "L'article 7, c. C-46"
    """
    return " ".join(unicodedata.normalize("NFC", text.translate(FOLD)).split())


def _rules(name: str) -> Rules:
    """The tokenizer of that name.

    Raises:
        InputError: no tokenizer has the name.
    """
    rules = RULES.get(name) if isinstance(name, str) else None
    if rules is None:
        raise InputError("tokenizer", f"there is no {name!r}", f"one of: {', '.join(TOKENIZERS)}")
    return rules


def _chunked(data: Sequence[bytes], rules: Rules) -> tuple[Bytes, Ints]:
    """Byte buffer with a space around every chunk, and where each chunk starts."""
    joined = b" ".join((b"", *data, b"")).translate(rules.table)
    if rules.chunks is None:
        buffer = np.frombuffer(joined, dtype=np.uint8)
    else:
        buffer = np.frombuffer(bytearray(joined), dtype=np.uint8)
        rules.chunks(buffer)
    inside = buffer != SPACE
    return buffer, np.flatnonzero(inside[1:] > inside[:-1]) + 1


def tokens(text: str, tokenizer: str = "legal") -> list[Token]:
    """Cut a text into tokens with their offsets in it.

    `legal` (the default) reads NFC letters with their accents, lower-cased, and knows what the law writes:

    - `C-46`, `P-40.1`, `163.1` and `$5,000` are one token each (`c-46 p-40.1 163.1 5000`);
    - `§` is a token, and a section adds a token of its own after the words: `s. 7`, `section 7`, `§ 7` and
      `art. 7` all add `s.7`; a neutral citation likewise: `2021 BCSC 90014` adds `2021bcsc90014`;
    - French elisions and the English possessive fall away (`l'avocat`, `court's`), `don't` stays;
    - no-break spaces, U+2011 hyphens, curly apostrophes, `œ` and soft hyphens are read as what they stand for.

    `ascii` is the paper's: lower case, and whatever is outside `a-z0-9` separates.

    Args:
        text: any text.
        tokenizer: one of `TOKENIZERS`.

    Returns:
        Tokens in reading order; a joined token (`s.7`) follows the last of its words and spans them all.

    Raises:
        InputError: no tokenizer has the name.

    >>> [t.text for t in tokens("L’employé, s. 7 of the Code, c. C‑46: don't")]
    ['employé', 's', '7', 's.7', 'of', 'the', 'code', 'c', 'c-46', "don't"]
    >>> tokens("Québec", "ascii")
    [Token(text='qu', start=0, end=2), Token(text='bec', start=3, end=6)]
    """
    rules = _rules(tokenizer)
    data = rules.to_bytes(text)
    buffer, starts = _chunked([data], rules)
    origin = rules.origins(text, data)
    found: list[Token] = []
    for start, chunk in zip((starts - 1).tolist(), buffer.tobytes().split(), strict=True):
        if chunk.isalnum():
            end = int(origin[start + len(chunk) - 1]) + 1
            found.append(Token(chunk.decode(), int(origin[start]), end))
            continue
        for token in rules.split(chunk.decode("utf-8", "surrogatepass")):
            first = int(origin[start])
            found.append(Token(token.text, first + token.start, first + token.end))
    return _with_joins(found) if rules.adds_joined else found


def terms(text: str, tokenizer: str = "legal") -> list[str]:
    """The normal forms of `tokens(text, tokenizer)`.

    >>> terms("2021 BCSC 90014")
    ['2021', 'bcsc', '90014', '2021bcsc90014']
    """
    coded = encode([text], tokenizer)
    return [coded.terms[code] for code in coded.codes]


def encode(texts: Sequence[str], tokenizer: str = "legal") -> Encoded:
    """Cut many texts at once: the tokens of `tokens`, some twenty times as fast, without offsets.

    Give it a few megabytes at a time; it holds about ten bytes a character while it works.

    Args:
        texts: any texts.
        tokenizer: one of `TOKENIZERS`.

    Raises:
        InputError: no tokenizer has the name.

    >>> coded = encode(["Tenant v. Landlord", "The tenant"])
    >>> coded.terms, coded.codes.tolist(), coded.ends.tolist()
    (['tenant', 'v', 'landlord', 'the'], [0, 1, 2, 3, 0], [3, 5])
    """
    rules = _rules(tokenizer)
    data = [rules.to_bytes(text) for text in texts]
    buffer, starts = _chunked(data, rules)
    borders = np.cumsum([len(d) + 1 for d in data], dtype=np.int64)
    ends = np.searchsorted(starts, borders)
    chunks, odd, coded = _distinct(buffer, starts)
    lookup, codes, ends = _expanded(chunks, odd, coded, ends)
    if rules.adds_joined:
        at, _, new = joins(lookup, codes, ends)
        codes, ends = np.insert(codes, at + 1, new), ends + np.searchsorted(at, ends)
    return Encoded(list(lookup), codes, ends)


def _distinct(buffer: Bytes, starts: Ints) -> tuple[list[str], list[int], Codes]:
    """Chunks (nearly distinct: the spaces after one tell it from its like), the odd ones, the code of each."""
    import pyarrow as pa

    if not len(starts):
        return [], [], np.zeros(0, dtype=np.int32)
    wide = len(buffer) > np.iinfo(np.int32).max
    offsets = np.empty(len(starts) + 1, dtype=np.int64 if wide else np.int32)
    offsets[:-1], offsets[-1] = starts, len(buffer)
    parts = [None, pa.py_buffer(offsets), pa.py_buffer(buffer)]
    array = pa.Array.from_buffers(pa.large_binary() if wide else pa.binary(), len(starts), parts)
    coded = array.dictionary_encode()
    _, places, data = coded.dictionary.buffers()
    first = np.frombuffer(places, dtype=offsets.dtype)[: len(coded.dictionary)]
    odd = np.flatnonzero(np.logical_or.reduceat(ODD[np.frombuffer(data, dtype=np.uint8)], first))
    chunks = b" ".join(data.to_pybytes().split()).decode("utf-8", "surrogatepass").split(" ")
    return chunks, odd.tolist(), coded.indices.to_numpy()


def _expanded(chunks: list[str], odd: list[int], coded: Codes, ends: Ints) -> tuple[dict[str, int], Codes, Ints]:
    """Terms, codes and ends of tokens out of those of chunks; a chunk that isn't odd is its own token."""
    many = {}
    for i in odd:
        words = _legal_terms(chunks[i])
        chunks[i] = words[0] if words else ""
        if len(words) != 1:
            many[i] = words
    if not many:  # nothing to part or to drop
        known: dict[str, int] = defaultdict(count().__next__)
        first = np.fromiter(map(known.__getitem__, chunks), dtype=np.int32, count=len(chunks))
        return dict(known), first.take(coded), ends
    seen = filter(None, dict.fromkeys(chain(chunks, *many.values())))  # "" stands for a chunk without any
    lookup = dict(zip(seen, count()))
    first = np.fromiter(map(lookup.get, chunks, repeat(0)), dtype=np.int32, count=len(chunks))
    size = np.ones(len(chunks), dtype=np.int64)
    size[list(many)] = [len(words) for words in many.values()]
    flat = np.repeat(first, size)
    begin = np.cumsum(size) - size
    for i, words in many.items():
        flat[begin[i] : begin[i] + len(words)] = [lookup[word] for word in words]
    each = size[coded]
    past = np.append(0, np.cumsum(each))
    place = np.repeat(begin[coded] - past[:-1], each) + np.arange(past[-1])
    return lookup, flat[place], past[ends]


@lru_cache(maxsize=65_536)
def _legal_terms(chunk: str) -> tuple[str, ...]:
    """The split of a chunk without its offsets, remembered: the same odd chunks come again in every batch."""
    return tuple(token.text for token in RULES["legal"].split(chunk))


def _with_joins(found: list[Token]) -> list[Token]:
    """Add the token of each section and of each neutral citation after its last word."""
    code = {name: i for i, name in enumerate(dict.fromkeys(token.text for token in found))}
    codes = np.array([code[token.text] for token in found], dtype=np.int32)
    at, width, new = joins(code, codes, np.array([len(found)]))
    names = list(code)
    for i, n, c in reversed(list(zip(at.tolist(), width.tolist(), new.tolist(), strict=True))):
        found.insert(i + 1, Token(names[c], found[i - n + 1].start, found[i].end))
    return found
