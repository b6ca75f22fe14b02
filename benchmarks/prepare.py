"""Write the real data used for measurements as benchmarks in our layout; the data stays outside the project.

python benchmarks/prepare.py scc SHARED/data --out /tmp/scc
python benchmarks/prepare.py legalbenchrag-mini SHARED/data --out /tmp/lbr-mini
"""

import argparse
import json
from pathlib import Path

from canlegalrag.benchmark import Benchmark, check
from canlegalrag.build import build
from canlegalrag.errors import BenchmarkError
from canlegalrag.files import parquet_rows
from canlegalrag.layouts.ubc import document_id
from canlegalrag.types import Document, Query, Snippet


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


def legalbenchrag_mini(data: Path) -> Benchmark:
    """LegalBench-RAG-mini, the 72 documents of its 4 x 194 queries; a query's variant is its data set."""
    root = data / "legalbenchrag"
    wanted = set((root / "mini" / "documents.txt").read_text(encoding="utf-8").split("\n")) - {""}
    texts = {r["_id"]: r["text"] for r in parquet_rows(root / "corpus.parquet") if r["_id"] in wanted}
    ids = {path: document_id(path) for path in texts}
    assert len(set(ids.values())) == len(ids) == len(wanted)
    documents = {ids[p]: Document(ids[p], p.rsplit("/", 1)[-1], t, language="en") for p, t in texts.items()}
    queries, qrels, snippets = {}, {}, []
    for name in ("privacy_qa", "contractnli", "maud", "cuad"):
        tests = json.loads((root / "mini" / f"{name}.json").read_text(encoding="utf-8"))["tests"]
        for n, test in enumerate(tests):
            id_ = f"{name}-{n:03}"
            queries[id_] = Query(id_, test["query"], variant=name)
            qrels[id_] = {ids[s["file_path"]]: 1 for s in test["snippets"]}
            for s in test["snippets"]:
                start, end = s["span"]
                snippets.append(Snippet(id_, ids[s["file_path"]], start, end, texts[s["file_path"]][start:end]))
    return Benchmark("legalbenchrag-mini", documents, queries, qrels, snippets=tuple(snippets))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    makers = {"scc": scc, "legalbenchrag-mini": legalbenchrag_mini}
    parser.add_argument("name", choices=makers)
    parser.add_argument("data", type=Path, help="the folder that holds scc/ and legalbenchrag/")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    benchmark = makers[arguments.name](arguments.data)
    fatal = [p for p in check(benchmark) if p.fatal]
    if fatal:
        raise BenchmarkError(arguments.name, fatal)
    manifest = build(benchmark, arguments.out)
    print(f"{arguments.out}: {len(benchmark.documents)} documents, fingerprint {manifest['fingerprint'][:16]}")


if __name__ == "__main__":
    main()
