"""An index in a folder: NumPy arrays that are memory-mapped, and JSON; never pickle, never half-written."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canlegalrag.errors import InputError

__all__ = ["read", "write"]

FORMAT = "canlegalrag-bm25"
VERSION = 3
_META = "index.json"
_PART = 1 << 20  # bytes that have a checksum together
_CHECKED = 8  # parts of an array that are checked on opening

Array = npt.NDArray[Any]


def write(folder: Path, meta: Mapping[str, Any], lists: Mapping[str, list[str]], arrays: Mapping[str, Array]) -> None:
    """Write an index beside its place, then move it there in one step.

    Args:
        folder: made anew; an index that is there is replaced, anything else is left alone.
        meta: what `read` gives back, JSON values.
        lists: lists of strings, one file each.
        arrays: arrays, one `.npy` file each.

    Raises:
        InputError: the folder holds something that is no index, or can't be written.
    """
    if folder.exists() and not ((folder / _META).is_file() or (folder.is_dir() and not any(folder.iterdir()))):
        raise InputError(str(folder), "is in the way: it is not an index", "name a folder that is empty or new")
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        shapes = {name: [list(array.shape), str(array.dtype)] for name, array in arrays.items()}
        for name, array in arrays.items():
            np.save(fresh / f"{name}.npy", array, allow_pickle=False)
        for name, strings in lists.items():
            with (fresh / f"{name}.json").open("w", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(strings, separators=(",\n", ":")))
        counts = {name: len(strings) for name, strings in lists.items()}
        sums = {name: [_sum(part.data) for part in _parts(array)] for name, array in arrays.items()}
        sums |= {name: [_sum((fresh / f"{name}.json").read_bytes())] for name in lists}
        whole = {"format": FORMAT, "version": VERSION, **meta, "arrays": shapes, "lists": counts, "sums": sums}
        (fresh / _META).write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        fresh.chmod(0o777 & ~_umask())
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
            folder.replace(old)
            fresh.replace(folder)
            shutil.rmtree(old)
        else:
            fresh.replace(folder)
    except OSError as error:  # NumPy says no more of a full disk than how many items it wrote
        what = f"can't be written: {error.strerror or error}"
        raise InputError(str(folder), what, "free space, or choose another folder") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _parts(array: Array) -> list[Array]:
    """The bytes of an array, cut into parts."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return [flat[first : first + _PART] for first in range(0, len(flat), _PART)]


def _sum(data: memoryview | bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _check(array: Array, sums: list[str]) -> None:
    """Compare checksums of a few parts, spread evenly, the first and the last among them: of a small array, of all."""
    parts = _parts(array)
    if len(parts) != len(sums):
        raise ValueError("the checksums are of another array")
    for n in sorted(set(np.linspace(0, len(parts) - 1, min(_CHECKED, len(parts)), dtype=int).tolist())):
        if _sum(parts[n].data) != sums[n]:
            raise ValueError("its checksum differs")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read(folder: Path) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, Array]]:
    """Read what `write` wrote; arrays stay on disk until they are used, and are checked by samples.

    Raises:
        InputError: the folder is missing, is no index, is of another version, or a file in it is damaged.
    """
    again = "build the index again"
    try:
        meta = json.loads((folder / _META).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(str(folder), f"is not a BM25 index: there is no {_META}", "build one with save()") from None
    except (OSError, ValueError) as error:
        raise InputError(str(folder / _META), f"can't be read: {error}", again) from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise InputError(str(folder), "is not a BM25 index of canlegalrag", "build one with save()")
    if meta.get("version") != VERSION:
        raise InputError(str(folder), f"format {meta.get('version')!r} is not {VERSION}", again)
    arrays: dict[str, Array] = {}
    lists: dict[str, list[str]] = {}
    path = folder
    try:
        for name, (shape, dtype) in meta["arrays"].items():
            path = folder / f"{name}.npy"
            # as a plain array: numpy.memmap pays in Python for every slice
            array = np.asarray(np.load(path, mmap_mode="r" if 0 not in shape else None, allow_pickle=False))
            if list(array.shape) != shape or str(array.dtype) != dtype:
                raise ValueError(f"holds {array.shape} {array.dtype}, not {shape} {dtype}")
            _check(array, meta["sums"][name])
            arrays[name] = array
        for name, count in meta["lists"].items():
            path = folder / f"{name}.json"
            data = path.read_bytes()
            if [_sum(data)] != meta["sums"][name]:
                raise ValueError("its checksum differs")
            lists[name] = json.loads(data)
            if not isinstance(lists[name], list) or len(lists[name]) != count:
                raise ValueError(f"doesn't hold {count} strings")
    except (OSError, EOFError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(str(path), f"is damaged: {error}", again) from None
    return meta, lists, arrays
