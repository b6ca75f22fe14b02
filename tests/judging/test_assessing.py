"""Answers are judged with no call that isn't needed, and no verdict that nobody gave."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from canlegalrag.errors import CallError, InputError
from canlegalrag.judging.assessing import Item, assess
from canlegalrag.judging.windows import windows
from canlegalrag.measures.decided import PURPOSES, deciding
from canlegalrag.types import Answer, Claim, Judged, Task, Verdict

Label = str | None


class Script:
    """A judge that says what it is told to, and remembers what it was asked."""

    def __init__(self, says: Callable[[str, str, str], Label | Verdict] = lambda *_: "unsupported") -> None:
        self.says = says
        self.calls: list[list[Task]] = []

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": "test/script"}

    @property
    def counts(self) -> Mapping[str, int]:
        return {"texts": 0, "truncated": 0}

    def judge(self, tasks: Sequence[Task]) -> list[list[Verdict]]:
        self.calls.append(list(tasks))
        return [[self._one(claim, task) for claim in task.claims] for task in tasks]

    def _one(self, claim: Claim, task: Task) -> Verdict:
        said = self.says(claim.text, task.against, task.evidence)
        return said if isinstance(said, Verdict) else Verdict(claim, task.against, said, judge="test/script", cost=0.5)

    @property
    def asked(self) -> list[list[tuple[str, list[str]]]]:
        return [[(task.against, [claim.text for claim in task.claims]) for task in call] for call in self.calls]


class Lines:
    """A decomposer: a claim a line; `broken` can't be taken apart."""

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, str, str]]] = []

    identity: Mapping[str, Any] = {"model": "test/lines"}
    counts: Mapping[str, int] = {"texts": 0, "truncated": 0}

    def decompose(self, texts: Sequence[tuple[str, str, str]]) -> list[list[Claim] | str]:
        self.calls.append(list(texts))
        return [
            "cut off" if text == "broken" else [Claim(q, side, i, line) for i, line in enumerate(text.split("\n"))]
            for q, side, text in texts
        ]


def one(item: Item, judge: Script, *measures: str, **options: int) -> Judged:
    (judged,) = assess([item], judge, Lines(), measures, **options)
    return judged


def labels(judged: Judged) -> list[tuple[str, int, str, Label]]:
    return [(v.claim.side, v.claim.index, v.against, v.label) for v in judged.verdicts]


ANSWER = Answer("q1", "A\nB", condition="oracle")
FULL = Item(ANSWER, "R\nS\nT", None, (("d1", "first"), ("d2:5-9", "second")))


def test_each_measure_asks_for_what_it_needs_and_nothing_else() -> None:
    expected = {
        "accuracy": [("reference", ["A", "B"])],
        "groundedness": [("d1", ["A", "B"])],
        "coverage": [("answer", ["R", "S", "T"])],
        "reference_groundedness": [("d1", ["R", "S", "T"])],
    }
    for measure in PURPOSES:
        judge = Script()
        judged = one(FULL, judge, measure)
        assert judged.asked == (measure,)
        assert judge.asked[0] == expected[measure]
        assert len(judge.calls) == (2 if "groundedness" in measure else 1)  # two pieces, one after the other
        assert not judged.faults


def test_evidence_of_claims_is_one_claim_a_line() -> None:
    judge = Script()
    claims = (Claim("q1", "reference", 0, "R  is\nso"), Claim("q1", "reference", 1, "S"))
    one(Item(ANSWER, "ignored", claims), judge, "accuracy", "coverage")
    assert [(task.against, task.evidence) for task in judge.calls[0]] == [
        ("reference", "R is so\nS"),
        ("answer", "A\nB"),
    ]


def test_all_first_questions_of_all_items_go_in_one_call() -> None:
    judge, lines = Script(), Lines()
    other = Item(Answer("q2", "C"), "U", None, (("d1", "x"), ("d2", "y"), ("d3", "z")))
    first, second = assess([FULL, other], judge, lines, PURPOSES)
    assert [len(call) for call in judge.calls] == [8, 4, 2]
    assert lines.calls == [
        [("q1", "answer", "A\nB"), ("q1", "reference", "R\nS\nT"), ("q2", "answer", "C"), ("q2", "reference", "U")]
    ]
    assert (first.query_id, second.query_id) == ("q1", "q2")
    assert len(first.verdicts) == 2 + 2 * 2 + 3 + 3 * 2
    assert len(second.verdicts) == 1 + 3 + 1 + 3


def test_record_carries_what_the_answer_was() -> None:
    judged = one(FULL, Script(), "accuracy")
    assert (judged.condition, judged.stop, judged.abstained) == ("oracle", "stop", False)
    assert (judged.chars, judged.reference_chars) == (3, 5)
    assert [claim.text for claim in judged.claims or ()] == ["A", "B"]
    assert [claim.text for claim in judged.reference or ()] == ["R", "S", "T"]


def test_a_claim_that_a_piece_supports_is_not_asked_again() -> None:
    judge = Script(lambda claim, against, _: "supported" if (claim, against) == ("A", "d1") else "unsupported")
    judged = one(FULL, judge, "groundedness")
    assert judge.asked == [[("d1", ["A", "B"])], [("d2:5-9", ["B"])]]
    assert labels(judged) == [
        ("answer", 0, "d1", "supported"),
        ("answer", 1, "d1", "unsupported"),
        ("answer", 1, "d2:5-9", "unsupported"),
    ]


def test_when_all_is_supported_nothing_more_is_asked() -> None:
    judge = Script(lambda *_: "supported")
    one(FULL, judge, "groundedness")
    assert len(judge.calls) == 1


def test_a_failed_verdict_is_none_and_the_other_pieces_are_still_asked() -> None:
    judge = Script(
        lambda claim, against, _: None if against == "d1" else ("supported" if claim == "A" else "unsupported")
    )
    judged = one(FULL, judge, "groundedness")
    assert judge.asked == [[("d1", ["A", "B"])], [("d2:5-9", ["A", "B"])]]
    by_claim = [[v for v in judged.verdicts if v.claim.index == i] for i in (0, 1)]
    decided = [deciding(verdicts) for verdicts in by_claim]
    assert [verdict and verdict.label for verdict in decided] == ["supported", None]


LONG = "".join(f"Sentence number {i:03d} stands here. " for i in range(120))
CUTS = windows(LONG, 1000, 100)


def windowed(said: Mapping[int, Label], claims: str = "A") -> tuple[Judged, Script]:
    """What comes of one claim and a long document, when the nth window says so."""
    texts = {LONG[a:b]: n for n, (a, b) in enumerate(CUTS)}

    def says(claim: str, against: str, evidence: str) -> Verdict:
        n = texts[evidence]
        label = said.get(n, "unsupported")
        return Verdict(Claim("q1", "answer", 0, claim), "?", label, n / 10, f"window {n}", f"quote {n}", cost=1.0)

    judge = Script(says)
    return one(
        Item(Answer("q1", claims), evidence=(("d1", LONG),)), judge, "groundedness", window=1000, overlap=100
    ), judge


def test_long_evidence_is_read_window_by_window() -> None:
    judged, judge = windowed({})
    assert len(CUTS) == len(judge.calls) == 5
    (verdict,) = judged.verdicts
    assert (verdict.against, verdict.label, verdict.cost) == ("d1", "unsupported", 5.0)
    assert (verdict.reason, verdict.probability) == ("window 4", 0.4)  # the nearest of those that don't support it


@pytest.mark.parametrize(
    ("said", "label", "reason", "calls"),
    [
        ({2: "supported"}, "supported", "window 2", 3),
        ({0: "contradicted", 1: None, 2: "supported"}, "supported", "window 2", 3),
        ({0: "contradicted", 3: None}, None, "window 3", 5),
        ({1: "contradicted"}, "contradicted", "window 1", 5),
        ({1: "contradicted", 3: "contradicted"}, "contradicted", "window 1", 5),
        (dict.fromkeys(range(5)), None, "window 4", 5),
    ],
)
def test_windows_of_a_piece_make_one_verdict(said: dict[int, Label], label: Label, reason: str, calls: int) -> None:
    judged, judge = windowed(said)
    (verdict,) = judged.verdicts
    assert (verdict.label, verdict.reason, verdict.quote) == (label, reason, reason.replace("window", "quote"))
    assert (len(judge.calls), verdict.cost) == (calls, float(calls))


def test_an_unknown_cost_stays_unknown() -> None:
    seen: list[str] = []

    def says(claim: str, against: str, evidence: str) -> Verdict:
        seen.append(evidence)
        return Verdict(Claim("q1", "answer", 0, "A"), "?", "unsupported", cost=None if len(seen) == 2 else 1.0)

    item = Item(Answer("q1", "A"), evidence=(("d1", LONG),))
    assert one(item, Script(says), "groundedness", window=1000, overlap=100).verdicts[0].cost is None


def test_support_in_the_first_window_of_the_second_piece_ends_it() -> None:
    judge = Script(lambda claim, against, _: "supported" if against == "d2" else "unsupported")
    item = Item(Answer("q1", "A"), evidence=(("d1", LONG), ("d2", LONG), ("d3", LONG)))
    judged = one(item, judge, "groundedness", window=1000, overlap=100)
    assert [call[0].against for call in judge.calls] == ["d1"] * 5 + ["d2"]
    assert labels(judged) == [("answer", 0, "d1", "unsupported"), ("answer", 0, "d2", "supported")]


@pytest.mark.parametrize(
    "answer",
    [Answer("q1", "", stop="empty"), Answer("q1", "No comment", stop="refusal"), Answer("q1", "I cannot answer that.")],
)
def test_an_answer_that_declines_has_no_claims_and_covers_none(answer: Answer) -> None:
    judge, lines = Script(), Lines()
    (judged,) = assess(
        [Item(answer, "R\nS", None, (("d1", "x"),))], judge, lines, ("accuracy", "groundedness", "coverage")
    )
    assert (judged.abstained, judged.claims, judge.calls) == (True, (), [])
    assert lines.calls == [[("q1", "reference", "R\nS")]]
    assert labels(judged) == [("reference", 0, "answer", "unsupported"), ("reference", 1, "answer", "unsupported")]
    assert {(v.reason, v.cost, v.judge) for v in judged.verdicts} == {("the answer declines", 0.0, "test/script")}
    assert not judged.faults


def test_an_answer_that_states_nothing_covers_nothing() -> None:
    class Nothing(Lines):
        def decompose(self, texts: Sequence[tuple[str, str, str]]) -> list[list[Claim] | str]:
            return [[] for _ in texts]

    claims = (Claim("q1", "reference", 0, "R"),)
    judge = Script()
    (judged,) = assess([Item(Answer("q1", "Yes."), "R", claims, ())], judge, Nothing(), PURPOSES[:3])
    assert (judged.abstained, judged.claims, judge.calls) == (False, (), [])
    assert [(v.label, v.reason) for v in judged.verdicts] == [("unsupported", "the answer states nothing")]


def test_a_text_that_cannot_be_taken_apart_has_no_claims_and_no_verdicts() -> None:
    judge = Script()
    judged = one(Item(Answer("q1", "broken"), "R", None, (("d1", "x"),)), judge, *PURPOSES)
    assert (judged.claims, judged.faults) == (None, ("the answer could not be taken apart: cut off",))
    assert labels(judged) == [("reference", 0, "d1", "unsupported")]
    judged = one(Item(Answer("q1", "A"), "broken", None, (("d1", "x"),)), judge, *PURPOSES)
    assert (judged.reference, judged.faults) == (None, ("the reference could not be taken apart: cut off",))
    assert labels(judged) == [("answer", 0, "d1", "unsupported")]


def test_no_reference_leaves_its_measures_without_verdicts() -> None:
    judge = Script()
    judged = one(Item(ANSWER, None, None, (("d1", "x"),)), judge, *PURPOSES)
    assert (judged.reference, judged.reference_chars) == (None, None)
    assert judged.faults == ("there is no reference answer",)
    assert judge.asked == [[("d1", ["A", "B"])]]


def test_evidence_that_is_not_known_leaves_groundedness_without_verdicts() -> None:
    judge = Script()
    judged = one(Item(ANSWER, "R"), judge, "accuracy", "groundedness")
    assert judged.faults == ("nobody says what the answer was taken from",)
    assert judge.asked == [[("reference", ["A", "B"])]]


def test_no_evidence_at_all_supports_nothing() -> None:
    judge = Script()
    judged = one(Item(ANSWER, evidence=()), judge, "groundedness")
    assert labels(judged) == [("answer", 0, "evidence", "unsupported"), ("answer", 1, "evidence", "unsupported")]
    assert not judge.calls and not judged.faults


def test_blank_evidence_supports_nothing_and_is_not_asked_about() -> None:
    judge = Script(lambda claim, *_: "supported" if claim == "A" else "unsupported")
    judged = one(Item(ANSWER, evidence=(("d1", " \n"), ("d2", "x"), ("d3", ""))), judge, "groundedness")
    assert judge.asked == [[("d2", ["A", "B"])]]
    assert labels(judged) == [
        ("answer", 0, "d1", "unsupported"),
        ("answer", 0, "d2", "supported"),
        ("answer", 1, "d1", "unsupported"),
        ("answer", 1, "d2", "unsupported"),
        ("answer", 1, "d3", "unsupported"),
    ]


def test_nothing_is_taken_apart_that_no_measure_needs() -> None:
    for measures, sides in {("groundedness",): ["answer"], ("reference_groundedness",): ["reference"]}.items():
        lines = Lines()
        assess([FULL], Script(), lines, measures)
        assert [side for _, side, _ in lines.calls[0]] == sides


def test_two_conditions_of_a_query_share_the_reference_that_is_taken_apart() -> None:
    lines = Lines()
    pair = [Item(Answer("q1", text, condition=text), "R") for text in ("pipeline", "oracle")]
    judged = assess(pair, Script(), lines, ["accuracy"])
    assert lines.calls == [[("q1", "answer", "pipeline"), ("q1", "reference", "R"), ("q1", "answer", "oracle")]]
    assert [of.condition for of in judged] == ["pipeline", "oracle"]


def test_empty_everything() -> None:
    judge, lines = Script(), Lines()
    assert assess([], judge, lines, PURPOSES) == []
    assert not judge.calls and not lines.calls
    judged = one(Item(Answer("q1", ""), "", (), ()), judge, *PURPOSES)
    assert (judged.claims, judged.reference, judged.verdicts, judge.calls) == ((), (), (), [])
    assert judged.faults == ("the reference answer states nothing",)


def test_any_script_goes_through_as_it_is() -> None:
    judge = Script()
    item = Item(Answer("q-é", "Le fœtus 🏛️\n通知"), "Ré", None, (("d ü", "Texte \u2028 étrange " * 2000),))
    judged = one(item, judge, *PURPOSES)
    assert [claim.text for claim in judged.claims or ()] == ["Le fœtus 🏛️", "通知"]
    assert "".join(judge.calls[0][1].evidence) in item.evidence[0][1]  # type: ignore[index]


@pytest.mark.parametrize(
    ("reply", "match"),
    [
        (lambda tasks: [], "0 lists of verdicts for 1 tasks"),
        (lambda tasks: [[]], "0 verdicts for 2 claims"),
        (lambda tasks: [[Verdict(c, "x", "supported") for c in reversed(tasks[0].claims)]], "isn't on claim 0"),
        (lambda tasks: [[Verdict(c, "x", "true") for c in tasks[0].claims]], "label 'true' is not known"),
    ],
)
def test_a_judge_that_returns_something_else_is_refused(reply: Any, match: str) -> None:
    judge = Script()
    judge.judge = reply  # type: ignore[method-assign]
    with pytest.raises(CallError, match=match):
        one(FULL, judge, "accuracy")


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ([], "0 entries for 1 texts"),
        ([[Claim("q1", "answer", 1, "A")]], "claim 0 of the answer"),
        ([[Claim("q2", "answer", 0, "A")]], "for 'q2'"),
    ],
)
def test_a_decomposer_that_returns_something_else_is_refused(given: Any, match: str) -> None:
    lines = Lines()
    lines.decompose = lambda texts: given  # type: ignore[method-assign]
    with pytest.raises(CallError, match=match):
        assess([FULL], Script(), lines, ["groundedness"])


@pytest.mark.parametrize(
    ("item", "measures", "options", "match"),
    [
        (FULL, [], {}, "there are none"),
        (FULL, ["recall"], {}, "'recall': is not judged"),
        (FULL, ["accuracy"], {"window": 100, "overlap": 50}, "overlap 50 does not fit"),
        (FULL, ["accuracy"], {"window": 0}, "below 1"),
        (Item(ANSWER, evidence=(("answer", "x"),)), ["groundedness"], {}, "is named 'answer'"),
        (Item(ANSWER, evidence=(("d", "x"), ("d", "y"))), ["groundedness"], {}, "two pieces of evidence are named 'd'"),
        (Item(ANSWER, "R", (Claim("q2", "reference", 0, "R"),)), ["accuracy"], {}, "for 'q2'"),
        (Item(ANSWER, "R", (Claim("q1", "answer", 0, "R"),)), ["accuracy"], {}, "of the answer"),
    ],
)
def test_what_cannot_be_judged_is_refused_before_any_call(
    item: Item, measures: list[str], options: dict[str, int], match: str
) -> None:
    judge, lines = Script(), Lines()
    with pytest.raises(InputError, match=match):
        assess([item], judge, lines, measures, **options)
    assert not judge.calls and not lines.calls


def test_verdicts_are_named_after_the_evidence_whatever_the_judge_says() -> None:
    judge = Script(lambda claim, *_: Verdict(Claim("q1", "answer", 0, claim), "elsewhere", "supported"))
    assert labels(one(Item(Answer("q1", "A"), "R"), judge, "accuracy")) == [("answer", 0, "reference", "supported")]
