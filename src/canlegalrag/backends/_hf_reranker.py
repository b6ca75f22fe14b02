"""Any CrossEncoder as a reranker: raw logits, batched by tokens."""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from canlegalrag.backends._batches import cut, token_batches
from canlegalrag.backends._checks import finite_scores, texts_of
from canlegalrag.backends._counts import Counts
from canlegalrag.backends._hf_embedder import is_plain
from canlegalrag.backends._models import Place, loading
from canlegalrag.backends._torch import Runtime, library, running, versions
from canlegalrag.errors import InputError

__all__ = ["PairReranker"]

_ENDLESS = 1 << 20


class PairReranker:
    """Scores pairs by a CrossEncoder.

    A score is the logit: the sigmoid that many models put on it orders alike, but gives 1.0 to all that are sure, and
    then ties decide.
    """

    def __init__(self, name: str, place: Place, run: Runtime) -> None:
        self._name, self._place, self._run = name, place, run
        cross = library("sentence_transformers").CrossEncoder
        with loading(name, place):
            self._model = cross(
                place.where, device=run.device, revision=place.commit, model_kwargs={"dtype": run.dtype}
            )
        self._model.eval()
        if self._model.num_labels != 1:
            what = f"gives {self._model.num_labels} labels a pair, not one score"
            raise InputError(name, what, "a reranker is a cross-encoder with one label")
        self._prompt = self._model.prompts.get(self._model.default_prompt_name or "") or ""
        self._plain = is_plain(self._model) and not self._prompt
        self._counts, self._one = Counts("texts", "truncated", "tokens"), Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its scores depend on; the device is left out, since it moves the last digits only."""
        return {
            "model": self._name,
            "source": self._place.source,
            "revision": self._place.revision,
            "window": self._window(),
            "prompt": self._prompt,
            "score": "logit",
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "versions": versions("sentence-transformers", "transformers"),
        }

    @property
    def counts(self) -> Mapping[str, int]:
        """Pairs so far (`texts`), how many were longer than the window, and the tokens read."""
        return self._counts.now()

    def _window(self) -> int | None:
        window = self._model.max_seq_length
        return int(window) if window and window < _ENDLESS else None

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score each text for the query."""
        texts_of(self._name, [query])
        given = texts_of(self._name, texts)
        if not given:
            return []
        with self._one, running(self._name):  # a tokenizer can't be used by two threads at once
            scores = self._own(query, given) if self._plain else self._theirs(query, given)
        self._counts.add(texts=len(given))
        return finite_scores(self._name, given, scores)

    def _own(self, query: str, texts: list[str]) -> Any:
        tokens = cut(self._model.tokenizer, [query] * len(texts), texts, self._window())
        self._counts.add(truncated=tokens.truncated, tokens=sum(tokens.lengths))
        scores = np.zeros(len(texts), dtype=np.float32)
        for batch in token_batches(tokens.lengths, self._run.batch_tokens):
            found = self._model(tokens.features(batch, self._run.device))["scores"]
            scores[batch] = found.float().cpu().numpy().reshape(len(batch))
        return scores

    def _theirs(self, query: str, texts: list[str]) -> Any:
        """The batches of sentence-transformers, for models with a chat template such as Qwen3-Reranker."""
        window, tokenizer = self._window(), self._model.tokenizer
        pairs = [(query, text) for text in texts]
        if window is not None:
            ids = tokenizer([query] * len(texts), texts, truncation=False, verbose=False)["input_ids"]
            self._counts.add(truncated=sum(len(i) > window for i in ids))
        count = max(1, self._run.batch_tokens // min(window or 512, 512))
        identity = library("torch").nn.Identity()
        return self._model.predict(pairs, batch_size=count, activation_fn=identity, show_progress_bar=False)
