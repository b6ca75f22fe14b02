"""A benchmark: documents, queries and judgments that belong together, loaded in one line and checked."""

from canlegalrag.benchmark.benchmark import Benchmark, fingerprint
from canlegalrag.benchmark.checking import PROVINCES, check, check_run, missing
from canlegalrag.benchmark.loading import load

__all__ = ["PROVINCES", "Benchmark", "check", "check_run", "fingerprint", "load", "missing"]
