"""Static embeddings: a text is the mean of its tokens' vectors. No GPU, no torch.

`static/wordllama` ships its weights in its package; `static/FOLDER` and `static/org/name` are models of model2vec.
"""

import importlib.util
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from canlegalrag.backends._checks import check_kind, check_positive, texts_of, unit_rows
from canlegalrag.backends._counts import Counts
from canlegalrag.backends._models import folder_of, loading, locate
from canlegalrag.backends._needs import Needs
from canlegalrag.backends._static_words import TokenSums, WordSums
from canlegalrag.errors import InputError, MissingExtra
from canlegalrag.protocols import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from canlegalrag.calls import Calls

__all__ = ["Static", "embedder", "needs"]

_WORDLLAMA = "l2_supercat"
_NESTED = (64, 128, 256)  # dimensions that wordllama's vectors were trained to be cut to


def embedder(model: str, calls: "Calls | None" = None, *, dim: int | None = None) -> "Static":
    """A static embedder.

    Args:
        model: `wordllama`, or a model of model2vec: a folder, or an id on the Hub.
        calls: not needed.
        dim: dimensions to keep, the first ones; all by default.
    """
    name = f"static/{model}"
    check_positive(name, "dim", dim)
    sums, about = _wordllama(name, dim) if model == "wordllama" else _model2vec(name, model)
    if dim is not None and dim > sums.dim:
        raise InputError(name, f"has {sums.dim} dimensions, not {dim}", "leave dim out for all of them")
    return Static(name, sums, about, dim or sums.dim)


def needs(model: str, role: str) -> Needs:
    """The extra `static`, and little memory."""
    if model == "wordllama":
        return Needs(extra="static", gigabytes=0.03)
    folder = folder_of(model)
    sizes = [file.stat().st_size for file in folder.rglob("*.safetensors")] if folder else []
    gigabytes = round(sum(sizes) / 1e9, 3) if sizes else None
    return Needs(
        extra="static", gigabytes=gigabytes, window=512, note="model2vec; its own configuration may set the window"
    )


def _wordllama(name: str, dim: int | None) -> tuple[WordSums, dict[str, Any]]:
    """Weights and tokenizer as files of the package; importing it would set up logging, and look online."""
    if dim is not None and dim not in _NESTED:
        raise InputError(name, f"dim {dim} is not one it was trained for", "64, 128 or 256")
    spec = importlib.util.find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("wordllama", "static")
    home = Path(spec.submodule_search_locations[0])
    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        table = load_file(home / "weights" / f"{_WORDLLAMA}_256.safetensors")["embedding.weight"]
        tokenizer = Tokenizer.from_file(str(home / "tokenizers" / f"{_WORDLLAMA}_tokenizer_config.json"))
    except ImportError as error:
        raise MissingExtra(str(error.name), "static") from error
    except Exception as error:  # tokenizers and safetensors raise errors of their own
        raise InputError(
            name, f"its files can't be read: {error}", "pip install --force-reinstall wordllama"
        ) from error
    if not WordSums.suits(tokenizer):
        raise InputError(name, "its tokenizer isn't the one that this version knows", "pip install 'wordllama==0.4.*'")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    source = f"wordllama {metadata.version('wordllama')}"
    return WordSums(np.ascontiguousarray(table, dtype=np.float32), tokenizer), {
        "source": source,
        "revision": _WORDLLAMA,
    }


def _model2vec(name: str, model: str) -> tuple[TokenSums, dict[str, Any]]:
    try:
        from model2vec import StaticModel
    except ImportError as error:
        raise MissingExtra("model2vec", "static") from error
    place = locate(name, model)
    where = place.where
    with loading(name, place):
        if place.commit is not None:  # model2vec takes no revision
            from huggingface_hub import snapshot_download

            where = snapshot_download(where, revision=place.commit, allow_patterns=["*.json", "*.safetensors"])
        loaded = StaticModel.from_pretrained(where)
        sums = TokenSums(loaded)
    return sums, {"source": place.source, "revision": place.revision}


class Static:
    """Embeds a text as the mean of its tokens' vectors; one that has no known token is a row of zeros."""

    def __init__(self, name: str, sums: TokenSums | WordSums, about: Mapping[str, Any], dim: int) -> None:
        self._name, self._sums, self._about, self._dim = name, sums, dict(about), dim
        self._counts = Counts("texts", "truncated", "tokens")
        self._one = Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its vectors depend on."""
        return {"model": self._name, **self._about, "dim": self._dim, "window": self._sums.window}

    @property
    def counts(self) -> Mapping[str, int]:
        """Texts and tokens so far, and how many texts were longer than the window."""
        return self._counts.now()

    def embed(self, texts: Sequence[str], *, kind: Kind) -> "NDArray[np.float32]":
        """Embed texts, queries and documents alike."""
        given = texts_of(self._name, texts)
        check_kind(self._name, kind)
        with self._one:  # words are learnt on the way
            found = self._sums(given)
        self._counts.add(texts=len(given), truncated=found.truncated, tokens=int(found.tokens.sum()))
        return unit_rows(self._name, given, found.vectors[:, : self._dim], dim=self._dim)
