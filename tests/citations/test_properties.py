"""What holds for any text: spans exact and apart, keys stable, nothing raised."""

from hypothesis import given, settings
from hypothesis import strategies as st

from canlegalrag.citations import KINDS, find, group, parse

_WORDS = (
    "2003 SCC CSC 24 [1999] 1 S.C.R. RCS 497 2015 CanLII 12345 (ON SC) (1986), 26 DLR (4th) 200 ONSC at paras "
    "12-14, 20 NLTD(G) ABQB [2001] O.J. No. 1234 (C.A.) 1996 CarswellOnt (Ont Gen Div) 59 O.R. (3d) FC (TD) "
    "J.E. 2003-1234 EYB AZ-50123456 AC 562 EWCA Civ 410 US 113 (1973) 97 DTC RSC 1985, c C-46 s. 8 RSBC L.R.C. "
    "ch. art. 231.2(3)b) Reg O. Reg. 194/10 SOR/96-332 Canadian Charter of Rights and Freedoms, GE-16-1234 R. "
    "v. Tremblay, c. ; ( ) [ ] , . - L.R. 3 H.L. 38 Vict., c. F.2d B. & Ad. Q.R. K.B. no No. the in Can.), "
    "1953-54 canlii.ca/x/2019onsc1234.html "
)
words = st.lists(
    st.sampled_from(
        [
            *_WORDS.split(),
            "\u00a0",
            "\u2011",
            "\n",
            "é",
            "“",
            "”",
            '"',
            "—",
            "_",
            "<em>",
            "Osei",
            "versus",
            "v.",
            "J.",
            ":",
            "\U0001f600",
            "١٩٩٩",
            "²",
        ]
    ),
    max_size=14,
)
joined = st.builds(lambda parts, gap: gap.join(parts), words, st.sampled_from([" ", " ", " ", "", "\n", "\u00a0"]))
texts = st.one_of(joined, st.text(max_size=80))


@given(texts)
@settings(max_examples=400, deadline=None)
def test_spans_are_exact_and_apart(text: str) -> None:
    last = 0
    for citation in find(text):
        assert last <= citation.start < citation.end <= len(text)
        assert citation.text == text[citation.start : citation.end]
        last = citation.end


@given(texts)
@settings(max_examples=400, deadline=None)
def test_a_citation_parses_to_itself(text: str) -> None:
    for citation in find(text):
        again = parse(str(citation))
        assert again is not None, citation
        assert again.key == citation.key
        assert again.kind == citation.kind


@given(texts)
@settings(max_examples=200, deadline=None)
def test_fields_are_in_their_ranges(text: str) -> None:
    found = find(text)
    assert sum(map(len, group(found))) == len(found)
    for citation in found:
        assert citation.kind in KINDS
        assert citation.key and citation.key == " ".join(citation.key.split())
        assert citation.key not in citation.aliases
        assert citation.language in ("", "en", "fr")
        assert all(first <= last for first, last in citation.paragraphs + citation.pages)
        assert not set(citation.slug) - set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert [c.mention for c in found] == sorted(c.mention for c in found)
    assert list(dict.fromkeys(c.group for c in found)) == list(range(len(group(found))))
    groups: dict[str, set[int]] = {}
    for citation in found:
        for key in (citation.key, *citation.aliases):
            groups.setdefault(key, set()).add(citation.group)
    assert all(len(numbers) == 1 for numbers in groups.values())


@given(joined)
@settings(max_examples=200, deadline=None)
def test_what_stands_far_before_changes_nothing(text: str) -> None:
    head = "x" * 300 + ".\n\n"
    assert [c.key for c in find(head + text)] == [c.key for c in find(".\n\n" + text)]
