"""Exact dense search beside FAISS: seconds for a batch of queries, memory, and how long an index takes to open.

    python benchmarks/dense.py --sizes 100000,1000000 --queries 1,8,64,532 --json dense.json

Ours searches a memory-mapped index in a folder, gives the 100 best passages and the best passage of each further
document until 100 documents, scored in float64. The peer is FAISS's `IndexFlatIP` in memory, which gives the 100 best
passages alone; it is run with `distance_compute_blas_threshold` as it comes and at 1, which makes it use BLAS for few
queries too. Both use all cores. Times are the best of `--repeats` runs that alternate between the systems, so that what
else the machine does falls on all of them; `x` is FAISS's time over ours. Vectors are random around random centres, a
document has 1 to 39 passages; each query is a vector with as much noise again.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from canlegalrag.retrievers.dense import Dense
from canlegalrag.types import Document

K = 100


class Drawn:
    """Draws the vectors that a real embedder would make; a query is the number of the passage it is near to."""

    counts: dict = {}  # noqa: RUF012

    def __init__(self, n: int, dimensions: int) -> None:
        self.n, self.dimensions = n, dimensions
        self.identity = {"model": "benchmark/drawn", "n": n, "dimensions": dimensions}

    def embed(self, texts, *, kind):
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            unit = int(text)
            row[:] = np.random.default_rng([1, unit // 50]).standard_normal(self.dimensions, dtype=np.float32)
            row += np.random.default_rng([2, unit]).standard_normal(self.dimensions, dtype=np.float32)
            if kind == "query":
                row += np.random.default_rng([3, unit]).standard_normal(self.dimensions, dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def corpus(n: int) -> dict[str, Document]:
    """Documents whose passages are numbers of seven digits."""
    rng = np.random.default_rng(0)
    documents, unit = {}, 0
    while unit < n:
        end = min(n, unit + int(rng.integers(1, 40)))
        name = f"d{len(documents)}"
        documents[name] = Document(name, "", "".join(f"{i:07d}" for i in range(unit, end)))
        unit = end
    return documents


def sevens(document: Document) -> list[tuple[int, int]]:
    return [(at, at + 7) for at in range(0, len(document.text), 7)]


def timed(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def memory() -> float:
    """Peak of this process, gigabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def opening(folder: Path) -> dict[str, float]:
    """Seconds to open in a fresh process, its imports apart, and what it holds then and after 64 queries."""
    code = f"""
import sys, time; sys.path.insert(0, {str(Path(__file__).parent)!r})
from dense import Dense, Drawn, memory
from canlegalrag.retrievers.dense_store import read_meta
import json, numpy as np, pathlib
folder = pathlib.Path({str(folder)!r})
identity = read_meta(folder)["identity"]
embedder = Drawn(identity["n"], identity["dimensions"])
before = memory(); start = time.perf_counter()
dense = Dense.open(folder, embedder)
seconds = time.perf_counter() - start; opened = memory() - before
anonymous = lambda: int(next(l for l in open("/proc/self/status") if l.startswith("RssAnon")).split()[1]) / 1e6
dense.search([str(i) for i in range(64)], {K})
print(json.dumps({{"open": seconds, "GB opened": opened, "GB after a search, mapped pages apart": anonymous()}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def compare(n: int, dimensions: int, queries: list[int], repeats: int, dtype: str) -> list[dict]:
    import faiss

    rows = []
    with tempfile.TemporaryDirectory(prefix="canlegalrag-dense-") as home:
        folder, embedder = Path(home) / "index", Drawn(n, dimensions)
        build = timed(lambda: Dense.build(corpus(n), embedder, folder, passages=sevens, dtype=dtype))
        opened = opening(folder)
        verify = timed(Dense.open(folder, embedder).verify)
        figures = ", ".join(f"{name} {value:.3f}" for name, value in opened.items())
        print(f"\n{n:,} x {dimensions} {dtype}: build {build:.0f} s, verify {verify:.1f} s, {figures}\n", flush=True)
        dense = Dense.open(folder, embedder)
        index = faiss.IndexFlatIP(dimensions)
        index.add(np.asarray(dense.index.vectors, dtype=np.float32))
        usual = faiss.cvar.distance_compute_blas_threshold
        print(f"| queries | ours | FAISS ({usual:,}) | x | FAISS (1) | x |\n|--:|--:|--:|--:|--:|--:|")
        for q in queries:
            asked = [str(u) for u in np.random.default_rng(9).integers(n, size=q)]
            vectors = embedder.embed(asked, kind="query")
            fixed = Dense(Fixed(embedder, asked, vectors), dense.index)  # both are given vectors
            best = {"ours": float("inf"), usual: float("inf"), 1: float("inf")}
            for _ in range(repeats):
                best["ours"] = min(best["ours"], timed(lambda: fixed.top(asked, K)))  # noqa: B023
                for threshold in (usual, 1):
                    faiss.cvar.distance_compute_blas_threshold = threshold
                    best[threshold] = min(best[threshold], timed(lambda: index.search(vectors, K)))  # noqa: B023
            faiss.cvar.distance_compute_blas_threshold = usual
            check(fixed, asked, index.search(vectors, K))
            ours = best["ours"]
            cells = " | ".join(f"{best[t]:.3f} | {best[t] / ours:.1f}" for t in (usual, 1))
            print(f"| {q} | {ours:.3f} | {cells} |", flush=True)
            rows.append({"n": n, "dimensions": dimensions, "dtype": dtype, "queries": q, "ours": ours, "build": build})
            rows[-1] |= {"faiss": best[usual], "faiss_blas": best[1], **opened}
    return rows


class Fixed:
    """The queries' vectors, made beforehand."""

    def __init__(self, embedder: Drawn, texts: list[str], vectors: np.ndarray) -> None:
        self.identity, self.counts = embedder.identity, {}
        self.texts, self.vectors = texts, vectors

    def embed(self, texts, *, kind):
        assert texts == self.texts
        return self.vectors


def check(dense: Dense, asked: list[str], found) -> None:
    """Both find the same passages, but for those whose scores FAISS can't tell apart."""
    scores, units = found
    for top, theirs, values in zip(dense.top(asked, K), units, scores, strict=True):
        edge = values[-1] + 1e-5
        clear = set(theirs[values > edge].tolist())
        assert clear <= set(top.units[:K].tolist()), "the passages differ"
        assert np.allclose(top.scores[:K], values, atol=1e-5), "the scores differ"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100000,1000000")
    parser.add_argument("--queries", default="1,8,64,532")
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--dtype", default="float32", choices=["float32", "float16"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    rows = []
    for n in map(int, arguments.sizes.split(",")):
        queries = [int(q) for q in arguments.queries.split(",")]
        rows += compare(n, arguments.dimensions, queries, arguments.repeats, arguments.dtype)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
