"""The published layout: lazy documents, hand-made folders, checksums."""

import hashlib
import json
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from canlegalrag.benchmark import Benchmark, fingerprint, load
from canlegalrag.build import build
from canlegalrag.errors import BenchmarkError, InputError
from canlegalrag.layouts.parquet import SCHEMAS, Documents
from canlegalrag.types import Answer, Claim, Document, LabelledPair, Query

PAIRS = (LabelledPair("p", "Un texte.", "d7", 0, 5, "texte", "supported", "plain", "le mot y est"),)


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
    assert not (built / "data" / "claims.parquet").exists()  # there are none
    assert not (built / "data" / "pairs.parquet").exists()
    one = replace(
        many(), answers={"q": Answer("q", "x")}, claims={"q": (Claim("q", "reference", 0, "x"),)}, pairs=PAIRS
    )
    build(one, built)
    names = ("queries", "qrels", "answers", "snippets", "claims", "pairs")
    for name, kind in [("corpus/gold", "corpus"), *((n, n) for n in names)]:
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


CORPUS = {"_id": ["a", "b"], "title": ["A", "B"], "text": ["x", "y"]}
QUERIES = {"_id": ["q1", "q2"], "text": ["one", "two"]}
QRELS = {"query-id": ["q1", "q2"], "corpus-id": ["a", "b"], "score": [1, 2]}
ANSWERS = {"query-id": ["q1"], "text": ["yes"]}
SNIPPETS = {"query-id": ["q1"], "corpus-id": ["a"], "start": [0], "end": [1], "text": ["x"]}
CLAIMS = {"query_id": ["q1", "q1"], "index": [1, 0], "text": ["two", "one"], "start": [0, None], "end": [3, None]}
PAIR = {"id": ["p"], "claim": ["c"], "doc_id": ["a"], "start": [0], "end": [1], "evidence": ["x"]}
LABELS = {"label": ["unsupported"], "kind": ["plain"], "note": [None]}
WHOLE = {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS, "answers": ANSWERS, "snippets": SNIPPETS}
WHOLE |= {"claims": CLAIMS, "pairs": PAIR | LABELS}


def put(path: Path, columns: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def hand_made(folder: Path, **changes: dict[str, Any]) -> Path:
    """A small benchmark; a change replaces a column, or removes it where it is None."""
    for config, columns in WHOLE.items():
        kept = {k: v for k, v in {**columns, **changes.get(config, {})}.items() if v is not None}
        put(folder / f"{config}.parquet", kept)
    return folder


def said(folder: Path, strict: bool = False) -> list[str]:
    return [str(p) for p in load(folder, strict=strict).problems]


def dictionary(values: list[Any]) -> Any:
    return pa.array(values).dictionary_encode()


def large(values: list[Any]) -> Any:
    return pa.array(values, pa.large_string())


def test_dictionary_encoded_and_large_strings_are_strings(tmp_path: Path) -> None:
    for n, make in enumerate((dictionary, large)):
        changes = {
            config: {k: make(v) if isinstance(v[0], str) else v for k, v in columns.items()}
            for config, columns in WHOLE.items()
        }
        found = load(hand_made(tmp_path / str(n), **changes))
        assert found.problems == ()
        assert dict(found.documents) == {"a": Document("a", "A", "x"), "b": Document("b", "B", "y")}
        assert found.queries == {"q1": Query("q1", "one"), "q2": Query("q2", "two")}
        assert found.qrels == {"q1": {"a": 1}, "q2": {"b": 2}}
        assert found.answers == {"q1": Answer("q1", "yes")}
        assert [s.text for s in found.snippets] == ["x"]
        claims = (Claim("q1", "reference", 0, "one"), Claim("q1", "reference", 1, "two", 0, 3))  # by their index
        assert found.claims == {"q1": claims}
        assert found.pairs == (LabelledPair("p", "c", "a", 0, 1, "x", "unsupported", "plain"),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": {"_id": [1, 2]}}, "corpus.parquet: ids must be strings: _id is int64"),
        ({"corpus": {"_id": ["a", None]}}, "corpus.parquet:2: has no _id"),
        ({"corpus": {"_id": None}}, "corpus.parquet: has no column '_id' (it has title, text)"),
        ({"corpus": {"text": None}}, "corpus.parquet: has no column 'text' (it has _id, title)"),
        ({"corpus": {"text": [1, 2]}}, "corpus.parquet: text is int64, not strings"),
        ({"corpus": {"text": [None, "y"]}}, "document 'a': has no text"),
        ({"corpus": {"title": [{"a": 1}] * 2}}, "corpus.parquet: title is struct<a: int64>, not strings"),
        ({"corpus": {"citations": ["2019 SCC 65", ""]}}, "corpus.parquet: citations is string, not lists of strings"),
        ({"corpus": {"citations": [[1], []]}}, "corpus.parquet: citations is list<"),
        ({"corpus": {"year": ["2019", "2020"]}}, "corpus.parquet: year is string, not whole numbers"),
        ({"corpus": {"year": [2019, 40_000]}}, "corpus.parquet:2: year 40000 is not a year"),
        ({"corpus": {"year": [2019.5, None]}}, "corpus.parquet:1: year 2019.5 is not a year"),
        ({"queries": {"_id": None}}, "queries.parquet: has no column '_id'"),
        ({"queries": {"_id": ["q1", None]}}, "queries.parquet:2: has no _id"),
        ({"queries": {"text": None}}, "queries.parquet: has no column 'text'"),
        ({"queries": {"text": [None, "x"]}}, "query 'q1': has no text"),
        ({"queries": {"province": [1, 2]}}, "queries.parquet: province is int64, not strings"),
        ({"queries": {"block": [1, 1]}}, "queries.parquet: block is int64, not strings"),
        ({"queries": {"same_facts": ["no", "yes"]}}, "queries.parquet: same_facts is string, not bool"),
        ({"queries": {"excluded": ["b", ""]}}, "queries.parquet: excluded is string, not lists of strings"),
        ({"queries": {"excluded": [["b", None], []]}}, "queries.parquet:1: excluded holds None, not a string"),
        ({"qrels": {"query-id": None}}, "qrels.parquet: has no column 'query-id'"),
        ({"qrels": {"query-id": ["q1", None]}}, "qrels.parquet:2: has no query-id"),
        ({"qrels": {"score": None}}, "qrels.parquet: has no column 'score'"),
        ({"qrels": {"score": [None, 1]}}, "qrels.parquet:1: score None is not a whole number"),
        ({"qrels": {"score": [1.0, float("nan")]}}, "qrels.parquet:2: score nan is not a whole number"),
        ({"qrels": {"score": [1.0, float("inf")]}}, "qrels.parquet:2: score inf is not a whole number"),
        ({"qrels": {"score": [1.0, 1.9]}}, "qrels.parquet:2: score 1.9 is not a whole number"),
        ({"qrels": {"score": [1, 100_000]}}, "qrels.parquet:2: score 100000 is not a whole number"),
        ({"qrels": {"score": [True, True]}}, "qrels.parquet: score is bool, not whole numbers"),
        ({"qrels": {"score": ["1", "x"]}}, "qrels.parquet: score is string, not whole numbers"),
        ({"qrels": {"score": [[1], [1]]}}, "qrels.parquet: score is list<"),
        ({"answers": {"text": None}}, "answers.parquet: has no column 'text'"),
        ({"answers": {"text": [None]}}, "answers: 'q1': has no text"),
        ({"answers": {"parts": ["abc"]}}, "answers.parquet: parts is string, not lists of strings"),
        (
            {"answers": {"query-id": ["q1", "q1"], "text": ["yes", "no"]}},
            "answers.parquet:2: query 'q1' has a second answer (keep one)",
        ),
        ({"snippets": {"start": pa.array([None], pa.int32())}}, "snippets.parquet:1: start None is not a whole number"),
        ({"snippets": {"end": [1.5]}}, "snippets.parquet:1: end 1.5 is not a whole number"),
        ({"snippets": {"text": None}}, "snippets.parquet: has no column 'text'"),
        ({"snippets": {"start": ["0"]}}, "snippets.parquet: start is string, not whole numbers"),
        ({"claims": {"query_id": [1, 1]}}, "claims.parquet: ids must be strings: query_id is int64"),
        ({"claims": {"query_id": ["q1", None]}}, "claims.parquet:2: has no query_id"),
        ({"claims": {"query_id": ["q1", "q2"]}}, "claims: 'q2': has no reference answer"),
        ({"claims": {"index": None}}, "claims.parquet: has no column 'index'"),
        ({"claims": {"index": [0, 0]}}, "claim 1 of 'q1': has the index 0"),
        ({"claims": {"index": [0.0, float("nan")]}}, "claims.parquet:2: index nan is not a whole number"),
        ({"claims": {"index": [0, 2**31]}}, "claims.parquet:2: index 2147483648 is not a whole number"),
        ({"claims": {"text": None}}, "claims.parquet: has no column 'text'"),
        ({"claims": {"text": [None, "one"]}}, "claim 1 of 'q1': has no text"),
        ({"claims": {"end": [4, None]}}, "claim 1 of 'q1': 0 to 4 is no stretch of the answer's 3 characters"),
        ({"claims": {"end": [3, 1]}}, "claim 0 of 'q1': None to 1 is half a place"),
        ({"claims": {"start": [0.5, None]}}, "claims.parquet:1: start 0.5 is not a whole number"),
        ({"claims": {"end": ["3", None]}}, "claims.parquet: end is string, not whole numbers"),
        ({"pairs": {"id": [None]}}, "pairs.parquet:1: has no id"),
        ({"pairs": {"id": [1]}}, "pairs.parquet: ids must be strings: id is int64"),
        ({"pairs": {"doc_id": ["c"]}}, "pair 'p': document 'c' is not in the corpus"),
        ({"pairs": {"label": None}}, "pairs.parquet: has no column 'label'"),
        ({"pairs": {"label": [None]}}, "pair 'p': label '' is none"),
        ({"pairs": {"claim": [None]}}, "pair 'p': has no claim"),
        ({"pairs": {"evidence": ["y"]}}, "pair 'p': characters 0 to 1 of its document are not its evidence"),
        ({"pairs": {"end": pa.array([None], pa.int32())}}, "pairs.parquet:1: end None is not a whole number"),
    ],
)
def test_wrong_values_are_faults_and_what_is_left_can_be_built(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    folder = hand_made(tmp_path / "in", **changes)
    with pytest.raises(BenchmarkError) as caught:
        load(folder)
    assert message in str(caught.value)
    found = load(folder, strict=False)
    assert any(message in str(p) and p.fatal for p in found.problems)
    json.dumps(found.summary(), allow_nan=False)
    build(found, tmp_path / "out")
    assert fingerprint(load(tmp_path / "out", strict=False)) == found.fingerprint


def test_what_is_read_of_wrong_values(tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        "corpus": {"year": [2019.0, float("nan")], "citations": ["2019 SCC 65", ""]},
        "qrels": {"score": [1.9, 2.0]},
        "answers": {"query-id": ["q1", "q1"], "text": ["yes", "no"], "parts": ["yes", "no"]},
    }
    found = load(hand_made(tmp_path, **changes), strict=False)
    assert [(d.year, d.citations) for d in found.documents.values()] == [(2019, ()), (None, ())]
    assert found.qrels == {"q2": {"b": 2}}
    assert found.answers == {"q1": Answer("q1", "yes")}


def test_a_missing_title_is_no_fault_and_each_file_has_its_own_columns(tmp_path: Path) -> None:
    for first, second in (("gold", "distractors"), ("distractors", "gold")):
        folder = hand_made(tmp_path / first)
        (folder / "corpus.parquet").unlink()
        put(folder / f"data/corpus/{first}.parquet", {"_id": ["a"], "text": ["x"], "court": ["BCSC"], "year": [2020]})
        put(folder / f"data/corpus/{second}.parquet", {"_id": ["b"], "text": ["y"], "title": ["B"]})
        found = load(folder)
        assert found.problems == ()
        assert found.documents["a"] == Document("a", "", "x", court="BCSC", year=2020)
        assert found.documents["b"] == Document("b", "B", "y")


def test_every_file_of_the_corpus_is_read(tmp_path: Path) -> None:
    folder = hand_made(tmp_path)
    put(folder / "corpus-00001.parquet", {"_id": ["c"], "text": ["z"]})
    put(folder / "corpus/0.parquet", {"_id": ["d"], "text": ["z"]})
    put(folder / "data/corpus/gold.parquet", {"_id": ["e"], "text": ["z"]})
    put(folder / "data/corpus/more.parquet", {"_id": ["f"], "text": ["z"]})
    found = load(folder)
    assert sorted(found.documents) == ["a", "b", "c", "d", "e", "f"]
    assert found.problems == ()
    (folder / "corpus/1.parquet").mkdir()
    assert said(folder) == ["corpus/1.parquet: is not a regular file (take it away)"]


def test_a_file_beside_those_of_a_build_is_named(built: Path) -> None:
    put(built / "data/corpus/more.parquet", {"_id": ["z"], "text": ["z"]})
    with pytest.raises(BenchmarkError, match=r"corpus/more\.parquet: is not in the manifest, and is not read"):
        load(built)
    found = load(built, strict=False)
    assert len(found.documents) == 200
    assert found.recorded_fingerprint == ""


@pytest.mark.parametrize(
    ("test", "others"),
    [
        ("qrels/test.parquet", ("qrels/train.parquet", "qrels/dev.parquet")),
        ("qrels/test-00000-of-00001.parquet", ("qrels/validation-00000-of-00001.parquet",)),
        ("data/qrels/qrels-test-0.parquet", ("data/qrels/qrels-train-0.parquet",)),
        ("qrels-test.parquet", ("qrels-train.parquet",)),
    ],
)
def test_only_the_test_split_is_read(tmp_path: Path, test: str, others: tuple[str, ...]) -> None:
    folder = hand_made(tmp_path, queries={"_id": ["q1", "q2", "q3"], "text": ["one", "two", "three"]})
    (folder / test).parent.mkdir(parents=True, exist_ok=True)
    (folder / "qrels.parquet").rename(folder / test)
    for name in others:
        put(folder / name, {"query-id": ["q1", "q3"], "corpus-id": ["b", "b"], "score": [1, 1]})
    found = load(folder)
    assert found.qrels == {"q1": {"a": 1}, "q2": {"b": 2}}
    assert list(found.queries) == ["q1", "q2"]  # q3 is judged for training only
    lines = [str(p) for p in found.problems]
    assert len(lines) == len(others) + 1
    assert all("is not the test split: not read" in line for line in lines[:-1])
    assert lines[-1] == "queries: 1 query is judged in other splits only: left out"


def test_splits_without_a_test_split_are_a_fault_but_one_split_is_the_whole(tmp_path: Path) -> None:
    folder = hand_made(tmp_path)
    (folder / "qrels").mkdir()
    (folder / "qrels.parquet").rename(folder / "qrels/train-00000-of-00001.parquet")
    assert load(folder).qrels == {"q1": {"a": 1}, "q2": {"b": 2}}
    put(folder / "qrels/dev.parquet", {"query-id": ["q1"], "corpus-id": ["b"], "score": [1]})
    with pytest.raises(BenchmarkError, match="qrels: holds the splits dev and train, but no test"):
        load(folder)


def test_a_corpus_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    text = pa.array([b"\xff\xfe", b"y"]).view(pa.string())
    with pytest.raises(InputError, match=r"corpus\.parquet: not a readable Parquet file: .*utf-8"):
        load(hand_made(tmp_path, corpus={"text": text}))


# The manifest.


def remark(folder: Path, **changes: Any) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_checksums_that_hold_are_passed_on(built: Path) -> None:
    found = load(built)
    files = json.loads((built / "manifest.json").read_text())["files"]
    lines = "".join(f"{name}\n{files[name]['sha256']}\n" for name in sorted(files))
    assert found.checksums == hashlib.sha256(lines.encode()).hexdigest()
    assert found.recorded_fingerprint == many().fingerprint


def test_a_fingerprint_counts_only_if_the_manifest_lists_every_file(built: Path) -> None:
    for remove in (["data/qrels.parquet"], list(json.loads((built / "manifest.json").read_text())["files"])):
        files = json.loads((built / "manifest.json").read_text())["files"]
        remark(built, files={k: v for k, v in files.items() if k not in remove}, fingerprint="0" * 64)
        with pytest.raises(BenchmarkError, match=r"data/qrels\.parquet: is not in the manifest, but is read"):
            load(built)
        found = load(built, strict=False)
        assert found.fingerprint == many().fingerprint
        assert found.recorded_fingerprint == found.checksums == ""


def test_a_spoofed_manifest_in_a_hand_made_folder(tmp_path: Path) -> None:
    folder = hand_made(tmp_path, corpus={"text": ["", "y"]}, snippets={"text": [""]})
    spoof = {"name": "x", "about": {}, "files": {}, "problems": [], "fingerprint": "0" * 64}
    (folder / "manifest.json").write_text(json.dumps(spoof))
    found = load(folder, strict=False)
    assert found.fingerprint == fingerprint(found) != "0" * 64
    assert any("document 'a': has no text" in str(p) for p in found.problems)


@pytest.mark.parametrize(
    "name",
    ["/dev/zero", "../" * 20 + "dev/zero", "data/../../x", "", ".", "./x", "a\\b", "C:x", "x\0y", "zero", "out/x"],
)
def test_a_manifest_cannot_lead_out_of_its_folder(built: Path, name: str) -> None:
    (built / "zero").symlink_to("/dev/zero")
    (built / "out").symlink_to("/etc")
    files = json.loads((built / "manifest.json").read_text())["files"]
    remark(built, files=files | {name: {"sha256": "0" * 64}})
    with pytest.raises(BenchmarkError, match="is in the manifest, but is no path inside the folder"):
        load(built)
    assert load(built, strict=False).recorded_fingerprint == ""


def test_a_data_file_that_is_a_link_out_of_the_folder(built: Path) -> None:
    file = built / "data" / "qrels.parquet"
    file.rename(built.parent / "qrels.parquet")
    file.symlink_to(built.parent / "qrels.parquet")
    with pytest.raises(BenchmarkError, match=r"qrels\.parquet: is in the manifest, but is no path inside the folder"):
        load(built)
    file.unlink()
    file.symlink_to("/dev/zero")
    with pytest.raises(BenchmarkError, match=r"qrels\.parquet: is not a regular file"):
        load(built)


def test_the_hubs_cache_of_links_is_inside(tmp_path: Path, built: Path) -> None:
    cache = tmp_path / "datasets--me--many"
    snapshot = cache / "snapshots" / "abc"
    (cache / "blobs").mkdir(parents=True)
    for n, path in enumerate(p for p in built.rglob("*") if p.is_file()):
        shutil.copy(path, cache / "blobs" / str(n))
        link = snapshot / path.relative_to(built)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(cache / "blobs" / str(n))
    found = load(snapshot)
    assert found.problems == ()
    assert found.recorded_fingerprint == many().fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": 5},
        {"fingerprint": "abc"},
        {"about": 5},
        {"about": {"title": 5}},
        {"about": {"title": "half \ud800"}},
        {"name": None},
        {"files": []},
        {"files": {"data/qrels.parquet": "0"}},
        {"files": {"data/qrels.parquet": {"sha256": 0}}},
        {"problems": None},
    ],
)
def test_a_manifest_of_wrong_values_is_a_fault(built: Path, change: dict[str, Any]) -> None:
    remark(built, **change)
    with pytest.raises(BenchmarkError, match=r"manifest\.json: is not a manifest"):
        load(built)
    assert load(built, strict=False).fingerprint == many().fingerprint


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, "\ufeff{}", ""])
def test_a_manifest_that_is_no_json_is_a_fault(built: Path, text: str) -> None:
    (built / "manifest.json").write_text(text)
    with pytest.raises(BenchmarkError, match="is not a manifest"):
        load(built)
    (built / "manifest.json").unlink()
    (built / "manifest.json").mkdir()
    with pytest.raises(BenchmarkError, match="is not a manifest"):
        load(built)


def test_a_corpus_on_disk_keeps_no_more_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked up stays in memory up to a limit; what is iterated over leaves nothing behind."""
    from canlegalrag.layouts import _corpus

    rows = [{"_id": f"d{n}", "title": "", "text": "x" * 100 + str(n)} for n in range(40)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "corpus.parquet", row_group_size=4)
    documents = _corpus.Documents([tmp_path / "corpus.parquet"])
    monkeypatch.setattr(_corpus, "_CACHED", 1_000)  # two row groups of four documents of some 100 characters
    assert [document.id for document in documents.values()] == [f"d{n}" for n in range(40)]
    assert not documents._cache and len(documents.values()) == 40
    for n in (0, 39, 17, 0, 21, 39, 5):
        assert documents[f"d{n}"].text == "x" * 100 + str(n)
        assert len(documents._cache) <= 2
        assert documents._cached == sum(len(row["text"]) for group in documents._cache.values() for row in group)
    assert next(reversed(documents._cache)) == 1  # the group of d5 was used last


def test_threads_that_share_a_corpus_read_it_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyarrow mixes up what two threads read of one file at once: a stream and look-ups then fail now and then."""
    rows = [{"_id": f"d{i}", "title": "", "text": f"text {i}"} for i in range(40)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "corpus.parquet", row_group_size=10)
    documents = Documents([tmp_path / "corpus.parquet"])
    read, inside, met = pq.ParquetFile.read_row_group, threading.Semaphore(1), []

    def alone(self: Any, *args: Any, **options: Any) -> Any:
        met.append(inside.acquire(blocking=False))
        try:
            time.sleep(0.01)  # for the others to come
            return read(self, *args, **options)
        finally:
            if met[-1]:
                inside.release()

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", alone)
    with ThreadPoolExecutor(6) as pool:
        streams = [pool.submit(lambda: [d.text for d in documents.values()]) for _ in range(3)]
        found = [pool.submit(lambda i=i: documents[f"d{i}"].text) for i in range(0, 40, 5)]
    assert all(one.result() == [row["text"] for row in rows] for one in streams)
    assert [one.result() for one in found] == [f"text {i}" for i in range(0, 40, 5)]
    assert len(met) == 3 * 4 + 4 and all(met)
