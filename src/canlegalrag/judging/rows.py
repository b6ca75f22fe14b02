r"""The rows of JSON in what a chat model wrote, read with care.

Small slips are forgiven where only one thing can be meant: a fence around the JSON, prose on lines of its own, a comma
before a closing bracket, `\'`, line breaks in strings, an end that is missing. Nothing is guessed: where the JSON
breaks off, what was complete before counts and the rest doesn't, for past that place a quote may pass for a reply.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from canlegalrag.plain import is_whole

__all__ = ["Bare", "Reply", "Twice", "read"]

_DEEPEST = 8
"""Levels of nesting; a sound reply has three."""
_TOKEN = re.compile(r'\s*(?:([{}\[\],:])|"([^"\\]*(?:\\.[^"\\]*)*)"|([\w.+-]+))', re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_THOUGHT = re.compile(r"</?think(?:ing)?>")
# JSON is a reply where it has lines of its own; within a sentence it is talk about one ("the evidence says {…}").
_START = re.compile(r"^[^\S\n]*(?:```\w*[^\S\n]*)?(?=\{\s*[\"}]|\[\s*[\[{\]\"])", re.MULTILINE)
_END = re.compile(r"[^\S\n]*[,;]?[^\S\n]*(?:```)?[^\S\n]*(?:\n|\Z)")


class Bare(str):
    """A number, `true`, `null`, NaN or any other word that stood without quotes."""


class Twice:
    """Stands for a field that was given two values."""


class _Bad(Exception):
    """Where the JSON ends too early (`cut`) or stops being JSON (`broken`)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The rows of a reply."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    """Complete objects of the list asked for, in order; also such as stood without the list around them."""
    fault: str = ""
    """`prose` where there is no JSON, `cut` or `broken` where it breaks off; empty where it is whole."""
    lists: int = 0
    """How often the list asked for was there."""
    strays: int = 0
    """Things in the list that aren't objects."""


def read(text: str, name: str) -> Reply:
    r"""Read the rows of a reply.

    Args:
        text: what the model wrote.
        name: of the list that was asked for; without it around them, rows are read too.

    >>> read('Here it is:\n```json\n{"verdicts": [{"id": 1,}, {"id": "2", "lab', "verdicts")
    Reply(rows=[{'id': '1'}], fault='cut', lists=1, strays=0)
    """
    text = text.strip("\ufeff \t\r\n")
    if text[:1] not in ("{", "[", "`"):  # else the tag may stand in a quote
        text = _after_thinking(text)
    rows: list[dict[str, Any]] = []
    lists = strays = at = 0
    while start := _START.search(text, at):
        reader = _Reader(text, start.end(), name)
        fault = reader.run()
        if not fault and not _END.match(text, reader.at):
            at = reader.at
            continue
        rows += reader.rows
        lists, strays = lists + reader.lists, strays + reader.strays
        if fault:
            return Reply(rows, fault, lists, strays)
        at = reader.at
    return Reply(rows, "" if rows or lists else "prose", lists, strays)


def _after_thinking(text: str) -> str:
    """What follows a thinking block; nothing where the block has no end."""
    tags = list(_THOUGHT.finditer(text))
    if not tags:
        return text
    return text[tags[-1].end() :] if tags[-1][0].startswith("</") else ""


class _Reader:
    """Reads one JSON value from a place in a text, and keeps the rows that were closed."""

    def __init__(self, text: str, at: int, name: str) -> None:
        self.text, self.at, self.name = text, at, name
        self.rows: list[dict[str, Any]] = []
        self.lists = self.strays = 0

    def run(self) -> str:
        """Read; give the fault, if there is one."""
        try:
            self._value(*self._token(), place="top", depth=0)
        except _Bad as bad:
            return str(bad)
        return ""

    def _token(self) -> tuple[str, Any]:
        """The next mark (`{`), text (`"`) or bare word (`.`), with what it says."""
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            rest = self.text[self.at : self.at + 1000].lstrip()
            raise _Bad("cut" if rest[:1] in ("", '"') else "broken")
        self.at = found.end()
        mark, text, word = found.groups()
        return (mark, mark) if mark else ('"', _string(text)) if text is not None else (".", Bare(word))

    def _value(self, kind: str, said: Any, *, place: str, depth: int) -> Any:
        if depth > _DEEPEST or kind in ("}", "]", ",", ":"):
            raise _Bad("broken")
        if kind == "{":
            return self._object(place, depth)
        if kind == "[":
            return self._list("list" if place in ("top", "list") else "", depth)
        self.strays += place == "row"
        return said

    def _object(self, place: str, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        kind, key = self._token()
        while kind != "}":
            if kind != '"' or self._token()[0] != ":":
                raise _Bad("broken")
            inner = "list" if place == "top" and key == self.name else ""
            value = self._value(*self._token(), place=inner, depth=depth + 1)
            made[key] = value if key not in made or _same(made[key], value) else Twice()
            kind, key = self._next("}")
        if place == "row" or (place == "top" and self.name not in made):
            self.rows.append(made)
        return made

    def _list(self, place: str, depth: int) -> list[Any]:
        made: list[Any] = []
        self.lists += place == "list"
        kind, said = self._token()
        while kind != "]":
            value = self._value(kind, said, place="row" if place else "", depth=depth + 1)
            self.strays += bool(place) and isinstance(value, list)
            made.append(value)
            kind, said = self._next("]")
        return made

    def _next(self, close: str) -> tuple[str, Any]:
        """What follows a member: the next one, after its comma, or the end, with or without one."""
        kind, said = self._token()
        if kind == ",":
            return self._token()
        if kind != close:
            raise _Bad("broken")
        return kind, said


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def _string(raw: str) -> str:
    r"""What stands between two quotes; `\'` is a slip for `'`, and what no file can hold becomes U+FFFD."""
    raw = _ESCAPE.sub(lambda escape: "'" if escape[0] == "\\'" else escape[0], raw)
    try:
        text: str = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        raise _Bad("broken") from None
    text = text.replace("\0", "\ufffd")
    return text if is_whole(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
