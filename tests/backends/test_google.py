"""Google's models: one vector a text, tasks, thinking, blocks, and prices."""

import json

import pytest

from canlegalrag import backends
from canlegalrag.calls import Calls
from canlegalrag.errors import BudgetSpent, CallError
from canlegalrag.types import Completion, Prompt

pytest.importorskip("google.genai", reason="pip install google-genai")


@pytest.fixture
def embedder(wire, secret, calls):
    return lambda model, **options: backends.embedder(f"google/{model}", calls, base_url=wire.url, **options)


@pytest.fixture
def generator(wire, secret, calls):
    return lambda model, **options: backends.generator(f"google/{model}", calls, base_url=wire.url, **options)


@pytest.mark.parametrize("model", ["gemini-embedding-001", "gemini-embedding-2", "gemini-embedding-2-preview"])
def test_each_text_is_a_content_of_its_own(embedder, wire, secret, model):
    """The service gives a vector a content, and a list of strings would become one content: one vector for all."""
    rows = embedder(model).embed(["Résiliation", "deposit", "notice"], kind="document")
    assert rows.shape == (3, 4) and len({row.tobytes() for row in rows}) == 3
    ((path, headers, body),) = wire.requests
    assert path.endswith(f"/models/{model}:batchEmbedContents") and headers["x-goog-api-key"] == secret
    assert [len(one["content"]["parts"]) for one in body["requests"]] == [1, 1, 1]
    assert "key" not in path


def test_one_vector_for_several_texts_is_refused(embedder, wire):
    def merged(reply):
        del reply["embeddings"][1:]

    wire.script = [wire.say(change=merged)]
    with pytest.raises(CallError, match="1 vectors came back for 2 texts"):
        embedder("gemini-embedding-2").embed(["deposit", "notice"], kind="query")


def test_the_older_model_takes_task_types(embedder, wire):
    model = embedder("gemini-embedding-001", dim=3)
    model.embed(["deposit"], kind="query")
    model.embed(["deposit"], kind="document")
    (query,), (document,) = (body["requests"] for body in wire.bodies())
    assert (query["taskType"], document["taskType"]) == ("RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT")
    assert query["outputDimensionality"] == 3 and query["content"]["parts"] == [{"text": "deposit"}]
    assert model.identity["task_types"]["query"] == "RETRIEVAL_QUERY" and model.identity["window"] == 2048


def test_the_newer_model_takes_the_task_in_the_text(embedder, wire):
    model = embedder("gemini-embedding-2")
    model.embed(["deposit"], kind="query")
    model.embed(["deposit"], kind="document")
    (query,), (document,) = (body["requests"] for body in wire.bodies())
    assert query["content"]["parts"][0]["text"] == "task: search result | query: deposit"
    assert document["content"]["parts"][0]["text"] == "title: none | text: deposit"
    assert "taskType" not in query and model.identity["prompts"]["document"] == "title: none | text: "


def test_a_hundred_texts_a_request_and_all_in_order(embedder, wire, wires):
    texts = [f"passage {n}" for n in range(250)]
    rows = embedder("gemini-embedding-001").embed(texts, kind="document")
    assert sorted(len(body["requests"]) for body in wire.bodies()) == [50, 100, 100]
    right = wires.vector("passage 249")
    assert rows[249] * right[1] == pytest.approx([x * rows[249][1] for x in right])


def test_texts_beyond_the_window_are_counted(embedder):
    model = embedder("gemini-embedding-001")
    model.embed(["x" * 8192, "x" * 8193], kind="document")  # 2048 tokens of 4 characters
    assert model.counts == {"texts": 2, "truncated": 1}


def test_a_prompt_is_sent_with_its_schema_and_room_to_think(generator, wire):
    schema = {"type": "object", "properties": {"verdict": {"type": "string"}}, "additionalProperties": False}
    (got,) = generator("gemini-2.5-pro").generate([Prompt("Oui?", system="Be brief.", schema=schema, max_tokens=50)])
    ((path, _, body),) = wire.requests
    assert path.endswith("/models/gemini-2.5-pro:generateContent")
    assert body["contents"] == [{"parts": [{"text": "Oui?"}], "role": "user"}]
    assert body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    config = body["generationConfig"]
    assert (config["temperature"], config["maxOutputTokens"]) == (0, 50 + 1024)
    assert list(config["thinkingConfig"].values()) == [1024]  # its name has two spellings
    assert (config["responseMimeType"], config["responseJsonSchema"]) == ("application/json", schema)
    assert (got.text, got.thinking, got.stop) == ("Re: Oui?", "mulling", "stop")
    assert got.usage["output_tokens"] == 3 + 2  # thinking is paid for
    assert got.usage["cost"] == pytest.approx(7 * 1.25e-6 + 5 * 10e-6)


def test_thinking_can_be_set_and_others_are_told_nothing(generator, wire):
    generator("gemini-2.5-flash", thinking=0).generate([Prompt("Oui?", max_tokens=9)])
    generator("gemini-9", thinking=None).generate([Prompt("Oui?", max_tokens=9)])
    first, second = (body["generationConfig"] for body in wire.bodies())
    assert list(first["thinkingConfig"].values()) == [0] and first["maxOutputTokens"] == 9
    assert "thinkingConfig" not in second


def finished(reason, **content):
    def change(reply):
        reply["candidates"][0]["finishReason"] = reason
        reply["candidates"][0]["content"] = content

    return change


def blocked(reply):
    del reply["candidates"]
    reply["promptFeedback"] = {"blockReason": "PROHIBITED_CONTENT"}


@pytest.mark.parametrize(
    ("change", "right"),
    [
        (finished("MAX_TOKENS", parts=[{"text": "Half"}]), Completion("Half", "length")),
        (finished("MAX_TOKENS"), Completion("", "length")),
        (finished("SAFETY"), Completion("", "refusal")),
        (finished("RECITATION", parts=[{"text": "Par"}]), Completion("Par", "refusal")),
        (finished("PROHIBITED_CONTENT"), Completion("", "refusal")),
        (blocked, Completion("", "refusal")),
        (finished("STOP", parts=[]), Completion("", "empty")),
        (finished("STOP", parts=[{"text": "a"}, {"text": "b"}]), Completion("ab", "stop")),
        (finished("OTHER"), Completion("", "empty")),
    ],
)
def test_replies_of_every_kind(generator, wire, change, right):
    wire.script = [wire.say(change=change)]
    (got,) = generator("gemini-2.5-flash").generate([Prompt("Oui?")])
    assert Completion(got.text, got.stop, got.thinking) == right
    assert len(wire.requests) == 1


def test_a_reason_that_is_not_known_yet_is_no_fault(generator, wire):
    wire.script = [wire.say(change=finished("SOMETHING_NEW", parts=[{"text": "Yes."}]))]
    with pytest.warns(UserWarning):  # the client's own
        (got,) = generator("gemini-2.5-flash").generate([Prompt("Oui?")])
    assert (got.text, got.stop) == ("Yes.", "stop")


def test_a_continuation_is_not_asked_for_behind_our_back(generator, wire):
    def unfinished(reply):
        reply["candidates"][0]["finishReason"] = "CONTINUATION"
        reply["candidates"][0]["continuationToken"] = "bW9yZQ=="
        reply["continuationToken"] = "bW9yZQ=="

    wire.script = [wire.say(change=unfinished)]
    (got,) = generator("gemini-2.5-flash").generate([Prompt("Oui?")])
    assert got.stop == "length" and len(wire.requests) == 1


def test_the_wait_that_stands_in_the_body_is_obeyed(generator, wire, naps):
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    body = {"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED", "details": [info]}}
    wire.script = [wire.say(429, body=json.dumps(body).encode()), wire.say()]
    assert generator("gemini-2.5-flash").generate([Prompt("Oui?")])[0].stop == "stop"
    assert len(naps) == 1 and 34 <= naps[0] <= 35.5


@pytest.mark.parametrize(
    ("model", "role", "price_in", "price_out", "window"),
    [
        ("gemini-embedding-001", "embedder", 0.15, 0.0, 2048),
        ("gemini-embedding-2", "embedder", 0.20, 0.0, 8192),
        ("gemini-2.5-flash", "generator", 0.30, 2.50, 1_048_576),
        ("gemini-2.5-pro", "generator", 1.25, 10.00, 1_048_576),
        ("gemini-2.5-flash-lite", "generator", None, None, 1_048_576),
        ("gemini-9", "generator", None, None, None),
    ],
)
def test_what_a_model_needs(model, role, price_in, price_out, window):
    needs = backends.needs(f"google/{model}", role)
    assert (needs.price_in, needs.price_out, needs.window) == (price_in, price_out, window)
    assert (needs.extra, needs.key, needs.gpu) == ("google", "GEMINI_API_KEY", False) and needs.note


def test_thinking_counts_towards_the_budget(wire, secret, tmp_path):
    with Calls(tmp_path, budget=0.01) as calls, pytest.raises(BudgetSpent):  # 1024 + 1 tokens at $10 a million
        backends.generator("google/gemini-2.5-pro", calls, base_url=wire.url).generate([Prompt("Oui?", max_tokens=1)])
    assert wire.requests == []


def test_the_other_variable_does(wire, secret, calls, monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-other")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")  # must not send us to another service
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
    backends.generator("google/gemini-2.5-flash", calls, base_url=wire.url).generate([Prompt("Oui?")])
    assert wire.requests[0][1]["x-goog-api-key"] == "AIza-other"
