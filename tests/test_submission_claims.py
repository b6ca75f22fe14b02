"""Scoring recorded verdicts: what `scores.json` says, what is named beside it, and the flat door of the metric."""

import json
from dataclasses import replace

import pytest

from canlegalrag import submission
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import dumps
from canlegalrag.records import judged_line
from canlegalrag.submission.claim_lists import check_answers, judge_answers, score_answers, score_judged
from canlegalrag.types import Answer, Claim, Judged, Query, Verdict


def judged(query: str, labels: str, *, judge: str = "x/judge", asked=("accuracy",), **more) -> Judged:
    """An answer whose claims have these labels against the reference: s, u, c, or - for none."""
    names = {"s": "supported", "u": "unsupported", "c": "contradicted", "-": None}
    claims = tuple(Claim(query, "answer", i, f"Claim {i}.") for i in range(len(labels)))
    given = {"prompt": "abc123", "cost": 0.5, "judge": judge}
    verdicts = tuple(Verdict(claim, "reference", names[c], **given) for claim, c in zip(claims, labels, strict=True))
    reference = (Claim(query, "reference", 0, "So it is."),)
    return Judged(query, asked, claims, reference, verdicts, chars=10, reference_chars=10, **more)


def bench() -> Benchmark:
    """Four queries in two blocks, the last without a reference answer."""
    queries = {
        "q1": Query("q1", "?", province="Manitoba", block="b1"),
        "q2": Query("q2", "?", province="Yukon", block="b1"),
        "q3": Query("q3", "?", province="Yukon", block="b2"),
        "q4": Query("q4", "?", block="b2"),
    }
    return Benchmark("b", {}, queries, {}, answers={q: Answer(q, "So it is.") for q in ("q1", "q2", "q3")})


def test_means_run_over_the_benchmark_and_a_forgotten_query_scores_zero():
    """q1: 1/2, q2: 3/3, q3 has no answer: 0; q4 has no reference, so that nobody could be right about it."""
    data = {"q1": judged("q1", "su-"), "q2": judged("q2", "sss"), "q9": judged("q9", "s")}
    payload, problems = submission.score_verdicts(data, "accuracy accuracy_upper", benchmark=bench())
    row = payload["measures"]["accuracy"]
    assert row["mean"] == pytest.approx((1 / 2 + 1 + 0) / 3) and (row["n"], row["skipped"]) == (3, 1)
    # Pooled: 1 of 2, 3 of 3, and the forgotten query for one claim that isn't supported.
    assert (row["micro"], row["pooled"]) == (pytest.approx(4 / 6), 6)
    assert payload["measures"]["accuracy_upper"]["mean"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert payload["per_query"]["q3"] == {"accuracy": 0.0, "accuracy_upper": 0.0}
    assert payload["per_query"]["q4"] == {"accuracy": None, "accuracy_upper": None}
    assert [str(p) for p in problems] == [
        "query 'q9': is not in the benchmark: left out",
        "query 'q3': has no judged answer: scores zero",
        "query 'q4': has no judged answer: scores zero",
    ]
    assert not any(p.fatal for p in problems)


def test_intervals_are_over_blocks_and_need_five_of_them():
    """Five blocks, each with one answer of supported claims and one of none: every draw of blocks has the mean 1/2."""
    ids = [f"q{n}" for n in range(10)]
    data = {q: judged(q, "ss" if n % 2 else "uu") for n, q in enumerate(ids)}
    queries = {q: Query(q, "?", block=f"b{n // 2}") for n, q in enumerate(ids)}
    five = Benchmark("b", {}, queries, {}, answers={q: Answer(q, "So it is.") for q in ids})
    row = submission.score_verdicts(data, "accuracy", benchmark=five)[0]["measures"]["accuracy"]
    assert (row["mean"], row["low"], row["high"]) == (0.5, 0.5, 0.5)
    four = replace(five, queries=queries | {q: replace(queries[q], block="b0") for q in ids[-2:]})
    row = submission.score_verdicts(data, "accuracy", benchmark=four)[0]["measures"]["accuracy"]
    assert (row["mean"], row["low"], row["high"]) == (0.5, None, None)


def test_groups_by_fields_of_the_queries_and_by_condition():
    data = {"q1": judged("q1", "su", condition="oracle"), "q2": judged("q2", "s", condition="oracle")}
    payload, _ = submission.score_verdicts(data, "accuracy", benchmark=bench(), by=["province", "condition"])
    means = {label: rows["accuracy"]["mean"] for label, rows in payload["by"]["province"].items()}
    assert means == {"Manitoba": 0.5, "Yukon": 0.5, "(none)": None}
    assert payload["by"]["province"]["Manitoba"]["accuracy"]["micro"] == 0.5
    assert payload["by"]["condition"]["oracle"]["accuracy"]["n"] == 2
    assert payload["by"]["condition"]["(none)"]["accuracy"]["mean"] == 0.0
    alone, _ = submission.score_verdicts(data, "accuracy", by=["condition"])
    assert alone["by"]["condition"]["oracle"]["accuracy"]["mean"] == 0.75
    with pytest.raises(InputError, match="there is none"):
        submission.score_verdicts(data, "accuracy", by=["province"])
    with pytest.raises(InputError, match="is not a field"):
        submission.score_verdicts(data, "accuracy", benchmark=bench(), by=["colour"])


def test_the_record_says_who_judged_and_at_what_cost():
    person = Verdict(Claim("q1", "answer", 0, "Claim 0."), "reference", "supported", judge="human")
    first = judged("q1", "us-", faults=("the reply was cut off",))
    first = replace(first, verdicts=(person, *first.verdicts[1:]))
    second = judged("q2", "c")
    second = replace(second, verdicts=(replace(second.verdicts[0], cost=None),))
    third = Judged("q3", ("accuracy",), None, None, chars=5, reference_chars=5, stop="length")
    payload, problems = submission.score_verdicts({"q1": first, "q2": second, "q3": third}, made={"seconds": 3})
    made = payload["provenance"]
    assert made["verdicts"] == {
        "answers": 3,
        "judges": {"x/judge": 3, "human": 1},
        "prompts": {"x/judge": ["abc123"]},
        "human": 1,
        "cost": 1.0,
        "cost_unknown": 1,
        "labels": {"accuracy": {"supported": 2, "contradicted": 1, "unsupported": 0, "unscored": 1}},
        "not_taken_apart": 1,
        "categories": {},
        "conditions": {"(none)": 3},
        "stops": {"stop": 2, "length": 1},
        "asked": {"accuracy": 3, "groundedness": 0, "coverage": 0, "reference_groundedness": 0},
    }
    assert made["run"] == {"seconds": 3} and made["queries"] == 3 and made["benchmark"] is None
    assert made["definitions"]["accuracy"] == "claims" and made["definitions"]["ragas_factual_precision"] == "ragas"
    assert "groundedness" not in payload["measures"]
    assert [str(p) for p in problems] == ["query 'q1': the reply was cut off"]
    assert json.loads(submission.scores_json(payload)) == json.loads(dumps(payload))


def test_what_a_reader_must_know_of_the_judges_is_named():
    data = {
        "q1": judged("q1", "s", judge="offline/lexical", condition="oracle"),
        "q2": judged("q2", "s", condition="pipeline", asked=("accuracy", "coverage")),
        "q3": judged("q3", "s", asked=("coverage",)),
    }
    second = data["q2"].verdicts[0]
    data["q2"] = replace(data["q2"], verdicts=(replace(second, prompt="other"),))
    _, problems = submission.score_verdicts(data)
    assert [str(p) for p in problems] == [
        "verdicts: are by 2 judges (x/judge, offline/lexical), whose scores can't be compared (judge all answers by "
        "one)",
        "verdicts: x/judge judged by 2 prompts: abc123, other (judge all answers by one)",
        "verdicts: answers of several conditions: (none), oracle, pipeline (score each on its own)",
        "verdicts: 1 of 3 answers were not judged for accuracy: left out of it (q3)",
        "verdicts: 1 of 3 answers were not judged for coverage: left out of it (q1)",
        "query 'q3': has verdicts for accuracy, which is not in `asked`: left out (mend `asked`)",
    ]


def test_verdicts_for_another_benchmark_score_zero_and_say_so():
    payload, problems = submission.score_verdicts({"x": judged("x", "s")}, "accuracy", benchmark=bench())
    assert payload["measures"]["accuracy"]["mean"] == 0.0 and payload["measures"]["accuracy"]["n"] == 3
    assert str(problems[0]).startswith("verdicts: answer no query of the benchmark")
    assert str(problems[-1]).startswith("verdicts: 4 queries have no judged answer: they score zero")


def test_no_verdicts_at_all_score_zero():
    payload, _ = submission.score_verdicts({}, benchmark=bench())
    assert payload["measures"]["accuracy"]["mean"] == 0.0 and payload["measures"]["groundedness"]["n"] == 4
    assert payload["measures"]["contradiction_rate"]["mean"] is None
    payload, problems = submission.score_verdicts({})
    assert payload["measures"]["accuracy"] == {
        "mean": None,
        "n": 0,
        "skipped": 0,
        "low": None,
        "high": None,
        "micro": None,
        "pooled": 0,
    }
    assert not problems


def test_a_metric_reads_verdicts_as_a_file_as_lines_and_as_objects(tmp_path):
    data = [judged("q1", "su-"), judged("q2", "")]
    lines = [judged_line(of) for of in data]
    path = tmp_path / "verdicts.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    expected = {"accuracy": 0.5, "accuracy_n": 1, "accuracy_upper": 2 / 3, "accuracy_upper_n": 1}
    expected |= {"n": 1, "skipped": 1, "judge": "x/judge"}
    for given in (path, str(path), lines, [json.loads(line) for line in lines], tuple(lines)):
        assert score_judged(given, measures="accuracy accuracy_upper") == expected
    over = score_judged(path, measures="accuracy", benchmark=bench())
    assert over == {"accuracy": 0.25, "accuracy_n": 2, "n": 2, "skipped": 2, "judge": "x/judge"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "None stands where a list should"),
        ({"q1": {}}, "a dict stands where a list should"),
        (["not json"], r"verdicts\[0\]: not JSON"),
        (["[1]"], r"verdicts\[0\]: a list, not a JSON object"),
        ([3], r"verdicts\[0\]: a int, not a JSON object"),
        ([{"query_id": "q", "claims": None, "reference": None, "chars": float("nan")}], r"verdicts\[0\]: not JSON"),
        ([{"query_id": "q", "claims": None, "reference": None, "condition": "\ud800"}], "half a surrogate pair"),
        ([{"query_id": "q", "claims": None, "reference": None}] * 2, r"verdicts\[1\].*twice"),
    ],
)
def test_what_is_no_verdict_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        score_judged(given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("a text",), "a str stands where a list should"),
        (([1],), "1 is not a string"),
        ((["\ud800"],), "half a surrogate pair"),
        ((["a"], ["b", "c"]), "references: 2 for 1 predictions"),
        ((["a"], [3]), "3 is not a string"),
        ((["a"], {"b"}), "a set stands where a list should"),
        ((["a"], None, ["text"]), "a str stands where a list should"),
        ((["a"], None, [["b"], ["c"]]), "contexts: 2 for 1 predictions"),
        ((["a"], None, [[None]]), "None is not a string"),
    ],
)
def test_what_are_no_answers_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        check_answers(*given)


class Scripted:
    """A judge and decomposer that does as told: a claim a line, supported where the evidence holds its words."""

    def __init__(self) -> None:
        self.identity = {"model": "test/scripted"}
        self.tasks: list[tuple[str, str, str]] = []

    def decompose(self, texts):
        return [
            [Claim(query, side, i, line) for i, line in enumerate(text.splitlines())]
            if text != "broken"
            else "cut off in the middle"
            for query, side, text in texts
        ]

    def judge(self, tasks):
        self.tasks += [(claim.text, task.against, task.evidence) for task in tasks for claim in task.claims]
        return [
            [
                Verdict(
                    claim,
                    task.against,
                    None if "?" in claim.text else "supported" if claim.text in task.evidence else "unsupported",
                    judge="test/scripted",
                )
                for claim in task.claims
            ]
            for task in tasks
        ]


def test_answers_are_judged_and_scored_in_one_call():
    """a and b of the answer are in the reference, c isn't, ?d fails; of the reference x isn't in the answer."""
    model = Scripted()
    scores = score_answers(
        ["a\nb\nc\n?d", "a", "broken"],
        ["a\nb\nx", None, "a"],
        [["c", "a"], [], ["a"]],
        judge=model,
        decomposer=model,
    )
    assert scores["judge"] == "test/scripted"
    assert (scores["accuracy"], scores["accuracy_n"]) == (2 / 3, 1)
    # The first: 2 of 4 to 3 of 4; the second has no reference; of the third nothing is known.
    assert (scores["accuracy_lower"], scores["accuracy_upper"]) == (pytest.approx(0.25), pytest.approx(0.875))
    assert (scores["groundedness"], scores["groundedness_n"]) == (pytest.approx((2 / 3 + 0) / 2), 2)
    assert (scores["coverage"], scores["coverage_n"]) == (2 / 3, 1)
    assert scores["reference_groundedness"] == pytest.approx((1 / 3 + 1) / 2)
    # Unscored: 2 of 14 (?d twice of 4 + 4, none of 3 + 3); none of 1; of the third 3 of 4.
    assert scores["unscored_rate"] == pytest.approx((2 / 14 + 0 + 3 / 4) / 3)
    assert (scores["n"], scores["skipped"]) == (1, 2)


def test_only_what_the_measures_need_is_judged():
    model = Scripted()
    given = {"judge": model, "decomposer": model}
    assert score_answers(["a"], ["a"], [["a"]], measures="accuracy_upper", **given)["accuracy_upper"] == 1.0
    assert {against for _, against, _ in model.tasks} == {"reference"}
    assert score_answers(["a\nb"], ["a"], [["a"]], measures="claims_per_answer", **given)["claims_per_answer"] == 2.0
    with pytest.raises(InputError, match="measure 'coverage': needs coverage"):
        score_answers(["a"], None, [["a"]], measures="coverage", **given)
    with pytest.raises(InputError, match="nothing to judge them by"):
        score_answers(["a"], [""], **given)


def test_a_blank_reference_is_none():
    """It states nothing, so there is nothing to be right about: not even a bound."""
    model = Scripted()
    for blank in (None, "", " \n\u00a0"):
        scores = score_answers(["a", "a"], ["a", blank], judge=model, decomposer=model)
        assert (scores["accuracy_n"], scores["accuracy_upper_n"], scores["unscored_rate"]) == (1, 1, 0.0)
        with pytest.raises(InputError, match="nothing to judge them by"):
            score_answers(["a"], [blank], judge=model, decomposer=model)


@pytest.mark.parametrize("given", [None, 3, object()])
def test_what_is_no_model_is_refused(given):
    with pytest.raises(InputError, match="can't judge"):
        score_answers(["a"], ["a"], judge=given)
    if given is not None:
        with pytest.raises(InputError, match="can't decompose"):
            score_answers(["a"], ["a"], judge=Scripted(), decomposer=given)


def test_no_answers_have_no_scores():
    scores = score_answers([], [], [], judge=Scripted(), decomposer=Scripted())
    assert (scores["accuracy"], scores["groundedness"], scores["n"]) == (None, None, 0)


def test_the_offline_judge_finds_itself_right_and_the_reverse_wrong():
    says, denies = "The landlord must return the deposit.", "The landlord must not return the deposit."
    judged_ = judge_answers([says, denies, "", "Québec 🦫."], [says] * 4, [[says], [says], [says], []])
    scores = score_judged(judged_, measures="accuracy contradiction_rate abstention_rate groundedness")
    assert (scores["accuracy"], scores["contradiction_rate"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert (scores["abstention_rate"], scores["judge"]) == (0.25, "offline/lexical")
