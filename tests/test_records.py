"""Records: round trips are exact, faults are named by file, line and field, a person goes before a model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.records import (
    STOPS,
    Sorted,
    answer_line,
    categorised,
    corrected,
    judged_line,
    read_answers,
    read_categories,
    read_corrections,
    read_verdicts,
    sorted_line,
)
from canlegalrag.types import Answer, Claim, Document, Judged, Passage, Verdict

DOCUMENTS = {
    d.id: d for d in (Document("2019-scc-65", "Vavilov", "Le délai est de 30 jours."), Document("b", "B", "x"))
}
LABELS = ("supported", "contradicted", "unsupported", None)


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


words = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)
ids = st.text(st.characters(categories=("Ll", "Nd")), min_size=1, max_size=6)
places = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted)


@st.composite
def passages(draw: st.DrawFn) -> Passage:
    start, end = draw(places)
    return Passage(draw(ids), draw(st.integers(0, 9)), start, end)


answers = st.builds(
    Answer,
    query_id=ids,
    text=words,
    parts=st.lists(words, max_size=3).map(tuple),
    passages=st.lists(passages(), max_size=3).map(tuple),
    citations=st.lists(words, max_size=3).map(tuple),
    stop=st.sampled_from(STOPS),
    condition=words,
    usage=st.dictionaries(words, st.none() | st.integers(-9, 9) | st.floats(0, 1) | words, max_size=3),
).filter(lambda answer: answer.stop != "empty" or not answer.text.strip())


def verdicts_on(claim: Claim, against: str) -> st.SearchStrategy[Verdict]:
    return st.builds(
        Verdict,
        st.just(claim),
        st.just(against),
        st.sampled_from(LABELS),
        st.none() | st.floats(0, 1),
        *[words] * 4,
        st.none() | st.floats(0, 10),
        st.sampled_from(("", *CATEGORIES)),
    )


_OTHER = (("answer", "reference"), ("reference", "answer"))


@st.composite
def judgements(draw: st.DrawFn) -> Judged:
    query = draw(ids)
    sides: dict[str, tuple[Claim, ...] | None] = {}
    for side in ("answer", "reference"):
        texts = draw(st.none() | st.lists(words, max_size=4))
        spans = [(None, None) if not n % 3 else tuple(draw(places)) for n, _ in enumerate(texts or ())]
        rows = None if texts is None else tuple(Claim(query, side, n, t, *spans[n]) for n, t in enumerate(texts))
        sides[side] = rows
    sought = [(c, a) for side, other in _OTHER for c in sides[side] or () for a in (other, "2019-scc-65", "b:0-1")]
    verdicts = tuple(draw(verdicts_on(claim, against)) for claim, against in sought if draw(st.booleans()))
    return Judged(
        query,
        draw(st.lists(st.sampled_from(("accuracy", "coverage")), unique=True, min_size=bool(verdicts)).map(tuple)),
        sides["answer"],
        sides["reference"],
        verdicts,
        draw(st.sampled_from(STOPS)),
        draw(st.booleans()),
        draw(words),
        draw(st.integers(0, 9)),
        draw(st.none() | st.integers(0, 9)),
        tuple(draw(st.lists(words, max_size=2))),
    )


@given(st.lists(answers, min_size=1, max_size=4, unique_by=lambda a: a.query_id))
def test_answers_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, found: list[Answer]) -> None:
    path = write(tmp_path_factory.getbasetemp() / "a.jsonl", *map(answer_line, found))
    assert list(read_answers(path).values()) == found


@given(st.lists(judgements(), min_size=1, max_size=3, unique_by=lambda j: j.query_id))
def test_verdicts_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, found: list[Judged]) -> None:
    path = write(tmp_path_factory.getbasetemp() / "v.jsonl", *map(judged_line, found))
    assert list(read_verdicts(path).values()) == found


def test_other_peoples_answers_need_two_fields(tmp_path: Path) -> None:
    path = write(
        tmp_path / "answers.jsonl",
        {
            "query_id": "q1",
            "text": "Oui. 🏛️",
            "passages": [{"doc_id": "b"}, {"doc_id": "2019-scc-65", "start": 3, "end": 8}],
        },
        "",
        {"query_id": "q2", "text": " \n", "stop": None, "citations": None, "usage": None},
        {"query_id": "q3", "text": "", "stop": "refusal"},
    )
    found = read_answers(path, DOCUMENTS)
    assert found["q1"].passages == (Passage("b", 0, 0, 1, "x"), Passage("2019-scc-65", 1, 3, 8, "délai"))
    assert {q: a.stop for q, a in found.items()} == {"q1": "stop", "q2": "empty", "q3": "refusal"}
    assert found["q2"] == Answer("q2", " \n", stop="empty")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "a.jsonl:1: not JSON"),
        ("[]", "a.jsonl:1: a list, not a JSON object"),
        ({"text": "x"}, "a.jsonl:1: query_id: is missing"),
        ({"query_id": 1, "text": "x"}, "a.jsonl:1: query_id: 1 is not a string"),
        ({"query_id": " q", "text": "x"}, "a.jsonl:1: query_id: ' q' begins or ends with white space"),
        ({"query_id": "q"}, "a.jsonl:1: text: is missing"),
        ({"query_id": "q", "text": 5}, "a.jsonl:1: text: 5 is not a string"),
        ({"query_id": "q", "text": ["x"]}, r"a.jsonl:1: text: \['x'\] is not a string"),
        ('{"query_id": "q", "text": "\\ud800"}', "a.jsonl:1: holds half a surrogate pair"),
        ('{"query_id": "q", "text": "x", "usage": {"cost": NaN}}', "a.jsonl:1: not JSON: NaN is not a number"),
        (
            '{"query_id": "q", "text": "x", "usage": {"cost": 1e999}}',
            "a.jsonl:1: usage: holds a number that isn't finite",
        ),
        ({"query_id": "q", "text": "x", "usage": []}, "a.jsonl:1: usage: a list, not a JSON object"),
        ({"query_id": "q", "text": "x", "stop": "eos"}, "a.jsonl:1: stop: 'eos' is not known .one of: stop, length"),
        ({"query_id": "q", "text": "x", "stop": "empty"}, "a.jsonl:1: stop: is empty, but there is a text"),
        ({"query_id": "q", "text": "x", "citations": "2019 SCC 65"}, "a.jsonl:1: citations: a str, not a list"),
        ({"query_id": "q", "text": "x", "citations": [None]}, r"a.jsonl:1: citations\[0\]: None is not a string"),
        ({"query_id": "q", "text": "x", "passages": {}}, "a.jsonl:1: passages: a dict, not a list"),
        ({"query_id": "q", "text": "x", "passages": ["b"]}, r"a.jsonl:1: passages\[0\]: a str, not a JSON object"),
        ({"query_id": "q", "text": "x", "passages": [{}]}, r"a.jsonl:1: passages\[0\]: doc_id: is missing"),
        (
            {"query_id": "q", "text": "x", "passages": [{"doc_id": "2019-SCC-65"}]},
            r"passages\[0\]: doc_id: document '2019-SCC-65' is not in the corpus \(differs from '2019-scc-65'",
        ),
        (
            {"query_id": "q", "text": "x", "passages": [{"doc_id": "b", "start": 0}]},
            r"passages\[0\]: end: None is not a whole number",
        ),
        (
            {"query_id": "q", "text": "x", "passages": [{"doc_id": "b", "start": True, "end": 1}]},
            r"passages\[0\]: start: True is not a whole number",
        ),
        (
            {"query_id": "q", "text": "x", "passages": [{"doc_id": "b", "start": 1, "end": 0}]},
            r"passages\[0\]: end: 0 is before the start, 1",
        ),
        (
            {"query_id": "q", "text": "x", "passages": [{"doc_id": "b", "start": 0, "end": 2}]},
            r"passages\[0\]: end: passage ends at 2, but b has 1 characters",
        ),
    ],
)
def test_faults_of_answers_have_a_place(tmp_path: Path, line: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_answers(write(tmp_path / "a.jsonl", line), DOCUMENTS)


def test_an_answer_twice_none_at_all_and_a_whole_document_that_is_not_at_hand(tmp_path: Path) -> None:
    line = {"query_id": "q", "text": "x"}
    with pytest.raises(InputError, match=r"a.jsonl:3: query_id: query 'q' stands in the file twice"):
        read_answers(write(tmp_path / "a.jsonl", line, "", line))
    with pytest.raises(InputError, match="holds no answers"):
        read_answers(write(tmp_path / "a.jsonl", ""))
    with pytest.raises(InputError, match="the whole document, whose length isn't known here"):
        read_answers(write(tmp_path / "a.jsonl", line | {"passages": [{"doc_id": "b"}]}))


GOOD: dict[str, Any] = {
    "query_id": "q1",
    "asked": ["accuracy", "groundedness"],
    "claims": [{"text": "Rent is due."}, {"text": "The notice is void.", "start": 3, "end": 9}],
    "reference": [{"text": "The notice is void."}],
    "verdicts": [
        {"side": "answer", "index": 0, "against": "reference", "label": None, "reason": "cut off", "cost": None},
        {"side": "answer", "index": 1, "against": "reference", "label": "supported", "probability": 1},
        {"side": "answer", "index": 1, "against": "a", "label": "unsupported", "category": "fact"},
        {"side": "answer", "index": 1, "against": "b:0-9", "label": "contradicted", "quote": "It stands."},
    ],
}


def test_verdicts_are_about_claims(tmp_path: Path) -> None:
    judged = read_verdicts(write(tmp_path / "v.jsonl", GOOD))["q1"]
    first, second = judged.claims or ()
    assert second == Claim("q1", "answer", 1, "The notice is void.", 3, 9)
    assert judged.verdicts[0] == Verdict(first, "reference", None, reason="cut off", cost=None)
    assert judged.verdicts[1] == Verdict(second, "reference", "supported", 1.0)
    assert (judged.stop, judged.chars, judged.reference_chars, judged.abstained) == ("stop", 0, None, False)


def changed(**fields: Any) -> dict[str, Any]:
    return GOOD | {"verdicts": [GOOD["verdicts"][1] | fields]}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({k: v for k, v in GOOD.items() if k != "claims"}, "claims: is missing"),
        (GOOD | {"claims": None}, r"verdicts\[0\]: index: there is no claim 0: the answer isn't taken apart"),
        (GOOD | {"claims": [{}]}, r"claims\[0\]: text: is missing"),
        (GOOD | {"claims": [{"text": "x", "start": 4}]}, r"claims\[0\]: end: None is not a whole number"),
        (GOOD | {"claims": [{"text": "x", "start": 4, "end": 2}]}, r"claims\[0\]: end: 2 is before the start"),
        (GOOD | {"asked": []}, r"asked: is missing or empty, so that nobody knows what was judged for"),
        (GOOD | {"asked": ["precision"]}, r"asked\[0\]: 'precision' is not known \(one of: accuracy"),
        (GOOD | {"chars": -1}, "chars: -1 is not a whole number from 0"),
        (GOOD | {"chars": 10**400}, "chars: 10{79} is not a whole number from 0 to 2147483647"),
        (GOOD | {"abstained": "false"}, "abstained: 'false' is neither true nor false"),
        (changed(index=2), r"verdicts\[0\]: index: there is no claim 2: the answer has 2 claims"),
        (changed(index=-1), r"verdicts\[0\]: index: -1 is not a whole number"),
        (changed(index=0.0), r"index: 0.0 is not a whole number"),
        (changed(label="true"), r"verdicts\[0\]: label: 'true' is not known \(one of: supported"),
        (changed(label=True), r"label: True is not a string"),
        (changed(label=""), r"label: '' is not known"),
        (changed(side="claim"), r"side: 'claim' is not known"),
        (changed(against="answer"), r"against: holds the answer's claims against themselves"),
        (changed(against=" "), r"against: is blank"),
        (changed(against="Reference"), r"against: 'Reference' is neither 'reference' nor a document's id"),
        (changed(against="evidence "), r"against: 'evidence ' is neither 'evidence' nor a document's id"),
        (changed(probability=1.5), r"probability: 1.5 is not from 0 to 1"),
        (changed(probability=10**400), r"probability: 1000"),
        (changed(probability=True), r"probability: True is not a number"),
        (changed(cost=-1), r"cost: -1 is not from 0"),
        (changed(cost=1e308), r"cost: 1e\+308 is not from 0 to 1e\+09"),
        (changed(category="wrong"), r"category: 'wrong' is not known"),
        (
            GOOD | {"verdicts": [GOOD["verdicts"][1]] * 2},
            r"verdicts\[1\]: answer claim 1 is judged against 'reference' twice",
        ),
    ],
)
def test_faults_of_verdicts_have_a_place(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"v.jsonl:1: {said}" if "[" in said else said):
        read_verdicts(write(tmp_path / "v.jsonl", row))


def test_infinite_numbers_and_missing_labels_are_no_verdicts(tmp_path: Path) -> None:
    for written in ("NaN", "1e999"):
        line = json.dumps(changed(probability=0.5)).replace("0.5", written)
        with pytest.raises(InputError, match=r"v.jsonl:1"):
            read_verdicts(write(tmp_path / "v.jsonl", line))
    without = {k: v for k, v in GOOD["verdicts"][1].items() if k != "label"}
    with pytest.raises(InputError, match=r"label: is missing .*null where the judge failed"):
        read_verdicts(write(tmp_path / "v.jsonl", GOOD | {"verdicts": [without]}))
    with pytest.raises(InputError, match="holds no verdicts"):
        read_verdicts(write(tmp_path / "v.jsonl"))


def test_a_verdict_on_another_claim_is_not_written(tmp_path: Path) -> None:
    judged = read_verdicts(write(tmp_path / "v.jsonl", GOOD))["q1"]
    other = Verdict(Claim("q1", "answer", 1, "Another text."), "reference", "supported")
    with pytest.raises(InputError, match=r"'Another text.', which is not claim 1 of its answer"):
        judged_line(replace(judged, verdicts=(other,)))


def test_a_person_goes_before_the_model(tmp_path: Path) -> None:
    """The correction on evidence takes the place of both pieces' verdicts; that on the reference leaves them."""
    judged = read_verdicts(write(tmp_path / "v.jsonl", GOOD, GOOD | {"query_id": "q2"}))
    path = write(
        tmp_path / "c.jsonl",
        {"query_id": "q1", "index": 1, "against": "evidence", "label": "supported", "reason": "para 12"},
        {
            "query_id": "q1",
            "side": "answer",
            "index": 0,
            "against": "reference",
            "label": "contradicted",
            "judge": "ABC",
        },
        {"query_id": "q1", "index": 0, "against": "evidence", "label": "unsupported"},
    )
    after = corrected(judged, read_corrections(path))
    assert after["q2"] is judged["q2"]
    first, second = judged["q1"].claims or ()
    assert after["q1"].verdicts == (
        Verdict(first, "reference", "contradicted", judge="ABC"),
        judged["q1"].verdicts[1],
        Verdict(second, "evidence", "supported", reason="para 12", judge="human"),
        Verdict(first, "evidence", "unsupported", judge="human"),
    )
    assert list(read_verdicts(write(tmp_path / "w.jsonl", judged_line(after["q1"]))).values()) == [after["q1"]]
    kept = corrected(
        judged, read_corrections(write(path, {**json.loads(path.read_text().split("\n")[0]), "label": "contradicted"}))
    )
    assert kept["q1"].verdicts[2].category == "fact"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"query_id": "q9"}, "c.jsonl:1: query_id: query 'q9' was not judged"),
        ({"index": 2}, "c.jsonl:1: index: there is no claim 2: the answer has 2 claims"),
        ({"side": "reference", "against": "answer"}, "c.jsonl:1: against: coverage was not asked of this answer"),
        ({"against": "answer"}, "c.jsonl:1: against: holds the answer's claims against themselves"),
        ({"against": "a"}, "c.jsonl:1: against: 'a' is not known"),
        ({"label": None}, "c.jsonl:1: label: is missing"),
        ({"label": "wrong"}, "c.jsonl:1: label: 'wrong' is not known"),
        ({"judge": ""}, "c.jsonl:1: judge: '' is no person"),
        ({"judge": "inference/model"}, "c.jsonl:1: judge: 'inference/model' is no person"),
        ({"claim": "It rained."}, "c.jsonl:1: claim: claim 0 of the answer is another"),
    ],
)
def test_corrections_that_fit_nothing_are_named(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    judged = read_verdicts(write(tmp_path / "v.jsonl", GOOD))
    good = {"query_id": "q1", "index": 0, "against": "reference", "label": "supported"}
    with pytest.raises(InputError, match=said):
        corrected(judged, read_corrections(write(tmp_path / "c.jsonl", good | row)))
    with pytest.raises(InputError, match=r"c.jsonl:2: corrects the same claim as .*c.jsonl:1"):
        read_corrections(write(tmp_path / "c.jsonl", good, good))


def test_categories_go_to_the_verdicts_that_fail(tmp_path: Path) -> None:
    judged = read_verdicts(write(tmp_path / "v.jsonl", GOOD))
    found = [Sorted("q1", 1, "modality", "shall for may", "offline/rules"), Sorted("q1", 0, "", "cut off")]
    path = write(tmp_path / "categories.jsonl", *map(sorted_line, found))
    read = read_categories(path)
    assert [replace(one, where="") for one in read] == found
    after = categorised(judged, read)["q1"].verdicts
    assert [v.category for v in after] == ["", "", "modality", "modality"]
    assert read_categories(write(path)) == []
    with pytest.raises(InputError, match=r"x:3: query 'q1' has no claim 7 of its answer"):
        categorised(judged, [Sorted("q1", 7, "fact", where="x:3")])
    (first, _) = judged["q1"].claims or ()
    categorised(judged, [Sorted("q1", 0, "fact", claim=first.text)])
    with pytest.raises(InputError, match="categories: claim 0 of 'q1' is another"):
        categorised(judged, [Sorted("q1", 0, "fact", claim="It rained.")])
    with pytest.raises(InputError, match=r"categories.jsonl:1: category: 'wrong' is not known"):
        read_categories(write(path, {"query_id": "q1", "index": 0, "category": "wrong"}))
