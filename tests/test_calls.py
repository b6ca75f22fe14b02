"""Paid calls: sent once, kept at once, asked again with patience, counted, and stopped by the budget."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.calls import LONGEST_WAIT, Call, Calls, Fault, Reply, _retry, seconds_asked
from canlegalrag.calls._retry import Gate, backoff
from canlegalrag.errors import BudgetSpent, CallError, InputError

CALL = Call("test", "model", "embed query", {"dim": 3}, price_in=1.0, price_out=10.0, key_name="TEST_KEY")


class Sender:
    """Answers each item with itself in capitals, and remembers the batches; `script` holds faults to raise first."""

    def __init__(self, *script, tokens=None):
        self.batches = []
        self.script = list(script)
        self.tokens = tokens

    def __call__(self, batch):
        self.batches.append(list(batch))
        if self.script:
            fault = self.script.pop(0)
            if fault is not None:
                raise fault
        return Reply([item.upper().encode() for item in batch], self.tokens)

    @property
    def sent(self):
        return [item for batch in self.batches for item in batch]


def asked(calls, items, send, call=CALL, **options):
    return [one.value.decode() for one in calls.map(call, items, send, **{"per_batch": 2} | options)]


def opened(folder, **options):
    return Calls(folder, **{"sleep": lambda seconds: None} | options)


def ledger(folder):
    return [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]


def test_each_item_is_sent_once_and_answered_in_order(tmp_path):
    send = Sender()
    with opened(tmp_path) as calls:
        assert asked(calls, ["b", "a", "b", "é", "a"], send) == ["B", "A", "B", "É", "A"]
        assert sorted(send.sent) == ["a", "b", "é"]
        assert asked(calls, ["a", "c"], send) == ["A", "C"]
        assert send.batches[-1] == ["c"]
        assert calls.totals()["test/model"]["cached"] == 2 + 1
    with opened(tmp_path) as again:
        results = again.map(CALL, ["c", "d"], send, per_batch=2)
        assert [(r.value, r.cached) for r in results] == [(b"C", True), (b"D", False)]


def test_without_a_folder_nothing_is_remembered():
    send = Sender()
    with opened(None) as calls:
        assert asked(calls, ["a"], send) + asked(calls, ["a"], send) == ["A", "A"]
    assert send.sent == ["a", "a"]


def test_no_items_no_call(tmp_path):
    send = Sender()
    with opened(tmp_path) as calls:
        assert asked(calls, [], send) == []
    assert send.batches == [] and not (tmp_path / "ledger.jsonl").exists()


@pytest.mark.parametrize(
    "other",
    [
        Call("other", "model", "embed query", {"dim": 3}),
        Call("test", "another", "embed query", {"dim": 3}),
        Call("test", "model", "embed document", {"dim": 3}),
        Call("test", "model", "embed query", {"dim": 4}),
        Call("test", "model", "embed query"),
    ],
)
def test_a_reply_answers_its_own_question_only(tmp_path, other):
    send = Sender()
    with opened(tmp_path) as calls:
        asked(calls, ["a"], send)
        asked(calls, ["a"], send, call=other)
    assert send.sent == ["a", "a"]


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=9), max_size=9, unique=True))
def test_different_items_have_different_names(items):
    assert len(set(CALL.keys(items))) == len(items)


def test_prices_and_keys_do_not_change_what_a_reply_is_called():
    priced = Call("test", "model", "embed query", {"dim": 3}, 9.0, 9.0, "X", "secret")
    assert priced.keys(["a"]) == CALL.keys(["a"])
    assert "secret" not in repr(priced)


def test_batches_keep_to_both_limits(tmp_path):
    send = Sender()
    with opened(tmp_path, workers=1) as calls:
        asked(calls, ["aaaa", "bb", "cc", "d", "e", "ffffffffff", "g"], send, per_batch=3, chars_per_batch=6)
    assert send.batches == [["aaaa", "bb"], ["cc", "d", "e"], ["ffffffffff"], ["g"]]


def test_what_is_no_list_of_texts_is_refused(tmp_path):
    with opened(tmp_path) as calls:
        for items in ("abc", [1], ["\ud800"], None):
            with pytest.raises(InputError):
                asked(calls, items, Sender())


@pytest.mark.parametrize(
    "bad", [{"workers": 0}, {"tries": 0}, {"timeout": 0}, {"budget": -1}, {"budget": float("nan")}]
)
def test_numbers_that_make_no_sense_are_refused(tmp_path, bad):
    with pytest.raises(InputError):
        Calls(tmp_path, **bad)


# Several at once.


def test_sixteen_are_in_flight_together(tmp_path):
    """Each waits for fifteen others: 32 batches come through only if sixteen fly at once."""
    meeting = threading.Barrier(16, timeout=20)

    def send(batch):
        meeting.wait()
        return Reply([b"x"] * len(batch))

    with opened(tmp_path, workers=16) as calls:
        assert len(asked(calls, [str(n) for n in range(32)], send, per_batch=1)) == 32


def test_no_more_than_the_workers_are_in_flight(tmp_path):
    flying, most, lock = 0, 0, threading.Lock()

    def send(batch):
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
        time.sleep(0.002)
        with lock:
            flying -= 1
        return Reply([b"x"] * len(batch))

    with opened(tmp_path, workers=3) as calls:
        asked(calls, [str(n) for n in range(40)], send, per_batch=1)
    assert 1 <= most <= 3


def test_threads_may_share_the_calls(tmp_path):
    send = Sender()
    results = {}
    with opened(tmp_path) as calls:

        def run(n):
            results[n] = asked(calls, [f"{n}-{i}" for i in range(20)], send)

        threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert calls.totals()["test/model"]["items"] == 120
    assert results == {n: [f"{n}-{i}" for i in range(20)] for n in range(6)}
    assert len(ledger(tmp_path)) == 60


def test_a_429_halves_the_flights_once_and_success_brings_them_back():
    gate = Gate(8)
    tickets = [gate.enter(print) for _ in range(8)]
    for ticket in tickets:  # all eight were in flight when the provider said no
        gate.leave(well=False)
        gate.slow(0, ticket)
    assert gate.limit == 4
    gate.slow(0, gate.enter(print))
    gate.leave(well=False)
    assert gate.limit == 2
    for _ in range(2 + 3 + 4 + 5 + 6 + 7):
        gate.enter(print)
        gate.leave(well=True)
    assert gate.limit == 8


def test_after_a_429_the_others_wait_too(tmp_path):
    naps = []
    send = Sender(Fault("status 429", status=429, wait=30.0))
    with opened(tmp_path, workers=1, sleep=naps.append) as calls:
        assert asked(calls, ["a", "b", "c"], send, per_batch=1) == ["A", "B", "C"]
        assert calls._gates["test"].limit == 1
    # The clock stands still: the batch itself, and each one after it, is held back by what is left of the 30 s.
    assert len(naps) == 3 and all(29 < nap <= 31 for nap in naps)


# Asking again.


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_passing_faults_are_asked_again(tmp_path, status):
    send = Sender(*[Fault(f"status {status}", status=status)] * 5)
    with opened(tmp_path) as calls:
        assert asked(calls, ["a"], send) == ["A"]
        assert calls.totals()["test/model"]["retries"] == 5
    assert ledger(tmp_path)[0]["tries"] == 6 and ledger(tmp_path)[0]["status"] == "ok"


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 501])
def test_lasting_faults_are_not(tmp_path, status):
    send = Sender(Fault(f"status {status}", status=status))
    with opened(tmp_path) as calls, pytest.raises(CallError, match=f"test/model: status {status} \\(.+\\)"):
        asked(calls, ["a"], send)
    assert len(send.batches) == 1


LONG = Fault("status 400: This model's maximum context length is 8192 tokens", status=400)


class Filtered(Sender):
    """Refuses what has the word `bad` in it."""

    def __call__(self, batch):
        if any("bad" in item for item in batch):
            self.batches.append(list(batch))
            raise Fault(LONG.what, status=400)
        return super().__call__(batch)


def stood_in(what):
    return f"refused: {what}".encode()


@pytest.mark.parametrize(
    ("status", "said", "text"),
    [
        (400, "This model's maximum context length is 8192 tokens", True),
        (400, "the request exceeds the available context size", True),
        (400, "The response was filtered due to Azure's content management policy", True),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", True),
        (422, "input flagged by moderation", True),
        (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 8740", True),
        (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 1168", True),
        (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens", True),
        (400, "too many tokens: total number of tokens in the prompt cannot exceed 4081", True),
        (400, "'max_completion_tokens' is too large: 99. This model's maximum context length is 4096 tokens", True),
        (400, "Input data may contain inappropriate content", True),
        (400, "Content Exists Risk", True),
        (403, "Your chosen model requires moderation and your input was flagged", True),
        (413, "", True),
        (400, "Your credit balance is too low", False),
        (400, "API key not valid", False),
        (400, "unknown field response_format", False),
        (400, "Your account has been blocked", False),
        (400, "this API key was flagged", False),
        (400, "You exceeded your quota of tokens", False),
        (400, "the limit of tokens per day is exceeded", False),
        (400, "max_tokens is too large: 6100. This model supports at most 4096 completion tokens", False),
        (422, "`max_new_tokens` must be <= 192. Given: 200", False),
        (401, "blocked", False),
        (403, "blocked", False),
        (403, "Your account was flagged", False),
        (404, "the model is blocked", False),
    ],
)
def test_which_refusals_are_about_a_text(status, said, text):
    assert Fault(f"status {status}: {said}", status=status).about_text is text


def test_one_text_that_is_refused_stops_no_other(tmp_path):
    with opened(tmp_path) as calls:
        send = Filtered()
        got = asked(calls, ["a", "bad", "c"], send, per_batch=1, refused=stood_in)
        assert got == ["A", f"refused: {LONG.what}", "C"]
        assert len(send.batches) == 3
        # It isn't kept, and wasn't paid: it is asked for again, and the others aren't.
        assert asked(calls, ["a", "bad"], send, per_batch=1, refused=stood_in)[0] == "A" and len(send.batches) == 4
    assert [line["status"] for line in ledger(tmp_path)].count("ok") == 2


def test_where_every_text_is_refused_it_is_not_for_what_they_hold(tmp_path):
    with opened(tmp_path, workers=1) as calls:
        for items in (["bad"], ["bad 1", "bad 2", "bad 3", "bad 4"]):
            with pytest.raises(CallError, match="maximum context"):
                asked(calls, items, Filtered(), per_batch=1, refused=stood_in)
        asked(calls, ["a"], Filtered(), per_batch=1)
        assert asked(calls, ["bad"], Filtered(), per_batch=1, refused=stood_in) == [f"refused: {LONG.what}"]
    with opened(tmp_path) as calls:  # nor does it matter who answered before, once that is said
        calls.trust("test/model")
        assert asked(calls, ["bad"], Filtered(), per_batch=1, refused=stood_in) == [f"refused: {LONG.what}"]


@pytest.mark.parametrize("workers", [1, 16])
def test_the_order_of_texts_does_not_decide_whether_a_refusal_is_about_them(tmp_path, workers):
    items = [*(f"bad {n}" for n in range(20)), "a"]
    with opened(tmp_path, workers=workers) as calls:
        got = asked(calls, items, Filtered(), per_batch=1, refused=stood_in)
    assert got == [f"refused: {LONG.what}"] * 20 + ["A"]


def test_what_no_file_can_hold_is_replaced_in_what_a_provider_says(tmp_path):
    fault = Fault("blocked by the content filter \ud800", status=400)
    with opened(tmp_path, workers=1) as calls:
        calls.trust("test/model")
        got = asked(calls, ["a", "b"], Sender(fault), per_batch=1, refused=stood_in)
    assert got == ["refused: blocked by the content filter ?", "B"]
    assert [line["status"] for line in ledger(tmp_path)] == ["blocked by the content filter ?", "ok"]


def test_a_refused_text_among_several_in_a_batch_is_an_error(tmp_path):
    with opened(tmp_path) as calls:
        asked(calls, ["a"], Filtered())
        for options in ({"per_batch": 2, "refused": stood_in}, {"per_batch": 1}):
            with pytest.raises(CallError):
                asked(calls, ["b", "bad"], Filtered(), **options)


def test_patience_ends(tmp_path):
    send = Sender(*[Fault("timed out", again=True)] * 9)
    with opened(tmp_path, tries=4) as calls, pytest.raises(CallError, match="timed out, 4 tries"):
        asked(calls, ["a"], send)
    assert len(send.batches) == 4


def test_useless_replies_are_asked_for_twice_more_never_kept_and_were_paid(tmp_path):
    send = Sender(*[CallError("test/model", "vectors hold NaN")] * 9)
    with opened(tmp_path) as calls, pytest.raises(CallError, match="vectors hold NaN, 3 tries"):
        asked(calls, ["abcd" * 5], send)
    assert len(send.batches) == 3
    (row,) = ledger(tmp_path)
    assert (row["tokens_in"], row["cost"], row["estimated"]) == (15, 15e-6, True)
    send.script.clear()
    with opened(tmp_path) as calls:
        asked(calls, ["abcd" * 5], send)
        assert calls.totals()["test/model"]["cached"] == 0


def test_a_wrong_number_of_values_is_a_useless_reply(tmp_path):
    with opened(tmp_path) as calls, pytest.raises(CallError, match="1 values came back for 2 items, 3 tries"):
        asked(calls, ["a", "b"], lambda batch: Reply([b"x"]))


@pytest.mark.parametrize("tries", [1, 2, 5, 30])
def test_backoff_has_full_jitter_under_a_ceiling(tries):
    ceiling = min(60, 2 ** (tries - 1))
    waits = [backoff(tries) for _ in range(500)]
    assert 0 <= min(waits) < ceiling / 10 and ceiling * 0.9 < max(waits) <= ceiling


def test_a_long_retry_after_is_capped(tmp_path):
    naps = []
    send = Sender(Fault("status 503", status=503, wait=86_400.0))
    with opened(tmp_path, sleep=naps.append) as calls:
        asked(calls, ["a"], send)
    assert len(naps) == 1 and LONGEST_WAIT - 1 < naps[0] <= LONGEST_WAIT + 1


@pytest.mark.parametrize("value", ["nan", "", None, "tomorrow", "Wed, 99 Foo 2026 00:00:00 GMT"])
def test_a_retry_after_that_says_nothing_is_none(value):
    assert seconds_asked(value) is None


def test_retry_after_as_a_date_in_the_past_is_now():
    assert seconds_asked("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert seconds_asked("inf") == float("inf")  # capped by whoever waits


# What is paid for is kept.


def test_batches_that_landed_are_kept_when_a_later_one_fails(tmp_path):
    send = Sender(None, None, Fault("status 400", status=400))
    with opened(tmp_path, workers=1) as calls, pytest.raises(CallError):
        asked(calls, list("abcdefgh"), send)
    assert len(send.batches) == 3
    with opened(tmp_path) as calls:
        assert asked(calls, list("abcdefgh"), send) == list("ABCDEFGH")
    assert sorted(send.sent[6:]) == ["e", "f", "g", "h"]


def test_what_is_in_flight_when_another_fails_lands_and_is_kept(tmp_path):
    failing, failed = threading.Event(), threading.Event()

    def send(batch):
        if batch == ["bad"]:
            failing.wait(10)
            failed.set()
            raise Fault("status 401", status=401)
        failing.set()
        failed.wait(10)
        time.sleep(0.05)
        return Reply([b"good"])

    with opened(tmp_path, workers=2) as calls:
        with pytest.raises(CallError):
            asked(calls, ["good", "bad", "never"], send, per_batch=1)
        assert [r.cached for r in calls.map(CALL, ["good"], send, per_batch=1)] == [True]
    assert len(ledger(tmp_path)) == 2


def test_errors_that_are_not_the_providers_pass_through(tmp_path):
    def send(batch):
        raise ZeroDivisionError

    with opened(tmp_path) as calls:
        with pytest.raises(ZeroDivisionError):
            asked(calls, ["a"], send)
        assert asked(calls, ["a"], Sender()) == ["A"]


RUN = """
    import sys, time
    from pathlib import Path
    from canlegalrag.calls import Call, Calls, Reply
    folder, first, last, slow = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    def send(batch):
        time.sleep(slow)
        with open(folder / "sent.txt", "a") as file:
            file.write("".join(item + chr(10) for item in batch))
        return Reply([item.encode() * 100 for item in batch], 1)
    with Calls(folder / "cache", workers=4) as calls:
        found = calls.map(Call("p", "m", "r", price_in=1.0), [str(n) for n in range(first, last)], send, per_batch=1)
        assert [one.value for one in found] == [str(n).encode() * 100 for n in range(first, last)]
"""


def start(folder, first, last, slow=0.0):
    code = textwrap.dedent(RUN)
    return subprocess.Popen([sys.executable, "-c", code, str(folder), str(first), str(last), str(slow)])


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def kept(folder):
    connection = sqlite3.connect(folder / "cache" / "calls.sqlite")
    try:
        return connection.execute("SELECT count(*) FROM reply").fetchone()[0]
    finally:
        connection.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_in_the_middle_only_what_was_in_flight_is_sent_again(tmp_path, how):
    run = start(tmp_path, 0, 120, 0.02)
    until(lambda: len(lines(tmp_path / "sent.txt")) > 20)
    os.kill(run.pid, how)
    assert run.wait() != 0
    sent = len(lines(tmp_path / "sent.txt"))
    lost = sent - kept(tmp_path)
    assert 20 < sent < 120
    assert lost == 0 if how == signal.SIGINT else 0 <= lost <= 4  # Ctrl-C lets what is in flight land
    assert start(tmp_path, 0, 120).wait() == 0
    counts = Counter(lines(tmp_path / "sent.txt"))
    assert set(counts) == {str(n) for n in range(120)} and sum(counts.values()) == 120 + lost
    for line in lines(tmp_path / "cache" / "ledger.jsonl"):
        json.loads(line)


def test_processes_may_share_the_folder(tmp_path):
    runs = [start(tmp_path, 0, 60), start(tmp_path, 30, 90), start(tmp_path, 0, 90)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert kept(tmp_path) == 90
    rows = [json.loads(line) for line in lines(tmp_path / "cache" / "ledger.jsonl")]
    assert sum(row["items"] for row in rows) == len(lines(tmp_path / "sent.txt"))


def test_a_half_line_in_the_ledger_stands_alone(tmp_path):
    (tmp_path / "ledger.jsonl").write_text('{"time": "2026-0')
    with opened(tmp_path) as calls:
        asked(calls, ["a"], Sender())
    last = (tmp_path / "ledger.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["items"] == 1


def spoil_head(path):
    path.write_bytes(b"not a database at all" * 100)


def spoil_middle(path):
    """Noise over all pages but the first."""
    size = path.stat().st_size
    with path.open("rb+") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))


def spoil_value(path):
    rewrite(path, "CAST(replace(value, 'A', 'Z') AS BLOB)")


def spoil_type(path):
    rewrite(path, "'A'")


def rewrite(path, value):
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE reply SET value = {value}")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("spoil", [spoil_head, spoil_middle, spoil_value, spoil_type])
def test_a_damaged_cache_is_set_aside_and_said(tmp_path, spoil):
    path = tmp_path / "calls.sqlite"
    send = Sender()
    with opened(tmp_path) as calls:
        asked(calls, [f"a{n}" for n in range(200)], send, per_batch=200)
    spoil(path)
    before = path.read_bytes()
    with pytest.warns(UserWarning, match=r"calls.sqlite is damaged .* calls.sqlite.damaged-1"):  # noqa: SIM117
        with opened(tmp_path) as calls:
            assert asked(calls, ["a7", "a199"], send) == ["A7", "A199"]
    assert (tmp_path / "calls.sqlite.damaged-1").read_bytes()[:4096] == before[:4096]
    with opened(tmp_path) as calls:
        assert asked(calls, ["a7"], Sender(Fault("must not be sent", status=400))) == ["A7"]


def test_a_folder_that_cannot_be_used_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cache folder"):
        Calls(tmp_path / "file" / "cache")
    (tmp_path / "odd" / "calls.sqlite").mkdir(parents=True)
    with pytest.raises(InputError, match="cache folder"):
        Calls(tmp_path / "odd")


# What it cost.


def test_the_ledger_has_a_line_a_batch_and_the_totals_add_up(tmp_path):
    send = Sender(tokens=1000)
    with opened(tmp_path, workers=1) as calls:
        asked(calls, ["a", "b", "c"], send)
        total = calls.totals()["test/model"]
        assert {k: v for k, v in total.items() if k != "seconds"} == {
            "calls": 2,
            "items": 3,
            "cached": 0,
            "tokens_in": 2000,
            "tokens_out": 0,
            "cost": 2000 / 1e6,
            "retries": 0,
            "estimated": False,
        }
        json.dumps(calls.totals(), allow_nan=False)
    first, second = ledger(tmp_path)
    assert (first["items"], second["items"]) == (2, 1)
    assert first | {"time": 0, "seconds": 0} == {
        "time": 0,
        "provider": "test",
        "model": "model",
        "role": "embed query",
        "items": 2,
        "tokens_in": 1000,
        "tokens_out": 0,
        "cost": 0.001,
        "seconds": 0,
        "status": "ok",
        "tries": 1,
        "estimated": False,
    }


def test_tokens_that_nobody_counted_are_estimated_and_say_so(tmp_path):
    with opened(tmp_path) as calls:
        asked(calls, ["abcde", "abcd"], Sender())
        total = calls.totals()["test/model"]
    assert (total["tokens_in"], total["estimated"]) == (2 + 1, True)


def test_an_unknown_price_is_no_zero(tmp_path):
    with opened(tmp_path) as calls:
        asked(calls, ["a"], Sender(), call=Call("test", "free", "embed query"))
        assert calls.totals()["test/free"]["cost"] is None
    assert ledger(tmp_path)[0]["cost"] is None


def test_a_budget_needs_a_price(tmp_path):
    send = Sender()
    with opened(tmp_path, budget=1) as calls, pytest.raises(InputError, match="price"):
        asked(calls, ["a"], send, call=Call("test", "free", "embed query"))
    assert send.batches == []


def test_what_a_provider_says_it_cost_counts(tmp_path):
    with opened(tmp_path) as calls:
        asked(calls, ["a"], lambda batch: Reply([b"x"], 5, 5, cost=0.25), call=Call("test", "m", "generate"))
        assert calls.totals()["test/m"]["cost"] == 0.25


def test_the_budget_stops_before_it_is_exceeded_and_keeps_what_was_paid(tmp_path):
    # 300 characters cost at most 100 tokens, $0.0001; in fact 75 tokens are read, $0.000075.
    items = [f"{n:0300}" for n in range(50)]
    send = Sender(tokens=75)
    with opened(tmp_path, budget=0.001, workers=4) as calls:
        with pytest.raises(BudgetSpent) as caught:
            asked(calls, items, send, per_batch=1)
        # After n calls the next may start while 0.000075 n + 0.0001 <= 0.001: 13 in all.
        assert len(send.sent) == 13
        assert calls.ledger.spent == pytest.approx(13 * 75e-6)
    assert "what is paid for is kept" in str(caught.value)
    assert kept_in(tmp_path) == 13
    with opened(tmp_path, budget=0) as calls:  # what is known costs nothing
        assert len(asked(calls, items[:5], send)) == 5
    with opened(tmp_path) as calls:
        assert len(asked(calls, items, send, per_batch=1)) == 50
    assert len(send.sent) == 50


def test_useless_replies_do_not_exceed_the_budget_either(tmp_path):
    # 300 characters cost at most $0.0001; a useless reply is taken to cost 75 tokens, $0.000075.
    send = Sender(*[CallError("test/model", "vectors hold NaN")] * 9)
    with opened(tmp_path, budget=0.00019) as calls:
        with pytest.raises(BudgetSpent) as caught:
            asked(calls, ["a" * 300], send)
        assert len(send.batches) == 1 and calls.ledger.spent == pytest.approx(0.000075)
    assert "what is paid for is kept" in str(caught.value)
    with opened(tmp_path, budget=0.0002) as calls:  # two tries fit, and are put by together
        with pytest.raises(BudgetSpent):
            asked(calls, ["a" * 300], send)
        assert len(send.batches) == 3 and calls.ledger.spent == pytest.approx(0.00015)
        assert calls.ledger.reserve(0.00004, wait=False)  # what was put by is given back, whole


def kept_in(folder):
    connection = sqlite3.connect(folder / "calls.sqlite")
    try:
        return connection.execute("SELECT count(*) FROM reply").fetchone()[0]
    finally:
        connection.close()


def test_replies_that_may_be_long_are_put_by_for(tmp_path):
    send = Sender(tokens=1)
    with opened(tmp_path, budget=0.05) as calls, pytest.raises(BudgetSpent):
        asked(calls, ["a"], send, tokens_out=lambda item: 10_000)  # $0.10 at $10 a million
    assert send.batches == []


def test_threads_share_the_budget(tmp_path):
    send = Sender(tokens=75)
    errors = []
    with opened(tmp_path, budget=0.001, workers=2) as calls:

        def run(n):
            try:
                asked(calls, [f"{n}{i:0299}" for i in range(10)], send, per_batch=1)
            except BudgetSpent as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert calls.ledger.spent == pytest.approx(13 * 75e-6)
    assert len(errors) >= 3


def test_the_key_is_cut_out_of_everything_said(tmp_path, caplog):
    secret = "sk-very-secret-123"
    call = Call("test", "model", "embed query", price_in=1.0, key_name="TEST_KEY", secret=secret)
    send = Sender(Fault(f"status 400: your key {secret} is\nwrong " + "x" * 500, status=400))
    with opened(tmp_path) as calls, pytest.raises(CallError) as caught:
        asked(calls, ["a"], send, call=call)
    said = "".join(traceback.format_exception(caught.value)) + caplog.text
    said += "".join(path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*"))
    assert secret not in said and "[key]" in said and "x" * 400 not in said


def test_the_calls_close_what_was_left_with_them(tmp_path):
    closed = []
    with opened(tmp_path) as calls:
        calls.on_close(lambda: closed.append("client"))
    assert closed == ["client"]


def test_waiting_ends_when_the_run_is_stopped(tmp_path):
    """Without a sleep of one's own, a batch that waits to be sent again gives up as soon as another fails for good."""
    waiting, both = threading.Event(), threading.Barrier(2, timeout=10)

    def send(batch):
        both.wait()
        if batch == ["slow"]:
            waiting.set()
            raise Fault("status 503", status=503, wait=LONGEST_WAIT)
        waiting.wait(10)
        raise Fault("status 401", status=401)

    began = time.monotonic()
    with Calls(tmp_path, workers=2) as calls, pytest.raises(CallError, match="401"):
        asked(calls, ["slow", "bad"], send, per_batch=1)
    assert time.monotonic() - began < LONGEST_WAIT / 2


def test_limits_are_what_the_messages_say():
    assert (_retry.BAD_TRIES, _retry.LONGEST_BACKOFF, LONGEST_WAIT) == (3, 60.0, 120.0)


def test_what_a_thread_spends_is_noted_for_it_alone(tmp_path):
    """Two threads share the calls; each sums its own: 1,000 tokens at $1 a million and 3,000 tokens."""
    spent = {}
    both = threading.Barrier(2)
    with opened(tmp_path) as calls:

        def work(name, tokens):
            with calls.spending() as book:
                both.wait()
                asked(calls, [name], Sender(tokens=tokens))
                both.wait()
                with calls.spending() as inner:
                    asked(calls, [name], Sender(tokens=tokens))  # cached
                assert inner == [0.0]
                spent[name] = book[0]

        threads = [threading.Thread(target=work, args=each) for each in (("a", 1_000), ("b", 3_000))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert spent == {"a": pytest.approx(0.001), "b": pytest.approx(0.003)}
        assert calls.ledger.spent == pytest.approx(0.004)


def test_an_unknown_price_is_an_unknown_sum(tmp_path):
    free = Call("test", "model", "embed query", {"dim": 3})
    with opened(tmp_path) as calls, calls.spending() as book:
        asked(calls, ["a"], Sender(tokens=10))
        asked(calls, ["b"], Sender(tokens=10), call=free)
        asked(calls, ["c"], Sender(tokens=10))
        assert book == [None]
