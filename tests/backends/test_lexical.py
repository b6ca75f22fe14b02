"""The lexical judge and sorter: each rule by cases, the nearest sentence, odd input."""

import json
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag import backends
from canlegalrag.backends._lexical import enough, index
from canlegalrag.backends._lexical_numbers import Number, agree, conflict, numbers
from canlegalrag.backends._lexical_reading import Deed, read
from canlegalrag.backends._lexical_stems import _OPPOSITES, OPPOSITES, stem
from canlegalrag.errors import InputError
from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.protocols import Judge, Sorter
from canlegalrag.types import Claim, Failure, Task, Verdict

S, C, U = "supported", "contradicted", "unsupported"
JUDGE = backends.judge("offline/lexical")


def verdict(claim: str, evidence: str, against: str = "doc") -> Verdict:
    return JUDGE.judge([Task((Claim("q1", "answer", 0, claim),), against, evidence)])[0][0]


CASES = [
    ("The landlord returned the deposit.", "The landlord returned the deposit to the tenant.", S),
    ("The landlord returned the deposit.", "The landlord did not return the deposit.", C),
    ("The landlord did not return the deposit.", "The landlord returned the deposit.", C),
    ("The landlord never returned the deposit.", "The landlord did not return the deposit.", S),
    ("Notice was not given to the tenant.", "No notice was given to the tenant.", S),
    ("The landlord gave the tenant notice.", "No notice was given to the tenant by the landlord.", C),
    ("The tenant must be given two months' notice.", "A landlord must give the tenant 2 months' notice.", S),
    ("The tenant must be given three months' notice.", "A landlord must give the tenant two months' notice.", C),
    ("The rent was $1,385 a month.", "Her rent is $1,385 a month.", S),
    ("The rent was $1,835 a month.", "Her rent is $1,385 a month.", C),
    (
        "The employer dismissed the employee without notice.",
        "The employee was dismissed by the employer without notice.",
        S,
    ),
    ("The employee sued the employer for wages.", "The employer sued the employee for wages.", C),
    ("The tenant was sued by the landlord for rent.", "The landlord sued the tenant for rent.", S),
    ("The landlord must repair the roof.", "The tenant must repair the roof.", C),
    ("The Tribunal may award costs.", "The Tribunal must award costs.", C),
    ("The Tribunal shall award costs.", "The Tribunal may award costs.", C),
    ("The Tribunal must award costs.", "The Tribunal shall award costs.", S),
    ("A landlord cannot end a tenancy without notice.", "A landlord may not terminate a tenancy without notice.", S),
    ("The appeal was dismissed.", "The appeal is allowed.", C),
    ("The appeal was dismissed.", "The appeal is dismissed with costs.", S),
    ("The appeal was not allowed.", "The appeal is dismissed.", S),
    ("The notice was valid.", "The notice was invalid.", C),
    ("The decision was set aside.", "The decision is upheld.", C),
    ("The hearing took place on March 16, 2021.", "The hearing took place on March 16, 2021 in Victoria.", S),
    ("The hearing took place on March 17, 2021.", "The hearing took place on March 16, 2021 in Victoria.", C),
    ("The hearing took place in 2021.", "The hearing took place on March 16, 2021 in Victoria.", S),
    ("The hearing took place in March 2020.", "The hearing took place on March 16, 2021 in Victoria.", C),
    ("Section 49 requires notice in writing.", "Section 49(1) requires notice in writing.", S),
    ("Section 50 requires notice in writing.", "Section 49(1) requires notice in writing.", U),
    (
        "Under Hartnell v. Dacosta, 2012 BCSC 90103, the burden is on the landlord.",
        "The burden is on the landlord: Hartnell v. Dacosta, 2012 BCSC 90103.",
        S,
    ),
    (
        "Under Hartnell v. Dacosta, 2012 BCSC 90103, the burden is on the landlord.",
        "The burden is on the landlord: Smith v. Jones, 2015 BCSC 77.",
        U,
    ),
    ("All tenants may end a lease early.", "Some tenants may end a lease early.", C),
    ("Only the landlord may apply to the Tribunal.", "The landlord may apply to the Tribunal.", U),
    ("The landlord acted in bad faith.", "The tenant argues that the landlord acted in bad faith.", U),
    (
        "The tenant argues that the landlord acted in bad faith.",
        "The tenant argues that the landlord acted in bad faith.",
        S,
    ),
    ("The dog bit the neighbour.", "The appeal is dismissed.", U),
    ("The landlord must give at least 30 days notice.", "The landlord must give no more than 30 days notice.", C),
    (
        "The employee must give at least two weeks' notice.",
        "The employee must give not less than two weeks' notice.",
        S,
    ),
    ("The roof was leaking and mould grew in the bedroom.", "The tenant paid rent on time every month.", U),
    (
        "Le locateur doit remettre le logement en bon état.",
        "Le locateur est tenu de remettre le logement en bon état.",
        S,
    ),
    ("Le locateur peut remettre le logement en bon état.", "Le locateur doit remettre le logement en bon état.", C),
    ("Le locataire n'a pas payé le loyer.", "Le locataire a payé le loyer.", C),
    ("Le locataire n'a pas payé le loyer.", "Le locataire n’a jamais payé le loyer.", S),
    ("Le loyer est de 1 385 $ par mois.", "Le loyer est de 1 385 $ par mois.", S),
    ("Le loyer est de 1 485 $ par mois.", "Le loyer est de 1 385 $ par mois.", C),
    ("Le locataire doit payer le locateur.", "Le locateur doit payer le locataire.", C),
    ("L'audience a eu lieu le 16 mars 2021.", "L’audience a eu lieu le 16 mars 2021.", S),
    ("Ms. Okafor paid the rent on time.", "Ms. Okafor lived there. She paid the rent on time.", S),
    ("Ms. Ravensworth paid the rent on time.", "Ms. Okafor lived there. She paid the rent on time.", U),
    (
        "He was awarded $5,000 for injury to dignity.",
        "I award the complainant $5,000 for injury to his dignity, feelings and self-respect.",
        S,
    ),
    ("The officer entered the house without a warrant.", "The officer entered the house with a warrant.", C),
    ("The landlord kept 50% of the deposit.", "The landlord kept 40 per cent of the deposit.", C),
    ("Tenancies end automatically when the landlord sells.", "A tenancy does not end when the landlord sells.", C),
]


@pytest.mark.parametrize(("claim", "evidence", "label"), CASES)
def test_cases(claim: str, evidence: str, label: str) -> None:
    found = verdict(claim, evidence)
    assert found.label == label, found.reason
    # The evidence alone, and among other sentences before and after it, decides alike.
    around = (
        f"Costs follow the event. The road to Kelowna was closed.\n\n{evidence}\n\nThe weather was fine that spring."
    )
    among = verdict(claim, around)
    assert among.label == label, among.reason
    assert among.quote in around


def test_what_a_verdict_says() -> None:
    found = verdict("The rent was $1,835 a month.", "[4] She moved in.\n\n[5] Her rent is $1,385 a month. She left.")
    assert found.quote == "Her rent is $1,385 a month."
    assert found.reason == "100% of its words; 1835 $ against 1385 $"
    assert (found.probability, found.judge, found.against, found.cost, found.prompt) == (
        pytest.approx(1 / 3, abs=1e-6),
        "offline/lexical",
        "doc",
        0.0,
        "",
    )
    assert verdict("The rent was $1,385 a month.", "Her rent is $1,385 a month.").probability == 1.0


def test_probability_reaches_a_half_only_where_nothing_disagrees() -> None:
    for claim, evidence, _ in CASES:
        found = verdict(claim, evidence)
        if found.label is not None:
            assert found.probability is not None and (found.probability >= 0.5) == (found.label == S)


def test_nothing_to_compare_has_no_label() -> None:
    assert verdict("", "The rent is due.").label is None
    assert verdict("🙂 🙂", "The rent is due.").reason == "the claim has no word that could be compared"
    assert verdict("No.", "The rent is due.").label is None
    assert verdict("The rent is due.", "  \n ").reason == "the evidence is blank"
    assert verdict("The rent is due.", "🙂").label == U
    assert verdict("Аренда уплачена.", "The rent is due.").label == U
    assert JUDGE.judge([]) == [] and JUDGE.judge([Task((), "doc", "x")]) == [[]]


def test_a_citation_is_that_of_the_evidence_itself_or_stands_in_it() -> None:
    claim = "In Okafor v. Lindqvist, 2021 BCSC 90101, the notice was set aside."
    evidence = "The notice is set aside."
    # Its own evidence doesn't name it: the document's id does, as whole document and as passage.
    assert verdict(claim, f"{evidence} Okafor and Lindqvist appeared.", "2021-bcsc-90101").label == S
    assert verdict(claim, f"{evidence} Okafor and Lindqvist appeared.", "2021-bcsc-90101:0-99").label == S
    assert verdict(claim, evidence, "2019-bcsc-90104").label == U
    assert verdict(claim, f"Okafor v. Lindqvist, 2021 BCSC 90101\n\n{evidence}", "x").label == S
    assert "the evidence doesn't cite 2021 BCSC 90101" in verdict(claim, evidence, "x").reason


def test_word_for_word_is_supported_unless_taken_back() -> None:
    sentence = "The landlord shall not be heard to say, if no notice was given, that the roof was sound in 2019."
    found = verdict("the  landlord SHALL NOT be heard to say, if no notice was given", f"Costs follow. {sentence}")
    assert (found.label, found.probability, found.quote) == (S, 1.0, sentence)
    two = "The roof was “unsound”. It leaked in 2019."
    assert verdict('The roof was "unsound". It leaked in 2019', f"Before that. {two} So it was.").quote == two
    for before in ("It is not the case that", "The tenant argues that", "I doubt whether"):
        assert verdict("the landlord kept the deposit", f"{before} the landlord kept the deposit.").label != S
    # Parts of words are no words, and a second place counts where the first takes it back.
    assert verdict("rent is due", "The current is due.").label == U
    assert verdict("Rent is due.", "He denies that if asked rent is due. Rent is due.").probability == 1.0


def test_the_more_sentences_the_more_words_are_asked_for() -> None:
    claim = "The tenant paid the rent for the garage by cheque in cash by mail."
    near = "Her rent was for a garage."
    alone, among = verdict(claim, near), verdict(claim, near + " The dog barked loudly." * 300)
    assert alone.probability > among.probability
    assert enough(1) == 0.25 and enough(10**9) == 0.5


def test_who_decides_says_nothing_of_what_is_decided() -> None:
    assert verdict("The court held that the notice was void.", "The notice was void.").probability == 1.0
    assert verdict("Rent was due before the hearing.", "Rent was due after the hearing.").label == C


def test_accents_spaces_and_apostrophes_count_for_nothing() -> None:
    assert verdict("Le loyer est du le 1er mars.", "Le\u00a0loyer est dû le 1er\u00a0mars.").label == S
    assert verdict("Le locataire n\u2019a pas paye le loyer.", "Le locataire n'a pas payé le loyer.").label == S
    assert verdict("The landlord doesn\u2019t pay rent.", "The landlord doesn't pay rent.").label == S
    assert verdict("cafe\u0301 deposit", "CAFÉ DEPOSIT").label == S


def test_a_megabyte() -> None:
    filler = "".join(f"[{i}] The court heard witness {i} on the boundary of lot {i + 7}.\n\n" for i in range(16_000))
    evidence = f"{filler}The landlord kept the deposit of $900.\n\n{filler[:1000]}"
    assert len(evidence) > 1_000_000
    assert verdict("The landlord kept the deposit of $900.", evidence).label == S
    assert verdict("The landlord kept the deposit of $800.", evidence).label == C
    assert verdict("word " * 200_000, "The word is law.").label in (S, U)


@given(st.text(max_size=120), st.text(max_size=300))
def test_any_text_is_judged_alike_twice(claim: str, evidence: str) -> None:
    one, two = verdict(claim, evidence), verdict(claim, evidence)
    assert one == two
    assert one.label in (S, C, U, None)
    assert one.probability is None or 0 <= one.probability <= 1
    assert one.quote in evidence


@given(st.sampled_from([e for _, e, label in CASES if label]))
def test_a_sentence_supports_itself(evidence: str) -> None:
    for start, end in index(evidence).spans:
        assert verdict(evidence[start:end], evidence).label == S


def test_many_claims_in_one_task_keep_their_order() -> None:
    claims = tuple(Claim("q1", "answer", i, text) for i, (text, _, _) in enumerate(CASES))
    (found,) = JUDGE.judge([Task(claims, "doc", " ".join(evidence for _, evidence, _ in CASES))])
    assert [v.claim for v in found] == list(claims)
    before = JUDGE.counts["texts"]
    JUDGE.judge([Task(claims, "doc", "x")])
    assert JUDGE.counts == {"texts": before + len(claims), "truncated": 0}


@pytest.mark.parametrize("bad", [5, None, b"rent"])
def test_wrong_types_are_named(bad: Any) -> None:
    with pytest.raises(InputError, match="is not a string"):
        verdict(bad, "x")
    with pytest.raises(InputError, match="is not a string"):
        verdict("rent", bad)
    with pytest.raises(InputError, match="surrogate"):
        verdict("rent \ud800", "x")


# What it reads.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1,385 and 1 385 $ and $5", [("$", 1385.0), ("$", 1385.0), ("$", 5.0)]),
        ("12,50 $ or $2 million", [("$", 12.5), ("$", 2e6)]),
        ("40 per cent, 5% and 3 pour cent", [("%", 40.0), ("%", 5.0), ("%", 3.0)]),
        ("two months, thirty (30) days and 10 years", [("month", 2.0), ("day", 30.0), ("year", 10.0)]),
        ("a 30-day notice", [("day", 30.0)]),
        ("one of them", []),
        ("one month", [("month", 1.0)]),
        ("200 voting shares", [(stem("voting"), 200.0)]),
        ("1" * 400 + " days", None),
        ("", []),
    ],
)
def test_numbers(text: str, expected: Any) -> None:
    found = [(n.kind, n.value[0]) for n in numbers(text)]
    assert found == expected if expected is not None else len(found) == 1


def test_dates() -> None:
    for text in ("march 16, 2021", "16 march 2021", "2021-03-16", "16 mars 2021", "mar. 16, 2021"):
        assert numbers(text) == [Number("date", (2021, 3, 16))], text
    assert numbers("in march 2021") == [Number("date", (2021, 3, None))]
    assert numbers("in 2021") == [Number("date", (2021, None, None))]
    assert numbers("may 5") == [Number("date", (None, 5, 5))]
    assert agree(Number("date", (None, 3, 16)), Number("date", (2021, 3, 16)))
    assert conflict(Number("date", (2020, None, None)), Number("date", (2021, 3, 16)))
    assert not agree(Number("date", (2021, 3, 16)), Number("date", (2021, None, None)))


def test_sections() -> None:
    assert numbers("section 49(1)(a) and s. 7") == [Number("section", ("49", "(1)(a)")), Number("section", ("7", ""))]
    assert agree(Number("section", ("49", "")), Number("section", ("49", "(1)")))
    assert not agree(Number("section", ("49", "(2)")), Number("section", ("49", "(1)")))
    assert not conflict(Number("section", ("50", "")), Number("section", ("49", "")))


def test_who_does_what() -> None:
    assert read("The landlord sued the tenant.").deeds == (Deed("=landlord", "=tenant", frozenset({stem("sued")})),)
    assert read("The tenant was sued by the landlord.").deeds == read("The landlord sued the tenant.").deeds
    assert read("The landlord sued. The tenant left.").deeds == ()


def test_months_are_no_permission() -> None:
    assert read("The landlord paid rent on May 5.").stems[stem("paid")] == frozenset({""})
    assert "may" in " ".join(read("The landlord may charge interest.").stems[stem("charge")])


def test_opposites_are_pairs_of_stems() -> None:
    assert all(stem(word) for word in _OPPOSITES.split()), "a function word would shift all pairs behind it"
    assert all(word in OPPOSITES[other] for word, others in OPPOSITES.items() for other in others)


# The sorter.

QUESTION = "My landlord kept my deposit after I moved out. Can he do that?"


def failure(claim: str, evidence: str, against: str = "doc") -> Failure:
    return Failure(Verdict(Claim("q1", "answer", 0, claim), against, U), QUESTION, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence", "category"),
    [
        ("The landlord kept the deposit after you moved out.", "Rent is due monthly.", "restates"),
        ("In conclusion, the outlook is favourable.", "The rent is due monthly.", "connective"),
        ("Par conséquent, la situation est favorable.", "Le loyer est dû.", "connective"),
        ("The dog licence expires in spring.", "The tribunal may order the return of money.", "unrelated"),
        (
            "Under Hartnell v. Dacosta, 2012 BCSC 90103, the burden is on the landlord.",
            "The burden lies with him: Smith v. Jones, 2015 BCSC 77, on the landlord's burden.",
            "attribution",
        ),
        ("A landlord gives 3 months' notice of eviction.", "A landlord gives 2 months' notice of eviction.", "fact"),
        ("The employee must train the employer.", "The employer must train the employee.", "fact"),
        (
            "The tribunal must order repayment with interest.",
            "The tribunal may order repayment with interest.",
            "modality",
        ),
        (
            "The tribunal always orders repayment with interest.",
            "The tribunal sometimes orders repayment with interest.",
            "modality",
        ),
        (
            "The tribunal weighs conduct, hardship, delay and repayment.",
            "The tribunal ordered repayment. Conduct counts.",
            "synthesis",
        ),
        ("🙂", "The rent is due.", ""),
        ("Interest runs from judgment.", " ", ""),
    ],
)
def test_sorting(claim: str, evidence: str, category: str) -> None:
    sorter = backends.sorter("offline/rules")
    assert isinstance(sorter, Sorter)
    ((found, reason),) = sorter.sort([failure(claim, evidence)])
    assert (found, bool(reason)) == (category, True), reason
    assert found == "" or found in CATEGORIES
    assert sorter.counts["texts"] == 1


@given(st.text(max_size=100), st.text(max_size=200))
def test_any_failure_is_sorted(claim: str, evidence: str) -> None:
    ((found, _),) = backends.sorter("offline/rules").sort([failure(claim, evidence)])
    assert found in (*CATEGORIES, "")


# What it is, and how good.


def test_it_is_a_judge_by_name() -> None:
    assert isinstance(JUDGE, Judge)
    identity = json.loads(json.dumps(dict(JUDGE.identity), allow_nan=False))
    assert identity["model"] == "offline/lexical"


def test_every_pair_of_the_sample_gets_a_label() -> None:
    """How often it is right is for `canlegalrag calibrate` to say: the rules weren't made on these pairs."""
    file = resources.files("canlegalrag") / "sample" / "pairs.jsonl"
    if not file.is_file():
        pytest.skip("the sample has no labelled pairs")
    pairs = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = [verdict(pair["claim"], pair["quote"], pair["doc"]) for pair in pairs]
    assert {v.label for v in found} == {S, C, U}
    assert all(v.quote in pair["quote"] for v, pair in zip(found, pairs, strict=True))
