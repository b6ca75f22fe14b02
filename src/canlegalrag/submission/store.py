"""Where submissions are kept: a folder, or a dataset repository on the Hub; one JSON file each, never changed."""

import errno
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

from canlegalrag.disk import write_whole
from canlegalrag.errors import InputError, MissingExtra
from canlegalrag.files import lock
from canlegalrag.hub import Change, Repository, Seen
from canlegalrag.submission.stored import LARGEST, NAME, encode, full, read_entry, shown
from canlegalrag.types import Problem

__all__ = ["HubStore", "LocalStore", "Store", "store"]

PATIENCE = 60.0
"""Seconds that a visitor waits for the Hub at most; its client has no limit of its own."""
FRESH = 30.0
"""Seconds that a list from the Hub, or its being out of reach, is believed."""

_MOMENT = 2.0  # seconds: clocks of file systems are no finer
_LEFT_OVER = 3600.0  # seconds after which a half-written file is nobody's
_T = TypeVar("_T")
_Files = list[tuple[Path, float, int, int]]


class Store(Protocol):
    """Keeps submissions."""

    problems: tuple[Problem, ...]
    """What kept files from being shown when `entries` looked last."""

    def add(self, entry: Mapping[str, Any]) -> bool:
        """Keep a submission; False where it is known already, and nothing was written."""
        ...

    def entries(self) -> list[dict[str, Any]]:
        """All submissions that aren't hidden, the oldest first; not to be changed."""
        ...


def store(where: str) -> Store:
    """The store that a setting names: a folder, or `hub:owner/name`, a dataset repository; `$HF_TOKEN` opens it.

    Raises:
        InputError: it names neither, or the Hub's client is in offline mode.
        MissingExtra: huggingface_hub isn't installed.
    """
    if not where.strip():
        raise InputError("submissions", "nothing says where they are kept", "a folder, or hub:owner/name")
    if where.startswith("hub:"):
        return HubStore(where.removeprefix("hub:"))
    return LocalStore(Path(where).expanduser())


class LocalStore:
    """Submissions in a folder: any number of threads and processes may write at the same time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: tuple[_Files, list[dict[str, Any]], tuple[Problem, ...]] = ([], [], ())
        self.problems: tuple[Problem, ...] = ()

    def add(self, entry: Mapping[str, Any]) -> bool:
        """Keep a submission; False where it is known already.

        Raises:
            InputError: it isn't an entry, or can't be written: then nothing is there.
        """
        name, data = encode(entry)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / ".lock").open("a") as file:
                lock(file, wait=True)
                return self._write(name, data, entry["digest"])
        except OSError as error:  # `from None`: it holds a path, and its text may reach a page
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise InputError("submissions", "the disk is full; nothing was stored", "try again later") from None
            what = f"can't be written: {error.strerror or type(error).__name__}; nothing was stored"
            raise InputError("submissions", what, "check the folder that they are kept in") from None

    def _write(self, name: str, data: bytes, digest: str) -> bool:
        for left in self._folder.glob(".*.tmp"):  # of a process that was killed while it wrote
            if time.time() - left.stat().st_mtime > _LEFT_OVER:
                left.unlink(missing_ok=True)
        path = self._folder / name
        if path.is_file() and _known(name, self._read(path), digest):
            return False
        full(sum(bool(NAME.fullmatch(one.name)) for one in self._folder.iterdir()))
        write_whole(path, data)
        return True

    def entries(self) -> list[dict[str, Any]]:
        """All submissions that aren't hidden, the oldest first; `problems` says what was skipped."""
        files: dict[str, bytes | None] = {}
        begun = time.time()
        try:
            there = self._files()
            known, found, problems = self._last
            if there and there == known:
                self.problems = problems
                return list(found)
            for path, *_ in there:
                files[path.name] = self._read(path)
        except FileNotFoundError:  # nobody has submitted anything yet
            pass
        except OSError as error:
            what = f"can't be read: {error.strerror or type(error).__name__}"
            self.problems = (Problem("submissions", what, "check the folder that they are kept in"),)
            return []
        found, self.problems = shown(files)
        # What was written a moment ago may be written again without looking any newer.
        if files and all(written < begun - _MOMENT for _, written, *_ in there):
            self._last = there, found, self.problems
        return list(found)

    def _files(self) -> _Files:
        """Every file that counts, in order, with when it was written, its size and its number."""
        found = []
        for path in sorted(self._folder.iterdir()):
            if path.suffix == ".json" and not path.name.startswith("."):
                try:
                    seen = path.stat()
                    found.append((path, max(seen.st_mtime, seen.st_ctime), seen.st_size, seen.st_ino))
                except OSError:  # a link to nothing, or gone this very moment
                    found.append((path, float("inf"), 0, 0))
        return found

    @staticmethod
    def _read(path: Path) -> bytes | None:
        try:
            if not path.is_file():  # opening a pipe would wait for its other end
                return None
            with path.open("rb") as file:
                return file.read(LARGEST + 1)
        except OSError:
            return None


class HubStore:
    """Submissions in a dataset repository on the Hub: a commit each, on top of the last, so that none gets lost.

    Args:
        name: `owner/name`.
        token: None for `$HF_TOKEN`.
        cache: folder of what was read already; None for the client's.
    """

    def __init__(self, name: str, *, token: str | None = None, cache: Path | None = None) -> None:
        self._repository = Repository(name, token=token)
        self._cache = cache or _cache(name)
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._last: list[dict[str, Any]] = []
        self._until = 0.0
        self._added = 0
        self.problems: tuple[Problem, ...] = ()

    def add(self, entry: Mapping[str, Any]) -> bool:
        """Keep a submission; False where it is known already.

        Raises:
            InputError: it isn't an entry, or the Hub refuses or can't be reached.
        """
        name, data = encode(entry)
        added = _within(PATIENCE, self._writing, lambda: self._add(name, data, entry["digest"]))
        self._added += 1
        self._until = 0.0
        return added

    def _add(self, name: str, data: bytes, digest: str) -> bool:
        mine = False

        def decide(seen: Seen, unsure: bool) -> Change | None:
            nonlocal mine
            there = seen.files.get(name)
            if there is not None:
                mine = unsure and there.holds(data)  # a commit of ours whose answer got lost
                if mine or _known(name, self._content(seen, name), digest):
                    return None
            else:
                full(sum(bool(NAME.fullmatch(path)) for path in seen.files))
            return Change(f"Submission {name.removesuffix('.json')}", {name: data})

        return self._repository.change(decide) is not None or mine

    def entries(self) -> list[dict[str, Any]]:
        """All submissions that aren't hidden, the oldest first; `problems` says what was skipped.

        Where the Hub can't be reached these are the last known, and `problems` says so.
        """
        if time.monotonic() >= self._until:
            added = self._added
            try:
                self._last, self.problems = _within(PATIENCE, self._reading, self._all)
            except InputError as error:
                found = error.problem
                self.problems = (Problem(found.where, f"{found.what}; the list may be old or empty", found.fix),)
            if added == self._added:  # else something came in while the Hub was asked
                self._until = time.monotonic() + FRESH
        return list(self._last)

    def _all(self) -> tuple[list[dict[str, Any]], tuple[Problem, ...]]:
        seen = self._repository.look()
        if seen is None:
            raise InputError(
                self._repository.name, "there is no such dataset on the Hub", "create it, or check HF_TOKEN"
            )
        names = sorted(path for path in seen.files if path.endswith(".json") and "/" not in path)
        with ThreadPoolExecutor(8) as threads:
            return shown(dict(zip(names, threads.map(lambda name: self._content(seen, name), names), strict=True)))

    def _content(self, seen: Seen, name: str) -> bytes | None:
        """A file's content, from the cache where it is there; None where it is too large to be ours."""
        blob = seen.files[name]
        if blob.size > LARGEST:
            return None
        path = self._cache / blob.oid
        try:
            data = path.read_bytes()
        except OSError:
            data = b""
        if blob.holds(data):
            return data
        data = self._repository.read(name, seen.head)
        if not blob.holds(data):
            return None
        try:
            self._cache.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
        except OSError:  # no room for a copy: it is read again next time
            pass
        return data


def _known(name: str, data: bytes | None, digest: str) -> bool:
    """Whether a file is this submission already; a damaged one is not, and may be written anew.

    Raises:
        InputError: it is another submission, whose hash begins alike.
    """
    try:
        entry = read_entry(name, data or b"")
    except InputError:
        return False
    if entry["digest"] != digest:
        raise InputError("submission", "its id is that of another one", "change a word of its description")
    return True


def _cache(name: str) -> Path:
    try:
        from huggingface_hub import cached_assets_path
    except ImportError:
        raise MissingExtra("huggingface_hub", "hub") from None
    return Path(cached_assets_path("canlegalrag", "submissions", name.replace("/", "--")))


def _within(seconds: float, turn: threading.Lock, call: Callable[[], _T]) -> _T:
    """Run a call, one at a time, but wait no longer than so.

    What hangs goes on in a thread that nobody waits for; whoever comes next waits for a new one.

    Raises:
        InputError: it took longer; what was sent may yet arrive.
    """
    late = InputError("submissions", f"the Hub hasn't answered for {seconds:.0f} seconds", "look again in some minutes")
    until = time.monotonic() + seconds
    if not turn.acquire(timeout=seconds):
        raise late
    done: list[_T] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            done.append(call())
        except Exception as error:
            failed.append(error)

    try:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(max(0.0, until - time.monotonic()))
    finally:
        turn.release()
    if failed:
        raise failed[0]
    if not done:
        raise late
    return done[0]
