"""The benchmark kit for retrieval-augmented question answering over Canadian case law."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Benchmark", "__version__", "load"]

if TYPE_CHECKING:
    from canlegalrag.benchmark import Benchmark, load


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import canlegalrag` stays fast."""
    if name in ("Benchmark", "load"):
        from canlegalrag import benchmark

        return getattr(benchmark, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
