"""Batches of like length, sized by tokens: what keeps padding, and so wasted work, small."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from canlegalrag.backends._torch import library

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

__all__ = ["Tokens", "cut", "padded", "token_batches"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Texts as tokens."""

    fields: dict[str, list[list[int]]]
    """`input_ids`, and `token_type_ids` where the model reads them: one list a text."""
    fills: dict[str, int]
    """What pads each field."""
    left: bool
    """Whether padding stands before the text."""
    truncated: int
    """How many texts were longer than the window."""

    @property
    def lengths(self) -> list[int]:
        """Tokens of each text."""
        return [len(ids) for ids in self.fields["input_ids"]]

    def features(self, batch: "Ints", device: str) -> dict[str, Any]:
        """A batch as sentence-transformers models take it."""
        torch = library("torch")
        mask = padded([[1] * len(self.fields["input_ids"][i]) for i in batch], 0, left=self.left)
        tables = {"attention_mask": mask}
        for field, values in self.fields.items():
            tables[field] = padded([values[i] for i in batch], self.fills[field], left=self.left)
        return {"modality": "text"} | {f: torch.from_numpy(table).to(device) for f, table in tables.items()}


def cut(tokenizer: Any, texts: list[str], seconds: list[str] | None, window: int | None) -> Tokens:
    """Cut texts, or pairs of texts, into tokens once; of what is longer than the window, the end is left out."""
    limit = {"truncation": "longest_first", "max_length": window} if window else {"truncation": False}
    coded = tokenizer(texts, seconds, padding=False, return_attention_mask=False, **limit)
    fills = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
    fields = {field: list(coded[field]) for field in fills if field in coded}
    truncated = sum(bool(encoding.overflowing) for encoding in coded.encodings)
    return Tokens(fields, fills, tokenizer.padding_side == "left", truncated)


def token_batches(lengths: Sequence[int], budget: int) -> Iterator["Ints"]:
    """Positions of texts in batches, the longest first, so that memory runs out at once or never.

    A batch times its longest text is at most `budget` tokens, unless one text alone is longer. A text without tokens
    is in no batch.

    >>> [batch.tolist() for batch in token_batches([3, 9, 0, 2, 4], 10)]
    [[1], [4, 0], [3]]
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    start = 0
    while start < len(order):
        count = max(1, budget // int(sizes[order[start]]))
        yield order[start : start + count]
        start += count


def padded(rows: Sequence[Sequence[int]], fill: int, *, left: bool = False) -> "Ints":
    """Rows brought to the length of the longest.

    >>> padded([[1, 2], [3]], 0, left=True).tolist()
    [[1, 2], [0, 3]]
    """
    table = np.full((len(rows), max(map(len, rows), default=0)), fill, dtype=np.int64)
    for i, row in enumerate(rows):
        if row:
            table[i, -len(row) if left else 0 : None if left else len(row)] = row
    return table
