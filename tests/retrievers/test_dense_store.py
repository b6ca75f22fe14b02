"""The folder of a dense index: resumed to the byte, one writer at a time, nothing of another corpus, damage found."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from canlegalrag.errors import CallError, InputError
from canlegalrag.retrievers import dense_store
from canlegalrag.retrievers.dense import Dense
from canlegalrag.types import Document

DIMENSIONS, N = 8, 5 * dense_store.SHARD + 300

# What a process of its own needs to build the same index; it may be slow, or fail, after some shards.
SCRIPT = """
import hashlib, sys, time
import numpy as np
from canlegalrag.retrievers.dense import Dense
from canlegalrag.types import Document

class Hashed:
    identity = {"model": "test/hashed", "dimensions": 8}
    slow = fail = None
    calls = 0

    def __init__(self):
        self.counts = {"texts": 0}

    def embed(self, texts, *, kind):
        self.calls += 1
        if self.fail is not None and self.calls > self.fail:
            raise RuntimeError("out of power")
        self.counts["texts"] += len(texts)
        if self.slow:
            print(self.calls, flush=True)
            time.sleep(self.slow)
        bits = [np.frombuffer(hashlib.sha256(t.encode()).digest(), np.uint32) for t in texts]
        rows = np.array(bits, dtype=np.float64) - 2**31
        rows *= np.array([[bool(t.strip())] for t in texts])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=rows, where=lengths > 0).astype(np.float32)

def halves(document):
    n = len(document.text)
    return [(at, min(n, at + 4)) for at in range(0, n, 4)]

def corpus(n):
    documents, passages, i = {}, 0, 0
    while passages < n:
        text = f"{i:04d}" * (i % 7) if i % 5 else "    " * (i % 2)
        documents[f"d{i}"] = Document(f"d{i}", "", text)
        passages += len(halves(documents[f"d{i}"]))
        i += 1
    return documents
"""
_shared: dict = {}
exec(SCRIPT, _shared)
Hashed, halves, make = _shared["Hashed"], _shared["halves"], _shared["corpus"]


@pytest.fixture(scope="module")
def documents():
    return make(N)


@pytest.fixture(scope="module")
def undisturbed(documents, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "index"
    Dense.build(documents, Hashed(), folder, passages=halves)
    return folder


@pytest.fixture
def index(undisturbed, tmp_path):
    shutil.copytree(undisturbed, tmp_path / "index")
    return tmp_path / "index"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


def start(folder: Path, slow: float) -> subprocess.Popen:
    code = textwrap.dedent(f"""
        embedder = Hashed()
        embedder.slow = {slow}
        dense = Dense.build(corpus({N}), embedder, {str(folder)!r}, passages=halves)
        print("calls", embedder.calls, len(dense.search(["0001"], 10)[0]))
    """)
    command = [sys.executable, "-c", SCRIPT + code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_what_the_folder_holds(undisturbed, documents):
    names = {"ids.json", "sizes.npy", "firsts.npy", "passages.npy", "blank.npy", "vectors.npy", "meta.json"}
    assert set(contents(undisturbed)) == names
    dense = Dense.open(undisturbed, Hashed(), documents)
    spans = [span for document in documents.values() for span in halves(document)]
    assert dense.index.spans.tolist() == [list(span) for span in spans]
    assert np.diff(dense.index.firsts).tolist() == [len(halves(d)) for d in documents.values()]
    texts = [d.text[a:b] for d in documents.values() for a, b in halves(d)]
    assert np.array_equal(dense.index.vectors, Hashed().embed(texts, kind="document"))
    assert dense.index.blank.tolist() == [n for n, text in enumerate(texts) if not text.strip()] != []
    assert dense.index.ids == tuple(documents)
    dense.verify()


def test_killed_and_resumed_it_is_the_same_to_the_byte(undisturbed, tmp_path):
    folder = tmp_path / "index"
    with start(folder, 0.2) as process:
        for line in process.stdout:
            if line.strip() == "4":
                time.sleep(0.05)  # in the middle of a shard
                break
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    with pytest.raises(InputError, match="is not finished"):
        Dense.open(folder, Hashed())
    done = len((folder / "building.jsonl").read_text().splitlines()) - 1
    assert done == 3
    embedder, steps = Hashed(), []
    Dense.build(make(N), embedder, folder, passages=halves, progress=steps.append)
    assert embedder.calls == 6 - done
    assert Dense.open(folder, embedder).index.counts == {"texts": sum(len(halves(d)) for d in make(N).values())}
    assert steps == sorted(steps) and len(steps) == 1 + 6 - done and steps[-1] == len(make(N))
    assert contents(folder) == contents(undisturbed)


@pytest.mark.parametrize("fail", range(6))
def test_failed_at_any_shard_and_torn_anywhere(undisturbed, documents, tmp_path, fail):
    embedder = Hashed()
    embedder.fail = fail
    with pytest.raises(RuntimeError, match="out of power"):
        Dense.build(documents, embedder, tmp_path, passages=halves)
    record = tmp_path / "building.jsonl"
    record.write_bytes(record.read_bytes()[:-3] + b"" if fail % 2 else record.read_bytes() + b'{"shard": 9')
    if fail == 4:  # what a power cut may leave: a shard that was recorded and isn't there
        with (tmp_path / "vectors.npy").open("r+b") as file:
            file.seek(128 + dense_store.SHARD * DIMENSIONS * 4 + 5)
            file.write(b"\0\0\0\0")
    Dense.build(documents, Hashed(), tmp_path, passages=halves)
    assert contents(tmp_path) == contents(undisturbed)


def test_two_processes_at_once(undisturbed, tmp_path):
    with start(tmp_path / "index", 0.05) as first, start(tmp_path / "index", 0.05) as second:
        lines = [process.communicate(timeout=100) for process in (first, second)]
    assert all(not errors for _, errors in lines), lines
    calls = sorted(int(out.split("calls ")[1].split()[0]) for out, _ in lines)
    assert calls == [0, 6]  # one embeds all six shards, the other none
    assert contents(tmp_path / "index") == contents(undisturbed)


def test_complete_it_is_opened_and_nothing_is_embedded(index, documents):
    before = contents(index)
    embedder, steps = Hashed(), []
    Dense.build(documents, embedder, index, passages=halves, progress=steps.append)
    assert embedder.calls == 0 and contents(index) == before
    (index / "building.jsonl").write_text("left by a kill after the last step\n")
    Dense.build(documents, embedder, index, passages=halves)
    assert contents(index) == before


def other_identity():
    embedder = Hashed()
    embedder.identity = {"model": "test/hashed", "dimensions": 9}
    return embedder


@pytest.mark.parametrize("unfinished", [False, True])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda a: a | {"embedder": other_identity()}, "another embedder: dimensions 8, not 9"),
        (lambda a: a | {"documents": dict(list(a["documents"].items())[1:])}, "another corpus"),
        (lambda a: a | {"documents": dict(reversed(a["documents"].items()))}, "another corpus"),
        (lambda a: a | {"documents": a["documents"] | {"d9": Document("d9", "", "0008" * 2)}}, "another corpus"),
        (lambda a: a | {"dtype": "float16"}, "another dtype"),
        (lambda a: a | {"title": True}, "another title option"),
        (lambda a: a | {"passages": None}, "another choice between passages and whole"),
        (lambda a: a | {"passages": lambda d: halves(d)[1:]}, "another cut into passages"),
    ],
)
def test_an_index_of_anything_else_is_refused(undisturbed, documents, tmp_path, change, said, unfinished):
    folder = tmp_path / "index"
    if unfinished:
        embedder = Hashed()
        embedder.fail = 2
        with pytest.raises(RuntimeError):
            Dense.build(documents, embedder, folder, passages=halves)
    else:
        shutil.copytree(undisturbed, folder)
    before = contents(folder)
    asked = change(
        {"documents": documents, "embedder": Hashed(), "passages": halves, "dtype": "float32", "title": False}
    )
    with pytest.raises(InputError, match=said):
        Dense.build(asked.pop("documents"), asked.pop("embedder"), folder, **asked)
    assert contents(folder) == before


def test_another_embedder_is_refused_on_opening(index):
    with pytest.raises(InputError, match="another embedder: dimensions 8, not 9"):
        Dense.open(index, other_identity())


@pytest.mark.parametrize("name", ["ids.json", "sizes.npy", "firsts.npy", "passages.npy", "blank.npy"])
def test_a_flipped_byte_in_a_small_file_is_found_on_opening(index, name):
    path = index / name
    data = path.read_bytes()
    for at in (0, 70, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        with pytest.raises(InputError, match="is damaged"):
            Dense.open(index, Hashed())
    path.write_bytes(data[:-1])
    with pytest.raises(InputError, match="bytes"):
        Dense.open(index, Hashed())
    path.unlink()
    with pytest.raises(InputError, match="is damaged"):
        Dense.open(index, Hashed())


def test_a_flipped_byte_in_the_vectors_is_found(index, monkeypatch):
    path = index / "vectors.npy"
    data = path.read_bytes()
    for at in (1, 20, 128, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(InputError, match="is damaged"):
            Dense.open(index, Hashed())
    monkeypatch.setattr(dense_store, "_SAMPLE", 2)  # opening looks at the first shard and the last
    path.write_bytes(data[: len(data) // 2] + b"\0" + data[len(data) // 2 + 1 :])
    dense = Dense.open(index, Hashed())
    with pytest.raises(InputError, match="vectors 2048 to 3071 changed"):
        dense.verify()
    path.write_bytes(data[:-4])
    with pytest.raises(InputError, match="bytes"):
        Dense.open(index, Hashed())


@pytest.mark.parametrize(
    "change",
    [
        lambda m: "[",
        lambda m: "[]",
        lambda m: json.dumps(m | {"format": "other"}),
        lambda m: json.dumps(m | {"version": 0}),
        lambda m: json.dumps({k: v for k, v in m.items() if k != "files"}),
        lambda m: json.dumps({k: v for k, v in m.items() if k != "vectors"}),
        lambda m: json.dumps(m | {"files": {"../../etc/passwd": [1, ""]}}),
        lambda m: json.dumps(m | {"files": 3}),
        lambda m: json.dumps(m | {"passages": 3}),
        lambda m: json.dumps(m | {"dimensions": "8"}),
        lambda m: json.dumps(m | {"shard": 512}),
        lambda m: json.dumps(m | {"vectors": m["vectors"][1:]}),
        lambda m: json.dumps(m | {"files": {n: v for n, v in m["files"].items() if n != "firsts.npy"}}),
    ],
)
def test_a_damaged_meta_is_refused(index, change):
    path = index / "meta.json"
    path.write_text(change(json.loads(path.read_text())))
    with pytest.raises(InputError):
        Dense.open(index, Hashed())


def test_folders_of_others_are_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    for folder in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(InputError, match="is in the way"):
            Dense.build(make(10), Hashed(), folder, passages=halves)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(InputError, match="is not a dense index"):
        Dense.open(tmp_path, Hashed())
    with pytest.raises(InputError, match="is not a dense index"):
        Dense.open(tmp_path / "none", Hashed())


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ({}, "there are none"),
        ({"a": Document("b", "", "x")}, "is the key of document 'b'"),
        ({"a": "text"}, "is str"),
        ({"a": Document("a", "", None)}, "text is NoneType"),
        ({" ": Document(" ", "", "x")}, "is blank"),
        ([Document("a", "", "x")], "give a mapping"),
    ],
)
def test_bad_documents(tmp_path, documents, said):
    with pytest.raises(InputError, match=said):
        Dense.build(documents, Hashed(), tmp_path)


@pytest.mark.parametrize("spans", [[(0, 9)], [(-1, 1)], [(2, 1)]])
def test_bad_passages(tmp_path, spans):
    with pytest.raises(InputError, match="is outside"):
        Dense.build({"a": Document("a", "", "abc")}, Hashed(), tmp_path, passages=lambda d: spans)


def test_odd_letters(tmp_path):
    """Offsets count characters; half a surrogate pair can't be encoded, and is kept all the same."""
    documents = {"é 😀": Document("é 😀", "", "𝒜bc\ud800dé\u0301f")}
    dense = Dense.build(documents, WithHalves(), tmp_path, passages=halves)
    hits = Dense.open(tmp_path, WithHalves(), documents).search(["x"], 5)[0]
    assert {hit.passage.text for hit in hits} == {"𝒜bc\ud800", "dé\u0301f"} and dense.index.ids == ("é 😀",)
    with pytest.raises(InputError, match="float64"):
        Dense.build(documents, WithHalves(), tmp_path, passages=halves, dtype="float64")


class WithHalves(Hashed):
    def embed(self, texts, *, kind):
        return super().embed([text.encode("utf-8", "replace").decode() for text in texts], kind=kind)


def test_dimensions_may_not_change_between_shards(tmp_path):
    class Changing(Hashed):
        def embed(self, texts, *, kind):
            rows = super().embed(texts, kind=kind)
            return rows if self.calls == 1 else np.concatenate([rows, 0 * rows], axis=1)

    with pytest.raises(CallError, match="16 dimensions where there were 8"):
        Dense.build(make(2000), Changing(), tmp_path, passages=halves)
