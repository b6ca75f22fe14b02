"""Layouts: the shapes in which a benchmark lies on disk, one file a shape, each read into the nouns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

from canlegalrag.plain import is_whole
from canlegalrag.types import Answer, Claim, Document, LabelledPair, Problem, Qrels, Query, Snippet

__all__ = ["Content", "Layout", "first_repeat", "folder_name", "unwritable"]


@dataclass(slots=True)
class Content:
    """What a layout read, before any check between the parts."""

    documents: Mapping[str, Document]
    """Document id -> document, in the order of the files."""
    queries: Mapping[str, Query]
    """Query id -> query, in the order of the files."""
    qrels: Qrels
    """Query id -> document id -> grade."""
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """Query id -> reference answer."""
    snippets: tuple[Snippet, ...] = ()
    """Characters of gold documents that answer queries."""
    claims: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)
    """Query id -> the claims of its reference answer, in order."""
    pairs: tuple[LabelledPair, ...] = ()
    """Claims and evidence with the labels that people gave."""
    name: str = ""
    """What the benchmark calls itself."""
    about: Mapping[str, str] = field(default_factory=dict)
    """What its makers say of it: `title`, `licence`, `description`, `limits`."""
    fingerprint: str = ""
    """Recorded fingerprint of the content, where the layout holds one."""
    checksums: str = ""
    """SHA-256 over the verified checksums of the files; empty where there are none."""
    problems: list[Problem] = field(default_factory=list)
    """Faults that only the reader can see: repeated ids, wrong types, quotes that aren't in the text."""


class Layout(Protocol):
    """A module of this package: recognises a folder and reads it."""

    def matches(self, folder: Path) -> bool:
        """Say whether the folder has this shape."""
        ...

    def read(self, folder: Path) -> Content:
        """Read the folder."""
        ...


def first_repeat(ids: list[str]) -> Mapping[str, int]:
    """Count the ids that occur more than once.

    >>> first_repeat(["a", "b", "a", "a"])
    {'a': 3}
    """
    counts: dict[str, int] = {}
    for i in ids:
        counts[i] = counts.get(i, 0) + 1
    return {i: n for i, n in counts.items() if n > 1}


def folder_name(folder: Path) -> str:
    """The name of a folder, with `?` for the bytes that are no letters."""
    return folder.resolve().name.encode("utf-8", "replace").decode()


def unwritable(where: str, record: Any) -> Iterator[Problem]:
    r"""Name the fields of a noun that hold half of a surrogate pair: no file in UTF-8 can carry it.

    >>> [str(p) for p in unwritable("document 'a'", Document("a", "ok", "half \ud800"))]
    ["document 'a': text holds half of a surrogate pair (write the character whole)"]
    """
    for each in fields(record):
        value = getattr(record, each.name)
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and not is_whole(text):
                yield Problem(where, f"{each.name} holds half of a surrogate pair", "write the character whole")
                break
