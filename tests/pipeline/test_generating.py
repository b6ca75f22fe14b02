"""Generating: each outcome is recorded as such, the oracle has all gold, nothing is mixed, a kill loses a batch."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from canlegalrag import backends, pipeline
from canlegalrag.benchmark import Benchmark, load
from canlegalrag.calls import Calls
from canlegalrag.errors import CallError, InputError
from canlegalrag.files import read_run
from canlegalrag.pipeline.generating import prompt
from canlegalrag.records import read_answers
from canlegalrag.types import Answer, Completion, Document, Hit, Passage, Prompt, Query, Run

DOCUMENTS = {
    "a": Document(
        "a", "Doe v. Roe", "[1] The deposit must be returned. " * 40, "BCSC", 2021, citations=("2021 BCSC 1",)
    ),
    "b": Document("b", "Residential Act", "7 Notice is one month. " * 40),
    "c": Document("c", "Poe v. Moe", "Nothing of the kind."),
}
QUERIES = {q.id: q for q in (Query("q1", "Is it due?", "Manitoba"), Query("q2", "When?"), Query("q3", "Who?"))}
SMALL = Benchmark("small", DOCUMENTS, QUERIES, {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"c": 1}, "q3": {"x": 1}})
RUN: Run = {
    "q1": [Hit("c", 3.0), Hit("a", 2.0, Passage("a", 1, 34, 67)), Hit("a", 1.0, Passage("a", 0, 0, 33))],
    "q2": [Hit("a", 1.0)],
}


@dataclass
class Scripted:
    """Gives what it is told to, and keeps what it was asked."""

    replies: Sequence[Completion | Exception]
    window: int | None = None
    asked: list[Prompt] = field(default_factory=list)

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": "test/scripted", "window": self.window}

    @property
    def counts(self) -> Mapping[str, int]:
        return {"texts": len(self.asked)}

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion]:
        done = []
        for one in prompts:
            self.asked.append(one)
            reply = self.replies[(len(self.asked) - 1) % len(self.replies)]
            if isinstance(reply, Exception):
                raise reply
            done.append(reply)
        return done


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines without what differs from run to run."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["usage"].pop("seconds", None)
    return rows


def test_each_way_to_end_is_recorded(tmp_path: Path) -> None:
    usage = {"input_tokens": 9, "output_tokens": 4, "cost": 0.01, "seconds": 0.5, "cached": True}
    model = Scripted(
        [
            Completion("Yes: Doe v. Roe, 2021 BCSC 1. So 2021 BCSC 1.", "length", "Let me see.", usage),
            Completion("I can't help.", "refusal"),
            Completion(" \n"),
        ]
    )
    out = tmp_path / "answers.jsonl"
    meta = pipeline.generate(SMALL, RUN, model, out, k=2, tokens=50_000)
    answers = read_answers(out, DOCUMENTS)
    assert list(answers) == ["q1", "q2", "q3"]
    assert [a.stop for a in answers.values()] == ["length", "refusal", "empty"]
    assert meta["stops"] == {"length": 1, "refusal": 1, "empty": 1}
    first = answers["q1"]
    assert first.citations == ("2021 BCSC 1",) and first.condition == "pipeline"
    assert first.usage == usage | {"thinking": "Let me see.", "context": first.usage["context"]}
    assert first.usage["context"]["whole"] == ["c", "a"]  # of the two best hits, whole documents
    assert [(p.doc_id, p.start, p.end) for p in first.passages] == [("c", 0, 20), ("a", 0, len(DOCUMENTS["a"].text))]
    assert answers["q3"].passages == () and answers["q3"].usage["context"]["whole"] == []
    assert meta["counted"] == "estimated: 3 bytes a token"
    assert pipeline.read_meta(out) == meta
    old = json.loads(pipeline.meta_path(out).read_text())  # as a kill between the lines and the record leaves it
    pipeline.meta_path(out).write_text(json.dumps(old | {"stops": {}, "sha256": ""}))
    assert pipeline.read_meta(out) == {}
    assert pipeline.generate(SMALL, RUN, model, out, k=2, tokens=50_000) == meta == pipeline.read_meta(out)


def test_why_it_ended_agrees_with_what_was_said(tmp_path: Path) -> None:
    """An answer that calls itself empty would be passed over; what it says would be lost."""
    model = Scripted([Completion("Yes.", "empty"), Completion("", "length"), Completion("", "stop")])
    pipeline.generate(SMALL, RUN, model, tmp_path / "a.jsonl")
    assert [a.stop for a in read_answers(tmp_path / "a.jsonl", DOCUMENTS).values()] == ["stop", "length", "empty"]


def test_a_full_disk_leaves_a_record_of_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canlegalrag.pipeline._output.BATCH", 1)
    out, sync, synced = tmp_path / "a.jsonl", os.fsync, []

    def full(file: int) -> None:
        if os.path.samestat(os.fstat(file), out.stat()):  # its record is written as well
            if len(synced) == 1:
                raise OSError(28, "No space left on device")
            synced.append(file)
        sync(file)

    with monkeypatch.context() as patched:
        patched.setattr("canlegalrag.pipeline._output.os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            pipeline.generate(SMALL, RUN, Scripted([Completion("Yes.")]), out)
    first = out.read_bytes().split(b"\n")[0] + b"\n"
    out.write_bytes(first + b'{"query_id": "q')  # what of it came to the disk
    meta = pipeline.generate(SMALL, RUN, Scripted([Completion("Yes.")]), out)
    assert meta["lines"] == 3 and pipeline.read_meta(out) == meta


def test_what_is_asked(tmp_path: Path) -> None:
    model = Scripted([Completion("Yes.")])
    pipeline.generate(SMALL, RUN, model, tmp_path / "a.jsonl", max_tokens=77)
    first, _, third = model.asked
    assert first.user.startswith(
        "Question:\nI am in Manitoba. Is it due?\n\nPassages:\n\n[1] Poe v. Moe\nCite as: Poe v. Moe"
    )
    assert "[2] Doe v. Roe\nCite as: 2021 BCSC 1\nCourt: BCSC\nYear: 2021\n\n[1] The deposit" in first.user
    assert first.user.endswith("\n\nQuestion:\nI am in Manitoba. Is it due?")
    assert third.user == "Question:\nWho?\n\nPassages:\n\n(none)\n\nQuestion:\nWho?"
    assert first.system == prompt() and first.max_tokens == 77 and first.schema is None


def test_the_oracle_reads_all_gold_and_nothing_else(tmp_path: Path) -> None:
    """b is gold and was not found: it comes whole, behind what was; x is not in the benchmark."""
    assert pipeline.oracle(SMALL, RUN) == {
        "q1": [*RUN["q1"][1:], Hit("b", 1.0)],
        "q2": [Hit("c", 0.0)],
        "q3": [],
    }
    meta = pipeline.generate(SMALL, RUN, Scripted([Completion("Yes.")]), tmp_path / "a.jsonl", condition="oracle", k=1)
    answers = read_answers(tmp_path / "a.jsonl", DOCUMENTS)
    assert {q: [p.doc_id for p in a.passages] for q, a in answers.items()} == {"q1": ["a", "b"], "q2": ["c"], "q3": []}
    assert {a.condition for a in answers.values()} == {meta["condition"]} == {"oracle"}
    excluded = replace(SMALL, queries=QUERIES | {"q1": replace(QUERIES["q1"], excluded=("a",))})
    assert pipeline.oracle(excluded, RUN)["q1"] == [Hit("b", 0.0)]


def test_documents_that_are_excluded_are_not_read(tmp_path: Path) -> None:
    masked = replace(SMALL, queries={"q1": replace(QUERIES["q1"], excluded=("c",))})
    pipeline.generate(masked, RUN, Scripted([Completion("Yes.")]), tmp_path / "a.jsonl", k=1)
    assert [p.doc_id for p in read_answers(tmp_path / "a.jsonl")["q1"].passages] == ["a"]


def test_the_budget_and_a_small_window_are_kept_to(tmp_path: Path) -> None:
    model = Scripted([Completion("Yes.")])
    meta = pipeline.generate(SMALL, {"q1": [Hit("a", 1.0), Hit("b", 1.0)]}, model, tmp_path / "a.jsonl", tokens=300)
    cut = read_answers(tmp_path / "a.jsonl", DOCUMENTS)["q1"].usage["context"]
    assert cut["in_part"] == ["a", "b"] and cut["tokens"] <= cut["budget"] == 300 and meta["cut"] == 1
    small = Scripted([Completion("Yes.")], window=2000)
    pipeline.generate(SMALL, {"q1": [Hit("a", 1.0), Hit("b", 1.0)]}, small, tmp_path / "b.jsonl", max_tokens=900)
    for one in small.asked:
        assert len(f"{one.system}\n{one.user}".encode()) / 3 + 900 <= 2000
    assert read_answers(tmp_path / "b.jsonl", DOCUMENTS)["q1"].usage["context"]["budget"] < 700
    with pytest.raises(InputError, match="test/scripted: max_tokens 1950 and the question fill its window of 2000"):
        pipeline.generate(SMALL, RUN, Scripted([], window=2000), tmp_path / "c.jsonl", max_tokens=1950)


def test_offline_it_counts_words_and_answers_from_the_documents(tmp_path: Path) -> None:
    meta = pipeline.generate(SMALL, RUN, backends.generator("offline/extractive"), tmp_path / "a.jsonl")
    assert meta["counted"] == "by the model" and meta["cost"] == 0.0 and meta["model"]["model"] == "offline/extractive"
    answers = read_answers(tmp_path / "a.jsonl", DOCUMENTS)
    assert answers["q3"].stop == "empty"  # nothing was found


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"condition": "oracle"}, "was made with condition pipeline, not oracle"),
        ({"k": 3}, "was made with k 10, not 3"),
        ({"tokens": 9}, "was made with tokens 115000, not 9"),
        ({"max_tokens": 9}, "was made with max_tokens 2048, not 9"),
        ({"generator": Scripted([], window=90_000)}, r"was made with model {'window': None}, not {'window': 90000}"),
        ({"run": {"q1": RUN["q1"][:1]}}, "was made with run "),
        (
            {"benchmark": replace(SMALL, queries=dict(list(QUERIES.items())[:2]))},
            "was made with benchmark {'fingerprint'",
        ),
    ],
)
def test_what_differs_is_not_mixed_in(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"benchmark": SMALL, "run": RUN, "generator": Scripted([Completion("Yes.")])}
    out = tmp_path / "a.jsonl"
    pipeline.generate(**given, out=out)
    before = out.read_bytes()
    with pytest.raises(InputError, match=said):
        pipeline.generate(**given | changes, out=out)
    assert out.read_bytes() == before


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    model, out = Scripted([Completion("Yes.")]), tmp_path / "a.jsonl"
    with pytest.raises(InputError, match="'gold' is not known"):
        pipeline.generate(SMALL, RUN, model, out, condition="gold")
    with pytest.raises(InputError, match="k: 0 is not a depth"):
        pipeline.generate(SMALL, RUN, model, out, k=0)
    with pytest.raises(InputError, match="run: has none of the queries of small"):
        pipeline.generate(SMALL, {"z": []}, model, out)
    with pytest.raises(InputError, match="'z': was found but is not among the documents"):
        pipeline.generate(SMALL, {"q1": [Hit("z", 1.0)]}, model, tmp_path / "z.jsonl")
    with pytest.raises(CallError, match="says it ended by 'eos'"):
        pipeline.generate(SMALL, RUN, Scripted([Completion("Yes.", "eos")]), tmp_path / "b.jsonl")
    with pytest.raises(InputError, match=r"is not named \.jsonl"):
        pipeline.generate(SMALL, RUN, model, tmp_path / "a.json")
    out.write_text('{"query_id": "q1", "hits": []}\n')
    with pytest.raises(InputError, match="holds a line that is no answer"):
        pipeline.generate(SMALL, RUN, model, out)


def test_half_a_surrogate_pair_does_not_lose_what_was_paid_for(tmp_path: Path) -> None:
    pipeline.generate(SMALL, RUN, Scripted([Completion("Yes \ud800.")]), tmp_path / "a.jsonl")
    assert read_answers(tmp_path / "a.jsonl")["q1"].text == "Yes ?."


def test_a_provider_that_fails_stops_it_and_what_was_answered_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canlegalrag.pipeline._output.BATCH", 1)
    out = tmp_path / "a.jsonl"
    failing = Scripted([Completion("Yes.", usage={"cost": 0.5}), CallError("test/scripted", "status 500")])
    with pytest.raises(CallError, match="status 500"):
        pipeline.generate(SMALL, RUN, failing, out)
    assert [row["query_id"] for row in lines(out)] == ["q1"]
    assert pipeline.read_meta(out)["stops"] == {"stop": 1}
    steps: list[int] = []
    well = Scripted([Completion("No.")])
    meta = pipeline.generate(SMALL, RUN, well, out, progress=steps.append)
    assert [row["text"] for row in lines(out)] == ["Yes.", "No.", "No."]
    assert steps == [1, 1, 1] and len(well.asked) == 2 and meta["counts"] == {"texts": 3}
    pipeline.generate(SMALL, RUN, well, out)
    assert len(well.asked) == 2


def test_what_a_kill_left_may_be_nothing_but_what_a_provider_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An undisturbed run takes it for refusals, as the provider answered before; so does one that goes on after."""
    from canlegalrag.calls import Call, Fault, Reply

    monkeypatch.setattr("canlegalrag.pipeline._output.BATCH", 1)

    class Filtered(Scripted):
        calls: Calls

        def generate(self, prompts: Sequence[Prompt]) -> list[Completion]:
            def send(batch: Sequence[str]) -> Reply:
                if "Who?" in batch[0] or "When?" in batch[0]:
                    raise Fault("flagged by moderation", status=400)
                return Reply([b"stop"])

            call, items = Call("test", "scripted", "generate"), [p.user for p in prompts]
            found = self.calls.map(call, items, send, per_batch=1, refused=lambda what: b"refusal")
            return [Completion("" if one.value == b"refusal" else "Yes.", one.value.decode()) for one in found]

    def made(folder: str, cache: str) -> None:
        with Calls(tmp_path / cache) as calls:
            model = Filtered([])
            model.calls = calls
            meta = pipeline.generate(SMALL, RUN, model, tmp_path / folder / "answers.jsonl", calls=calls)
            assert meta["stops"] == {"stop": 1, "refusal": 2}

    made("whole", "one")
    path = tmp_path / "whole" / "answers.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"\n") + 1])
    made("whole", "another")  # the first line stands, and nothing that is asked now is answered
    assert path.read_bytes() == whole


def test_what_is_paid_is_booked(tmp_path: Path) -> None:
    """The cost is what calls of this stage cost, not what answers from the cache had cost once."""
    calls = Calls(None)

    class Paid(Scripted):
        def generate(self, prompts: Sequence[Prompt]) -> list[Completion]:
            from canlegalrag.calls import Call, Reply

            call = Call("test", "paid", "generate", price_in=1.0, price_out=1.0)
            calls.map(call, [p.user for p in prompts], lambda b: Reply([b"x"] * len(b), 500_000, 0), per_batch=1)
            return super().generate(prompts)

    meta = pipeline.generate(
        SMALL, RUN, Paid([Completion("Yes.", usage={"cost": 9.0})]), tmp_path / "a.jsonl", calls=calls
    )
    assert meta["cost"] == 1.5


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="needs POSIX locks")
    out = tmp_path / "a.jsonl"
    with out.open("a+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is writing it"):
            pipeline.generate(SMALL, RUN, Scripted([]), out)


def test_a_killed_stage_goes_on(tmp_path: Path) -> None:
    """kill -9 while it writes, and a torn line: the next ends with the answers of one that wasn't killed."""
    sample = load("sample")
    run = tmp_path / "run.jsonl"
    rows = [{"query_id": q, "hits": [{"doc_id": d, "score": 1.0} for d in sample.qrels[q]]} for q in sample.queries]
    run.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from canlegalrag import backends, pipeline\n"
        "from canlegalrag.benchmark import load\n"
        "from canlegalrag.files import read_run\n"
        "pipeline._output.BATCH = 4\n"
        "pipeline.generate(load('sample'), read_run(sys.argv[2]), backends.generator('offline/extractive'),\n"
        "                  Path(sys.argv[1]), progress=lambda n: time.sleep(0.2))\n"
    )
    out = tmp_path / "a.jsonl"
    process = subprocess.Popen([sys.executable, "-c", code, str(out), str(run)])
    until = time.monotonic() + 60
    while time.monotonic() < until and (not out.exists() or out.stat().st_size < 4000):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    killed = out.read_bytes()
    out.write_bytes(killed + b'{"query_id": "b8-q')
    for path in (out, tmp_path / "whole.jsonl"):
        pipeline.generate(sample, read_run(run), backends.generator("offline/extractive"), path)
    assert 0 < len(killed) < out.stat().st_size and out.read_bytes().startswith(killed)
    assert lines(out) == lines(tmp_path / "whole.jsonl")
    assert all(isinstance(a, Answer) and a.passages for a in read_answers(out, sample.documents).values())
