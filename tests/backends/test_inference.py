"""The chat and embedding routes that most servers speak: what is sent, what is read, and a real llama.cpp server."""

import json

import pytest

from canlegalrag import backends
from canlegalrag.calls import Calls
from canlegalrag.errors import BudgetSpent, CallError, InputError
from canlegalrag.types import Completion, Prompt

pytest.importorskip("httpx", reason="pip install httpx")

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["yes", "no"]}, "reasons": {"type": "integer", "maximum": 9}},
    "required": ["verdict", "reasons"],
    "additionalProperties": False,
}


def choice(**message):
    """Changes the first choice of a good reply; `finish_reason` belongs to the choice itself."""

    def change(reply):
        first = reply["choices"][0]
        if "finish_reason" in message:
            first["finish_reason"] = message["finish_reason"]
        first["message"].update({k: v for k, v in message.items() if k != "finish_reason"})

    return change


def test_a_chat_is_sent_as_the_route_has_it(remote, wire, calls, secret):
    model = remote("inference generator", calls)
    model.generate([Prompt("Puis-je être expulsé?", system="Be brief.", schema=SCHEMA, max_tokens=77)])
    ((path, headers, body),) = wire.requests
    assert path == "/v1/chat/completions" and headers["Authorization"] == f"Bearer {secret}"
    assert body == {
        "model": "model",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Puis-je être expulsé?"},
        ],
        "temperature": 0,
        "max_tokens": 77,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
        },
    }


def test_further_fields_are_sent_and_part_of_the_identity(remote, wire, calls):
    extra = {"reasoning_effort": "low", "temperature": None}
    model = remote("inference generator", calls, extra=extra)
    model.generate([Prompt("Yes?")])
    (body,) = wire.bodies()
    assert body["reasoning_effort"] == "low" and "temperature" not in body and "response_format" not in body
    assert model.identity["extra"] == extra
    remote("inference generator", calls).generate([Prompt("Yes?")])
    assert len(wire.requests) == 2


def test_a_completion_says_what_it_took(remote, calls):
    model = remote("inference generator", calls)
    prompts = [Prompt("One?"), Prompt("Two?"), Prompt("One?")]
    first, second, again = model.generate(prompts)
    assert (first.text, second.text, first.stop) == ("Re: One?", "Re: Two?", "stop") and again == first
    usage = {"input_tokens": 7, "output_tokens": 3, "cost": pytest.approx(7 * 0.1e-6 + 3 * 0.5e-6), "cached": False}
    assert {k: v for k, v in first.usage.items() if k != "seconds"} == usage and first.usage["seconds"] >= 0
    assert [one.usage["cached"] for one in model.generate(prompts)] == [True] * 3
    total = calls.totals()["inference/model"]
    assert (total["calls"], total["cached"], total["tokens_in"], total["tokens_out"]) == (2, 4, 14, 6)
    assert total["estimated"] is False and model.counts == {"texts": 6, "truncated": 0, "refused": 0}


@pytest.mark.parametrize(
    ("message", "right"),
    [
        ({"content": "Half an ans", "finish_reason": "length"}, Completion("Half an ans", "length")),
        ({"content": "", "finish_reason": "content_filter"}, Completion("", "refusal")),
        ({"content": None, "refusal": "I can't."}, Completion("I can't.", "refusal")),
        ({"content": "Yes.", "finish_reason": "eos_token"}, Completion("Yes.", "stop")),
        ({"content": "Yes.", "finish_reason": None}, Completion("Yes.", "stop")),
        ({"content": ""}, Completion("", "empty")),
        ({"content": " \n"}, Completion("", "empty")),
        ({"content": None}, Completion("", "empty")),
        ({"content": "<think>Hm.</think>\n\nYes."}, Completion("Yes.", "stop", "Hm.")),
        ({"content": "Hm.</think>Yes."}, Completion("Yes.", "stop", "Hm.")),
        ({"content": "<think>Hm, and", "finish_reason": "length"}, Completion("", "length", "Hm, and")),
        ({"content": "<think>Hm.</think>"}, Completion("", "empty", "Hm.")),
        ({"content": "Yes.", "reasoning": "Hm."}, Completion("Yes.", "stop", "Hm.")),
        ({"content": "Yes.", "reasoning_content": "Hm."}, Completion("Yes.", "stop", "Hm.")),
        ({"content": [{"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}]}, Completion("Yes.", "stop")),
        ({"content": "a\ud800b"}, Completion("a�b", "stop")),
    ],
)
def test_replies_of_every_kind(remote, wire, calls, message, right):
    wire.script = [wire.say(change=choice(**message))]
    (got,) = remote("inference generator", calls).generate([Prompt("Yes?")])
    assert Completion(got.text, got.stop, got.thinking) == right


@pytest.mark.parametrize("cost", ["Infinity", "NaN", "1e999", "true", "-1", "1" + "0" * 400, '"2"', "1e12"])
@pytest.mark.parametrize("tokens", ["3", "true", "-4", "1" + "0" * 400, "null"])
def test_a_usage_that_cannot_be_is_not_known(remote, wire, calls, cost, tokens):
    body = '{"choices": [{"message": {"content": "abcdefgh"}, "finish_reason": "stop"}], "usage": '
    body += f'{{"prompt_tokens": 7, "completion_tokens": {tokens}, "cost": {cost}}}}}'
    wire.script = [wire.say(body=body.encode())]
    (got,) = remote("inference generator", calls).generate([Prompt("Yes?")])
    written = 3 if tokens == "3" else 2  # eight characters, four a token
    assert got.usage["output_tokens"] == written
    assert got.usage["cost"] == pytest.approx(7 * 0.1e-6 + written * 0.5e-6)


def test_an_empty_reply_is_asked_for_again_the_next_time(remote, wire, calls):
    model = remote("inference generator", calls)
    wire.script = [wire.say(change=choice(content="")), wire.say()]
    assert [model.generate([Prompt("Yes?")])[0].stop for _ in range(3)] == ["empty", "stop", "stop"]
    assert len(wire.requests) == 2


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        ({"code": 429, "message": "slow down"}, 6),
        ({"code": 502, "message": "upstream"}, 6),
        ({"code": 404, "message": "no such model"}, 1),
        ("something", 3),
    ],
)
def test_an_error_in_a_good_status_is_an_error(remote, wire, calls, error, tries):
    wire.script = [wire.say(body=json.dumps({"error": error}).encode())]
    with pytest.raises(CallError):
        remote("inference generator", calls).generate([Prompt("Yes?")])
    assert len(wire.requests) == tries


def test_a_reply_that_broke_off_upstream_is_not_an_answer(remote, wire, calls):
    wire.script = [wire.say(change=choice(content="Half", finish_reason="error")), wire.say()]
    assert remote("inference generator", calls).generate([Prompt("Yes?")])[0].text == "Re: Yes?"


def test_tokens_and_cost_that_the_server_does_not_give(remote, wire, calls):
    def bare(reply):
        del reply["usage"]

    wire.script = [wire.say(change=bare)]
    (got,) = remote("inference generator", calls, price_in=None, price_out=None).generate([Prompt("Yes?")])
    assert "cost" not in got.usage and "input_tokens" not in got.usage
    total = calls.totals()["inference/model"]
    assert total["cost"] is None and total["estimated"] and total["tokens_out"] == 2  # 8 characters


def test_a_cost_that_the_server_gives_counts(remote, wire, calls):
    wire.script = [wire.say(change=lambda reply: reply["usage"].update(cost=0.125))]
    (got,) = remote("inference generator", calls, price_in=None, price_out=None).generate([Prompt("Yes?")])
    assert got.usage["cost"] == 0.125 and calls.totals()["inference/model"]["cost"] == 0.125


def test_long_replies_are_put_by_for_and_waited_for(remote, wire, tmp_path):
    with Calls(tmp_path, budget=0.4) as calls, pytest.raises(BudgetSpent):
        remote("inference generator", calls).generate([Prompt("Yes?", max_tokens=1_000_000)])
    assert wire.requests == []


@pytest.mark.parametrize("bad", ["text", [Prompt(" ")], ["text"], [Prompt("x", max_tokens=0)], [Prompt("\udc00")]])
def test_what_is_no_prompt_is_refused(remote, wire, calls, bad):
    with pytest.raises(InputError):
        remote("inference generator", calls).generate(bad)
    assert wire.requests == []


def test_prompts_are_answered_side_by_side(remote, wire, wires, tmp_path):
    import threading

    wire.barrier = threading.Barrier(8)
    with Calls(tmp_path, workers=8) as calls:
        replies = remote("inference generator", calls).generate([Prompt(f"{n}?") for n in range(16)])
    assert [reply.text for reply in replies] == [f"Re: {n}?" for n in range(16)]
    assert wire.most_flying == 8


def test_embeddings_are_sent_as_the_route_has_them(remote, wire, calls, secret):
    model = remote("inference embedder", calls, dim=3, query_prompt="query: ", window=2)
    model.embed(["l'été", "a long text here"], kind="query")
    ((path, headers, body),) = wire.requests
    assert path == "/v1/embeddings" and headers["Authorization"] == f"Bearer {secret}"
    texts = ["query: l'été", "query: a long text here"]
    assert body == {"model": "model", "input": texts, "encoding_format": "float", "dimensions": 3}
    # The window of 2 tokens is taken for 8 characters: both are longer with their prompt.
    assert model.counts == {"texts": 2, "truncated": 2}
    assert calls.totals()["inference/model"]["tokens_in"] == 10


@pytest.mark.parametrize("name", ["Qwen/Qwen3-Embedding-8B", "qwen/qwen3-embedding-0.6b", "google/embeddinggemma-300m"])
def test_prompts_of_known_models_are_applied_and_recorded(wire, secret, calls, name):
    model = backends.embedder(f"inference/{name}", calls, base_url=f"{wire.url}/v1")
    model.embed(["deposit"], kind="query")
    model.embed(["deposit"], kind="document")
    query, document = (body["input"][0] for body in wire.bodies())
    prompts = model.identity["prompts"]
    assert query == prompts["query"] + "deposit" and document == prompts["document"] + "deposit"
    assert query.endswith(("Query:deposit", "query: deposit")) and len(query) > 20
    bare = backends.embedder(f"inference/{name}", calls, base_url=f"{wire.url}/v1", query_prompt="")
    assert bare.identity["prompts"]["query"] == ""


def test_hugging_face_is_asked_through_its_router(remote, wire, calls, secret):
    remote("inference hub-embedder", calls).embed(["deposit"], kind="query")
    ((path, headers, body),) = wire.requests
    assert path == "/hf-inference/models/org/model/pipeline/feature-extraction"
    assert body == {"inputs": ["deposit"]} and secret in str(headers)


def test_chat_without_an_address_goes_to_hugging_face(secret, calls):
    model = backends.generator("inference/org/model", calls, provider="together")
    assert model.identity["base_url"] == "https://router.huggingface.co/v1"
    assert model.identity["model"] == "inference/org/model" and model.identity["provider"] == "together"


def test_a_vector_a_token_is_not_a_vector_a_text(remote, wire, calls):
    wire.script = [wire.say(change=lambda rows: [[row, row] for row in rows])]
    with pytest.raises(CallError, match="not one vector a text"):
        remote("inference hub-embedder", calls).embed(["deposit"], kind="query")


def test_the_address_may_stand_in_the_environment(wire, secret, calls, monkeypatch):
    monkeypatch.setenv("CANLEGALRAG_BASE_URL", f"{wire.url}/v1/")
    model = backends.generator("inference/model", calls)
    assert model.generate([Prompt("Yes?")])[0].text == "Re: Yes?"
    assert model.identity["base_url"] == f"{wire.url}/v1"
    assert backends.needs("inference/model", "generator").key == ""  # a server of one's own may want none
    monkeypatch.setenv("CANLEGALRAG_BASE_URL", "https://router.huggingface.co/v1")
    assert backends.needs("inference/model", "generator").key == "HF_TOKEN"


def test_another_key_does_when_ours_is_not_set(wire, secret, calls, monkeypatch):
    monkeypatch.delenv("CANLEGALRAG_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    backends.generator("inference/model", calls, base_url=wire.url).generate([Prompt("Yes?")])
    assert wire.requests[0][1]["Authorization"] == "Bearer sk-other"


def test_a_server_that_sends_us_elsewhere_gets_no_second_request(remote, wire, calls):
    wire.script = [wire.say(307, {"Location": "http://127.0.0.1:1/steal"}, b"")]
    with pytest.raises(CallError, match="status 307"):
        remote("inference generator", calls).generate([Prompt("Yes?")])
    assert len(wire.requests) == 1


def test_what_it_needs_is_known_without_asking(monkeypatch):
    monkeypatch.delenv("CANLEGALRAG_BASE_URL", raising=False)
    needs = backends.needs("inference/org/model", "embedder")
    assert (needs.extra, needs.key, needs.price_in, needs.price_out) == ("inference", "HF_TOKEN", None, None)


@pytest.mark.slow
def test_a_real_server_answers_follows_a_schema_and_is_cut_off(llama, tmp_path, monkeypatch):
    monkeypatch.delenv("CANLEGALRAG_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    prompts = [
        Prompt("Is the sky blue? Answer in JSON.", system="You are a judge.", schema=SCHEMA, max_tokens=80),
        Prompt("Write a long story about a landlord in Québec.", max_tokens=5),
        Prompt("Say yes.", max_tokens=30),
    ]
    with Calls(tmp_path) as calls:
        model = backends.generator("inference/smollm2", calls, base_url=llama, price_in=0.0, price_out=0.0)
        judged, cut, said = model.generate(prompts)
        verdict = json.loads(judged.text)
        assert set(verdict) == {"verdict", "reasons"} and verdict["verdict"] in ("yes", "no")
        assert judged.stop == "stop" and 0 < judged.usage["output_tokens"] <= 80
        assert (cut.stop, cut.usage["output_tokens"]) == ("length", 5) and cut.text
        assert said.stop in ("stop", "length") and said.text
        again = model.generate(prompts)
        assert [one.text for one in again] == [judged.text, cut.text, said.text]
        assert all(one.usage["cached"] for one in again)
        assert calls.totals()["inference/smollm2"]["calls"] == 3
        embedder = backends.embedder("inference/smollm2", calls, base_url=llama)
        with pytest.raises(CallError, match=r"501.*embeddings"):  # it wasn't started for that
            embedder.embed(["the deposit"], kind="query")


def test_offline_mode_is_said_at_once(remote, calls, wire, monkeypatch):
    model = remote("inference hub-embedder", calls)
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(CallError, match="offline mode: unset HF_HUB_OFFLINE") as caught:
        model.embed(["a deposit"], kind="query")
    assert "tries" not in str(caught.value) and not wire.requests
