"""Where and in which precision torch models run, and how much they take at a time."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from canlegalrag.backends._checks import check_positive
from canlegalrag.errors import CallError, InputError, MissingExtra

__all__ = ["Runtime", "library", "running", "runtime", "versions"]

_DTYPES = ("auto", "float32", "bfloat16", "float16")
_BUDGET = {"cpu": 4096, "mps": 8192, "cuda": 32_768}
"""Tokens a batch. On a processor, more leaves its caches and gains nothing (measured with MiniLM); a GPU wants to be
filled."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """How a model runs."""

    device: str
    """`cpu`, `cuda`, `cuda:1`, `mps` …"""
    dtype: str
    """`float32`, `bfloat16`, `float16`, or `auto`: as the weights were saved."""
    batch_tokens: int
    """Tokens a batch, padding included."""


def library(name: str) -> Any:
    """A library of the extra `dense`, imported when it is needed.

    Raises:
        MissingExtra: it isn't installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra(name.partition(".")[0].replace("_", "-"), "dense") from error


def runtime(
    model: str,
    *,
    device: str | None = None,
    dtype: str | None = None,
    batch_tokens: int | None = None,
    threads: int | None = None,
) -> Runtime:
    """Choose what isn't given: a GPU where there is one; there as the weights were saved, on a processor float32.

    Large models are saved in 16 bits, which GPUs are fast at; most processors are slow at it. `threads` is of the whole
    process, as torch has it.

    Raises:
        InputError: an option isn't known, or the device isn't there.
        MissingExtra: torch isn't installed.
    """
    check_positive(model, "batch_tokens", batch_tokens)
    check_positive(model, "threads", threads)
    if dtype is not None and dtype not in _DTYPES:
        raise InputError(model, f"dtype {dtype!r} is not known", f"one of: {', '.join(_DTYPES)}")
    torch = library("torch")
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        kind = torch.device(device).type
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:  # torch built without CUDA raises AssertionError
        raise InputError(model, f"there is no device {device!r} here", "cpu, cuda, cuda:1 or mps") from error
    if threads is not None:
        torch.set_num_threads(threads)
    chosen = dtype or ("float32" if kind == "cpu" else "auto")
    return Runtime(str(device), chosen, batch_tokens or _BUDGET.get(kind, _BUDGET["cuda"]))


def versions(*distributions: str) -> dict[str, str]:
    """Version of each distribution, for an identity."""
    return {name: metadata.version(name) for name in distributions}


@contextmanager
def running(model: str) -> Iterator[None]:
    """Run without gradients, and say what to do where memory runs out.

    Raises:
        CallError: the model failed.
    """
    torch = library("torch")
    try:
        with torch.inference_mode():
            yield
    except (RuntimeError, IndexError, ValueError) as error:
        if isinstance(error, CallError | InputError):
            raise
        fix = "lower batch_tokens" if "memory" in str(error).lower() else "check that the model suits this role"
        raise CallError(model, f"failed: {type(error).__name__}: {str(error).strip()[:200]}", fix) from error
