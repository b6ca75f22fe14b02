"""Every string that the specification lists, with the parse that its rules give."""

from typing import Any

import pytest

from canlegalrag.citations import find, group, normalise, parse


def _neutral(key: str, court: str, court_id: str, place: str, level: str, **more: Any) -> dict[str, Any]:
    year, _, number = key.partition(" ")
    number = number.split()[-1]
    named = {"court": court, "court_id": court_id, "jurisdiction": place, "level": level}
    return {"kind": "neutral", "key": key, "year": int(year), "number": number} | named | more


def _scr(key: str, year: int, volume: str, page: str, language: str = "en", **more: Any) -> dict[str, Any]:
    where = {"reporter": "SCR", "volume": volume, "page": page, "court": "", "court_id": "scc", "jurisdiction": "CA"}
    return {"kind": "reporter", "key": key, "year": year, "level": "supreme", "language": language} | where | more


def _report(key: str, reporter: str, volume: str, page: str, **more: Any) -> dict[str, Any]:
    return {"kind": "reporter", "key": key, "reporter": reporter, "volume": volume, "page": page} | more


ONSC = ("ONSC", "onsc", "ON", "superior")
SCC = ("SCC", "scc", "CA", "supreme")
OAKES = _report(
    "26 DLR (4th) 200", "DLR", "26", "200", series="4th", year=1986, court="SCC", court_id="scc", level="supreme"
)
EXPECTED: dict[str, dict[str, Any]] = {
    "2003 SCC 24": _neutral("2003 SCC 24", *SCC, language="en", aliases=("2003 CSC 24",)),
    "2003 CSC 24": _neutral("2003 SCC 24", "CSC", *SCC[1:], language="fr", aliases=("2003 CSC 24",)),
    "[1999] 1 SCR 497": _scr("[1999] 1 SCR 497", 1999, "1", "497", aliases=("[1999] 1 RCS 497",)),
    "[1999] 1 S.C.R. 497": _scr("[1999] 1 SCR 497", 1999, "1", "497"),
    "[1986] 1 RCS 103": _scr("[1986] 1 SCR 103", 1986, "1", "103", "fr", aliases=("[1986] 1 RCS 103",)),
    "[1974] SCR 429": _scr("[1974] SCR 429", 1974, "", "429"),
    "2015 CanLII 12345 (ON SC)": {
        **{"kind": "canlii", "key": "2015 CanLII 12345", "year": 2015, "number": "12345", "court": "ON SC"},
        **{"court_id": "onsc", "jurisdiction": "ON", "level": "superior"},
    },
    "2015 CanLII 12345 (ON S.C.)": {
        "kind": "canlii",
        "key": "2015 CanLII 12345",
        "court": "ON S.C.",
        "court_id": "onsc",
    },
    "2015 CANLII 12345": {"kind": "canlii", "key": "2015 CanLII 12345", "court": "", "court_id": "", "level": ""},
    "(1986), 26 DLR (4th) 200 (SCC)": OAKES,
    "R v Oakes (1986), 26 DLR (4th) 200 (SCC)": OAKES | {"style": "R v Oakes", "language": "en", "start": 10},
    "2019 ONSC 1234 (CanLII)": _neutral("2019 ONSC 1234", *ONSC, text="2019 ONSC 1234 (CanLII)", language=""),
    "2019  ONSC\u00a01234": _neutral("2019 ONSC 1234", *ONSC, text="2019  ONSC\u00a01234"),
    "2019 ONSC 1234 at paras 12-14, 20": _neutral("2019 ONSC 1234", *ONSC, paragraphs=((12, 14), (20, 20))),
    "2019 onsc 1234": _neutral("2019 ONSC 1234", "onsc", *ONSC[1:]),
    "2020 TSS 123": _neutral("2020 SST 123", "TSS", "sst", "CA", "tribunal", language="fr"),
    "2016 SSTADEI 123": _neutral("2016 SSTADEI 123", "SSTADEI", "sst", "CA", "tribunal", division="AD-EI"),
    "2014 SSTAD 1": _neutral("2014 SSTAD 1", "SSTAD", "sst", "CA", "tribunal", division="AD"),
    "2021 TCDP 12": _neutral("2021 CHRT 12", "TCDP", "chrt", "CA", "tribunal", language="fr"),
    "2019 CCI 45": _neutral("2019 TCC 45", "CCI", "tcc", "CA", "superior", language="fr"),
    "2005 CAF 123": _neutral("2005 FCA 123", "CAF", "fca", "CA", "appeal", language="fr"),
    "2022 FC 1059, 2022 CF 1059": _neutral("2022 FC 1059", "FC", "fc", "CA", "superior", aliases=("2022 CF 1059",)),
    "2001 FCT 99": _neutral("2001 FCT 99", "FCT", "fc", "CA", "superior", division="TD", language="en"),
    "2021 BCHRT 12": _neutral("2021 BCHRT 12", "BCHRT", "bchrt", "BC", "tribunal"),
    "2000 BCSC 0123": _neutral("2000 BCSC 123", "BCSC", "bcsc", "BC", "superior"),
    "Smith v. Jones, 2002 B.C.S.C. 1234": _neutral(
        "2002 BCSC 1234", "B.C.S.C.", "bcsc", "BC", "superior", style="Smith v. Jones", language="en", start=16
    ),
    "2003BCCA0554": _neutral("2003 BCCA 554", "BCCA", "bcca", "BC", "appeal"),
    "2013 NLTD(G) 123": _neutral("2013 NLTD(G) 123", "NLTD(G)", "nlsc", "NL", "superior", division="G"),
    "2010 ABQB 5": _neutral("2010 ABQB 5", "ABQB", "abkb", "AB", "superior"),
    "2023 ABKB 5": _neutral("2023 ABKB 5", "ABKB", "abkb", "AB", "superior"),
    "2007 PESCAD 5": _neutral("2007 PESCAD 5", "PESCAD", "peca", "PE", "appeal"),
    "[2001] O.J. No. 1234 (C.A.)": {
        **{"kind": "online_db", "key": "[2001] OJ No 1234", "year": 2001, "number": "1234", "reporter": "OJ"},
        **{"court": "C.A.", "court_id": "onca", "jurisdiction": "ON", "level": "appeal"},
    },
    "1996 CarswellOnt 4402 (Ont Gen Div)": {
        **{"kind": "online_db", "key": "1996 CarswellOnt 4402", "year": 1996, "reporter": "CarswellOnt"},
        **{"court": "Ont Gen Div", "court_id": "onsc", "level": "superior", "division": "Gen Div"},
    },
    "(2002), 59 OR (3d) 1 (CA)": _report(
        "59 OR (3d) 1", "OR", "59", "1", series="3d", year=2002, court="CA", court_id="onca", level="appeal"
    ),
    "59 O.R. (3d) 1": _report("59 OR (3d) 1", "OR", "59", "1", year=None, court="", court_id="", jurisdiction=""),
    "[1995] 3 FCR 123": _report("[1995] 3 FCR 123", "FCR", "3", "123", year=1995, court_id="", level=""),
    "[1985] FC 234 (TD)": _report(
        "[1985] FC 234", "FC", "", "234", year=1985, court="TD", court_id="fc", level="superior", division="TD"
    ),
    "[2001] RJQ 1 (CA)": _report("[2001] RJQ 1", "RJQ", "", "1", court="CA", court_id="qcca", jurisdiction="QC"),
    "R. v. Jordan, 2016 SCC 27 (CanLII), [2016] 1 SCR 631, <https://canlii.ca/t/gsds3>": _neutral(
        *("2016 SCC 27", *SCC),
        style="R. v. Jordan",
        text="2016 SCC 27 (CanLII)",
        aliases=("2016 CSC 27", "[2016] 1 SCR 631", "[2016] 1 RCS 631"),
    ),
    "Vavilov, 2019 CSC 65, [2019] 4 RCS 653": _neutral(
        *("2019 SCC 65", "CSC", *SCC[1:]),
        style="Vavilov",
        language="fr",
        aliases=("2019 CSC 65", "[2019] 4 SCR 653", "[2019] 4 RCS 653"),
    ),
    "[1986] 1 SCR 103, 1986 CanLII 46 (SCC)": _scr(
        "[1986] 1 SCR 103", 1986, "1", "103", aliases=("[1986] 1 RCS 103", "1986 CanLII 46")
    ),
    "2017 ONSC 100; 2018 ONCA 50": _neutral(
        "2017 ONSC 100", *ONSC, aliases=(), warnings=("more than one decision: this is the first",)
    ),
    "2012 ONSC 1234 (Div Ct)": _neutral("2012 ONSC 1234", *ONSC, division="Div Ct"),
    "2008 CanLII 12345 (ON SCDC)": {
        "kind": "canlii",
        "key": "2008 CanLII 12345",
        "court_id": "onsc",
        "division": "Div Ct",
    },
    "R. c. Tremblay, 2019 QCCQ 1234": _neutral(
        "2019 QCCQ 1234", "QCCQ", "qccq", "QC", "provincial", style="R. c. Tremblay", language="fr"
    ),
    "J.E. 2003-1234 (C.A.)": {
        **{"kind": "online_db", "key": "JE 2003-1234", "year": 2003, "number": "2003-1234", "reporter": "JE"},
        **{"court": "C.A.", "court_id": "qcca", "level": "appeal"},
    },
    "EYB 2003-45678": {"kind": "online_db", "key": "EYB 2003-45678", "year": 2003, "reporter": "EYB", "court_id": ""},
    "AZ-50123456": {"kind": "online_db", "key": "AZ-50123456", "year": None, "number": "50123456"},
    "[1932] AC 562 (HL)": {
        **{"kind": "foreign", "key": "[1932] AC 562", "year": 1932, "reporter": "AC", "page": "562"},
        **{"court": "HL", "court_id": "ukhl", "jurisdiction": "UK", "level": "supreme"},
    },
    "[2012] EWCA Civ 123": {
        **{"kind": "foreign", "key": "[2012] EWCA Civ 123", "year": 2012, "court": "EWCA Civ", "number": "123"},
        **{"jurisdiction": "UK", "court_id": ""},
    },
    "410 US 113 (1973)": {
        **{"kind": "foreign", "key": "410 US 113", "year": 1973, "reporter": "US", "volume": "410", "page": "113"},
        **{"jurisdiction": "US", "text": "410 US 113 (1973)"},
    },
    "2004 DTC 6001": _report("2004 DTC 6001", "DTC", "2004", "6001", year=2004, court_id="", jurisdiction=""),
    "97 DTC 5023": _report("97 DTC 5023", "DTC", "97", "5023", year=1997, court_id=""),
    "RSC 1985, c C-46": {
        **{"kind": "statute", "key": "RSC 1985 c C-46", "year": 1985, "reporter": "RSC", "page": "C-46"},
        **{"jurisdiction": "CA", "sections": ()},
    },
    "R.S.C., 1985, c. C-46, s. 8": {"kind": "statute", "key": "RSC 1985 c C-46", "sections": ("8",)},
    "Human Rights Code, RSBC 1996, c 210, s 27.1": {
        **{"kind": "statute", "key": "RSBC 1996 c 210", "jurisdiction": "BC", "sections": ("27.1",)},
        **{"style": "Human Rights Code", "year": 1996},
    },
    "Residential Tenancies Act, 2006, S.O. 2006, c. 17": {
        **{"kind": "statute", "key": "SO 2006 c 17", "jurisdiction": "ON", "page": "17", "year": 2006},
        **{"style": "Residential Tenancies Act, 2006"},
    },
    "O. Reg. 194/10": {
        "kind": "regulation",
        "key": "O Reg 194/10",
        "year": 2010,
        "number": "194",
        "jurisdiction": "ON",
    },
    "B.C. Reg. 241/2010": {"kind": "regulation", "key": "BC Reg 241/2010", "year": 2010, "jurisdiction": "BC"},
    "RRO 1990, Reg 194": {"kind": "regulation", "key": "RRO 1990 Reg 194", "year": 1990, "number": "194"},
    "SOR/96-332": {"kind": "regulation", "key": "SOR/96-332", "year": 1996, "number": "332", "jurisdiction": "CA"},
    "Canadian Charter of Rights and Freedoms, s 7": {
        **{"kind": "constitution", "key": "Canadian Charter of Rights and Freedoms", "sections": ("7",)},
        **{"jurisdiction": "CA", "year": 1982, "language": "en"},
    },
    "GE-16-1234": {"kind": "docket", "key": "GE-16-1234", "number": "GE-16-1234", "court_id": "sst"},
    "TSL-12345-10 (Re)": {"kind": "docket", "key": "TSL-12345-10", "text": "TSL-12345-10 (Re)", "court_id": "onltb"},
    "https://www.canlii.org/en/on/onsc/doc/2019/2019onsc1234/2019onsc1234.html": _neutral(
        "2019 ONSC 1234", "onsc", *ONSC[1:], start=0, end=73
    ),
    "2010 SCC 10-12": _neutral(
        "2010 SCC 10",
        *SCC,
        text="2010 SCC 10-12",
        warnings=("a range of numbers (10-12): only the first is in the key",),
    ),
}


@pytest.mark.parametrize(("string", "expected"), EXPECTED.items(), ids=EXPECTED)
def test_listed_string(string: str, expected: dict[str, Any]) -> None:
    citation = parse(string)
    assert citation is not None
    assert {name: getattr(citation, name) for name in expected} == expected
    assert string[citation.start : citation.end] == citation.text


@pytest.mark.parametrize("string", EXPECTED)
def test_key_parses_to_itself(string: str) -> None:
    key = normalise(string)
    assert key is not None
    assert normalise(key) == key


@pytest.mark.parametrize("string", ["decided in 2015 RSO 1990", "In 2012 BC had 45 courts"])
def test_not_citations(string: str) -> None:
    assert find(string) == []
    assert parse(string) is None
    assert normalise(string) is None


@pytest.mark.parametrize(
    ("string", "decisions"),
    [
        ("2022 FC 1059, 2022 CF 1059", [["2022 FC 1059", "2022 FC 1059"]]),
        (
            "R. v. Jordan, 2016 SCC 27 (CanLII), [2016] 1 SCR 631, <https://canlii.ca/t/gsds3>",
            [["2016 SCC 27", "[2016] 1 SCR 631"]],
        ),
        ("Vavilov, 2019 CSC 65, [2019] 4 RCS 653", [["2019 SCC 65", "[2019] 4 SCR 653"]]),
        ("[1986] 1 SCR 103, 1986 CanLII 46 (SCC)", [["[1986] 1 SCR 103", "1986 CanLII 46"]]),
        ("2017 ONSC 100; 2018 ONCA 50", [["2017 ONSC 100"], ["2018 ONCA 50"]]),
    ],
)
def test_parallel_citations_are_one_decision(string: str, decisions: list[list[str]]) -> None:
    assert [[c.key for c in decision] for decision in group(find(string))] == decisions


def test_renamed_courts_share_an_id_never_a_key() -> None:
    for old, new in (("2022 ABQB 5", "2022 ABKB 5"), ("2013 NLTD(G) 5", "2013 NLSC 5"), ("2003 FCT 5", "2003 FC 5")):
        before, after = parse(old), parse(new)
        assert before and after
        assert before.court_id == after.court_id
        assert before.key != after.key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2003 CSC 24", "2003 SCC 24"),
        ("2020 TSS 1", "2020 SST 1"),
        ("2021 TCDP 12", "2021 CHRT 12"),
        ("2019\u202fONSC\u00a0 01234", "2019 ONSC 1234"),
        ("[2001] J.Q. no 5", "[2001] QJ No 5"),
        ("(1999) 1 S.C.R. 497", "[1999] 1 RCS 497"),
        ("(1905) 36 S.C.R. 251", "36 Can. S.C.R. 251"),
        ("2015 CanLII 12345 (ON SC)", "2015 CanLII 12345"),
        ("L.R.C. (1985), ch. C\u201146, art. 2", "RSC 1985, c C-46"),
        ("RSO 1990, c H.19", "R.S.O. 1990, ch. H19"),
        ("DORS/96-332", "SOR/96-332"),
        ("Règl. de l'Ont. 194/10", "O. Reg. 194/10"),
        ("RLRQ, c. C-12", "R.S.Q. c. C-12"),
        ("59 O.R. (3rd) 1", "59 OR (3d) 1"),
        ("66 D.L.R. (4e) 42", "66 DLR (4th) 42"),
        ("31 & 32 Vict., ch. 3", "31-32 Vict c 3"),
        ("127 F.2d 45", "127 F. (2d) 45"),
    ],
)
def test_same_key(one: str, other: str) -> None:
    assert normalise(one) == normalise(other) is not None
