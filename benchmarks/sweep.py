"""What a sweep takes beyond its parts: retrieving and scoring each recipe by itself and writing that down, one after
the other, on the same kind of cache; and the whole of the open table on the sample.

python benchmarks/sweep.py [PATTERN ...]
"""

import sys
import tempfile
import time
from pathlib import Path

from canlegalrag import experiment, pipeline, submission
from canlegalrag.benchmark import load
from canlegalrag.files import read_run, write_atomic
from canlegalrag.measures import spans
from canlegalrag.measures.retrieval import parse_all
from canlegalrag.recipes import Models, match


def main() -> None:
    rows = match(sys.argv[1:], None if sys.argv[1:] else "open")
    benchmark = load("sample")
    measures = parse_all(experiment.SWEEP_MEASURES)
    fields = ("province", "persona", "variant")
    with tempfile.TemporaryDirectory() as folder:
        # What is loaded once per process is loaded before either is timed: models, and libraries.
        models = Models()
        experiment.run(benchmark, rows, Path(folder) / "warm", cache=Path(folder) / "a", models=models)
        start = time.perf_counter()
        for n, recipe in enumerate(rows):
            path = Path(folder) / "parts" / str(n) / "run.jsonl"
            made = pipeline.retrieve(recipe, benchmark, path, cache=Path(folder) / "b", models=models)
            payload, _ = submission.score_run(
                read_run(path), measures, benchmark=benchmark, by=fields, made=made, depths=spans.DEPTHS
            )
            write_atomic(path.with_name("scores.json"), submission.scores_json(payload))
        parts = time.perf_counter() - start
        start = time.perf_counter()
        experiment.run(
            benchmark,
            rows,
            Path(folder) / "sweep",
            cache=Path(folder) / "c",
            models=models,
            measures=experiment.SWEEP_MEASURES,
        )
        whole = time.perf_counter() - start
    print(f"{len(rows)} recipes: parts {parts:.1f} s, sweep {whole:.1f} s, {100 * (whole / parts - 1):+.1f} %")


if __name__ == "__main__":
    main()
