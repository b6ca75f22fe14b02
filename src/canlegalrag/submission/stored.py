"""What a stored submission looks like: one JSON file, named by its content; which of them a moderator hides."""

import re
from collections.abc import Mapping
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.files import decode, dumps, loads
from canlegalrag.types import Problem

__all__ = ["HIDDEN", "LARGEST", "MOST", "NAME", "encode", "full", "read_entry", "shown"]

HIDDEN = "hidden.json"
"""The moderator's list: `{"hidden": ["0123456789abcdef"]}`."""
LARGEST = 8_000_000
"""Bytes that one stored submission may have."""
MOST = 1_000
"""Submissions that a store takes: a board holds them all in memory, at a megabyte each."""
NAME = re.compile(r"[0-9a-f]{16}\.json")
"""A submission's file: the first 16 digits of the SHA-256 of what was submitted."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


def encode(entry: Mapping[str, Any]) -> tuple[str, bytes]:
    """The file of a submission: its name and content.

    Raises:
        InputError: it isn't an entry, can't be written as JSON, or is too large.
    """
    try:
        data = (dumps(entry) + "\n").encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError("submission", f"can't be written as JSON: {error!s:.200}", "mend the text it holds") from None
    if len(data) > LARGEST:
        what = f"takes {len(data):,} bytes with its scores, and {LARGEST:,} are the most"
        raise InputError("submission", what, "write to the moderators: the benchmark may be too large for this store")
    name = f"{str(entry.get('id'))[:16]}.json"
    read_entry(name, data)
    return name, data


def read_entry(name: str, data: bytes) -> dict[str, Any]:
    """A submission out of its file.

    Raises:
        InputError: it is damaged, or was never one.
    """
    fix = "it isn't shown: restore it, or take it away"
    if len(data) > LARGEST:
        raise InputError(name, f"has more than {LARGEST:,} bytes", fix)
    try:
        entry = loads(decode(name, data))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(name, f"is not JSON: {error!s:.200}", fix) from None
    if not isinstance(entry, dict):
        raise InputError(name, f"holds a {type(entry).__name__}, not a submission", fix)
    fault = _fault(name, entry)
    if fault:
        raise InputError(name, fault, fix)
    return entry


def _fault(name: str, entry: Mapping[str, Any]) -> str | None:
    """What keeps JSON from being a submission."""
    digest, system, benchmark = entry.get("digest"), entry.get("system"), entry.get("benchmark")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        return "has no `digest` of 64 hexadecimal digits"
    if entry.get("id") != digest[:16] or name != f"{digest[:16]}.json":
        return "its name, `id` and `digest` don't belong together"
    if entry.get("kind", "submission") != "submission":
        return "says that it is something else than a submission"
    if not isinstance(entry.get("received"), str):
        return "doesn't say when it was received"
    if not isinstance(system, dict) or not isinstance(system.get("name"), str):
        return "has no `system` with a name"
    if not isinstance(benchmark, dict) or not isinstance(benchmark.get("fingerprint"), str):
        return "has no `benchmark` with a fingerprint"
    return None


def full(count: int) -> None:
    """Make sure that one more submission has room.

    Raises:
        InputError: it has not.
    """
    if count >= MOST:
        raise InputError(
            "submissions", f"there are {count:,} already, and no more are taken", "write to the moderators"
        )


def shown(files: Mapping[str, bytes | None]) -> tuple[list[dict[str, Any]], tuple[Problem, ...]]:
    """The submissions among some files, the oldest first, without those that are hidden.

    A moderator's list that can't be read hides everything: what was taken down must not come back through a typing
    error.

    Args:
        files: name to content; None for what can't be read.
    """
    entries: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for name, data in files.items():
        if name == HIDDEN:
            continue
        if not NAME.fullmatch(name):
            problems.append(Problem(name, "is no submission", "take it away", fatal=False))
        elif data is None:
            problems.append(Problem(name, "can't be read", "it isn't shown", fatal=False))
        else:
            try:
                entries.append(read_entry(name, data))
            except InputError as error:
                problems.append(Problem(name, error.problem.what, error.problem.fix, fatal=False))
    try:
        hidden = _hidden(files[HIDDEN]) if HIDDEN in files else set()
    except InputError as error:
        return [], (error.problem, *problems)
    absent = sorted(hidden - {name.removesuffix(".json") for name in files})
    problems += [Problem(HIDDEN, f"{one} is no submission here", "mend the id", fatal=False) for one in absent]
    entries.sort(key=lambda entry: (entry["received"], entry["id"]))
    return [entry for entry in entries if entry["id"] not in hidden], tuple(problems)


def _hidden(data: bytes | None) -> set[str]:
    what = "can't be used, so that no submission is shown"
    fix = '{"hidden": ["0123456789abcdef"]}: ids of 16 hexadecimal digits'
    try:
        listed = loads(decode(HIDDEN, data))["hidden"] if data is not None else None
    except (ValueError, RecursionError, TypeError, KeyError):
        listed = None
    if not isinstance(listed, list):
        raise InputError(HIDDEN, what, fix)
    ids = {one.strip().lower() if isinstance(one, str) else "" for one in listed}
    if not all(NAME.fullmatch(f"{one}.json") for one in ids):
        raise InputError(HIDDEN, what, fix)
    return ids
