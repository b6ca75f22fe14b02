"""The dataset repository: the committed one is what the sample builds, and every one-liner of the README works."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from canlegalrag.benchmark import Benchmark, load
from canlegalrag.build import build
from canlegalrag.errors import InputError
from canlegalrag.layouts.parquet import CONFIGS
from canlegalrag.types import Answer, Claim, Document, LabelledPair, Query

REPOSITORY = Path(__file__).parents[1] / "hf_dataset"


def tiny() -> Benchmark:
    documents = {"a": Document("a", "A", "x"), "b": Document("b", "B", "y")}
    return Benchmark("tiny", documents, {"q": Query("q", "?")}, {"q": {"a": 1}})


def judged() -> Benchmark:
    """With claims and labelled pairs."""
    claims = {"q": (Claim("q", "reference", 0, "Il pleut.", 0, 4), Claim("q", "reference", 1, "Il neige aussi."))}
    pairs = (LabelledPair("p", "y", "b", 0, 1, "y", "contradicted", "negation", "l’inverse"),)
    return replace(tiny(), answers={"q": Answer("q", "Oui. Sûr.")}, claims=claims, pairs=pairs)


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


def files() -> set[str]:
    return set(json.loads((REPOSITORY / "manifest.json").read_text())["files"])


def published() -> dict[str, tuple[str, ...]]:
    """Configs of the committed repository."""
    return {config: names for config, names in CONFIGS.items() if set(names) <= files()}


def test_no_python_and_no_second_copy() -> None:
    assert not list(REPOSITORY.rglob("*.py"))
    assert set(CONFIGS["corpus"]) == set(CONFIGS["gold_documents"]) | set(CONFIGS["distractors"])
    assert {n for names in published().values() for n in names} == files()


def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(InputError, match="exists and was not built by canlegalrag"):
        build(tiny(), tmp_path)
    assert (tmp_path / "precious.txt").read_text() == "x"


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


BROWSER = {"name": "My extension", "manifest_version": 3}
ANOTHERS = {"name": "x", "about": {}, "fingerprint": "0" * 64, "files": {}, "problems": []}


@pytest.mark.parametrize(
    "manifest",
    [
        BROWSER,
        [],
        5,
        ANOTHERS,
        ANOTHERS | {"made_with": "canlegalrag"},
        ANOTHERS | {"made_with": {"canlegalrag": 1}},
        ANOTHERS | {"made_with": {"canlegalrag": "0.1.0"}, "fingerprint": 5},
    ],
)
def test_a_manifest_of_something_else_is_no_leave_to_replace(tmp_path: Path, manifest: Any) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "README.md").write_text("mine")
    before = everything(tmp_path)
    with pytest.raises(InputError, match="exists and was not built by canlegalrag"):
        build(tiny(), tmp_path)
    assert everything(tmp_path) == before


def test_only_files_of_a_build_are_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(tiny(), out)
    for name in (".git/HEAD", "NOTES.md", "data/mine.parquet", "data/corpus/old.parquet"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(name)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["files"]["data/corpus/old.parquet"] = {"sha256": ""}  # an earlier version wrote it
    (out / "manifest.json").write_text(json.dumps(manifest))
    build(load("sample"), out)
    held = everything(out)
    assert not (out / "data" / "corpus" / "old.parquet").exists()
    for name in (".git/HEAD", "NOTES.md", "data/mine.parquet"):
        assert held.pop(name) == name.encode()
    build(load("sample"), tmp_path / "fresh")
    assert held == everything(tmp_path / "fresh")


def test_a_manifest_can_have_no_file_removed_that_a_build_did_not_write(tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(tiny(), out)
    (tmp_path / "precious.parquet").write_text("x")
    (out / "NOTES.md").write_text("x")
    manifest = json.loads((out / "manifest.json").read_text())
    names = ("../precious.parquet", "data/../../precious.parquet", str(tmp_path / "precious.parquet"), "NOTES.md", "")
    manifest["files"] |= {name: {"sha256": ""} for name in names}
    (out / "manifest.json").write_text(json.dumps(manifest))
    build(tiny(), out)
    assert (tmp_path / "precious.parquet").read_text() == (out / "NOTES.md").read_text() == "x"
    assert load(out).recorded_fingerprint == tiny().fingerprint


def test_through_a_link_and_into_the_folder_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for _ in range(2):
        build(tiny(), tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert load(tmp_path / "real").fingerprint == tiny().fingerprint
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for _ in range(2):
        build(tiny(), Path())
        assert load(tmp_path / "here").fingerprint == tiny().fingerprint
    assert everything(tmp_path / "real") == everything(tmp_path / "here")
    assert {p.name for p in tmp_path.iterdir()} == {"real", "link", "here"}
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="loop"):
        build(tiny(), tmp_path / "loop")


@pytest.mark.parametrize("n", range(1, 19))  # eight files of before, two that are new
def test_whatever_move_fails_the_old_files_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    out = tmp_path / "out"
    build(tiny(), out)
    before = everything(out)
    calls = 0
    move = Path.replace

    def failing(self: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == n:
            raise PermissionError(13, "Permission denied")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(InputError, match=r"out: can't be written: .*Permission denied"):
        build(judged(), out)
    monkeypatch.undo()
    assert everything(out) == before
    assert not list(out.glob(".canlegalrag-*"))


def test_a_folder_where_a_file_has_to_be(tmp_path: Path) -> None:
    build(tiny(), tmp_path)
    (tmp_path / "README.md").unlink()
    (tmp_path / "README.md").mkdir()
    (tmp_path / "README.md" / "mine.txt").write_text("x")
    before = everything(tmp_path)
    with pytest.raises(InputError, match=r"README\.md: is a folder where a file has to be"):
        build(load("sample"), tmp_path)
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"documents": {"a": Document("a", "A", "x", year=40_000)}}, "corpus: rows 1 to 1: can't be written: .*40000"),
        ({"documents": {"a": Document("a", "A", "x \ud800")}}, "corpus: rows 1 to 1: can't be written: .*surrogates"),
        ({"documents": {"a": Document("a", "A", ["x"])}}, "corpus: rows 1 to 1: can't be written"),  # type: ignore
        ({"queries": {"q": Query("q", "?", block=1)}}, "queries: rows 1 to 1: can't be written"),  # type: ignore
        ({"qrels": {"q": {"a": 100_000}}}, "qrels: rows 1 to 1: can't be written: .*100000"),
        ({"name": "half \ud800"}, "can't be written: .*surrogates"),
    ],
)
def test_what_arrow_cannot_hold_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(replace(tiny(), **change), tmp_path / "out")
    assert not list(tmp_path.iterdir())


TITLES = ('A: "B" \\ c', "it's # no comment", "two\nlines: x", "- 5", "[x]", "é 法 🙂", "\x07\x85\u2028end", "yes")


@pytest.mark.parametrize("title", TITLES)
def test_the_card_is_yaml_whatever_the_title(tmp_path: Path, title: str) -> None:
    yaml = pytest.importorskip("yaml", reason="comes with datasets")
    documents = {
        "a": Document("a", "A", "x", court="A|B\n", language="no"),
        "b": Document("b", "B", "y", language="a:"),
    }
    for benchmark in (
        replace(tiny(), documents=documents, about={"title": title, "licence": "mit\nfoo: bar"}),
        replace(tiny(), documents=documents, name=title, about={"title": "", "licence": "mit\nfoo: bar"}),
    ):
        build(benchmark, tmp_path / "out")
        _, head, body = (tmp_path / "out" / "README.md").read_text(encoding="utf-8").split("---\n", 2)
        found = yaml.safe_load(head)
        assert found["pretty_name"] == " ".join(title.split()).replace("\x07", "?")
        assert found["license"] == "mit foo: bar"
        assert found["language"] == ["no"]
        assert "foo" not in found
        assert f"# {found['pretty_name']}\n" in body
        assert "A\\|B 1" in body


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
@pytest.mark.parametrize("config", sorted(published()))
def test_every_config_loads_with_the_rows_of_the_manifest(offline: Any, config: str) -> None:
    manifest = json.loads(Path("hf_dataset/manifest.json").read_text())
    rows = sum(manifest["files"][name]["rows"] for name in CONFIGS[config])
    assert offline.load_dataset("hf_dataset", config, split="test").num_rows == rows > 0


@third_party
@pytest.mark.parametrize("streaming", [False, True])
def test_load_dataset_gives_the_claims_and_the_pairs(offline: Any, streaming: bool) -> None:
    build(judged(), Path("made"))
    claims = offline.load_dataset("made", "claims", split="test", streaming=streaming)
    assert list(claims) == [
        {"query_id": "q", "index": 0, "text": "Il pleut.", "start": 0, "end": 4},
        {"query_id": "q", "index": 1, "text": "Il neige aussi.", "start": None, "end": None},
    ]
    pairs = offline.load_dataset("made", "pairs", split="test", streaming=streaming)
    pair = {"id": "p", "claim": "y", "doc_id": "b", "start": 0, "end": 1, "evidence": "y", "label": "contradicted"}
    assert list(pairs) == [{**pair, "kind": "negation", "note": "l’inverse"}]
    assert str(pairs.features["start"]) == str(claims.features["index"]) == "Value('int32')"


@third_party
def test_without_claims_and_pairs_the_other_configs_load(offline: Any) -> None:
    build(tiny(), Path("made"))
    assert sorted(offline.get_dataset_config_names("made")) == sorted(CONFIGS.keys() - {"claims", "pairs"})
    assert offline.load_dataset("made", "queries", split="test").num_rows == 1


def test_claims_and_pairs_come_back_and_go_with_the_next_build(tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(judged(), out)
    found = load(out)
    assert (found.claims, found.pairs, found.problems) == (judged().claims, judged().pairs, ())
    assert found.recorded_fingerprint == judged().fingerprint
    card = (out / "README.md").read_text(encoding="utf-8")
    for line in (
        "| claims of reference answers | 2 |",
        "| labelled pairs | 1 (contradicted 1) |",
        "| `pairs` | a claim",
    ):
        assert line in card
    assert "\n\nClaims are one way" in card and "\n\nLabelled pairs measure judges" in card
    build(replace(judged(), pairs=()), out)
    assert not (out / "data" / "pairs.parquet").exists()
    assert load(out).pairs == () and load(out).claims == judged().claims
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "pair" not in card and "Claims are one way" in card
    build(tiny(), out)
    card = (out / "README.md").read_text(encoding="utf-8")
    assert not {"[claims]", "claims", "pairs"} & set(card.split())
    assert load(out).recorded_fingerprint == tiny().fingerprint


def test_a_file_of_claims_beside_a_build_is_a_fault(tmp_path: Path) -> None:
    build(judged(), tmp_path / "one")
    build(tiny(), tmp_path / "two")
    shutil.copy(tmp_path / "one/data/pairs.parquet", tmp_path / "two/data")
    found = load(tmp_path / "two", strict=False)
    assert [p.what for p in found.problems] == ["is not in the manifest, but is read"]
    (tmp_path / "one/data/claims.parquet").unlink()
    said = [p.what for p in load(tmp_path / "one", strict=False).problems]
    assert said == ["is in the manifest but not in the folder"]


def test_the_readmes_one_liners_in_a_fresh_process(tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="needs the extra `metrics`")
    import subprocess
    import sys

    shutil.copytree(REPOSITORY, tmp_path / "hf_dataset")
    code = (
        "from datasets import load_dataset\n"
        "print(load_dataset('hf_dataset')['test'].num_rows)\n"
        "print(load_dataset('hf_dataset', 'corpus', split='test').num_rows)\n"
        # Read to its end: where a stream is left half-read, pyarrow's threads now and then abort a busy machine's exit.
        "print(list(load_dataset('hf_dataset', 'qrels', streaming=True)['test'])[0]['query-id'])\n"
    )
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["64", str(len(load("sample").documents)), "b1-q1"]


@third_party
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_mtebs_loader_reads_the_folder_unchanged(offline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loaders = pytest.importorskip("mteb.abstasks.retrieval_dataset_loaders", reason="needs mteb")
    build(judged(), Path("made"))
    made = loaders.RetrievalDatasetLoader("made", revision="main", split="test").load()
    assert (made["relevant_docs"], made["queries"]["text"][:]) == (tiny().qrels, ["?"])
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


def test_queries_keep_their_data_set_and_files_without_that_column_have_none(tmp_path: Path) -> None:
    named = replace(tiny(), queries={"q": Query("q", "?", dataset="maud")})
    build(named, tmp_path / "out")
    assert load(tmp_path / "out").queries == named.queries
    path = tmp_path / "out" / "data" / "queries.parquet"
    older = pq.read_table(path).drop_columns(["dataset"])
    (tmp_path / "out" / "manifest.json").unlink()
    pq.write_table(older, path)
    assert load(tmp_path / "out").queries == tiny().queries
    assert "| data sets | maud 1 |" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "data sets" not in (REPOSITORY / "README.md").read_text(encoding="utf-8").split("## What it holds")[1]
