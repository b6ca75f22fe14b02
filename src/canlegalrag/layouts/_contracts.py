"""The texts of LegalBench-RAG: found on disk under whatever names a file system could keep, or in one Parquet file."""

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

from canlegalrag.errors import InputError
from canlegalrag.layouts._tables import rows
from canlegalrag.plain import is_whole
from canlegalrag.types import Problem

__all__ = ["nfc", "original_name", "read_texts", "safe_name"]

# What Windows refuses in a name, a dot or space that it drops from the end of one, and a percent sign that would be
# read as one of these escapes.
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]|[. ](?=/|\Z)|%(?=[0-9A-Fa-f]{2})')
_ESCAPE = re.compile("%([0-7][0-9A-F])")


def nfc(name: str) -> str:
    """Composed form of a name: macOS keeps names decomposed, the published files have them composed."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def safe_name(id_: str) -> str:
    """A path that every file system can hold, from which `original_name` gets the id back.

    >>> safe_name("contractnli/a||b.txt"), safe_name("contractnli/The%20Munt_EN.txt")
    ('contractnli/a%7C%7Cb.txt', 'contractnli/The%2520Munt_EN.txt')
    """
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", id_)


def original_name(name: str) -> str:
    """The id that a path was made from; a path that `safe_name` can't have made is left as it is.

    >>> original_name("contractnli/a%7C%7Cb.txt"), original_name("contractnli/The%20Munt_EN.txt")
    ('contractnli/a||b.txt', 'contractnli/The%20Munt_EN.txt')
    """
    id_ = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), name)
    return id_ if safe_name(id_) == name else name


def read_texts(
    folder: Path, named: Mapping[str, str], problems: list[Problem], *, named_only: bool
) -> Mapping[str, str]:
    r"""Read the corpus: `corpus/` as published, or `corpus.parquet` in its place.

    Line ends become LF before anything is counted, lone CR too: so did the published loader, which opened each file as
    text. A byte order mark is a character, as it was there.

    Args:
        folder: where `corpus/` or `corpus.parquet` lies.
        named: composed form of each `file_path` -> the id, as the query files spell it.
        problems: where faults are added.
        named_only: leave out what is not in `named`.

    Returns:
        Id -> text, in the order of the ids.

    Raises:
        InputError: the folder holds neither, or the Parquet file can't be decoded.
    """
    corpus, table = folder / "corpus", folder / "corpus.parquet"
    if corpus.is_dir():
        found = _from_files(corpus, named, problems, named_only)
        if table.exists():
            problems.append(Problem(table.name, "is not read: corpus/ is", "keep one", fatal=False))
    elif table.is_file():
        found = _from_table(table, named, problems, named_only)
    else:
        raise InputError(str(folder), "holds neither corpus/ nor corpus.parquet", "unpack the whole of LegalBench-RAG")
    texts: dict[str, str] = {}
    for where, id_, text in found:
        text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        if id_ in texts:
            problems.append(Problem(where, f"is another {id_!r}", "keep one", fatal=text != texts[id_]))
        texts.setdefault(id_, text)
    return dict(sorted(texts.items()))


def _from_files(
    corpus: Path, named: Mapping[str, str], problems: list[Problem], named_only: bool
) -> Iterator[tuple[str, str, str]]:
    """Place, id and text of each file; no path of a query file is ever opened, only what is listed here."""
    for name, path in _listed(corpus):
        where = f"corpus/{name}"
        if not is_whole(name):
            problems.append(Problem(repr(where), "has a name that is not UTF-8: not read", "rename it", fatal=False))
            continue
        composed = nfc(name)
        original = original_name(composed)
        id_ = named.get(composed) or named.get(original)
        if id_ is None:
            if named_only or not original.endswith(".txt"):
                continue
            if "/" not in name:  # perhaps a note about the corpus, and no document to search
                what = "lies beside the folders of the data sets: not read"
                problems.append(Problem(where, what, "move it into one, if it is a document", fatal=False))
                continue
            id_ = original
        try:
            if path.exists() and not path.is_file():
                raise OSError("not a file")  # a pipe would be waited for
            data = path.read_bytes()
            text = data.decode()
            if "\0" in text:
                what = "holds NUL characters: UTF-16 without a byte order mark, or a binary file"
                problems.append(Problem(where, what, "unpack it anew"))
            yield where, id_, text
        except OSError as error:
            problems.append(Problem(where, f"can't be read: {error.strerror or error}", "check the file"))
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            problems.append(
                Problem(f"{where}:{line}", f"byte 0x{data[error.start]:02x} is not UTF-8", "unpack it anew")
            )


def _listed(corpus: Path) -> Iterator[tuple[str, Path]]:
    """Name and path of every file; folders may be links where they lie in `corpus/` itself, and nowhere below."""
    for top in sorted(corpus.iterdir()):
        walked = os.walk(top) if top.is_dir() else [(str(corpus), [], [top.name])]
        for base, folders, names in walked:
            folders.sort()
            for name in sorted(names):
                if not name.startswith("."):  # `._x.txt` and `.DS_Store` of macOS
                    path = Path(base, name)
                    yield path.relative_to(corpus).as_posix(), path


def _from_table(
    table: Path, named: Mapping[str, str], problems: list[Problem], named_only: bool
) -> Iterator[tuple[str, str, str]]:
    """Place, id and text of each row."""
    for row in rows([table], "corpus", problems):
        given = row.string("_id")
        id_ = named.get(nfc(given))
        if id_ is not None or not named_only:
            yield row.where, given if id_ is None else id_, row.string("text")
