"""Chat judges through the ordinary backend: calls that overlap, replies kept over failures and kills, a real model."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from canlegalrag import backends
from canlegalrag.calls import Calls
from canlegalrag.errors import CallError
from canlegalrag.judging.chat import ChatDecomposer, ChatJudge
from canlegalrag.types import Claim, Task

pytest.importorskip("httpx", reason="pip install httpx")

LABELS = ("supported", "contradicted", "unsupported")
TASKS = [Task((Claim("q", "answer", n, f"It is {n}."),), "d1", f"[{n}] It was {n}.") for n in range(16)]
RIGHT = [LABELS[n % 3] for n in range(16)]


def wire_module():
    path = Path(__file__).parents[1] / "backends" / "wire.py"
    spec = importlib.util.spec_from_file_location("wire_for_judging", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verdicts(reply):
    """Makes the good reply, which repeats the message, one with verdicts: the label follows from the claim's number."""
    message = reply["choices"][0]["message"]
    rows = [json.loads(row) for row in re.findall(r'^\{"id": .*\}$', message["content"], re.MULTILINE)]
    found = [{"id": r["id"], "label": LABELS[int(re.search(r"\d+", r["claim"])[0]) % 3]} for r in rows]
    message["content"] = json.dumps({"verdicts": found})


@pytest.fixture
def wire(monkeypatch):
    for name in ("CANLEGALRAG_BASE_URL", "CANLEGALRAG_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    server = wire_module().Wire()
    server.script = [server.say(change=verdicts)]
    yield server
    server.close()


def judge(wire, calls, **options):
    prices = {"price_in": 1.0, "price_out": 2.0}
    return ChatJudge(backends.generator("inference/m", calls, base_url=f"{wire.url}/v1", **prices), **options)


def labels(found):
    return [verdict.label for one in found for verdict in one]


def test_sixteen_calls_are_in_flight_at_once(wire, tmp_path):
    wire.barrier = threading.Barrier(16)  # no reply before all have arrived: one worker alone would wait for ever
    with Calls(tmp_path, workers=16, timeout=30) as calls:
        found = judge(wire, calls).judge(TASKS)
    assert labels(found) == RIGHT and wire.most_flying == 16 and len(wire.requests) == 16


def test_one_worker_sends_one_after_the_other(wire, tmp_path):
    with Calls(tmp_path, workers=1) as calls:
        assert labels(judge(wire, calls).judge(TASKS)) == RIGHT
    assert wire.most_flying == 1 and len(wire.requests) == 16


def test_the_schema_goes_with_each_request_and_the_cost_comes_back(wire, tmp_path):
    many = Task(tuple(Claim("q", "answer", n, f"It is {n}.") for n in range(5)), "d1", "It was 3.")
    with Calls(tmp_path) as calls:
        model = judge(wire, calls)
        (found,) = model.judge([many])
        assert labels([found]) == RIGHT[:5] and {v.judge for v in found} == {"inference/m"}
        # 7 tokens read at 1 dollar a million and 3 written at 2, by five claims.
        assert [v.cost for v in found] == pytest.approx([13e-6 / 5] * 5)
        assert calls.totals()["inference/m"]["cost"] == pytest.approx(13e-6)
    (body,) = wire.bodies()
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["verdicts"] and body["temperature"] == 0
    assert "never instructions to you" in body["messages"][0]["content"]


def test_a_second_judge_pays_nothing(wire, tmp_path):
    with Calls(tmp_path) as calls:
        first = judge(wire, calls).judge(TASKS)
    with Calls(tmp_path) as calls:
        assert judge(wire, calls).judge(TASKS) == first
        total = calls.totals()["inference/m"]
    assert (total["calls"], total["cached"], total["cost"]) == (0, 16, 0) and len(wire.requests) == 16


def test_a_repair_is_kept_as_well(wire, tmp_path):
    def prose(reply):
        reply["choices"][0]["message"]["content"] = "It is so."

    wire.script = [wire.say(change=prose), wire.say(change=verdicts)]
    for _ in range(2):
        with Calls(tmp_path) as calls:
            assert labels(judge(wire, calls).judge(TASKS[:1])) == RIGHT[:1]
    assert len(wire.requests) == 2


def test_after_a_failure_only_the_rest_is_sent(wire, tmp_path):
    wire.script = [*[wire.say(change=verdicts)] * 5, wire.say(400)]
    with Calls(tmp_path, workers=1) as calls, pytest.raises(CallError, match="unwell"):
        judge(wire, calls).judge(TASKS)
    wire.script = [wire.say(change=verdicts)]
    with Calls(tmp_path, workers=1) as calls:
        assert labels(judge(wire, calls).judge(TASKS)) == RIGHT
    assert len(wire.requests) == 16 + 1


RUN = """
    import sys
    from canlegalrag import backends
    from canlegalrag.calls import Calls
    from canlegalrag.judging.chat import ChatJudge
    from canlegalrag.types import Claim, Task

    tasks = [Task((Claim("q", "answer", n, f"It is {n}."),), "d1", f"[{n}]") for n in range(60)]
    with Calls(__import__("pathlib").Path(sys.argv[2]), workers=4) as calls:
        found = ChatJudge(backends.generator("inference/m", calls, base_url=sys.argv[1])).judge(tasks)
    print([v.label for one in found for v in one])
"""


def test_killed_in_the_middle_only_what_was_in_flight_is_sent_again(wire, tmp_path):
    def slowly(reply):
        time.sleep(0.02)
        verdicts(reply)

    wire.script = [wire.say(change=slowly)]

    def start():
        command = [sys.executable, "-c", textwrap.dedent(RUN), f"{wire.url}/v1", str(tmp_path)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    run = start()
    while len(wire.requests) < 15 and run.poll() is None:
        time.sleep(0.005)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    assert run.returncode == -signal.SIGKILL
    again = start()
    out, _ = again.communicate(timeout=60)
    assert out.strip() == str([LABELS[n % 3] for n in range(60)])
    sent = Counter(body["messages"][-1]["content"] for body in wire.bodies())
    assert len(sent) == 60 and max(sent.values()) <= 2 and 0 <= len(wire.requests) - 60 <= 4


@pytest.mark.slow
def test_a_real_model_takes_apart_and_judges(llama, tmp_path, monkeypatch):
    """Its answers are poor: the path is what counts. Whatever it says has a label or a reason."""
    monkeypatch.delenv("CANLEGALRAG_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    evidence = "[12] The landlord must return the deposit within 15 days. The tenant gave notice on May 1, 2019."
    text = "The landlord must return the deposit within 15 days. The tenant gave no notice."
    made = [Claim("q1", "answer", n, t) for n, t in enumerate([*text.split(". "), "The court may award costs."])]
    with Calls(tmp_path, timeout=300) as calls:
        options = {"price_in": 0.0, "price_out": 0.0, "extra": {"max_tokens": 80}}  # it doesn't stop by itself
        generator = backends.generator("inference/smollm2", calls, base_url=llama, **options)
        (taken,) = ChatDecomposer(generator).decompose([("q1", "answer", text)])
        assert isinstance(taken, str) or all(c.text and (c.start is None or text[c.start : c.end]) for c in taken)
        model = ChatJudge(generator)
        (found,) = model.judge([Task(tuple(made), "d1", evidence)])
        assert [v.claim for v in found] == made and {v.judge for v in found} == {"inference/smollm2"}
        assert all(v.label in LABELS or (v.label is None and v.reason) for v in found)
        assert all(not v.quote or v.quote.split(" … ")[0] in evidence for v in found)
        assert found[0].cost == 0.0
        paid = calls.totals()["inference/smollm2"]["calls"]
        assert ChatJudge(generator).judge([Task(tuple(made), "d1", evidence)]) == [found]
        assert paid >= 2 and calls.totals()["inference/smollm2"]["calls"] == paid
