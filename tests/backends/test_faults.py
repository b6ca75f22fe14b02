"""Every provider and role against every bad reply: what is asked again, what isn't, and that none is ever kept."""

import json
import logging
import math
import sqlite3
import traceback

import numpy as np
import pytest

from canlegalrag.calls import Calls
from canlegalrag.errors import BudgetSpent, CallError, InputError
from canlegalrag.protocols import Embedder, Generator, Reranker
from canlegalrag.types import Prompt

MODELS = (
    "inference embedder",
    "inference hub-embedder",
    "inference generator",
    "google embedder",
    "google generator",
    "isaacus embedder",
    "isaacus reranker",
)
PROTOCOLS = {"embedder": Embedder, "hub-embedder": Embedder, "generator": Generator, "reranker": Reranker}
TEXTS = ["Résiliation du bail", "the deposit"]


def role(name):
    return name.split()[1]


def ask(model, name, texts=TEXTS):
    if role(name) == "generator":
        return [one.text for one in model.generate([Prompt(text, max_tokens=1) for text in texts[:1]])]
    if role(name) == "reranker":
        return model.rerank("May my landlord keep it?", texts)
    return model.embed(texts, kind="document").tolist()


def expected(name, wires, remote_model):
    if role(name) == "generator":
        return [f"Re: {TEXTS[0]}"]
    if role(name) == "reranker":
        return [wires.score("May my landlord keep it?", text) for text in TEXTS]
    before = remote_model.identity["prompts"]["document"]
    rows = np.array([wires.vector(before + text) for text in TEXTS])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).tolist()


def fewer(reply):
    """The reply with one thing missing from its first list."""
    rows = reply if isinstance(reply, list) else next(v for v in reply.values() if isinstance(v, list))
    rows.pop()
    return reply


def spoilt(value):
    """The reply with NaN in place of its first broken number."""

    def walk(part):
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, one in items:
            if isinstance(one, float):
                part[key] = math.nan
                return True
            if walk(one):
                return True
        return False

    assert walk(value)
    return value


def passing(say):
    return {
        "429": say(429),
        "429 with Retry-After": say(429, {"Retry-After": "7"}),
        "500": say(500),
        "503 as a page": say(503, {"Content-Type": "text/html"}, b"<html>unwell</html>"),
        "reset": say(cut="reset"),
        "stall": say(cut="stall"),
    }


def useless(say):
    return {
        "broken off": say(cut="close"),
        "wrong count": say(change=fewer),
        "NaN": say(change=spoilt),
        "truncated JSON": say(body=b'{"data": [{"index": 0, "embedding": [0.1,'),
        "empty": say(body=b""),
        "page": say(200, {"Content-Type": "text/html; charset=utf-8"}, b"<!doctype html><p>Hello</p>"),
        "other JSON": say(body=b'"hello"'),
        "null": say(body=b"null"),
        "too deep": say(body=b"[" * 200_000),
        "no UTF-8": say(body=b'{"data": "\xff\xfe"}'),
    }


def lasting(say):
    return {status: say(status) for status in (400, 401, 403, 404, 422)}


def kept(folder):
    connection = sqlite3.connect(folder / "calls.sqlite")
    try:
        return connection.execute("SELECT count(*) FROM reply").fetchone()[0]
    finally:
        connection.close()


@pytest.mark.parametrize("name", MODELS)
def test_a_good_reply_is_read_right_and_kept(name, remote, calls, wire, wires):
    model = remote(name, calls)
    assert isinstance(model, PROTOCOLS[role(name)])
    right = expected(name, wires, model)
    for _ in range(2):  # the second time from the cache
        got = ask(model, name)
        if role(name) == "generator":
            assert got == right
        else:
            assert np.allclose(got, right, atol=1e-6)
    assert len(wire.requests) == 1
    assert model.counts["texts"] == 2 * len(got) and model.counts["truncated"] == 0


@pytest.mark.parametrize("how", ["429", "429 with Retry-After", "500", "503 as a page", "reset", "stall"])
@pytest.mark.parametrize("name", MODELS)
def test_a_passing_fault_is_asked_again(name, how, remote, wire, tmp_path, naps):
    with Calls(tmp_path, timeout=0.3, sleep=naps.append) as calls:
        model = remote(name, calls)
        wire.script = [passing(wire.say)[how], wire.say()]
        assert ask(model, name)
    assert len(wire.requests) == 2 and kept(tmp_path) == (1 if role(name) == "generator" else 2)
    if how == "429 with Retry-After":
        assert len(naps) == 1 and 6.5 < naps[0] <= 8
    else:
        assert sum(naps) <= 1  # full jitter below a second


@pytest.mark.parametrize("how", ["429", "500"])
@pytest.mark.parametrize("name", MODELS)
def test_patience_ends(name, how, remote, wire, calls):
    """Six tries are ours alone: no client retries by itself underneath."""
    model = remote(name, calls)
    wire.script = [passing(wire.say)[how]]
    with pytest.raises(CallError, match=rf"status {how}.*, 6 tries \(.+\)"):
        ask(model, name)
    assert len(wire.requests) == 6


USELESS = [
    "broken off",
    "wrong count",
    "NaN",
    "truncated JSON",
    "empty",
    "page",
    "other JSON",
    "null",
    "too deep",
    "no UTF-8",
]


@pytest.mark.parametrize(
    ("name", "how"),
    # A generator's reply holds no numbers that could be NaN.
    [(name, how) for name in MODELS for how in USELESS if how != "NaN" or role(name) != "generator"],
)
def test_a_useless_reply_is_asked_for_again_and_never_kept(name, how, remote, wire, calls, tmp_path):
    model = remote(name, calls)
    wire.script = [useless(wire.say)[how]]
    with pytest.raises(CallError, match=", 3 tries"):
        ask(model, name)
    assert len(wire.requests) == 3 and kept(tmp_path / "cache") == 0
    wire.script = [useless(wire.say)[how], wire.say()]
    assert ask(model, name)
    assert len(wire.requests) == 5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
@pytest.mark.parametrize("name", MODELS)
def test_a_lasting_fault_is_said_at_once(name, status, remote, wire, calls):
    model = remote(name, calls)
    wire.script = [lasting(wire.say)[status]]
    with pytest.raises(CallError) as caught:
        ask(model, name)
    assert len(wire.requests) == 1
    problem = caught.value.problem
    assert problem.where == model.identity["model"] and f"status {status}" in problem.what and problem.fix
    if status in (401, 403):
        assert "_KEY" in problem.fix or "HF_TOKEN" in problem.fix


@pytest.mark.parametrize("name", [name for name in MODELS if role(name) == "generator"])
def test_a_prompt_that_a_filter_blocks_is_a_refusal_and_the_others_are_answered(name, remote, wire, tmp_path):
    with Calls(tmp_path, timeout=5, workers=1) as calls:
        model = remote(name, calls)
        blocked = wire.say(400, body=b'{"error": {"message": "blocked by the content filter"}}')
        wire.script = [wire.say(), blocked, wire.say()]
        first, second, third = model.generate([Prompt("one"), Prompt("two"), Prompt("three")])
    assert first.stop == third.stop == "stop" and first.text and third.text
    assert (second.text, second.stop, second.usage["output_tokens"]) == ("", "refusal", 0)
    assert "blocked by the content filter" in second.usage["refused"]
    assert second.usage["cost"] == 0.0
    assert model.counts["refused"] == 1 and model.counts["texts"] == 3


def test_a_flagged_prompt_is_a_refusal_with_403_too_and_what_403_says_of_a_key_is_left_out(remote, wire, tmp_path):
    said = "Your chosen model requires moderation and your input was flagged"
    with Calls(tmp_path, timeout=5, workers=1) as calls:
        model = remote("inference generator", calls)
        inside = wire.say(200, body=json.dumps({"error": {"message": said, "code": 403}}).encode())
        outside = wire.say(403, body=json.dumps({"error": {"message": said}}).encode())
        wire.script = [wire.say(), inside, outside, wire.say(403, body=b'{"error": "sk-1 may not"}')]
        one = model.generate([Prompt("one"), Prompt("two"), Prompt("three")])
        with pytest.raises(CallError) as caught:
            model.generate([Prompt("four")])
    assert [c.stop for c in one] == ["stop", "refusal", "refusal"]
    assert [c.usage["refused"] for c in one[1:]] == [f"the server reports an error: {said}", f"status 403: {said}"]
    assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize("name", MODELS)
def test_a_server_that_is_not_there(name, remote, wire, calls):
    model = remote(name, calls)
    wire.close()
    with pytest.raises(CallError, match=r"the connection failed.*6 tries"):
        ask(model, name)


@pytest.mark.parametrize("name", MODELS)
def test_the_key_is_sent_and_never_seen(name, remote, wire, calls, tmp_path, secret, caplog):
    caplog.set_level(logging.DEBUG)
    model = remote(name, calls)
    ask(model, name)
    assert any(secret in value for _, headers, _ in wire.requests for value in headers.values())
    said = [repr(model), repr(vars(model)), repr(model.identity), repr(calls.totals())]
    for status in (400, 401, 500):
        wire.script = [wire.say(status, body=f'{{"error": {{"message": "wrong key {secret}"}}}}'.encode())]
        with pytest.raises(CallError) as caught:
            ask(model, name, ["another text", f"{status}"])
        said += [str(caught.value), repr(caught.value), "".join(traceback.format_exception(caught.value))]
    said += [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    said += [caplog.text]
    assert not any(secret in text for text in said)


@pytest.mark.parametrize("name", [name for name in MODELS if "hub" not in name])
def test_the_budget_holds(name, remote, wire, tmp_path):
    with Calls(tmp_path, budget=0.0) as calls, pytest.raises(BudgetSpent):
        ask(remote(name, calls), name)
    assert wire.requests == []


@pytest.mark.parametrize("name", [name for name in MODELS if role(name) != "generator"])
def test_texts_without_content_are_not_sent(name, remote, wire, calls):
    model = remote(name, calls)
    got = ask(model, name, ["the deposit", "", " \n\u00a0", "the deposit"])
    blank = 0.0 if role(name) == "reranker" else [0.0] * 4
    assert got[1] == got[2] == blank and got[0] == got[3] != blank
    (body,) = wire.bodies()
    assert str(body).count("the deposit") == 1
    assert ask(model, name, []) == []


@pytest.mark.parametrize("name", [name for name in MODELS if "embedder" in name])
def test_even_blank_texts_alone_have_the_models_dimensions(name, remote, calls):
    assert remote(name, calls).embed(["", " "], kind="query").shape == (2, 4)


@pytest.mark.parametrize("name", [name for name in MODELS if "embedder" in name])
def test_vectors_are_float32_unit_rows_and_queries_are_not_documents(name, remote, wire, calls):
    model = remote(name, calls)
    rows = model.embed(TEXTS, kind="query")
    assert rows.dtype == np.float32 and rows.flags.c_contiguous and rows.flags.writeable
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)
    model.embed(TEXTS, kind="document")
    assert len(wire.requests) == 2
    with pytest.raises(InputError):
        model.embed(TEXTS, kind="passage")
    for texts in ("one text", [1], ["\udc80"]):
        with pytest.raises(InputError):
            model.embed(texts, kind="query")


@pytest.mark.parametrize("name", [name for name in MODELS if "embedder" in name])
def test_a_vector_of_zeros_is_no_vector(name, remote, wire, calls):
    def zeros(reply):
        rows = reply if isinstance(reply, list) else next(iter(reply.values()))
        for n, row in enumerate(rows):
            if isinstance(row, list):
                rows[n] = [0.0] * 4
            else:
                row["values" if "values" in row else "embedding"] = [0.0] * 4
        return reply

    wire.script = [wire.say(change=zeros)]
    with pytest.raises(CallError, match="zeros"):
        ask(remote(name, calls), name)


@pytest.mark.parametrize("name", ["inference embedder", "google embedder", "isaacus embedder"])
def test_dimensions_are_asked_for_and_checked(name, remote, wire, calls):
    model = remote(name, calls, dim=3)
    assert model.embed(TEXTS, kind="query").shape == (2, 3) and model.identity["dim"] == 3
    lazy = remote(name, calls, dim=9)

    def shorter(reply):
        for row in next(iter(reply.values())):
            key = "values" if "values" in row else "embedding"
            row[key] = row[key][:4]

    wire.script = [wire.say(change=shorter)]
    with pytest.raises(CallError, match="4 dimensions"):
        lazy.embed(TEXTS, kind="query")
    with pytest.raises(InputError):
        remote(name, calls, dim=0)


@pytest.mark.parametrize("name", ["inference embedder", "google embedder", "isaacus embedder"])
def test_a_model_that_changed_its_dimensions_is_found_out(name, remote, wire, calls):
    remote(name, calls).embed(["before"], kind="query")
    model = remote(name, calls)

    def longer(reply):
        for row in next(iter(reply.values())):
            key = "values" if "values" in row else "embedding"
            row[key] = [*row[key], 0.5]

    wire.script = [wire.say(change=longer)]
    with pytest.raises(CallError, match="different dimensions: 4, 5"):
        model.embed(["before", "after"], kind="query")


@pytest.mark.parametrize("name", MODELS)
def test_without_a_key_the_variable_is_named(name, remote, wire, calls, monkeypatch):
    make = remote
    for variable in ("CANLEGALRAG_API_KEY", "HF_TOKEN", "GEMINI_API_KEY", "ISAACUS_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    if name in ("inference embedder", "inference generator"):  # a server of one's own may want none
        assert ask(make(name, calls), name)
        assert not any("Authorization" in headers for _, headers, _ in wire.requests)
        return
    with pytest.raises(InputError, match=r"(HF_TOKEN|GEMINI_API_KEY|ISAACUS_API_KEY).*https://"):
        make(name, calls)


@pytest.mark.parametrize("value", ["two words", "accentué", "line\nbreak"])
@pytest.mark.parametrize("name", MODELS)
def test_what_cannot_be_a_key_is_not_shown(name, value, remote, calls, monkeypatch):
    for variable in ("CANLEGALRAG_API_KEY", "HF_TOKEN", "GEMINI_API_KEY", "ISAACUS_API_KEY"):
        monkeypatch.setenv(variable, value)
    with pytest.raises(InputError, match="can't be a key") as caught:
        remote(name, calls)
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["ftp://x", "127.0.0.1:80", "http://", "http://u:p@x/v1", "http://x/v1?key=1", "http://x:y"]
)
@pytest.mark.parametrize("name", [name for name in MODELS if "hub" not in name])
def test_addresses_are_checked(name, url, remote, calls):
    with pytest.raises(InputError, match="base_url"):
        remote(name, calls, base_url=url)
