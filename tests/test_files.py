"""Reading and writing qrels and runs, and every way in which a file can be wrong."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag import files
from canlegalrag.errors import InputError
from canlegalrag.types import Document, Hit, Passage

TREC = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.txt", TREC),
        ("q.txt", TREC.replace("\n", "\r\n")),
        ("q.txt", "\n\n" + TREC.replace(" ", "\t") + "\n"),
        ("q.tsv", "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\tc\t2\n"),
        ("q.tsv", "q1\ta\t1\nq1\tb\t0\nq2\tc\t2"),
        ("q.txt", b"\xef\xbb\xbf" + TREC.encode()),
        ("q.txt", TREC.encode("utf-16")),
        ("q.txt", b"\xfe\xff" + TREC.encode("utf-16-be")),
        ("q.txt", TREC.encode("utf-32")),
        (
            "q.jsonl",
            '{"query-id": "q1", "corpus-id": "a", "score": 1}\n{"query-id": "q1", "corpus-id": "b", "score": 0}\n'
            '{"query_id": "q2", "doc_id": "c", "relevance": 2}\n',
        ),
    ],
)
def test_qrels_in_every_form_and_encoding(tmp_path: Path, name: str, content: str | bytes) -> None:
    assert files.read_qrels(write(tmp_path / name, content)) == QRELS


def test_ids_keep_inner_spaces_where_the_format_can_carry_them(tmp_path: Path) -> None:
    lines = '{"query-id": "q 1", "corpus-id": "cuad/A  B.txt", "score": 1}\n'
    assert files.read_qrels(write(tmp_path / "q.jsonl", lines)) == {"q 1": {"cuad/A  B.txt": 1}}
    assert files.read_qrels(write(tmp_path / "q.tsv", "q 1\tcuad/A  B.txt\t1\n")) == {"q 1": {"cuad/A  B.txt": 1}}
    run = {"q 1": [Hit("cuad/A  B.txt", 1.0)]}
    assert files.read_run(write(tmp_path / "r.jsonl", files.run_line("q 1", run["q 1"]) + "\n")) == run


@pytest.mark.parametrize("id_", ["a b", "", "a\tb", "a\u00a0b", "a\n"])
def test_trec_refuses_ids_that_it_cannot_carry(tmp_path: Path, id_: str) -> None:
    refused = pytest.raises(
        InputError, match=r"x: .* is blank or holds white space, which a TREC file can't .*JSON Lines"
    )
    for run in ({id_: [Hit("a", 1.0)]}, {"q": [Hit("a", 1.0), Hit(id_, 0.5)]}):
        with refused:
            files.write_trec(run, tmp_path / "x")
    for qrels in ({id_: {"a": 1}}, {"q": {"a": 1, id_: 0}}):
        with refused:
            files.write_qrels(qrels, tmp_path / "x")
    with refused:
        files.write_trec({"q": [Hit("a", 1.0)]}, tmp_path / "x", tag=id_)
    assert list(tmp_path.iterdir()) == []


def test_qrels_in_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"query-id": ["q1", "q1", "q2"], "corpus-id": ["a", "b", "c"], "score": [1, 0, 2]})
    pq.write_table(table, tmp_path / "q.parquet")
    assert files.read_qrels(tmp_path / "q.parquet") == QRELS


def test_ids_keep_leading_zeros_and_accents(tmp_path: Path) -> None:
    path = write(tmp_path / "q.txt", "001 0 2001-québec-007 1\n")
    assert files.read_qrels(path) == {"001": {"2001-québec-007": 1}}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.txt", "q1 0 a 1\nq1 0 caf\xe9 1\n".encode("cp1252"), r"q\.txt:2: byte 0xe9 .*Windows-1252.*iconv"),
        ("q.txt", TREC.encode("utf-16-le"), "NUL characters: UTF-16 without"),
        ("q.txt", "q1 0 a high\n", r"q\.txt:1: grade 'high' is not a whole number"),
        ("q.txt", "q1 0 a 0.5\n", "grade '0.5' is not a whole number"),
        ("q.txt", "q1 0 a nan\n", "grade 'nan' is not a whole number"),
        ("q.txt", "q1 0 a inf\n", "grade 'inf' is not a whole number"),
        ("q.txt", "q1 0 a 1\nq1 a\n", r"q\.txt:2: 2 columns"),
        ("q.txt", "q1 0 a 1\nq1 0 a 0\n", "q1 a is judged 1 and 0"),
        ("q.txt", "", "holds no judgments"),
        ("q.jsonl", '{"query-id": 1, "corpus-id": "a", "score": 1}\n', 'query id 1 is not a string .write "1"'),
        ("q.jsonl", '{"query-id": "q", "score": 1}\n', "needs query-id, corpus-id, score"),
        ("q.jsonl", "[1]\n", "a list, not a JSON object"),
        ("q.jsonl", '{"query-id": "q', r"q\.jsonl:1: not JSON"),
        ("q.jsonl", "[" * 100_000, "not JSON"),
        ("q.csv", "query-id,corpus-id,score\nq1,a,1\n", r"q\.csv:1: 1 column \(commas aren't read: put tabs: query"),
        ("q.txt", "q 1 0 a 1\n", "5 columns .*ids with spaces need tabs or JSON Lines"),
        ("q.tsv", "\ta\t1\n", "query id '' is blank"),
        ("q.jsonl", '{"query-id": " q", "corpus-id": "a", "score": 1}\n', "' q' begins or ends with white space"),
        ("q.jsonl", '{"query-id": "q", "corpus-id": "a\\tb", "score": 1}\n', r"document id 'a\\tb' holds '\\t'"),
        ("q.parquet", "not parquet", "not a readable Parquet file"),
    ],
)
def test_wrong_qrels_name_file_line_and_fix(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        files.read_qrels(write(tmp_path / name, content))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: can't be read: No such file"):
        files.read_qrels(tmp_path / "none.txt")


def test_trec_run_follows_scores_not_ranks(tmp_path: Path) -> None:
    path = write(tmp_path / "r.trec", "q1 Q0 a 1 0.5 x\nq1 Q0 b 2 0.9 x\nq1 Q0 c 3 0.5 x\nq2 Q0 a 1 -1e3 x\n")
    run = files.read_run(path)
    assert run == {"q1": [Hit("b", 0.9), Hit("a", 0.5), Hit("c", 0.5)], "q2": [Hit("a", -1000.0)]}


def test_jsonl_run_goes_there_and_back_with_passages(tmp_path: Path) -> None:
    documents = {"a": Document("a", "", "Les loyers à Québec."), "b": Document("b", "", "x")}
    hits = [Hit("a", 2.5, Passage("a", 1, 4, 10, "loyers")), Hit("b", 1e-300), Hit("b", -0.0)]
    path = write(tmp_path / "r.jsonl", files.run_line("qé", hits) + "\n")
    assert files.read_run(path, documents) == {"qé": hits}
    bare = files.read_run(path)["qé"][0].passage
    assert bare == Passage("a", 1, 4, 10, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"query_id": "q", "hits": [{"doc_id": "a", "score": NaN}]}', "NaN is not a number"),
        ('{"query_id": "q", "hits": [{"doc_id": "a", "score": 1e999}]}', r"hits\[0\]: score inf is not a finite"),
        ('{"query_id": "q", "hits": [{"doc_id": "a", "score": "high"}]}', "score 'high' is not a finite number"),
        ('{"query_id": "q", "hits": [{"doc_id": "a", "score": true}]}', "score True is not a finite number"),
        ('{"query_id": "q", "hits": [{"doc_id": "a"}]}', "score None is not a finite number"),
        ('{"query_id": "q", "hits": [{"doc_id": 7, "score": 1}]}', 'doc_id 7 is not a string .write "7"'),
        ('{"query_id": "q", "hits": ["a"]}', "a str, not an object"),
        ('{"query_id": "q"}', "has no list `hits`"),
        ('{"hits": []}', "has no query_id"),
        ('{"query_id": "q", "hits": []}\n{"query_id": "q", "hits": []}', r"r\.jsonl:2: query 'q' stands .* twice"),
        ('{"query_id": "q", "hits": [{"doc_id": "a", "score": 1, "start": 5, "end": 2}]}', "span 5 to 2"),
        ('{"query_id": "q", "hits": [{"doc_id": "a", "score": 1, "start": 0, "end": 99}]}', "a has 1 characters"),
        ("", "holds no ranking"),
    ],
)
def test_wrong_jsonl_runs(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        files.read_run(write(tmp_path / "r.jsonl", content), {"a": Document("a", "", "x")})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 a 1 0.5 tag\n", "5 columns, 6 expected: query Q0 document rank score tag"),
        ("q1,Q0,a,1,0.5,tag\n", "1 column, 6 expected.*commas aren't read: put blanks or tabs"),
        (
            "q1 Q0 2019 SCC 65 1 0.5 x\n",
            "8 columns, 6 expected: query Q0 document rank score tag .*ids with spaces need JSON Lines",
        ),
        ("q1 Q0 a 1 nan x\n", "score 'nan' is not a finite number"),
        ("q1 Q0 a 1 inf x\n", "score 'inf' is not a finite number"),
        ("q1 Q0 a 1 0,5 x\n", "score '0,5' is not a finite number"),
        ("\n \n", "holds no ranking"),
    ],
)
def test_wrong_trec_runs(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        files.read_run(write(tmp_path / "r.trec", content))


def test_trec_is_written_with_the_best_passage_once(tmp_path: Path) -> None:
    hits = [Hit("a", 3.0, Passage("a", 0, 0, 1)), Hit("b", 2.0), Hit("a", 1.0, Passage("a", 1, 1, 2))]
    files.write_trec({"q1": hits, "q2": []}, tmp_path / "r.trec", tag="t")
    assert (tmp_path / "r.trec").read_text() == "q1 Q0 a 1 3.0 t\nq1 Q0 b 2 2.0 t\n"
    assert files.read_run(tmp_path / "r.trec") == {"q1": [Hit("a", 3.0), Hit("b", 2.0)]}


def test_qrels_are_written_as_they_are_read(tmp_path: Path) -> None:
    files.write_qrels(QRELS, tmp_path / "q.txt")
    assert files.read_qrels(tmp_path / "q.txt") == QRELS


def test_json_has_no_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.dumps({"x": float("nan")})


ids = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=8)
scores = st.floats(allow_nan=False, allow_infinity=False)


@given(st.dictionaries(ids, st.lists(st.builds(Hit, ids, scores), max_size=4), min_size=1, max_size=4))
def test_any_run_survives_jsonl(tmp_path_factory: pytest.TempPathFactory, run: dict[str, list[Hit]]) -> None:
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    write(path, "".join(files.run_line(q, hits) + "\n" for q, hits in run.items()))
    assert files.read_run(path) == run
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        assert json.loads(line)["query_id"] in run


@given(st.binary(max_size=60), st.sampled_from(["x.txt", "x.jsonl", "x.parquet", "x.tsv"]))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str) -> None:
    path = write(tmp_path_factory.mktemp("bytes") / name, data)
    for read in (files.read_qrels, files.read_run):
        try:
            assert read(path)
        except InputError as error:
            assert name in str(error)


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """`--out /dev/stdout`: root would lose the device otherwise."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.write_atomic(pipe, "é\n")
    assert os.read(reader, 9) == b"\xc3\xa9\n"
    os.close(reader)
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]
    with pytest.raises(IsADirectoryError):
        files.write_atomic(tmp_path, "x")
