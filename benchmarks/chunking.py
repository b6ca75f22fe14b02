"""Chunking beside langchain-text-splitters and semantic-text-splitter: same texts, same process, best of n.

    python benchmarks/chunking.py --texts SHARED/data/scc/decisions.parquet
    python benchmarks/chunking.py --json

Without --texts, a made-up corpus with a fixed seed. All give the passages as strings; `spans` gives offsets alone.
The systems take turns and processor time is what counts, so that another load on the machine strikes all alike.
"""

import argparse
import json
import platform
import random
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from canlegalrag.chunking import paper_texts, parse, spans

# The settings of LegalBench-RAG.
PUBLISHED = {"separators": ["\n\n", "\n", "!", "?", ".", ":", ";", ",", " ", ""], "strip_whitespace": False}
PEERS = ("langchain-text-splitters", "semantic-text-splitter")


def decisions(path: Path, count: int) -> list[str]:
    """An even sample of the texts of a Parquet file with a column `text`."""
    from pyarrow.parquet import ParquetFile

    texts = [t for t in ParquetFile(path).read(columns=["text"])["text"].to_pylist() if t]
    return texts[:: max(1, len(texts) // count)][:count]


def made_up(count: int) -> list[str]:
    """Texts of lines, sentences and citations, 25,000 characters on average."""
    rng = random.Random(0)
    words = ["".join(rng.choices("etaoinshrdlué", k=rng.randint(1, 9))) for _ in range(5000)]

    def sentence() -> str:
        body = " ".join(rng.choices(words, k=rng.randint(8, 40)))
        return f"{body.capitalize()}{rng.choice(['', ', s. 7', ' in R. v. Smith', ' (“the Act”)'])}."

    def line() -> str:
        return " ".join(sentence() for _ in range(rng.randint(1, 7)))

    return ["".join(line() + rng.choice(["\n", "\n\n"]) for _ in range(rng.randint(10, 70))) for _ in range(count)]


def systems(size: int, overlap: int) -> dict[str, Callable[[str], int]]:
    """Each takes a text and returns the number of passages."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter
    from semantic_text_splitter import TextSplitter

    cut = parse(f"recursive:{size}:{overlap}")
    langchain = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap)
    sentences = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, separators=["\n\n", "\n", ". ", " ", ""]
    )
    published = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, **PUBLISHED)
    rcts = parse(f"rcts:{size}:{overlap}")
    rust = TextSplitter(size, overlap)
    return {
        "canlegalrag spans": lambda text: len(cut(text)),
        "canlegalrag texts": lambda text: len([text[start:end] for start, end in cut(text)]),
        "canlegalrag paper": lambda text: len(paper_texts(text, size, overlap)),
        "canlegalrag rcts, texts": lambda text: len([text[start:end] for start, end in rcts(text)]),
        "langchain, same as rcts": lambda text: len(published.split_text(text)),
        "langchain-text-splitters": lambda text: len(langchain.split_text(text)),
        "langchain, with '. '": lambda text: len(sentences.split_text(text)),
        "semantic-text-splitter": lambda text: len(rust.chunks(text)),
    }


def measure(texts: list[str], size: int, overlap: int, repeats: int) -> list[dict[str, object]]:
    """One row a system."""
    contenders = systems(size, overlap)
    best = dict.fromkeys(contenders, float("inf"))
    chunks: dict[str, int] = {}
    for _ in range(repeats):
        for name, run in contenders.items():
            begun = time.process_time()
            chunks[name] = sum(map(run, texts))
            best[name] = min(best[name], time.process_time() - begun)
    megabytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    return [
        {
            "size": size,
            "overlap": overlap,
            "system": name,
            "seconds": seconds,
            "mb_per_s": megabytes / seconds,
            "chunks": chunks[name],
            "spans_ratio": seconds / best["canlegalrag spans"],
            "texts_ratio": seconds / best["canlegalrag texts"],
            "rcts_ratio": seconds / best["canlegalrag rcts, texts"],
        }
        for name, seconds in best.items()
    ]


def check(texts: list[str], size: int, overlap: int) -> None:
    """Nothing lost, nothing too long, `rcts` the same as its peer, before anything is timed."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    published = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, **PUBLISHED)
    for text in texts:
        rcts = spans(text, method="rcts", size=size, overlap=overlap)
        assert [text[start:end] for start, end in rcts] == published.split_text(text)
        last, parts = 0, []
        for start, end in spans(text, size=size, overlap=overlap):
            assert start <= last < end <= start + size
            parts.append(text[last:end])
            last = end
        assert "".join(parts) == text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path, help="Parquet file with a column `text`")
    parser.add_argument("--count", type=int, default=300, help="texts")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1024, 4096])
    parser.add_argument("--overlap", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=7, help="the best of these counts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    texts = decisions(options.texts, options.count) if options.texts else made_up(options.count)
    for size in options.sizes:
        check(texts, size, options.overlap)
    rows = [row for size in options.sizes for row in measure(texts, size, options.overlap, options.repeats)]
    versions = {"python": platform.python_version(), **{peer: version(peer) for peer in PEERS}}
    if options.json:
        corpus = {"texts": len(texts), "characters": sum(map(len, texts)), "source": str(options.texts or "made up")}
        print(json.dumps({"versions": versions, "corpus": corpus, "rows": rows}, indent=2, allow_nan=False))
        return
    print(f"{len(texts)} texts, {sum(map(len, texts)):,} characters; {versions}")
    print(f"{'size':>5} {'system':26} {'MB/s':>8} {'chunks':>8} {'x spans':>8} {'x texts':>8} {'x rcts':>8}")
    for row in rows:
        print(
            f"{row['size']:>5} {row['system']:26} {row['mb_per_s']:8.1f} {row['chunks']:8,} "
            f"{row['spans_ratio']:8.1f} {row['texts_ratio']:8.1f} {row['rcts_ratio']:8.1f}"
        )


if __name__ == "__main__":
    main()
