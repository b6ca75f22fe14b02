"""The standard family: by hand, against pytrec_eval, and against trec_eval's own expected output."""

import math
import random

import pytest

from canlegalrag.errors import InputError
from canlegalrag.measures.retrieval import MEASURES, parse, per_query, score
from canlegalrag.types import Hit

STANDARD = [name for name, d in MEASURES.items() if d.family == "standard"]
TREC = {"ndcg": "ndcg", "map": "map", "mrr": "recip_rank", "rprec": "Rprec", "bpref": "bpref"}
for _k in (1, 3, 10, 50):
    TREC |= {f"ndcg@{_k}": f"ndcg_cut_{_k}", f"map@{_k}": f"map_cut_{_k}", f"recall@{_k}": f"recall_{_k}"}
    TREC |= {f"precision@{_k}": f"P_{_k}", f"hit@{_k}": f"success_{_k}"}


def test_every_score_of_the_hand_worked_benchmark(hand):
    wanted = [name for name in hand.expected if not name.startswith("paper_")]
    assert {parse(name).name for name in wanted} == set(STANDARD)
    values = per_query(hand.qrels, hand.run, wanted)
    for name in wanted:
        assert values[name] == pytest.approx(hand.expected[name], abs=1e-15, nan_ok=True), name


def random_case(rng, queries):
    """Qrels with grades 0 to 3 and a run with ties, near ties, unjudged documents and missing queries."""
    pool = sorted({"".join(rng.choices("aAbéß−😀z0_", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 40))})
    qrels, run = {}, {}
    for i in range(queries):
        judged = rng.sample(pool, rng.randint(1, min(15, len(pool))))
        qrels[f"q{i}"] = {doc: rng.choice((0, 0, 1, 1, 2, 3)) for doc in judged}
        if rng.random() < 0.9:
            found = rng.sample(pool, rng.randint(0, len(pool)))
            near = (rng.random(), float(rng.randint(-2, 2)), 1 / 3, 1 / 3 + 1e-10, -0.0, 0.0, 1e300, -7.5e-46)
            run[f"q{i}"] = {doc: rng.choice(near) for doc in found}
    # pytrec_eval gives nothing at all for an empty run, and bpref needs a document judged irrelevant.
    qrels["last"], run["last"] = {"zz": 0, "a": 1}, {"a": 1.0}
    return qrels, run


@pytest.mark.parametrize("seed", range(8))
def test_equals_pytrec_eval_on_random_runs(seed):
    pytrec_eval = pytest.importorskip(
        "pytrec_eval", reason="the rival is not installed: pip install pytrec_eval-terrier"
    )
    rng = random.Random(seed)
    compared = 0
    for _ in range(60):
        qrels, run = random_case(rng, queries=9)
        ours = per_query(qrels, run, list(TREC))
        theirs = pytrec_eval.RelevanceEvaluator(qrels, set(TREC.values())).evaluate(run)
        for name, other in TREC.items():
            for query, judged in qrels.items():
                if not any(grade > 0 for grade in judged.values()):
                    assert math.isnan(ours[name][query])
                    continue
                # A query that the run lacks: trec_eval -c counts 0.
                expected = theirs.get(query, {}).get(other, 0.0)
                assert ours[name][query] == pytest.approx(expected, abs=1e-12), (name, qrels[query], run.get(query))
                compared += 1
    assert compared > 60 * len(TREC)


def test_hits_and_mappings_give_the_same_in_any_order():
    rng = random.Random(5)
    for _ in range(50):
        qrels, run = random_case(rng, queries=4)
        hits = {q: [Hit(d, s) for d, s in rng.sample(list(docs.items()), len(docs))] for q, docs in run.items()}
        expected = per_query(qrels, run, list(TREC))
        for name, values in per_query(qrels, hits, list(TREC)).items():
            assert values == pytest.approx(expected[name], nan_ok=True, abs=0), name


def test_many_judged_documents_in_one_tie():
    # 20 documents with one score: ranks follow the ids, descending, whichever way ties are counted.
    docs = [f"d{i:02d}" for i in range(20)]
    run = {"q": dict.fromkeys(docs, 1.0)}
    for relevant in (docs[:3], docs[:9], docs):
        best = max(relevant)
        assert per_query({"q": dict.fromkeys(relevant, 1)}, run, ["mrr"])["mrr"]["q"] == 1 / (20 - docs.index(best))


def test_ties_follow_utf8_order_of_bytes():
    # U+FF5E (3 bytes) stands below U+1F600 (4 bytes) in UTF-8, above it in UTF-16.
    qrels, run = {"q": {"😀": 1}}, {"q": {"～": 1.0, "😀": 1.0}}
    assert per_query(qrels, run, ["mrr"])["mrr"]["q"] == 1.0


def test_scores_count_as_float32():
    # 16777217 is not a float32: it ties with 16777216, and "b" comes first.
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 16777217.0, "b": 16777216.0}}
    assert per_query(qrels, run, ["mrr"])["mrr"]["q"] == 0.5


def test_a_negative_grade_is_neither_relevant_nor_irrelevant():
    # As in trec_eval, where -1 means: in the pool, but nobody judged it.
    qrels, run = {"q": {"x": -1, "y": 1, "z": 0}}, {"q": {"x": 3.0, "y": 2.0}}
    values = per_query(qrels, run, ["bpref", "ndcg@10", "judged@2"])
    assert values["bpref"]["q"] == 1.0
    assert values["ndcg@10"]["q"] == pytest.approx(1 / math.log2(3))
    assert values["judged@2"]["q"] == 0.5


def test_ndcg_with_negative_grades_by_hand():
    # trec_eval keeps no gain for a grade below 0, neither in the ranking nor in the ideal: like a document without one.
    # Ranking: m (-2), a (1), n (-1), u (none), b (3); not found: c (2), p (-7).
    #   DCG = 1 / log2(3) + 3 / log2(6); the negative grades take ranks 1 and 3 and give nothing.
    #   Ideal: 3, 2, 1 at ranks 1, 2, 3 = 3 + 2 / log2(3) + 1 / 2; p doesn't follow as -7 / log2(5).
    qrels = {"q": {"a": 1, "b": 3, "c": 2, "m": -2, "n": -1, "p": -7}, "none": {"a": -1, "b": -4}}
    run = {"q": {"m": 5.0, "a": 4.0, "n": 3.0, "u": 2.0, "b": 1.0}, "none": {"a": 1.0}}
    values = per_query(qrels, run, "ndcg ndcg@3 ndcg@10")
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert values["ndcg"]["q"] == pytest.approx((1 / math.log2(3) + 3 / math.log2(6)) / ideal, abs=1e-15)
    assert values["ndcg@10"]["q"] == values["ndcg"]["q"]
    assert values["ndcg@3"]["q"] == pytest.approx(1 / math.log2(3) / ideal, abs=1e-15)
    # Nothing but negative grades: nothing is relevant.
    assert all(math.isnan(of["none"]) for of in values.values())
    # The same as without the negative judgements.
    bare = {query: {doc: grade for doc, grade in judged.items() if grade >= 0} for query, judged in qrels.items()}
    for name, of in per_query(bare, run, list(values)).items():
        assert of == pytest.approx(values[name], abs=0, nan_ok=True)


@pytest.mark.parametrize("seed", range(3))
def test_equals_pytrec_eval_with_negative_grades(seed):
    pytrec_eval = pytest.importorskip(
        "pytrec_eval", reason="the rival is not installed: pip install pytrec_eval-terrier"
    )
    # A topic of negative grades alone leaves trec_eval's tables unset (it may hang or crash): each has a positive one.
    rng = random.Random(seed)
    for _ in range(40):
        qrels, run = {}, {}
        for i in range(12):
            judged = rng.sample("abcdefgmnop", rng.randint(1, 8))
            qrels[f"q{i}"] = {**{doc: rng.choice((-5, -2, -1, 0, 1, 3)) for doc in judged}, "y": 1, "zz": 0}
            run[f"q{i}"] = {doc: rng.choice((0.25, 0.5, rng.random())) for doc in rng.sample("abcdefghiy", 7)}
        theirs = pytrec_eval.RelevanceEvaluator(qrels, set(TREC.values())).evaluate(run)
        for name, values in per_query(qrels, run, list(TREC)).items():
            for query, value in values.items():
                assert value == pytest.approx(theirs[query][TREC[name]], abs=1e-12), (name, qrels[query], run[query])


def test_bpref_refuses_qrels_without_irrelevant_documents():
    with pytest.raises(InputError, match=r"no document that was judged irrelevant.*judged@10"):
        per_query({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["bpref"])
    assert per_query({}, {}, ["bpref"]) == {"bpref": {}}


@pytest.mark.parametrize("name", STANDARD)
def test_best_and_worst(name):
    text = name if MEASURES[name].cutoff == "none" else f"{name}@2"
    qrels = {"q": {"a": 1, "b": 1, "x": 0}}
    assert per_query(qrels, {"q": {"a": 2.0, "b": 1.0}}, [text])[text]["q"] == 1.0
    assert per_query(qrels, {"q": {"u": 2.0, "v": 1.0}}, [text])[text]["q"] == 0.0
    assert per_query(qrels, {"q": []}, [text])[text]["q"] == 0.0
    assert per_query(qrels, {}, [text])[text]["q"] == 0.0


def _read_trec(shared):
    qrels, rows = {}, []
    for line in (shared / "trec" / "qrels.test").read_text().splitlines():
        query, _, doc, grade = line.split()
        qrels.setdefault(query, {})[doc] = int(grade)
    for line in (shared / "trec" / "results.test").read_text().splitlines():
        query, _, doc, _, value, _ = line.split()
        rows.append((query, doc, float(value)))
    return qrels, rows


def _check_trec(path, qrels, rows):
    run = {}
    for query, doc, value in rows:
        run.setdefault(query, {})[doc] = value
    names = ["map", "mrr", "rprec", "bpref", "ndcg"]
    cuts = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    names += [f"{m}@{k}" for m in ("ndcg", "map", "recall", "precision") for k in cuts]
    names += [f"hit@{k}" for k in (1, 5, 10)]
    known = {"hit": "success", "precision": "P", "mrr": "recip_rank", "rprec": "Rprec"}
    scores = score(qrels, run, names, resamples=10)
    expected = {}
    for line in path.read_text().splitlines():
        measure, query, value = line.split()
        expected[measure, query] = value
    for name in names:
        base, _, k = name.partition("@")
        other = f"{known.get(base, base + '_cut' * (base in ('ndcg', 'map')))}_{k}" if k else known.get(base, base)
        assert f"{scores.values[name]:.4f}" == expected[other, "all"], name
        for query, value in scores.per_query[name].items():
            if (other, query) in expected:
                assert f"{value:.4f}" == expected[other, query], (name, query)


def test_trec_evals_own_expected_output(shared):
    qrels, rows = _read_trec(shared)
    _check_trec(shared / "trec" / "out.test.aq", qrels, rows)
    _check_trec(shared / "trec" / "out.test.a", qrels, rows)


def test_trec_evals_own_expected_output_over_all_topics(shared):
    # out.test.aqc is of a run cut short: all of 301, nothing of 302, the first 84 lines of 303.
    qrels, rows = _read_trec(shared)
    cut = [r for r in rows if r[0] == "301"] + [r for r in rows if r[0] == "303"][:84]
    _check_trec(shared / "trec" / "out.test.aqc", qrels, cut)
