"""Running text: spans, pinpoints, styles of cause, grouping, the forms beyond the listed ones, hostile strings."""

import subprocess
import sys

import pytest

from canlegalrag.citations import find, group, parse


def keys(text: str) -> list[str]:
    return [c.key for c in find(text)]


def test_empty_and_wrong_type() -> None:
    assert find("") == []
    assert parse("") is None
    with pytest.raises(TypeError, match="text is a bytes, not a string"):
        find(b"2003 SCC 24")  # type: ignore[arg-type]


def test_offsets_are_those_of_the_original_text() -> None:
    text = (
        "\U0001f600é — voir R. c. Côté,\u00a02011\u202fCSC\u00a046, aux par.\u00a05\u201112 ; [2011]\u00a03 R.C.S. 215."
    )
    found = find(text)
    assert [(c.key, text[c.start : c.end]) for c in found] == [
        ("2011 SCC 46", "2011\u202fCSC\u00a046, aux par.\u00a05\u201112"),
        ("[2011] 3 SCR 215", "[2011]\u00a03 R.C.S. 215"),
    ]
    assert found[0].paragraphs == ((5, 12),)
    assert found[0].style == "R. c. Côté"
    assert found[0].language == "fr"


@pytest.mark.parametrize(
    ("text", "paragraphs", "pages"),
    [
        ("2019 ONSC 1234 at para 5", ((5, 5),), ()),
        ("2019 ONSC 1234, ¶ 21, 39, 41-43", ((21, 21), (39, 39), (41, 43)), ()),
        ("2019 ONSC 1234 at 12", ((12, 12),), ()),
        ("2019 CSC 65, au par. 12", ((12, 12),), ()),
        ("[1999] 1 SCR 497 at 505", (), ((505, 505),)),
        ("[1999] 1 SCR 497, at pp. 505-6", (), ((505, 506),)),
        ("[1999] 1 SCR 497 at 505 to 507 and 510", (), ((505, 507), (510, 510))),
        ("[1999] 1 RCS 497, à la p. 505, par. 3", ((3, 3),), ((505, 505),)),
        ("[1943] O.R. 5 at p. 10 (C.A.)", (), ((10, 10),)),
        ("2019 ONSC 1234 at paras 12-14, 20, 2018 ONCA 50", ((12, 14), (20, 20)), ()),
        ("2019 ONSC 1234 at paras 12, 26 DLR (4th) 200", ((12, 12),), ()),
        ("2015 SCC 5 [Carter] at paras 56-58", ((56, 58),), ()),
        ("2019 ONSC 1234, 1235", (), ()),
    ],
)
def test_pinpoints(text: str, paragraphs: object, pages: object) -> None:
    first = find(text)[0]
    assert first.paragraphs == paragraphs
    assert first.pages == pages


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("RSC 1985, c C-46, s 231.2(3)(b)", ("231.2(3)(b)",)),
        ("R.S.C. 1985, c. C-46, ss. 2, 8 and 9.1", ("2", "8", "9.1")),
        ("L.R.C. (1985), ch. C-46, art. 18(1)a) et 7", ("18(1)a)", "7")),
        ("CQLR c C-12, s 10", ("10",)),
        ("RSC 1985, c C-46, s 8, 2019 ONSC 5", ("8",)),
        ("RSC 1985, c C-46. Section 8 says", ()),
        ("s. 11(b) of the Charter", ("11(b)",)),
        ("Charter, ss. 7 and 15(1)", ("7", "15(1)")),
        ("Charte, art. 8", ("8",)),
        ("Constitution Act, 1867, s. 91 (24)", ("91(24)",)),
    ],
)
def test_sections(text: str, sections: tuple[str, ...]) -> None:
    assert find(text)[0].sections == sections


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("See R. v. Mann, 2004 SCC 52", "R. v. Mann"),
        ("In Canada (Minister of Citizenship and Immigration) v. Vavilov, 2019 SCC 65", None),
        ("voir Québec (Procureure générale) c. Guérin, 2017 CSC 42", "Québec (Procureure générale) c. Guérin"),
        ("Reference re Secession of Quebec, [1998] 2 SCR 217", "Reference re Secession of Quebec"),
        ("as in Bank of Montreal v. The King (38 Can. S.C.R. 258)", "Bank of Montreal v. The King"),
        ("The Court was divided. R. v. Hart, 2014 SCC 52", "R. v. Hart"),
        ("Again, Jessel, M.R., in Otto v. Linford, 46 L.T. (N.S.) 35", "Otto v. Linford"),
        ("a long line of the judgment that is wrapped at R.\nv. Provo, [1989] 2 SCR 3", "R. v. Provo"),
        ("Wandscheer et al. v. Sicard Ltd., [1948] S.C.R. 1", "Wandscheer et al. v. Sicard Ltd."),
        ("see [Hryniak v. Mauldin, 2014 SCC 7](https://x.ca)", "Hryniak v. Mauldin"),
        ("*R v Oakes*, [1986] 1 SCR 103", "R v Oakes"),
        ("Report\n[1948] SCR 1", ""),
        ("R. v. A, 2001 SCC 1; R. v. B, 2001 SCC 2", "R. v. A"),
        ("Appeal from the Court of Appeal, 2011 ONCA 5", ""),
    ],
)
def test_style_of_cause(text: str, style: str | None) -> None:
    expected = "Canada (Minister of Citizenship and Immigration) v. Vavilov" if style is None else style
    assert find(text)[0].style == expected


NAME = "Okafor v. Lindqvist Holdings Ltd."


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("(Trebilcock v. Osei-Moreau, 2010 ONSC 90160)", "Trebilcock v. Osei-Moreau"),
        ("not proved (T. K. v Canada Employment Commission, 2021 SST 90203).", "T. K. v Canada Employment Commission"),
        ("(see Osei v. Moreau, 2010 ONSC 1)", "Osei v. Moreau"),
        ("(Osei v. Moreau), 2010 ONSC 1", "Osei v. Moreau"),
        ("(Osei v. Moreau (No. 2), 2010 ONSC 1)", "Osei v. Moreau (No. 2)"),
        ("(Golder (Inspector of Taxes) v. Osei Ltd., 2010 ONSC 1)", "Golder (Inspector of Taxes) v. Osei Ltd."),
        ("[Osei v. Moreau, 2010 ONSC 1]", "Osei v. Moreau"),
        ("Osei v. Moreau (Ont. C.A., 2010 ONCA 1)", "Osei v. Moreau"),
        ("Osei v. Moreau (see 2010 ONCA 1)", ""),  # another decision
        ("58) and Osei v. Moreau, 2010 ONCA 1", "Osei v. Moreau"),
        ("The Court (Okafor, 2021 BCSC 1)", "Okafor"),
        ("(Human Rights Code, RSBC 1996, c 210)", "Human Rights Code"),
    ],
)
def test_a_bracket_before_a_name_does_not_cut_it(text: str, style: str) -> None:
    assert find(text)[0].style == style


@pytest.mark.parametrize(
    "template",
    [
        "*{}*, 2019 SCC 1",
        "***{}*** (2019 SCC 1)",
        "as in _{}_, 2019 SCC 1",
        "__{}__: 2019 SCC 1",
        "<em>{}</em>, 2019 SCC 1",
        '<a href="https://x.ca/a_b"><i>{}</i></a>, 2019 SCC 1',
        "the court in “{}”, 2019 SCC 1",
        '"{}," 2019 SCC 1',
        "It held in ‘{}’, 2019 SCC 1",
        "It held in '{},' 2019 SCC 1",
        "« {} », 2019 SCC 1",
        "{} — 2019 SCC 1",
        "{} – 2019 SCC 1",
        "- {} - 2019 SCC 1",
        "1. {}: 2019 SCC 1",
        "{}\nNeutral citation: 2019 SCC 1",
        "see [{}](https://www.canlii.org/en/ca/scc/doc/2019/2019scc1/2019scc1.html)",
        "see [*{}*, 2019 SCC 1](https://x.ca)",
    ],
)
def test_marks_around_a_name_are_no_part_of_it(template: str) -> None:
    expected = "" if "\n" in template else NAME  # the line above is a paragraph of its own
    assert find(template.format(NAME))[0].style == expected


def test_versus_in_full() -> None:
    (found,) = find("Okafor versus Lindqvist, 2021 BCSC 90101")
    assert (found.style, found.language) == ("Okafor versus Lindqvist", "en")


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("Okafor v.\nLindqvist, 2021 BCSC 1", "Okafor v. Lindqvist"),
        ("Okafor v.\r\nLindqvist, 2021 BCSC 1", "Okafor v. Lindqvist"),
        ("Okafor\nv. Lindqvist, 2021 BCSC 1", "Okafor v. Lindqvist"),
        ("Okafor v. Lindqvist,\n2021 BCSC 1", "Okafor v. Lindqvist"),
        ("A heading\nOkafor v. Lindqvist, 2021 BCSC 1", "Okafor v. Lindqvist"),
        ("Okafor v. Lindqvist—Moreau, 2021 BCSC 1", "Okafor v. Lindqvist-Moreau"),
        ("Okafor v. Lindqvist — Court of Appeal, 2021 BCCA 1", "Okafor v. Lindqvist"),
        ("Tenancy — Notice — Okafor v. Lindqvist, 2021 BCSC 1", "Okafor v. Lindqvist"),
        ("Tenancy: Okafor v. Lindqvist, 2021 BCSC 1", "Okafor v. Lindqvist"),
        ("R. v. Hughes: Ex parte Jones, [1965] 1 OR 1", "R. v. Hughes: Ex parte Jones"),
        ("Okafor v. Lindqvist: the court followed 2021 BCSC 1", ""),
        ("Okafor v. Lindqvist — the court followed 2021 BCSC 1", ""),
        ("Droit de la famille — 091889, 2009 QCCA 10", "Droit de la famille - 091889"),
        ("- **Okafor** — 2021 BCSC 1", "Okafor"),
        ("The Court held: 2021 BCSC 1", ""),
        ("**Citation**: 2021 BCSC 1", ""),
        ("the sum was paid\n[3] 2021 BCSC 1", ""),
    ],
)
def test_colons_dashes_and_line_breaks(text: str, style: str) -> None:
    assert find(text)[0].style == style


@pytest.mark.parametrize(
    ("text", "style"),
    [
        (
            "66 to 84) McLachlin C.J. (Fish and Wagner JJ. concurring) Abella J. R. v. Cairney, 2013 SCC 55",
            "R. v. Cairney",
        ),
        ("66 to 84) McLachlin C.J. (Fish and Wagner JJ. concurring) R. v. Cairney, 2013 SCC 55", "R. v. Cairney"),
        ("By Fish J. (dissenting) R. v. Whitehouse, 2013 SCC 55", "R. v. Whitehouse"),
        ("Cases Cited The Queen v. Pascoe, 2001 SCC 1", "The Queen v. Pascoe"),
        ("Sedgewick J Smith v. Roe, 26 SCR 466", "Smith v. Roe"),
        ("Smith v. Great Western Ry. Co. Sedgewick J, 26 SCR 466", "Smith v. Great Western Ry. Co."),
        ("Wadsworth v. Mc Cord Ritchie CJ, (1886) 12 SCR 466", "Wadsworth v. Mc Cord"),
        ("Indexed as: Galambos v. Perez Neutral citation: 2009 SCC 48", "Galambos v. Perez"),
        ("North American Life Ass. Co. v. Craigen, 13 SCR 278", "North American Life Ass. Co. v. Craigen"),
        ("Dominion Quux. Corp. v. The King, 13 SCR 278", "Dominion Quux. Corp. v. The King"),
        ("Mary J. Brown v. Roe, 26 SCR 466", "Mary J. Brown v. Roe"),
        ("D. J. v. K.R.J., 2016 SCC 31", "D. J. v. K.R.J."),
        ("Toronto (City) v. C.U.P.E., Local 79, 2003 SCC 63", "Toronto (City) v. C.U.P.E., Local 79"),
        ("fact: Lester (W. W.) (1978) Ltd. v. Roe, 2003 SCC 63", "Lester (W. W.) (1978) Ltd. v. Roe"),
        ("Roe v. Jones [3], 2003 SCC 63", "Roe v. Jones"),
        ("Smith v. The “Evgenia”, 2005 SCC 49", "Smith v. The “Evgenia”"),
        ("the word “ship” and The “Evgenia” v. Smith, 2005 SCC 49", "The “Evgenia” v. Smith"),
        (" v. Smith, 2005 SCC 49", ""),
        ('" v. Smith, 2005 SCC 49', ""),
    ],
)
def test_what_stands_beside_a_name_is_no_part_of_it(text: str, style: str) -> None:
    assert find(text)[0].style == style


@pytest.mark.parametrize(
    "place",
    ["October", "British Columbia", "Nova Scotia", "Ontario and Alberta", "Toronto", "March", "Monday", "Québec"],
)
def test_months_and_places_are_no_names(place: str) -> None:
    assert find(f"In {place}, 2021 BCSC 1")[0].style == ""
    assert find(f"In {place} v. Okafor, 2021 BCSC 1")[0].style == f"{place} v. Okafor"


def test_each_decision_has_its_own_style() -> None:
    assert [c.style for c in find("R. v. A, 2001 SCC 1; Smith v. B Ltd., 2001 SCC 2, aff'd 2002 SCC 3")] == [
        "R. v. A",
        "Smith v. B Ltd.",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "decisions"),
    [
        ("2017 ONSC 100, 2018 ONCA 50", 2),  # a decision has one neutral citation
        ("[1999] 1 SCR 497, [1999] 1 SCR 688", 2),  # two pages of one report
        ("[1986] 1 SCR 103, 26 DLR (4th) 200, 24 CCC (3d) 321, 50 CR (3d) 1", 1),
        ("[1986] 1 SCR 103 (1986), 26 DLR (4th) 200", 1),
        ("[1986] 1 SCR 103, [2001] OJ No 5", 2),  # fifteen years apart
        ("2017 ONSC 100, aff'd 2018 ONCA 50", 2),
        ("[1986] 1 SCR 103 and 26 DLR (4th) 200", 2),
        ("RSC 1985, c C-46, 2019 ONSC 5", 2),
        ("2016 SCC 27, https://canlii.ca/t/gsds3, [2016] 1 SCR 631", 1),
    ],
)
def test_grouping(text: str, decisions: int) -> None:
    found = find(text)
    assert len(group(found)) == decisions
    assert len(found) > 1


@pytest.mark.parametrize(
    ("text", "groups", "mentions"),
    [
        ("See R v Jordan, 2016 SCC 27. Later again, 2016 SCC 27 applies.", [0, 0], [0, 1]),
        ("2014 SCC 71 and 2014 CSC 71", [0, 0], [0, 1]),
        ("2016 SCC 27; 2019 SCC 65; 2016 SCC 27; 2018 ONCA 50", [0, 1, 0, 2], [0, 1, 2, 3]),
        ("2016 SCC 27, [2016] 1 SCR 631; 2019 SCC 65; [2016] 1 R.C.S. 631", [0, 0, 1, 0], [0, 0, 1, 2]),
        ("2016 SCC 27. [2016] 1 SCR 631. 2016 SCC 27, [2016] 1 SCR 631", [0, 0, 0, 0], [0, 1, 2, 2]),
        ("RSC 1985, c C-46, s 8; RSO 1990, c H.19; L.R.C. (1985), ch. C-46, art. 9", [0, 1, 0], [0, 1, 2]),
        ("s. 7 of the Charter; 2016 SCC 27; s. 8 of the Charter", [0, 1, 0], [0, 1, 2]),
    ],
)
def test_a_repeated_decision_has_one_number(text: str, groups: list[int], mentions: list[int]) -> None:
    found = find(text)
    assert [c.group for c in found] == groups
    assert [c.mention for c in found] == mentions
    assert [len(decision) for decision in group(found)] == [groups.count(n) for n in range(max(groups) + 1)]


def test_parse_takes_a_repeated_decision_for_one() -> None:
    once = parse("2016 SCC 27; again 2016 SCC 27, [2016] 1 SCR 631")
    assert once and once.warnings == () and "[2016] 1 SCR 631" in once.aliases
    twice = parse("2016 SCC 27; 2019 SCC 65; 2016 SCC 27")
    assert twice and twice.warnings == ("more than one decision: this is the first",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # law reports
        (
            "(1868), L.R. 3 H.L. 330; 15 App. Cas. 400 (P.C.); 5 B. & Ad. 123",
            ["LR 3 HL 330", "15 App Cas 400", "5 B & Ad 123"],
        ),
        ("32 Beav. 570. 2 Bing. 183.", ["32 Beav 570", "2 Bing 183"]),
        (
            "Q.R. 44 K.B. 536; Q.R. [1950] K.B. 79; [1903] Q.R. 24 S.C. 495",
            ["44 Que KB 536", "[1950] Que KB 79", "24 CS 495"],
        ),
        (
            "[1964] 2 Lloyd's Rep. 527; [1970] 1 WLR 5; 12 W.L.R. 34",
            ["[1964] 2 Lloyd's Rep 527", "[1970] 1 WLR 5", "12 WLR 34"],
        ),
        ("(1916) 2 A.C. 569", ["[1916] 2 AC 569"]),
        ("[1935] 153 L.T.R. 322", ["153 LT 322"]),
        ("[1957] S.C.R. 532a; (1922) 63 SCR 60_2", ["[1957] SCR 532a", "63 SCR 60_2"]),
        ("leave to appeal refused, [1997] 1 S.C.R. xii, [1953] 7 W.L.R. 5", ["[1997] 1 SCR xii", "[1953] 7 WLR 5"]),
        ("Rules, R.R.O. 1990,\nReg. 194; B.C. Reg.\n173/67", ["RRO 1990 Reg 194", "BC Reg 173/67"]),
        # neutral
        ("2015 QCCDPHA 12", ["2015 QCCDPHA 12"]),
        ("[2005] SCC 24", ["2005 SCC 24"]),
        ("2007 Comp. Trib. 5; 2007 Trib. conc. 5", ["2007 Comp Trib 5", "2007 Comp Trib 5"]),
        ("2010 NBBR 5; 2023 NBBR 5", ["2010 NBQB 5", "2023 NBKB 5"]),
        ("2010 HCA 5; [2005] UKHL 3", ["[2010] HCA 5", "[2005] UKHL 3"]),
        # legislation
        (
            "38 Vict., c. 11, s. 47; 31 & 32 Vict. ch. 3; 8 Edw. VII, c. 12",
            ["38 Vict c 11", "31-32 Vict c 3", "8 Edw VII c 12"],
        ),
        ("c. 207 of R.S.C., 1927", ["RSC 1927 c 207"]),
        ("c. 35 of the Revised Statutes of Canada, 1927", ["RSC 1927 c 35"]),
        ("Revised Statutes of British Columbia, 1948, chap. 294", ["RSBC 1948 c 294"]),
        ("B. N. A. Act, 1867, s. 92", ["Constitution Act 1867"]),
        ("[1927] A.C. 515, 1 W.W.R. 692, 3 D.L.R. (2d) 4", ["[1927] AC 515", "[1927] 1 WWR 692", "3 DLR (2d) 4"]),
        (
            "Q.O.R. 2 Q.B. 379; 127 Iowa 115; [1890] Weekly Notes, 116",
            ["2 Que QB 379", "127 Iowa 115", "[1890] WN 116"],
        ),
        ("c. 136, R.S.N.S. 1900 and", ["RSNS 1900 c 136"]),
        ("in 1932 S.C.R. 5", ["[1932] SCR 5"]),
        ("1950 2 D.L.R. 121; Bridge v. The Queen, 1953  1 S.C.R. 8", ["[1950] 2 DLR 121", "[1953] 1 SCR 8"]),
        ("L. R. 2 Q. B. 630", ["LR 2 QB 630"]),
        ("1953-54 (Can.), c. 51", ["SC 1953-54 c 51"]),
        ("R.S.C. 1985, c. 1 (5th Supp.), s. 18", ["RSC 1985 c 1 (5th Supp)"]),
        ("C.C.S.M., c. H175; CQLR c C-25.01, r 1; C.R.C., c. 870", ["CCSM c H175", "CQLR c C-25.01, r 1", "CRC c 870"]),
        ("NB Reg 84-20; Alta Reg 5/2001; TR/90-5", ["NB Reg 84-20", "Alta Reg 5/2001", "SI/90-5"]),
        ("B.N.A. Act, s. 92; British North America Act, 1867", ["Constitution Act 1867"] * 2),
        # dockets, databases
        ("IMM-1234-99, T-1405-20 and A-123-05", ["IMM-1234-99", "T-1405-20", "A-123-05"]),
        ("LTB-L-012345-22; D.T.E. 99T-123; REJB 2000-1234", ["LTB-L-012345-22", "DTE 99T-123", "REJB 2000-1234"]),
        ("see (https://canlii.ca/en/on/onsc/doc/2015/2015canlii12345/2015canlii12345.html).", ["2015 CanLII 12345"]),
    ],
)
def test_further_forms(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "On 12 January 1999 the Board met 5 times.",
        "cf 12, in 2001 cf 12 was read",
        "the 1994 Civil Code of Québec, art. 1053 C.C. 12",
        "Sections 49 and 50 of the Charter",
        "s. 49 of the Charter",  # Quebec's: the Canadian one ends at 34
        "the Charter",
        "The 1990 ONTARIO 5 and 2001 NUMBER 7",
        "“A Note on Privilege” (2012), 24 C.J.W.L. 275",
        "27 L.Q.R. 150",
        "pages 10-12, 1999-2001, A-1, T-5",
        "Con. St. L. C. 1860, ch. 26",
        "2019 ONSC",
        "[1898] A.C. at page 701",
        "[1999] 1 SCR",
        "12 How 3 came to pass in 5 East 7 West",
    ],
)
def test_no_citation(text: str) -> None:
    if "5 East 7" in text:
        assert keys(text) == ["5 East 7"]  # a report of that name: known, and left so
    else:
        assert keys(text) == []


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("1985 ONSC 12", "ONSC is not known to be used before 2010"),
        ("2024 ABQB 12", "ABQB was used until 2022"),
        ("[2005] SCC 24", "a neutral citation has no brackets around its year"),
        ("2015 QCCDPHA 12", "QCCDPHA is not in the table of courts"),
        ("(1999) 1 SCR 497", "the year is part of the volume and belongs in square brackets"),
        ("[1999] 2 X.Y.Z. 12", "the report is not in the table"),
        ("R.S.O. c. 5", "the year of the revised statutes is missing"),
    ],
)
def test_warnings(text: str, warning: str) -> None:
    assert find(text)[0].warnings == (warning,)


def test_slug_is_fit_for_a_run_file() -> None:
    citation = parse("R v Oakes (1986), 26 DLR (4th) 200")
    assert citation and citation.slug == "26-dlr-4th-200"


HOSTILE = [
    "1",
    " ",
    "\n",
    "(",
    "[1999] 1 ",
    "v. ",
    "A v. ",
    "1999 SCC ",
    "2001 SCC 1, ",
    "S.C. ",
    "1 D.L.R. ",
    "R.S.C., 1985, c. ",
]
HOSTILE += [
    "A.",
    "1-",
    "s. 1 of the Charter ",
    "1 Vict. c. ",
    "[1999] 1 SCR 1 ",
    "canlii.org/",
    "“",
    "\u00a0",
    "判",
    "A v. B (, 2001 SCC 1 ",
    "“_<em> v. ",
    "A v.\n",
    "1 A(1st ",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_work_grows_with_the_text_only(unit: str) -> None:
    """A megabyte of it returns at all: a pattern that backtracked badly would not end in a lifetime."""
    text = unit * (1_000_000 // len(unit))
    found = find(text)
    assert all(text[c.start : c.end] == c.text for c in found[:5])
    assert len(found) in (0, *range(len(text) // 40, len(text) // 8))


@pytest.mark.parametrize("head", ["2001 SCC 1 at paras ", "RSC 1985, c C-46, ss "])
def test_a_long_list_of_pinpoints_is_cut(head: str) -> None:
    citation = find(head + "1, " * 100_000)[0]
    assert len(citation.paragraphs) + len(citation.sections) == 60


def test_import_loads_no_table_and_compiles_no_pattern() -> None:
    code = (
        "import sys; from canlegalrag.citations import find, court;"
        "assert court._table.cache_info().currsize == 0;"
        "assert not {'numpy', 'pyarrow', 'tomllib', 'canlegalrag.citations.search'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
