"""Numbers in a sentence with what they count: amounts, shares, spans of time, dates, sections."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from canlegalrag.backends._lexical_stems import stem
from canlegalrag.backends._lexical_words import MONTHS, NUMBERS, STOP, UNITS

__all__ = ["Number", "agree", "conflict", "numbers"]

_SECTION = re.compile(
    r"(?:\b(?:s|ss|sec|section|sections|subsection|art|article|articles|rule|par|paragraphe)\b\.?|§) ?"
    r"(\d+(?:\.\d+)*)((?:\([a-z0-9]{1,4}\))*)",
    re.IGNORECASE,
)
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?P<m1>{_MONTH})\b\.? (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y1>\d{{4}})\b)?"
    rf"|\b(?P<d2>\d{{1,2}})(?:er|st|nd|rd|th)? (?P<m2>{_MONTH})\b\.?(?:,? (?P<y2>\d{{4}})\b)?"
    rf"|\b(?P<m3>{_MONTH})\b\.?,? (?P<y3>\d{{4}})\b"
    r"|\b(?P<y4>\d{4})-(?P<m4>\d{2})-(?P<d4>\d{2})\b"
)
_AMOUNT = r"\d{1,3}(?:[, ]\d{3})+(?:[.,]\d{1,2})?(?![\d])|\d+(?:[.,]\d+)?"
_NUMBER = re.compile(
    rf"(?P<dollar>\$ ?)?(?P<figure>{_AMOUNT})(?P<many> ?(?:million|billion)s?\b)?"
    r"(?P<after> ?\$| ?%| per cent\b| pour cent\b)?"
    r"|(?P<word>[^\W\d_]+)(?P<bracket> \(\d+\))?"
)
_ANY = re.compile(rf"\d|\b(?:{'|'.join(NUMBERS)})\b")
_YEARS = range(1800, 2100)


class Number(NamedTuple):
    """A number and what it counts."""

    kind: str
    """`$`, `%`, `day` …, `date`, `section`, the stem of the noun that follows, or empty."""
    value: tuple[float | str | None, ...]
    """The number alone; of a date year, month and day; of a section its number and what stands in brackets."""

    def __str__(self) -> str:
        """For reasons."""
        parts = [f"{v:g}" if isinstance(v, float | int) else str(v) for v in self.value if v not in (None, "")]
        return "-".join(parts) + (f" {self.kind}" if self.kind not in ("", "date") else "")


def numbers(text: str) -> list[Number]:
    """Numbers of a sentence without accents or capitals, from which citations were taken out.

    >>> [str(n) for n in numbers("on march 16, 2021 two tenants owed $1,385 under s. 49(1) for 30 days")]
    ['49-(1) section', '2021-3-16', '2 =tenant', '1385 $', '30 day']
    """
    found: list[Number] = []
    if not _ANY.search(text):
        return found

    def section(match: re.Match[str]) -> str:
        found.append(Number("section", (match[1], match[2].lower())))
        return " " * len(match[0])

    def date(match: re.Match[str]) -> str:
        found.append(Number("date", _parts(match)))
        return " , "

    rest = _DATE.sub(date, _SECTION.sub(section, text))
    matches = list(_NUMBER.finditer(rest))
    for i, match in enumerate(matches):
        number = _figure(match) if match["figure"] else _spelled(match)
        if number is None:
            continue
        unit = _unit(match, rest, matches[i + 1 : i + 4])
        if match["word"] and number == 1 and unit not in UNITS.values():
            continue  # "one of them" counts nothing
        if not unit and not match["word"] and number in _YEARS and match["figure"].isdigit():
            found.append(Number("date", (int(number), None, None)))
        else:
            found.append(Number(unit, (number,)))
    return found


def _parts(match: re.Match[str]) -> tuple[int | None, ...]:
    for n in "1234":
        named = match.groupdict()
        month, day, year = named.get(f"m{n}"), named.get(f"d{n}"), named.get(f"y{n}")
        if month:
            value = MONTHS.get(month) or int(month)
            return (int(year) if year else None, value, int(day) if day else None)
    return (None, None, None)


def _figure(match: re.Match[str]) -> float | None:
    figure = match["figure"]
    tail = re.search(r"[.,](\d{1,2})$", figure)  # `12,50` is French for 12.50; `1,385` has three figures after it
    whole = figure[: tail.start()] if tail else figure
    value = float(re.sub(r"\D", "", whole)[:30] + (f".{tail[1]}" if tail else ""))
    if match["many"]:
        value *= 1e6 if "mill" in match["many"] else 1e9
    return value


def _spelled(match: re.Match[str]) -> float | None:
    return float(NUMBERS[match["word"]]) if match["word"] in NUMBERS else None


def _unit(match: re.Match[str], text: str, following: Iterable[re.Match[str]]) -> str:
    """What is counted: a sign beside the number, else the first word of content that follows at once."""
    if match["dollar"] or (match["after"] and "$" in match["after"]):
        return "$"
    if match["after"]:
        return "%"
    at = match.end()
    for other in following:
        between = text[at : other.start()]
        if other["word"] is None or (between.strip(" -") and between.strip() != "("):
            return ""
        word, at = other["word"], other.end()
        if word in UNITS:
            return UNITS[word]
        if word in STOP:
            return ""
        if stem(word) and word not in NUMBERS:
            return stem(word)
    return ""


def agree(claimed: Number, given: Number) -> bool:
    """Whether what a claim says is what the evidence says, or is less exact.

    >>> agree(Number("date", (2021, None, None)), Number("date", (2021, 3, 16)))
    True
    """
    if claimed.kind == given.kind == "date":
        return all(c is None or c == g for c, g in zip(claimed.value, given.value, strict=True))
    if claimed.kind == given.kind == "section":
        return claimed.value[0] == given.value[0] and str(given.value[1]).startswith(str(claimed.value[1]))
    return claimed.value == given.value and (claimed.kind == given.kind or "" in (claimed.kind, given.kind))


def conflict(claimed: Number, given: Number) -> bool:
    """Whether both count the same and differ; another section is another rule, so it conflicts with none.

    >>> conflict(Number("day", (30.0,)), Number("day", (60.0,)))
    True
    """
    if claimed.kind != given.kind or claimed.kind in ("section", ""):
        return False
    if claimed.kind == "date":
        both = [(c, g) for c, g in zip(claimed.value, given.value, strict=True) if c is not None and g is not None]
        return any(c != g for c, g in both)
    return claimed.value != given.value
