"""BM25 side by side with its rivals: text to saved index, memory, milliseconds a query, and the same answers.

    python benchmarks/bm25.py --docs 18000 --peers bm25s,bm25s_own,rank_bm25,tantivy --queries 100 --json bm25.json
    python benchmarks/bm25.py --scale 18000,60000,200000

Every system runs in a process of its own, over the same file of decisions and the same tokens (the ASCII
tokenizer of the paper, which all of them can follow), and reads that file itself. Decisions come from a Parquet
file with a column `text` (`--source`, or CANLEGALRAG_DATA/scc/decisions.parquet), repeated with a tenth of the words
moved and a few made new; without one they are synthetic Zipf text. A rival that isn't installed is left out.
`bm25s` is given lists of tokens, as rank-bm25 is; `bm25s_own` tokenizes by itself, which is its leanest way. Ratios
(x) are to the row of ours that computes the same formula.
"""

import argparse
import contextlib
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SEED = 20260101
K = 10
DEFAULT_SOURCE = Path(os.environ.get("CANLEGALRAG_DATA", "/work/shared/data")) / "scc" / "decisions.parquet"


# ------------------------------------------------------------------------------------------------ the corpus


def real_texts(source: Path) -> Iterator[str]:
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(source).iter_batches(batch_size=64, columns=["text"]):
        yield from batch.column(0).to_pylist()


def synthetic_texts(n: int) -> Iterator[str]:
    rng = np.random.default_rng(SEED)
    letters = np.array(list("eeeeaaaoooiiinnntttsssrrrllldddcummpphgbvfywkxqjzé"))
    words = ["".join(rng.choice(letters, size)) for size in rng.integers(2, 11, 200_000)]
    odds = np.cumsum(1 / np.arange(3, len(words) + 3))
    for length in rng.lognormal(8.4, 0.6, n).astype(int):
        picked = np.searchsorted(odds, rng.random(min(length, 60_000)) * odds[-1])
        yield " ".join([words[i] for i in picked]) + "."


def corpus_texts(source: Path | None, n: int) -> Iterator[str]:
    """The decisions once, then again and again with words moved about and new ones among them."""
    if source is None:
        yield from synthetic_texts(n)
        return
    rng = np.random.default_rng(SEED)
    made = copies = 0
    while made < n:
        for text in real_texts(source):
            if made == n:
                return
            if copies:
                words = text.split(" ")
                at = rng.integers(len(words), size=len(words) // 10)
                words = np.array(words, dtype=object)
                words[at] = words[rng.permutation(at)]
                new = at[: len(at) // 50]
                words[new] = [f"name{i}" for i in rng.integers(1_000_000, size=len(new))]
                text = " ".join(words)
            made += 1
            yield text
        copies += 1


def make_corpus(source: Path | None, n: int, queries: int, path: Path) -> None:
    """Write the decisions and, drawn from them, questions of 20 to 120 words."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = random.Random(SEED)
    asked, chars = [], 0
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(path, schema, compression="lz4", use_dictionary=False) as writer:
        rows: list[dict[str, str]] = []
        for i, text in enumerate(corpus_texts(source, n)):
            chars += len(text)
            rows.append({"id": f"d{i:06d}", "text": text})
            if i % max(1, n // queries) == 0 and len(asked) < queries:
                words = text.split()
                start = rng.randrange(max(1, len(words) - 120))
                asked.append(" ".join(words[start : start + rng.randrange(20, 120)]))
            if len(rows) == 64:
                writer.write_table(pa.Table.from_pylist(rows, schema=schema))
                rows = []
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    path.with_suffix(".json").write_text(json.dumps({"queries": asked, "chars": chars, "docs": n}))


def rows(path: Path) -> Iterator[tuple[str, str]]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    for group in range(file.num_row_groups):
        table = file.read_row_group(group)
        yield from zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True)


# ------------------------------------------------------------------------------------------------ the systems
#
# Each builds (text to an index on disk, where it has such a thing) and returns a function that answers queries
# with lists of document ids.


def run_ours(path: Path, folder: Path, variant: str = "lucene", tokenizer: str = "ascii"):
    from canlegalrag.retrievers.bm25 import BM25
    from canlegalrag.types import Document

    BM25.build((Document(i, "", t) for i, t in rows(path)), variant=variant, tokenizer=tokenizer).save(folder)
    index = BM25.load(folder)
    return lambda queries: [[hit.doc_id for hit in hits] for hits in index.search(queries, K)]


def run_ours_legal(path: Path, folder: Path):
    return run_ours(path, folder, tokenizer="legal")


def run_ours_okapi(path: Path, folder: Path):
    return run_ours(path, folder, variant="rank_bm25_okapi")


ASCII = bytes(ord(chr(c).lower()) if c < 128 and chr(c).isalnum() else 32 for c in range(256))


def split(text: str) -> list[str]:
    """The tokens of the paper as a list of strings, as the rivals take them; the fastest way that we know."""
    return text.lower().encode("ascii", "replace").translate(ASCII).decode().split()


def run_bm25s(path: Path, folder: Path, own: bool = False):
    import bm25s

    def own_tokens(texts):  # the same tokens again, by the rival's tokenizer, which codes them as it goes
        return bm25s.tokenize(texts, token_pattern=r"[a-z0-9]+", stopwords=None, show_progress=False)

    model = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
    if own:
        ids, texts = zip(*rows(path), strict=True)
        model.index(own_tokens(list(texts)), show_progress=False)
    else:
        ids, words = zip(*((i, split(text)) for i, text in rows(path)), strict=True)
        model.index(list(words), show_progress=False)
    model.save(str(folder))

    def answer(queries):
        found, _ = model.retrieve([split(q) for q in queries], k=K, show_progress=False, n_threads=1)
        return [[ids[i] for i in row] for row in found.tolist()]

    return answer


def run_bm25s_own(path: Path, folder: Path):
    return run_bm25s(path, folder, own=True)


def run_rank_bm25(path: Path, folder: Path):
    from rank_bm25 import BM25Okapi

    ids, words = zip(*((i, split(text)) for i, text in rows(path)), strict=True)
    index = BM25Okapi(words)
    del words

    def answer(queries):
        found = []
        for query in queries:
            scores = index.get_scores(split(query))
            found.append([ids[i] for i in np.argsort(-scores, kind="stable")[:K]])
        return found

    return answer


def run_tantivy(path: Path, folder: Path):
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", stored=False)
    folder.mkdir()
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(heap_size=500_000_000)
    for doc_id, text in rows(path):
        writer.add_document(tantivy.Document(id=doc_id, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def answer(queries):
        found = []
        for query in queries:
            parsed = index.parse_query(" ".join(split(query)), ["text"])
            found.append([searcher.doc(at)["id"][0] for _, at in searcher.search(parsed, K).hits])
        return found

    return answer


SYSTEMS = {
    "canlegalrag": run_ours,
    "canlegalrag legal": run_ours_legal,
    "canlegalrag rank_bm25_okapi": run_ours_okapi,
    "bm25s": run_bm25s,
    "bm25s_own": run_bm25s_own,
    "rank_bm25": run_rank_bm25,
    "tantivy": run_tantivy,
}
TWINS = {
    "bm25s": "canlegalrag",
    "bm25s_own": "canlegalrag",
    "rank_bm25": "canlegalrag rank_bm25_okapi",
    "tantivy": "canlegalrag",
}
FEW = {"rank_bm25": 10}


def peak_mb() -> float:
    """Peak resident memory of this process alone (getrusage counts that of the process that started it)."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1 << 20)


def work(system: str, path: Path, out: Path) -> None:
    queries = json.loads(path.with_suffix(".json").read_text())["queries"][: FEW.get(system)]
    with tempfile.TemporaryDirectory(dir=path.parent) as temporary:
        folder = Path(temporary) / "index"
        start = time.perf_counter()
        answer = SYSTEMS[system](path, folder)
        seconds = time.perf_counter() - start
        peak = peak_mb()
        gc.collect()
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # peak memory starts anew: what it takes to serve
        disk = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6 if folder.exists() else None
        found = answer(queries)  # also warms caches and compiles
        times = []
        for _ in range(1 if system in FEW else 5):
            start = time.perf_counter()
            answer(queries)
            times.append((time.perf_counter() - start) / len(queries) * 1e3)
        one = time.perf_counter()
        for query in queries:
            answer([query])
        alone = (time.perf_counter() - one) / len(queries) * 1e3
    result = {"seconds": seconds, "peak_mb": peak, "serve_mb": peak_mb(), "disk_mb": disk}
    out.write_text(json.dumps(result | {"ms": min(times), "ms_alone": alone, "found": found}))


# --------------------------------------------------------------------------------------------------- the run


def child(*arguments: str) -> bool:
    return subprocess.run([sys.executable, __file__, *arguments], check=False).returncode == 0


def measured(systems: list[str], docs: int, queries: int, source: str, folder: Path) -> tuple[dict, dict]:
    path = folder / f"corpus-{docs}.parquet"
    if not child("--make", str(path), "--docs", str(docs), "--queries", str(queries), "--source", source):
        sys.exit("the corpus could not be made")
    facts = json.loads(path.with_suffix(".json").read_text())
    results = {}
    for system in systems:
        out = folder / "result.json"
        print(f"{system} over {docs:,} decisions …", file=sys.stderr, flush=True)
        if child("--work", system, "--corpus", str(path), "--json", str(out)):
            results[system] = json.loads(out.read_text())
        else:
            print(f"{system} is left out: it failed, or is not installed", file=sys.stderr)
    path.unlink()
    return facts, results


def agreement(left: list[list[str]], right: list[list[str]]) -> float:
    pairs = list(zip(left, right, strict=False))
    return sum(len(set(a) & set(b)) / max(len(a), len(b), 1) for a, b in pairs) / max(len(pairs), 1)


def compare(arguments: argparse.Namespace, folder: Path) -> dict:
    peers = [peer for peer in arguments.peers.split(",") if peer]
    ours = ["canlegalrag", "canlegalrag legal"]
    ours += ["canlegalrag rank_bm25_okapi"] if "rank_bm25" in peers else []
    facts, results = measured(ours + peers, arguments.docs, arguments.queries, arguments.source, folder)
    print(f"\n{facts['docs']:,} decisions, {facts['chars'] / 1e6:,.0f} million characters, {os.cpu_count()} cores\n")
    print("| system | s to saved index | x | peak MB | x | disk MB | ms a query | x | one by one | top-10 agreement |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, row in results.items():
        twin = results.get(TWINS.get(name, "canlegalrag"), row)
        times = [row[key] / twin[key] for key in ("seconds", "peak_mb", "ms")]
        row["ratio"] = dict(zip(("seconds", "peak_mb", "ms"), times, strict=True))
        row["agreement"] = agreement(row["found"], twin["found"]) if name in TWINS else None
        same = f"{row['agreement']:.3f} with {TWINS[name]}" if name in TWINS else ""
        disk = f"{row['disk_mb']:,.0f}" if row["disk_mb"] is not None else "none"
        print(
            f"| {name} | {row['seconds']:.1f} | {times[0]:.1f} | {row['peak_mb']:,.0f} | {times[1]:.1f} "
            f"| {disk} | {row['ms']:.3f} | {times[2]:,.1f} | {row['ms_alone']:.3f} | {same} |"
        )
    return {"corpus": {k: facts[k] for k in ("docs", "chars")}, "systems": results}


def scale(arguments: argparse.Namespace, folder: Path) -> dict:
    print("| decisions | million characters | s to saved index | peak MB | disk MB | ms a query | MB to serve |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    out = {}
    for docs in map(int, arguments.scale.split(",")):
        facts, results = measured(["canlegalrag"], docs, arguments.queries, arguments.source, folder)
        if "canlegalrag" not in results:
            sys.exit(f"the index of {docs:,} decisions failed")
        row = out[docs] = results["canlegalrag"]
        print(
            f"| {docs:,} | {facts['chars'] / 1e6:,.0f} | {row['seconds']:.1f} | {row['peak_mb']:,.0f} "
            f"| {row['disk_mb']:,.0f} | {row['ms']:.3f} | {row['serve_mb']:,.0f} |",
            flush=True,
        )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=int, default=18_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--peers", default="bm25s,bm25s_own,rank_bm25,tantivy", help="comma-separated, '' for none")
    parser.add_argument("--scale", help="sizes, comma-separated: ours alone, how it grows")
    parser.add_argument("--source", default=str(DEFAULT_SOURCE), help="Parquet with a column text; '' for synthetic")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    for hidden in ("--work", "--make", "--corpus"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        source = Path(arguments.source) if arguments.source and Path(arguments.source).is_file() else None
        make_corpus(source, arguments.docs, arguments.queries, Path(arguments.make))
    elif arguments.work:
        work(arguments.work, Path(arguments.corpus), arguments.json)
    else:
        with tempfile.TemporaryDirectory(prefix="bm25-") as temporary:
            result = (scale if arguments.scale else compare)(arguments, Path(temporary))
        for row in (result if arguments.scale else result["systems"]).values():
            del row["found"]
        if arguments.json:
            arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
