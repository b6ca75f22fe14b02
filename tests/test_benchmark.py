"""Loading a benchmark, from every source, and naming every fault in it."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import canlegalrag
from canlegalrag import experiment, submission
from canlegalrag.benchmark import Benchmark, check, check_run, fingerprint, load
from canlegalrag.build import build
from canlegalrag.errors import BenchmarkError, InputError
from canlegalrag.measures.registry import Registry
from canlegalrag.measures.retrieval import score
from canlegalrag.recipes import compose, parse
from canlegalrag.types import Answer, Claim, Document, Hit, LabelledPair, Query, Snippet


def small() -> Benchmark:
    """Two documents, two queries, nothing wrong."""
    return Benchmark(
        name="small",
        documents={"a": Document("a", "A v. B", "Le bail est résilié."), "b": Document("b", "C v. D", "A cat.")},
        queries={"q1": Query("q1", "bail?", "Ontario", block="1"), "001": Query("001", "cat?", block="1")},
        qrels={"q1": {"a": 1}, "001": {"b": 2, "a": 0}},
        answers={"q1": Answer("q1", "Oui.")},
        snippets=(Snippet("q1", "a", 3, 7, "bail"),),
    )


def claim(n: int = 0, text: str = "Le bail est résilié.", start: int | None = 0, end: int | None = 4) -> Claim:
    return Claim("q1", "reference", n, text, start, end)


def pair(**changes: Any) -> LabelledPair:
    return replace(LabelledPair("p1", "Il y a un bail.", "a", 0, 20, "Le bail est résilié.", "contradicted"), **changes)


def judged() -> Benchmark:
    """The small benchmark with claims and labelled pairs."""
    second = claim(1, "Le locataire part.", None, None)
    return replace(small(), claims={"q1": (claim(), second)}, pairs=(pair(), pair(id="p2", label="unsupported")))


def test_the_small_benchmark_has_no_problem() -> None:
    assert list(check(small())) == []
    assert list(check(judged())) == []


def test_load_is_a_function_of_the_package() -> None:
    assert canlegalrag.load is load
    assert canlegalrag.Benchmark is Benchmark
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = canlegalrag.nothing


def test_what_holds_a_corpus_is_shown_in_a_line(tmp_path: Path) -> None:
    """A notebook prints the last value of a cell: it must not be every decision of a corpus."""
    shown = "<Benchmark 'small': 2 documents, 2 queries, 3 judgments"
    found = small()
    assert repr(found) == f"{shown}>"
    assert repr(replace(found, recorded_fingerprint="f" * 64)) == f"{shown}, content {'f' * 16}>"
    known = found.fingerprint
    assert repr(found) == f"{shown}, content {known[:16]}>"
    sample = load("sample")
    recipes = [parse(name) for name in ("bm25-1024", "offline-hashing-1024")]
    made = [compose(recipe, sample, cache=tmp_path / "cache") for recipe in recipes]
    outcome = experiment.run(sample, recipes[:1], tmp_path / "out", k=5, cache=tmp_path / "cache")
    checked = submission.check({"run": tmp_path / "out" / "bm25-1024" / "run.jsonl"}, sample)
    scores = score(sample.qrels, {}, "mrr")
    nouns = [sample, *made, *(of.retriever for of in made), outcome, checked, scores, Registry.build(sample.documents)]
    assert {type(noun).__name__: len(text) for noun in nouns if len(text := repr(noun)) > 2_000} == {}


def test_asked_names_the_province_where_there_is_one() -> None:
    assert [q.asked for q in small().queries.values()] == ["I am in Ontario. bail?", "cat?"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"documents": {}}, "corpus: holds no documents"),
        ({"queries": {}}, "queries: holds no queries"),
        ({"documents": {"a": Document("a", "", " \n"), "b": Document("b", "", "A cat.")}}, "document 'a': has no text"),
        ({"documents": {"a\tb": Document("a\tb", "", "x")}}, "document 'a\\tb': id holds '\\t', which no id may"),
        ({"documents": {"a ": Document("a ", "", "x")}}, "document 'a ': id begins or ends with white space"),
        ({"documents": {"": Document("", "", "x")}}, "document '': id is blank"),
        ({"queries": {"q\n1": Query("q\n1", "x")}}, "query 'q\\n1': id holds '\\n', which no id may"),
        ({"queries": {"": Query("", "x")}}, "query '': id is blank"),
        ({"queries": {"q1": Query("q1", " ")}}, "query 'q1': has no text"),
        ({"queries": {"q9": Query("q9", "x")}}, "query 'q9': has no gold document"),
        (
            {"queries": {"q1": Query("q1", "x", "Québec")}},
            "query 'q1': unknown province 'Québec' (did you mean 'Quebec'?)",
        ),
        ({"qrels": {"q1": {"c": 1}}}, "qrels: q1: gold document 'c' is not in the corpus"),
        (
            {"qrels": {"q1": {"A": 1}}},
            "qrels: q1: gold document 'A' is not in the corpus (differs from 'a' by case or normal form only)",
        ),
        ({"qrels": {"Q1": {"a": 1}}}, "qrels: 'Q1': is no query (differs from 'q1' by case or normal form only)"),
        ({"answers": {"q11": Answer("q11", "x")}}, "answers: 'q11': answers no query (did you mean 'q1'?)"),
        ({"answers": {"q1": Answer("q1", "")}}, "answers: 'q1': has no text"),
        ({"documents": {"a": Document("a", "", "half \ud800")}}, "document 'a': text holds half of a surrogate pair"),
        ({"documents": {"\ud800": Document("\ud800", "", "x")}}, "document '\\ud800': id holds half of a surrogate"),
        ({"queries": {"q1": Query("q1", "x", excluded=("\udfff",))}}, "query 'q1': excluded holds half of a surrogate"),
        ({"answers": {"q1": Answer("q1", "x", ("\ud800",))}}, "answers: 'q1': parts holds half of a surrogate pair"),
        ({"snippets": (Snippet("q1", "a", 3, 7, "\ud800"),)}, "snippet of 'q1' in 'a': text holds half of a surrogate"),
        ({"qrels": {"\ud800": {"\udfff": 1}}}, "qrels: '\\ud800': gold document '\\udfff' is not in the corpus"),
        ({"snippets": (Snippet("q1", "b", 0, 1, "A"),)}, "snippet of 'q1' in 'b': the document is not judged"),
        ({"snippets": (Snippet("q1", "a", 3, 8, "bail"),)}, "characters 3 to 8 are not its text"),
        ({"snippets": (Snippet("q1", "a", 3, 99, "bail"),)}, "3 to 99 is no stretch of its 20 characters"),
        ({"snippets": (Snippet("q1", "a", 7, 3, "bail"),)}, "7 to 3 is no stretch"),
        (
            {"claims": {"Q1": (replace(claim(), query_id="Q1"),)}},
            "claims: 'Q1': is no query (differs from 'q1' by case",
        ),
        ({"claims": {"001": (replace(claim(), query_id="001"),)}}, "claims: '001': has no reference answer"),
        ({"claims": {"q1": ()}}, "claims: 'q1': is listed without a claim (leave the query out)"),
        ({"claims": {"q1": (claim(1),)}}, "claim 0 of 'q1': has the index 1 (number them from 0, each once)"),
        ({"claims": {"q1": (claim(), claim(0, "x"))}}, "claim 1 of 'q1': has the index 0"),
        ({"claims": {"q1": (claim(text=" "),)}}, "claim 0 of 'q1': has no text"),
        ({"claims": {"q1": (claim(text="\ud800"),)}}, "claim 0 of 'q1': text holds half of a surrogate pair"),
        ({"claims": {"q1": (replace(claim(), side="answer"),)}}, "claim 0 of 'q1': is of the side 'answer' of 'q1'"),
        ({"claims": {"q1": (replace(claim(), query_id="001"),)}}, "is of the side 'reference' of '001'"),
        ({"claims": {"q1": (claim(end=5),)}}, "claim 0 of 'q1': 0 to 5 is no stretch of the answer's 4 characters"),
        ({"claims": {"q1": (claim(start=-1),)}}, "claim 0 of 'q1': -1 to 4 is no stretch of the answer's 4 characters"),
        ({"claims": {"q1": (claim(start=4),)}}, "claim 0 of 'q1': 4 to 4 is no stretch"),
        ({"claims": {"q1": (claim(start=None),)}}, "claim 0 of 'q1': None to 4 is half a place"),
        ({"pairs": (pair(), pair())}, "pair 'p1': id is used 2 times"),
        ({"pairs": (pair(id=""),)}, "pair '': id is blank"),
        ({"pairs": (pair(claim=" "),)}, "pair 'p1': has no claim"),
        (
            {"pairs": (pair(label="Supported"),)},
            "pair 'p1': label 'Supported' is none (one of supported, contradicted,",
        ),
        ({"pairs": (pair(label=""),)}, "pair 'p1': label '' is none"),
        ({"pairs": (pair(note="\ud800"),)}, "pair 'p1': note holds half of a surrogate pair"),
        ({"pairs": (pair(doc_id="A"),)}, "pair 'p1': document 'A' is not in the corpus (differs from 'a' by case"),
        ({"pairs": (pair(end=21),)}, "pair 'p1': 0 to 21 is no stretch of 20 characters"),
        ({"pairs": (pair(start=20),)}, "pair 'p1': 20 to 20 is no stretch"),
        (
            {"pairs": (pair(evidence="Le bail est re\u0301silie\u0301."),)},
            "pair 'p1': characters 0 to 20 of its document are not",
        ),
    ],
)
def test_every_fault_is_named(change: dict[str, Any], message: str) -> None:
    found = [str(p) for p in check(replace(small(), **change))]
    assert any(message in line for line in found), found


def test_ids_with_inner_spaces_are_one_note() -> None:
    spaced = {f"A v B {i}": Document(f"A v B {i}", "", f"text {i}") for i in range(5)}
    benchmark = replace(
        small(),
        documents=small().documents | spaced,
        queries=small().queries | {"q 2": Query("q 2", "x")},
        qrels=small().qrels | {"q 2": {"A v B 0": 1}},
    )
    found = list(check(benchmark))
    assert [str(p) for p in found] == ["ids: 6 hold spaces (write runs as JSON Lines: a TREC run can't carry them)"]
    assert not found[0].fatal
    assert list(check(benchmark, texts=False)) == found  # of a folder whose checksums hold, too


def test_gold_that_is_judged_zero_only_is_no_gold() -> None:
    assert any("no gold" in p.what for p in check(replace(small(), qrels={"q1": {"a": 0}, "001": {"b": 1}})))
    assert small().gold == {"a", "b"}


def test_fingerprint_counts_content_not_order() -> None:
    one = small()
    other = replace(one, documents=dict(reversed(one.documents.items())), name="other", revision="x")
    assert fingerprint(one) == fingerprint(other) == one.fingerprint
    changed = replace(one, documents=one.documents | {"b": replace(one.documents["b"], text="A cat!")})
    regraded = replace(one, qrels={"q1": {"a": 1}, "001": {"b": 1, "a": 0}})
    assert len({fingerprint(one), fingerprint(changed), fingerprint(regraded)}) == 3


def test_a_field_that_came_later_leaves_older_fingerprints_as_they_were() -> None:
    one = small()
    before = "864a4eec578472997443589c624ced59af9df0e7471ce37a84fab5f302f8b8a3"  # by the code that knew no data sets
    assert fingerprint(one) == before
    named = replace(one, queries={i: replace(q, dataset="maud") for i, q in one.queries.items()})
    assert fingerprint(named) != before


def test_claims_and_pairs_count_in_the_fingerprint_where_there_are_any() -> None:
    one = judged()
    nothing = replace(one, claims={"q1": ()}, pairs=())  # as a file holds it: no row
    assert fingerprint(nothing) == fingerprint(small())
    others = [
        small(),
        replace(one, pairs=()),
        replace(one, claims={}),
        replace(one, pairs=(one.pairs[0], replace(one.pairs[1], label="supported"))),
        replace(one, claims={"q1": (claim(), claim(1, "Le locataire part."))}),
    ]
    assert len({fingerprint(b) for b in [one, *others]}) == 6
    assert fingerprint(replace(one, pairs=one.pairs[::-1])) == fingerprint(one)
    stopped = replace(small(), answers={"q1": Answer("q1", "Oui.", stop="length")})
    assert fingerprint(stopped) != fingerprint(small())


def test_odd_claims_are_notes() -> None:
    twice = replace(judged(), claims={"q1": (claim(), claim(1))})
    assert [(str(p), p.fatal) for p in check(twice)] == [
        ("claim 1 of 'q1': says again what claim 0 says, and counts twice (keep one)", False)
    ]
    answers = small().answers | {"001": Answer("001", "Un chat.")}
    assert [(str(p), p.fatal) for p in check(replace(judged(), answers=answers))] == [
        ("claims: 1 reference answers have none: '001' (take them apart too)", False)
    ]
    assert list(check(replace(small(), answers=answers))) == []


def test_without_the_texts_all_but_the_evidence_of_pairs_is_checked() -> None:
    class Unread(dict[str, Document]):
        def __getitem__(self, key: str) -> Document:
            raise AssertionError("a document was read")

    one = replace(judged(), documents=Unread(small().documents), pairs=(pair(evidence="x"), pair(id="p2", label="x")))
    assert [p.where for p in check(one, texts=False)] == ["pair 'p2'"]


def test_summary_and_labels() -> None:
    summary = small().summary()
    assert (summary["claims"], summary["pairs"]) == (0, 0)
    assert (judged().summary()["claims"], judged().summary()["pairs"]) == (2, 2)
    assert summary["documents"] == 2
    assert summary["characters"] == 26
    assert summary["gold_per_query_min_mean_max"] == [1, 1.0, 1]
    assert small().labels("province") == {"q1": "Ontario", "001": "(none)"}
    assert small().labels("dataset") == {"q1": "(none)", "001": "(none)"}
    named = replace(small(), queries={"q1": Query("q1", "x", dataset="maud"), "001": Query("001", "x")})
    assert named.labels("dataset") == {"q1": "maud", "001": "(none)"}
    assert named.summary()["datasets"] == {"maud": 1, "(none)": 1}
    assert small().blocks == {"q1": "1", "001": "1"}
    with pytest.raises(InputError, match="one of province, persona, block, variant, same_facts, dataset"):
        small().labels("mood")


def test_a_run_is_checked_against_the_benchmark() -> None:
    run = {
        "q1": [Hit("a", 1.0), Hit("B", 2.0), Hit("zzz", 0.5)],
        "Q1": [Hit("a", 1.0)],
        "1": [Hit("a", 1.0)],
    }
    assert [str(p) for p in check_run(small(), run)] == [
        "query 'Q1': is not in the benchmark: left out (differs from 'q1' by case or normal form only)",
        "query '1': is not in the benchmark: left out",
        "query 'q1': scores rise along the list: the standard measures follow the scores, the paper's the list "
        "(write the best first)",
        "query 'q1': document 'B' is not in the corpus: not relevant (differs from 'b' by case or normal form only)",
        "query 'q1': document 'zzz' is not in the corpus: not relevant",
        "query '001': has no ranking: scores zero",
    ]
    assert not any(p.fatal for p in check_run(small(), run))


def test_many_faults_of_a_kind_bury_no_other() -> None:
    """100,000 unknown documents in one ranking: five are named, in time that grows with their number."""
    hits = [Hit(f"nope{i}", -float(i)) for i in range(100_000)]
    run = {"q1": hits, **{f"other-{i}": [Hit("a", 1.0), Hit("a", 2.0)] for i in range(50)}}
    found = [str(p) for p in check_run(small(), run, lambda query, i, document: f"run.jsonl:{i}")]
    assert found == [
        *(f"query 'other-{i}': is not in the benchmark: left out" for i in range(5)),
        "run: 45 more queries not in the benchmark: left out",
        *(
            f"query 'other-{i}': scores rise along the list: the standard measures follow the scores, the paper's the "
            "list (write the best first)"
            for i in range(5)
        ),
        "run: 45 more rankings with scores that rise along the list",
        *(f"run.jsonl:{i}: document 'nope{i}' is not in the corpus: not relevant" for i in range(5)),
        "run: 99,995 more documents not in the corpus: not relevant",
        "query '001': has no ranking: scores zero",
    ]


def test_a_run_of_another_part_gets_no_hint_at_queries_that_are_others() -> None:
    one = replace(small(), queries={"maud-0017": Query("maud-0017", "x")}, qrels={"maud-0017": {"a": 1}})
    assert [str(p) for p in check_run(one, {"maud-mini-0017": [Hit("a", 1.0)]})] == [
        "run: answers no query of the benchmark (was it made for another, or for part of it?)",
        "query 'maud-mini-0017': is not in the benchmark: left out",
        "query 'maud-0017': has no ranking: scores zero",
    ]
    assert [p.fix for p in check_run(one, {"MAUD-0017": []}) if p.where == "query 'MAUD-0017'"] == [
        "differs from 'maud-0017' by case or normal form only"
    ]


def test_a_revision_is_for_the_hub() -> None:
    with pytest.raises(InputError, match="revision: is for the Hub, and 'sample' lies here"):
        load("sample", revision="v1")


def test_built_and_loaded_again_it_is_the_same(tmp_path: Path) -> None:
    build(small(), tmp_path / "out")
    again = load(tmp_path / "out")
    assert dict(again.documents) == small().documents
    assert again.queries == small().queries
    assert again.qrels == small().qrels
    assert again.answers == small().answers
    assert again.snippets == small().snippets
    assert again.fingerprint == small().fingerprint == fingerprint(again)
    assert again.name == "small"
    assert again.problems == ()


@pytest.mark.parametrize("source", ["/nowhere/at/all", "no-such-folder", "./a/b", "~nobody/x"])
def test_a_source_that_is_not_there(source: str) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load(source)


def test_a_file_or_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match=r"holds notes\.txt .needs corpus, queries and qrels"):
        load(tmp_path)
    with pytest.raises(InputError, match="is a file, not a folder"):
        load(tmp_path / "notes.txt")


def test_all_fatal_faults_are_listed_or_let_pass(tmp_path: Path) -> None:
    build(replace(small(), qrels={"q1": {"c": 1, "d": 1}, "001": {"b": 1}}, snippets=()), tmp_path / "out")
    with pytest.raises(BenchmarkError, match=r"2 problem\(s\)\n.*'c' is not in.*\n.*'d' is not in") as caught:
        load(tmp_path / "out")
    assert len(caught.value.problems) == 2
    lenient = load(tmp_path / "out", strict=False)
    assert [p.what for p in lenient.problems] == [p.what for p in caught.value.problems]
    assert set(lenient.qrels["q1"]) == {"c", "d"}  # the gold that is missing still counts against recall


class Hub(BaseHTTPRequestHandler):
    """The few answers of the Hub's wire format that a download of a small dataset needs."""

    folder: Path
    commit = "a" * 40

    def do_HEAD(self) -> None:
        self.reply(body=False)

    def do_GET(self) -> None:
        self.reply(body=True)

    def reply(self, body: bool) -> None:
        path = self.path.split("?")[0]
        names = sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file())
        if path.startswith("/api/datasets/me/small"):
            siblings = [{"rfilename": name} for name in names]
            data = json.dumps({"id": "me/small", "sha": self.commit, "siblings": siblings}).encode()
            if "/tree/" in path:
                tree = [
                    {"type": "file", "path": n, "size": (self.folder / n).stat().st_size, "oid": "0"} for n in names
                ]
                data = json.dumps(tree).encode()
            headers = {"Content-Type": "application/json"}
        else:
            name = path.rpartition(f"/resolve/{self.commit}/")[2]
            if name not in names:
                self.send_error(404)
                return
            data = (self.folder / name).read_bytes()
            headers = {"ETag": f'"{hash(name) & 0xFFFFFFFF:x}"', "X-Repo-Commit": self.commit}
        self.send_response(200)
        for key, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(key, value)
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pytest.importorskip("huggingface_hub", reason="needs the extra `hub`")
    from huggingface_hub import constants

    build(small(), tmp_path / "repository")
    handler = type("Here", (Hub,), {"folder": tmp_path / "repository"})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    yield address
    server.shutdown()
    server.server_close()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_from_the_hub_by_its_id(hub: str) -> None:
    found = load("me/small")
    assert found.queries == small().queries
    assert found.revision == Hub.commit
    assert found.fingerprint == small().fingerprint


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_hub_id_that_is_not_there(hub: str) -> None:
    with pytest.raises(InputError, match="neither a folder nor reachable on the Hub"):
        load("me/other")
