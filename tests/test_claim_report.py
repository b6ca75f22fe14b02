"""Tables and plots about claims: the figures that were given, the judge's name beside them, nothing unescaped."""

import re
import xml.etree.ElementTree as ET
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from canlegalrag import charts, claim_report
from canlegalrag.benchmark import Benchmark
from canlegalrag.submission.claims import score_verdicts
from canlegalrag.types import Claim, Judged, Query, Verdict

NONE = "–"


def judged(query: str, *labels: str | None, judge: str = "inference/small", categories: tuple[str, ...] = ()) -> Judged:
    """An answer of one claim a label, each held against one document and against the reference."""
    claims = tuple(Claim(query, "answer", n, f"claim {n}") for n in range(len(labels)))
    sorted_as = dict(enumerate(categories))
    verdicts = [
        Verdict(claim, "d1", label, judge=judge, category=sorted_as.get(n, ""))
        for n, (claim, label) in enumerate(zip(claims, labels, strict=True))
    ]
    verdicts += [Verdict(claim, "reference", "supported", judge=judge) for claim in claims]
    return Judged(query, ("accuracy", "groundedness"), claims, (), tuple(verdicts), condition="oracle", chars=100)


#       q1: ✓ ? (fact: wrong in kind) ✗ (attribution) –    q2: ✓ ? (connective) ? (nobody sorted it)
# groundedness    q1 1/3, q2 1/3; bounds q1 1/4 … 2/4, q2 1/3 … 1/3: means 7/24 … 5/12
# hallucination   q1 2/3 … 2/3 (contradicted and wrong in kind), q2 0 … 2/3: means 1/3 … 2/3
# contradiction   q1 1/3, q2 0: 1/6; unscored q1 1/8, q2 0: 1/16; claims (4 + 3) / 2
ONE = {
    "q1": judged("q1", "supported", "unsupported", "contradicted", None, categories=("", "fact", "attribution")),
    "q2": judged("q2", "supported", "unsupported", "unsupported", categories=("", "connective")),
}
HOSTILE = "<script>alert(1)</script>|\x1b[2J[red]"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    other = {"q1": judged("q1", "supported", judge="offline/lexical"), "q2": judged("q2")}
    return {"good": score_verdicts(ONE)[0], HOSTILE: score_verdicts(other)[0]}


def shown(table: Any, width: int = 400) -> str:
    out = StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue()


def rows_of(markdown: str) -> list[list[str]]:
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_a_row_has_every_measure_with_bounds_where_claims_are_unscored(results: dict[str, Any]) -> None:
    heads, _, good, other, *_ = rows_of(claim_report.markdown(results))
    row = dict(zip(heads, good, strict=True))
    assert row["system"] == "good" and row["condition"] == "oracle"
    assert row["accuracy"] == "1.000"
    assert row["groundedness"] == "0.333 (0.292 … 0.417)"
    assert row["hallucination"] == "0.333 … 0.667"
    assert row["contradiction"] == "0.167"
    assert row["unscored"] == "0.062"  # 1/16, to even
    assert row["claims an answer"] == "3.5"
    assert (row["n"], row["skipped"]) == ("2", "0")
    # q2 of the other has no claim: undefined, counted, neither 0 nor 1; abstention is known of both.
    row = dict(zip(heads, other, strict=True))
    assert row["groundedness"] == "1.000" and row["n"] == "1" and row["skipped"] == "1"
    assert row["abstained"] == "0.000 n=2"
    assert row["claims an answer"] == "0.5 n=2"


def test_in_the_terminal_a_few_systems_stand_side_by_side(results: dict[str, Any]) -> None:
    few = shown(claim_report.answers_table({"a": results["good"], "b": results["good"]}, "Answers"), 80)
    assert re.search(r"groundedness +│ 0\.333 \(0\.292 … 0\.417\) │ 0\.333 \(0\.292 … 0\.417\) │", few)
    assert re.search(r"condition +│ +oracle │ +oracle │", few) and "Answers" in few
    many = shown(claim_report.answers_table(dict.fromkeys("abcd", results["good"])))
    assert re.search(r"d +│ oracle +│ +1\.000 │ 0\.333 \(0\.292 … 0\.417\) │", many)
    named = shown(claim_report.answers_table({"a, oracle": results["good"]}))
    assert "condition" not in named
    shown(claim_report.answers_table({}))


def test_what_nobody_measured_has_no_column(results: dict[str, Any]) -> None:
    heads = rows_of(claim_report.markdown(results))[0]
    assert not {"coverage", "f1", "reference groundedness", "hallucination_upper"} & set(heads)


def test_a_system_that_lacks_a_measure_has_a_dash_there_and_its_own_n() -> None:
    part = {"whole": score_verdicts(ONE)[0], "part": score_verdicts(ONE, "groundedness")[0]}
    heads, _, _, row = rows_of(claim_report.markdown(part))[:4]
    cells = dict(zip(heads, row, strict=True))
    assert cells["accuracy"] == NONE and cells["groundedness"] == "0.333" and cells["n"] == "2"


def test_undefined_is_a_dash(results: dict[str, Any]) -> None:
    empty = {"none": score_verdicts({"q1": judged("q1")})[0]}
    heads, _, row = rows_of(claim_report.markdown(empty))[:3]
    cells = dict(zip(heads, row, strict=True))
    assert cells["groundedness"] == cells["hallucination"] == NONE
    assert "nan" not in claim_report.html(empty) and "<svg" not in claim_report.html(empty)


def test_the_judge_is_always_named_and_a_stand_in_said_to_be_one(results: dict[str, Any]) -> None:
    for text in (
        shown(claim_report.answers_table(results)),
        claim_report.markdown(results),
        claim_report.html(results),
    ):
        assert "Judged by inference/small, offline/lexical." in text
        assert "offline/lexical is a stand-in" in text
        assert "Not all systems were judged by the same judge" in text
    alone = claim_report.notes({"good": results["good"]})
    assert alone[0] == "Judged by inference/small." and not any("stand-in" in line for line in alone)
    assert any(line.startswith("Hallucination lies between") for line in alone)
    assert any(line.startswith("In brackets") for line in alone)


def test_a_persons_verdicts_are_counted() -> None:
    by_person = {"q1": judged("q1", "supported", judge="human")}
    assert "A person's verdicts stand in the place of the judge's: 2." in claim_report.notes(
        {"a": score_verdicts(by_person)[0]}
    )


def test_every_measure_has_its_interval_and_its_micro_mean(results: dict[str, Any]) -> None:
    text = shown(claim_report.intervals_table(results))
    # 2 of 6 labelled claims are supported.
    assert re.search(r"good +│ groundedness +│ 0\.333 │ + – │ +0\.333 │ 2 │ +0", text)
    assert re.search(r"good +│ unscored_rate +│ 0\.062 │ + – │", text)
    assert re.search(r"good +│ factscore +│.* factscore ", text)


def test_categories_count_the_claims_that_fail() -> None:
    assert claim_report.categories(ONE) == {"fact": 1, "attribution": 1, "connective": 1, "": 1}
    rows = shown(claim_report.categories_table({"one": ONE}))
    assert re.search(r"fact confusion +│ +yes │ +1 │ +25 %", rows)
    assert re.search(r"connective or concluding +│ +no │ +1 │ +25 %", rows)
    assert re.search(r"unrelated +│ +yes │ +0 │ +0 %", rows)
    assert re.search(r"not sorted +│ +│ +1 │ +25 %", rows)
    assert re.search(r"all that fail +│ +│ +4 │ 100 %", rows)


def test_a_category_that_isnt_known_keeps_a_row_and_nothing_to_count_is_a_dash() -> None:
    strange = {"q1": judged("q1", "unsupported", categories=("odd",)), "q2": judged("q2", "supported")}
    assert re.search(r"odd +│ +│ +1 │ 100 %", shown(claim_report.categories_table({"one": strange})))
    assert re.search(r"all that fail +│ +│ +0 │ +–", shown(claim_report.categories_table({"one": {}})))


def test_categories_are_drawn_only_where_something_was_sorted(results: dict[str, Any]) -> None:
    page = claim_report.html(results, {"good": ONE})
    assert "Why claims fail" in page and "1 of 4" in page
    assert "Why claims fail" not in claim_report.html(results, {"good": {"q1": judged("q1", "unsupported")}})
    assert "Why claims fail" in claim_report.markdown(results, {"good": ONE})


def test_worst_queries_come_first_and_the_undefined_is_no_failure(results: dict[str, Any]) -> None:
    payload = score_verdicts(ONE | {"q3": judged("q3"), "q4": judged("q4", "unsupported")})[0]
    assert claim_report.worst(payload) == ("groundedness", ["q4", "q1", "q2"])
    assert claim_report.worst(payload, 1) == ("groundedness", ["q4"])
    asked = "What\n" + "x" * 80 + " [red]"
    benchmark = Benchmark("b", {}, {"q4": Query("q4", asked)}, {})
    text = shown(claim_report.worst_table(payload, benchmark))
    assert "<h2>Worst queries of a, by groundedness</h2>" in claim_report.html({"a": payload})
    assert "question" not in shown(claim_report.worst_table(payload))
    assert "worst by groundedness" in text and "What x" in text and "…" in text


def test_nothing_hostile_gets_through(results: dict[str, Any]) -> None:
    page = claim_report.html(results, {HOSTILE: ONE})
    assert "<script" not in page
    ET.fromstring(f"<div>{page}</div>".replace(" class=text", "").replace("\x1b", ""))
    text = shown(claim_report.answers_table(results))
    assert "\x1b" not in text and "[red]" in text
    assert "<script" not in claim_report.markdown(results)


def test_without_results_there_is_nothing() -> None:
    assert claim_report.html({}) == "" and claim_report.markdown({}) == ""


def test_bars_are_as_long_as_their_shares() -> None:
    svg = charts.bars([("a", [(0.5, "1 of 2"), (0.25, "1 of 4")]), ("<b>", [(0.0, "0"), (0.0, "0")])], ["x", "y"], "t")
    root = ET.fromstring(svg)
    bars = [float(r.get("width", "0")) for r in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert bars == [12, 12, 460, 230, 0, 0]  # two of the legend, then the bars: the longest fills the width
    assert len([*ET.fromstring(charts.bars([("a", [(0.0, "0")])], ["x"], "t"))]) == 3
    ET.fromstring(charts.bars([], ["x"], "t"))
