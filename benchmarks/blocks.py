"""Keep which queries of a benchmark share a block, so that the leaderboard can compare baselines without the data.

python benchmarks/blocks.py legalbenchrag-mini:DATA/legalbenchrag /tmp/scc /tmp/scc-20
"""

import argparse
import json
from pathlib import Path

from canlegalrag.benchmark import load
from canlegalrag.files import dumps, write_atomic

TARGET = Path(__file__).parents[1] / "baselines" / "results" / "blocks.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", help="benchmarks; those that are kept already stay")
    kept = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {}
    for source in parser.parse_args().sources:
        benchmark = load(source)
        blocks: dict[str, list[str]] = {}
        for query, block in benchmark.blocks.items():
            blocks.setdefault(block, []).append(query)
        kept[benchmark.fingerprint] = {"name": benchmark.name, "blocks": list(blocks.values())}
    lines = (f"{dumps(of)}: {dumps(one)}" for of, one in sorted(kept.items()))
    write_atomic(TARGET, "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
