"""The table of courts is whole: sources, links between lines, both languages, every place and level."""

import pytest

from canlegalrag.citations import by_code, courts, normalise, sources
from canlegalrag.citations.court import from_brackets

CODES = {court.code: court for court in courts()}
PLACES = {"AB", "BC", "MB", "NB", "NL", "NS", "NT", "NU", "ON", "PE", "QC", "SK", "YT"}


def test_codes_are_unique_and_lines_complete() -> None:
    assert len(CODES) == len(courts())
    for court in courts():
        assert court.id and court.name and court.code, court
        assert court.jurisdiction in PLACES | {"CA", "UK"}, court
        assert court.level in {"supreme", "appeal", "superior", "provincial", "tribunal"}, court


def test_every_line_names_its_source_and_unchecked_ones_say_so() -> None:
    for court in courts():
        assert court.source and set(court.source) <= set(sources()), court
        if not set(court.source) - {"memory", "spec"}:
            assert not court.checked, court


def test_links_lead_to_lines() -> None:
    for court in courts():
        assert not court.parent or court.parent in CODES, court
        assert not court.successor or court.successor in CODES, court
        assert not court.parent or court.division, court
        if court.first and court.last:
            assert court.first <= court.last, court


@pytest.mark.parametrize("place", sorted(PLACES))
@pytest.mark.parametrize("level", ["appeal", "superior", "provincial", "tribunal"])
def test_every_place_has_every_level(place: str, level: str) -> None:
    assert [c.code for c in courts() if (c.jurisdiction, c.level) == (place, level)]


def test_federal_courts_are_there() -> None:
    assert {"SCC", "FCA", "FC", "FCT", "TCC", "CMAC", "CHRT", "SST", "Comp Trib"} <= set(CODES)


def test_no_french_code_is_another_courts_english_code() -> None:
    for court in courts():
        assert court.code_fr not in CODES, court


@pytest.mark.parametrize("court", courts(), ids=lambda court: court.code)
def test_both_codes_lead_to_one_key(court: object) -> None:
    row = CODES[court.code]  # type: ignore[attr-defined]
    year = max(row.first or 2012, 1998) if not row.last else min(row.last, max(row.first or 0, 1998))
    assert normalise(f"{year} {row.code} 12") == f"{year} {row.code} 12"
    if row.code_fr:
        assert normalise(f"{year} {row.code_fr} 012") in {
            f"{year} {c.code} 12" for c in courts() if c.code_fr == row.code_fr
        }


@pytest.mark.parametrize(
    ("written", "home", "expected"),
    [
        ("SCC", "", ("scc", "CA", "supreme", "")),
        ("C.S. Can.", "", ("scc", "CA", "supreme", "")),
        ("ON SC", "", ("onsc", "ON", "superior", "")),
        ("Ont. H.C.J.", "", ("onsc", "ON", "superior", "")),
        ("Ont. Div. Ct.", "", ("onsc", "ON", "superior", "Div Ct")),
        ("Alta. C.A.", "", ("abca", "AB", "appeal", "")),
        ("Alta. Q.B.", "", ("abkb", "AB", "superior", "")),
        ("B.C.S.C.", "", ("bcsc", "BC", "superior", "")),
        ("Que. C.A.", "", ("qcca", "QC", "appeal", "")),
        ("C.Q.", "QC", ("qccq", "QC", "provincial", "")),
        ("C.J.", "ON", ("oncj", "ON", "provincial", "")),
        ("C.A.", "ON", ("onca", "ON", "appeal", "")),
        ("C.A.", "CA", ("fca", "CA", "appeal", "")),
        ("T.D.", "CA", ("fc", "CA", "superior", "TD")),
        ("Nfld. S.C.T.D.", "", ("nlsc", "NL", "superior", "TD")),
        ("P.C.", "", ("ukjcpc", "UK", "supreme", "")),
        ("C.A.", "", ("", "", "appeal", "")),
    ],
)
def test_courts_in_brackets(written: str, home: str, expected: tuple[str, str, str, str]) -> None:
    if written == "C.S. Can.":
        assert from_brackets("C.S.C.") == expected
    else:
        assert from_brackets(written, home) == expected


@pytest.mark.parametrize("written", ["dissenting", "per Dickson C.J.", "emphasis added", "1990", ""])
def test_brackets_that_name_no_court(written: str) -> None:
    assert from_brackets(written) is None


def test_code_depends_on_the_year() -> None:
    for year, code in ((2003, "PSSRB"), (2010, "PSLRB")):
        court = by_code("CRTFP", year)
        assert court and court.code == code
