"""Passages out of documents: where to cut, with character offsets into the original text."""

import operator
from dataclasses import dataclass
from typing import overload

from canlegalrag.chunking.fixed import windows
from canlegalrag.chunking.natural import cut_naturally
from canlegalrag.chunking.paper import paper_pieces
from canlegalrag.chunking.rcts import cut_by_separators
from canlegalrag.errors import InputError
from canlegalrag.types import Document, Passage

__all__ = ["METHODS", "Chunking", "paper_texts", "parse", "passages", "spans"]

METHODS = ("recursive", "fixed", "whole", "paper", "rcts")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chunking:
    """One way of cutting documents; `str()` gives the short form that `parse` reads.

    >>> cut = parse("recursive:1024:128")
    >>> cut.method, cut.size, cut.overlap, str(cut)
    ('recursive', 1024, 128, 'recursive:1024:128')
    >>> cut("Short text.")
    [(0, 11)]
    """

    method: str = "recursive"
    """One of `METHODS`."""
    size: int = 1024
    """Characters a passage may have at most; 0 for `whole`."""
    overlap: int = 128
    """Characters that a passage may share with the one before it; 0 for `whole`."""

    def __post_init__(self) -> None:
        _check_method(self.method)
        size, overlap = (0, 0) if self.method == "whole" else _checked(self.size, self.overlap)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "overlap", overlap)

    def __str__(self) -> str:
        """The short form: `whole`, `fixed:1024:128`."""
        return self.method if self.method == "whole" else f"{self.method}:{self.size}:{self.overlap}"

    @overload
    def __call__(self, source: Document) -> list[Passage]: ...
    @overload
    def __call__(self, source: str) -> list[Span]: ...
    def __call__(self, source: Document | str) -> list[Passage] | list[Span]:
        """Cut a document into passages, or a text into spans."""
        if isinstance(source, Document):
            text = source.text
            cut = enumerate(self(text))
            return [Passage(source.id, i, start, end, text[start:end]) for i, (start, end) in cut]
        if not isinstance(source, str):
            raise InputError("chunking", f"a {type(source).__name__} is no text", "give a str or a Document")
        if not source or source.isspace():
            return []
        if self.method == "recursive":
            return cut_naturally(source, self.size, self.overlap)
        if self.method == "fixed":
            return windows(0, len(source), self.size, self.overlap)
        if self.method == "paper":
            return [(chunk[0][0], chunk[-1][1]) for chunk in paper_pieces(source, self.size, self.overlap)]
        if self.method == "rcts":
            return cut_by_separators(source, self.size, self.overlap)
        return [(0, len(source))]


def parse(short: str) -> Chunking:
    """Read the short form `method[:size[:overlap]]`; what is left out takes the defaults, 1024 and 128.

    >>> parse("whole"), str(parse("paper:4096"))
    (Chunking(method='whole', size=0, overlap=0), 'paper:4096:128')

    Raises:
        InputError: an unknown method, a size that is no number or below 1, an overlap not below the size.
    """
    if not isinstance(short, str):
        raise InputError("chunking", f"a {type(short).__name__} is no short form", 'write "recursive:1024:128"')
    method, *numbers = (part.strip() for part in short.split(":"))
    _check_method(method, where=f"chunking {short!r}")
    if len(numbers) > (0 if method == "whole" else 2):
        fix = 'write "whole"' if method == "whole" else f'write "{method}:1024:128"'
        raise InputError(f"chunking {short!r}", "too many parts", fix)
    if not all(part.isascii() and part.isdigit() and len(part) < 16 for part in numbers):
        raise InputError(f"chunking {short!r}", "sizes are whole numbers", f'write "{method}:1024:128"')
    return Chunking(method, *(int(part) for part in numbers))


def spans(text: str, *, method: str = "recursive", size: int = 1024, overlap: int = 128) -> list[Span]:
    """(start, end) of each passage of a text, in characters, end excluded, in order.

    - `recursive` cuts at the last natural break that keeps the passage within `size`: after a blank line, else
      a line, else a sentence, else a word, else anywhere but inside a combining sequence, a surrogate pair or a
      CR LF. So that a heading doesn't become a passage of its own, a break counts only in the last third of
      what the passage can add. Each next passage starts `overlap` characters before the end of the last,
      or up to half the overlap later where a word starts there. Nothing is lost: a passage's text after the
      end of the one before it, put end to end, is the document.
    - `fixed` takes windows of `size` characters every `size - overlap`, blind to words, until the end is reached.
    - `whole` is one passage.
    - `paper` is the published chunker of CanLegalRAGBench (see `paper_texts`), each chunk from its first to its
      last character in the original; here a passage can exceed `size`, and separators between passages are lost.
    - `rcts` is the recursive chunker of LegalBench-RAG, published as `rcts:500:0`: what LangChain's
      RecursiveCharacterTextSplitter gives for the separators blank line, line, ! ? . : ; , space and "anywhere",
      each kept at the start of what follows it, white space kept. Text is split at the first separator, the pieces
      are put together again while they fit, and a piece of `size` or more is split by the next separator. Nothing
      is lost, but a line feed or a full stop alone can be a passage. With an overlap, whole pieces are shared.

    A text that is empty or only white space has no passages, whatever the method.

    >>> text = "The appeal is allowed. See s. 7 of the Charter. Costs follow."
    >>> [text[a:b] for a, b in spans(text, size=24, overlap=10)]
    ['The appeal is allowed. ', 'allowed. See s. 7 of ', 's. 7 of the Charter. ', 'Charter. Costs follow.']

    Args:
        text: any string.
        method: one of `METHODS`.
        size: characters a passage may have at most, at least 1.
        overlap: characters shared by neighbours at most, from 0, below `size`.

    Raises:
        InputError: see `parse`.
    """
    return Chunking(method, size, overlap)(text)


def passages(document: Document, *, method: str = "recursive", size: int = 1024, overlap: int = 128) -> list[Passage]:
    """The passages of a document, cut as `spans` says; each is `document.text[start:end]`.

    >>> passages(Document("d1", "A v. B", "Held: yes."), method="whole")
    [Passage(doc_id='d1', index=0, start=0, end=10, text='Held: yes.')]

    Raises:
        InputError: see `parse`.
    """
    if not isinstance(document, Document):
        raise InputError("chunking", f"a {type(document).__name__} is no Document", "cut bare text with spans()")
    return Chunking(method, size, overlap)(document)


def paper_texts(text: str, size: int = 1024, overlap: int = 128) -> list[str]:
    r"""The chunks that the published chunker of CanLegalRAGBench makes, character for character.

    It splits at the first of blank line, line, full stop with space, and space that occurs in the text, splits
    pieces over `size` with the next, and fills chunks with pieces in order. Where it parts from `recursive`:

    - the separators are dropped, save ". ": pieces are joined with nothing between them ("judgmentThe");
    - it overlaps by whole pieces of at most `overlap` characters together, and lines are mostly longer: between
      chunks of Supreme Court decisions at 1024 and 128 the overlap is nothing in 65 % of cases, 29 on average;
    - the length is checked before the overlap is added, so that a chunk may have up to `size + overlap`
      characters; a word longer than `size` stays whole;
    - white space alone can be a chunk.

    Source: `evaluate_retrieval/benchmark_rag/components/chunkers/recursive.py` of NLP-UBC/CanLegalRAGBench.

    >>> paper_texts("Reasons for judgment\n\nThe appeal is dismissed.", 60, 10)
    ['Reasons for judgmentThe appeal is dismissed.']
    """
    size, overlap = _checked(size, overlap)
    return ["".join([text[a:b] for a, b in chunk]) for chunk in paper_pieces(text, size, overlap)]


def _check_method(method: str, where: str = "chunking") -> None:
    """Refuse an unknown method, naming the near ones."""
    if method not in METHODS:
        from difflib import get_close_matches

        near = get_close_matches(str(method).lower(), METHODS, n=2)
        fix = f"did you mean {' or '.join(near)}?" if near else f"one of {', '.join(METHODS)}"
        raise InputError(where, f"unknown method {method!r}", fix)


def _checked(size: int, overlap: int) -> Span:
    """Size and overlap as plain integers, or an error."""
    try:
        size, overlap = operator.index(size), operator.index(overlap)
    except TypeError:
        raise InputError("chunking", f"size {size!r}, overlap {overlap!r}", "both are whole numbers") from None
    if size < 1:
        raise InputError("chunking", f"size {size} is below 1", "1024 to 8192 characters are usual")
    if not 0 <= overlap < size:
        raise InputError("chunking", f"overlap {overlap} does not fit size {size}", "take 0 <= overlap < size")
    return size, overlap
