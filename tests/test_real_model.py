"""Three queries end to end with a real model behind a real server: retrieve, generate, judge, score."""

import dataclasses
import json

import pytest

import canlegalrag
from canlegalrag import backends, pipeline, submission
from canlegalrag.calls import Calls
from canlegalrag.files import dumps, read_run
from canlegalrag.measures.decided import LABELS
from canlegalrag.recipes import parse
from canlegalrag.records import read_answers, read_verdicts

QUERIES = ("b1-q1", "b4-q2", "b8-q3")


@pytest.fixture
def three():
    whole = canlegalrag.load("sample")
    parts = ("queries", "qrels", "answers", "claims")
    kept = {part: {q: getattr(whole, part)[q] for q in QUERIES} for part in parts}
    snippets = tuple(s for s in whole.snippets if s.query_id in QUERIES)
    return dataclasses.replace(whole, **kept, snippets=snippets, recorded_fingerprint="", checksums="")


@pytest.mark.slow
def test_from_retrieval_to_scores(llama, three, tmp_path, monkeypatch):
    """The answers are poor: the path is what counts. Nothing is lost, and what has no label says why."""
    for name in ("CANLEGALRAG_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    run, answers, verdicts = (tmp_path / f"{name}.jsonl" for name in ("run", "answers", "verdicts"))
    made = pipeline.retrieve(parse("bm25-1024"), three, run, k=5, cache=tmp_path)
    with Calls(tmp_path / "calls", timeout=300, workers=2) as calls:
        options = {"base_url": llama, "price_in": 0.1, "price_out": 0.2}
        model = backends.generator("inference/smollm2", calls, **options)
        found = read_run(run, three.documents)
        meta = pipeline.generate(three, found, model, answers, k=3, tokens=500, max_tokens=40, calls=calls, made=made)
        assert sum(meta["stops"].values()) == 3 and meta["cost"] > 0
        texts = read_answers(answers, three.documents)
        assert set(texts) == set(QUERIES) and all(answer.passages for answer in texts.values())
        short = options | {"extra": {"max_tokens": 70}}  # it doesn't stop by itself
        judge = backends.judge("inference/smollm2", calls, **short, per_call=4)
        decomposer = backends.decomposer("offline/sentences")
        judging, problems = pipeline.judge(
            three,
            texts,
            judge,
            decomposer,
            verdicts,
            measures=["accuracy", "groundedness"],
            window=1500,
            overlap=200,
            calls=calls,
            made=meta,
        )
        paid = calls.totals()["inference/smollm2"]
        assert paid["calls"] >= 6 and paid["cost"] == pytest.approx(meta["cost"] + judging["cost"])
        # Everything is there: the same again costs nothing and changes nothing.
        before = verdicts.read_bytes()
        again, _ = pipeline.judge(
            three,
            texts,
            judge,
            decomposer,
            verdicts,
            measures=["accuracy", "groundedness"],
            window=1500,
            overlap=200,
            calls=calls,
            made=meta,
        )
        assert verdicts.read_bytes() == before and again["cost"] == judging["cost"]
        assert calls.totals()["inference/smollm2"]["calls"] == paid["calls"]
    assert not problems
    judged = read_verdicts(verdicts)
    given = [verdict for one in judged.values() for verdict in one.verdicts]
    assert given and all(v.label in LABELS or (v.label is None and v.reason) for v in given)
    assert {v.judge for v in given} == {"inference/smollm2"}
    payload, _ = submission.score_verdicts(judged, benchmark=three, made=judging)
    for name in ("accuracy", "groundedness"):
        low, high = (payload["measures"][f"{name}_{end}"]["mean"] for end in ("lower", "upper"))
        assert low is None or 0 <= low <= high <= 1
    assert json.loads(dumps(payload))["provenance"]["verdicts"]["judges"] == {"inference/smollm2": len(given)}
