"""How fast the measures and the statistics are, beside the best libraries, on the same data in one run.

    python benchmarks/measures.py [--rows 1000000] [--repeat 5] [--json]

Times are the best of `--repeat` turns in this process: from plain dictionaries to one value a query and measure for
the measures; a pair of systems for the statistics. The ratio says how many times faster canlegalrag is.
"""

import argparse
import importlib.util
import json
import time
import warnings

import numpy as np

from canlegalrag.measures.retrieval import per_query
from canlegalrag.measures.stats import block_bootstrap, compare, paired_test

MEASURES = ("ndcg@10", "recall@10", "recall@100", "precision@10", "mrr", "map")
SYSTEMS, QUERIES, RESAMPLES = 46, 532, 10_000


def best(repeat, function):
    """Seconds of the fastest of some calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def make(rows, depth=1000, corpus=50_000, seed=0):
    """Qrels with 40 graded judgements a query, half of them retrieved, and a run of `rows` rows."""
    rng = np.random.default_rng(seed)
    docs = [f"doc-{i:06d}" for i in range(corpus)]
    qrels, run = {}, {}
    for i in range(max(1, rows // depth)):
        found = rng.choice(corpus, depth, replace=False)
        scores = np.sort(rng.random(depth) * 20)[::-1]
        run[f"q{i}"] = {docs[d]: s for d, s in zip(found.tolist(), scores.tolist(), strict=True)}
        judged = np.concatenate([rng.choice(found, 20, replace=False), rng.choice(corpus, 20)])
        grades = rng.integers(0, 3, len(judged)).tolist()
        qrels[f"q{i}"] = {docs[d]: g for d, g in zip(judged.tolist(), grades, strict=True)}
    return qrels, run


def rivals_of_the_measures(qrels, run):
    """Name of each rival that is installed, with a function that does the same job."""
    if importlib.util.find_spec("pytrec_eval"):
        import pytrec_eval

        wanted = {"ndcg_cut.10", "recall.10,100", "P.10", "recip_rank", "map"}
        yield "pytrec_eval", lambda: pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
    if importlib.util.find_spec("ir_measures"):
        import ir_measures

        names = [ir_measures.parse_measure(m) for m in ("nDCG@10", "R@10", "R@100", "P@10", "RR", "AP")]
        yield "ir_measures", lambda: list(ir_measures.iter_calc(names, qrels, run))
    if importlib.util.find_spec("ranx"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ranx

        names = ["ndcg@10", "recall@10", "recall@100", "precision@10", "mrr", "map"]

        def with_ranx():
            return ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names, return_mean=False)

        with_ranx()  # compiles
        yield "ranx", with_ranx


def measure_measures(rows, repeat):
    """Rows of the table on measures."""
    qrels, run = make(rows)
    job = f"{len(MEASURES)} measures, {sum(map(len, run.values())):,} rows"
    ours = best(repeat, lambda: per_query(qrels, run, MEASURES))
    yield {"job": job, "tool": "canlegalrag", "seconds": ours, "ratio": 1.0}
    for name, function in rivals_of_the_measures(qrels, run):
        seconds = best(repeat, function)
        yield {"job": job, "tool": name, "seconds": seconds, "ratio": seconds / ours}


def measure_statistics(repeat):
    """Rows of the table on statistics: seconds a pair of systems."""
    rng = np.random.default_rng(1)
    values = {f"system {i}": rng.random(QUERIES) for i in range(SYSTEMS)}
    pairs = SYSTEMS * (SYSTEMS - 1) // 2
    a, b = values["system 0"], values["system 1"]
    both = f"test and interval of {pairs:,} pairs, {QUERIES} queries, {RESAMPLES:,} resamples (a pair)"
    ours = best(repeat, lambda: compare(values, resamples=RESAMPLES)) / pairs
    yield {"job": both, "tool": "canlegalrag", "seconds": ours, "ratio": 1.0}
    alone = best(repeat, lambda: paired_test(a, b, resamples=RESAMPLES))
    interval = best(repeat, lambda: block_bootstrap(a - b, resamples=RESAMPLES))
    yield {"job": "test of one pair alone", "tool": "canlegalrag", "seconds": alone, "ratio": 1.0}
    yield {"job": "interval of one pair alone", "tool": "canlegalrag", "seconds": interval, "ratio": 1.0}
    if importlib.util.find_spec("scipy"):
        from scipy import stats

        def test():
            stats.permutation_test(
                (a - b,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, vectorized=True, rng=rng
            )

        def bootstrap():
            stats.bootstrap((a - b,), np.mean, n_resamples=RESAMPLES, method="percentile", vectorized=True, rng=rng)

        for name, function, single in (("permutation_test", test, alone), ("bootstrap", bootstrap, interval)):
            seconds = best(min(repeat, 3), function)
            yield {"job": f"{both}", "tool": f"scipy {name} alone", "seconds": seconds, "ratio": seconds / ours}
            yield {"job": "one pair alone", "tool": f"scipy {name}", "seconds": seconds, "ratio": seconds / single}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the run (queries x 1000)")
    parser.add_argument("--repeat", type=int, default=5, help="turns, of which the best counts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    table = [*measure_measures(options.rows, options.repeat), *measure_statistics(options.repeat)]
    if options.json:
        print(json.dumps(table, indent=2))
        return
    print("| job | tool | milliseconds | times ours |\n|---|---|--:|--:|")
    for row in table:
        print(f"| {row['job']} | {row['tool']} | {row['seconds'] * 1000:,.3f} | {row['ratio']:,.1f} |")


if __name__ == "__main__":
    main()
