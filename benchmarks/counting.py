"""How the paper's way of counting moves with the size of passages when the ranking of documents doesn't.

    python benchmarks/counting.py --benchmark FOLDER --run bm25/run.jsonl

Takes a run of whole documents and writes each document as the passages that it would be cut into, one after another.
The ranking of documents is the same at every size, so whatever moves is the counting. Prints a Markdown table.
"""

import argparse
from pathlib import Path

import canlegalrag
from canlegalrag import chunking
from canlegalrag.files import read_run
from canlegalrag.measures import retrieval
from canlegalrag.types import Hit

MEASURES = "ndcg@10 paper_ndcg@10 recall@10 paper_recall@10 paper_doc_recall@10 precision@10 paper_precision@10"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--run", type=Path, required=True, help="a run of whole documents")
    arguments = parser.parse_args()
    benchmark = canlegalrag.load(arguments.benchmark)
    run = benchmark.counted(read_run(arguments.run))
    wanted = {hit.doc_id for hits in run.values() for hit in hits}
    texts = {document.id: document.text for document in benchmark.documents.values() if document.id in wanted}
    names = [str(m) for m in retrieval.parse_all(MEASURES)]
    print("| passages of | " + " | ".join(names) + " |\n|---|" + "--:|" * len(names))
    for size in (1024, 2048, 4096, 8192, 0):
        cut = chunking.parse(f"recursive:{size}:128" if size else "whole")
        counts = {id_: max(1, len(cut(text))) for id_, text in texts.items()}
        passages: dict[str, list[Hit]] = {}
        for query, hits in run.items():
            passages[query] = [h for hit in hits for h in [hit] * counts[hit.doc_id]]
        values = retrieval.score(benchmark.qrels, passages, names, resamples=1).values
        label = f"{size:,} characters" if size else "whole documents"
        print(f"| {label} | " + " | ".join(f"{values[name]:.3f}" for name in names) + " |", flush=True)


if __name__ == "__main__":
    main()
