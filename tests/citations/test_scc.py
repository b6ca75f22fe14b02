"""Real decisions of the Supreme Court: their citations parse, their text can be searched."""

from pathlib import Path

import pytest

from canlegalrag.citations import find, parse

DECISIONS = Path(__file__).parents[3] / "shared/data/scc/decisions.parquet"
pytestmark = pytest.mark.skipif(
    not DECISIONS.exists(), reason="needs ../shared/data/scc, which is not in the repository"
)

NOT_CITATIONS = {"SCC-2015-06178": "35548"}
"""Rows whose `citation` is none: a file number of the Court."""


def test_every_citation_column_parses_to_the_supreme_court() -> None:
    from pyarrow.parquet import ParquetFile

    columns = ["doc_id", "citation", "citation2"]
    rows = ParquetFile(DECISIONS).read(columns=columns).to_pylist()
    failed = {}
    for row in rows:
        for written in filter(None, (row["citation"], row["citation2"])):
            citation = parse(written)
            if citation is None:
                failed[row["doc_id"]] = written
                continue
            assert (citation.text, citation.court_id) == (written, "scc")
            assert citation.year is not None
    assert failed == NOT_CITATIONS


def test_search_of_whole_decisions() -> None:
    from pyarrow.parquet import ParquetFile

    texts = ParquetFile(DECISIONS).read(columns=["text"]).column("text")
    for at in range(0, len(texts), 500):
        text = texts[at].as_py()
        for citation in find(text):
            assert citation.text == text[citation.start : citation.end]
            again = parse(citation.key)
            assert again is not None and again.key == citation.key
