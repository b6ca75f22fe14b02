"""Hand-written sources: what is wrong in them is named with its file."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from canlegalrag.benchmark import load
from canlegalrag.errors import BenchmarkError
from canlegalrag.types import Claim, LabelledPair

DOCUMENT = """+++
title = "A v. B"
citations = ["2020 BCSC 90999"]
court = "BCSC"
year = 2020
jurisdiction = "BC"
language = "en"
+++
Reasons

[1] The tenant paid. The tenant paid late.
"""
BLOCK = """id = "b1"
province = "Ontario"
seed = "A tenant paid late."
[[query]]
id = "q1"
variant = "seed"
persona = "lay"
same_facts = true
text = " Late rent? "
[query.answer]
citations = ["2020 BCSC 90999"]
opening = "Yes."
arguments = ["See 2020 BCSC 90999."]
conclusion = "Pay."
[[query.gold]]
doc = "2020-bcsc-90999"
quotes = ["The tenant paid late."]
"""


def write(folder: Path, document: str = DOCUMENT, block: str = BLOCK) -> Path:
    (folder / "documents").mkdir()
    (folder / "blocks").mkdir()
    (folder / "documents" / "2020-bcsc-90999.md").write_text(document, encoding="utf-8")
    (folder / "blocks" / "1-x.toml").write_text(block, encoding="utf-8")
    return folder


def test_a_document_a_query_and_its_evidence(tmp_path: Path) -> None:
    found = load(write(tmp_path))
    document = found.documents["2020-bcsc-90999"]
    assert document.text == "Reasons\n\n[1] The tenant paid. The tenant paid late."
    assert (document.title, document.year, document.citations) == ("A v. B", 2020, ("2020 BCSC 90999",))
    query = found.queries["q1"]
    assert (query.text, query.province, query.block, query.same_facts) == ("Late rent?", "Ontario", "b1", True)
    assert found.answers["q1"].parts == ("Yes.", "See 2020 BCSC 90999.", "Pay.")
    (snippet,) = found.snippets
    assert (snippet.start, snippet.end) == (30, 51)


@pytest.mark.parametrize(
    ("document", "block", "message"),
    [
        ("no front matter", BLOCK, "2020-bcsc-90999.md: has no front matter"),
        ("+++\ntitle =\n+++\nx", BLOCK, "front matter is not valid TOML"),
        (DOCUMENT.replace("court", "cuort"), BLOCK, "unknown key 'cuort'"),
        (DOCUMENT, "id = ", "1-x.toml: is not valid TOML"),
        (DOCUMENT, BLOCK.replace("paid late", "paid twice"), "quote occurs 0 times in 2020-bcsc-90999, not once"),
        (DOCUMENT, BLOCK.replace('["The tenant paid late."]', '["The tenant paid"]'), "quote occurs 2 times"),
        (
            DOCUMENT,
            BLOCK.replace("2020-bcsc-90999", "2020-bcsc-9099"),
            "gold document '2020-bcsc-9099' is not in the corpus",
        ),
        (DOCUMENT, BLOCK.replace("persona", "person"), "1-x.toml: q1: unknown key 'person'"),
        (DOCUMENT, BLOCK + BLOCK.partition("[[query]]")[1] + BLOCK.partition("[[query]]")[2], "query id is used twice"),
        (
            DOCUMENT.replace('["2020 BCSC 90999"]', '"2020 BCSC 90999"'),
            BLOCK,
            "citations is '2020 BCSC 90999', not",
        ),
        (
            DOCUMENT.replace('["2020 BCSC 90999"]', "5"),
            BLOCK,
            "bcsc-90999.md: citations is 5, not a list of strings",
        ),
        (DOCUMENT.replace('["2020 BCSC 90999"]', "[5]"), BLOCK, "2020-bcsc-90999.md: citations holds 5, not a string"),
        (DOCUMENT.replace("2020\n", '"x"\n'), BLOCK, "2020-bcsc-90999.md: year 'x' is not a whole number"),
        (
            DOCUMENT.replace("2020\n", "40000\n"),
            BLOCK,
            "2020-bcsc-90999.md: year 40000 is not a whole number",
        ),
        (DOCUMENT.replace('"A v. B"', "5"), BLOCK, "2020-bcsc-90999.md: title is 5, not a string"),
        (DOCUMENT.replace('"A v. B"', "9" * 5000), BLOCK, "front matter is not valid TOML"),
        (DOCUMENT.replace('"A v. B"', "[" * 5000), BLOCK, "front matter is not valid TOML"),
        (DOCUMENT, BLOCK.replace("true", '"no"'), "1-x.toml: q1: same_facts is 'no', neither true nor false"),
        (DOCUMENT, BLOCK.replace('" Late rent? "', "5"), "1-x.toml: q1: text is 5, not a string"),
        (DOCUMENT, BLOCK.replace("[[query]]", "[query]").partition("[query.answer]")[0], "not a list of tables"),
        (DOCUMENT, BLOCK.replace('doc = "', 'dox = "'), "1-x.toml: q1: has no doc"),
        (
            DOCUMENT,
            BLOCK.partition("[[query.gold]]")[0].replace("[query.answer]", 'gold = ["a"]'),
            "gold holds 'a', not",
        ),
        (DOCUMENT, BLOCK + 'grade = "x"', "1-x.toml: q1: grade 'x' is not a whole number"),
        (DOCUMENT, BLOCK + "grade = 1.9", "1-x.toml: q1: grade 1.9 is not a whole number"),
        (DOCUMENT, BLOCK + "grade = nan", "1-x.toml: q1: grade nan is not a whole number"),
        (DOCUMENT, BLOCK + "grade = true", "1-x.toml: q1: grade True is not a whole number"),
        (DOCUMENT, BLOCK + '[[query.gold]]\ndoc = "2020-bcsc-90999"\ngrade = 0', "'2020-bcsc-90999' is judged twice"),
        (
            DOCUMENT,
            BLOCK.replace('["The tenant paid late."]', '"The tenant paid late."'),
            "quotes is 'The tenant paid",
        ),
        (DOCUMENT, BLOCK.replace('["The tenant paid late."]', '[" "]'), "quote occurs 0 times"),
        (DOCUMENT, BLOCK.replace("arguments", "argument"), "1-x.toml: q1: answer: has no arguments"),
        (DOCUMENT, BLOCK.replace('["See 2020 BCSC 90999."]', '"See"'), "q1: answer: arguments is 'See', not a list"),
        (DOCUMENT, BLOCK.replace("[query.answer]", 'answer = "x"'), "1-x.toml: q1: answer is not a table"),
    ],
)
def test_faults_name_their_file(tmp_path: Path, document: str, block: str, message: str) -> None:
    with pytest.raises(BenchmarkError) as caught:
        load(write(tmp_path, document, block))
    assert message in str(caught.value)


def test_a_wrong_value_is_left_out_and_the_rest_is_used(tmp_path: Path) -> None:
    document = DOCUMENT.replace('["2020 BCSC 90999"]', '"2020 BCSC 90999"')
    found = load(write(tmp_path, document, BLOCK + "grade = 1.9"), strict=False)
    assert found.documents["2020-bcsc-90999"].citations == ()
    assert found.qrels == {}
    assert found.queries["q1"].same_facts is True


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("benchmark.toml", b"title = ", "benchmark.toml: is not valid TOML"),
        ("benchmark.toml", b"title = 5\nname = 5\ndescription = 5", "benchmark.toml: description is 5, not a string"),
        ("benchmark.toml", b"\xe9", "benchmark.toml:1: byte 0xe9 is not valid UTF-8"),
        ("documents/x.md", b"+++\n+++\n\xe9", "documents/x.md:3: byte 0xe9 is not valid UTF-8"),
        ("documents/x.md", None, "x.md: is not a regular file"),
        ("blocks/x.toml", b"\xe9", "x.toml:1: byte 0xe9 is not valid UTF-8"),
        ("blocks/x.toml", None, "x.toml: is not a regular file"),
        ("blocks/x.toml", b"id = " + b"[" * 5000, "x.toml: is not valid TOML"),
    ],
)
def test_an_unreadable_file_is_a_fault_and_the_others_are_read(
    tmp_path: Path, name: str, data: bytes | None, message: str
) -> None:
    write(tmp_path)
    if data is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(BenchmarkError) as caught:
        load(tmp_path)
    assert message in str(caught.value)
    found = load(tmp_path, strict=False)
    assert list(found.documents) == ["2020-bcsc-90999"]
    assert found.qrels == {"q1": {"2020-bcsc-90999": 1}}


def test_a_file_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(write(tmp_path) / "documents") + b"/\xe9.md"))
    try:
        path.write_text("+++\nx = 1\n+++\ntext")
    except OSError:
        pytest.skip("the file system takes no such name")
    lines = [str(p) for p in load(tmp_path, strict=False).problems]
    assert lines[0].startswith("?.md: unknown key 'x'")
    assert lines[1].startswith("document '\\udce9': id holds half of a surrogate pair")
    assert "".join(lines).encode()


def test_a_byte_order_mark_and_crlf_are_let_pass(tmp_path: Path) -> None:
    text = "\ufeff" + DOCUMENT.replace("\n", "\r\n")
    assert load(write(tmp_path, text)).documents["2020-bcsc-90999"].text.startswith("Reasons\n\n[1] The")


# The answer's text is "Yes.\n\nSee 2020 BCSC 90999.\n\nPay."; the document's begins "Reasons\n\n[1] The tenant paid."
CLAIM = {"query_id": "q1", "sentence": "See 2020 BCSC 90999.", "claim": "2020 BCSC 90999 is in point."}
PAIR = {"id": "p1", "claim": "Rent was late.", "doc": "2020-bcsc-90999", "quote": "The tenant paid late."}
PAIR |= {"label": "supported", "kind": "plain", "note": "said so"}


def lines(path: Path, *rows: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_claims_and_labelled_pairs(tmp_path: Path) -> None:
    write(tmp_path)
    assert (load(tmp_path).claims, load(tmp_path).pairs) == ({}, ())
    lines(tmp_path / "claims" / "1-x.jsonl", CLAIM, CLAIM | {"sentence": "Pay.", "claim": "The tenant must pay."})
    lines(tmp_path / "claims.jsonl", CLAIM | {"sentence": "Yes.", "claim": "Late rent matters."})
    without = {k: v for k, v in PAIR.items() if k not in ("kind", "note")}
    lines(tmp_path / "pairs.jsonl", PAIR, without | {"id": "p2", "label": "unsupported"})
    found = load(tmp_path)
    assert found.problems == ()
    assert found.claims == {
        "q1": (
            Claim("q1", "reference", 0, "2020 BCSC 90999 is in point.", 6, 26),
            Claim("q1", "reference", 1, "The tenant must pay.", 28, 32),
            Claim("q1", "reference", 2, "Late rent matters.", 0, 4),
        )
    }
    text = found.answers["q1"].text
    assert [text[c.start : c.end] for c in found.claims["q1"]] == ["See 2020 BCSC 90999.", "Pay.", "Yes."]
    first = LabelledPair(
        "p1", "Rent was late.", "2020-bcsc-90999", 30, 51, "The tenant paid late.", "supported", "plain", "said so"
    )
    second = LabelledPair("p2", "Rent was late.", "2020-bcsc-90999", 30, 51, "The tenant paid late.", "unsupported")
    assert found.pairs == (first, second)


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        (
            "claims/1-x.jsonl",
            CLAIM | {"sentence": "Seen."},
            "claims/1-x.jsonl:2: quote occurs 0 times in the answer to q1",
        ),
        ("claims/1-x.jsonl", CLAIM | {"sentence": "9"}, "claims/1-x.jsonl:2: quote occurs 4 times in the answer to q1"),
        ("claims/1-x.jsonl", CLAIM | {"sentence": ""}, "claims/1-x.jsonl:2: quote occurs 0 times in the answer to q1"),
        (
            "claims/1-x.jsonl",
            CLAIM | {"query_id": "Q1"},
            "1-x.jsonl:2: query 'Q1' is not in the benchmark (differs from 'q1'",
        ),
        ("claims/1-x.jsonl", CLAIM | {"query_id": 1}, "claims/1-x.jsonl:2: query_id is 1, not a string"),
        ("claims/1-x.jsonl", CLAIM | {"claim": ["x"]}, "claims/1-x.jsonl:2: claim is ['x'], not a string"),
        ("claims/1-x.jsonl", CLAIM | {"claim": " "}, "claim 1 of 'q1': has no text"),
        ("claims/1-x.jsonl", CLAIM | {"text": "x"}, "claims/1-x.jsonl:2: unknown key 'text'"),
        ("claims/1-x.jsonl", {"query_id": "q1"}, "claims/1-x.jsonl:2: has no sentence (every line needs query_id,"),
        ("claims/1-x.jsonl", {}, "claims/1-x.jsonl:2: has no query_id"),
        ("claims/1-x.jsonl", [], "1-x.jsonl:2: a list, not a JSON object"),
        (
            "pairs.jsonl",
            PAIR | {"quote": "The tenant paid twice."},
            "pairs.jsonl:2: quote occurs 0 times in 2020-bcsc-90999",
        ),
        ("pairs.jsonl", PAIR | {"quote": "The tenant paid"}, "pairs.jsonl:2: quote occurs 2 times in 2020-bcsc-90999"),
        ("pairs.jsonl", PAIR | {"quote": None}, "pairs.jsonl:2: has no quote"),
        (
            "pairs.jsonl",
            PAIR | {"doc": "2020-bcsc-9099"},
            "pairs.jsonl:2: document '2020-bcsc-9099' is not in the corpus (did",
        ),
        ("pairs.jsonl", PAIR | {"id": "p1"}, "pair 'p1': id is used 2 times"),
        ("pairs.jsonl", PAIR | {"id": "p2", "label": "entailed"}, "pair 'p2': label 'entailed' is none"),
        ("pairs.jsonl", PAIR | {"kind": 5}, "pairs.jsonl:2: kind is 5, not a string"),
        ("pairs.jsonl", PAIR | {"note": float("nan")}, "pairs.jsonl:2: not JSON: NaN is not a number"),
    ],
)
def test_faults_of_claims_and_pairs_name_their_line(tmp_path: Path, name: str, row: Any, message: str) -> None:
    write(tmp_path)
    lines(tmp_path / name, CLAIM if "claims" in name else PAIR, row)
    with pytest.raises(BenchmarkError) as caught:
        load(tmp_path)
    assert message in str(caught.value)
    found = load(tmp_path, strict=False)
    if "claims" in name:
        assert found.claims["q1"][0] == Claim("q1", "reference", 0, "2020 BCSC 90999 is in point.", 6, 26)
    else:
        assert (found.pairs[0].id, found.pairs[0].start) == ("p1", 30)  # the line that is right stays


def test_claims_of_a_query_without_an_answer(tmp_path: Path) -> None:
    write(
        tmp_path, block=BLOCK.partition("[query.answer]")[0] + "[[query.gold]]" + BLOCK.partition("[[query.gold]]")[2]
    )
    lines(tmp_path / "claims.jsonl", CLAIM)
    (tmp_path / "pairs.jsonl").mkdir()
    said = [str(p) for p in load(tmp_path, strict=False).problems]
    assert len(said) == 2
    assert "claims.jsonl:1: query 'q1' has no reference answer" in said[0]
    assert "pairs.jsonl: is not a regular file (take it away)" in said[1]
