"""Copy the results of a sweep into `baselines/results/`: without the runs, with every query's value of a few measures
only, and groups without the measures of characters, so that they are small enough to commit. The command of the sweep
makes the rest again.

python benchmarks/keep.py /tmp/contracts baselines/results/legalbenchrag-mini
"""

import argparse
import json
import shutil
from pathlib import Path

from canlegalrag.submission import scores_json

KEPT = {"ndcg@10", "recall@10", "mrr", "span_precision@1", "span_recall@8", "span_recall@64"}
PAGES = ("table.md", "spans.md", "report.html", "comparisons.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path, help="replaced")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.target, ignore_errors=True)
    for scores in sorted(arguments.source.glob("*/scores.json")):
        folder = arguments.target / scores.parent.name
        folder.mkdir(parents=True)
        payload = json.loads(scores.read_text(encoding="utf-8"))
        payload["per_query"] = {
            query: {name: value for name, value in row.items() if name in KEPT}
            for query, row in payload["per_query"].items()
        }
        payload["by"] = {  # of characters there are hundreds of means a group
            field: {
                label: {name: row for name, row in rows.items() if name.startswith("paper_") or "_" not in name}
                for label, rows in groups.items()
            }
            for field, groups in payload["by"].items()
        }
        (folder / "scores.json").write_text(scores_json(payload), encoding="utf-8")
        shutil.copy(scores.with_name("run.jsonl.meta.json"), folder)
    for page in PAGES:
        if (arguments.source / page).exists():
            shutil.copy(arguments.source / page, arguments.target)


if __name__ == "__main__":
    main()
