"""Any SentenceTransformer as an embedder: cut into tokens once, batched by tokens, prompts applied and recorded."""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from canlegalrag.backends._batches import cut, token_batches
from canlegalrag.backends._checks import check_kind, check_positive, texts_of, unit_rows
from canlegalrag.backends._counts import Counts
from canlegalrag.backends._models import Place, loading
from canlegalrag.backends._torch import Runtime, library, running, versions
from canlegalrag.errors import InputError
from canlegalrag.protocols import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["SentenceEmbedder", "is_plain", "same_vectors"]

_CANDIDATES = {"query": ("query",), "document": ("document", "passage", "corpus")}
"""Names of prompts, the first that a model has counts; sentence-transformers looks for the same."""
_PROBE = ("The tenant's deposit was kept.", "Le bail est résilié. " * 40, "§ 7")
_ENDLESS = 1 << 20  # tokenizers without a limit say so by a very large one


class SentenceEmbedder:
    """Embeds texts by a SentenceTransformer."""

    def __init__(self, name: str, place: Place, run: Runtime, *, engine: str, options: Mapping[str, Any]) -> None:
        check_positive(name, "dim", options.get("dim"))
        if engine not in ("torch", "onnx", "openvino"):
            raise InputError(name, f"backend {engine!r} is not known", "torch, onnx or openvino")
        self._name, self._place, self._run, self._engine = name, place, run, engine
        self._model = _load(name, place, run, engine)
        self._plain = is_plain(self._model)
        self._prompts = {kind: _prompt(self._model, kind, options.get(f"{kind}_prompt")) for kind in _CANDIDATES}
        self._counts, self._one = Counts("texts", "truncated", "tokens"), Lock()
        whole = int(self._model.get_embedding_dimension() or 0)
        self._dim = options.get("dim") or whole
        if self._dim > whole:
            raise InputError(name, f"has {whole} dimensions, not {self._dim}", "leave dim out for all of them")
        if engine != "torch":
            reference = SentenceEmbedder(name, place, run, engine="torch", options=options)
            same_vectors(name, engine, reference._probe(), self._probe())

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its vectors depend on; the device is left out, since it moves the last digits only."""
        return {
            "model": self._name,
            "source": self._place.source,
            "revision": self._place.revision,
            "dim": self._dim,
            "window": self._window("document"),
            "query_prompt": self._prompts["query"],
            "document_prompt": self._prompts["document"],
            "dtype": str(self._model.dtype).removeprefix("torch.") if self._engine == "torch" else self._run.dtype,
            "backend": self._engine,
            "versions": versions("sentence-transformers", "transformers"),
        }

    @property
    def counts(self) -> Mapping[str, int]:
        """Texts so far, how many were longer than the window, and the tokens read."""
        return self._counts.now()

    def embed(self, texts: Sequence[str], *, kind: Kind) -> "Floats":
        """Embed texts with the prompt of their kind."""
        given = texts_of(self._name, texts)
        check_kind(self._name, kind)
        with self._one, running(self._name):  # a tokenizer can't be used by two threads at once
            rows = self._own(given, kind) if self._plain else self._theirs(given, kind)
        self._counts.add(texts=len(given))
        return unit_rows(self._name, given, rows, dim=self._dim)

    def _probe(self) -> "Floats":
        found = self.embed(_PROBE, kind="document")
        self._counts = Counts("texts", "truncated", "tokens")
        return found

    def _window(self, kind: str) -> int | None:
        window = getattr(self._model[0], f"{kind}_length", None) or self._model.max_seq_length
        return int(window) if window and window < _ENDLESS else None

    def _own(self, texts: list[str], kind: Kind) -> "Floats":
        """Our own batches: every text is cut into tokens once, and its length is known before it is batched."""
        rows = np.zeros((len(texts), self._dim), dtype=np.float32)
        if not texts:
            return rows
        prompt = self._prompts[kind]
        asked = [prompt + text for text in texts] if prompt else texts
        tokens = cut(self._model.tokenizer, asked, None, self._window(kind))
        self._counts.add(truncated=tokens.truncated, tokens=sum(tokens.lengths))
        for batch in token_batches(tokens.lengths, self._run.batch_tokens):
            found = self._model(tokens.features(batch, self._run.device), task=kind)["sentence_embedding"]
            rows[batch] = found[:, : self._dim].float().cpu().numpy()
        return rows

    def _theirs(self, texts: list[str], kind: Kind) -> "Floats":
        """The batches of sentence-transformers, for models that take more than tokens: routers, chat templates …"""
        if not texts:
            return np.zeros((0, self._dim), dtype=np.float32)
        encode = self._model.encode_query if kind == "query" else self._model.encode_document
        window = self._window(kind)
        self._counts.add(truncated=_longer(self._model, [self._prompts[kind] + text for text in texts], window))
        count = max(1, self._run.batch_tokens // min(window or 512, 512))
        found: Floats = encode(texts, prompt=self._prompts[kind], batch_size=count, show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)[:, : self._dim]


def _load(name: str, place: Place, run: Runtime, engine: str) -> Any:
    transformers = library("sentence_transformers")
    options: dict[str, Any] = {"model_kwargs": {"dtype": run.dtype}} if engine == "torch" else {"backend": engine}
    with loading(name, place):
        model = transformers.SentenceTransformer(place.where, device=run.device, revision=place.commit, **options)
    model.eval()
    return model


def _prompt(model: Any, kind: str, given: str | None) -> str:
    """The prompt that is put before a text: as given, else as sentence-transformers would choose it."""
    if given is not None:
        return given
    names = [name for name in _CANDIDATES[kind] if name in model.prompts]
    name = names[0] if names else model.default_prompt_name
    return (model.prompts.get(name) if name else None) or ""


def is_plain(model: Any) -> bool:
    """Whether the model takes nothing but tokens, so that batches of our own give the vectors of its `encode`."""
    first = model[0]
    return (
        type(first).__name__ == "Transformer"
        and first.transformer_task in ("feature-extraction", "sequence-classification")
        and "text" in first.modality_config
        and "message" not in first.modality_config
        and bool(getattr(first.tokenizer, "is_fast", False))
        and not first.processing_kwargs
        and not first.query_expansion
        and not first.can_flatten_inputs
        and all(getattr(module, "include_prompt", True) for module in model)
    )


def _longer(model: Any, texts: list[str], window: int | None) -> int:
    """How many texts have more tokens than the window; 0 where that can't be known."""
    tokenizer: Any = getattr(model, "tokenizer", None)
    if window is None or not hasattr(tokenizer, "model_max_length"):
        return 0
    return sum(len(ids) > window for ids in tokenizer(texts, truncation=False, verbose=False)["input_ids"])


def same_vectors(name: str, engine: str, wanted: "Floats", found: "Floats") -> None:
    """Make sure that a model gives the vectors of the original: exported models can be silently wrong.

    Raises:
        InputError: the cosine with the original is below 0.999 for one of the texts.
    """
    cosine = float(np.einsum("ij,ij->i", wanted, found).min())
    if not cosine >= 0.999:
        what = f"vectors by {engine} have a cosine of {cosine:.4f} with those by torch"
        raise InputError(name, what, "export the model again, or leave backend out")
