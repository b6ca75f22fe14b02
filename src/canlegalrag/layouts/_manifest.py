"""`manifest.json` of a built folder: read as something that anybody may have written, and believed once it holds."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.files import read_text
from canlegalrag.plain import is_whole
from canlegalrag.types import Problem

__all__ = ["Manifest", "confined", "read_manifest", "sha256", "verify"]

_HEXADECIMAL = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a built folder says of itself."""

    name: str
    """What the benchmark calls itself."""
    about: Mapping[str, str]
    """`title`, `licence`, `description`, `limits`."""
    fingerprint: str
    """SHA-256 over the records."""
    files: Mapping[str, Mapping[str, Any]]
    """File name -> its `sha256`, `bytes` and `rows`."""
    problems: tuple[str, ...]
    """Fatal faults that the benchmark had when it was built."""
    maker: str
    """Version of canlegalrag that wrote it; empty where somebody else did."""


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_manifest(folder: Path) -> Manifest | None:
    """Read `manifest.json`; None where there is none.

    Raises:
        InputError: it is no manifest.
    """
    path = folder / "manifest.json"
    if not path.exists():
        return None
    if not path.is_file():
        raise InputError(str(path), "is not a manifest: not a regular file", "take it away")
    try:
        return _manifest(json.loads(read_text(path)))
    except (ValueError, RecursionError) as error:
        raise InputError(str(path), f"is not a manifest: {error}", "build the folder again") from None


def _manifest(row: Any) -> Manifest:
    """Check each field; ValueError says which is wrong."""
    if not isinstance(row, dict):
        raise ValueError(f"a {type(row).__name__}, not an object")
    for name, kind in {"name": str, "about": dict, "fingerprint": str, "files": dict, "problems": list}.items():
        if not isinstance(row.get(name), kind):
            raise ValueError(f"{name!r} is {str(row.get(name))[:40]!r}, not a {kind.__name__}")
    if len(row["fingerprint"]) != 64 or not set(row["fingerprint"]) <= _HEXADECIMAL:
        raise ValueError("'fingerprint' is not a SHA-256 in hexadecimal")
    for name, value in {"name": row["name"], **row["about"]}.items():
        if not isinstance(value, str) or not is_whole(value):
            raise ValueError(f"{name!r} of 'about' is {value!r:.40}, not a text")
    for name, entry in row["files"].items():
        if not isinstance(entry, dict) or not isinstance(entry.get("sha256"), str):
            raise ValueError(f"file {name!r} has no 'sha256'")
    made = row.get("made_with")
    maker = made.get("canlegalrag") if isinstance(made, dict) else None
    return Manifest(
        name=row["name"],
        about=row["about"],
        fingerprint=row["fingerprint"],
        files=row["files"],
        problems=tuple(str(p) for p in row["problems"]),
        maker=maker if isinstance(maker, str) else "",
    )


def confined(folder: Path, name: str) -> Path | None:
    """The file that a manifest means; None where it is no plain path inside the folder, or leads out of it.

    The Hub's cache keeps the files of a snapshot as links into its folder `blobs`: they lead nowhere else.
    """
    pure = PurePosixPath(name)
    if str(pure) != name or name == "." or pure.is_absolute() or ".." in pure.parts or set(name) & set("\\:\0"):
        return None
    root, real = folder.resolve(), (folder / pure).resolve()
    roots = [root, root.parent.parent / "blobs"] if root.parent.name == "snapshots" else [root]
    return folder / pure if any(real.is_relative_to(r) for r in roots) else None


def verify(manifest: Manifest, folder: Path, read: list[Path]) -> tuple[list[Problem], str]:
    """Compare the manifest with the files that were read: it must list these, no others, and their checksums.

    Returns:
        The faults, and SHA-256 over the checksums: empty where there is a fault.
    """
    faults: list[Problem] = []
    names = {path.relative_to(folder).as_posix(): path for path in read}
    for name in sorted(manifest.files.keys() | names):
        where, fix = f"{folder}/{name}" if name.isprintable() else repr(name), "build the folder again"
        if name not in manifest.files:
            faults.append(Problem(where, "is not in the manifest, but is read", fix))
        elif (file := confined(folder, name)) is None:
            faults.append(Problem(where, "is in the manifest, but is no path inside the folder", fix))
        elif not file.exists():
            faults.append(Problem(where, "is in the manifest but not in the folder", fix))
        elif name not in names:
            faults.append(Problem(where, "is in the manifest, but is no file that is read", fix))
        elif not _holds(file, manifest.files[name]):
            faults.append(Problem(where, "differs from its checksum in the manifest", fix))
    if faults or not names:
        return faults, ""
    lines = "".join(f"{name}\n{manifest.files[name]['sha256']}\n" for name in sorted(names))
    return [], hashlib.sha256(lines.encode()).hexdigest()


def _holds(file: Path, entry: Mapping[str, Any]) -> bool:
    size = file.stat().st_size
    return bool(entry.get("bytes", size) == size) and sha256(file) == entry["sha256"]
