"""Models of entailment as judges: the probabilities of transformers, labels in any order, windows, MiniCheck."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from canlegalrag import backends
from canlegalrag.backends._hf_labels import labels_of
from canlegalrag.errors import CallError, InputError
from canlegalrag.protocols import Judge
from canlegalrag.types import Claim, Task, Verdict

TEXT = """predict : 0 1 the tenant landlord kept deposit rent due court held lease paid not must may give notice month
repair roof appeal dismissed allowed order a of . ,"""
WORDS = TEXT.split()
EVIDENCE = "The landlord kept the deposit . The tenant paid rent . The court held the lease ."
CLAIMS = ("The landlord kept the deposit .", "The tenant must give notice .", "The appeal allowed .")
ORDERS = {
    "abc": {0: "entailment", 1: "neutral", 2: "contradiction"},
    "cba": {0: "CONTRADICTION", 1: "Neutral", 2: "Entailment"},
    "two": {0: "entailment", 1: "not_entailment"},
    "mute": {0: "LABEL_0", 1: "LABEL_1"},
}


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Any:
    """Importing these libraries warns of things that are not ours."""
    pytest.importorskip("transformers", reason="needs the extra dense")
    pytest.importorskip("torch", reason="needs the extra dense")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch  # noqa: F401
        import transformers  # noqa: F401
    yield


def tokenizer(kind: str) -> Any:
    """Whole words; framed as BERT does (`pairs`) or closed by the end-of-text token alone, as T5 does (`ends`)."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "</s>", *WORDS]
    made = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = Lowercase(), Whitespace()
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "</s>"])
    templates = {
        "pairs": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)]),
        "ends": ("$A </s>", "$A </s> $B </s>", [("</s>", 4)]),
    }
    single, pair, special = templates[kind]
    made.post_processor = TemplateProcessing(single=single, pair=pair, special_tokens=special)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "eos_token": "</s>"}
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if kind == "pairs" else [])]
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64, model_input_names=inputs, **names)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of random models."""
    import torch
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        LlamaConfig,
        LlamaForCausalLM,
        RobertaConfig,
        RobertaForSequenceClassification,
        T5Config,
        T5ForConditionalGeneration,
    )

    torch.manual_seed(7)
    folder = tmp_path_factory.mktemp("models")
    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    for name, labels in ORDERS.items():
        config = BertConfig(vocab_size=60, max_position_embeddings=64, **small, id2label=labels, initializer_range=1.0)
        BertForSequenceClassification(config).save_pretrained(folder / "nli" / name)
        tokenizer("pairs").save_pretrained(folder / "nli" / name)
    config = RobertaConfig(vocab_size=60, max_position_embeddings=66, pad_token_id=0, num_labels=2, **small)
    RobertaForSequenceClassification(config).save_pretrained(folder / "org/MiniCheck-tiny")
    tokenizer("pairs").save_pretrained(folder / "org/MiniCheck-tiny")
    t5 = T5Config(
        vocab_size=60, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0, pad_token_id=0
    )
    for name in ("org/MiniCheck-T5-tiny", "org/plain-t5"):
        T5ForConditionalGeneration(t5).save_pretrained(folder / name)
        tokenizer("ends").save_pretrained(folder / name)
    llama = LlamaConfig(vocab_size=60, max_position_embeddings=64, eos_token_id=4, bos_token_id=None, **small)
    LlamaForCausalLM(llama).save_pretrained(folder / "org/chat")
    chat = tokenizer("ends")
    chat.chat_template = "{% for m in messages %}{{ m['content'] }} </s> {% endfor %}"
    chat.save_pretrained(folder / "org/chat")
    return folder


def task(*claims: str, evidence: str = EVIDENCE) -> Task:
    return Task(tuple(Claim("q1", "answer", i, text) for i, text in enumerate(claims)), "doc", evidence)


def judge(home: Path, name: str, **options: Any) -> Any:
    return backends.judge(f"huggingface/{name}", device="cpu", models=str(home), **options)


def plainly(home: Path, name: str, evidence: str, claim: str) -> list[float]:
    """The probabilities of a pair by transformers alone, in the order of the model's outputs."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(home / name).eval()
    coded = AutoTokenizer.from_pretrained(home / name)(evidence, claim, return_tensors="pt")
    with torch.no_grad():
        return torch.softmax(model(**coded).logits.double(), -1)[0].tolist()


@pytest.mark.parametrize("order", ["abc", "cba", "two"])
def test_probabilities_are_those_of_transformers_whatever_the_order(home: Path, order: str) -> None:
    made = judge(home, f"nli/{order}")
    assert isinstance(made, Judge)
    (verdicts,) = made.judge([task(*CLAIMS)])
    for claim, verdict in zip(CLAIMS, verdicts, strict=True):
        found = dict(zip(ORDERS[order].values(), plainly(home, f"nli/{order}", EVIDENCE, claim), strict=True))
        by_name = {name.lower(): chance for name, chance in found.items()}
        assert verdict.probability == pytest.approx(by_name["entailment"], abs=1e-6)
        expected = "supported" if by_name["entailment"] >= 0.5 else "unsupported"
        if expected == "unsupported" and by_name.get("contradiction", 0) >= 0.5:
            expected = "contradicted"
        assert verdict.label == expected
        assert (verdict.judge, verdict.against, verdict.cost) == (f"huggingface/nli/{order}", "doc", 0.0)
        assert f"supported {by_name['entailment']:.3f}" in verdict.reason
    assert made.counts == {"texts": 3, "truncated": 0, "windows": 3, "tokens": made.counts["tokens"]}
    identity = json.loads(json.dumps(dict(made.identity), allow_nan=False))
    assert (identity["form"], identity["threshold"], identity["window"]) == ("nli", 0.5, 64)


def test_the_threshold_decides(home: Path) -> None:
    (chance,) = (v.probability for v in judge(home, "nli/abc").judge([task(CLAIMS[0])])[0])
    assert judge(home, "nli/abc", threshold=chance).judge([task(CLAIMS[0])])[0][0].label == "supported"
    above = judge(home, "nli/abc", threshold=min(1.0, chance + 1e-3)).judge([task(CLAIMS[0])])[0][0]
    assert above.label != "supported" and above.probability == pytest.approx(chance)
    for bad in (0, 1.5, -1, float("nan"), "0.5", True):
        with pytest.raises(InputError, match="is no probability"):
            judge(home, "nli/abc", threshold=bad)


def test_batches_give_what_each_gives_alone(home: Path) -> None:
    tasks = [task(*CLAIMS), task(), task(CLAIMS[1], evidence="Rent due ."), task(CLAIMS[0], evidence=EVIDENCE * 3)]
    made = judge(home, "nli/cba", batch_tokens=40)
    together = made.judge(tasks)
    assert [len(v) for v in together] == [3, 0, 1, 1]
    for one, verdicts in zip(tasks, together, strict=True):
        for claim, verdict in zip(one.claims, verdicts, strict=True):
            (alone,) = made.judge([Task((claim,), one.against, one.evidence)])[0]
            assert alone.probability == pytest.approx(verdict.probability, abs=1e-6)
            assert (alone.label, alone.claim) == (verdict.label, claim)
    assert made.judge([]) == []


def test_long_evidence_is_windowed_and_the_best_window_decides(home: Path) -> None:
    evidence = " ".join(f"{EVIDENCE} the roof of the court {'repair ' * (i % 3)}." for i in range(9))
    made = judge(home, "nli/abc")
    (verdict,) = made.judge([task(CLAIMS[0], evidence=evidence)])[0]
    assert made.counts["windows"] > 3 and made.counts["truncated"] == 0
    # Each window is a stretch of the evidence; by hand: windows of `room` words, each `step` words after the last.
    words = evidence.split()
    room = 64 - len(CLAIMS[0].split()) - 3
    step = room - room // 4
    stretches = [" ".join(words[s : s + room]) for s in range(0, max(0, len(words) - room) + step, step)]
    assert made.counts["windows"] == len(stretches)
    chances = [plainly(home, "nli/abc", stretch, CLAIMS[0]) for stretch in stretches]
    assert verdict.probability == pytest.approx(max(row[0] for row in chances), abs=1e-6)
    assert verdict.quote and verdict.quote in evidence
    assert f"of {len(stretches)}" in verdict.reason
    assert " ".join(verdict.quote.split()) in stretches
    # Every word of the evidence was read in some window.
    assert stretches[-1].split()[-1] == words[-1]


def test_a_claim_that_cannot_fit_has_no_label(home: Path) -> None:
    made = judge(home, "nli/abc")
    (short, long) = made.judge([task(CLAIMS[0], "rent " * 70)])[0]
    assert short.label is not None
    assert long.label is None and "leave no room for evidence in a window of 64" in long.reason
    assert made.counts["truncated"] == 1
    # A claim that leaves room for all of a short text is judged.
    assert made.judge([task("rent " * 50, evidence="Rent due .")])[0][0].label is not None


def test_blank_evidence_and_blank_claims_have_no_label(home: Path) -> None:
    made = judge(home, "nli/abc")
    blank = made.judge([task(CLAIMS[0], evidence=" \n"), task("  ")])
    assert [(v[0].label, v[0].reason) for v in blank] == [(None, "the evidence is blank"), (None, "the claim is blank")]
    (emoji,) = made.judge([task("🙂🙂", evidence="é 🙂 ñ")])[0]
    assert 0 <= emoji.probability <= 1


def joined(home: Path, name: str, evidence: str, claim: str) -> float:
    """MiniCheck's probability of support by transformers alone: one text, the end-of-text token in the middle."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoModelForSequenceClassification, AutoTokenizer

    words = AutoTokenizer.from_pretrained(home / name)
    with torch.no_grad():
        if "T5" not in name:
            model = AutoModelForSequenceClassification.from_pretrained(home / name).eval()
            coded = words(f"{evidence}</s>{claim}", return_tensors="pt")
            coded.pop("token_type_ids", None)
            return float(torch.softmax(model(**coded).logits.double(), -1)[0, 1])
        model = AutoModelForSeq2SeqLM.from_pretrained(home / name).eval()
        coded = words(f"predict: {evidence}</s>{claim}", return_tensors="pt")
        start = torch.zeros((1, 1), dtype=torch.long)
        logits = model(input_ids=coded["input_ids"], decoder_input_ids=start).logits[0, 0]
        pair = torch.stack([logits[5 + WORDS.index("0")], logits[5 + WORDS.index("1")]])
        return float(torch.softmax(pair.double(), -1)[1])


@pytest.mark.parametrize("name", ["org/MiniCheck-tiny", "org/MiniCheck-T5-tiny"])
def test_minicheck_is_asked_as_it_was_trained(home: Path, name: str) -> None:
    made = judge(home, name)
    verdicts = made.judge([task(*CLAIMS)])[0]
    for claim, verdict in zip(CLAIMS, verdicts, strict=True):
        assert verdict.probability == pytest.approx(joined(home, name, EVIDENCE, claim), abs=1e-6)
        assert verdict.label == ("supported" if verdict.probability >= 0.5 else "unsupported")
    assert made.identity["form"] == "minicheck"
    assert made.identity["labels"] == ["unsupported", "supported"]
    windowed = judge(home, name, window=48)
    (verdict,) = windowed.judge([task(CLAIMS[0], evidence=f"{EVIDENCE} {EVIDENCE} {EVIDENCE} {EVIDENCE}")])[0]
    assert windowed.counts["windows"] > 1
    assert verdict.quote in f"{EVIDENCE} {EVIDENCE} {EVIDENCE} {EVIDENCE}"
    assert verdict.probability == pytest.approx(joined(home, name, verdict.quote, CLAIMS[0]), abs=1e-6)


def test_labels_that_say_nothing_are_refused_until_they_are_said(home: Path) -> None:
    with pytest.raises(InputError, match=r"its labels can't be understood: LABEL_0, LABEL_1 \(.*labels="):
        judge(home, "nli/mute")
    first = judge(home, "nli/mute", labels=["supported", "unsupported"]).judge([task(CLAIMS[0])])[0][0]
    second = judge(home, "nli/mute", labels=["unsupported", "supported"]).judge([task(CLAIMS[0])])[0][0]
    assert first.probability + second.probability == pytest.approx(1)
    with pytest.raises(InputError, match="3 labels are given for its 2"):
        judge(home, "nli/mute", labels=["supported", "unsupported", "contradicted"])
    for bad in (["supported", "no idea"], "supported", ["unsupported", "contradicted"]):
        with pytest.raises(InputError, match="aren't meanings of outputs"):
            judge(home, "nli/mute", labels=bad)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["entailment", "neutral", "contradiction"], ("supported", "unsupported", "contradicted")),
        (["contradiction", "entailment", "neutral"], ("contradicted", "supported", "unsupported")),
        (["ENTAILMENT", "NOT_ENTAILMENT"], ("supported", "unsupported")),
        (["not-entailment", "entailment"], ("unsupported", "supported")),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], ("supported", "contradicted", "unsupported")),
        (["hallucinated", "consistent"], ("unsupported", "supported")),
    ],
)
def test_labels_as_models_name_them(labels: list[str], expected: tuple[str, ...]) -> None:
    transformers = pytest.importorskip("transformers", reason="needs the extra dense")
    config = transformers.BertConfig(id2label=dict(enumerate(labels)))
    assert labels_of("m", config, None, False) == expected


@pytest.mark.parametrize("labels", [["positive", "negative"], ["entailment", "entails"], ["neutral", "contradiction"]])
def test_labels_that_cannot_be_read(labels: list[str]) -> None:
    transformers = pytest.importorskip("transformers", reason="needs the extra dense")
    with pytest.raises(InputError, match="can't be understood"):
        labels_of("m", transformers.BertConfig(id2label=dict(enumerate(labels))), None, False)


def test_which_kind_a_model_is(home: Path) -> None:
    with pytest.raises(InputError, match=r"writes text and isn't known to judge \(form='minicheck'"):
        judge(home, "org/plain-t5")
    assert judge(home, "org/plain-t5", form="minicheck").judge([task(CLAIMS[0])])[0][0].label
    with pytest.raises(InputError, match="form 'x' is not known"):
        judge(home, "nli/abc", form="x")
    with pytest.raises(InputError, match="a model of entailment, for which there is no option 'thinking'"):
        judge(home, "nli/abc", thinking=True)
    with pytest.raises(InputError, match="a language model, for which there is no option 'threshold'"):
        judge(home, "org/chat", threshold=0.5)
    with pytest.raises(InputError, match=r"takes no answers apart \(choose offline/sentences or a chat model\)"):
        backends.decomposer("huggingface/nli/abc", models=str(home))
    with pytest.raises(InputError, match=r"sorts no claims \(choose offline/rules or a chat model\)"):
        backends.sorter("huggingface/nli/abc", models=str(home))
    with pytest.raises(InputError, match="there is no option 'tresh'"):
        backends.sorter("huggingface/org/chat", tresh=1)


def test_language_models_judge_by_a_prompt(home: Path) -> None:
    made = judge(home, "org/chat", per_call=3)
    assert isinstance(made, Judge) and type(made).__name__ == "ChatJudge"
    options = {"models": str(home), "device": "cpu"}
    assert type(backends.decomposer("huggingface/org/chat", **options)).__name__ == "ChatDecomposer"
    assert type(backends.sorter("huggingface/org/chat", **options)).__name__ == "ChatSorter"


def test_numbers_that_are_none_are_an_error(home: Path) -> None:
    made = judge(home, "nli/abc")
    made._model.classifier.weight.data.fill_(float("nan"))
    with pytest.raises(CallError, match="are no numbers"):
        made.judge([task(CLAIMS[0])])


def test_wrong_input_is_named(home: Path) -> None:
    made = judge(home, "nli/abc")
    with pytest.raises(InputError, match="is not a string"):
        made.judge([task(CLAIMS[0], evidence=5)])  # type: ignore[arg-type]
    assert isinstance(made.judge([task(CLAIMS[0])])[0][0], Verdict)
