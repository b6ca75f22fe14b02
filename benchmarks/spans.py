"""How fast the span measures are, beside a plain loop over the definition of LegalBench-RAG's published scorer.

    python benchmarks/spans.py [--queries 6858] [--hits 64] [--repeat 5] [--data FOLDER] [--json]

Both sides begin with the nested lists that a run is read to, `[[file, start, end], …]` a query, and end with precision
and recall of every query at 1, 2, 4, 8, 16, 32 and 64 hits; their values are compared first. Times are the best of
`--repeat` turns in this process; the ratio says how many times faster canlegalrag is. From coded spans
means that reading the lists and finding where hits meet gold is done. Two runs: chunks of one cutting,
which don't overlap, and chunks that overlap by half. The loop runs in two forms: over the bare lists, as fast as plain
Python gets, and over a pydantic object a span and a result, which is how the published scorer keeps them (skipped where
pydantic is not installed). With `--data` (the LegalBench-RAG files in `../shared/data`) also the real BM25 run over its
mini set, its lists repeated until there are as many queries.
"""

import argparse
import gzip
import importlib.util
import json
import random
import time
from itertools import cycle, islice
from pathlib import Path

from canlegalrag.measures import spans
from canlegalrag.measures.names import MEASURES
from canlegalrag.measures.retrieval import parse_all

NAMES = [f"reference_span_{what}@{k}" for k in spans.DEPTHS for what in ("precision", "recall")]
BOTH = NAMES + [name.removeprefix("reference_") for name in NAMES]


def best(repeat, function):
    """Seconds of the fastest of some calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def shared(hits, gold):
    """Characters that hits share with gold spans, pair by pair."""
    total = 0
    for file, start, end in hits:
        for gold_file, gold_start, gold_end in gold:
            if file == gold_file:
                low, high = max(start, gold_start), min(end, gold_end)
                if low < high:
                    total += high - low
    return total


def precision(hits, gold):
    length = sum(end - start for _, start, end in hits)
    return shared(hits, gold) / length if length else 0.0


def recall(hits, gold):
    length = sum(end - start for _, start, end in gold)
    return shared(hits, gold) / length if length else 0.0


def loop(gold, run):
    """Each query, depth and measure on its own, as the published scorer has it."""
    return {
        f"reference_span_{name}@{k}": {query: function(run[query][:k], gold[query]) for query in gold}
        for k in spans.DEPTHS
        for name, function in (("precision", precision), ("recall", recall))
    }


def published():
    """The loop over pydantic objects, made from the lists; None where pydantic is not installed."""
    if not importlib.util.find_spec("pydantic"):
        return None
    from pydantic import BaseModel, computed_field

    class Span(BaseModel):
        file_path: str
        span: tuple[int, int]

    class Result(BaseModel):
        gold: list[Span]
        hits: list[Span]

        def shared(self):
            total = 0
            for hit in self.hits:
                for wanted in self.gold:
                    if hit.file_path == wanted.file_path:
                        low, high = max(hit.span[0], wanted.span[0]), min(hit.span[1], wanted.span[1])
                        if low < high:
                            total += high - low
            return total

        @computed_field
        @property
        def precision(self) -> float:
            length = sum(hit.span[1] - hit.span[0] for hit in self.hits)
            return self.shared() / length if length else 0.0

        @computed_field
        @property
        def recall(self) -> float:
            length = sum(wanted.span[1] - wanted.span[0] for wanted in self.gold)
            return self.shared() / length if length else 0.0

    def objects(lists):
        return {q: [Span(file_path=f, span=(start, end)) for f, start, end in rows] for q, rows in lists.items()}

    def score(gold, run):
        found = [Result(gold=gold[q], hits=run[q][:k]) for k in spans.DEPTHS for q in gold]
        return [(result.precision, result.recall) for result in found]

    return objects, score


def make(queries, hits, overlap, files=714, length=110_000, seed=0):
    """Gold of one to three spans a query in one file, and hits of 500 characters, a fifth of them in that file."""
    rng = random.Random(seed)
    names = [f"cuad/Agreement number {i} between one party and another.txt" for i in range(files)]
    step = 250 if overlap else 500
    gold, run = {}, {}
    for i in range(queries):
        file = rng.choice(names)
        starts = sorted(rng.sample(range(0, length, 1000), rng.randint(1, 3)))
        gold[f"q{i}"] = [[file, s, s + rng.randint(50, 900)] for s in starts]
        found = {(rng.choice([file, *rng.choices(names, k=4)]), rng.randrange(length // step)) for _ in range(hits)}
        run[f"q{i}"] = [["".join(f), n * step, n * step + 500] for f, n in found]
    return gold, run


def real(folder, queries):
    """The BM25 run over LegalBench-RAG-mini with its gold, repeated."""
    gold = []
    for name in ("privacy_qa", "contractnli", "maud", "cuad"):
        tests = json.loads((folder / "mini" / f"{name}.json").read_text(encoding="utf-8"))["tests"]
        gold += [[[s["file_path"], *s["span"]] for s in test["snippets"]] for test in tests]
    with gzip.open(folder / "bm25_rcts_top64_runs.json.gz", "rt", encoding="utf-8") as file:
        run = json.load(file)
    return [{f"q{i}": rows for i, rows in enumerate(islice(cycle(lists), queries))} for lists in (gold, run)]


def measure(job, gold, run, repeat):
    """Rows of the table."""
    expected, got = loop(gold, run), spans.per_query(gold, run, NAMES)
    assert all(abs(got[m][q] - v) < 1e-12 for m, of in expected.items() for q, v in of.items()), "values differ"
    job += f", {len(gold):,} queries, {sum(map(len, run.values())):,} hits"
    coded, wanted = spans.code_spans(gold, run), parse_all(NAMES)
    ours = best(repeat, lambda: spans.per_query(gold, run, NAMES))
    alone = best(repeat, lambda: values(coded, wanted))
    rows = [
        ("canlegalrag from the lists", ours, None, None),
        (
            "canlegalrag from the lists, strict beside it",
            best(repeat, lambda: spans.per_query(gold, run, BOTH)),
            None,
            None,
        ),
        ("canlegalrag from coded spans", alone, None, None),
        ("canlegalrag, curve at 7 budgets", best(repeat, lambda: spans.curve(gold, run)), None, None),
        ("loop over bare lists", plain := best(min(repeat, 3), lambda: loop(gold, run)), plain / ours, plain / alone),
    ]
    if form := published():
        objects, function = form
        start = time.perf_counter()
        ready = objects(gold), objects(run)
        making = time.perf_counter() - start
        scoring = best(2, lambda: function(*ready))
        rows += [
            ("loop over pydantic objects, made from the lists", making + scoring, (making + scoring) / ours, None),
            ("loop over pydantic objects, made before", scoring, scoring / ours, scoring / alone),
        ]
    for tool, seconds, listed, from_codes in rows:
        yield {"job": job, "tool": tool, "seconds": seconds, "ratio": listed, "ratio_coded": from_codes}


def values(coded, wanted):
    return [MEASURES[m.name].function(coded, m.k) for m in wanted]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=6858)
    parser.add_argument("--hits", type=int, default=64, help="a query")
    parser.add_argument("--repeat", type=int, default=5, help="turns, of which the best counts")
    parser.add_argument("--data", type=Path, help="folder of the LegalBench-RAG files")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    jobs = {
        "no overlap": make(options.queries, options.hits, overlap=False),
        "overlap by half": make(options.queries, options.hits, overlap=True),
    }
    if options.data:
        jobs["BM25 on mini"] = real(options.data, options.queries)
    table = [row for job, (gold, run) in jobs.items() for row in measure(job, gold, run, options.repeat)]
    if options.json:
        print(json.dumps(table, indent=2))
        return
    print(
        "| job | tool | milliseconds | times ours from the lists | times ours from coded spans |\n|---|---|--:|--:|--:|"
    )
    for row in table:
        ratios = " | ".join(f"{r:,.1f}" if r else "" for r in (row["ratio"], row["ratio_coded"]))
        print(f"| {row['job']} | {row['tool']} | {row['seconds'] * 1000:,.1f} | {ratios} |")


if __name__ == "__main__":
    main()
