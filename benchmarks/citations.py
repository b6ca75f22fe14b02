"""How fast `find` reads, beside eyecite's `get_citations` on the same text.

    python benchmarks/citations.py [--every N] [--rival-chars M]

Reads the decisions of ../shared/data/scc (every Nth of them), counts what it finds by kind, times each family of
forms, and, where eyecite is installed (`pip install eyecite`), times it on the first M characters of the same text.
One process, one core. Numbers: docs/citations.md.
"""

import argparse
import time
import tracemalloc
from collections import Counter
from pathlib import Path

from pyarrow.parquet import ParquetFile

from canlegalrag.citations import find
from canlegalrag.citations.fold import fold
from canlegalrag.citations.search import FAMILIES

DECISIONS = Path(__file__).parents[2] / "shared/data/scc/decisions.parquet"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--every", type=int, default=10, help="read every Nth decision (default 10)")
    arguments.add_argument("--rival-chars", type=int, default=1_000_000, help="characters that eyecite reads")
    given = arguments.parse_args()
    texts = ParquetFile(DECISIONS).read(columns=["text"]).column("text").to_pylist()[:: given.every]
    find(texts[0])
    ours = measure_ours(texts)
    measure_memory(max(texts, key=len))
    measure_families(texts)
    measure_eyecite(texts, given.rival_chars, ours)


def measure_ours(texts: list[str]) -> float:
    """Characters a second of `find`, best of two readings."""
    kinds: Counter[str] = Counter()
    characters, best = sum(map(len, texts)), 0.0
    for _ in range(2):
        kinds.clear()
        start = time.perf_counter()
        for text in texts:
            kinds.update(citation.kind for citation in find(text))
        best = max(best, characters / (time.perf_counter() - start))
    print(f"find: {len(texts):,} decisions, {characters:,} characters, {best / 1e6:.1f} million characters a second")
    print("  " + ", ".join(f"{kind} {n:,}" for kind, n in kinds.most_common()), f"= {kinds.total():,}")
    return best


def measure_memory(text: str) -> None:
    tracemalloc.start()
    found = find(text)
    print(f"longest decision: {len(text):,} characters, {len(found):,} citations, ", end="")
    print(f"{tracemalloc.get_traced_memory()[1] / 2**20:.1f} MiB at the peak")
    tracemalloc.stop()


def measure_families(texts: list[str]) -> None:
    folded = [fold(text) for text in texts]
    characters = sum(map(len, folded))
    for family in FAMILIES:
        start = time.perf_counter()
        for text in folded:
            family(text)
        spent = time.perf_counter() - start
        print(
            f"  {family.__module__.rpartition('.')[2]}.{family.__name__}: {spent / characters * 1e9:.1f} ns a character"
        )


def measure_eyecite(texts: list[str], characters: int, ours: float) -> None:
    try:
        from eyecite import get_citations
    except ImportError:
        print("eyecite is not installed: no comparison (pip install eyecite)")
        return
    taken, length = [], 0
    for text in texts:
        if length < characters:
            taken.append(text)
            length += len(text)
    get_citations(taken[0][:2000])
    start = time.perf_counter()
    found = sum(len(get_citations(text)) for text in taken)
    theirs = length / (time.perf_counter() - start)
    mine = sum(len(find(text)) for text in taken)
    print(f"eyecite get_citations: {length:,} characters, {theirs / 1e6:.2f} million characters a second")
    print(f"  ratio {ours / theirs:.1f} to 1; citations found in the same text: {mine:,} ours, {found:,} eyecite's")


if __name__ == "__main__":
    main()
