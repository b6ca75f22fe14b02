"""`system.json`: what a system is called, who made it, and what it used."""

import difflib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from canlegalrag.files import dumps
from canlegalrag.plain import HALF, is_whole
from canlegalrag.submission.faults import shown
from canlegalrag.submission.limits import Limits
from canlegalrag.submission.tolerant import Source, parse

__all__ = ["NEEDED", "TEMPLATE", "System", "read_system"]

NEEDED = ("name", "authors", "licence", "used")
"""Fields that every card has."""

TEMPLATE = (
    f"it needs {', '.join(NEEDED)}: `canlegalrag check --template DIR` writes one to fill in, which is "
    "space/examples/template"
)
"""Where to start."""

_FORMULA = "=+-@"
_TAG = re.compile(r"<[A-Za-z/!?]")
_KIND = "fields of system.json"


@dataclass(frozen=True, slots=True)
class System:
    """What stands on a system's card."""

    name: str
    """What it is called on the leaderboard."""
    authors: tuple[str, ...] = ()
    """Who made it."""
    licence: str = ""
    """Under which it may be used."""
    url: str = ""
    """Where more is said; http or https only, empty for none."""
    contact: str = field(default="", repr=False)
    """How its authors can be reached; never stored with the entry, never shown."""
    used: tuple[str, ...] = ()
    """Models, libraries and data that it used."""
    cost: float | None = None
    """US dollars for all of the benchmark's queries; None where nobody says."""
    seconds: float | None = None
    """A query, on average; None where nobody says."""


def read_system(source: Source) -> System | None:
    """Read `system.json`; None where it has no usable name, without which a system can't be entered."""
    if source.too_large(source.limits.system_bytes):
        return None
    before = source.faults.count
    text = ""
    for number, line in source.lines():
        text += "\n" * (number - 1 - text.count("\n")) + line  # a fault's line is that of the file
    if source.faults.count > before:
        if not source.faults.fatal:  # unlike a run, a card with a line left out is no card
            what = "can't be read whole, so that nobody knows whose this is"
            source.faults.add(_KIND, source.name, what, TEMPLATE, fatal=True)
        return None
    try:
        if source.deep(text):
            raise ValueError(f"it is nested more than {source.limits.depth} deep")
        row = parse(text)
        if not isinstance(row, dict):
            raise ValueError(f"it is a {type(row).__name__}, not an object")
        if not is_whole(dumps(row)):
            raise ValueError(f"it {HALF}")
    except (ValueError, RecursionError) as error:
        source.faults.add(_KIND, source.name, f"not JSON: {error!s:.200}", TEMPLATE, fatal=True)
        return None
    return _Reading(source, row).system()


@dataclass(slots=True)
class _Reading:
    """The fields, one by one, with what is wrong with each."""

    source: Source
    """Where faults go."""
    row: Mapping[str, Any]
    """What was written."""

    def system(self) -> System | None:
        known = [of.name for of in fields(System)]
        missing = [name for name in NEEDED if self.row.get(name) is None]
        if missing:
            what = f"lacks {', '.join(missing)}"
            self.source.faults.add(_KIND, self.source.name, what, TEMPLATE, fatal=True)
        for name in self.row:
            if name not in known:
                near = difflib.get_close_matches(name[:50], known, 1, 0.6)
                fix = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
                self._fault(shown(name), "is no field of a system's card: left out", fix)
        made = System(
            self._text("name", self.source.limits.name_chars, needed=True),
            self._texts("authors"),
            self._text("licence", self.source.limits.field_chars, needed=True),
            self._url(),
            self._text("contact", self.source.limits.field_chars),
            self._texts("used"),
            self._number("cost"),
            self._number("seconds"),
        )
        return made if made.name else None

    def _text(self, name: str, most: int, *, needed: bool = False) -> str:
        value = self.row.get(name)
        if value is None:  # said of all fields at once
            return ""
        what = _text_fault(value, most)
        if what:
            self._fault(name, what, "plain text on one line, beginning with a letter or a digit", fatal=needed)
        return "" if what else value.strip()

    def _texts(self, name: str) -> tuple[str, ...]:
        value = self.row.get(name)
        if value is None:
            return ()
        values = [value] if isinstance(value, str) else value
        fix = f'"{name}": ["…", "…"]'
        if not isinstance(values, list) or not values:
            self._fault(name, "isn't a list of texts, or is empty", fix, fatal=True)
            return ()
        limits: Limits = self.source.limits
        if len(values) > limits.items:
            what = f"lists {len(values):,}, more than {limits.items}: the rest is left out"
            self._fault(name, what, "name the main ones")
        found = []
        for n, one in enumerate(values[: limits.items]):
            what = _text_fault(one, limits.field_chars)
            if what:
                self._fault(f"{name}[{n}]", f"{what}: left out", "plain text, beginning with a letter or a digit")
            else:
                found.append(one.strip())
        if not found:
            self._fault(name, "holds nothing that can be used", fix, fatal=True)
        return tuple(found)

    def _url(self) -> str:
        value = self._text("url", self.source.limits.field_chars)
        if not value:
            return ""
        try:
            parts = urlsplit(value)
            host, login = parts.hostname, parts.username or parts.password
        except ValueError:
            parts, host, login = None, None, None
        fix = '"url": "https://…"'
        if parts is None or parts.scheme not in ("http", "https") or not host or any(c.isspace() for c in value):
            self._fault("url", f"{shown(value)} is no http or https address: left out", fix)
        elif login:
            self._fault("url", "holds a user's name or password: left out", fix)
        else:
            return value
        return ""

    def _number(self, name: str) -> float | None:
        value = self.row.get(name)
        if value is None:
            return None
        sound = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
        if not sound:
            self._fault(name, f"{shown(value)} is no number from 0: left out", "null where it isn't known")
        return float(value) if sound else None

    def _fault(self, name: str, what: str, fix: str, *, fatal: bool = False) -> None:
        self.source.faults.add(_KIND, f"{self.source.name}: {name}", what, fix, fatal=fatal)


def _text_fault(value: Any, most: int) -> str:
    """What keeps a value from standing in a table and on a card; empty where nothing does."""
    if not isinstance(value, str):
        return f"{shown(value)} is not a text"
    text = value.strip(" ")
    if not text:
        return "is blank"
    if text.startswith("TODO"):
        return "is the template's text: fill it in"
    if len(text) > most:
        return f"has {len(text):,} characters, more than {most}"
    for c in text:
        # Format characters too: some turn the order of letters around. The joiners are part of letters and emoji.
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\u200c\u200d":
            return f"holds {c!r}, which no line of text does"
    if text[0] in _FORMULA:
        return f"begins with {text[0]!r}, as a spreadsheet's formula does"
    if text[0] in "./\\~":
        return f"begins with {text[0]!r}, as a path does"
    if _TAG.search(text):
        return "holds what a page takes for a tag"
    return ""
