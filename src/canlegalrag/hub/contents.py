"""What a repository on the Hub holds at a commit, and what the next commit does."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Blob", "Change", "Seen"]


@dataclass(frozen=True, slots=True)
class Blob:
    """What a repository says of one of its files."""

    oid: str
    """SHA-256 of a large file; of another the id that Git gives its content."""
    size: int
    """Bytes."""
    large: bool
    """Whether it lies in large file storage."""

    def holds(self, source: bytes | Path) -> bool:
        """Whether this is the content of a file.

        >>> Blob("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", 0, large=False).holds(b"")
        True
        """
        size = len(source) if isinstance(source, bytes) else source.stat().st_size
        if size != self.size:
            return False
        digest = hashlib.sha256() if self.large else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        if isinstance(source, bytes):
            digest.update(source)
        else:
            with source.open("rb") as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
        return digest.hexdigest() == self.oid


@dataclass(frozen=True, slots=True)
class Seen:
    """A repository as it is at one commit."""

    head: str
    """The commit."""
    private: bool
    """Whether only its owner sees it."""
    files: Mapping[str, Blob]
    """Path to content."""


@dataclass(frozen=True, slots=True)
class Change:
    """What one commit does."""

    message: str
    """Its first line."""
    add: Mapping[str, bytes | Path] = field(default_factory=dict)
    """Path in the repository to new content."""
    delete: Sequence[str] = ()
    """Paths that go."""
