"""Models that are no models, for tests and the first run: hashed words, shared words, sentences picked out, rules.

They need nothing but this package, give the same output on every machine, and say so in their names.
"""

import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from canlegalrag import text
from canlegalrag.backends._checks import check_kind, check_positive, texts_of, unit_rows
from canlegalrag.backends._counts import Counts
from canlegalrag.backends._lexical_judge import Lexical
from canlegalrag.backends._lexical_sorter import Rules
from canlegalrag.backends._needs import Needs
from canlegalrag.errors import InputError
from canlegalrag.judging.sentences import spans
from canlegalrag.protocols import Kind
from canlegalrag.types import Completion, Prompt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from canlegalrag.calls import Calls
    from canlegalrag.judging.sentences import Sentences

    Words = NDArray[np.uint64]

__all__ = [
    "Extractive",
    "Hashing",
    "Overlap",
    "decomposer",
    "embedder",
    "generator",
    "judge",
    "needs",
    "reranker",
    "sorter",
]

_NAMES = {
    "embedder": "hashing",
    "reranker": "overlap",
    "generator": "extractive",
    "judge": "lexical",
    "decomposer": "sentences",
    "sorter": "rules",
}
_BLOCK = 1 << 21  # characters read at a time
_SENTENCES = 5  # that an answer has, at most
_QUESTION = re.compile(r"^question:[ \t]*(.*?)(?=^passages:|\Z)", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_PASSAGES = re.compile(r"^passages:[ \t]*(.*?)(?=^question:|\Z)", re.IGNORECASE | re.MULTILINE | re.DOTALL)


def embedder(model: str, calls: "Calls | None" = None, *, dim: int = 512) -> "Hashing":
    """`offline/hashing`."""
    _check(model, "embedder")
    return Hashing(dim)


def reranker(model: str, calls: "Calls | None" = None) -> "Overlap":
    """`offline/overlap`."""
    _check(model, "reranker")
    return Overlap()


def generator(model: str, calls: "Calls | None" = None) -> "Extractive":
    """`offline/extractive`."""
    _check(model, "generator")
    return Extractive()


def judge(model: str, calls: "Calls | None" = None) -> Lexical:
    """`offline/lexical`: a stand-in, whose figures are no more than that."""
    _check(model, "judge")
    return Lexical()


def decomposer(model: str, calls: "Calls | None" = None) -> "Sentences":
    """`offline/sentences`."""
    from canlegalrag.judging.sentences import Sentences

    _check(model, "decomposer")
    return Sentences()


def sorter(model: str, calls: "Calls | None" = None) -> Rules:
    """`offline/rules`: a stand-in, as the judge."""
    _check(model, "sorter")
    return Rules()


def needs(model: str, role: str) -> Needs:
    """Nothing."""
    _check(model, role)
    return Needs(note="for tests and the first run")


def _check(model: str, role: str) -> None:
    if model != _NAMES[role]:
        raise InputError(f"offline/{model}", f"is no {role}", f"offline/{_NAMES[role]} is one")


class Hashing:
    """Embeds a text as its hashed words and pairs of neighbouring words, without any training.

    Each distinct word and pair w adds sign(w) (1 + ln tf(w)) to one of the dimensions, chosen by its hash.
    """

    def __init__(self, dim: int = 512) -> None:
        check_positive("offline/hashing", "dim", dim)
        self._dim = dim
        self._counts = Counts("texts", "truncated")

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its vectors depend on."""
        return {"model": "offline/hashing", "revision": "1", "dim": self._dim, "window": None, "tokenizer": "legal"}

    @property
    def counts(self) -> Mapping[str, int]:
        """Texts so far; none is ever truncated."""
        return self._counts.now()

    def embed(self, texts: Sequence[str], *, kind: Kind) -> "NDArray[np.float32]":
        """Embed texts, queries and documents alike; a text without words is a row of zeros."""
        given = texts_of("offline/hashing", texts)
        check_kind("offline/hashing", kind)
        rows = np.zeros((len(given), self._dim), dtype=np.float32)
        start = 0
        while start < len(given):
            end, size = start, 0
            while end < len(given) and (end == start or size + len(given[end]) <= _BLOCK):
                size += len(given[end])
                end += 1
            rows[start:end] = self._block(given[start:end])
            start = end
        self._counts.add(texts=len(given))
        return unit_rows("offline/hashing", given, rows, dim=self._dim)

    def _block(self, texts: list[str]) -> "NDArray[np.float64]":
        coded = text.encode(texts)
        sizes = np.diff(coded.ends, prepend=0)
        row = np.repeat(np.arange(len(texts), dtype=np.int64), sizes)
        words = np.array([_hash(term) for term in coded.terms], dtype=np.uint64)[coded.codes]
        # A pair is of one text; the product is odd, so that "a b" and "b a" fall apart.
        together = np.flatnonzero(row[1:] == row[:-1])
        pairs = _mix(words[together] * np.uint64(0x9E3779B97F4A7C15) + words[together + 1])
        features = np.concatenate([words, pairs])
        rows = np.concatenate([row, row[together]])
        order = np.lexsort((features, rows))
        features, rows = features[order], rows[order]
        first = np.flatnonzero(np.r_[True, (features[1:] != features[:-1]) | (rows[1:] != rows[:-1])][: len(rows)])
        often = np.diff(np.append(first, len(rows)))
        features, rows = features[first], rows[first]
        sign = np.where(features >> np.uint64(63), 1.0, -1.0)
        slot = (features % np.uint64(self._dim)).astype(np.int64)
        weights = sign * (1.0 + np.log(np.maximum(often, 1)))
        flat = np.bincount(rows * self._dim + slot, weights=weights, minlength=len(texts) * self._dim)
        return flat.astype(np.float64, copy=False).reshape(len(texts), self._dim)


def _hash(term: str) -> int:
    """64 bits that are the same in every process, unlike `hash`."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _mix(values: "Words") -> "Words":
    """Spread what differs in a few bits over all 64 (the finaliser of MurmurHash3, which is in the public domain)."""
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    mixed: Words = values ^ (values >> np.uint64(33))
    return mixed


def _overlaps(query: str, texts: Sequence[str]) -> list[float]:
    """Ochiai coefficient of the distinct words of a query and of each text: |Q ∩ T| / sqrt(|Q| |T|), 0 without words.

    A text has more distinct words the longer it is, but only by about the root of its length; so a long text gains
    by what it covers and loses little by its length.
    """
    coded = text.encode([query, *texts])
    row = np.repeat(np.arange(len(texts) + 1, dtype=np.int64), np.diff(coded.ends, prepend=0))
    width = max(1, len(coded.terms))
    distinct = np.unique(row * width + coded.codes)
    row, code = distinct // width, distinct % width
    asked = np.zeros(width, dtype=bool)
    asked[code[row == 0]] = True
    size = np.bincount(row, minlength=len(texts) + 1)
    shared = np.bincount(row, weights=asked[code], minlength=len(texts) + 1)
    root = np.sqrt(np.maximum(1, size[0] * size[1:]))
    found: list[float] = (shared[1:] / root).tolist()
    return found


class Overlap:
    """Scores a text by the words that it shares with the query, in [0, 1] (see `_overlaps`)."""

    def __init__(self) -> None:
        self._counts = Counts("texts", "truncated")

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its scores depend on."""
        return {"model": "offline/overlap", "revision": "1", "window": None, "tokenizer": "legal"}

    @property
    def counts(self) -> Mapping[str, int]:
        """Texts so far; none is ever truncated."""
        return self._counts.now()

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score each text for the query."""
        given = texts_of("offline/overlap", texts)
        texts_of("offline/overlap", [query])
        self._counts.add(texts=len(given))
        return _overlaps(query, given)


class Extractive:
    """Answers with the sentences of the passages that share most words with the question, in reading order.

    The question is what follows a line `Question:` in the prompt, the passages what follows `Passages:`; without these
    lines, the whole prompt is both. A token is a word here.
    """

    def __init__(self) -> None:
        self._counts = Counts("texts", "truncated", "tokens")

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its answers depend on."""
        return {"model": "offline/extractive", "revision": "2", "sentences": _SENTENCES, "window": None}

    @property
    def counts(self) -> Mapping[str, int]:
        """Prompts so far (`texts`) and the words in them (`tokens`)."""
        return self._counts.now()

    def tokens(self, text: str) -> int:
        """Tokens of a text, which are words here."""
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answer each prompt.

        Raises:
            InputError: a prompt wants JSON, which can't be picked out of a text.
        """
        for prompt in prompts:
            texts_of("offline/extractive", [prompt.user, prompt.system])
            check_positive("offline/extractive", "max_tokens", prompt.max_tokens)
            if prompt.schema is not None:
                raise InputError("offline/extractive", "can't follow a JSON schema", "use a generator that is a model")
        return [self._answer(prompt) for prompt in prompts]

    def _answer(self, prompt: Prompt) -> Completion:
        begun = time.perf_counter()
        asked, given = _QUESTION.search(prompt.user), _PASSAGES.search(prompt.user)
        question = asked[1].strip() if asked else prompt.user
        passages = given[1] if given else prompt.user
        sentences = list(dict.fromkeys(passages[start:end] for start, end in spans(passages)))
        scores = _overlaps(question, sentences)
        best = [i for i in sorted(range(len(sentences)), key=lambda i: -scores[i]) if scores[i] > 0][:_SENTENCES]
        kept: dict[int, str] = {}
        room, full = prompt.max_tokens, False
        for i in best:
            words = sentences[i].split()
            full = full or len(words) > room
            if room > 0:
                kept[i] = " ".join(words[:room])
                room -= len(words)
        answer = " ".join(kept[i] for i in sorted(kept))
        read = len(prompt.user.split()) + len(prompt.system.split())
        self._counts.add(texts=1, tokens=read)
        usage = {"input_tokens": read, "output_tokens": len(answer.split()), "cost": 0.0}
        usage["seconds"] = round(time.perf_counter() - begun, 6)
        return Completion(answer, "empty" if not answer else "length" if full else "stop", usage=usage)
