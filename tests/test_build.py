"""The dataset repository: the committed one is what the sample builds, and every one-liner of the README works."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from canlegalrag.benchmark import Benchmark, load
from canlegalrag.build import build
from canlegalrag.errors import InputError
from canlegalrag.layouts.parquet import CONFIGS
from canlegalrag.types import Document, Query

REPOSITORY = Path(__file__).parents[1] / "hf_dataset"


def tiny() -> Benchmark:
    documents = {"a": Document("a", "A", "x"), "b": Document("b", "B", "y")}
    return Benchmark("tiny", documents, {"q": Query("q", "?")}, {"q": {"a": 1}})


def test_the_committed_repository_is_what_the_sample_builds(tmp_path: Path) -> None:
    build(load("sample"), tmp_path / "again")
    made, committed = tmp_path / "again", REPOSITORY
    names = sorted(str(p.relative_to(made)) for p in made.rglob("*") if p.is_file())
    assert names == sorted(str(p.relative_to(committed)) for p in committed.rglob("*") if p.is_file())
    for name in names:
        if name.endswith(".parquet"):
            assert pq.read_table(made / name).equals(pq.read_table(committed / name)), (
                f"{name}: canlegalrag build sample"
            )
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in (made, committed)]
    if manifests[0]["made_with"] == manifests[1]["made_with"]:  # other versions compress differently
        assert manifests[0] == manifests[1]
        assert (made / "README.md").read_text() == (committed / "README.md").read_text()
    assert manifests[0]["fingerprint"] == manifests[1]["fingerprint"] == load("sample").fingerprint


def test_no_python_and_no_second_copy() -> None:
    assert not list(REPOSITORY.rglob("*.py"))
    assert set(CONFIGS["corpus"]) == set(CONFIGS["gold_documents"]) | set(CONFIGS["distractors"])
    manifest = json.loads((REPOSITORY / "manifest.json").read_text())
    assert {n for names in CONFIGS.values() for n in names} == set(manifest["files"])


def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(InputError, match="exists and was not built by canlegalrag"):
        build(tiny(), tmp_path)
    assert (tmp_path / "precious.txt").read_text() == "x"


def test_a_failed_build_leaves_the_old_one(tmp_path: Path) -> None:
    build(tiny(), tmp_path / "out")
    before = (tmp_path / "out" / "manifest.json").read_text()

    def fail(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(tiny(), tmp_path / "out", progress=fail)
    assert (tmp_path / "out" / "manifest.json").read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_building_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    build(tiny(), tmp_path / "one")
    build(tiny(), tmp_path / "two")
    build(tiny(), tmp_path / "two")
    for path in (tmp_path / "one").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`datasets` without a network and with a cache of its own."""
    datasets = pytest.importorskip("datasets", reason="needs the extra `metrics`")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(REPOSITORY, "hf_dataset")
    yield datasets


third_party = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


@third_party
def test_load_dataset_gives_the_queries(offline: Any) -> None:
    found = offline.load_dataset("hf_dataset")
    assert list(found) == ["test"]
    assert found["test"].num_rows == 64
    assert found["test"][0]["_id"] == "b1-q1"
    assert found["test"][0]["same_facts"] is True


@third_party
def test_load_dataset_gives_the_corpus(offline: Any) -> None:
    corpus = offline.load_dataset("hf_dataset", "corpus", split="test")
    sample = load("sample")
    assert {row["_id"]: row["text"] for row in corpus} == {d.id: d.text for d in sample.documents.values()}
    gold = offline.load_dataset("hf_dataset", "gold_documents", split="test")
    distractors = offline.load_dataset("hf_dataset", "distractors", split="test")
    assert set(gold["_id"]) == sample.gold
    assert gold.num_rows + distractors.num_rows == corpus.num_rows
    assert str(corpus.features["citations"]) == "List(Value('string'))"
    assert str(corpus.features["year"]) == "Value('int16')"


@third_party
def test_load_dataset_streams_the_qrels(offline: Any) -> None:
    stream = offline.load_dataset("hf_dataset", "qrels", streaming=True)
    qrels: dict[str, dict[str, int]] = {}
    for row in stream["test"]:
        qrels.setdefault(row["query-id"], {})[row["corpus-id"]] = row["score"]
    assert qrels == load("sample").qrels


@third_party
@pytest.mark.parametrize("config", sorted(CONFIGS))
def test_every_config_loads_with_the_rows_of_the_manifest(offline: Any, config: str) -> None:
    manifest = json.loads(Path("hf_dataset/manifest.json").read_text())
    rows = sum(manifest["files"][name]["rows"] for name in CONFIGS[config])
    assert offline.load_dataset("hf_dataset", config, split="test").num_rows == rows > 0


def test_the_readmes_one_liners_in_a_fresh_process(tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="needs the extra `metrics`")
    import subprocess
    import sys

    shutil.copytree(REPOSITORY, tmp_path / "hf_dataset")
    code = (
        "from datasets import load_dataset\n"
        "print(load_dataset('hf_dataset')['test'].num_rows)\n"
        "print(load_dataset('hf_dataset', 'corpus', split='test').num_rows)\n"
        "print(next(iter(load_dataset('hf_dataset', 'qrels', streaming=True)['test']))['query-id'])\n"
    )
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["64", str(len(load("sample").documents)), "b1-q1"]


@third_party
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_mtebs_loader_reads_the_folder_unchanged(offline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loaders = pytest.importorskip("mteb.abstasks.retrieval_dataset_loaders", reason="needs mteb")
    loader = loaders.RetrievalDatasetLoader("hf_dataset", revision="main", split="test")
    data = loader.load()
    sample = load("sample")
    assert data["relevant_docs"] == sample.qrels
    assert dict(zip(data["queries"]["id"], data["queries"]["text"], strict=True)) == {
        q.id: q.text for q in sample.queries.values()
    }
    assert dict(zip(data["corpus"]["id"], data["corpus"]["text"], strict=True)) == {
        d.id: d.text for d in sample.documents.values()
    }
