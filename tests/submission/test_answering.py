"""Answers and verdicts of strangers: as the strict readers on sound files, and whether they belong together."""

import json
from pathlib import Path
from typing import Any

import pytest

from canlegalrag import load, records
from canlegalrag.submission import LIMITS, Checked, check, evaluate

SAMPLE = load("sample")
DOCUMENT = "2019-bcsc-90104"
ANSWER = {"query_id": "b1-q1", "text": "The tenancy ended."}
GROUNDED = ANSWER | {"passages": [{"doc_id": DOCUMENT}]}


def checked(folder: Path, **files: list[Any]) -> Checked:
    paths = {}
    for name, rows in files.items():
        paths[name] = folder / f"{name}.jsonl"
        paths[name].write_text("".join(json.dumps(row) + "\n" for row in rows))
    return check(paths, SAMPLE)


def of(found: Checked, file: str) -> list[str]:
    return [str(problem) for problem in found.problems if problem.where.startswith(file)]


def judgement(**more: Any) -> dict[str, Any]:
    row = {
        "query_id": "b1-q1",
        "asked": ["groundedness"],
        "chars": len(ANSWER["text"]),
        "claims": [{"text": "The tenancy ended.", "start": 0, "end": 18}],
        "reference": None,
        "verdicts": [{"side": "answer", "index": 0, "against": DOCUMENT, "label": "supported", "judge": "human"}],
    }
    return row | more


def test_sound_answers_read_as_the_strict_reader_does(tmp_path: Path) -> None:
    rows = [
        ANSWER | {"passages": [{"doc_id": DOCUMENT, "start": 5, "end": 9}, {"doc_id": DOCUMENT}], "usage": {"cost": 1}},
        {"query_id": "b1-q2", "text": " ", "citations": ["2019 BCSC 90104"]},
        {"query_id": "b1-q3", "text": "No.", "stop": "length", "condition": "oracle"},
    ]
    found = checked(tmp_path, answers=rows)
    strict = records.read_answers(tmp_path / "answers.jsonl", SAMPLE.documents)
    assert of(found, "answers") == [] and found.answers is not None
    for query, answer in strict.items():
        ours = found.answers[query]
        places = [(p.doc_id, p.index, p.start, p.end) for p in answer.passages]
        assert [(p.doc_id, p.index, p.start, p.end) for p in ours.passages] == places
        for name in ("text", "citations", "stop", "condition", "usage"):
            assert getattr(ours, name) == getattr(answer, name)


def test_sound_verdicts_read_as_the_strict_reader_does(tmp_path: Path) -> None:
    found = checked(tmp_path, answers=[GROUNDED], verdicts=[judgement()])
    assert of(found, "verdicts") == []
    assert found.judged == records.read_verdicts(tmp_path / "verdicts.jsonl")


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (
            {"text": "x" * 20_001},
            "text: has 20,001 characters, more than 20,000: left out",
        ),
        ({"text": None}, 'text: is missing ("text": "…")'),
        ({"query_id": None}, 'query_id: is missing: left out ("query_id": "…")'),
        ({"query_id": " b1-q1"}, "query_id: ' b1-q1' begins or ends with white space: left out"),
        ({"query_id": 5}, "query_id: 5 is not a string: left out"),
        ({"query_id": "b1-q99"}, "query 'b1-q99' is not in the benchmark: left out"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_answers_that_are_left_out(more: dict[str, Any], what: str, tmp_path: Path) -> None:
    found = checked(tmp_path, answers=[ANSWER | more, {"query_id": "b1-q2", "text": "No."}])
    assert of(found, "answers.jsonl:1")[0].startswith(f"answers.jsonl:1: {what}")
    assert found.answers is not None and list(found.answers) == ["b1-q2"]


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"stop": "done"}, "stop: 'done' is not known"),
        ({"condition": 5}, "condition: 5 is not a string"),
        ({"citations": "2019 BCSC 1"}, "citations: a str, not a list"),
        ({"usage": []}, "usage: a list, not a JSON object"),
        ({"passages": {}}, "passages: a dict, not a list"),
        ({"passages": [7]}, "passages[0]: a int, not a JSON object"),
        ({"passages": [{"doc_id": DOCUMENT.upper()}]}, "passages[0]: doc_id: document '2019-BCSC-90104' is not in the"),
        ({"passages": [{"doc_id": DOCUMENT, "start": 5}]}, "passages[0]: end: None is not a whole number from 0"),
        ({"passages": [{"doc_id": DOCUMENT, "start": 5, "end": 4}]}, "passages[0]: end: 4 is before the start, 5"),
        ({"passages": [{"doc_id": DOCUMENT, "start": 5, "end": 10**7}]}, "passages: passage ends at 10,000,000, but"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_answers_that_lose_a_field(more: dict[str, Any], what: str, tmp_path: Path) -> None:
    found = checked(tmp_path, answers=[ANSWER | more])
    said = of(found, "answers")
    assert len(said) == 1 and said[0].startswith(f"answers.jsonl:1: {what}")
    assert found.answers is not None and found.answers["b1-q1"].text == ANSWER["text"]
    assert found.answers["b1-q1"].passages == ()


def test_answers_given_twice(tmp_path: Path) -> None:
    found = checked(tmp_path, answers=[ANSWER, ANSWER | {"text": "Other."}])
    what = "answers.jsonl:2: query 'b1-q1' stands in the file twice: the first counts (one line a query)"
    assert of(found, "answers") == [what]
    assert found.answers is not None and found.answers["b1-q1"].text == ANSWER["text"]


LENGTH = f"{len(SAMPLE.answers['b1-q1'].text):,}"


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"chars": 17}, "is of an answer of 17 characters, and this one has 18: left out"),
        ({"condition": "oracle"}, "is of the condition 'oracle', the answer of '': left out"),
        ({"stop": "length"}, "is of an answer that ended with 'length', and this one with 'stop': left out"),
        ({"claims": [{"text": "x", "start": 0, "end": 19}]}, "has a claim that ends at 19, and the answer has 18"),
        ({"query_id": "b1-q2"}, "is of an answer that isn't in the answers: left out"),
        ({"query_id": "b9-q2"}, "query 'b9-q2' is not in the benchmark: left out"),
        (
            {"reference_chars": 5},
            f"is by a reference answer of 5 characters, and the benchmark has one of {LENGTH}",
        ),
        (
            {"reference": [{"text": "The tenant wins."}]},
            "is by 1 claim of the reference answer, not by the benchmark's 15",
        ),
        ({"asked": ["beauty"]}, "asked[0]: 'beauty' is not known: the line is left out"),
        ({"claims": []}, "verdicts[0]: index: there is no claim 0: the answer has 0 claims: the line is left out"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_verdicts_that_do_not_belong(more: dict[str, Any], what: str, tmp_path: Path) -> None:
    found = checked(tmp_path, answers=[ANSWER], verdicts=[judgement(**more)])
    assert any(line.startswith(f"verdicts.jsonl:1: {what}") for line in of(found, "verdicts")), of(found, "verdicts")
    assert found.judged == {}


@pytest.mark.parametrize(
    ("passages", "against", "which"),
    [
        ([{"doc_id": DOCUMENT}], "2019-bcsc-1:5-9", "which is not in the corpus"),
        ([{"doc_id": DOCUMENT}], "2019-bcsc-1", "which is not in the corpus"),
        ([{"doc_id": DOCUMENT}], "2024-abkb-90173:0-9", "which the answer wasn't taken from"),
    ],
)
def test_an_answer_rests_on_nothing_that_it_was_not_taken_from(
    passages: list[Any], against: str, which: str, tmp_path: Path
) -> None:
    """A verdict against anything else would make a claim grounded that isn't: without it the claim is unscored."""
    verdicts = [
        {"side": "answer", "index": 0, "against": f"{DOCUMENT}:5-9", "label": None, "judge": "human"},
        {"side": "answer", "index": 0, "against": against, "label": "supported", "judge": "human"},
    ]
    answer = ANSWER | {"passages": passages}
    found = checked(tmp_path, answers=[answer], verdicts=[judgement(verdicts=verdicts)])
    (line,) = of(found, "verdicts")
    document = against.split(":")[0]
    assert line.startswith(f"verdicts.jsonl:1: verdicts are against document '{document}', {which}: left out")
    assert found.judged is not None and [v.label for v in found.judged["b1-q1"].verdicts] == [None]


def test_verdicts_without_answers_are_taken_as_they_are_and_that_is_said(tmp_path: Path) -> None:
    found = checked(tmp_path, verdicts=[judgement(chars=5)])
    assert found.judged is not None and list(found.judged) == ["b1-q1"] and found.answers is None
    assert [str(note).split(":")[0] for note in found.notes] == ["verdicts.jsonl"]
    assert "nobody can tell whether they belong together" in found.notes[0].what


def verdict(against: str = DOCUMENT, label: str | None = "supported", **more: Any) -> dict[str, Any]:
    return {"side": "answer", "index": 0, "against": against, "label": label, "judge": "x/judge"} | more


def test_nothing_is_grounded_in_what_nobody_names(tmp_path: Path) -> None:
    """Only that an answer rests on nothing can be said of one that names no passage."""
    given = [verdict(), verdict("evidence"), verdict("reference")]
    row = judgement(verdicts=given, asked=["accuracy", "groundedness"])
    found = checked(tmp_path, answers=[ANSWER], verdicts=[row])
    assert [v.against for v in (found.judged or {})["b1-q1"].verdicts] == ["reference"]
    (line,) = of(found, "verdicts")
    assert line.startswith("verdicts.jsonl:1: 2 verdicts for groundedness, and the answer names no passage")
    assert evaluate(found, SAMPLE)["claims"]["per_query"]["b1-q1"]["groundedness"] is None
    found = checked(tmp_path, answers=[ANSWER], verdicts=[judgement(verdicts=[verdict("evidence", "unsupported")])])
    assert of(found, "verdicts") == []
    assert evaluate(found, SAMPLE)["claims"]["per_query"]["b1-q1"]["groundedness"] == 0.0
    (tmp_path / "answers.jsonl").unlink()
    found = checked(tmp_path, verdicts=[judgement(), judgement(query_id="b1-q2")])
    assert [v for one in (found.judged or {}).values() for v in one.verdicts] == []
    (line,) = of(found, "verdicts")  # once for the whole file
    assert line.startswith("verdicts.jsonl: without the answers nobody can tell what they were taken from")


CLAIM = "The landlord must return the whole deposit with interest before September."


def test_claims_are_in_the_words_of_the_answer(tmp_path: Path) -> None:
    """Verdicts on an answer that only has the same length are another answer's."""
    answer = GROUNDED | {"text": "The landlord must return the deposit and interest. It was due in September of 2019."}
    row = judgement(chars=len(answer["text"]), claims=[{"text": CLAIM}])
    found = checked(tmp_path, answers=[answer], verdicts=[row])
    assert of(found, "verdicts") == [] and found.judged is not None and "b1-q1" in found.judged
    other = ANSWER | {"text": "An employee of ten years is owed eight weeks of notice, or eight weeks' wages".ljust(80)}
    found = checked(tmp_path, answers=[other], verdicts=[row | {"chars": 80}])
    assert of(found, "verdicts")[0].startswith(
        "verdicts.jsonl:1: has claims most of whose words aren't in the answer: left out"
    )
    assert found.judged == {}


def test_names_of_judges_and_prompts_have_a_limit(tmp_path: Path) -> None:
    """They stand on the board, in notes and in the stored entry, once for every judge."""
    for name in ("judge", "prompt"):
        verdicts = [judgement()["verdicts"][0] | {name: "x/" + "y" * 10_000}]
        found = checked(tmp_path, answers=[ANSWER], verdicts=[judgement(verdicts=verdicts)])
        assert any("names a judge or prompt by more than 200 char" in line for line in of(found, "verdicts.jsonl:1"))
        assert found.judged == {}


def test_what_became_of_citations_is_noted_and_no_fault(tmp_path: Path) -> None:
    title = SAMPLE.documents[DOCUMENT].title
    text = f"See {title}, 2019 BCSC 90104; Roe v. Doe, 2020 BCSC 90999; Roe v. Doe, 2021 BCSC 90101."
    found = checked(tmp_path, answers=[ANSWER | {"text": text}])
    assert of(found, "answers") == []
    notes = [str(note) for note in found.notes]
    assert "answers.jsonl: authorities cited: 1 verified, 1 name mismatch, 1 not in registry" in notes
    assert any(n.startswith("answers.jsonl:1: '2020 BCSC 90999' is not in the corpus") for n in notes)
    assert any(n.startswith("answers.jsonl:1: '2021 BCSC 90101' is under another name") for n in notes)


def test_too_many_passages_or_verdicts(tmp_path: Path) -> None:
    passages = [{"doc_id": DOCUMENT, "start": n, "end": n + 1} for n in range(LIMITS.passages + 1)]
    found = checked(tmp_path, answers=[ANSWER | {"passages": passages}])
    assert of(found, "answers")[0].startswith("answers.jsonl:1: passages: lists 1,001, more than 1,000: the rest is")
    assert found.answers is not None and len(found.answers["b1-q1"].passages) == LIMITS.passages
    found = checked(tmp_path, verdicts=[judgement(verdicts=[{}] * (LIMITS.verdicts + 1))])
    assert of(found, "verdicts.jsonl:1")[0].startswith(
        "verdicts.jsonl:1: verdicts: has 20,001 verdicts, more than 20,000"
    )
