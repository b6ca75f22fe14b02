"""Which queries belong together: from the benchmark, the sample, or what is kept of the baselines' benchmarks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from canlegalrag.benchmark import Benchmark, load
from canlegalrag.files import loads, read_text
from canlegalrag.leaderboard.entries import Named
from canlegalrag.recipes import baseline

__all__ = ["Design", "design"]

_SAMPLE = "canlegalrag-sample"


@dataclass(frozen=True, slots=True)
class Design:
    """What is known of the queries of a benchmark."""

    blocks: Mapping[str, str]
    """Query id -> block; empty where that isn't known, and each query is then its own."""
    unit: str
    """What tests and resamples are over: `block` or `query`."""
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Field of the queries -> query id -> value."""


def design(of: Named, loaded: Benchmark | None = None) -> Design:
    """What is known of the queries of a benchmark.

    Args:
        of: the benchmark.
        loaded: a benchmark at hand; used where its content is that.
    """
    if loaded is not None and loaded.fingerprint == of.fingerprint:
        return _of(loaded)
    if of.name == _SAMPLE and (sample := _sample()).fingerprint == of.fingerprint:
        return _of(sample)
    blocks = _kept().get(of.fingerprint)
    return Design(blocks, "block") if blocks else Design({}, "query")


def _of(benchmark: Benchmark) -> Design:
    fields = ("persona", "province", "variant", "dataset")
    return Design(benchmark.blocks, "block", {name: benchmark.labels(name) for name in fields})


@cache
def _sample() -> Benchmark:
    return load("sample")


@cache
def _kept() -> dict[str, dict[str, str]]:
    """Fingerprint -> query id -> block, of the benchmarks that baselines were run on (`benchmarks/blocks.py`)."""
    path = baseline("results") / "blocks.json"
    kept = loads(read_text(path)) if path.exists() else {}
    return {of: {query: str(n) for n, block in enumerate(one["blocks"]) for query in block} for of, one in kept.items()}
