"""Static embeddings: the tokens and vectors of the packages they are from, to the last text."""

import importlib.util
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag import backends
from canlegalrag.backends import _static_words
from canlegalrag.errors import InputError, MissingExtra

wordllama = pytest.mark.skipif(
    importlib.util.find_spec("wordllama") is None or importlib.util.find_spec("tokenizers") is None,
    reason="needs wordllama (extra static)",
)
ODD = [
    "",
    "a",
    " ",
    " a",
    "a ",
    "a  b",
    "\n",
    "\n\na",
    "a\n b \n\n c",
    "▁",
    "a▁ b",
    "a▁",
    "<s>",
    "x <s> y",
    "</s> z",
    "é",
]
ODD += [
    "🙂🙂  x",
    "\u2011\xa0x",
    "\t\tq",
    "<unk>a",
    "  ",
    "   \n",
    "l’article 7\r\n§ 9",
    "\x00a",
    "a" * 300,
    "<s><s> a",
]


class Package:
    """What wordllama itself computes, without its `load`, which looks online."""

    def __init__(self) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        spec = importlib.util.find_spec("wordllama")
        assert spec is not None and spec.submodule_search_locations
        home = Path(spec.submodule_search_locations[0])
        self.table = load_file(home / "weights/l2_supercat_256.safetensors")["embedding.weight"].astype(np.float64)
        self.tokenizer = Tokenizer.from_file(str(home / "tokenizers/l2_supercat_tokenizer_config.json"))

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def rows(self, texts: list[str], dim: int = 256) -> np.ndarray:
        sums = np.array([self.table[self.ids(text)].sum(axis=0)[:dim] for text in texts]).reshape(len(texts), dim)
        norm = np.linalg.norm(sums, axis=1, keepdims=True)
        return sums / np.where(norm == 0, 1, norm)


@pytest.fixture(scope="module")
def package() -> Package:
    return Package()


@pytest.fixture(scope="module")
def embedder():
    return backends.embedder("static/wordllama")


@wordllama
def test_it_is_the_class_of_the_package(embedder, package: Package) -> None:
    inference = pytest.importorskip("wordllama.inference", reason="needs all that wordllama imports")
    theirs = inference.WordLlamaInference(package.table, Package().tokenizer)
    texts = [text for text in ODD if package.ids(text)]
    np.testing.assert_allclose(embedder.embed(texts, kind="document"), theirs.embed(texts, norm=True), atol=2e-6)


@wordllama
def test_odd_texts_have_the_tokens_and_vectors_of_the_package(embedder, package: Package) -> None:
    assert embedder._sums(ODD).tokens.tolist() == [len(package.ids(text)) for text in ODD]
    np.testing.assert_allclose(embedder.embed(ODD, kind="query"), package.rows(ODD), atol=2e-6)
    assert not embedder.embed([""], kind="query").any()


@wordllama
@given(st.lists(st.text(alphabet="ab1 ▁\né.<s>/🙂,('-_\x00", max_size=20), max_size=5))
def test_any_texts_have_the_tokens_of_the_package(embedder, package: Package, texts: list[str]) -> None:
    assert embedder._sums(texts).tokens.tolist() == [len(package.ids(text)) for text in texts]
    np.testing.assert_allclose(embedder.embed(texts, kind="document"), package.rows(texts), atol=2e-6)


@wordllama
def test_real_decisions_have_the_vectors_of_the_package(embedder, package: Package, shared: Path) -> None:
    from pyarrow.parquet import ParquetFile

    column = ParquetFile(shared / "scc/decisions.parquet").read(columns=["text"])["text"]
    texts = [column[i].as_py()[:4000] for i in range(0, len(column), 125)]
    texts.append(column[0].as_py())
    assert embedder._sums(texts).tokens.tolist() == [len(package.ids(text)) for text in texts]
    np.testing.assert_allclose(embedder.embed(texts, kind="document"), package.rows(texts), atol=5e-6)


@wordllama
def test_a_tokenizer_of_another_kind_is_refused(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenizers import Tokenizer, models, normalizers

    assert _static_words.WordSums.suits(package.tokenizer)
    prepend = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    for token, suits in (("▁ab", True), ("a▁", False), ("a.", False), ("7)", False), ("a\n", False), ("é.", True)):
        other = Tokenizer(models.BPE({"▁": 0, token: 1}, []))
        other.normalizer = prepend
        assert _static_words.WordSums.suits(other) == suits
    other.normalizer = normalizers.Sequence([normalizers.NFC()])
    assert not _static_words.WordSums.suits(other)
    monkeypatch.setattr(_static_words.WordSums, "suits", staticmethod(lambda tokenizer: False))
    with pytest.raises(InputError, match=r"wordllama==0\.4"):
        backends.embedder("static/wordllama")


@wordllama
def test_a_text_has_one_vector_in_any_company(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*ODD, "The tenant's deposit was kept.", *ODD]
    together = backends.embedder("static/wordllama").embed(texts, kind="document")
    monkeypatch.setattr(_static_words, "_BLOCK", 7)  # many blocks …
    monkeypatch.setattr(_static_words, "_KEPT", 3)  # … and words forgotten after nearly every one
    small = backends.embedder("static/wordllama")
    assert (small.embed(texts, kind="document") == together).all()
    alone = np.concatenate([small.embed([text], kind="query") for text in texts])
    assert (alone == together).all()
    assert small.counts["texts"] == 2 * len(texts)
    assert small.counts["truncated"] == 0


@wordllama
def test_a_text_has_one_vector_whatever_was_read_before() -> None:
    """To the last digit: an index that was killed and gone on with is byte for byte that of one run."""
    words = [f"word{i % 97} of{i % 13} the tenancy {i}" for i in range(400)]
    texts = [" ".join(words[i : i + 30]) for i in range(0, 370, 10)]
    ordered = backends.embedder("static/wordllama").embed(texts, kind="document")
    turned = backends.embedder("static/wordllama").embed(texts[::-1], kind="document")[::-1]
    other = backends.embedder("static/wordllama")
    other.embed(words[::-1], kind="document")
    assert (ordered == turned).all()
    assert (ordered == other.embed(texts, kind="document")).all()


@wordllama
def test_a_table_that_grows_keeps_what_it_had(embedder, package: Package) -> None:
    texts = [f"word{i} w{i}x" for i in range(3000)]
    found = backends.embedder("static/wordllama")
    first = found.embed(texts[:10], kind="document")
    found.embed(texts, kind="document")
    assert (found.embed(texts[:10], kind="document") == first).all()
    np.testing.assert_allclose(found.embed(texts[-5:], kind="document"), package.rows(texts[-5:]), atol=2e-6)


@wordllama
def test_threads_may_share_a_model() -> None:
    texts = [f"word{i} of thread {i % 7}" for i in range(500)]
    expected = backends.embedder("static/wordllama").embed(texts, kind="document")
    shared_by_all = backends.embedder("static/wordllama")
    with ThreadPoolExecutor(8) as pool:
        parts = pool.map(lambda i: shared_by_all.embed(texts[i::10], kind="document"), range(10))
        for i, part in enumerate(parts):
            np.testing.assert_allclose(part, expected[i::10], atol=1e-6)
    assert shared_by_all.counts["texts"] == 500


@wordllama
def test_fewer_dimensions(package: Package) -> None:
    embedder = backends.embedder("static/wordllama", dim=64)
    texts = ["The deposit", "Le dépôt"]
    np.testing.assert_allclose(embedder.embed(texts, kind="query"), package.rows(texts, 64), atol=2e-6)
    assert embedder.identity["dim"] == 64
    for dim in (100, 512, 0):
        with pytest.raises(InputError, match="dim"):
            backends.embedder("static/wordllama", dim=dim)


@wordllama
def test_identity_is_json_and_says_where_the_weights_are_from(embedder) -> None:
    identity = json.loads(json.dumps(dict(embedder.identity), allow_nan=False))
    assert identity["model"] == "static/wordllama"
    assert identity["source"].startswith("wordllama 0.")
    assert (identity["dim"], identity["window"]) == (256, None)


@wordllama
def test_wrong_input(embedder) -> None:
    with pytest.raises(InputError, match="static/wordllama"):
        embedder.embed("text", kind="query")
    with pytest.raises(InputError, match="kind"):
        embedder.embed(["text"], kind="passage")
    assert embedder.embed([], kind="query").shape == (0, 256)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"wordllama is not installed: pip install 'canlegalrag\[static\]'"):
        backends.embedder("static/wordllama")


def _model2vec(folder: Path, **config: object) -> Path:
    """A tiny model with words for tokens: vectors that are easy to add."""
    model2vec = pytest.importorskip("model2vec", reason="needs model2vec (extra static)")
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = ["[UNK]", "deposit", "rent", "tenant", "due"]
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.array([[9, 9, 9], [1, 0, 0], [0, 2, 0], [0, 0, 3], [1, 1, 1]], dtype=np.float32)
    made = model2vec.StaticModel(vectors, tokenizer, **config)
    made.save_pretrained(folder)
    return folder


def test_a_model_of_model2vec(tmp_path: Path) -> None:
    folder = _model2vec(tmp_path / "m", max_length=4)
    embedder = backends.embedder(f"static/{folder}")
    texts = ["deposit rent", "unknown words", "", "due due due due due", "rent rent tenant tenant"]
    # By hand: (1,2,0); nothing known; nothing; four of five (1,1,1), as the window is 4; the package first cuts
    # characters, at 4 times 5, the median length of a token: "rent rent tenant ten" is (0,4,3).
    expected = np.array([[1, 2, 0], [0, 0, 0], [0, 0, 0], [4, 4, 4], [0, 4, 3]], dtype=float)
    expected /= np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1e-9)
    found = embedder.embed(texts, kind="document")
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert embedder.counts == {"texts": 5, "truncated": 2, "tokens": 9}
    from model2vec import StaticModel

    theirs = StaticModel.from_pretrained(folder).encode(texts, normalize=True)
    np.testing.assert_allclose(found, theirs, atol=1e-6)
    assert embedder.identity["window"] == 4
    assert backends.embedder(f"static/{folder}", dim=2).embed(["deposit due"], kind="query").shape == (1, 2)
    with pytest.raises(InputError, match="has 3 dimensions, not 4"):
        backends.embedder(f"static/{folder}", dim=4)


def test_a_quantised_vocabulary_is_weighted_as_the_package_does(tmp_path: Path) -> None:
    mapping, weights = np.array([0, 1, 1, 2, 0]), np.array([1, 0.5, 2, 1, 3], dtype=np.float32)
    model2vec = pytest.importorskip("model2vec", reason="needs model2vec (extra static)")
    plain = model2vec.StaticModel.from_pretrained(_model2vec(tmp_path / "plain"))
    vectors = np.array([[1, 0], [0, 1], [2, 1]], dtype=np.float32)
    model2vec.StaticModel(vectors, plain.tokenizer, weights=weights, token_mapping=mapping).save_pretrained(
        tmp_path / "q"
    )
    texts = ["deposit rent", "tenant", "due deposit due"]
    theirs = model2vec.StaticModel.from_pretrained(tmp_path / "q").encode(texts, normalize=True)
    found = backends.embedder(f"static/{tmp_path / 'q'}").embed(texts, kind="query")
    np.testing.assert_allclose(found, theirs, atol=1e-6)


def test_a_folder_of_models_is_looked_in_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _model2vec(tmp_path / "org/tiny")
    monkeypatch.setenv("CANLEGALRAG_MODELS", str(tmp_path))
    embedder = backends.embedder("static/org/tiny")
    assert embedder.identity["source"] == "folder"
    assert str(tmp_path) not in json.dumps(dict(embedder.identity))
    revision = embedder.identity["revision"]
    config = tmp_path / "org/tiny/config.json"
    config.write_text(config.read_text() + " ")
    assert backends.embedder("static/org/tiny").identity["revision"] != revision
    assert backends.needs("static/org/tiny", "embedder").extra == "static"


def test_folders_that_hold_no_model(tmp_path: Path) -> None:
    pytest.importorskip("model2vec", reason="needs model2vec (extra static)")
    with pytest.raises(InputError, match="is not a folder"):
        backends.embedder("static/./nowhere")
    (tmp_path / "m").mkdir()
    with pytest.raises(InputError, match="holds no model"):
        backends.embedder(f"static/{tmp_path / 'm'}")
    (tmp_path / "m/config.json").write_text("{}")
    with pytest.raises(InputError, match="can't be loaded"):
        backends.embedder(f"static/{tmp_path / 'm'}")
