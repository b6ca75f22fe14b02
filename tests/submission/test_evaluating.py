"""Scores of a submission and what a leaderboard keeps of it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from canlegalrag import load
from canlegalrag.errors import InputError
from canlegalrag.files import dumps, read_run
from canlegalrag.measures.retrieval import parse_all
from canlegalrag.submission import LIMITS, Checked, check, entry, evaluate, parts, score_run
from canlegalrag.submission.evaluating import ALL_MEASURES
from canlegalrag.types import Document

EXAMPLES = Path(__file__).parents[2] / "space" / "examples"
SAMPLE = load("sample")
SYSTEM = {"name": "A system", "authors": ["Somebody"], "licence": "MIT", "used": ["BM25"], "contact": "me@example.org"}


def given(folder: Path, **files: Any) -> Checked:
    for name, rows in {"system.json": [SYSTEM], **{f"{n}.jsonl": rows for n, rows in files.items()}}.items():
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return check(parts(folder), SAMPLE)


@pytest.fixture(scope="module")
def good() -> Checked:
    return check(parts(EXAMPLES / "good"), SAMPLE)


@pytest.fixture(scope="module")
def scores(good: Checked) -> dict[str, Any]:
    return evaluate(good, SAMPLE)


def test_rankings_score_as_the_strict_path_scores_them(scores: dict[str, Any]) -> None:
    run = read_run(EXAMPLES / "good" / "run.jsonl", SAMPLE.documents)
    strict, _ = score_run(run, parse_all(ALL_MEASURES), benchmark=SAMPLE, by=("persona", "province", "variant"))
    ours = scores["retrieval"]
    for name, row in strict["measures"].items():
        assert ours["measures"][name] == row
    assert set(ours["by"]) == {"persona", "province", "variant"}
    assert ours["by"]["persona"]["lay"]["ndcg@10"] == strict["by"]["persona"]["lay"]["ndcg@10"]
    assert {ours["provenance"]["definitions"][name] for name in ours["measures"]} == {"standard", "paper", "span"}
    assert "span_recall@8" in ours["measures"] and "span_recall@64" not in ours["measures"]


def test_answers_without_verdicts_are_judged_by_the_stand_in_and_that_is_said(scores: dict[str, Any]) -> None:
    claims = scores["claims"]
    assert claims["provenance"]["verdicts"]["judges"].keys() == {"offline/lexical"}
    assert claims["provenance"]["run"] == {"judged_here": True}
    assert scores["notes"][0].startswith("No verdicts were given: claims are judged here by offline/lexical")
    assert claims["measures"]["groundedness"]["n"] == 64  # a query without an answer scores zero
    assert claims["per_query"]["b8-q8"]["groundedness"] == 0.0


def test_citations_are_counted(scores: dict[str, Any]) -> None:
    measures = scores["citations"]["measures"]
    assert (measures["verified"]["part"], measures["invented_rate"]["mean"]) == (16, 0.0)
    assert measures["citation_recall"]["n"] == 64 and scores["citations"]["answers"] == 16


def test_the_worst_come_first_and_gold_is_not_named(scores: dict[str, Any]) -> None:
    worst = scores["worst"]
    assert [row["query_id"] for row in worst].count("b1-q1") == 1 and len(worst) == 64
    values = [row["ndcg@10"] for row in worst]
    assert values == sorted(values) and values[0] == 0.0
    assert worst[0]["text"] == SAMPLE.queries[worst[0]["query_id"]].text
    assert set(worst[0]) <= {
        *("query_id", "text", "province", "persona", "variant", "ndcg@10", "recall@10", "hit@10", "mrr"),
        *("accuracy", "groundedness", "coverage"),
    }


def test_all_of_it_is_json_without_nan(scores: dict[str, Any]) -> None:
    assert dumps(json.loads(dumps(scores))) == dumps(scores)


def test_verdicts_that_were_given_are_used(tmp_path: Path) -> None:
    text = "The tenancy ended."
    verdict = {"side": "answer", "index": 0, "against": "evidence", "label": "supported", "judge": "human"}
    line = {"query_id": "b1-q1", "asked": ["groundedness"], "chars": len(text), "claims": [{"text": text}]}
    run = [{"query_id": "b1-q1", "hits": [{"doc_id": "2019-bcsc-90104", "score": 1}]}]
    checked = given(
        tmp_path,
        run=run,
        answers=[{"query_id": "b1-q1", "text": text, "passages": [{"doc_id": "2019-bcsc-90104"}]}],
        verdicts=[line | {"reference": None, "verdicts": [verdict]}],
    )
    found = evaluate(checked, SAMPLE)
    assert found["claims"]["per_query"]["b1-q1"]["groundedness"] == 1.0
    assert found["claims"]["measures"]["groundedness"]["mean"] == 1 / 64
    assert found["claims"]["provenance"]["verdicts"]["judges"] == {"human": 1}
    assert found["claims"]["provenance"]["run"] == {"judged_here": False}
    assert found["notes"][0] == (
        "Claims are judged by human. These verdicts came with the submission: nobody here saw them made."
    )
    assert not any("stand-in" in note for note in found["notes"])
    stored = entry(checked, found, SAMPLE)
    assert stored["claims"]["provenance"]["verdicts"]["judges"] == {"human": 1} and stored["notes"] == found["notes"]


def line(query: str, label: str, judge: str) -> dict[str, Any]:
    """Verdicts on the one claim of an answer."""
    verdict = {"side": "answer", "index": 0, "against": "2019-bcsc-90104", "label": label, "judge": judge}
    row = {"query_id": query, "asked": ["groundedness"], "chars": len(TEXT), "claims": [{"text": TEXT}]}
    return row | {"reference": None, "verdicts": [verdict]}


TEXT = "The tenancy ended."


def test_stand_ins_and_answers_that_nobody_judged_are_named_once_and_rightly(tmp_path: Path) -> None:
    """An answer without verdicts counts as forgotten: nobody picks which answers are judged."""
    passages = [{"doc_id": "2019-bcsc-90104"}]
    answers = [{"query_id": f"b1-q{n}", "text": TEXT, "passages": passages} for n in (1, 2, 3)]
    checked = given(tmp_path, answers=answers, verdicts=[line("b1-q1", "supported", "offline/lexical")])
    found = evaluate(checked, SAMPLE)
    assert found["notes"] == [
        "Claims are judged by offline/lexical. These verdicts came with the submission: nobody here saw them made.",
        "'offline/lexical' is a stand-in for a judge: its figures show that the path works, not how good an answer is. "
        "To compare systems, judge with a model.",
        "2 of 3 answers without verdicts that count (b1-q2, b1-q3): each is zero in measures of claims, as if "
        "forgotten, so that nobody picks which answers are judged.",
        "groundedness is over 64 queries, those without a judged answer as zero; hallucination and contradiction are "
        "over the 1 with claims that have a verdict: the two don't add up to 1.",
    ]
    assert [str(note) for note in checked.notes] == [
        "answers.jsonl: answers 3 of 64 queries: the other 61 score zero in measures of answers"
    ]
    assert found["claims"]["measures"]["groundedness"]["mean"] == 1 / 64
    assert found["claims"]["per_query"]["b1-q2"]["groundedness"] == 0.0
    assert found["claims"]["measures"]["hallucination_upper"]["n"] == 1


def test_verdicts_of_other_answers_are_not_replaced_by_the_stand_in(tmp_path: Path) -> None:
    line = {"query_id": "b1-q1", "asked": [], "chars": 5, "claims": [], "reference": None}
    checked = given(tmp_path, answers=[{"query_id": "b1-q1", "text": "The tenancy ended."}], verdicts=[line])
    assert checked.judged == {} and evaluate(checked, SAMPLE)["claims"] is None
    assert evaluate(checked, SAMPLE)["notes"] == ["No line of the verdicts can be used: claims aren't scored."]


def test_what_time_does_not_allow_is_unscored_not_wrong(good: Checked) -> None:
    found = evaluate(good, SAMPLE, replace(LIMITS, scoring_seconds=0.0))
    assert "16 of 16 answers not judged within 0 s: unscored." in found["notes"]
    assert "Citations were not looked up within 0 s: unscored." in found["notes"]
    assert found["claims"]["per_query"]["b1-q1"]["groundedness"] is None
    assert found["citations"] is None


def test_answers_without_evidence_have_no_groundedness(tmp_path: Path) -> None:
    checked = given(tmp_path, answers=[{"query_id": "b1-q1", "text": "The tenancy ended."}])
    found = evaluate(checked, SAMPLE)["claims"]
    assert "groundedness" not in found["measures"] and "accuracy" in found["measures"]
    whole = [{"query_id": "b1-q1", "text": "The tenancy ended.", "passages": [{"doc_id": "2019-bcsc-90104"}]}]
    checked = given(tmp_path, answers=whole)
    assert "groundedness" in evaluate(checked, SAMPLE)["claims"]["measures"]
    found = evaluate(checked, SAMPLE, replace(LIMITS, evidence_chars=10))["claims"]
    assert "groundedness" not in found["measures"]


def test_nothing_to_score() -> None:
    found = evaluate(check({}, SAMPLE), SAMPLE)
    assert found == {"retrieval": None, "claims": None, "citations": None, "worst": [], "notes": []}


def test_bpref_joins_where_documents_were_judged_irrelevant(good: Checked) -> None:
    qrels = {query: {**judged, "1998-tcc-90316": 0} for query, judged in SAMPLE.qrels.items()}
    found = evaluate(replace(good, answers=None), replace(SAMPLE, qrels=qrels))
    assert found["retrieval"]["measures"]["bpref"]["n"] == 64


def test_an_entry_has_scores_and_no_contact_answers_or_gold(good: Checked, scores: dict[str, Any]) -> None:
    made = entry(good, scores, SAMPLE)
    assert made["id"] == good.digest[:16] and made["digest"] == good.digest
    assert made["received"].endswith("+00:00")
    assert made["system"] == {
        "name": "BM25L over passages (example)",
        "authors": ["The canlegalrag authors"],
        "licence": "MIT",
        "url": "https://example.org/bm25l-over-passages",
        "used": [
            "canlegalrag retrieve bm25l-1024",
            "offline/extractive, which writes answers out of sentences",
            "no language model",
        ],
    }
    assert made["benchmark"] == {"name": SAMPLE.name, "revision": SAMPLE.revision, "fingerprint": SAMPLE.fingerprint}
    assert (made["cost"], made["seconds"], made["problems"], made["kind"]) == (0.0, 0.01, 0, "submission")
    text = dumps(made)
    assert "someone@example.org" not in text and "worst" not in made
    assert good.answers is not None and good.answers["b1-q1"].text not in text
    assert str(EXAMPLES) not in text


def test_cost_and_seconds_are_the_answers_where_the_card_is_silent(tmp_path: Path, good: Checked) -> None:
    usage = [{"cost": 0.5, "seconds": 2}, {"cost": 1.0, "seconds": 4}]
    run = [{"query_id": "b1-q1", "hits": [{"doc_id": "2019-bcsc-90104", "score": 1}]}]
    answers = [{"query_id": f"b1-q{n + 1}", "text": "No.", "usage": one} for n, one in enumerate(usage)]
    checked = given(tmp_path, run=run, answers=answers)
    silent = {"retrieval": None, "claims": None, "citations": None, "notes": []}
    made = entry(checked, silent, SAMPLE)
    assert (made["cost"], made["seconds"]) == (None, 3.0)  # what two answers cost isn't what all queries would
    two = replace(SAMPLE, queries={q: SAMPLE.queries[q] for q in ("b1-q1", "b1-q2")})
    assert entry(checked, silent, two)["cost"] == 1.5
    answers[1].pop("usage")
    made = entry(given(tmp_path, run=run, answers=answers), silent, two)
    assert (made["cost"], made["seconds"]) == (None, None)


@pytest.mark.parametrize("end", [2**31, 10**30])
def test_no_offset_stops_the_scoring_of_a_run(end: int, tmp_path: Path) -> None:
    """Not even in a document that nobody has, whose length can't be looked up."""
    hits = [{"doc_id": "nobody-has", "score": 9, "start": 0, "end": end}]
    hits += [{"doc_id": "2019-bcsc-90104", "score": 1, "start": 0, "end": 5}]
    checked = given(tmp_path, run=[{"query_id": "b1-q1", "hits": hits}])
    assert any("is not a stretch of text" in problem.what for problem in checked.problems)
    retrieval = evaluate(checked, SAMPLE)["retrieval"]
    assert retrieval is not None and retrieval["measures"]["ndcg@10"]["n"] == len(SAMPLE.queries)


def test_notes_stay_short_whatever_verdicts_name(tmp_path: Path) -> None:
    """They are stored with the entry: a thousand judges, and a fault of a megabyte, don't make it a megabyte."""
    text, claims = "It ended.", [{"text": "It ended."}] * 1000
    verdicts = [
        {"side": "answer", "index": n, "against": "reference", "label": "supported", "judge": f"x/{n:0150}"}
        for n in range(1000)
    ]
    row = {"query_id": "b1-q1", "asked": ["accuracy"], "claims": claims, "reference": None, "chars": len(text)}
    row |= {"verdicts": verdicts, "faults": ["f" * 1_000_000]}
    scores = evaluate(given(tmp_path, verdicts=[row], answers=[{"query_id": "b1-q1", "text": text}]), SAMPLE)
    assert any("are by 1000 judges" in note for note in scores["notes"]), scores["notes"]
    assert max(map(len, scores["notes"])) < 2000


def test_what_has_a_fatal_problem_is_not_entered() -> None:
    hopeless = check(parts(EXAMPLES / "hopeless"), SAMPLE)
    with pytest.raises(InputError, match=r"can't be entered: system.json: is missing"):
        entry(hopeless, evaluate(hopeless, SAMPLE), SAMPLE)


def test_the_flawed_example_is_scored_by_what_is_sound_of_it() -> None:
    checked = check(parts(EXAMPLES / "flawed"), SAMPLE)
    found = evaluate(checked, SAMPLE)
    assert found["retrieval"]["per_query"]["b1-q2"]["ndcg@10"] == 0.0  # not UTF-8: forgotten, so zero
    assert entry(checked, found, SAMPLE)["problems"] == 29


def test_evidence_with_a_reserved_name_does_not_stop_the_judge(tmp_path: Path) -> None:
    documents = {**SAMPLE.documents, "reference": Document("reference", "Doe v. Roe", "The tenancy ended.")}
    benchmark = replace(SAMPLE, documents=documents)
    answer = {"query_id": "b1-q1", "text": "The tenancy ended.", "passages": [{"doc_id": "reference"}] * 2}
    (tmp_path / "answers.jsonl").write_text(json.dumps(answer))
    checked = check({"answers": tmp_path / "answers.jsonl"}, benchmark)
    assert evaluate(checked, benchmark)["claims"]["per_query"]["b1-q1"]["groundedness"] == 1.0
