"""LegalBench-RAG read as published, with every trap of its files, and its mini by the published rule."""

import hashlib
import json
import os
import random
import shutil
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.benchmark import Benchmark, load
from canlegalrag.build import build
from canlegalrag.errors import BenchmarkError, InputError
from canlegalrag.layouts import legalbenchrag
from canlegalrag.layouts._contracts import read_texts
from canlegalrag.retrievers.bm25 import BM25

TEXTS = {
    "cuad/A||B: 50% off.txt": "\ufeffThe agreement ends.\nIt may be renewed.",
    "cuad/LECLANCHÉ S.A.  x.txt": "Leclanché sells batteries.",
    "contractnli/The%20Munt.txt": "Nobody may tell.",
    "maud/m.txt": "The merger closes.",
    "privacy_qa/P.txt": "We keep data.\nWe share data.",
}


def snippet(path: str, answer: str, at: int | None = None) -> dict[str, Any]:
    start = TEXTS[path].index(answer) if at is None else at
    return {"file_path": path, "span": [start, start + len(answer)], "answer": answer}


def asked() -> dict[str, list[dict[str, Any]]]:
    return {
        "privacy_qa": [
            {"query": "Is data kept?", "snippets": [snippet("privacy_qa/P.txt", "We keep data.")]},
            {"query": "Is data kept?", "snippets": [snippet("privacy_qa/P.txt", "We share data.")]},
        ],
        "contractnli": [{"query": "Secret?", "snippets": [snippet("contractnli/The%20Munt.txt", "Nobody")]}],
        "maud": [{"query": "When?", "snippets": [snippet("maud/m.txt", "closes")], "tags": ["x"]}],
        "cuad": [
            {
                "query": "Which term?",
                "snippets": [
                    snippet("cuad/A||B: 50% off.txt", "renewed"),
                    snippet("cuad/A||B: 50% off.txt", "ends"),
                    snippet("cuad/LECLANCHÉ S.A.  x.txt", "Leclanché"),
                ],
            }
        ],
    }


def write_queries(folder: Path, given: dict[str, Any] | None = None, part: str = "benchmarks") -> Path:
    for name, each in (asked() if given is None else given).items():
        path = folder / part / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"tests": each}, ensure_ascii=name == "maud", indent=4), encoding="utf-8")
    return folder


def write_files(folder: Path, texts: dict[str, bytes] | None = None) -> Path:
    for name, text in (texts or {name: text.encode() for name, text in TEXTS.items()}).items():
        path = folder / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    return folder


def write_table(folder: Path, texts: dict[str, str] | None = None) -> Path:
    texts = TEXTS if texts is None else texts
    table = pa.table({"_id": list(texts), "title": [""] * len(texts), "text": list(texts.values())})
    pq.write_table(table, folder / "corpus.parquet")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_table(write_queries(tmp_path))


def said(benchmark: Benchmark) -> list[str]:
    """Problems but those that every small folder has."""
    usual = ("is another version than the published", "hold spaces")
    return [str(p) for p in benchmark.problems if not any(u in p.what for u in usual)]


def faults(folder: Path, **options: Any) -> list[str]:
    with pytest.raises(BenchmarkError) as caught:
        load("legalbenchrag", root=folder, **options)
    return [str(p) for p in caught.value.problems]


def test_the_small_folder(folder: Path) -> None:
    found = load("legalbenchrag", root=folder)
    assert {d.id: d.text for d in found.documents.values()} == TEXTS
    assert list(found.documents) == sorted(TEXTS)
    assert found.documents["contractnli/The%20Munt.txt"].title == "The%20Munt"
    assert found.documents["privacy_qa/P.txt"].licence == "MIT"
    assert list(found.queries) == ["privacy_qa-000", "privacy_qa-001", "contractnli-000", "maud-0000", "cuad-0000"]
    assert found.queries["cuad-0000"].block == "cuad/A||B: 50% off.txt"
    assert Counter(found.labels("dataset").values()) == {"privacy_qa": 2, "contractnli": 1, "maud": 1, "cuad": 1}
    assert found.qrels["cuad-0000"] == {"cuad/A||B: 50% off.txt": 1, "cuad/LECLANCHÉ S.A.  x.txt": 1}
    assert [s.text for s in found.snippets if s.query_id == "cuad-0000"] == ["renewed", "ends", "Leclanché"]
    assert all(found.documents[s.doc_id].text[s.start : s.end] == s.text for s in found.snippets)
    assert said(found) == [] and found.name == "legalbenchrag"
    assert [str(p) for p in found.problems if "spaces" in p.what] == [
        "ids: 2 hold spaces (write runs as JSON Lines: a TREC run can't carry them)"
    ]


def test_every_way_to_name_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = load("legalbenchrag", root=folder)
    assert load(folder) == load(f"legalbenchrag:{folder}") == load("legalbenchrag", root=str(folder)) == whole
    some = load("legalbenchrag", root=folder, subsets=["cuad", "privacy_qa"])
    assert list(some.queries) == ["privacy_qa-000", "privacy_qa-001", "cuad-0000"]
    assert some.documents == whole.documents  # a data set scores in a subset what it scores in the whole
    assert some.queries["cuad-0000"] == whole.queries["cuad-0000"]
    assert some.name == "legalbenchrag/privacy_qa+cuad"
    assert load(f"legalbenchrag/cuad+privacy_qa:{folder}") == some == load("legalbenchrag/cuad+privacy_qa", root=folder)
    small = load("legalbenchrag-mini", root=folder)
    assert load(f"legalbenchrag-mini:{folder}") == small and small.name == "legalbenchrag-mini"
    assert list(load(f"legalbenchrag-mini/maud:{folder}").queries) == ["maud-mini-000"]
    (folder.parent / "x:y").mkdir()
    with pytest.raises(InputError, match="not a benchmark: holds nothing"):
        load(folder.parent / "x:y")
    monkeypatch.chdir(folder.parent)
    shutil.copytree(folder, "legalbenchrag")
    assert load("legalbenchrag").queries == whole.queries  # a folder of that name
    assert load("legalbenchrag:legalbenchrag").queries == whole.queries


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("legalbenchrag", {}, r"legalbenchrag: the folder where it lies is not said \(load\('legalbenchrag', root=FO"),
        ("legalbenchrag-mini", {}, "the folder where it lies is not said"),
        ("legalbenchrag:", {}, "the folder where it lies is not said"),
        ("legalbenchrag:/nowhere/at/all", {}, "/nowhere/at/all: no such folder"),
        ("legalbenchrag/maud", {}, "the folder where it lies is not said"),
        ("legalbenchrag-mini/maud+cuad", {}, "the folder where it lies is not said"),
        ("legalbenchrag/" + "maud+" * 99 + "maud", {}, "the folder where it lies is not said"),
        ("legalbenchrag/maud,cuad:.", {}, r"'maud,cuad' is no data set .*\(write maud\+cuad\)"),
        ("legalbenchrag:owner/name", {}, "owner/name: no such folder"),  # never asked of the Hub
        ("legalbenchrag", {"root": "owner/name"}, "owner/name: no such folder"),
        ("legalbenchrag", {"root": "sample"}, "sample: no such folder"),
        ("legalbenchrag", {"root": ".", "revision": "v1"}, "revision: is for the Hub"),
        ("LegalBenchRAG:/x/y/z", {}, r"no such folder \(give `sample`, a folder, legalbenchrag:FOLDER"),
        ("legalbenchrag:x", {"root": "."}, "folder or data sets are said twice"),
        ("legalbenchrag/maud", {"root": ".", "subsets": ["maud"]}, "folder or data sets are said twice"),
        ("sample", {"root": "."}, "root: is for legalbenchrag, not for 'sample'"),
        ("sample", {"subsets": ["maud"]}, "subsets: is for legalbenchrag"),
        ("legalbenchrag", {"root": ".", "subsets": []}, "subsets: names no data set"),
        ("legalbenchrag", {"root": ".", "subsets": "maud"}, "subsets: a str stands where a list should"),
        ("legalbenchrag", {"root": ".", "subsets": ["Maud"]}, r"'Maud' is no data set .*did you mean 'maud'"),
        ("legalbenchrag/:.", {}, "'' is no data set"),
        ("legalbenchrag-mini/maud+xyzw:.", {}, r"'xyzw' is no data set .*some of privacy_qa, contractnli, maud, cuad"),
        ("legalbenchrag", {"root": "."}, r"holds none of benchmarks/privacy_qa\.json, .*benchmarks/cuad\.json"),
    ],
)
def test_what_names_nothing(
    source: str, options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        load(source, **options)


def test_a_folder_without_texts(tmp_path: Path) -> None:
    write_queries(tmp_path)
    with pytest.raises(InputError, match=r"holds neither corpus/ nor corpus\.parquet"):
        load(tmp_path)


# --- texts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", [b"\r\n", b"\r", b"\n"])
def test_line_ends_become_lf_before_offsets_count(folder: Path, tmp_path: Path, ends: bytes) -> None:
    whole = load(folder)
    (tmp_path / "corpus.parquet").unlink()
    write_files(tmp_path, {name: text.encode().replace(b"\n", ends) for name, text in TEXTS.items()})
    assert load(tmp_path) == whole  # documents, spans, fingerprint: all
    shutil.rmtree(tmp_path / "corpus")
    write_table(tmp_path, {name: text.replace("\n", ends.decode()) for name, text in TEXTS.items()})
    assert load(tmp_path) == whole


def test_other_breaks_are_left(tmp_path: Path) -> None:
    odd = "a\x0bb\x0cc\x85d\u2028e\u2029f\n\r\n\n\rg"
    write_files(tmp_path, {"maud/m.txt": odd.encode()})
    assert read_texts(tmp_path, {}, [], named_only=False) == {"maud/m.txt": "a\x0bb\x0cc\x85d\u2028e\u2029f\n\n\n\ng"}


@given(st.text(st.sampled_from("a\r\n\ufeffé\U0001f600"), max_size=12))
def test_texts_are_what_python_reads(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """The published loader opens each file as text in UTF-8: that is the oracle."""
    home = tmp_path_factory.mktemp("corpus")
    write_files(home, {"maud/m.txt": text.encode()})
    assert read_texts(home, {}, [], named_only=False) == {"maud/m.txt": (home / "corpus/maud/m.txt").read_text("utf-8")}


def test_a_byte_order_mark_is_a_character(tmp_path: Path) -> None:
    found = load(write_files(write_queries(tmp_path)))
    document = found.documents["cuad/A||B: 50% off.txt"]
    assert document.text.startswith("\ufeffThe")
    assert [(s.start, s.text) for s in found.snippets if s.doc_id == document.id] == [(31, "renewed"), (15, "ends")]


def on_disk(kind: str) -> dict[str, bytes]:
    change = {
        "own": str,
        "decomposed": lambda name: unicodedata.normalize("NFD", name),
        "safe": legalbenchrag.safe_name,
        "safe, decomposed": lambda name: legalbenchrag.safe_name(unicodedata.normalize("NFD", name)),
    }[kind]
    return {change(name): text.encode() for name, text in TEXTS.items()}


@pytest.mark.parametrize("kind", ["own", "decomposed", "safe", "safe, decomposed"])
def test_a_document_is_found_under_every_name_that_a_disk_may_give_it(folder: Path, tmp_path: Path, kind: str) -> None:
    whole = load(folder)
    (tmp_path / "corpus.parquet").unlink()
    write_files(tmp_path, on_disk(kind))
    assert load(tmp_path) == whole
    (tmp_path / "benchmarks" / "cuad.json").unlink()
    assert load(tmp_path, strict=False).documents == whole.documents  # ids of texts that no query names


def test_ids_are_spelled_as_in_the_query_file(tmp_path: Path) -> None:
    """A query file in the other normal form: its spelling is the id, and the corpus follows."""
    wide = {
        name: json.loads(unicodedata.normalize("NFD", json.dumps(t, ensure_ascii=False))) for name, t in asked().items()
    }
    wide["cuad"][0]["snippets"][2] |= {"span": [0, 9], "answer": "Leclanché"}
    id_ = unicodedata.normalize("NFD", "cuad/LECLANCHÉ S.A.  x.txt")
    found = load(write_table(write_queries(tmp_path, wide)))
    assert id_ in found.documents and id_ in found.qrels["cuad-0000"]
    assert found.documents[id_].text == "Leclanché sells batteries."


@given(st.text(max_size=12))
def test_safe_names_give_their_ids_back(id_: str) -> None:
    name = legalbenchrag.safe_name(id_)
    assert legalbenchrag.original_name(name) == id_
    assert not set(name) & set('<>:"|?*\\\0\n')
    assert not any(part.endswith((".", " ")) for part in name.split("/"))


@given(st.text(st.sampled_from("%0257CFcf|:. /"), max_size=10))
def test_safe_names_with_percent_signs_give_their_ids_back(id_: str) -> None:
    assert legalbenchrag.original_name(legalbenchrag.safe_name(id_)) == id_


def test_a_literal_percent_sign_is_no_escape(tmp_path: Path) -> None:
    given = {"contractnli/The%20Munt.txt": b"a", "contractnli/x%2520y.txt": b"b", "contractnli/p%7Cq.txt": b"c"}
    write_files(tmp_path, given)
    named = {"contractnli/x%2520y.txt": "contractnli/x%2520y.txt"}
    assert read_texts(tmp_path, named, [], named_only=False) == {
        "contractnli/The%20Munt.txt": "a",
        "contractnli/x%2520y.txt": "b",  # a query file names it so: it is its own name
        "contractnli/p|q.txt": "c",
    }


def test_what_else_lies_in_the_folder(tmp_path: Path) -> None:
    write_files(write_queries(tmp_path))
    for name in ("corpus/.DS_Store", "corpus/cuad/._x.txt", "corpus/README.md", "corpus/maud/notes.md", "x.txt"):
        (tmp_path / name).write_bytes(b"\xff")
    write_files(tmp_path, {"maud/deeper/n.txt": b"deep"})
    write_table(tmp_path)
    (tmp_path / "benchmarks" / "mine.json").write_text("{}")
    found = load(tmp_path)
    assert set(found.documents) == set(TEXTS) | {"maud/deeper/n.txt"}
    assert said(found) == [
        "benchmarks/mine.json: is no data set of LegalBench-RAG: not read "
        "(known are privacy_qa, contractnli, maud, cuad)",
        "corpus.parquet: is not read: corpus/ is (keep one)",
    ]


def test_a_document_twice(tmp_path: Path) -> None:
    write_files(write_queries(tmp_path))
    write_files(tmp_path, {"cuad/A%7C%7CB%3A 50% off.txt": TEXTS["cuad/A||B: 50% off.txt"].encode()})
    assert said(load(tmp_path)) == [
        "corpus/cuad/A||B: 50% off.txt: is another 'cuad/A||B: 50% off.txt' (keep one)",
    ]
    write_files(tmp_path, {"cuad/A%7C%7CB%3A 50% off.txt": b"other"})
    assert faults(tmp_path)[0] == "corpus/cuad/A||B: 50% off.txt: is another 'cuad/A||B: 50% off.txt' (keep one)"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    write_files(write_queries(tmp_path))
    write_files(tmp_path, {"maud/m.txt": b"The merger\ncloses \xe9."})
    found = faults(tmp_path)
    assert found[0] == "corpus/maud/m.txt:2: byte 0xe9 is not UTF-8 (unpack it anew)"
    assert found[1] == "benchmarks/maud.json: tests[0].snippets[0]: 'maud/m.txt' is not in the corpus"


def test_one_text_under_two_ids(folder: Path) -> None:
    write_table(folder, TEXTS | {"maud/n.txt": TEXTS["maud/m.txt"]})
    found = load(folder)
    assert len(found.documents) == len(TEXTS) + 1
    assert said(found) == ["document 'maud/n.txt': has the text of 'maud/m.txt' (both are kept)"]


# --- query files -----------------------------------------------------------------------------------------------------


def changed(**values: Any) -> dict[str, Any]:
    """The query files with the first snippet of MAUD changed; a value of None takes the key away."""
    given = asked()
    first = given["maud"][0]["snippets"][0] | values
    given["maud"] += [{"query": "Why?", "snippets": [snippet("maud/m.txt", "The"), first]}]
    given["maud"][1]["snippets"][1] = {k: v for k, v in first.items() if v is not None}
    return given


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"file_path": None}, "has no file_path"),
        ({"file_path": 5}, "file_path is 5, not a string"),
        ({"file_path": ""}, "file_path '' is blank"),
        ({"file_path": "maud/m.txt "}, "file_path 'maud/m.txt ' begins or ends with white space"),
        ({"file_path": "maud/m\t.txt"}, r"file_path 'maud/m\\t\.txt' holds '\\t'"),
        ({"file_path": "maud/\ud800.txt"}, r"file_path 'maud/\\ud800\.txt' holds half a surrogate pair"),
        ({"file_path": "../../etc/passwd"}, r"file_path '\.\./\.\./etc/passwd' leads out of the corpus"),
        ({"file_path": "maud/../../x"}, "leads out of the corpus"),
        ({"file_path": "maud\\..\\x"}, "leads out of the corpus"),
        ({"file_path": "/etc/passwd"}, "'/etc/passwd' leads out of the corpus"),
        ({"file_path": "C:\\x"}, "leads out of the corpus"),
        ({"file_path": "maud/M.txt"}, r"'maud/M\.txt' is not in the corpus \(differs from 'maud/m\.txt' by case"),
        ({"file_path": "maud/mm.txt"}, r"'maud/mm\.txt' is not in the corpus \(did you mean 'maud/m\.txt'\?\)"),
        ({"span": None}, "has no span"),
        ({"span": "11"}, "span is '11', not two whole numbers"),
        ({"span": [1, 2, 3]}, r"span is \[1, 2, 3\], not two"),
        ({"span": [1.0, 2]}, r"span is \[1\.0, 2\], not two"),
        ({"span": [True, 2]}, r"span is \[True, 2\], not two"),
        ({"span": [9, 5]}, "span 9 to 5 is no stretch of text"),
        ({"span": [5, 5]}, "span 5 to 5 is no stretch of text"),
        ({"span": [-6, -1]}, "span -6 to -1 is no stretch of text"),
        ({"span": [11, 19]}, r"11 to 19 goes beyond the 18 characters of 'maud/m\.txt'"),
        ({"span": [10**30, 10**31]}, "goes beyond the 18 characters"),
        (
            {"span": [12, 18]},
            r"characters 12 to 18 of 'maud/m\.txt' are 'loses\.', not the answer 'closes' \(it stands at 11",
        ),
        ({"answer": "opens"}, r"are 'closes', not the answer 'opens' \(another version of the corpus\?\)"),
        ({"answer": ""}, r"are 'closes', not the answer '' \(another version of the corpus\?\)"),
        ({"answer": 7}, "answer is 7, not a string"),
    ],
)
def test_every_fault_of_a_snippet_names_its_place(folder: Path, values: dict[str, Any], message: str) -> None:
    import re

    write_queries(folder, changed(**values))
    found = faults(folder)
    assert re.match(r"benchmarks/maud\.json: tests\[1\]\.snippets\[1\]: .*" + message, found[0]), found
    # Let pass, every other query keeps its place and its spans.
    lenient = load("legalbenchrag", root=folder, strict=False)
    assert list(lenient.queries)[3:5] == ["maud-0000", "maud-0001"]
    assert next(s.text for s in lenient.snippets if s.query_id == "maud-0001") == "The"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "benchmarks/maud.json: not JSON"),
        ('{"tests": [', "benchmarks/maud.json: not JSON"),
        ("[" * 100_000, "benchmarks/maud.json: not JSON"),
        ('{"tests": [NaN]}', "benchmarks/maud.json: not JSON: NaN is not a number"),
        ("[]", "benchmarks/maud.json: has no list `tests`"),
        ('{"tests": {}}', "benchmarks/maud.json: has no list `tests`"),
        ('{"tests": [5]}', "benchmarks/maud.json: tests[0]: a int, not an object"),
        ('{"tests": [{"snippets": []}]}', "benchmarks/maud.json: tests[0]: has no query"),
        ('{"tests": [{"query": 1, "snippets": []}]}', "benchmarks/maud.json: tests[0]: query is 1, not a string"),
        ('{"tests": [{"query": "x"}]}', "benchmarks/maud.json: tests[0]: has no snippets"),
        ('{"tests": [{"query": "x", "snippets": {}}]}', "benchmarks/maud.json: tests[0]: snippets is {}, not a list"),
        ('{"tests": [{"query": "x", "snippets": [1]}]}', "maud.json: tests[0].snippets[0]: a int, not an object"),
        ('{"tests": [{"query": "x", "snippets": []}]}', "query 'maud-0000': has no gold document"),
        ('{"tests": [{"query": " ", "snippets": []}]}', "query 'maud-0000': has no text"),
        ('{"tests": [{"query": "\\ud800", "snippets": []}]}', "query 'maud-0000': text holds half of a surrogate"),
        ('{"tests": [], "tests": [{"query": "x", "snippets": []}]}', "maud.json: an object has 'tests' twice"),
        ('{"tests": [{"query": "x", "query": "y", "snippets": []}]}', "maud.json: an object has 'query' twice"),
        (b'{"tests": "\xe9"}', "maud.json:1: byte 0xe9 is not valid UTF-8"),
    ],
)
def test_every_fault_of_a_query_file_names_its_place(folder: Path, content: str | bytes, message: str) -> None:
    path = folder / "benchmarks" / "maud.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = faults(folder)
    assert any(message in line for line in found), found
    assert len(load("legalbenchrag", root=folder, strict=False).queries) >= 4


def test_all_faults_are_listed(folder: Path) -> None:
    given = asked()
    given["maud"] = [{"query": "?", "snippets": [snippet("maud/m.txt", "closes", 3)]} for _ in range(30)]
    write_queries(folder, given)
    with pytest.raises(BenchmarkError, match=r"30 problem\(s\)\n.*tests\[0\](.|\n)*… and 10 more") as caught:
        load(folder)
    assert "tests[29]" in str(caught.value.problems[-1])


def test_files_that_are_no_texts_of_the_corpus(tmp_path: Path) -> None:
    folder = write_files(write_queries(tmp_path))
    (folder / "corpus/README.txt").write_text("About these files.")
    (folder / "corpus/maud/sub.txt").mkdir()
    found = load(folder)
    assert set(found.documents) == set(TEXTS)
    assert said(found) == [
        "corpus/README.txt: lies beside the folders of the data sets: not read (move it into one, if it is a document)"
    ]
    (folder / "corpus/maud/wide.txt").write_bytes("A merger.".encode("utf-16-le"))
    (folder / "corpus/maud/marked.txt").write_bytes("A merger.".encode("utf-16"))
    assert faults(folder) == [
        "corpus/maud/marked.txt:1: byte 0xff is not UTF-8 (unpack it anew)",
        "corpus/maud/wide.txt: holds NUL characters: UTF-16 without a byte order mark, or a binary file "
        "(unpack it anew)",
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = write_files(write_queries(tmp_path))
    os.mkfifo(folder / "corpus/maud/pipe.txt")
    assert faults(folder) == ["corpus/maud/pipe.txt: can't be read: not a file (check the file)"]


def test_a_text_right_in_the_corpus_is_read_where_a_query_names_it(tmp_path: Path) -> None:
    given = {"maud": [{"query": "?", "snippets": [{"file_path": "m.txt", "span": [4, 10], "answer": "merger"}]}]}
    found = load(write_files(write_queries(tmp_path, given), {"m.txt": b"The merger."}))
    assert list(found.documents) == ["m.txt"] and found.snippets[0].text == "merger"


def test_overlapping_gold_is_reported(folder: Path) -> None:
    given = asked()
    long = snippet("privacy_qa/P.txt", "We keep data.\nWe share data.")
    touching = [snippet("privacy_qa/P.txt", "We keep"), snippet("privacy_qa/P.txt", " data.")]
    given["privacy_qa"] = [
        {"query": "a", "snippets": [snippet("privacy_qa/P.txt", "keep"), long, snippet("privacy_qa/P.txt", "share")]},
        {"query": "b", "snippets": touching},
        {"query": "c", "snippets": [touching[0], touching[0]]},
    ]
    where = "benchmarks/privacy_qa.json: tests"
    why = "of 'privacy_qa/P.txt' overlap (the published scorer counts what they share twice)"
    assert said(load(write_queries(folder, given))) == [
        f"{where}[0]: spans 0 to 28 and 3 to 7 {why}",
        f"{where}[0]: spans 0 to 28 and 17 to 22 {why}",
        f"{where}[2]: spans 0 to 7 and 0 to 7 {why}",
    ]


def test_offsets_that_nobody_can_check_are_counted(folder: Path) -> None:
    given = asked()
    for one in given["cuad"][0]["snippets"]:
        del one["answer"]
    assert said(load(write_queries(folder, given))) == [
        "benchmarks/cuad.json: 3 snippets without an answer: nobody can tell whether the offsets hold "
        "(download it again)"
    ]


def test_a_query_file_that_is_not_there(folder: Path) -> None:
    (folder / "benchmarks" / "cuad.json").unlink()
    absent = (
        "benchmarks/cuad.json: is not there: its 4,042 queries are left out "
        "(the published one has SHA-256 8e0405b15fb8869c631da424372b488e274f253a81634b78803b21c72c0601f9)"
    )
    found = load(folder)
    assert said(found) == [absent]
    assert len(found.queries) == 4 and len(found.documents) == len(TEXTS)  # its documents stay to be searched
    assert said(load("legalbenchrag", root=folder, subsets=["maud"])) == []
    assert absent in faults(folder, subsets=["maud", "cuad"])  # asked for, and not there


def test_another_version_is_said_once(folder: Path) -> None:
    versions = [str(p) for p in load(folder).problems if "version" in p.what]
    assert versions == [
        f"benchmarks/{name}.json: is another version than the published one (SHA-256 {sha})"
        for name, sha in (
            ("privacy_qa", "12c7afcb0e6e84cdff59914495c3bce005d10bb4665cae12b64a9b57af8fb7b6"),
            ("contractnli", "bc60963c4880e3db3141e96f3a7b75e1dbe195cba8f10f0658872f43430fc77a"),
            ("maud", "82ef159b87f73a9c68e7143fac88bf47ac212713b56617d7e87d6f1f0a781daf"),
            ("cuad", "8e0405b15fb8869c631da424372b488e274f253a81634b78803b21c72c0601f9"),
        )
    ]


# --- mini ------------------------------------------------------------------------------------------------------------


def many(tmp_path: Path) -> tuple[Path, list[dict[str, Any]]]:
    """A folder with 300 tests of CUAD about 40 documents, and one test of MAUD."""
    texts = {f"cuad/{n}.txt": f"Contract {n}." for n in range(40)} | {"maud/m.txt": "Merger.", "maud/n.txt": "Other."}
    ask = [
        {"query": f"q{i}", "snippets": [{"file_path": f"cuad/{i * 7 % 40}.txt", "span": [0, 8], "answer": "Contract"}]}
        for i in range(300)
    ]
    maud = [{"query": "m", "snippets": [{"file_path": "maud/m.txt", "span": [0, 6], "answer": "Merger"}]}]
    return write_table(write_queries(tmp_path, {"cuad": ask, "maud": maud}), texts), ask


def test_mini_by_the_published_rule_without_touching_the_random_state(tmp_path: Path) -> None:
    folder, ask = many(tmp_path)

    def published(test: dict[str, Any]) -> float:
        random.seed(test["snippets"][0]["file_path"])
        return random.random()

    expected = sorted(ask, key=published)[:194]
    random.seed(5)
    state = random.getstate()
    found = load("legalbenchrag-mini", root=folder)
    assert random.getstate() == state
    assert [q.text for q in found.queries.values()] == ["m", *(t["query"] for t in expected)]
    assert list(found.queries)[:2] == ["maud-mini-000", "cuad-mini-000"] and "cuad-mini-193" in found.queries
    assert set(found.documents) == {t["snippets"][0]["file_path"] for t in expected} | {"maud/m.txt"}
    assert len(load("legalbenchrag", root=folder).documents) == 42
    part = load("legalbenchrag-mini", root=folder, subsets=["cuad"])
    assert part.documents == found.documents
    assert len(part.queries) == 194


def test_mini_from_its_own_files_where_the_full_ones_are_absent(tmp_path: Path) -> None:
    folder, _ = many(tmp_path)
    small = load("legalbenchrag-mini", root=folder)
    queries = list(small.queries.values())
    kept = [
        {"query": q.text, "snippets": [{"file_path": s.doc_id, "span": [s.start, s.end], "answer": s.text}]}
        for q, s in zip(queries, small.snippets, strict=True)
    ]
    (folder / "benchmarks" / "cuad.json").unlink()
    with pytest.raises(BenchmarkError, match=r"cuad\.json: is not there, nor is mini/cuad\.json"):
        load("legalbenchrag-mini", root=folder, subsets=["cuad"])
    write_queries(folder, {"cuad": kept[1:]}, "mini")
    again = load("legalbenchrag-mini", root=folder)
    assert (again.queries, again.documents, again.snippets) == (small.queries, small.documents, small.snippets)
    notes = [p for p in again.problems if "cuad" in p.where and "is used" in p.what]
    assert [(p.where, p.what, p.fatal) for p in notes] == [
        ("benchmarks/cuad.json", "is not there: mini/cuad.json is used", False)
    ]
    shutil.rmtree(folder / "benchmarks")
    assert len(load("legalbenchrag-mini", root=folder).queries) == 194
    with pytest.raises(InputError, match="holds none of"):
        load("legalbenchrag", root=folder)


# --- what follows ----------------------------------------------------------------------------------------------------


def test_built_and_loaded_again_it_is_the_same(folder: Path, tmp_path: Path) -> None:
    found = load("legalbenchrag", root=folder)
    manifest = build(found, tmp_path / "out")
    again = load(tmp_path / "out")
    assert {
        config: pq.read_table(tmp_path / "out" / f"data/{config}.parquet").num_rows
        for config in ("queries", "qrels", "snippets")
    } == {"queries": 5, "qrels": 6, "snippets": 7}
    assert dict(again.documents) == found.documents
    assert (again.queries, again.qrels, again.snippets) == (found.queries, found.qrels, found.snippets)
    assert again.fingerprint == found.fingerprint == manifest["fingerprint"]
    assert again.labels("dataset") == found.labels("dataset")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "# LegalBench-RAG\n" in card and "| data sets | privacy_qa 2, contractnli 1, maud 1, cuad 1 |" in card


def test_a_retriever_runs_on_it_unchanged(folder: Path) -> None:
    found = load("legalbenchrag", root=folder)
    index = BM25.build(found.documents)
    assert index.search(["batteries"], 3)[0][0].doc_id == "cuad/LECLANCHÉ S.A.  x.txt"


# --- the real thing --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def real(shared: Path) -> Path:
    folder = shared / "legalbenchrag"
    if not folder.is_dir():
        pytest.skip(f"LegalBench-RAG is not at {folder}")
    return folder


@pytest.fixture(scope="session")
def whole(real: Path) -> Benchmark:
    return load("legalbenchrag", root=real)


def test_the_real_corpus_and_every_span(whole: Benchmark, real: Path) -> None:
    assert len(whole.documents) == 714
    assert sum(len(d.text) for d in whole.documents.values()) == 79_704_214
    assert Counter(whole.labels("dataset").values()) == {"privacy_qa": 194, "contractnli": 977, "maud": 1676}
    published = [
        (name, n, test, s)
        for name in ("privacy_qa", "contractnli", "maud")
        for n, test in enumerate(json.loads((real / "benchmarks" / f"{name}.json").read_bytes())["tests"])
        for s in test["snippets"]
    ]
    assert len(published) == len(whole.snippets) == 4_681
    for (name, n, test, s), snippet in zip(published, whole.snippets, strict=True):
        query = whole.queries[snippet.query_id]
        assert (query.dataset, query.text, int(query.id.rsplit("-", 1)[1])) == (name, test["query"], n)
        assert [snippet.start, snippet.end] == s["span"] and snippet.doc_id == s["file_path"]
        assert whole.documents[snippet.doc_id].text[snippet.start : snippet.end] == s["answer"] == snippet.text
    assert [(p.where, p.fatal) for p in whole.problems] == [
        ("benchmarks/cuad.json", False),
        ("document 'contractnli/dhs-nda.txt'", False),
        ("document 'cuad/ADUROBIOTECH,INC_06_02_2020-EX-10.7-CONSULTING AGREEMENT.txt'", False),
        ("ids", False),
    ]


def test_the_real_mini(real: Path) -> None:
    found = load("legalbenchrag-mini", root=real)
    assert len(found.documents) == 72
    assert sum(len(d.text) for d in found.documents.values()) == 8_682_104
    assert set(found.documents) == set((real / "mini" / "documents.txt").read_text("utf-8").split("\n")) - {""}
    queries = list(found.queries.values())
    for n, name in enumerate(legalbenchrag.DATASETS):  # three by the rule out of the full files, CUAD as shipped
        shipped = json.loads((real / "mini" / f"{name}.json").read_bytes())["tests"]
        part = queries[194 * n : 194 * (n + 1)]
        assert [q.text for q in part] == [t["query"] for t in shipped] and {q.dataset for q in part} == {name}
        for query, test in zip(part, shipped, strict=True):
            ours = [(s.doc_id, s.start, s.end, s.text) for s in found.snippets if s.query_id == query.id]
            assert ours == [(s["file_path"], *s["span"], s["answer"]) for s in test["snippets"]]
    assert [p.what for p in found.problems] == ["is not there: mini/cuad.json is used", "41 hold spaces"]


def test_the_real_thing_as_files_with_windows_line_ends(whole: Benchmark, real: Path, tmp_path: Path) -> None:
    shutil.copytree(real / "benchmarks", tmp_path / "benchmarks")
    texts = {n: d.text.replace("\n", "\r\n").encode() for n, d in whole.documents.items() if not n.startswith("maud/")}
    write_files(tmp_path, {legalbenchrag.safe_name(unicodedata.normalize("NFD", n)): t for n, t in texts.items()})
    found = load("legalbenchrag/privacy_qa+contractnli", root=tmp_path)
    assert found.documents == {n: d for n, d in whole.documents.items() if n in texts}
    assert found.snippets == tuple(s for s in whole.snippets if s.doc_id in texts)


def test_the_real_thing_built_and_loaded_again(whole: Benchmark, tmp_path: Path) -> None:
    build(whole, tmp_path / "out")
    again = load(tmp_path / "out")
    assert again.fingerprint == whole.fingerprint
    assert again.snippets == whole.snippets and again.queries == whole.queries
    digest = [hashlib.sha256(d.text.encode()).hexdigest() for d in sorted(again.documents.values(), key=lambda d: d.id)]
    assert digest == [hashlib.sha256(d.text.encode()).hexdigest() for d in whole.documents.values()]
