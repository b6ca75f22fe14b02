"""Hand-written sources: what is wrong in them is named with its file."""

from pathlib import Path

import pytest

from canlegalrag.benchmark import load
from canlegalrag.errors import BenchmarkError

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
    ],
)
def test_faults_name_their_file(tmp_path: Path, document: str, block: str, message: str) -> None:
    with pytest.raises(BenchmarkError) as caught:
        load(write(tmp_path, document, block))
    assert message in str(caught.value)
