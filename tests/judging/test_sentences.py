"""Sentences keep their place, citations stay whole, and claims are what a sentence states."""

from bisect import bisect_right
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import canlegalrag
from canlegalrag.citations import find
from canlegalrag.errors import InputError
from canlegalrag.judging.clauses import is_heading, is_question, parts, states_nothing
from canlegalrag.judging.sentences import Sentences, spans
from canlegalrag.protocols import Decomposer

DECISIONS = Path(__file__).parents[3] / "shared/data/scc/decisions.parquet"


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in spans(text)]


def claims(text: str) -> list[str]:
    (found,) = Sentences().decompose([("q1", "answer", text)])
    assert not isinstance(found, str)
    return [claim.text for claim in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\xa0", []),
        ("---\n***\n…", []),
        ("No.", ["No."]),
        ("No. If you dispute it, he must prove it.", ["No.", "If you dispute it, he must prove it."]),
        ("No. See Smith v. Jones, 2001 SCC 5.", ["No.", "See Smith v. Jones, 2001 SCC 5."]),
        (
            "See R. v. Oakes, [1986] 1 S.C.R. 103, at para. 69. He lost.",
            ["See R. v. Oakes, [1986] 1 S.C.R. 103, at para. 69.", "He lost."],
        ),
        ("It was [1955] 4 D.L.R. 636. So held.", ["It was [1955] 4 D.L.R. 636.", "So held."]),
        (
            "See 25 Ont. W.N. 43 and R.S.N.B. 1952, c. 45. Done.",
            ["See 25 Ont. W.N. 43 and R.S.N.B. 1952, c. 45.", "Done."],
        ),
        (
            "The Act, SBC 2009, c 901, ss. 20-27, gives 21 days (s. 23(1)). Apply.",
            ["The Act, SBC 2009, c 901, ss. 20-27, gives 21 days (s. 23(1)).", "Apply."],
        ),
        ("He left at 3 p.m. The court rose.", ["He left at 3 p.m.", "The court rose."]),
        ("No. 5 is wrong.", ["No. 5 is wrong."]),
        ("L'art. 2 s'applique. Voir l’al. 3 de l’art. 5.", ["L'art. 2 s'applique.", "Voir l’al. 3 de l’art. 5."]),
        ("M. Roy a perdu. « Il a tort. » dit-il.", ["M. Roy a perdu.", "« Il a tort. » dit-il."]),
        (
            "Tremblay c. Daigle, [1989] 2 R.C.S. 530, le dit. L'appel est rejeté.",
            ["Tremblay c. Daigle, [1989] 2 R.C.S. 530, le dit.", "L'appel est rejeté."],
        ),
        (
            "He said: \"I won't pay. You can't make me.\" Then he left.",
            ["He said: \"I won't pay. You can't make me.\"", "Then he left."],
        ),
        ("(He paid. She left.) Done.", ["(He paid. She left.)", "Done."]),
        ("# Short answer\n\nHe must pay.", ["Short answer", "He must pay."]),
        (
            "- one\n* two\n• three\n1. four\n2) five\n(a) six\n(iv) seven\n[12] eight\n> nine",
            ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"],
        ),
        (
            "First line\nSecond line\r\nThird\rFourth\u2028Fifth\u2029Sixth",
            ["First line", "Second line", "Third", "Fourth", "Fifth", "Sixth"],
        ),
        ("The notice was\nvoid from the start.\nit says so", ["The notice was\nvoid from the start.", "it says so"]),
        ("It was void\n\nfrom the start", ["It was void", "from the start"]),
        (
            "As in Okafor v. Lindqvist Holdings Ltd.,\n2021 BCSC 90101, it is void.",
            ["As in Okafor v. Lindqvist Holdings Ltd.,\n2021 BCSC 90101, it is void."],
        ),
        ("通知无效。 \ud800 fin", ["通知无效。 \ud800 fin"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(
    st.text(st.sampled_from("Aa1.!?;:,\n\r \xa0«»\"“”()[]#-*>vRé’'\ud800\u2028"), max_size=120) | st.text(max_size=60)
)
def test_spans_are_trimmed_disjoint_and_in_order(text: str) -> None:
    last = 0
    for start, end in spans(text):
        assert last <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert any(c.isalnum() for c in text[start:end])
        last = end


@given(st.text(st.sampled_from("Aa1.!? \n"), max_size=80))
def test_no_letter_is_lost(text: str) -> None:
    kept = "".join(sentences(text))
    assert Counter(filter(str.isalpha, kept)) == Counter(filter(str.isalpha, text))


@pytest.mark.skipif(not DECISIONS.exists(), reason="needs ../shared/data/scc, which is not in the repository")
def test_no_sentence_ends_within_a_citation_of_the_supreme_court() -> None:
    from pyarrow.parquet import ParquetFile

    texts = ParquetFile(DECISIONS).read(columns=["text"]).column("text")
    checked = 0
    for at in range(0, len(texts), 400):
        text = texts[at].as_py()[:100_000]
        ends = [end for _, end in spans(text)]
        for citation in find(text):
            i = bisect_right(ends, citation.start)
            assert i == len(ends) or ends[i] >= citation.end or "\n" in text[citation.start : citation.end], (
                citation.text
            )
            checked += 1
    assert checked > 150


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "The notice is void, and the landlord must pay costs.",
            ["The notice is void", "the landlord must pay costs."],
        ),
        ("The notice is void; the landlord must pay costs.", ["The notice is void", "the landlord must pay costs."]),
        ("The notice is void; but you must still pay rent.", ["The notice is void", "you must still pay rent."]),
        (
            "The notice is void, the rent is due, and you may apply for an order.",
            ["The notice is void, the rent is due", "you may apply for an order."],
        ),
        (
            "The notice is void; the rent is not due; you may apply now.",
            ["The notice is void", "the rent is not due", "you may apply now."],
        ),
        (
            "Le locataire doit payer, et le propriétaire peut résilier le bail.",
            ["Le locataire doit payer", "le propriétaire peut résilier le bail."],
        ),
        ("**The notice** is\nvoid, and the landlord must pay.", ["The notice is void", "the landlord must pay."]),
    ],
)
def test_two_statements_are_two_claims(sentence: str, expected: list[str]) -> None:
    assert parts(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    """
The landlord must prove intention and good faith.
The landlord and the tenant may agree.
The landlord must give notice, and may not enter without it.
The notice is void, and it cannot be cured.
The notice is void, and they must pay costs.
The court held that the notice is void, and the landlord must pay costs.
If the notice is void, the tenant may stay, and the landlord must pay costs.
The tenant may stay, and the landlord must pay costs, unless the court orders otherwise.
Because the notice is void, the tenant may stay, and the landlord must pay.
In that case, the notice is void, and the landlord must pay costs.
Under s. 7, the notice is void, and the landlord must pay costs.
The court has two rules: the notice is void, and the landlord must pay.
He relied on Smith and Jones v. Brown, 2001 SCC 5, and the court was not moved.
The rule in Canada (Attorney General) v. Smith, 2001 SCC 5 is clear, and the landlord must pay.
He must follow the Act, the Rules, and the Directive.
Sections 20, 21, and 22 apply.
The landlord and/or the agent must sign.
The lease says "the notice is void, and the landlord must pay costs".
The lease is void (the notice is late, and the landlord must pay costs).
Either the notice is void, or the landlord must pay, and the tenant may stay.
The landlord must prove it, and the tenant may not.
The first ground is strong, and the latter is not bad at all.
The amount is limited, and the rest is carried to the next year.
The landlord had refused, the work was slow, and the tenant was out, so that the notice is void.
The judge found fraud, and the drugs found in the car.
The damages are $5 and $10, respectively, and the costs are fixed.
Le juge a conclu que le bail est nul, et le locataire doit partir.
Si le bail est nul, le locataire peut partir, et le propriétaire doit payer.
""".strip().split("\n"),
)
def test_in_doubt_a_sentence_stays_whole(sentence: str) -> None:
    assert parts(sentence) == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Yes.",
        "No.",
        "No to both.",
        "Probably not.",
        "Quite possibly not.",
        "Yes, for the October flood.",
        "It depends.",
        "Oui.",
        "Probablement pas.",
        "Must he pay?",
        "Peut-il partir ?",
        "Short answer",
        "**Analysis**",
        "Conclusion:",
        "Under the Act:",
        "Short answer: No.",
        "See R. v. Oakes, [1986] 1 SCR 103, at para. 5.",
        "2019 SCC 65",
        "Voir Tremblay c. Daigle, [1989] 2 R.C.S. 530.",
        "Sources: 2019 SCC 65; 2001 SCC 5.",
        "",
        "12",
        "***",
    ],
)
def test_what_states_nothing(sentence: str) -> None:
    assert states_nothing(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "No appeal lies.",
        "No onus shifts.",
        "No liability arises here.",
        "Yes, the landlord must prove it.",
        "Not guilty.",
        "Probably ten months' rent.",
        "The landlord bears the onus",
        "Notice period: 21 days",
        "Apply now.",
        "Keep paying rent.",
        "Yes, if the landlord consents.",
        "No, 21 days is the limit.",
        "R. v. Oakes, [1986] 1 SCR 103 applies.",
        'The court asked "who must pay?"',
        "The court held as follows:",
        "Oui, le bail est nul.",
        "**The notice is void.**",
        "See a lawyer.",
        "Security for costs",
    ],
)
def test_what_states_something(sentence: str) -> None:
    assert not states_nothing(sentence)


def test_a_sentence_of_any_length_is_read() -> None:
    assert len(claims("the notice is void; " * 5_000)) == 1
    assert len(claims('("« - [' * 5_000 + " a")) == 1


def test_questions_and_headings() -> None:
    assert is_question("« Qui doit payer ? »") and not is_question("He asked why.")
    assert is_heading("## Analysis".lstrip("# ")) and not is_heading("The landlord must pay.")


def test_claims_have_their_place() -> None:
    text = "# Réponse\n\nNo. The notice is void, and the landlord must pay.\n- Keep paying rent."
    (found,) = Sentences().decompose([("q1", "reference", text)])
    assert not isinstance(found, str)
    assert [(c.query_id, c.side, c.index) for c in found] == [("q1", "reference", i) for i in range(3)]
    assert [c.text for c in found] == ["The notice is void", "the landlord must pay.", "Keep paying rent."]
    assert [text[c.start : c.end] for c in found] == ["The notice is void, and the landlord must pay."] * 2 + [
        "Keep paying rent."
    ]


def test_headings_by_their_mark_alone_are_no_claims() -> None:
    assert claims("## The landlord must pay\nHe must.") == ["He must."]


@given(st.text(max_size=80) | st.text(st.sampled_from("The landlord must, and;.*_\n "), max_size=80))
def test_a_claim_is_made_of_its_sentence(text: str) -> None:
    (found,) = Sentences().decompose([("q1", "answer", text)])
    assert not isinstance(found, str)
    for claim in found:
        letters = iter(text[claim.start : claim.end])
        assert claim.text.strip()
        assert all(c in letters for c in claim.text if not c.isspace())


def test_the_reference_answers_of_the_sample() -> None:
    answers = canlegalrag.load("sample").answers
    whole = whole_claims = 0
    for query, answer in answers.items():
        (found,) = Sentences().decompose([(query, "reference", answer.text)])
        assert not isinstance(found, str)
        cut = spans(answer.text)
        citations = [(c.start, c.end) for c in find(answer.text)]
        assert not [c for c in citations for _, end in cut if c[0] < end < c[1]]
        assert 3 <= len(found) <= 20
        whole, whole_claims = whole + len(cut), whole_claims + len(found)
    # Ten sentences state nothing ("No.", "Probably not."); four are two statements each.
    assert (len(answers), whole, whole_claims) == (64, 527, 521)


def test_it_is_a_decomposer_that_counts() -> None:
    model = Sentences()
    assert isinstance(model, Decomposer)
    assert model.identity["model"] == "offline/sentences"
    assert model.decompose([]) == []
    model.decompose([("q", "answer", "A b."), ("q", "answer", "")])
    assert model.counts == {"texts": 2, "truncated": 0}


@pytest.mark.parametrize("given", [None, 3, b"x", ["x"]])
def test_only_text(given: object) -> None:
    with pytest.raises(InputError, match="is no text"):
        spans(given)  # type: ignore[arg-type]
