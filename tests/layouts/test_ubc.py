"""The published benchmark's layout, on files of that shape made here."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from canlegalrag.benchmark import load
from canlegalrag.build import build
from canlegalrag.errors import BenchmarkError, InputError

DOCUMENTS: list[dict[str, Any]] = [
    {
        "citation": "2019 BCSC 90001",
        "name": "Roy v. Côté",
        "original_source": "BCSC",
        "year": 2019,
        "text": "Le bail est résilié.",
        "url": "https://example.org/1",
        "upstream_license": "CC BY-NC 4.0",
        "is_ground_truth": True,
        "dataset_source": "annotator",
        "ground_truth_query_ids": '["001", "002"]',
    },
    {
        "citation": "RSBC 1996, c 9001",
        "name": "Rent Act",
        "original_source": "STATUTE",
        "year": 1996,
        "text": "1 A tenant may …",
        "url": None,
        "upstream_license": None,
        "is_ground_truth": True,
        "dataset_source": "annotator",
        "ground_truth_query_ids": '["002"]',
    },
    {
        "citation": "2020 SST 90003",
        "name": "X v. Y",
        "original_source": "UNKNOWN",
        "year": None,
        "text": "Appeal dismissed.",
        "url": "",
        "upstream_license": "",
        "is_ground_truth": False,
        "dataset_source": "caseway",
        "ground_truth_query_ids": "[]",
    },
]
QUERIES: list[dict[str, Any]] = [
    {
        "query_id": "001",
        "query_text": "Can I be evicted?",
        "answer": "No.",
        "batch_id": 3,
        "ground_truth_citations": ["2019 BCSC 90001"],
        "province": "British Columbia",
    },
    {
        "query_id": "002",
        "query_text": "May the landlord enter?",
        "answer": "Yes, with notice.",
        "batch_id": 3,
        "ground_truth_citations": ["2019 BCSC 90001", "RSBC 1996, c 9001"],
        "province": "British Columbia",
    },
]


def write(folder: Path, documents: Any = DOCUMENTS, queries: Any = QUERIES, form: str = "parquet") -> Path:
    folder.mkdir(exist_ok=True)
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(documents), folder / "documents.parquet")
    elif form == "json":
        (folder / "documents.json").write_text(json.dumps(documents), encoding="utf-8")
    else:
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in documents)
        (folder / "documents.json").write_text(lines, encoding="utf-8")
    (folder / "queries.json").write_text("".join(json.dumps(row) + "\n" for row in queries), encoding="utf-8")
    return folder


@pytest.mark.parametrize("form", ["parquet", "json", "jsonl"])
def test_loads_in_each_form(tmp_path: Path, form: str) -> None:
    found = load(write(tmp_path / "ubc", form=form))
    assert list(found.documents) == ["2019-bcsc-90001", "rsbc-1996-c-9001", "2020-sst-90003"]
    first = found.documents["2019-bcsc-90001"]
    assert (first.title, first.court, first.year, first.jurisdiction) == ("Roy v. Côté", "BCSC", 2019, "BC")
    assert first.citations == ("2019 BCSC 90001",)
    assert first.text == "Le bail est résilié."
    assert found.documents["rsbc-1996-c-9001"].court == "STATUTE"
    assert (found.documents["2020-sst-90003"].court, found.documents["2020-sst-90003"].year) == ("SST", 2020)
    assert found.queries["001"].asked == "I am in British Columbia. Can I be evicted?"
    assert found.blocks == {"001": "3", "002": "3"}
    assert found.qrels["002"] == {"2019-bcsc-90001": 1, "rsbc-1996-c-9001": 1}
    assert found.answers["001"].text == "No."
    assert found.problems == ()


def test_built_into_our_layout_it_is_the_same(tmp_path: Path) -> None:
    found = load(write(tmp_path / "ubc"))
    build(found, tmp_path / "out")
    again = load(tmp_path / "out")
    assert again.fingerprint == found.fingerprint
    assert list(again.queries) == ["001", "002"]


@pytest.mark.parametrize(
    ("documents", "queries", "message"),
    [
        ([*DOCUMENTS, DOCUMENTS[0]], QUERIES, "citation '2019 BCSC 90001' stands on two rows"),
        ([*DOCUMENTS, DOCUMENTS[0] | {"citation": " "}], QUERIES, "citation is blank"),
        (
            [*DOCUMENTS, DOCUMENTS[0] | {"citation": "2001 TCC 90009", "text": ""}],
            QUERIES,
            "'2001-tcc-90009': has no text",
        ),
        (DOCUMENTS[1:], QUERIES, "gold document '2019-bcsc-90001' is not in the corpus"),
        (DOCUMENTS, [*QUERIES, QUERIES[0]], "query id '001' is used twice"),
        (DOCUMENTS, [QUERIES[0] | {"ground_truth_citations": []}], "query '001': has no gold document"),
        (DOCUMENTS, [QUERIES[0] | {"ground_truth_citations": 5}], "5 is not a list"),
        (DOCUMENTS, [QUERIES[0] | {"query_text": None}], "query '001': has no text"),
        (DOCUMENTS, [QUERIES[0] | {"query_id": None}], "query_id None is not a string"),
        (DOCUMENTS, [QUERIES[0] | {"province": "Cascadia"}], "unknown province 'Cascadia'"),
        (DOCUMENTS, [QUERIES[0] | {"province": 5}], "queries.json:1: province is 5, not a string"),
        (DOCUMENTS, [QUERIES[0] | {"query_id": ["a"]}], "queries.json:1: query_id ['a'] is not a string"),
        (DOCUMENTS, [QUERIES[0] | {"query_text": ["a"]}], "queries.json:1: query_text is ['a'], not a string"),
        (DOCUMENTS, [QUERIES[0] | {"answer": ["a"]}], "queries.json:1: answer is ['a'], not a string"),
        (DOCUMENTS, [QUERIES[0] | {"answer": " "}], "answers: '001': has no text"),
        (DOCUMENTS, [QUERIES[0] | {"ground_truth_citations": [5]}], "ground_truth_citations holds 5, not a citation"),
        (DOCUMENTS, [QUERIES[0] | {"ground_truth_citations": [None]}], "holds None, not a citation"),
        (DOCUMENTS, [QUERIES[0] | {"ground_truth_citations": "[" * 99_999}], "is not a JSON list"),
    ],
)
def test_faults_are_named(tmp_path: Path, documents: Any, queries: Any, message: str) -> None:
    with pytest.raises(BenchmarkError) as caught:
        load(write(tmp_path / "ubc", documents, queries))
    assert message in str(caught.value)


def test_what_is_odd_but_usable_is_said(tmp_path: Path) -> None:
    documents = [DOCUMENTS[0] | {"ground_truth_query_ids": '["001"]'}, *DOCUMENTS[1:]]
    found = load(write(tmp_path / "ubc", documents, [QUERIES[0] | {"query_id": 7}, *QUERIES], form="json"))
    assert "7" in found.queries
    said = [str(p) for p in found.problems]
    assert any("query_id 7 is not a string (quote it, or 001 becomes 1)" in line for line in said)
    assert any("ground_truth_query_ids differ from the queries' gold for ['002', '7']" in line for line in said)


def test_two_citations_that_make_one_id_are_kept_apart(tmp_path: Path) -> None:
    other = DOCUMENTS[1] | {"citation": "RSBC 1996, c. 9001", "ground_truth_query_ids": "[]"}
    found = load(write(tmp_path / "ubc", [*DOCUMENTS, other]))
    assert list(found.documents)[-1] == "rsbc-1996-c-9001-x"
    assert any("make the id 'rsbc-1996-c-9001'" in p.what for p in found.problems)


@pytest.mark.parametrize("text", ['{"query_id": "1"', "[1, 2]", "nonsense"])
def test_broken_files_are_refused(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path / "ubc")
    (folder / "queries.json").write_text(text)
    with pytest.raises(InputError, match=r"queries\.json"):
        load(folder)


def test_courts_years_and_languages_come_from_the_citation(tmp_path: Path) -> None:
    unknown = {"original_source": "UNKNOWN", "year": None, "ground_truth_query_ids": "[]"}
    rows = [
        ("2014 CCI 90331", ("2014-tcc-90331", "TCC", 2014, "CA", "fr")),
        ("2015 CanLII 90012 (ON SC)", ("2015-canlii-90012", "ONSC", 2015, "ON", "")),
        ("SOR/96-332", ("sor-96-332", "STATUTE", 1996, "CA", "en")),
        ("File of Mr. X", ("file-of-mr-x", "", None, "", "")),
    ]
    documents = [*DOCUMENTS, *(DOCUMENTS[2] | unknown | {"citation": citation} for citation, _ in rows)]
    found = list(load(write(tmp_path / "ubc", documents)).documents.values())[3:]
    assert [(d.id, d.court, d.year, d.jurisdiction, d.language) for d in found] == [expected for _, expected in rows]


def test_one_decision_in_two_languages_is_found(tmp_path: Path) -> None:
    both = [
        DOCUMENTS[2] | {"citation": c, "ground_truth_query_ids": "[]"} for c in ("2014 TCC 90331", "2014 CCI 90331")
    ]
    found = load(write(tmp_path / "ubc", [*DOCUMENTS, *both]))
    assert list(found.documents)[3:] == ["2014-tcc-90331", "2014-cci-90331"]
    (problem,) = found.problems
    assert str(problem) == (
        "document '2014-cci-90331': has the citation 2014 TCC 90331 of '2014-tcc-90331' (one decision twice?)"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": ["a", "b"]}, "documents.json[1]: text is ['a', 'b'], not a string"),
        ({"name": {"a": 1}}, "documents.json[1]: name is {'a': 1}, not a string"),
        ({"url": 5}, "documents.json[1]: url is 5, not a string"),
        ({"text": "half \ud800"}, "half a"),
        ({"name": "half \udfff"}, "half a"),
        ({"citation": "\ud800 1"}, "half a"),
    ],
)
def test_wrong_values_of_a_document(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder = write(tmp_path / "ubc", [DOCUMENTS[0] | change, *DOCUMENTS[1:]], form="json")
    with pytest.raises((BenchmarkError, InputError)) as caught:
        load(folder)
    assert message.replace("half a", "half") in str(caught.value)


@pytest.mark.parametrize("year", [99_999, -1, 2019.5, True, "x", "99999", [2019], "nan", "inf"])
def test_a_year_that_is_none_is_unknown_and_said(tmp_path: Path, year: Any) -> None:
    found = load(write(tmp_path / "ubc", [DOCUMENTS[0] | {"year": year}, *DOCUMENTS[1:]], form="json"))
    assert found.documents["2019-bcsc-90001"].year is None
    assert [str(p) for p in found.problems] == [
        f"documents.json[1]: year {year!r} is not a year (read as unknown)",
    ]
    build(found, tmp_path / "out")


@pytest.mark.parametrize("year", [2019, 2019.0, "2019", "2019.0"])
def test_a_year_in_any_spelling(tmp_path: Path, year: Any) -> None:
    found = load(write(tmp_path / "ubc", [DOCUMENTS[0] | {"year": year}, *DOCUMENTS[1:]], form="json"))
    assert found.documents["2019-bcsc-90001"].year == 2019
    assert found.problems == ()


def test_citations_without_latin_letters_have_ids_of_their_own(tmp_path: Path) -> None:
    documents = [DOCUMENTS[2] | {"citation": c} for c in ("⚖️ 中文", "法律")]
    queries = [QUERIES[0] | {"ground_truth_citations": ["法律"]}]
    found = load(write(tmp_path / "one", documents, queries))
    assert list(found.documents) == ["document-ca4f53c8", "document-32bc0a33"]
    assert found.qrels == {"001": {"document-32bc0a33": 1}}
    assert found.problems == ()
    turned = load(write(tmp_path / "two", documents[::-1], queries))
    assert turned.fingerprint == found.fingerprint
    missing = load(write(tmp_path / "three", documents[:1], queries), strict=False)
    assert missing.qrels == found.qrels


def test_of_two_forms_the_one_that_is_not_read_is_named(tmp_path: Path) -> None:
    write(tmp_path / "ubc", form="json")
    found = load(write(tmp_path / "ubc"))
    assert [str(p) for p in found.problems] == ["documents.json: is not read: documents.parquet is (keep one)"]


def test_gold_that_is_given_twice_is_said(tmp_path: Path) -> None:
    queries = [QUERIES[0] | {"ground_truth_citations": ["2019 BCSC 90001"] * 2}]
    documents = [d | {"ground_truth_query_ids": None} for d in DOCUMENTS]
    found = load(write(tmp_path / "ubc", documents, queries))
    assert found.qrels == {"001": {"2019-bcsc-90001": 1}}
    (problem,) = found.problems
    assert str(problem) == "queries.json:1: ground_truth_citations holds '2019 BCSC 90001' twice (counted once)"


@pytest.mark.parametrize("text", ["[" * 100_000, "[" + "9" * 5000 + "]", "[1, 2]", "[{}, 5]"])
def test_a_broken_array_is_refused(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path / "ubc", form="json")
    (folder / "documents.json").write_text(text)
    with pytest.raises(InputError, match=r"documents\.json"):
        load(folder)
