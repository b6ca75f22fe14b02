"""Audits: the right verdict, evidence and place for each claim, as text and as HTML; hostile text is harmless."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from canlegalrag import audit_page
from canlegalrag.audit_page._evidence import _find
from canlegalrag.audit_page._view import Side, rulings, side, stretches
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.records import corrected, read_corrections
from canlegalrag.types import Answer, Claim, Document, Judged, Passage, Query, Verdict

ANSWER = "No. The landlord must return the deposit in 15 days, and must pay interest. Ask a lawyer."
REFERENCE = "The landlord has 15 days. Interest is owed."
DECISION = "[1] A landlord must  return the deposit\nwithin 15 days. [2] No interest is owed on a deposit."

#            A1 ✓ ✓ and A2 ✗ ? come from one sentence (4 to 75), A3 – – from another (76 to 89)
#            R1 ✓, R2 –: the answer wasn't judged for it
_SPAN, _LAST = (4, 75), (76, 89)
CLAIMS = (
    Claim("q1", "answer", 0, "The landlord must return the deposit in 15 days.", *_SPAN),
    Claim("q1", "answer", 1, "The landlord must pay interest.", *_SPAN),
    Claim("q1", "answer", 2, "One should ask a lawyer.", *_LAST),
)
REFERENCE_CLAIMS = (
    Claim("q1", "reference", 0, "The landlord has 15 days.", 0, 25),
    Claim("q1", "reference", 1, "Interest is owed."),
)
CHAT = {"judge": "inference/small", "prompt": "abc123", "cost": 0.0005}
VERDICTS = (
    Verdict(CLAIMS[0], "reference", "supported", 0.93, "same days", "The landlord has 15 days.", **CHAT),
    Verdict(CLAIMS[0], "d2", "unsupported", 0.1, "says nothing", judge="offline/lexical"),
    Verdict(CLAIMS[0], "d1:0-55", "supported", 0.9, "says so", "must return the deposit within 15 days", **CHAT),
    Verdict(CLAIMS[1], "reference", "unsupported", 0.2, "not there", "interest is payable yearly", **CHAT),
    Verdict(CLAIMS[1], "d1", "contradicted", None, "the opposite", "No interest is owed", "human"),
    Verdict(CLAIMS[2], "reference", None, None, "the reply was cut off", cost=None, judge="inference/small"),
    Verdict(CLAIMS[2], "d1", None, None, "the reply was empty", judge="inference/small", cost=0.0),
    Verdict(CLAIMS[2], "d2", "contradicted", None, "", judge="inference/small", cost=0.0, category="unrelated"),
    Verdict(REFERENCE_CLAIMS[0], "answer", "supported", 0.8, "", "return the deposit in 15 days", **CHAT),
)
JUDGED = Judged(
    "q1",
    ("accuracy", "groundedness", "coverage"),
    CLAIMS,
    REFERENCE_CLAIMS,
    VERDICTS,
    condition="oracle",
    chars=len(ANSWER),
    reference_chars=len(REFERENCE),
)
GIVEN = Answer("q1", ANSWER, passages=(Passage("d1", 0, 0, 55), Passage("d2", 0, 0, 5)), condition="oracle")
BENCHMARK = Benchmark(
    "hand",
    {
        "d1": Document("d1", "Doe v Roe", DECISION, citations=("2021 BCSC 90101",), url="https://example.org/d1?a&b"),
        "d2": Document("d2", "Roe v Doe", "Other", url="javascript:alert(1)"),
    },
    {"q1": Query("q1", "Must my landlord return the deposit?", "Manitoba", "lay")},
    {"q1": {"d1": 1}},
    {"q1": Answer("q1", REFERENCE)},
)


def shown(judged: Judged = JUDGED, answer: Answer | None = GIVEN, benchmark: Benchmark = BENCHMARK) -> str:
    out = StringIO()
    Console(file=out, width=160).print(audit_page.text(judged, benchmark, answer))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def page(judged: Judged = JUDGED, answer: Answer | None = GIVEN, benchmark: Benchmark = BENCHMARK) -> str:
    return audit_page.html([judged], benchmark, {"q1": answer} if answer else None)


def well_formed(html: str) -> ET.Element:
    """The page as XML, once what HTML may leave open is closed."""
    html = html.replace("<!doctype html>", "").replace("<li>", "")
    html = re.sub("<meta[^>]*>", "", html).replace("</li>", "")
    return ET.fromstring(html)


def block(html: str, name: str) -> str:
    """What the page says of a claim."""
    return html.split(f'id="q1{name}">')[1].split('<div class="claim"')[0].split("</section>")[0]


def test_a_stand_in_is_named_before_its_verdicts_and_after_them() -> None:
    by = tuple(replace(verdict, judge="offline/lexical") for verdict in JUDGED.verdicts)
    said = "offline/lexical is a stand-in for a judge"
    text = shown(replace(JUDGED, verdicts=by))
    assert text.index("Question") < text.index(said) < text.index("Answer\n") < text.rindex(said)
    assert "Judged by " in shown().split("Answer\n")[0]


def test_one_label_a_claim_and_purpose() -> None:
    labels = [[(r.purpose, r.label) for r in of] for of in rulings(JUDGED, "answer", BENCHMARK)]
    assert labels == [
        [("groundedness", "supported"), ("accuracy", "supported")],
        [("groundedness", "contradicted"), ("accuracy", "unsupported")],
        [("groundedness", None), ("accuracy", None)],
    ]
    labels = [[(r.purpose, r.label) for r in of] for of in rulings(JUDGED, "reference", BENCHMARK)]
    assert labels == [[("coverage", "supported")], [("coverage", None)]]


def test_the_evidence_that_decided_is_found_and_named() -> None:
    ((first, _), (second, doubtful), _) = rulings(JUDGED, "answer", BENCHMARK)
    assert first.evidence and first.verdict and first.verdict.against == "d1:0-55"
    assert first.evidence.name == "Doe v Roe, 2021 BCSC 90101, characters 0 to 55"
    assert first.evidence.place == "the quote at 15 to 54" and not first.evidence.doubt
    assert DECISION[15:54].split() == first.evidence.quote.split()  # white space apart
    assert [v.against for v in first.others] == ["d2"]
    assert second.human and second.evidence and DECISION[60:79] == "No interest is owed"
    assert second.evidence.place == "the quote at 60 to 79"
    assert doubtful.evidence and doubtful.evidence.doubt == "these words are in none of its claims"


def test_a_quote_outside_the_passage_is_doubted() -> None:
    verdict = Verdict(CLAIMS[0], "d1:0-55", "supported", quote="No interest is owed", judge="inference/small")
    (first, *_), *_ = rulings(replace(JUDGED, verdicts=(verdict,)), "answer", BENCHMARK)
    assert first.evidence and first.evidence.doubt == "these words are not in it" and not first.evidence.place


@pytest.mark.parametrize(
    ("against", "name"),
    [
        ("evidence", "all of the evidence"),
        ("gone", "gone, which is not in the benchmark"),
        ("gone:1-2", "gone:1-2, which is not in the benchmark"),
        ("d1:0-93", "Doe v Roe, 2021 BCSC 90101"),
        ("a:1-2", "Odd"),
        ("a:1-2:3-4", "Odd, characters 3 to 4"),
    ],
)
def test_names_of_evidence(against: str, name: str) -> None:
    assert len(DECISION) == 93
    odd = replace(BENCHMARK, documents={**BENCHMARK.documents, "a:1-2": Document("a:1-2", "Odd", "0123456")})
    verdict = Verdict(CLAIMS[0], against, "unsupported", judge="inference/small")
    (first, *_), *_ = rulings(replace(JUDGED, verdicts=(verdict,)), "answer", odd)
    assert first.evidence and first.evidence.name == name


def test_sentences_are_cut_with_the_worst_of_their_claims() -> None:
    found = stretches(side(JUDGED, "answer", BENCHMARK, GIVEN))
    assert [(s.text, s.label, s.claims, s.ending) for s in found] == [
        ("No. ", None, (), ()),
        (ANSWER[4:75], "contradicted", (0, 1), (0, 1)),
        (" ", None, (), ()),
        ("Ask a lawyer.", None, (2,), (2,)),
    ]


def test_the_terminal_shows_all_of_it() -> None:
    text = shown()
    assert "q1 · Manitoba · lay · oracle" in text and "Question  Must my landlord return the deposit?" in text
    assert "No. The landlord must return the deposit in 15 days, and must pay interest. [A1✓] [A2✗] Ask" in text
    assert "Ask a lawyer. [A3–]" in text and "The landlord has 15 days. [R1✓] Interest is owed." in text
    assert "groundedness: 1 supported, 1 contradicted, 1 not scored, of 3 claims" in text
    assert "– Doe v Roe, 2021 BCSC 90101, characters 0 to 55, the quote at 15 to 54" in text
    assert "inference/small  p 0.93  prompt abc123  $0.000500" in text
    assert "corrected by human" in text and "Reason: the reply was cut off" in text
    assert "Cost of the verdicts: at least $0.002000." in text
    assert "not legal advice" not in text and "legal advice" in text
    assert "offline/lexical is a stand-in" in text and "inference/small is a stand-in" not in text


def test_the_page_shows_all_of_it() -> None:
    html = page()
    well_formed(html)
    text = re.sub("<[^>]*>", "", html.split('class="text"')[1].split("</div>")[0])
    assert "The landlord must return the deposit in 15 days, and must pay interest.A1✓A2✗ Ask a lawyer.A3–" in text
    assert '<mark class="contradicted">The landlord' in html and '<mark class="unscored">Ask a lawyer.' in html
    first, second, third = (block(html, name) for name in ("A1", "A2", "A3"))
    assert '<blockquote dir="auto">must return the deposit within 15 days</blockquote>' in first
    assert 'href="https://example.org/d1?a&amp;b"' in first and "Other evidence (1)" in first
    assert "p 0.93 · prompt <code>abc123</code> · $0.000500" in first
    assert "corrected by a person" in second and "corrected by a person" not in first
    assert "these words are in none of its claims" in second
    assert "the reply was empty" in third and "cost not known" in third
    assert "no verdict was given" in block(html, "R2")
    assert "What it had before it (2)" in html and "verdicts: at least $0.002000" in html


def test_the_page_asks_nobody_for_anything() -> None:
    html = page()
    assert not re.search(r"<(script|link|img|iframe|object|form)|\bsrc=|@import|url\(", html)
    assert "javascript:" not in html  # the address of d2
    assert {a for a in re.findall(r'href="([^"]*)"', html) if not a.startswith("#")} == {
        "https://example.org/d1?a&amp;b"
    }


def test_the_line_to_copy_is_taken_once_a_person_has_put_a_label_in(tmp_path: Path) -> None:
    lines = [ET.fromstring(f"<pre>{of}</pre>").text or "" for of in re.findall("<pre>(.*?)</pre>", page())]
    assert len(lines) == 8
    file = tmp_path / "corrections.jsonl"
    file.write_text(lines[0] + "\n")
    with pytest.raises(InputError, match="label"):
        read_corrections(file)
    file.write_text("\n".join(line.replace("supported|contradicted|", "") for line in lines) + "\n")
    mended = corrected({"q1": JUDGED}, read_corrections(file))["q1"]
    for which in ("answer", "reference"):
        assert all(r.label == "unsupported" and r.human for of in rulings(mended, which, BENCHMARK) for r in of)


def test_why_it_fails_is_shown_whichever_verdict_says_so() -> None:
    verdicts = (
        Verdict(CLAIMS[0], "d1", "unsupported", judge="inference/small"),
        Verdict(CLAIMS[0], "d2", "unsupported", judge="inference/small", category="fact"),
    )
    judged = replace(JUDGED, verdicts=verdicts)
    assert "fact confusion" in shown(judged) and "<i>fact confusion</i>" in page(judged)
    assert "unrelated" not in shown()  # A3 is unscored, though one piece of evidence was sorted


def test_another_answer_than_was_judged_is_not_marked() -> None:
    other = replace(GIVEN, text=ANSWER + " More.")
    for text in (shown(answer=other), page(answer=other)):
        assert (
            "Not the text that was judged: it has 95 characters, that one had 89. Nothing is marked."
            in text.replace("&#x27;", "'")
        )
    assert "[A1✓]" not in shown(answer=other) and "<mark" not in page(answer=other).split("<h3>Reference")[0]


def test_nothing_at_hand() -> None:
    bare = Benchmark("bare", {}, {}, {})
    nothing = Judged("q1", ("groundedness",), None, None, stop="empty", abstained=True, faults=("<b>no reply</b>",))
    for text in (shown(nothing, None, bare), page(nothing, None, bare)):
        assert "not in the benchmark" in text and "declines to answer" in text and "ended by empty" in text
        assert "no reply" in text and "isn't at hand" in text and "Nobody has judged anything here." in text
    assert "&lt;b&gt;no reply" in page(nothing, None, bare)
    well_formed(page(nothing, None, bare))
    well_formed(audit_page.html([], bare))
    empty = Judged("q1", ("groundedness",), (), (), reference_chars=0)
    assert "wasn't taken apart" not in shown(empty, Answer("q1", ""), bare)


def test_without_verdicts_of_a_side_its_text_is_plain() -> None:
    judged = replace(JUDGED, asked=("groundedness",), verdicts=VERDICTS[1:3])
    assert "<mark" not in page(judged).split("<h3>Reference")[1]
    assert "[R1" not in shown(judged)


def test_many_answers_have_contents() -> None:
    html = audit_page.html([JUDGED, replace(JUDGED, query_id="q2")], BENCHMARK, {"q1": GIVEN}, {"judge": "<b>"})
    well_formed(html)
    assert html.count("<article") == 2 and 'href="#q2"' in html and "&lt;b&gt;" in html
    ids = re.findall(r' id="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    assert {a[1:] for a in re.findall(r'href="(#[^"]*)"', html)} <= set(ids)


def test_a_long_quote_and_much_evidence_are_cut_and_said_to_be() -> None:
    text = "word " * 20_000
    documents = {f"d{n}": Document(f"d{n}", f"No {n}", text) for n in range(100)}
    verdicts = tuple(Verdict(CLAIMS[0], d, "unsupported", quote=text, judge="inference/small") for d in documents)
    big = replace(BENCHMARK, documents=documents)
    html = page(replace(JUDGED, verdicts=verdicts), benchmark=big)
    assert len(html) < 60_000 and "[…]" in html and "… and 59 more" in html
    assert "and 94 more" in shown(replace(JUDGED, verdicts=verdicts), benchmark=big)


HOSTILE = (
    "</style><script>alert(1)</script>'\"><img src=x onerror=alert(1)> [red]x[/red] \x1b[31m \u202e \0 \ud800 \r\n|"
)


def hostile() -> Iterator[tuple[Judged, Benchmark, Answer]]:
    claim = Claim("q1", "answer", 0, HOSTILE, 0, len(HOSTILE))
    other = Claim("q1", "reference", 0, HOSTILE, 0, len(HOSTILE))
    document = Document("d1", HOSTILE, HOSTILE, citations=(HOSTILE,), url='https://x" onclick="alert(1)')
    query = Query("q1", HOSTILE, HOSTILE, HOSTILE, variant=HOSTILE)
    benchmark = Benchmark(HOSTILE, {"d1": document}, {"q1": query}, {}, {"q1": Answer("q1", HOSTILE)})
    for label in ("supported", "contradicted", "unsupported", None):
        said = {"reason": HOSTILE, "quote": HOSTILE, "judge": HOSTILE, "prompt": HOSTILE, "category": HOSTILE}
        verdicts = [Verdict(claim, a, label, **said) for a in ("d1", HOSTILE, "reference", "evidence")]
        verdicts += [Verdict(other, a, label, **said) for a in ("answer", "d1")]
        judged = Judged("q1", ("accuracy",), (claim,), (other,), tuple(verdicts), HOSTILE, True, HOSTILE, len(HOSTILE))
        judged = replace(judged, reference_chars=len(HOSTILE), faults=(HOSTILE,))
        yield judged, benchmark, Answer("q1", HOSTILE, passages=(Passage("d1", 0, 0, 3), Passage(HOSTILE, 0, 0, 9)))


@pytest.mark.parametrize(("judged", "benchmark", "answer"), list(hostile()))
def test_nothing_hostile_gets_through(judged: Judged, benchmark: Benchmark, answer: Answer) -> None:
    for one in (judged, replace(judged, query_id=HOSTILE)):
        html = audit_page.html([one, one], benchmark, {"q1": answer}, {HOSTILE: HOSTILE.replace("\ud800", "")})
        html.encode()
        root = well_formed(html)
        tags = {e.tag for e in root.iter()}
        assert not tags & {"script", "img"}
        assert not {name for e in root.iter() for name in e.keys() if name.startswith("on")}  # noqa: SIM118
        text = shown(one, answer, benchmark)
        text.encode()
        assert not set("\x1b\u202e\0") & set(text + html) and "[red]x[/red]" in text


_SPANS = st.lists(st.tuples(st.none() | st.integers(-2, 30), st.none() | st.integers(-2, 30)), max_size=6)


@given(st.text(max_size=25), _SPANS)
def test_the_stretches_are_the_text_whatever_the_spans(text: str, spans: list[tuple[int | None, int | None]]) -> None:
    claims = tuple(Claim("q1", "answer", n, "x", *span) for n, span in enumerate(spans))
    verdicts = tuple(Verdict(claim, "d1", "supported", judge="inference/small") for claim in claims)
    judged = Judged("q1", ("groundedness",), claims, (), verdicts, chars=len(text))
    shown_side: Side = side(judged, "answer", BENCHMARK, Answer("q1", text))
    found = stretches(shown_side)
    assert "".join(s.text for s in found) == text
    sound = [n for n, (a, b) in enumerate(spans) if a is not None and b is not None and 0 <= a < b <= len(text)]
    assert sorted(n for s in found for n in s.ending) == sound
    for n in sound:
        assert "".join(s.text for s in found if n in s.claims) == text[spans[n][0] : spans[n][1]]


def test_made_is_shown_as_json() -> None:
    html = audit_page.html([JUDGED], BENCHMARK, made={"judge": {"model": "inference/small"}, "cost": 0.5})
    record = html.split("What made these verdicts</summary><pre>")[1].split("</pre>")[0]
    assert json.loads(record.replace("&quot;", '"')) == {"judge": {"model": "inference/small"}, "cost": 0.5}


_WORDS = st.lists(st.sampled_from(["a", "b", "ab", "é"]), min_size=1, max_size=8)
_GAPS = st.sampled_from([" ", "\n", "  ", "\u00a0\t"])


@given(_WORDS, st.lists(_GAPS, min_size=9, max_size=9), st.data())
def test_a_quote_is_found_whatever_its_white_space(words: list[str], gaps: list[str], data: st.DataObject) -> None:
    text = "".join(gap + word for gap, word in zip(gaps, words, strict=False)) + gaps[-1]
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    quote = " ".join(words[first : last + 1])
    place = _find(quote, text)
    assert place is not None and text[place[0] : place[1]].split() == quote.split()
    assert _find(quote + " z", text) is None
