"""The pieces of HTML: what is marked where, nothing hostile gets through, and readable without colour."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.exploring import Explorer, pages
from canlegalrag.types import Document, Query, Snippet

BAD = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&=HYPERLINK(1)\x00\u202e"
LABEL = re.compile(r'<b class="label[^>]*>[^<]*</b>')


class Reader(HTMLParser):
    """Reads a piece; knows the elements, and that each is closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "li" and self.open[-1:] == ["li"]:  # may be left open before another
            self.open.pop()
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "li" and self.open[-1:] == ["li"]:
            self.open.pop()
        assert self.open.pop() == tag


def parsed(piece: str) -> list[tuple[str, dict[str, str | None]]]:
    """The elements of a piece, once it is sure that they nest."""
    reader = Reader()
    reader.feed(piece)
    reader.close()
    assert reader.open == []
    return reader.elements


def text_of(piece: str) -> str:
    """The decision as a reader would copy it."""
    found = re.search(r'<div class="whole" dir="auto">(.*)</div></div>', piece, re.S)
    assert found
    return unescape(re.sub(r"<[^>]*>", "", LABEL.sub("", found[1])))


def test_results(hand_made: Explorer) -> None:
    found = hand_made.search("", query_id="q1", k=1)
    page = pages.results(found, hand_made.benchmark.documents)
    assert page.count("★ gold") == 2
    assert "not shown: " in page
    assert "not among the first hundred" in page
    assert '<a href="#doc=d1" data-doc="d1">Doe v. Roe</a>' in page
    assert "Supreme Court of British Columbia" in page
    assert "superior court · British Columbia" in page
    assert '<mark class="term">deposit</mark>' in page
    assert "paragraphs 1 to 3, characters 0 to" in page
    assert "recall@10" in page
    own = pages.results(hand_made.search("deposit"), hand_made.benchmark.documents)
    assert "gold" not in own
    assert "recall" not in own


def test_results_of_nothing(hand_made: Explorer) -> None:
    page = pages.results(hand_made.search(""), hand_made.benchmark.documents)
    assert "There is nothing to search for" in page
    assert "<ol" not in page


def test_two_side_by_side(hand_made: Explorer) -> None:
    a, b = (hand_made.search("", name, query_id="q1") for name in ("bm25", "okapi"))
    page = pages.compared(a, b, hand_made.benchmark.documents)
    assert page.count("<section>") == 2
    assert "rank, okapi" in page
    parsed(page)


def test_a_decision_with_its_marks(hand_made: Explorer) -> None:
    found = hand_made.search("", "bm25-1024", query_id="q1")
    page = pages.document(hand_made, "d1", found)
    assert text_of(page) == hand_made.benchmark.documents["d1"].text
    # gold 1 is 4 to 39, gold 2 is 20 to 60, the passage all: between 20 and 39 all three lie over each other
    assert '<mark class="gold found">A landlord must </mark><b class="label gold" id="clr-gold-2">gold 2 ▸</b>' in page
    assert page.index("◂ gold 1") < page.index("◂ gold 2") < page.index("◂ passage 1")
    assert '<a href="#clr-gold-1">gold 1</a>' in page
    assert '<a href="#clr-passage-1">passage 1</a>' in page
    # the citation of the other decision is cut by the end of gold 2 (60), and leads there all the same
    assert '<a href="#doc=d2" data-doc="d2">' in page
    linked = "".join(re.findall(r'data-doc="d2">([^<]*)</a>', page))
    assert linked == "2020 BCSC 90102"
    parsed(page)


def test_a_decision_found_as_a_whole_has_its_excerpt_marked(hand_made: Explorer) -> None:
    page = pages.document(hand_made, "d1", hand_made.search("", query_id="q1"))
    assert "excerpt 1 ▸" in page
    assert "of a decision found as a whole" in page


def test_a_decision_by_itself(hand_made: Explorer) -> None:
    page = pages.document(hand_made, "d1")
    assert "<mark" not in page
    assert text_of(page) == hand_made.benchmark.documents["d1"].text
    assert "Nothing in it is marked" in pages.document(hand_made, "d3", hand_made.search("deposit"))
    assert "<a " not in pages.document(hand_made, "d4")  # its address is a script
    with pytest.raises(InputError, match="not in the corpus"):
        pages.document(hand_made, "d9")


def test_every_decision_of_the_sample_keeps_its_text(sample: Explorer) -> None:
    for name in ("bm25", "paper-bm25l-1024"):
        found = sample.search("", name, 100, query_id="b1-q1")
        for seen in found.hits:
            page = pages.document(sample, seen.document.id, found)
            assert text_of(page) == seen.document.text
            parsed(page)


def hostile(cache: Path) -> Explorer:
    text = f"[1] {BAD} deposit {BAD}\n\n{BAD}"
    safe = Document("a'b<c>&\"", BAD, text, BAD, 2020, BAD, url='https://x/"><script>', licence=BAD, citations=(BAD,))
    query = Query('q"<b>', f"deposit {BAD}", "Yukon", BAD, "b", BAD)
    snippets = (Snippet(query.id, safe.id, 4, 30, text[4:30]), Snippet(query.id, safe.id, 10, 10**9, ""))
    return Explorer(
        Benchmark("h", {safe.id: safe}, {query.id: query}, {query.id: {safe.id: 1}}, snippets=snippets), cache=cache
    )


def test_nothing_hostile_gets_through(tmp_path: Path) -> None:
    explorer = hostile(tmp_path)
    (query,) = explorer.benchmark.queries
    (doc,) = explorer.benchmark.documents
    for found in (explorer.search("", query_id=query), explorer.search(f"deposit {BAD}", "bm25-1024")):
        answer, judged = explorer.answer(found)
        for page in (
            pages.results(found, explorer.benchmark.documents),
            pages.compared(found, found, explorer.benchmark.documents),
            pages.document(explorer, doc, found),
            pages.answer(explorer, found, answer, judged),
        ):
            assert "\x00" not in page
            assert "\u202e" not in page
            for tag, attributes in parsed(page):
                assert tag not in ("script", "img", "iframe", "style", "link", "form", "object")
                assert not any(name.startswith("on") for name in attributes)
                assert not {"src", "style", "srcset", "action"} & attributes.keys()
                assert re.match(r"#|https?://", attributes.get("href") or "#")


def test_an_answer_opens_its_evidence_at_a_click(sample: Explorer) -> None:
    found = sample.search("", query_id="b1-q1")
    answer, judged = sample.answer(found)
    page = pages.answer(sample, found, answer, judged)
    assert '<details class="claim"><summary' in page
    assert page.count('<details class="claim">') == len(judged.claims or ()) + len(judged.reference or ())
    assert "Reference answer" in page
    assert "Correct this" not in page
    assert "offline/extractive" in page
    assert "legal advice" in page
    assert "stand-in for a judge" in page
    parsed(page)
    own = sample.search("May my landlord keep the deposit?")
    answer, judged = sample.answer(own)
    page = pages.answer(sample, own, answer, judged)
    assert "Reference answer" not in page
    assert "May my landlord keep the deposit?" in page


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("theme", "grounds"), [(".clr", ("#ffffff", "#f5f3f0")), (".dark .clr", ("#0b0f19", "#27272a"))]
)
def test_contrast(theme: str, grounds: tuple[str, ...]) -> None:
    rule = next(r for r in pages.STYLE.split("}") if r.strip().startswith(f"{theme}{{"))
    colours = dict(re.findall(r"--([\w-]+):(#[0-9a-f]{3,6})", rule))
    ink = re.search(r"--ink:var\(--body-text-color,(#[0-9a-f]+)\)", rule)
    assert ink
    pairs = [(colours[name], colours[f"{name}-b"]) for name in ("gold", "found", "term")]
    pairs += [
        (colours[name], colours[f"{name}-b"]) for name in ("supported", "contradicted", "unsupported", "unscored")
    ]
    pairs += [(ink[1], colours[f"{name}-b"]) for name in ("gold", "found", "supported", "contradicted", "unsupported")]
    pairs += [(colours[name], ground) for ground in grounds for name in ("dim", "contradicted")]
    pairs += [(ink[1], ground) for ground in grounds]
    assert {pair: round(contrast(*pair), 2) for pair in pairs if contrast(*pair) < 4.5} == {}


def test_the_sheet_reaches_the_pieces_only() -> None:
    for selector in re.findall(r"(?:^|[}{])\s*([^{}@]+)\{", pages.STYLE):
        assert all(re.match(r"\.(clr|audit|dark \.clr)\b", one.strip()) for one in selector.split(",")), selector
    assert "url(" not in pages.STYLE
    assert "@import" not in pages.STYLE


def test_a_very_long_decision(shared: Path, tmp_path: Path) -> None:
    from canlegalrag.files import parquet_rows

    rows = parquet_rows(shared / "scc" / "decisions.parquet")
    row = max(rows, key=lambda r: len(r["text"]))
    long = Document("long", "Long", row["text"], "SCC", 2000)
    explorer = Explorer(Benchmark("one", {"long": long}, {}, {}), cache=tmp_path)
    found = explorer.search("title to land", "paper-bm25l-1024", 100)
    page = pages.document(explorer, "long", found)
    assert len(text_of(page)) == len(long.text)
