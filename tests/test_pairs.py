"""The sample's labelled pairs: quotes stand in their documents, and neither kind nor wording gives the label away."""

import json
import re
from collections import Counter
from importlib.resources import files
from itertools import pairwise

import pytest

from canlegalrag.benchmark import load

LABELS = {"supported": 80, "contradicted": 61, "unsupported": 59}
KINDS = {
    "plain": 30,
    "paraphrase": 40,
    "negation": 20,
    "number": 25,
    "role": 20,
    "modality": 20,
    "other-case": 20,
    "beyond": 15,
    "french": 10,
}
NEGATIONS = {"not", "no", "never", "nobody", "without", "neither", "none", "nothing", "cannot", "isn", "doesn", "pas"}


@pytest.fixture(scope="module")
def pairs() -> list[dict[str, str]]:
    text = (files("canlegalrag") / "sample" / "pairs.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_fields_and_ids(pairs: list[dict[str, str]]) -> None:
    assert [p["id"] for p in pairs] == [f"p{n:03d}" for n in range(1, 201)]
    for pair in pairs:
        assert pair.keys() == {"id", "claim", "doc", "quote", "label", "kind", "note"}, pair["id"]
        assert all(value and value == value.strip() for value in pair.values()), pair["id"]
        assert len(pair["note"]) <= 80, pair["id"]
    assert len({p["claim"] for p in pairs}) == 200


def test_each_quote_stands_exactly_once_in_its_document(pairs: list[dict[str, str]]) -> None:
    documents = load("sample").documents
    for pair in pairs:
        assert documents[pair["doc"]].text.count(pair["quote"]) == 1, pair["id"]
        assert len(pair["quote"]) <= 1000, pair["id"]
        assert pair["quote"][-1] in '.!?"' and not pair["quote"][0].islower(), pair["id"]  # whole sentences
    assert {p["doc"] for p in pairs} == documents.keys()


def test_counts(pairs: list[dict[str, str]]) -> None:
    assert Counter(p["label"] for p in pairs) == LABELS
    assert Counter(p["kind"] for p in pairs) == KINDS
    # Every kind holds every label.
    assert len({(p["kind"], p["label"]) for p in pairs}) == len(KINDS) * len(LABELS)


def test_the_wording_of_a_claim_does_not_give_its_label_away(pairs: list[dict[str, str]]) -> None:
    for label, count in LABELS.items():
        claims = [set(re.findall(r"\w+", p["claim"].lower())) for p in pairs if p["label"] == label]
        assert 0.25 <= sum(bool(words & NEGATIONS) for words in claims) / count <= 0.40, label


def test_a_claim_is_no_copy_of_its_evidence(pairs: list[dict[str, str]]) -> None:
    for pair in pairs:
        assert pair["claim"].rstrip(".") not in pair["quote"], pair["id"]


def test_pairs_are_in_no_telling_order(pairs: list[dict[str, str]]) -> None:
    for name in ("label", "kind"):
        longest = run = 1
        for before, after in pairwise(pairs):
            run = run + 1 if before[name] == after[name] else 1
            longest = max(longest, run)
        assert longest <= 8, name
