"""The embedded sample keeps the promises that its card makes."""

import re
from collections import Counter

import pytest

from canlegalrag.benchmark import Benchmark, load


@pytest.fixture(scope="module")
def sample() -> Benchmark:
    return load("sample")


def test_sizes_and_spread(sample: Benchmark) -> None:
    courts = Counter(d.court for d in sample.documents.values())
    decisions = [d for d in sample.documents.values() if d.court != "STATUTE"]
    assert len(decisions) >= 48
    assert courts["STATUTE"] == 2
    assert {"BCSC", "SST", "CHRT", "TCC"} <= courts.keys()
    assert len(courts) >= 9
    assert sum(d.language == "fr" for d in decisions) == 2
    assert len({d.jurisdiction for d in decisions}) >= 6
    years = [d.year for d in decisions if d.year]
    assert (min(years), max(years)) == (1998, 2025)
    assert 20 <= len(sample.gold) < len(sample.documents)


def test_each_document_is_whole_and_says_that_it_is_fiction(sample: Benchmark) -> None:
    for document in sample.documents.values():
        assert 3000 <= len(document.text) <= 12_000, document.id
        assert "fiction" in document.text[:1200].lower(), document.id
        assert document.title and document.year and document.jurisdiction and document.language, document.id
        assert not re.search(r"\r|\t|\n\n\n", document.text), document.id
        if document.court != "STATUTE":
            paragraphs = [int(n) for n in re.findall(r"^\[(\d+)\] ", document.text, re.MULTILINE)]
            assert paragraphs == list(range(1, len(paragraphs) + 1)), document.id
            assert len(paragraphs) >= 8, document.id
            assert re.fullmatch(r"(1998|1999|20[012]\d) [A-Z]+ 9\d{4}", document.citations[0]), document.id
            assert document.id == document.citations[0].lower().replace(" ", "-")


def test_no_citation_can_be_taken_for_a_real_case(sample: Benchmark) -> None:
    for document in sample.documents.values():
        for number in re.findall(r"\b(?:19|20)\d\d [A-Z]{2,6} (\d+)\b", document.text):
            assert int(number) > 90_000, (document.id, number)


def test_some_decisions_cite_each_other_and_no_citation_dangles(sample: Benchmark) -> None:
    known = {d.citations[0] for d in sample.documents.values()}
    cited = 0
    for document in sample.documents.values():
        for citation in set(re.findall(r"\b(?:19|20)\d\d [A-Z]{2,6} 9\d{4}\b", document.text)):
            assert citation in known, (document.id, citation)
            cited += citation != document.citations[0]
    assert cited >= 15


def test_eight_blocks_of_eight(sample: Benchmark) -> None:
    blocks: dict[str, list[str]] = {}
    for query in sample.queries.values():
        blocks.setdefault(query.block, []).append(query.id)
    assert [len(ids) for ids in blocks.values()] == [8] * 8
    for ids in blocks.values():
        queries = [sample.queries[i] for i in ids]
        assert Counter(q.persona for q in queries) == {"lay": 4, "expert": 4}
        assert Counter(q.same_facts for q in queries) == {True: 4, False: 4}
        assert Counter((q.persona, q.same_facts) for q in queries).most_common()[-1][1] == 2
        assert len({q.province for q in queries}) == 1
        assert queries[0].variant == "seed"
    assert "Quebec" not in {q.province for q in sample.queries.values()}
    assert len({q.province for q in sample.queries.values()}) == 8


def test_a_changed_fact_makes_other_decisions_relevant(sample: Benchmark) -> None:
    seeds = {q.block: set(sample.qrels[q.id]) for q in sample.queries.values() if q.variant == "seed"}
    for block, seed in seeds.items():
        changed = [q.id for q in sample.queries.values() if q.block == block and not q.same_facts]
        assert set().union(*(sample.qrels[i] for i in changed)) - seed, block
        assert sum(set(sample.qrels[i]) != seed for i in changed) >= 3, block


def test_gold_has_evidence_and_answers_cite_gold_only(sample: Benchmark) -> None:
    evidence = Counter((s.query_id, s.doc_id) for s in sample.snippets)
    for id_, judged in sample.qrels.items():
        assert 1 <= len(judged) <= 6, id_
        assert all(evidence[id_, document] for document in judged), id_
        answer = sample.answers[id_]
        assert len(answer.parts) >= 3, id_
        assert answer.text == "\n\n".join(answer.parts)
        gold = {c for document in judged for c in sample.documents[document].citations}
        assert answer.citations and set(answer.citations) <= gold, id_
        assert all(citation in answer.text for citation in answer.citations), id_


def test_claims_and_labelled_pairs_are_whole(sample: Benchmark) -> None:
    assert sample.problems == ()
    for id_, claims in sample.claims.items():
        text = sample.answers[id_].text
        for claim in claims:
            assert claim.start is not None and "\n\n" not in text[claim.start : claim.end], id_
            assert claim.text == claim.text.strip(), id_
    for pair in sample.pairs:
        assert pair.kind and pair.note, pair.id
        assert pair.evidence == sample.documents[pair.doc_id].text[pair.start : pair.end].strip(), pair.id


def test_snippets_lie_within_one_paragraph(sample: Benchmark) -> None:
    for snippet in sample.snippets:
        assert "\n\n" not in snippet.text
        assert snippet.text == sample.documents[snippet.doc_id].text[snippet.start : snippet.end]
