"""Judges with known errors on labelled pairs: what is found of them, what is corrected, what is refused."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from canlegalrag import backends, load
from canlegalrag.calibration import calibrate, fingerprint, read_pairs
from canlegalrag.calls import Calls
from canlegalrag.claim_report import judges
from canlegalrag.errors import CallError, InputError
from canlegalrag.files import dumps
from canlegalrag.judging.chat import ChatJudge
from canlegalrag.types import Claim, Completion, Document, Judged, LabelledPair, Prompt, Task, Verdict

S, C, U = "supported", "contradicted", "unsupported"


class Scripted:
    """Says of each claim what its text begins with; `later` says otherwise from the second time on."""

    def __init__(self, later: Mapping[str, str | None] | None = None, cost: float | None = 0.25) -> None:
        self.later, self.cost = later or {}, cost
        self.seen: dict[str, int] = {}
        self.tasks: list[Task] = []
        self.asked = 0

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": "scripted/judge", "prompt": "abc"}

    @property
    def counts(self) -> Mapping[str, int]:
        return {"texts": self.asked}

    def judge(self, tasks: Sequence[Task]) -> list[list[Verdict]]:
        self.tasks += tasks
        return [[self.verdict(claim, task.against) for claim in task.claims] for task in tasks]

    def verdict(self, claim: Claim, against: str) -> Verdict:
        self.asked += 1
        self.seen[claim.text] = self.seen.get(claim.text, 0) + 1
        word = claim.text.split()[0]
        label: str | None = {"none": None}.get(word, word)
        if self.seen[claim.text] > 1:
            label = self.later.get(claim.text, label)
        return Verdict(claim, against, label, judge="scripted/judge", prompt="abc", cost=self.cost)


def made(*counts: tuple[str, str, int]) -> list[LabelledPair]:
    """Pairs by people's label, the judge's label and their number; two pairs a document, mixed."""
    rows = [(people, judge) for people, judge, n in counts for _ in range(n)]
    random.Random(1).shuffle(rows)
    return [
        LabelledPair(f"p{n}", f"{judge} claim {n}", f"d{n // 2}", 0, 9, f"evidence {n}", people, kind=f"k{n % 2}")
        for n, (people, judge) in enumerate(rows)
    ]


# Sensitivity 36/40, specificity 48/60; two pairs have no label.
KNOWN = made((S, S, 36), (S, U, 4), (C, C, 24), (C, S, 6), (U, U, 24), (U, S, 6), (U, "none", 2))


def judged(query: str, *labels: str | None, by: str = "scripted/judge", against: str = "reference") -> Judged:
    claims = tuple(Claim(query, "answer", n, f"Claim {n}.") for n in range(len(labels)))
    verdicts = tuple(
        Verdict(claim, against, label, judge=by, prompt="abc") for claim, label in zip(claims, labels, strict=True)
    )
    return Judged(query, ("accuracy",) if against == "reference" else ("groundedness",), claims, (), verdicts)


def measured(supported: int, other: int) -> dict[str, Judged]:
    """Answers of one claim each."""
    labels = [S] * supported + [U] * other
    return {f"q{n}": judged(f"q{n}", label) for n, label in enumerate(labels)}


def test_a_judge_with_known_errors() -> None:
    done: list[int] = []
    result = calibrate(Scripted(), KNOWN, progress=done.append)
    dumps(result)
    assert result["confusion"] == {
        S: {S: 36, C: 0, U: 4, "unscored": 0},
        C: {S: 6, C: 24, U: 0, "unscored": 0},
        U: {S: 6, C: 0, U: 24, "unscored": 2},
    }
    figures = {name: of["value"] for name, of in result["agreement"].items()}
    assert figures["accuracy"] == figures["binary_accuracy"] == 84 / 100
    assert (figures["sensitivity"], figures["specificity"]) == (0.9, 0.8)
    assert (figures["accuracy_lower"], figures["accuracy_upper"]) == (84 / 102, 86 / 102)
    assert figures["unscored_rate"] == 2 / 102
    assert figures["binary_kappa"] == pytest.approx((0.84 - 0.504) / 0.496)  # p_e = 0.4 * 0.48 + 0.6 * 0.52
    assert result["pairs"]["labels"] == {S: 40, C: 30, U: 32}
    assert result["bootstrap"]["blocks"] == 51
    assert {kind: of["n"] for kind, of in result["kinds"].items()} == {"k0": 51, "k1": 51}
    assert result["cost"] == 204 * 0.25
    assert result["counts"] == {"texts": 204}
    assert sum(done) == 204
    same = result["consistency"]
    assert (same["n"], same["unscored"], same["same"]["value"], same["changed"]) == (100, 2, 1.0, [])
    assert result["corrected"] == {}


def test_self_consistency_counts_pairs_that_got_another_label() -> None:
    pairs = made((S, S, 4), (U, U, 4))
    first, second, third = (pair.claim for pair in pairs[:3])
    judge = Scripted({first: C, second: S if second.startswith(U) else U, third: None})
    same = calibrate(judge, pairs)["consistency"]
    assert same["changed"] == ["p0", "p1"]
    assert (same["n"], same["unscored"], same["same"]["value"]) == (7, 1, 5 / 7)
    assert calibrate(Scripted(), pairs, repeats=1)["consistency"] is None


def test_pairs_on_one_piece_of_evidence_are_judged_together_and_in_another_order() -> None:
    pair = made((S, S, 1))[0]
    pairs = [replace(pair, id=f"p{n}", claim=f"supported {n}") for n in range(3)]
    judge = Scripted()
    calibrate(judge, pairs)
    first, second = judge.tasks
    assert [claim.text[-1] for claim in first.claims] == ["0", "1", "2"]
    assert [claim.text[-1] for claim in second.claims] == ["2", "1", "0"]
    assert (first.against, first.evidence, second.evidence) == ("d0:0-9", "evidence 0", "evidence 0\n")


def test_no_cache_answers_the_second_round(tmp_path: Path) -> None:
    """A chat judge whose replies are kept is asked again for each round, and pays nothing when all is run once more."""
    sent: list[str] = []

    class Chat:
        identity: Mapping[str, Any] = {"model": "scripted/chat"}
        counts: Mapping[str, int] = {}

        def __init__(self) -> None:
            self.kept: dict[str, Completion] = {}

        def generate(self, prompts: Sequence[Prompt]) -> list[Completion]:
            for prompt in prompts:
                if prompt.user not in self.kept:
                    sent.append(prompt.user)
                    ids = prompt.user.rsplit("no others: ", 1)[1].split(", ")
                    rows = [{"id": id_, "label": S, "quote": "", "reason": ""} for id_ in ids]
                    self.kept[prompt.user] = Completion(dumps({"verdicts": rows}), usage={"cost": 0.0})
            return [self.kept[prompt.user] for prompt in prompts]

    chat = Chat()
    pairs = made((S, S, 3), (U, S, 2))
    result = calibrate(ChatJudge(chat), pairs)
    assert len(sent) == 10
    assert result["agreement"]["accuracy"]["value"] == 3 / 5
    assert calibrate(ChatJudge(chat), pairs)["confusion"] == result["confusion"]
    assert len(sent) == 10


def test_measured_rates_are_corrected() -> None:
    # 500 claims, 58 % called supported: (0.58 + 0.8 - 1) / 0.7 = 0.543; by PPI near it, as the pairs are alike.
    result = calibrate(Scripted(), KNOWN, repeats=1, verdicts=measured(290, 210))
    found = result["corrected"]["accuracy"]
    assert (found["n"], found["answers"], found["unscored"], found["pieces"], found["notes"]) == (500, 500, 0, 1, [])
    assert found["measured"]["value"] == 0.58
    assert found["measured"]["low"] < 0.54
    assert found["rogan_gladen"]["value"] == pytest.approx(0.38 / 0.7)
    assert found["rogan_gladen"]["low"] < 0.47 < 0.60 < found["rogan_gladen"]["high"]
    # w = cov / (1.2 var); people's mean 0.4, the judge's 0.48 on pairs and 0.58 on claims.
    cov = (36 - 100 * 0.4 * 0.48) / 99
    p = (290 + 48) / 600
    weight = cov / (1.2 * p * (1 - p) * 600 / 599)
    assert found["ppi"]["weight"] == pytest.approx(weight)
    assert found["ppi"]["value"] == pytest.approx(0.4 + weight * 0.1)
    assert found["ppi"]["p_alike"] > 0.01
    assert any("random sample" in note for note in result["notes"])


def test_pairs_unlike_the_claims_give_no_ppi() -> None:
    found = calibrate(Scripted(), KNOWN, repeats=1, verdicts=measured(400, 100))["corrected"]["accuracy"]
    assert found["ppi"]["value"] is None
    assert found["ppi"]["why"] == (
        "the judge calls 48% of the pairs supported and 80% of the claims: they aren't alike"
    )
    assert found["rogan_gladen"]["value"] == pytest.approx(0.6 / 0.7)


def test_claims_of_one_block_count_together() -> None:
    verdicts = {f"q{n}": judged(f"q{n}", *[S if n % 2 else U] * 10) for n in range(40)}
    blocks = {query: f"b{n // 2}" for n, query in enumerate(verdicts)}
    wide = calibrate(Scripted(), KNOWN, repeats=1, verdicts=verdicts)["corrected"]["accuracy"]
    alone = calibrate(Scripted(), KNOWN, repeats=1, verdicts=measured(200, 200))["corrected"]["accuracy"]
    assert wide["n"] == alone["n"] == 400
    for name in ("measured", "rogan_gladen", "ppi"):
        width, least = (of[name]["high"] - of[name]["low"] for of in (wide, alone))
        assert width > 1.3 * least, name
    within = calibrate(Scripted(), KNOWN, repeats=1, verdicts=verdicts, blocks=blocks)["corrected"]["accuracy"]
    assert within["blocks"] == 20
    few = calibrate(Scripted(), KNOWN, repeats=1, verdicts=dict(list(verdicts.items())[:9]))["corrected"]["accuracy"]
    assert "few blocks of queries (9)" in few["notes"][0]


def test_what_no_judge_saw_and_what_has_no_label_count_nowhere() -> None:
    verdicts = measured(30, 20) | {
        "none": judged("none", None, S),
        "split": replace(judged("split"), claims=None),
    }
    found = calibrate(Scripted(), KNOWN, repeats=1, verdicts=verdicts)["corrected"]["accuracy"]
    assert (found["n"], found["unscored"], found["answers"]) == (51, 1, 51)
    assert "1 claim without a label" in found["notes"][0]


def test_groundedness_over_many_pieces_says_so() -> None:
    claim = Claim("q1", "answer", 0, "Claim.")
    pieces = tuple(Verdict(claim, f"d{n}", U, judge="scripted/judge", prompt="abc") for n in range(3))
    verdicts: dict[str, Judged] = {
        "q1": Judged("q1", ("groundedness",), (claim,), None, pieces),
        "q2": judged("q2", S, against="d1"),
    }
    bare = judged("q3", U, U, against="evidence")
    verdicts["q3"] = replace(bare, verdicts=tuple(replace(v, prompt="") for v in bare.verdicts))
    found = calibrate(Scripted(), KNOWN, repeats=1, verdicts=verdicts)["corrected"]["groundedness"]
    assert (found["n"], found["unasked"], found["pieces"]) == (2, 2, 3)
    assert "up to 3 pieces" in found["notes"][0]


@pytest.mark.parametrize("by", ["human", "scripted/other"])
def test_verdicts_of_somebody_else_are_refused(by: str) -> None:
    with pytest.raises(InputError, match=f"claim 0 was judged by {by}"):
        calibrate(Scripted(), KNOWN, repeats=1, verdicts={"q1": judged("q1", S, by=by)})
    with pytest.raises(InputError, match="hold neither accuracy nor groundedness"):
        calibrate(Scripted(), KNOWN, repeats=1, verdicts={})


def test_a_judge_that_always_fails_has_no_figures() -> None:
    result = calibrate(Scripted(cost=None), made((S, "none", 3), (U, "none", 3)), verdicts=measured(5, 5))
    dumps(result)
    assert result["agreement"]["accuracy"]["value"] is None
    assert result["agreement"]["unscored_rate"]["value"] == 1
    assert result["cost"] is None
    assert result["consistency"]["same"]["value"] is None
    found = result["corrected"]["accuracy"]
    assert found["rogan_gladen"]["value"] is found["ppi"]["value"] is None
    nothing = calibrate(Scripted(), KNOWN, repeats=1, verdicts={"q1": judged("q1")})["corrected"]["accuracy"]
    assert (nothing["n"], nothing["measured"]["value"], nothing["ppi"]["value"]) == (0, None, None)


def test_pairs_that_cannot_be() -> None:
    pair = KNOWN[0]
    for pairs, repeats in (
        ([], 1),
        ([pair, pair], 1),
        ([replace(pair, label="entailed")], 1),
        ([pair], 0),
        ([pair], True),
    ):
        with pytest.raises(InputError):
            calibrate(Scripted(), pairs, repeats=repeats)


def test_a_judge_that_breaks_its_word() -> None:
    class Short(Scripted):
        def judge(self, tasks: Sequence[Task]) -> list[list[Verdict]]:
            return [one[:-1] for one in super().judge(tasks)]

    class Odd(Scripted):
        def verdict(self, claim: Claim, against: str) -> Verdict:
            return replace(super().verdict(claim, against), label="true")

    for judge in (Short(), Odd()):
        with pytest.raises(CallError):
            calibrate(judge, KNOWN)


def test_the_fingerprint_is_of_the_content() -> None:
    assert fingerprint(KNOWN) == fingerprint(KNOWN[::-1]) != fingerprint([replace(KNOWN[0], label=C), *KNOWN[1:]])


def test_the_sample_and_the_tables() -> None:
    with Calls(None) as calls:
        result = calibrate(backends.judge("offline/lexical", calls), load("sample").pairs, verdicts=None)
    dumps(result)
    assert result["pairs"]["n"] == 200
    assert result["consistency"]["same"]["value"] == 1
    assert sum(sum(row.values()) for row in result["confusion"].values()) == 200
    text = judges.markdown(result)
    assert "offline/lexical is a stand-in" in text
    assert text.count("\n## ") == 3
    corrected = calibrate(Scripted(), KNOWN, verdicts=measured(400, 100))
    console = Console(width=160, file=StringIO())
    for made_ in judges.tables(corrected):
        console.print(made_)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "aren't alike" in shown
    assert "0.857" in shown
    assert "0.857" in judges.markdown(corrected)


def test_pairs_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    row = {"id": "a", "claim": "Le loyer est dû.", "evidence": "Rent is due.", "label": S}
    placed = {**row, "id": "b", "doc": "d1", "kind": "plain"}
    path.write_text(f"{dumps(row)}\n{dumps(placed)}\n", encoding="utf-8")
    documents = {"d1": Document("d1", "Doe v. Roe", "[1] Rent is due.")}
    first, second = read_pairs(path, documents)
    assert first == LabelledPair("a", "Le loyer est dû.", "", 0, 12, "Rent is due.", S)
    assert (second.doc_id, second.start, second.end, second.kind) == ("d1", 4, 16, "plain")
    assert calibrate(Scripted(), [replace(p, claim=f"supported {p.id}") for p in (first, second)])["pairs"] == {
        "n": 2,
        "documents": 2,
        "fingerprint": fingerprint([replace(p, claim=f"supported {p.id}") for p in (first, second)]),
        "labels": {S: 2, C: 0, U: 0},
        "kinds": {"": 1, "plain": 1},
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": "entailed"}, "label: 'entailed' is not known"),
        ({"label": None}, "label: is missing"),
        ({"claim": " "}, "claim: is blank"),
        ({"evidence": 7}, "evidence: 7 is not a string"),
        ({"id": ""}, "id: '' is blank"),
        ({"start": 0, "end": 12}, "start: is a place in no document"),
        ({"doc": "d1", "start": 0, "end": 5}, "isn't as long as the evidence"),
        ({"doc": "d1", "start": 0, "end": 12}, "doesn't stand in d1 there"),
        ({"doc": "d2"}, "doc: 'd2' is not in the corpus"),
        ({"doc": "d1", "evidence": "Rent was due."}, "doesn't stand in d1"),
    ],
)
def test_pairs_with_a_fault(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = tmp_path / "pairs.jsonl"
    row = {"id": "a", "claim": "Rent is owed.", "evidence": "Rent is due.", "label": S}
    path.write_text(dumps(row) + "\n" + dumps({**row, "id": "b", **change}) + "\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_pairs(path, {"d1": Document("d1", "Doe v. Roe", "[1] Rent is due.")})
    assert said in str(error.value)
    assert "pairs.jsonl:2" in str(error.value)


def test_files_of_pairs_that_hold_none_or_one_twice(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="holds no labelled pairs"):
        read_pairs(path)
    path.write_text(2 * '{"id": "a", "claim": "x", "evidence": "y", "label": "supported"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="stands in the file twice"):
        read_pairs(path)
