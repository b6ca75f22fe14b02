"""Recipes: names, files, short forms, and all that can be wrong with them."""

from pathlib import Path

import pytest

from canlegalrag.benchmark import load
from canlegalrag.errors import InputError
from canlegalrag.protocols import Retriever
from canlegalrag.recipes import Recipe, cache_folder, compose, parse, published


def test_every_published_recipe_runs(tmp_path: Path) -> None:
    """One test over all rows, so that a new row is tested by being there."""
    sample = load("sample")
    asked = [query.asked for query in list(sample.queries.values())[:2]]
    identities = set()
    for recipe in published().values():
        retriever = compose(recipe, sample, cache=tmp_path)
        assert isinstance(retriever, Retriever), recipe.name
        rankings = retriever.search(asked, 3)
        assert [len({hit.doc_id for hit in hits}) for hits in rankings] == [3, 3], recipe.name
        assert all(hit.doc_id in sample.documents for hits in rankings for hit in hits), recipe.name
        identities.add(recipe.identity)
    assert len(identities) == len(published()) >= 26


def test_short_forms_change_settings() -> None:
    assert parse("bm25l").options == {"variant": "bm25l", "chunk": "whole"}
    short = parse("bm25l:chunk=4096,b=0.4,tokenizer=ascii")
    assert short.options == {"variant": "bm25l", "chunk": "recursive:4096:128", "b": 0.4, "tokenizer": "ascii"}
    assert short.name == "bm25l:chunk=4096,b=0.4,tokenizer=ascii"
    assert parse("bm25l:chunk=fixed:512:0").options["chunk"] == "fixed:512:0"


def test_identity_is_of_the_settings_not_of_the_name() -> None:
    one = Recipe("a", "bm25", {"variant": "lucene", "k1": 1.2})
    assert one.identity == Recipe("b", "bm25", {"k1": 1.2, "variant": "lucene"}, "note").identity
    assert one.identity != Recipe("a", "bm25", {"variant": "lucene", "k1": 1.3}).identity
    assert parse("bm25l:chunk=4096").identity == parse("bm25l-4096").identity


def test_a_file_with_one_row(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('retriever = "bm25"\nvariant = "okapi"\nk1 = 0.9\nchunk = 2048\n')
    found = parse(str(path))
    assert (found.name, found.options) == ("mine", {"variant": "okapi", "k1": 0.9, "chunk": "recursive:2048:128"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bm52l", r"recipe 'bm52l': is unknown .near: bm25l"),
        ("", "recipe '': is unknown"),
        ("bm25l:chunk", "'chunk' is not setting=value"),
        ("bm25l:size=4", "unknown setting size .bm25 has b, chunk, delta, k1, tokenizer, variant"),
        ("bm25l:chunk=0", "size"),
        ("bm25l:chunk=recusive:10", "recursive"),
        ("none.toml", "none.toml: can't be read as TOML"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("retriever =", "can't be read as TOML"),
        ('retriever = "magic"', "retriever 'magic' is unknown .one of bm25"),
        ('[[recipe]]\nretriever = "bm25"\n[[recipe]]\nretriever = "bm25"\n', "holds 2 recipes"),
        ("recipe = 3", r"has no \[\[recipe\]\] table"),
    ],
)
def test_files_with_faults(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        parse(str(path))


def test_unknown_variants_and_tokenizers_are_named(tmp_path: Path) -> None:
    for text, message in (("bm25:variant=bm25x", "bm25l"), ("bm25:tokenizer=lega", "legal")):
        with pytest.raises(InputError, match=message):
            compose(parse(text), load("sample"), cache=tmp_path)
    assert not (tmp_path / "indexes").exists() or not list((tmp_path / "indexes").iterdir())


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CANLEGALRAG_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("CANLEGALRAG_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/canlegalrag")


def test_the_papers_recipe_ranks_as_its_code_does(tmp_path: Path) -> None:
    """Its chunks, its tokens, rank-bm25 itself, and a stable sort of the scores: the same passages, the same scores."""
    rank_bm25 = pytest.importorskip("rank_bm25", reason="needs rank-bm25")
    import re

    from canlegalrag.chunking import paper_texts

    sample = load("sample")
    chunks = [(d.id, text) for d in sample.documents.values() for text in paper_texts(d.text, 1024, 128)]
    oracle = rank_bm25.BM25L([re.findall("[a-z0-9]+", text.lower()) for _, text in chunks])
    retriever = compose(parse("paper-bm25l-1024"), sample, cache=tmp_path)
    for query in list(sample.queries.values())[::9]:
        scores = oracle.get_scores(re.findall("[a-z0-9]+", query.asked.lower()))
        best = sorted(range(len(chunks)), key=lambda i: scores[i], reverse=True)[:20]
        (hits,) = retriever.search([query.asked], 20)
        assert [hit.score for hit in hits[:20]] == pytest.approx([scores[i] for i in best], abs=1e-9)
        for (id_, _), here, hit in zip((chunks[i] for i in best), (scores[i] for i in best), hits, strict=False):
            tied = {chunks[i][0] for i in range(len(chunks)) if abs(scores[i] - here) < 1e-9}
            assert hit.doc_id == id_ or hit.doc_id in tied
