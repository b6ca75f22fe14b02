"""`system.json`: each field, and what hostile ones say."""

import json
from pathlib import Path
from typing import Any

import pytest

from canlegalrag.submission import LIMITS
from canlegalrag.submission.faults import Faults
from canlegalrag.submission.limits import Clock
from canlegalrag.submission.system_card import NEEDED, TEMPLATE, System, read_system
from canlegalrag.submission.tolerant import Source

CARD = {"name": "A system", "authors": ["Zoé Tremblay"], "licence": "MIT", "used": ["BM25"]}


def read(folder: Path, content: Any) -> tuple[System | None, list[str], bool]:
    path = folder / "system.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    faults = Faults(LIMITS)
    system = read_system(Source(path, faults, Faults(LIMITS), LIMITS, Clock(60)))
    return system, [f"{p.where}: {p.what}".removeprefix("system.json: ") for p in faults.listed()], faults.fatal


def test_a_sound_card(tmp_path: Path) -> None:
    more = {"url": "https://example.org/a?b=1", "contact": "z@example.org", "cost": 2, "seconds": 0.5}
    system, problems, fatal = read(tmp_path, CARD | more)
    assert system == System(
        "A system", ("Zoé Tremblay",), "MIT", "https://example.org/a?b=1", "z@example.org", ("BM25",), 2.0, 0.5
    )
    assert (problems, fatal) == ([], False)
    assert "z@example.org" not in repr(system)
    one, _, _ = read(tmp_path, CARD | {"authors": "Zoé Tremblay", "used": "BM25", "cost": None})
    assert one is not None and (one.authors, one.used, one.cost) == (("Zoé Tremblay",), ("BM25",), None)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ('=HYPERLINK("https://example.org")', "begins with '=', as a spreadsheet's formula does"),
        ("+1", "begins with '+', as a spreadsheet's formula does"),
        ("-1", "begins with '-', as a spreadsheet's formula does"),
        ("@SUM(A1)", "begins with '@', as a spreadsheet's formula does"),
        ("../../etc/passwd", "begins with '.', as a path does"),
        ("/etc/passwd", "begins with '/', as a path does"),
        ("C <script>alert(1)</script>", "holds what a page takes for a tag"),
        ("a\x1b[2J", "holds '\\x1b', which no line of text does"),
        ("a\nb", "holds '\\n', which no line of text does"),
        ("a\u202eb", "holds '\\u202e', which no line of text does"),
        ("x" * 81, "has 81 characters, more than 80"),
        ("  ", "is blank"),
        (7, "7 is not a text"),
        (["A"], "['A'] is not a text"),
        ("TODO: a name", "is the template's text: fill it in"),
    ],
)
def test_names_that_no_board_can_show(name: Any, what: str, tmp_path: Path) -> None:
    system, problems, fatal = read(tmp_path, CARD | {"name": name})
    assert (system, problems, fatal) == (None, [f"name: {what}"], True)


def test_fields_that_are_missing_are_named_at_once_with_the_template(tmp_path: Path) -> None:
    assert read(tmp_path, {"name": None, "cost": None}) == (None, ["lacks name, authors, licence, used"], True)
    for needed in NEEDED:
        _, problems, fatal = read(tmp_path, {name: value for name, value in CARD.items() if name != needed})
        assert (problems, fatal) == ([f"lacks {needed}"], True)
    assert "check --template DIR" in TEMPLATE and "space/examples/template" in TEMPLATE
    assert all(name in TEMPLATE for name in NEEDED)


def test_names_that_look_odd_and_are_fine(tmp_path: Path) -> None:
    for name in ("Système québécois n° 5", "BM25 (k1 < 1.2)", "检索", "👩\u200d⚖️ judge", "7B/instruct"):
        system, problems, _ = read(tmp_path, CARD | {"name": name})
        assert system is not None and system.name == name and problems == []


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "ftp://example.org",
        "example.org",
        "https://",
        "https://a b.org",
        "http://[::1",
        "data:,x",
    ],
)
def test_addresses_are_http_or_nothing(url: str, tmp_path: Path) -> None:
    system, problems, fatal = read(tmp_path, CARD | {"url": url})
    assert system is not None and system.url == ""
    assert problems == [f"url: {url!r} is no http or https address: left out"] and not fatal


def test_an_address_with_a_password_is_not_repeated(tmp_path: Path) -> None:
    system, problems, _ = read(tmp_path, CARD | {"url": "https://me:hunter2@example.org"})
    assert system is not None and problems == ["url: holds a user's name or password: left out"]


def test_every_fault_is_named(tmp_path: Path) -> None:
    card = {"authors": ["", "<b>x"], "used": {}, "cost": True, "seconds": -1, "author": "x", "=1+1": 2}
    system, problems, fatal = read(tmp_path, card)
    assert system is None and fatal
    assert sorted(problems) == [
        "'=1+1': is no field of a system's card: left out",
        "'author': is no field of a system's card: left out",
        "authors: holds nothing that can be used",
        "authors[0]: is blank: left out",
        "authors[1]: holds what a page takes for a tag: left out",
        "cost: True is no number from 0: left out",
        "lacks name, licence",
        "seconds: -1 is no number from 0: left out",
        "used: isn't a list of texts, or is empty",
    ]


def test_lists_have_a_limit(tmp_path: Path) -> None:
    system, problems, fatal = read(tmp_path, CARD | {"authors": ["A"] * 51})
    assert system is not None and len(system.authors) == 50 and not fatal
    assert problems == ["authors: lists 51, more than 50: the rest is left out"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"{", "not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b"\n\n{x", "not JSON: Expecting property name enclosed in double quotes: line 3 column 2 (char 3)"),
        (b"[]", "not JSON: it is a list, not an object"),
        (b'{"cost": NaN}', "not JSON: NaN is not a number"),
        (b'{"cost": 1e999}', "not JSON: Out of range float values are not JSON compliant"),
        (b'{"name": "a", "name": "b"}', "not JSON: the field 'name' stands twice in one object"),
        (b'{"name": "\\ud800"}', "not JSON: it holds half a surrogate pair, which no file can"),
        (b"[" * 60, "not JSON: it is nested more than 50 deep"),
        (b"PK\x03\x04", "is a ZIP archive, whatever its name says: nothing is unpacked"),
        (b" " * 100_001, "is 100 kB, more than 100 kB: not read"),
        (b"", "is empty"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_what_is_no_card(content: bytes, what: str, tmp_path: Path) -> None:
    system, problems, fatal = read(tmp_path, content)
    assert (system, fatal) == (None, True)
    assert len(problems) == 1 and problems[0].removeprefix("system.json: ").startswith(what)


def test_a_card_in_another_encoding_is_fatal(tmp_path: Path) -> None:
    """A run loses a line that can't be read; a card that does has lost who it is of."""
    content = '{"name": "Société", "authors": ["Zoé"], "licence": "MIT", "used": ["BM25"]}'.encode("cp1252")
    system, problems, fatal = read(tmp_path, content)
    assert (system, fatal) == (None, True)
    assert len(problems) == 2 and "perhaps Windows-1252" in "".join(problems)
    assert any(problem.endswith("can't be read whole, so that nobody knows whose this is") for problem in problems)
