"""The sample's claims: each stands on a sentence of its reference answer, in order, and no sentence is left out."""

import json
import re
from collections import defaultdict
from importlib.resources import files

import pytest

from canlegalrag.benchmark import Benchmark, load
from canlegalrag.judging.sentences import spans

Row = dict[str, str]
SAMPLE = files("canlegalrag") / "sample"


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d[\d,.]*\d|\d", text))


@pytest.fixture(scope="module")
def sample() -> Benchmark:
    return load("sample")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    found = sorted((SAMPLE / "claims").iterdir(), key=lambda path: path.name)
    return [json.loads(line) for path in found for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def by_query(rows: list[Row]) -> dict[str, list[Row]]:
    grouped = defaultdict(list)
    for row in rows:
        grouped[row["query_id"]].append(row)
    return dict(grouped)


def test_one_file_a_block_that_holds_the_queries_of_that_block() -> None:
    blocks = {path.name.removesuffix(".toml") for path in (SAMPLE / "blocks").iterdir()}
    assert {path.name for path in (SAMPLE / "claims").iterdir()} == {f"{block}.jsonl" for block in blocks}
    for path in (SAMPLE / "claims").iterdir():
        ids = {json.loads(line)["query_id"] for line in path.read_text(encoding="utf-8").splitlines()}
        assert {query_id.split("-")[0] for query_id in ids} == {f"b{path.name[0]}"}, path.name


def test_fields(rows: list[Row]) -> None:
    for row in rows:
        assert row.keys() == {"query_id", "sentence", "claim"}, row
        assert all(value and value == value.strip() for value in row.values()), row


def test_every_answer_has_claims_and_no_other_id_does(sample: Benchmark, by_query: dict[str, list[Row]]) -> None:
    assert by_query.keys() == sample.answers.keys()
    assert list(by_query) == sorted(by_query)
    for query_id, rows in by_query.items():
        assert 3 <= len(rows) <= 24, query_id


def test_each_sentence_stands_once_in_its_answer_and_is_whole(sample: Benchmark, rows: list[Row]) -> None:
    whole = {query_id: {a.text[start:end] for start, end in spans(a.text)} for query_id, a in sample.answers.items()}
    for row in rows:
        assert sample.answers[row["query_id"]].text.count(row["sentence"]) == 1, row
        assert row["sentence"] in whole[row["query_id"]], row


def test_the_order_follows_the_answer(sample: Benchmark, by_query: dict[str, list[Row]]) -> None:
    for query_id, rows in by_query.items():
        places = [sample.answers[query_id].text.index(row["sentence"]) for row in rows]
        assert places == sorted(places), query_id


def test_every_sentence_of_substance_is_covered(sample: Benchmark, by_query: dict[str, list[Row]]) -> None:
    for query_id, answer in sample.answers.items():
        covered = {row["sentence"] for row in by_query[query_id]}
        left_out = [answer.text[start:end] for start, end in spans(answer.text)]
        left_out = [sentence for sentence in left_out if sentence not in covered]
        # A bare "Yes." is said in full by the sentence that follows it.
        assert set(left_out) <= {"Yes.", "No.", "No to both."}, query_id


def test_claims_are_distinct_within_an_answer(by_query: dict[str, list[Row]]) -> None:
    for query_id, rows in by_query.items():
        assert len({row["claim"].casefold() for row in rows}) == len(rows), query_id


def test_a_claim_is_one_short_sentence_that_stands_alone(rows: list[Row]) -> None:
    for row in rows:
        claim = row["claim"]
        assert 5 <= len(claim.split()) <= 40, row
        assert claim[-1] == "." and not claim[0].islower(), row
        assert len(spans(claim)) == 1, row
        assert not re.search(r"\b(?:you|yours?|I|my|we|our)\b", claim), row
        assert not re.match(r"(?:He|She|They|This|These|Those facts|There,|The same|But|And)\b", claim), row


def test_claims_keep_every_number_of_their_sentence_and_bring_in_none(sample: Benchmark, rows: list[Row]) -> None:
    kept: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        query = sample.queries[row["query_id"]]
        known = numbers(sample.answers[row["query_id"]].text) | numbers(query.text)
        assert numbers(row["claim"]) <= known, row
        kept[row["query_id"], row["sentence"]] |= numbers(row["claim"])
    for (query_id, sentence), found in kept.items():
        assert numbers(sentence) <= found, (query_id, sentence)


def test_a_case_that_a_claim_names_is_cited_in_full(sample: Benchmark, rows: list[Row]) -> None:
    cited = {citation: d.title for d in sample.documents.values() for citation in d.citations}
    for row in rows:
        claim = row["claim"]
        found = re.findall(r"\b\d{4} [A-Z]+ 9\d{4}\b", claim)
        # As many citations as names of cases, so no name stands alone.
        assert len(found) == len(re.findall(r" (?:v\.?|c\.) (?=[A-Z])| \(Re\),", claim)), row
        for citation in found:
            assert f"{cited[citation]}, {citation}" in claim, row
