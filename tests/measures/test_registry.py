"""The registry: keys to documents, what it can tell and what it can't."""

import pytest

from canlegalrag.citations import find, parse
from canlegalrag.errors import InputError
from canlegalrag.measures.registry import Registry
from canlegalrag.types import Document


def document(id_, *citations, title="", **fields):
    return Document(id_, title, "", citations=citations, **fields)


def test_every_form_leads_to_the_document():
    registry = Registry.build(
        [
            document("jordan", "2016 SCC 27, [2016] 1 S.C.R. 631"),
            document("theriault", "2014 CCI 90331"),
            document("fcr", "[1995] 3 F.C. 123"),
        ]
    )
    for written in ("jordan", "2016 CSC 27", "R. v. Jordan, 2016 SCC 27", "[2016] 1 RCS 631"):
        assert registry.resolve(written) == ("jordan",), written
    assert registry.resolve("2014 TCC 90331") == registry.resolve("2014 CCI 90331") == ("theriault",)
    assert registry.resolve("[1995] 3 FCR 123") == ("fcr",)
    assert registry.resolve("2016 SCC 28") == registry.resolve("nothing") == registry.resolve("") == ()


def test_what_it_can_tell():
    registry = Registry.build([document("a", "2021 BCSC 1", "26 DLR (4th) 200", "SBC 2009, c 901", "O. Reg. 194/10")])
    covered = ["2003 SCC 24", "2021 ONXX 12", "30 DLR (4th) 5", "SBC 2002, c 78", "O Reg 1/20"]
    not_covered = ["26 DLR (3d) 200", "[1999] 1 SCR 497", "2015 CanLII 5", "RSC 1985, c C-46", "SOR/96-332"]
    not_covered += ["[1932] AC 562", "GE-16-1234", "J.E. 2003-1234", "Canadian Charter of Rights and Freedoms, s 7"]
    assert [registry.covers(parse(c)) for c in covered] == [True] * len(covered)
    assert [registry.covers(parse(c)) for c in not_covered] == [False] * len(not_covered)
    assert not any(Registry.build([]).covers(c) for written in covered for c in find(written))


def test_the_old_and_the_new_name_of_a_report_are_one_series():
    assert Registry.build([document("a", "[1995] 3 FC 123")]).covers(parse("[2004] 1 FCR 5"))


def test_ambiguous_keys_are_kept_and_reported():
    registry = Registry.build(
        [document("en", "2022 FC 1059"), document("fr", "2022 CF 1059"), document("c", "2022 FC 1")]
    )
    assert registry.resolve("2022 FC 1059") == ("en", "fr")
    assert registry.ambiguous == {"2022 FC 1059": ("en", "fr")}
    (problem,) = registry.problems
    assert str(problem).startswith("citation '2022 FC 1059': stands for 2 documents: en, fr") and not problem.fatal


def test_excerpts_of_one_act_are_told_apart_by_section():
    registry = Registry.build([document("a", "SBC 2009, c 901, ss 20-27"), document("b", "SBC 2009, c 901, ss 41-46")])
    assert registry.resolve("SBC 2009, c 901, s 24(1)") == ("a",)
    assert registry.resolve("SBC 2009, c 901, ss 41-46") == ("b",)
    assert registry.resolve("SBC 2009, c 901, ss 27-41") == ("a", "b")
    assert registry.resolve("SBC 2009, c 901") == ("a", "b")
    assert registry.resolve("SBC 2009, c 901, s 30") == ()
    whole = Registry.build([document("w", "SBC 2009, c 901")])
    assert whole.resolve("SBC 2009, c 901, s 30") == ("w",)


def test_courts_come_from_the_code_else_from_the_citation():
    entries = Registry.build(
        [
            document("code", court="NBBR", year=2023, jurisdiction="NB"),
            document("cited", "[1999] 1 SCR 497"),
            document("brackets", "2015 CanLII 12345 (ON CA)"),
            document("act", "SBC 2009, c 901", court="STATUTE", jurisdiction="BC"),
            document("unknown", court="XYZ", jurisdiction="MB"),
        ]
    ).entries
    got = {i: (e.court_id, e.level, e.jurisdiction, e.year, e.law) for i, e in entries.items()}
    assert got == {
        "code": ("nbkb", "superior", "NB", 2023, False),
        "cited": ("scc", "supreme", "CA", 1999, False),
        "brackets": ("onca", "appeal", "ON", 2015, False),
        "act": ("", "", "BC", 2009, True),
        "unknown": ("", "", "MB", None, False),
    }


def test_documents_that_nobody_can_cite_are_reported():
    registry = Registry.build({"a": document("a"), "b": document("b", "no citation")})
    assert [p.where for p in registry.problems] == ["document 'a'", "document 'b'"]
    assert registry.resolve("a") == ("a",)


def test_wrong_input():
    with pytest.raises(InputError, match="document 'a': is given twice"):
        Registry.build([document("a"), document("a")])
    with pytest.raises(InputError, match="a dict is no Document"):
        Registry.build([{"id": "a"}])  # type: ignore[list-item]
