"""Read a file that a stranger wrote, line by line: each fault gets its line, and what is sound goes on."""

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from canlegalrag.files import dumps
from canlegalrag.plain import HALF, is_whole
from canlegalrag.submission.faults import Faults, plain_name, shown
from canlegalrag.submission.limits import Clock, Limits, size

__all__ = ["Source", "parse"]

_MAGIC = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x93NUMPY", "a NumPy file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    *((bytes((0x80, protocol)), "a pickle") for protocol in range(2, 6)),
)
"""First bytes of what is often renamed."""
_LIKE_TEXT = ((b"BZh", "a bzip2 file"), (b"PAR1", "a Parquet file"), (b"ARROW1", "an Arrow file"))
"""First bytes that an id may begin with too: what follows decides."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPED = re.compile("[\udc80-\udcff]")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # never looks back: a stranger chose the text
_NOT_BRACKET = re.compile(r"[^][{}]+")
_HEAD = 4096


def parse(text: str) -> Any:
    """Read JSON that holds no NaN and says nothing twice: of two equal fields, Python would keep the last in silence.

    Raises:
        ValueError: it isn't so.

    >>> parse('{"doc_id": "a", "doc_id": "b"}')
    Traceback (most recent call last):
    ...
    ValueError: the field 'doc_id' stands twice in one object
    """
    return _DECODER.decode(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise ValueError(f"the field {shown(twice)} stands twice in one object")
    return made


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)


@dataclass(slots=True)
class Source:
    """A file of a submission, and where its faults go."""

    path: Path
    """Where it lies; never shown."""
    faults: Faults
    """What is wrong."""
    notes: Faults
    """What is worth knowing and no fault."""
    limits: Limits
    """What it may weigh."""
    clock: Clock
    """When to stop."""
    refused: bool = False
    """Whether it can't be used as a whole, which has been said then."""

    @property
    def name(self) -> str:
        """The plain name, which every place in the file begins with."""
        return plain_name(self.path)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Numbered lines that aren't blank, as far as they can be read, in bounded memory.

        UTF-8, or UTF-16 and UTF-32 where a byte order mark says so. A line that isn't valid UTF-8 is left out rather
        than guessed: an id with a wrong accent matches nothing.
        """
        try:
            with self.path.open("rb") as file:
                encoding = self._encoding(file.read(_HEAD))
            if encoding is not None:
                errors = "surrogateescape" if encoding.startswith("utf-8") else "strict"
                with self.path.open(encoding=encoding, errors=errors) as text:
                    yield from self._decoded(text)
        except OSError as error:
            self._refuse(f"can't be read: {error.strerror or type(error).__name__}", "upload it again")
        except UnicodeDecodeError:
            self._refuse("isn't valid text in the encoding that its byte order mark names", "write it as UTF-8")

    def objects(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The objects of a JSON Lines file with their places."""
        first = True
        for number, line in self.lines():
            where = f"{self.name}:{number}"
            if first and self._another_shape(line):
                return
            first = False
            if self.deep(line):
                what = f"JSON is nested more than {self.limits.depth} deep"
                self.faults.add("lines that are nested too deep", where, what, "one flat object a line")
                continue
            try:
                row = parse(line.rstrip())
            except (ValueError, RecursionError) as error:
                self.faults.add("lines that aren't JSON", where, f"not JSON: {error!s:.200}", "one object a line")
                continue
            if not isinstance(row, dict):
                what = f"a {type(row).__name__}, not a JSON object"
                self.faults.add("lines that aren't objects", where, what, "one object a line")
            elif "\\u" in line and not is_whole(dumps(row)):
                self.faults.add("lines with half a character", where, HALF, "write the text as UTF-8")
            else:
                yield where, row

    def _encoding(self, head: bytes) -> str | None:
        """How the file is written; None where it isn't text."""
        kind = next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)
        if kind is None and head[257:262] == b"ustar":
            kind = "a tar archive"
        if kind is None and any(byte < 9 for byte in head):
            kind = next((kind for magic, kind in _LIKE_TEXT if head.startswith(magic)), None)
        if kind is not None:
            self._refuse(f"is {kind}, whatever its name says: nothing is unpacked", "upload the text itself")
            return None
        mark = next((name for mark, name in _MARKS if head.startswith(mark)), None)
        if mark is None and b"\0" in head:
            wide = max(head[0::2].count(0), head[1::2].count(0)) > len(head) / 6
            what = "holds NUL bytes: " + ("UTF-16 without a byte order mark" if wide else "a binary file")
            self._refuse(what, "write it as UTF-8" if wide else "upload the text itself")
            return None
        if mark is not None and not mark.startswith("utf-8"):
            self.notes.add("files in another encoding", self.name, f"is {mark.upper()}: read, but UTF-8 is the format")
        return mark or "utf-8"

    def _decoded(self, text: IO[str]) -> Iterator[tuple[int, str]]:
        most, number, empty = self.limits.line_chars, 0, True
        while line := text.readline(most + 1):
            number += 1
            if number > self.limits.lines:
                what = f"has more than {self.limits.lines:,} lines: the rest isn't read"
                self._refuse(what, f"rank {self.limits.hits:,} documents a query at most")
                return
            if self.clock.over:
                what = f"checking took more than {self.clock.seconds:g} s: the rest isn't read"
                self.faults.add("out of time", f"{self.name}:{number}", what, "send less", fatal=True)
                return
            if len(line) > most and not line.endswith("\n"):
                while (rest := text.readline(most)) and not rest.endswith("\n"):
                    pass
                what = f"is longer than {most:,} characters: left out"
                self.faults.add("lines that are too long", f"{self.name}:{number}", what, "one query a line")
            elif not self._strange(number, line) and not line.isspace():
                yield number, line
            empty &= line.isspace()
        if empty:
            self._refuse("is empty", "see the template")

    def _strange(self, number: int, line: str) -> bool:
        """Whether a line holds what no text does."""
        if not line.isascii() and (found := _ESCAPED.search(line)):
            what = f"byte 0x{ord(found[0]) - 0xDC00:02x} is not valid UTF-8, perhaps Windows-1252: left out"
            fix = "convert the file: iconv -f WINDOWS-1252 -t UTF-8"
            self.faults.add("lines that aren't UTF-8", f"{self.name}:{number}", what, fix)
            return True
        if "\0" in line:
            what = "holds a NUL character: left out"
            self.faults.add("lines with NUL characters", f"{self.name}:{number}", what, "write it again, as text")
            return True
        return False

    def _another_shape(self, line: str) -> bool:
        """Whether the first line shows that the whole file is of another shape: said once rather than line by line."""
        start = line.lstrip()
        cells = line.split()
        if start.startswith("["):
            self._refuse("is a JSON array, not JSON Lines", "write one object a line, without commas between them")
        elif start.rstrip() == "{":
            self._refuse("is a JSON object over several lines, not JSON Lines", "write each object on one line")
        elif not start.startswith("{") and len(cells) in (5, 6) and cells[1].upper() in ("Q0", "0"):
            self._refuse("holds lines of a TREC run", "name it run.trec")
        else:
            return False
        return True

    def deep(self, line: str) -> bool:
        """Whether brackets outside strings are nested beyond the limit; nothing is built to find out."""
        if line.count("[") + line.count("{") <= self.limits.depth:
            return False
        depth = 0
        for bracket in _NOT_BRACKET.sub("", _STRING.sub("", line)):
            depth += 1 if bracket in "[{" else -1
            if depth > self.limits.depth:
                return True
        return False

    def _refuse(self, what: str, fix: str) -> None:
        self.refused = True
        self.faults.add("files that can't be used", self.name, what, fix, fatal=True)

    def too_large(self, most: int) -> bool:
        """Whether the file is no file, or weighs more than it may; then it isn't opened."""
        try:
            given = self.path.stat().st_size if self.path.is_file() else None
        except (OSError, ValueError):
            given = None
        if given is None:
            self._refuse("isn't there, or is no file", "upload it again")
        elif given > most:
            self._refuse(f"is {size(given)}, more than {size(most)}: not read", "send less")
        return given is None or given > most
