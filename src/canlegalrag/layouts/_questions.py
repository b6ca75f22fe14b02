"""A query file of LegalBench-RAG: tests with snippets, each fault named by its place (`tests[17].snippets[0]`).

The file is `{"tests": [{"query", "snippets": [{"file_path", "span": [start, end], "answer"}]}]}`.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.files import decode, loads
from canlegalrag.plain import id_fault, is_whole
from canlegalrag.types import Problem

__all__ = ["Span", "Test", "read_tests"]


@dataclass(frozen=True, slots=True)
class Span:
    """Where an answer stands, as the file says."""

    where: str
    """Query file, test and snippet."""
    path: str
    """`file_path` as it is written."""
    place: tuple[int, int] | None
    """First character and one past the last; None where they are no span."""
    answer: str | None
    """The characters that should stand there; None where the file doesn't say."""


@dataclass(frozen=True, slots=True)
class Test:
    """A question and its evidence, as the file says."""

    where: str
    """Query file and test."""
    query: str
    """The question."""
    spans: tuple[Span, ...]
    """The evidence whose path can be used."""


def read_tests(path: Path, sha256: str, problems: list[Problem]) -> list[Test]:
    """Read a query file; every test keeps its place, whatever is wrong with it."""
    where = "/".join(path.parts[-2:])
    try:
        data = path.read_bytes()
        text = decode(where, data)
        value = loads(text)
    except InputError as error:
        problems.append(error.problem)
        return []
    except (OSError, ValueError, RecursionError) as error:
        problems.append(Problem(where, f"not JSON: {error}", "download it again"))
        return []
    if hashlib.sha256(data).hexdigest() != sha256:
        problems.append(Problem(where, "is another version than the published one", f"SHA-256 {sha256}", fatal=False))
        problems += [Problem(where, f"an object has {key!r:.60} twice", "keep one") for key in _repeated(text)]
    tests = value.get("tests") if isinstance(value, dict) else None
    if not isinstance(tests, list):
        problems.append(Problem(where, "has no list `tests`", '{"tests": [{"query": …, "snippets": […]}]}'))
        return []
    return [_test(f"{where}: tests[{n}]", test, problems) for n, test in enumerate(tests)]


def _repeated(text: str) -> list[str]:
    """Keys that stand twice in an object of a JSON text: readers keep the last and say nothing."""
    found: dict[str, None] = {}

    def look(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            found.update((key, None) for key in keys if keys.count(key) > 1)

    json.loads(text, object_pairs_hook=look)
    return list(found)


def _test(where: str, value: Any, problems: list[Problem]) -> Test:
    if not isinstance(value, dict):
        problems.append(Problem(where, f"a {type(value).__name__}, not an object", '{"query": …, "snippets": […]}'))
        return Test(where, "", ())
    query, snippets = value.get("query"), value.get("snippets")
    if not isinstance(query, str):
        what = f"query is {query!r:.60}, not a string" if "query" in value else "has no query"
        problems.append(Problem(where, what, '"query": "…"'))
    if not isinstance(snippets, list):
        what = f"snippets is {snippets!r:.60}, not a list" if "snippets" in value else "has no snippets"
        problems.append(Problem(where, what, '"snippets": [{"file_path": …, "span": [start, end], "answer": …}]'))
        snippets = []
    spans = [_span(f"{where}.snippets[{n}]", snippet, problems) for n, snippet in enumerate(snippets)]
    return Test(where, query if isinstance(query, str) else "", tuple(s for s in spans if s))


def _span(where: str, value: Any, problems: list[Problem]) -> Span | None:
    if not isinstance(value, dict):
        what = f"a {type(value).__name__}, not an object"
        problems.append(Problem(where, what, '{"file_path": …, "span": [start, end], "answer": …}'))
        return None
    path, span, answer = value.get("file_path"), value.get("span"), value.get("answer")
    fault = _path_fault(path)
    if fault:
        problems.append(Problem(where, fault if "file_path" in value else "has no file_path", '"cuad/….txt"'))
    place = None
    if not (isinstance(span, list) and len(span) == 2 and type(span[0]) is type(span[1]) is int):
        what = f"span is {span!r:.60}, not two whole numbers" if "span" in value else "has no span"
        problems.append(Problem(where, what, "[first character, one past the last]"))
    elif not 0 <= span[0] < span[1]:
        problems.append(Problem(where, f"span {span[0]} to {span[1]} is no stretch of text", "0 <= start < end"))
    else:
        place = (span[0], span[1])
    if answer is not None and not isinstance(answer, str):
        problems.append(Problem(where, f"answer is {answer!r:.60}, not a string", '"answer": "…"'))
        answer = None
    return Span(where, path, place, answer) if isinstance(path, str) and not fault else None


def _path_fault(path: Any) -> str | None:
    """What keeps a `file_path` from naming a file of the corpus."""
    if not isinstance(path, str):
        return f"file_path is {path!r:.60}, not a string"
    if not is_whole(path):
        return f"file_path {path!r:.100} holds half a surrogate pair"
    if fault := id_fault(path):
        return f"file_path {path!r:.100} {fault}"
    pure = PureWindowsPath(path)  # takes both slashes for what they may be somewhere
    return f"file_path {path!r:.100} leads out of the corpus" if pure.root or ".." in pure.parts else None
