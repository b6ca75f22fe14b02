"""The chunker of LegalBench-RAG: what LangChain's splitter gives, with offsets, and the published numbers."""

import gzip
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from canlegalrag.chunking import parse, spans

texts = st.one_of(
    st.text(max_size=300),
    st.text(alphabet="aé\n\r!?.:;, \0\1", max_size=300),
    st.text(alphabet="a\n ", max_size=200),
    st.lists(st.sampled_from([*"!?.:;, \n", "\n\n", "\r\n", "é", "word", "x" * 40]), max_size=60).map("".join),
)


def rcts(text: str, size: int, overlap: int = 0) -> list[str]:
    """The passages of `rcts` as text."""
    return [text[start:end] for start, end in spans(text, method="rcts", size=size, overlap=overlap)]


def test_rcts_by_hand() -> None:
    # Lines of 6, 12 and 7 with their line feeds in front: 6 + 12 > 16; 12 is below 16; 12 + 7 > 16.
    assert rcts("Part I\nSection one\nCosts.", 16) == ["Part I", "\nSection one", "\nCosts."]
    # The second line has 20: at its full stops 12, 7 and 1; 12 + 7 > 16.
    assert rcts("Part I\nSection one. Costs.", 16) == ["Part I", "\nSection one", ". Costs."]
    # At "." a piece of 10 and one of 1; the long one at " " 1, 7 and 2; the 7 anywhere. Neighbours of a piece that
    # was cut are not put together with what is left of it, nor those of one level with those of another.
    assert rcts("b aaaaaa c.", 4) == ["b", " aaa", "aaa", " c", "."]
    # Marks in their order: "!" before "?" before "." before ":", and so on.
    assert rcts("aa,bb!cc.dd?ee", 6) == ["aa,bb", "!cc.dd", "?ee"]
    # Of three line feeds the first two are the blank line; a blank line before a long piece is cut in two.
    assert rcts("aaa\n\n\nbbb", 6) == ["aaa", "\n\n\nbbb"]
    assert rcts("aaa\n\n\nbbbb", 6) == ["aaa", "\n\n", "\nbbbb"]
    # Pieces of 1 and five of 2: four fit. Two are shared: with three, 6, the overlap would be over 4.
    assert rcts("a b c d e f", 7, 4) == ["a b c d", " c d e", " d e f"]
    # Overlap 6 would share three, but the next one must fit as well: two again.
    assert rcts("a b c d e f", 7, 6) == ["a b c d", " c d e", " d e f"]
    # The letters of the long piece share 3 with one another, and nothing is shared across its ends.
    assert rcts("a b cccccc d e", 4, 3) == ["a b", " ccc", "cccc", "cccc", "cccc", " d e"]


@settings(max_examples=300)
@given(texts, st.integers(1, 200), st.data())
@example("a" * 50, 1, None)
@example("\n\n\n", 1, None)
@example("\1\n\n\1", 2, None)
def test_rcts_loses_nothing(text: str, size: int, data: st.DataObject | None) -> None:
    overlap = data.draw(st.integers(0, size - 1)) if data else 0
    cut = spans(text, method="rcts", size=size, overlap=overlap)
    if not text.strip():
        assert cut == []
        return
    assert cut[0][0] == 0 and cut[-1][1] == len(text)
    assert all(start < end <= start + size for start, end in cut)
    assert all(a < c and b < d and 0 <= b - c <= overlap for (a, b), (c, d) in pairwise(cut))


def langchain(size: int, overlap: int) -> Callable[[str], list[str]]:
    """LangChain's splitter with the settings of LegalBench-RAG."""
    peer = pytest.importorskip("langchain_text_splitters", reason="compares with langchain-text-splitters")
    return peer.RecursiveCharacterTextSplitter(
        separators=["\n\n", "\n", "!", "?", ".", ":", ";", ",", " ", ""],
        chunk_size=size,
        chunk_overlap=overlap,
        length_function=len,
        is_separator_regex=False,
        strip_whitespace=False,
    ).split_text


@settings(max_examples=1000)
@given(texts, st.integers(1, 60), st.data())
@example("\n\n" + "a" * 40 + "\n\n\n" + "b" * 20, 20, None)
def test_rcts_is_langchain(text: str, size: int, data: st.DataObject | None) -> None:
    overlap = data.draw(st.sampled_from([0, 0, *range(size)])) if data else 0
    assert rcts(text, size, overlap) == (langchain(size, overlap)(text) if text.strip() else [])


@pytest.fixture(scope="module")
def mini(shared: Path) -> dict[str, str]:
    """The 72 documents of LegalBench-RAG-mini."""
    from pyarrow.parquet import ParquetFile

    folder = shared / "legalbenchrag"
    table = ParquetFile(folder / "corpus.parquet").read(columns=["_id", "text"])
    found = dict(zip(table["_id"].to_pylist(), table["text"].to_pylist(), strict=True))
    return {name: found[name] for name in (folder / "mini/documents.txt").read_text("utf-8").split("\n") if name}


def test_published_counts(mini: dict[str, str]) -> None:
    for short, count in (("fixed:500:0", 17_403), ("rcts:500:0", 34_180)):
        cuts = {name: parse(short)(text) for name, text in mini.items()}
        assert sum(map(len, cuts.values())) == count
        assert all("".join(mini[name][start:end] for start, end in cut) == mini[name] for name, cut in cuts.items())


def test_published_run_holds_our_passages(mini: dict[str, str], shared: Path) -> None:
    cut = parse("rcts:500:0")
    ours = {(name, start, end) for name, text in mini.items() for start, end in cut(text)}
    lists = json.loads(gzip.decompress((shared / "legalbenchrag/bm25_rcts_top64_runs.json.gz").read_bytes()))
    published = {tuple(span) for retrieved in lists for span in retrieved}
    assert len(published) > 1000
    assert published <= ours


def test_rcts_is_langchain_on_real_documents(mini: dict[str, str]) -> None:
    for size, overlap in ((500, 0), (300, 100)):
        split = langchain(size, overlap)
        assert all(rcts(text, size, overlap) == split(text) for text in mini.values())
