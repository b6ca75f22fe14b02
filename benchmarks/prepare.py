"""Write the real data used for measurements as a benchmark in our layout; the data stays outside the project.

python benchmarks/prepare.py scc SHARED/data --out /tmp/scc
python benchmarks/prepare.py scc SHARED/data --every 20 --out /tmp/scc-20
"""

import argparse
from dataclasses import replace
from pathlib import Path

from canlegalrag.benchmark import Benchmark, check
from canlegalrag.build import build
from canlegalrag.errors import BenchmarkError
from canlegalrag.files import parquet_rows
from canlegalrag.types import Document, Query


def scc(data: Path) -> Benchmark:
    """Supreme Court of Canada decisions with silver queries: a citing paragraph, its citation removed."""
    documents = {}
    for row in parquet_rows(data / "scc" / "decisions.parquet"):
        id_ = str(row["doc_id"])
        documents[id_] = Document(
            id=id_,
            title=row["name"] or "",
            text=row["text"],
            court="SCC",
            year=row["year"],
            jurisdiction="CA",
            language="fr" if (row["french_share"] or 0) > 0.5 else "en",
            url=row["url"] or "",
            licence=row["license"] or "",
            citations=tuple(c for c in (row["citation"], row["citation2"]) if c),
        )
    # The query is a paragraph of its source: that decision would always come first, and is no answer. Queries from one
    # decision aren't independent: they share a block.
    queries = {
        r["_id"]: Query(r["_id"], r["text"], block=r["source_doc_id"], excluded=(r["source_doc_id"],))
        for r in parquet_rows(data / "scc" / "silver_queries.parquet")
    }
    qrels: dict[str, dict[str, int]] = {}
    for row in parquet_rows(data / "scc" / "silver_qrels.parquet"):
        qrels.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    return Benchmark("scc-silver", documents, queries, qrels)


def thinned(benchmark: Benchmark, every: int) -> Benchmark:
    """All queries and every gold decision, but of the others only every n-th, in the order of the file."""
    gold = benchmark.gold
    others = [id_ for id_ in benchmark.documents if id_ not in gold][::every]
    kept = gold | set(others)
    documents = {id_: document for id_, document in benchmark.documents.items() if id_ in kept}
    # A decision that a query was taken from may be gone from the corpus: then nothing has to be left out for it.
    queries = {
        id_: replace(query, excluded=tuple(d for d in query.excluded if d in documents))
        for id_, query in benchmark.queries.items()
    }
    return Benchmark(f"{benchmark.name}-{every}", documents, queries, benchmark.qrels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["scc"])
    parser.add_argument("data", type=Path, help="the folder that holds scc/")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="keep only every n-th of the decisions that aren't gold")
    arguments = parser.parse_args()
    benchmark = scc(arguments.data)
    if arguments.every > 1:
        benchmark = thinned(benchmark, arguments.every)
    fatal = [p for p in check(benchmark) if p.fatal]
    if fatal:
        raise BenchmarkError(arguments.name, fatal)
    manifest = build(benchmark, arguments.out)
    print(f"{arguments.out}: {len(benchmark.documents)} documents, fingerprint {manifest['fingerprint'][:16]}")


if __name__ == "__main__":
    main()
