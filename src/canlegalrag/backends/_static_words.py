"""From texts to sums of token vectors: what a static embedding is before it is brought to length 1."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["Sums", "TokenSums", "WordSums"]

_SPACE, _LOW_LINE = 0x20, "\u2581"
_KINDS = np.full(256, 4, dtype=np.uint8)  # of bytes: 0 letter or digit, 1 other ASCII, 2 space, 3 line end, 4 the rest
_KINDS[:128] = [0 if chr(byte).isalnum() else 1 for byte in range(128)]
_KINDS[[_SPACE, 0x0A]] = 2, 3
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
_BLOCK = 1 << 22  # characters whose words are looked up at a time
_KEPT = 1 << 17  # distinct words that are remembered; at 256 dimensions they take 134 MB


@dataclass(frozen=True, slots=True)
class Sums:
    """What a text is made of."""

    vectors: "Floats"
    """(texts, dimensions): the sum of the vectors of each text's tokens."""
    tokens: "Ints"
    """(texts,): how many tokens that is."""
    truncated: int
    """How many texts were longer than the window."""


def _sums(table: "Floats", codes: "Ints", ends: "Ints", keys: "Keys | None" = None) -> "Floats":
    """For each text, the sum of the rows of `table` that it names; each distinct row is read once a text.

    Text by text, and in the order of the `keys` of rows, to the last digit: where the place of a row in the table
    depends on what was read before, a text would otherwise not have the same vector in any company.
    """
    sums = np.zeros((len(ends), table.shape[1]), dtype=np.float32)
    start = 0
    for i, end in enumerate(ends.tolist()):
        if end > start:
            distinct, often = np.unique(codes[start:end], return_counts=True)
            if keys is not None:
                order = np.argsort(keys[distinct])
                distinct, often = distinct[order], often[order]
            np.dot(often.astype(np.float32), table.take(distinct, axis=0), out=sums[i])
        start = end
    return sums


class TokenSums:
    """Sums with any tokenizer, each text cut into tokens on its own, as model2vec does it."""

    def __init__(self, model: Any) -> None:
        """`model` is a loaded `model2vec.StaticModel`: a token's vector may be shared, and weighted."""
        table = np.asarray(model.embedding, dtype=np.float32)
        if model.token_mapping is not None:
            table = table[model.token_mapping]
        if model.weights is not None:
            table = table * np.asarray(model.weights, dtype=np.float32)[:, None]
        self.dim = int(table.shape[1])
        self.window: int | None = model.max_length
        self._table = np.ascontiguousarray(table)
        self._tokenizer, self._unknown = model.tokenizer, model.unk_token_id
        # The package cuts characters first, at the window times the usual length of a token.
        self._characters = None if self.window is None else self.window * model.median_token_length

    def __call__(self, texts: Sequence[str]) -> Sums:
        """Sum the vectors of the tokens of each text."""
        cut = [text[: self._characters] for text in texts]
        encodings = self._tokenizer.encode_batch_fast(cut, add_special_tokens=False)
        codes = [np.asarray(encoding.ids, dtype=np.int64) for encoding in encodings]
        truncated = sum(
            len(short) < len(text) or bool(encoding.overflowing)
            for short, text, encoding in zip(cut, texts, encodings, strict=True)
        )
        if self._unknown is not None:
            codes = [ids[ids != self._unknown] for ids in codes]
        tokens = np.array([len(ids) for ids in codes], dtype=np.int64)
        flat = np.concatenate([*codes, np.zeros(0, dtype=np.int64)])
        return Sums(_sums(self._table, flat, np.cumsum(tokens)), tokens, truncated)


class WordSums:
    """Sums with a tokenizer of Llama's kind, many times as fast as it, with the same tokens.

    Such a tokenizer reads a text as one long string, but none of its tokens reaches over certain places: before a space
    that follows something else, before a line end, and where a letter or digit is followed by anything else of ASCII.
    So the tokens of a text are those of the words between such places, each with what stands before it, and a word is
    cut into tokens once however often it comes. `suits` checks that it is so.
    """

    def __init__(self, table: "Floats", tokenizer: Any) -> None:
        self.dim = int(table.shape[1])
        self.window = None
        self._tokens, self._tokenizer = table, tokenizer
        self._lone = tokenizer.token_to_id(_LOW_LINE)
        self._special = [str(token.content) for token in tokenizer.get_added_tokens_decoder().values()]
        self._known: dict[bytes, int] = {}  # word -> row
        self._table = np.zeros((1024, self.dim), dtype=np.float32)
        self._sizes = np.zeros(1024, dtype=np.int64)  # tokens of a word
        self._blocks = np.zeros(1024, dtype=np.int64)  # in how many blocks it came
        self._keys = np.zeros(1024, dtype=np.uint64)  # hash of a word: the order of sums, whenever it was learnt

    @staticmethod
    def suits(tokenizer: Any) -> bool:
        """Whether the tokens of a text are those of its words."""
        over = re.compile(f"[^{_LOW_LINE}]{_LOW_LINE}|[\n ]|[0-9A-Za-z](?![0-9A-Za-z])[\\x00-\\x7f]")
        normalizer = json.loads(tokenizer.to_str())["normalizer"]
        puts_space = [part.get("prepend") for part in normalizer.get("normalizers", [])][:1] == [_LOW_LINE]
        vocabulary = tokenizer.get_vocab(with_added_tokens=False)
        own = {str(token.content) for token in tokenizer.get_added_tokens_decoder().values()}
        return puts_space and not any(
            over.search(token) for token in vocabulary if token not in own and not _BYTE.fullmatch(token)
        )

    def __call__(self, texts: Sequence[str]) -> Sums:
        """Sum the vectors of the tokens of each text."""
        sums = np.zeros((len(texts), self.dim), dtype=np.float32)
        tokens = np.zeros(len(texts), dtype=np.int64)
        start = 0
        while start < len(texts):
            end, size = start, 0
            while end < len(texts) and (end == start or size + len(texts[end]) <= _BLOCK):
                size += len(texts[end])
                end += 1
            sums[start:end], tokens[start:end] = self._block(texts[start:end])
            start = end
        for i, text in enumerate(texts):
            if any(special in text for special in self._special):  # after one, a space is no longer part of a word
                ids = np.asarray(self._tokenizer.encode(text, add_special_tokens=False).ids, dtype=np.int64)
                sums[i : i + 1], tokens[i] = _sums(self._tokens, ids, np.array([len(ids)])), len(ids)
        return Sums(sums, tokens, 0)

    def _block(self, texts: Sequence[str]) -> tuple["Floats", "Ints"]:
        words, local, ends = _words(texts)
        if len(self._known) + len(words) > _KEPT:
            self._forget()
        self._learn([word for word in words if word not in self._known])
        rows = np.array([self._known[word] for word in words], dtype=np.int64)
        self._blocks[rows] += 1
        codes = rows[local]
        tokens = np.diff(np.append(0, np.cumsum(self._sizes[codes]))[ends], prepend=0)
        return _sums(self._table, codes, ends, self._keys), tokens

    def _forget(self) -> None:
        """Keep the words that came more than once since the last time; they are the common ones."""
        kept = np.flatnonzero(self._blocks[: len(self._known)] > 1)
        kept = kept if len(kept) <= _KEPT // 2 else kept[:0]
        words = list(self._known)
        self._known = {words[i]: row for row, i in enumerate(kept.tolist())}
        self._table[: len(kept)], self._sizes[: len(kept)] = self._table[kept], self._sizes[kept]
        self._keys[: len(kept)] = self._keys[kept]
        self._blocks[:] = 0
        self._blocks[: len(kept)] = 1

    def _learn(self, words: list[bytes]) -> None:
        """Add rows to the table: the vectors of a word's tokens, summed in their order."""
        if not words:
            return
        cut = self._tokenizer.encode_batch_fast([_asked(word) for word in words], add_special_tokens=False)
        ids = []
        for word, encoding in zip(words, cut, strict=True):
            ids.append([self._lone] if word == b" " else encoding.ids[0 if word[0] == _SPACE else 2 :])
        first, last = len(self._known), len(self._known) + len(words)
        if last > len(self._table):
            room = max(last, 2 * len(self._table)) - len(self._table)
            self._table = np.concatenate([self._table, np.zeros((room, self.dim), dtype=np.float32)])
            self._sizes = np.concatenate([self._sizes, np.zeros(room, dtype=np.int64)])
            self._blocks = np.concatenate([self._blocks, np.zeros(room, dtype=np.int64)])
            self._keys = np.concatenate([self._keys, np.zeros(room, dtype=np.uint64)])
        sizes = np.array([len(i) for i in ids], dtype=np.int64)
        self._sizes[first:last] = sizes
        self._keys[first:last] = [_hash(word) for word in words]
        for size in np.unique(sizes).tolist():
            same, step = np.flatnonzero(sizes == size), max(1, 8192 // size)
            for part in (same[at : at + step] for at in range(0, len(same), step)):
                coded = np.array([ids[i] for i in part.tolist()], dtype=np.int64)
                self._table[first + part] = self._tokens[coded].sum(axis=1, dtype=np.float32)
        self._known.update(zip(words, range(first, last), strict=True))


def _hash(word: bytes) -> int:
    return int.from_bytes(blake2b(word, digest_size=8).digest(), "little")


def _asked(word: bytes) -> str:
    """What to give the tokenizer for a word.

    It puts a space before everything by itself. What doesn't begin with one is asked for after a line end, and the two
    tokens of these are left out.
    """
    return word.decode()[1:] if word[0] == _SPACE else "\n" + word.decode()


def _words(texts: Sequence[str]) -> tuple[list[bytes], "Ints", "Ints"]:
    """Distinct words, the code of each word in reading order, where each text ends."""
    import pyarrow as pa

    data = [(" " + text.replace(_LOW_LINE, " ")).encode() if text else b"" for text in texts]
    buffer = np.frombuffer(b"".join(data), dtype=np.uint8)
    borders = np.cumsum([len(d) for d in data], dtype=np.int64)
    if not len(buffer):
        return [], np.zeros(0, dtype=np.int64), np.zeros(len(texts), dtype=np.int64)
    kind = _KINDS[buffer]
    begins = kind == 3
    begins[0] = True
    begins[1:] |= (kind[1:] == 2) & (kind[:-1] != 2) | (kind[1:] == 1) & (kind[:-1] == 0)
    begins[borders[borders < len(buffer)]] = True  # the space before a text, whatever the last one ended with
    starts = np.flatnonzero(begins)
    ends = np.searchsorted(starts, borders)
    offsets = np.append(starts, len(buffer))
    parts = [None, pa.py_buffer(offsets), pa.py_buffer(buffer)]
    array = pa.Array.from_buffers(pa.large_binary(), len(starts), parts).dictionary_encode()
    return array.dictionary.to_pylist(), array.indices.to_numpy().astype(np.int64), ends
