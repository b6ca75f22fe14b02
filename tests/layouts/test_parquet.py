"""The published layout: lazy documents, hand-made folders, checksums."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from canlegalrag.benchmark import Benchmark, load
from canlegalrag.build import build
from canlegalrag.errors import BenchmarkError, InputError
from canlegalrag.layouts.parquet import SCHEMAS, Documents
from canlegalrag.types import Document, Query


def many(n: int = 200) -> Benchmark:
    documents = {
        f"d{i}": Document(f"d{i}", f"title {i}", f"texte n° {i}", year=None if i % 3 else 2000) for i in range(n)
    }
    return Benchmark("many", documents, {"q": Query("q", "x")}, {"q": {"d7": 1, "d150": 1}})


@pytest.fixture
def built(tmp_path: Path) -> Path:
    build(many(), tmp_path / "many")
    return tmp_path / "many"


def test_documents_are_read_at_random_and_in_order(built: Path) -> None:
    documents = load(built).documents
    assert isinstance(documents, Documents)
    assert len(documents) == 200
    assert list(documents)[:3] == ["d7", "d150", "d0"]  # gold first, then as they came
    assert documents["d199"] == many().documents["d199"]
    assert documents["d3"].year == 2000
    assert documents["d4"].year is None
    assert {d.id: d for d in documents.values()} == many().documents
    assert "d200" not in documents
    with pytest.raises(KeyError):
        documents["d200"]


def test_schema_is_written_out(built: Path) -> None:
    for name, kind in [("corpus/gold", "corpus"), ("queries", "queries"), ("qrels", "qrels"), ("answers", "answers")]:
        assert pq.ParquetFile(built / "data" / f"{name}.parquet").schema_arrow.equals(SCHEMAS[kind])
    types = {str(f.type) for schema in SCHEMAS.values() for f in schema}
    assert types == {"string", "int16", "int32", "bool", "list<item: string>"}


def test_a_hand_made_folder_in_mtebs_shape(tmp_path: Path) -> None:
    for place in ("corpus", "queries", "qrels"):
        (tmp_path / place).mkdir()
    pq.write_table(pa.table({"_id": ["a"], "title": [None], "text": ["x"]}), tmp_path / "corpus" / "test-0.parquet")
    pq.write_table(pa.table({"_id": ["001"], "text": ["y"]}), tmp_path / "queries" / "test-0.parquet")
    table = pa.table({"query-id": ["001"], "corpus-id": ["a"], "score": [1]})
    pq.write_table(table, tmp_path / "qrels" / "test-0.parquet")
    found = load(tmp_path)
    assert dict(found.documents) == {"a": Document("a", "", "x")}
    assert found.queries == {"001": Query("001", "y")}
    assert found.qrels == {"001": {"a": 1}}


def test_numeric_ids_are_a_fault(tmp_path: Path) -> None:
    pq.write_table(pa.table({"_id": ["a"], "text": ["x"], "title": [""]}), tmp_path / "corpus.parquet")
    pq.write_table(pa.table({"_id": [1], "text": ["y"]}), tmp_path / "queries.parquet")
    pq.write_table(pa.table({"query-id": [1], "corpus-id": ["a"], "score": [1]}), tmp_path / "qrels.parquet")
    with pytest.raises(BenchmarkError, match="ids must be strings: _id is int64"):
        load(tmp_path)


def test_repeated_ids_are_a_fault(tmp_path: Path) -> None:
    pq.write_table(pa.table({"_id": ["a", "a"], "text": ["x", "y"], "title": ["", ""]}), tmp_path / "corpus.parquet")
    pq.write_table(pa.table({"_id": ["q", "q"], "text": ["y", "y"]}), tmp_path / "queries.parquet")
    table = pa.table({"query-id": ["q", "q"], "corpus-id": ["a", "a"], "score": [1, 1]})
    pq.write_table(table, tmp_path / "qrels.parquet")
    with pytest.raises(BenchmarkError) as caught:
        load(tmp_path)
    text = str(caught.value)
    assert "document id is used 2 times" in text
    assert "query id 'q' is used twice" in text
    assert "q a is judged twice" in text


def test_a_file_changed_after_the_build_is_a_fault(built: Path) -> None:
    table = pq.read_table(built / "data" / "qrels.parquet").slice(0, 1)
    pq.write_table(table, built / "data" / "qrels.parquet")
    with pytest.raises(BenchmarkError, match=r"qrels\.parquet: differs from its checksum"):
        load(built)
    (built / "data" / "snippets.parquet").unlink()
    with pytest.raises(BenchmarkError, match=r"snippets\.parquet: is in the manifest but not in the folder"):
        load(built)
    assert load(built, strict=False).recorded_fingerprint == ""


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"name": 1})])
def test_a_broken_manifest_is_a_fault(built: Path, text: str) -> None:
    (built / "manifest.json").write_text(text)
    with pytest.raises(BenchmarkError, match="is not a manifest"):
        load(built)


def test_a_broken_corpus_is_refused(built: Path) -> None:
    (built / "data" / "corpus" / "gold.parquet").write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(InputError, match=r"gold\.parquet: not a readable Parquet file"):
        load(built)
