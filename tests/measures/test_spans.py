"""Span measures: worked by hand, against sets of characters, against a plain loop, against the published scores."""

import gzip
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.errors import InputError
from canlegalrag.measures import spans
from canlegalrag.measures.names import MEASURES
from canlegalrag.measures.span_lists import score_spans
from canlegalrag.measures.spans import by_dataset, curve, per_query, score, usual
from canlegalrag.measures.stats import block_bootstrap
from canlegalrag.types import Hit, Passage, Snippet

SPAN = [name for name, definition in MEASURES.items() if definition.family == "span"]
NAN = math.nan


def values(gold, run, k=2):
    """Every measure of one query at k, by name."""
    found = per_query({"q": gold}, {"q": run}, [f"{name}@{k}" for name in SPAN])
    return {name.partition("@")[0]: of["q"] for name, of in found.items()}


def row(precision, recall, f1, reference, wrong, characters, chunks, snippets):
    names = ["span_precision", "span_recall", "span_f1"]
    names += [f"reference_{name}" for name in names]
    names += ["wrong_document_rate", "retrieved_characters", "chunk_precision", "snippet_recall"]
    return dict(zip(names, (precision, recall, f1, *reference, wrong, characters, chunks, snippets), strict=True))


# Each at k = 2. Strict: R and G as sets. Reference: sums over hits (80 + 60 = 140 shared, 160 retrieved, 100 gold …).
CASES = {
    "the same chunk twice": (
        [("a", 0, 100)],
        [("a", 0, 100), ("a", 0, 100)],
        row(1, 1, 1, (1, 2, 4 / 3), 0, 100, 1 / 2, 1),
    ),
    "chunks that overlap": (
        [("a", 0, 100)],
        [("a", 0, 80), ("a", 40, 120)],  # R = 0-120, of which 100 gold
        row(100 / 120, 1, 200 / 220, (140 / 160, 140 / 100, 280 / 260), 0, 120, 1, 1),
    ),
    "a chunk within a chunk": (
        [("a", 10, 30)],
        [("a", 20, 30), ("a", 0, 40)],
        row(20 / 40, 1, 40 / 60, (30 / 50, 30 / 20, 60 / 70), 0, 40, 1, 1),
    ),
    "nothing retrieved": ([("a", 0, 100)], [], row(0, 0, 0, (0, 0, 0), NAN, 0, 0, 0)),
    "no gold": ([], [("a", 0, 100)], row(NAN, NAN, NAN, (0, 0, 0), NAN, 100, NAN, NAN)),
    "neither": ([], [], row(NAN, NAN, NAN, (0, 0, 0), NAN, 0, NAN, NAN)),
    "right offsets in another file": ([("a", 0, 100)], [("b", 0, 100)], row(0, 0, 0, (0, 0, 0), 1, 100, 0, 0)),
    "right file, other offsets": ([("a", 0, 100)], [("a", 100, 150)], row(0, 0, 0, (0, 0, 0), 0, 50, 0, 0)),
    "gold that touches": (
        [("a", 0, 10), ("a", 10, 20)],
        [("a", 5, 15), ("b", 0, 10)],
        row(10 / 20, 10 / 20, 20 / 40, (10 / 20, 10 / 20, 20 / 40), 1 / 2, 20, 1 / 2, 1),
    ),
    "gold that overlaps": (
        [("a", 0, 10), ("a", 5, 15)],  # 15 characters, 20 as they are
        [("a", 0, 15)],  # shares 10 and 10
        row(1, 1, 1, (20 / 15, 20 / 20, 40 / 35), 0, 15, 1 / 2, 1),
    ),
    "the same gold twice": (
        [("a", 0, 10), ("a", 0, 10), ("b", 0, 5)],
        [("a", 0, 5)],
        row(1, 5 / 15, 10 / 20, (10 / 5, 10 / 25, 20 / 30), 0, 5, 1 / 2, 1 / 2),
    ),
    "one character": ([("a", 0, 1)], [("a", 0, 1)], row(1, 1, 1, (1, 1, 1), 0, 1, 1 / 2, 1)),
    "gold in two files": (
        [("a", 0, 10), ("b", 0, 30)],
        [("b", 20, 40), ("c", 0, 20), ("a", 0, 10)],  # the third is beyond k
        row(10 / 40, 10 / 40, 20 / 80, (10 / 40, 10 / 40, 20 / 80), 1 / 2, 40, 1 / 2, 1 / 2),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_worked_by_hand(case):
    gold, run, expected = CASES[case]
    assert values(gold, run) == pytest.approx(expected, nan_ok=True, abs=1e-15)


def characters(rows):
    return {(doc, n) for doc, start, end in rows for n in range(start, end)}


def share(part, whole):
    return len(part) / len(whole) if whole else 0.0


SPANS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 30), st.integers(1, 20)).map(lambda s: (s[0], s[1], s[1] + s[2])),
    max_size=9,
)
QUERIES = st.lists(st.tuples(SPANS, SPANS), min_size=1, max_size=5)


@given(QUERIES, st.integers(1, 10))
def test_strict_counts_sets_of_characters(queries, k):
    gold = {f"q{i}": wanted for i, (wanted, _) in enumerate(queries)}
    run = {f"q{i}": found for i, (_, found) in enumerate(queries)}
    got = per_query(gold, run, [f"{name}@{k}" for name in SPAN])
    for query, wanted in gold.items():
        found, files = run[query][:k], {doc for doc, _, _ in wanted}
        r, g = characters(found), characters(wanted)
        relevant = {hit for hit in found if characters([hit]) & g}
        touched = {span for span in wanted if characters([span]) & r}
        expected = {
            "span_precision": share(r & g, r),
            "span_recall": share(r & g, g),
            "span_f1": 2 * len(r & g) / (len(r) + len(g)) if g else NAN,
            "chunk_precision": len(relevant) / k,
            "snippet_recall": share(touched, set(wanted)),
            "wrong_document_rate": sum(d not in files for d, _, _ in found) / len(found) if found else NAN,
        }
        expected = {name: value if g else NAN for name, value in expected.items()} | {"retrieved_characters": len(r)}
        for name, value in expected.items():
            assert got[f"{name}@{k}"][query] == pytest.approx(value, nan_ok=True, abs=1e-12), (name, query)


def plain(found, wanted):
    """Precision and recall as the published scorer defines them: every pair of a hit and a gold span."""
    pairs = [(h, g) for h in found for g in wanted if h[0] == g[0]]
    common = sum(max(0, min(h[2], g[2]) - max(h[1], g[1])) for h, g in pairs)
    lengths = [sum(end - start for _, start, end in rows) for rows in (found, wanted)]
    return [common / length if length else 0.0 for length in lengths]


@given(QUERIES, st.integers(1, 10))
def test_reference_counts_every_pair(queries, k):
    gold = {f"q{i}": wanted for i, (wanted, _) in enumerate(queries)}
    run = {f"q{i}": found for i, (_, found) in enumerate(queries)}
    names = [f"reference_span_{name}@{k}" for name in ("precision", "recall", "f1")]
    precision, recall, f1 = per_query(gold, run, names).values()
    for query in gold:
        p, r = plain(run[query][:k], gold[query])
        assert (precision[query], recall[query]) == pytest.approx((p, r), abs=1e-12)
        assert f1[query] == pytest.approx(2 * p * r / (p + r) if p + r else 0.0, abs=1e-12)


def test_many_hits_that_lie_in_each_other():
    """Rankings whose spans overlap at every depth, against sets."""
    rng = np.random.default_rng(3)
    gold = {f"q{i}": [("a", int(s), int(s) + 40) for s in rng.integers(0, 900, 5)] for i in range(8)}
    ends = [
        (int(s), int(s) + int(n)) for s, n in zip(rng.integers(0, 800, 1600), rng.integers(1, 700, 1600), strict=True)
    ]
    run = {f"q{i}": [("ab"[n % 2], *ends[i * 200 + n]) for n in range(200)] for i in range(8)}
    for k in (1, 7, 64, 200):
        got = per_query(gold, run, f"span_precision@{k} span_recall@{k} retrieved_characters@{k}")
        for query in gold:
            r, g = characters(run[query][:k]), characters(gold[query])
            found = [of[query] for of in got.values()]
            assert found == pytest.approx([len(r & g) / len(r), len(r & g) / len(g), len(r)], abs=1e-12)


def test_offsets_as_large_as_any_and_many_documents():
    """Places of all documents on one line would pass 2^63 here: pairs are renumbered."""
    top = 2**31 - 1
    documents = [f"d{i}" for i in range(70_000)]
    gold = {f"q{i}": [(f"d{i}", top - 10, top)] for i in range(70_000)}
    run = {"q0": [("d0", top - 5, top)], "q69999": [(d, 0, 9) for d in documents] + [("d69999", top - 20, top - 5)]}
    got = per_query(gold, run, "span_recall@1 span_recall@70001 span_precision@70001")
    assert got["span_recall@1"]["q0"] == 0.5
    assert got["span_recall@70001"]["q69999"] == 0.5
    assert got["span_precision@70001"]["q69999"] == 5 / (70_000 * 9 + 15)
    assert sum(got["span_recall@70001"].values()) == 1.0


@pytest.fixture(scope="module")
def published(shared):
    """The BM25 run over LegalBench-RAG-mini: gold, run, data sets, scores of the published scorer."""
    folder, gold, names = shared / "legalbenchrag", [], []
    for name in ("privacy_qa", "contractnli", "maud", "cuad"):
        tests = json.loads((folder / "mini" / f"{name}.json").read_text(encoding="utf-8"))["tests"]
        gold += [[(s["file_path"], *s["span"]) for s in test["snippets"]] for test in tests]
        names += [name] * len(tests)
    with gzip.open(folder / "bm25_rcts_top64_runs.json.gz", "rt", encoding="utf-8") as file:
        run = json.load(file)
    scores = json.loads((folder / "bm25_rcts_reference_scores.json").read_text())
    return gold, run, names, scores


def test_the_published_scores_to_1e_12(published):
    gold, run, names, expected = published
    queries = [f"q{i}" for i in range(len(gold))]
    by_id = [dict(zip(queries, part, strict=True)) for part in (gold, run, names)]
    measures = [f"reference_span_{what}@{k}" for k in spans.DEPTHS for what in ("precision", "recall")]
    scores = score(*by_id[:2], measures, resamples=10)
    parts, mean = by_dataset(scores, by_id[2], resamples=10)
    assert list(parts) == ["privacy_qa", "contractnli", "maud", "cuad"]
    for k in spans.DEPTHS:
        for subset, pair in expected[f"rcts@{k}"].items():
            # Four data sets of 194 queries each: the mean over all queries is that of the data sets.
            for part in (scores, mean) if subset == "ALL" else (parts[subset],):
                got = [part.values[f"reference_span_{what}@{k}"] for what in ("precision", "recall")]
                assert got == pytest.approx(pair, rel=0, abs=1e-12), (k, subset)


def test_the_metric_gives_the_published_scores(published):
    gold, run, names, expected = published
    scores = score_spans(run, gold, datasets=names, k=[1, 64], mode="reference")
    assert scores["n"] == 776
    for k in (1, 64):
        for subset, pair in expected[f"rcts@{k}"].items():
            for part in (scores, scores["macro"]) if subset == "ALL" else (scores["by_dataset"][subset],):
                assert [part[f"precision@{k}"], part[f"recall@{k}"]] == pytest.approx(pair, rel=0, abs=1e-12)


def test_hits_of_one_cutting_are_the_same_in_both_modes(published):
    gold, run, _, _ = published
    strict, reference = (score_spans(run, gold, k=64, mode=mode) for mode in ("strict", "reference"))
    assert strict == pytest.approx(reference, abs=1e-12)


def test_a_forgotten_query_is_zero_and_gold_that_is_missing_is_skipped():
    gold = {"q1": [("a", 0, 10)], "q2": [("b", 0, 10)], "q3": []}
    scores = score(gold, {"q1": [("a", 0, 5)], "q9": [("a", 0, 5)]}, k=1, resamples=50)
    assert (scores.values["span_recall@1"], scores.n["span_recall@1"], scores.skipped["span_recall@1"]) == (0.25, 2, 1)
    assert (scores.values["wrong_document_rate@1"], scores.n["wrong_document_rate@1"]) == (0.0, 1)
    assert (scores.values["retrieved_characters@1"], scores.n["retrieved_characters@1"]) == (5 / 3, 3)
    assert list(scores.per_query["span_f1@1"]) == ["q1", "q2", "q3"]


def test_the_interval_is_that_of_the_blocks():
    gold = {f"q{i}": [("a", 0, 10)] for i in range(7)}
    run = {"q0": [("a", 0, 10)], "q1": [("a", 0, 5)], "q3": [("a", 0, 2)]}
    blocks = dict(zip(gold, "ssttuvw", strict=True))
    scores = score(gold, run, "span_recall@1", blocks=blocks, resamples=500, seed=3)
    expected = block_bootstrap([1.0, 0.5, 0.0, 0.2, 0.0, 0.0, 0.0], list("ssttuvw"), 500, 3)
    assert scores.interval["span_recall@1"] == expected and expected[0] < expected[1]


DATASETS = {"q1": "small", "q2": "large", "q3": "large", "q4": "large", "q5": "empty"}
UNEVEN = {**{q: [("a", 0, 10)] for q in ("q1", "q2", "q3", "q4")}, "q5": []}


def test_every_data_set_weighs_the_same():
    run = {"q1": [("a", 0, 10)], "q2": [("a", 0, 4)], "q3": [("a", 0, 2)]}
    scores = score(UNEVEN, run, "span_recall@1", resamples=50)
    parts, mean = by_dataset(scores, DATASETS, resamples=50)
    assert scores.values["span_recall@1"] == pytest.approx(1.6 / 4)
    assert {label: part.values["span_recall@1"] for label, part in parts.items()} == pytest.approx(
        {"small": 1.0, "large": 0.2, "empty": NAN}, nan_ok=True
    )
    assert mean.values["span_recall@1"] == pytest.approx(0.6)  # "empty" has no value, so it has no weight
    assert (mean.n["span_recall@1"], mean.skipped["span_recall@1"]) == (4, 1)
    assert math.isnan(mean.interval["span_recall@1"][0])  # one query says nothing about how "small" varies
    assert score(UNEVEN, run, "span_recall@1", datasets=DATASETS, resamples=50).values == mean.values
    assert by_dataset(score({}, {}, "span_recall@1"), {})[1].values == {}


def test_the_interval_of_the_data_sets_mean():
    """Two data sets without spread within: their mean can't vary. With spread, it does so around the mean."""
    gold = {f"q{i}": [("a", 0, 10)] for i in range(40)}
    labels = {q: "odd" if int(q[1:]) % 2 else "even" for q in gold}
    still = {q: [("a", 0, 10)] for q in gold if labels[q] == "odd"}
    assert score(gold, still, "span_recall@1", datasets=labels, resamples=99).interval["span_recall@1"] == (0.5, 0.5)
    moved = {q: [("a", 0, 1 + int(q[1:]) % 10)] for q in gold}
    scores = score(gold, moved, "span_recall@1", datasets=labels, resamples=2000)
    low, high = scores.interval["span_recall@1"]
    # Standard error: half of √(2 · 0.08 / 20), the variance within a data set being 0.08.
    error = math.sqrt(2 * 0.08 / 20) / 2
    assert low == pytest.approx(0.55 - 1.96 * error, abs=0.01)
    assert high == pytest.approx(0.55 + 1.96 * error, abs=0.01)


def test_recall_at_equal_characters():
    gold = {"q1": [("a", 0, 100), ("b", 50, 60)], "q2": [("c", 0, 10)], "q3": []}
    run = {
        # 0-50, then 50-80 (30-50 isn't charged again), then 40-60 of b: 50 + 30 + 20
        "q1": [("a", 0, 50), ("a", 30, 80), ("b", 40, 60), ("a", 0, 80)],
        "q3": [("c", 0, 1000)],
    }
    budgets = [10, 50, 60, 95, 100, 5000]
    found = curve(gold, run, budgets)
    q1 = [10, 50, 60, 85, 90, 90]  # gold characters among the first
    assert found.recall == pytest.approx([n / 110 / 2 for n in q1])
    assert found.filled == (0.5, 0.5, 0.5, 0.5, 0.5, 0.0)
    assert (found.characters, found.by_dataset, found.macro) == (tuple(budgets), {}, ())
    labels = {"q1": "one", "q2": "two", "q3": "two"}
    parts = curve(gold, run, budgets, datasets=labels)
    assert parts.by_dataset["one"] == pytest.approx([n / 110 for n in q1])
    assert parts.by_dataset["two"] == (0.0,) * 6
    assert parts.macro == pytest.approx([n / 220 for n in q1])
    none = curve({"q": []}, {}, [10])
    assert math.isnan(none.recall[0]) and math.isnan(none.filled[0])
    assert curve({}, {}, [10], datasets={}).macro == ()


@given(QUERIES, st.integers(1, 60))
def test_the_curve_reads_from_the_top(queries, budget):
    for wanted, found in queries:
        seen: dict[tuple[str, int], None] = {}
        for doc, start, end in found:
            seen |= dict.fromkeys((doc, n) for n in range(start, end))
        read, g = set(list(seen)[:budget]), characters(wanted)
        got = curve({"q": wanted}, {"q": found}, [budget]).recall[0]
        assert got == pytest.approx(len(read & g) / len(g) if g else NAN, nan_ok=True, abs=1e-12)


def test_twice_the_text_is_no_advantage():
    """Chunks of 500 and chunks of 250 in the same order: at equal k long ones win, at equal characters neither."""
    gold = {"q": [("a", 0, 1000)]}
    long, short = ({"q": [("a", s, s + n) for s in range(0, 4000, n)]} for n in (500, 250))
    at_k = [per_query(gold, run, "span_recall@2")["span_recall@2"]["q"] for run in (long, short)]
    assert at_k == [1.0, 0.5]
    assert curve(gold, long).recall == curve(gold, short).recall == (0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def test_every_form_of_a_span():
    passage = Passage("a", 3, 0, 5)
    forms = [
        ("a", 0, 5),
        ["a", 0, 5],
        {"doc_id": "a", "start": 0, "end": 5, "text": "x"},
        passage,
        Hit("a", 1.0, passage),
    ]
    forms += [Snippet("q", "a", 0, 5, "01234"), ("a", np.int64(0), np.int32(5))]
    for form in forms:
        assert per_query({"q": [form]}, {"q": (form,)}, "span_f1@1") == {"span_f1@1": {"q": 1.0}}
    mixed = per_query({"q": [("a", 0, 10)]}, {"q": [forms[1], forms[2], ("a", 5, 10)]}, "span_recall@3")
    assert mixed["span_recall@3"]["q"] == 1.0


@pytest.mark.parametrize(
    ("span", "message"),
    [
        (("a", 5, 5), "5 to 5 is empty"),
        (("a", 9, 5), "9 to 5 is reversed"),
        (("a", -1, 5), "offset -1 is not a whole number"),
        (("a", 0, 2**31), "offset 2147483648 is not a whole number from 0 to 2147483647"),
        (("a", 0, 10**30), "is not a whole number"),
        (("a", 0, 5.0), "offset 5.0 is not a whole number"),
        (("a", 0, NAN), "offset nan is not"),
        (("a", False, 5), "offset False is not"),
        (("a", 0, True), "offset True is not"),
        (("a", "0", 5), "offset '0' is not"),
        ((7, 0, 5), "document 7 is not a string"),
        (("\ud800", 0, 5), "half a surrogate pair"),
        (("a", 0), "is no span"),
        (("a", 0, 5, 6), "is no span"),
        ("abc", "'abc' is no span"),
        ({"doc_id": "a", "start": 0}, "is no span"),
        ({"a", 0, 5}, "is no span"),
        (None, "None is no span"),
        (Hit("a", 1.0), "has no offsets: a whole document was ranked"),
    ],
)
def test_what_is_no_span_is_named(span, message):
    for gold, run, where in (([("a", 0, 5), span], [], "gold"), ([("a", 0, 5)], [("a", 0, 5), span], "run")):
        with pytest.raises(InputError) as error:
            per_query({"q0": [], "q1": gold}, {"q1": run}, "span_f1@1")
        assert str(error.value).startswith(f"{where}, query 'q1', spans[1]: ")
        assert message in str(error.value)


def test_wrong_types_and_wrong_measures():
    for gold, run in (({1: []}, {}), ([], {}), ({"q": "abc"}, {}), ({"q": None}, {}), ({"q": []}, {"q": {"a": 1.0}})):
        with pytest.raises(InputError):
            per_query(gold, run, "span_f1@1")
    with pytest.raises(InputError, match=r"'ndcg@10'.*does not count characters"):
        per_query({}, {}, "ndcg@10")
    with pytest.raises(InputError, match="beside measures"):
        per_query({}, {}, "span_f1@1", k=3)
    with pytest.raises(InputError, match="needs a cut-off"):
        per_query({}, {}, "span_f1")
    for k in (0, -1, 1.5, True, "8", [True], [0], {8}):
        with pytest.raises(InputError, match=r"^k"):
            usual(k)
    for budgets in ([0], [1.5], [True], 500):
        with pytest.raises(InputError, match=r"^budgets"):
            curve({}, {}, budgets)
    assert per_query({}, {}, "span_f1@1") == {"span_f1@1": {}}


def test_names():
    assert [str(m) for m in usual(np.int64(3))] == [
        "span_precision@3",
        "span_recall@3",
        "span_f1@3",
        "wrong_document_rate@3",
        "retrieved_characters@3",
    ]
    assert len(usual()) == 5 * 7
    assert [m.name for m in usual([1], "reference")][:3] == [
        f"reference_span_{n}" for n in ("precision", "recall", "f1")
    ]


def test_lists_by_data_set_with_equal_weight():
    gold = [[("é || ü/1%20.txt", 0, 10)], [("b", 0, 10)], [("b", 0, 10)], []]
    found = [[("é || ü/1%20.txt", 0, 10)], [("b", 0, 5), ("c", 0, 5)], [], [("c", 0, 5)]]
    scores = score_spans(found, gold, datasets=["one", "two", "two", "none"], k=2)
    assert (scores["recall"], scores["recall@2"], scores["n"], scores["skipped"]) == (0.5, 0.5, 3, 1)
    assert scores["macro"]["recall@2"] == scores["macro"]["recall"] == (1.0 + 0.25) / 2
    assert scores["by_dataset"]["none"]["recall"] is None
    assert (scores["by_dataset"]["two"]["wrong_document_rate@2"], scores["by_dataset"]["two"]["n"]) == (0.5, 2)
    assert scores["by_dataset"]["two"]["wrong_document_rate@2_n"] == 1
    assert "recall" not in score_spans(found, gold)
    assert score_spans([], [])["recall@1"] is None
    json.dumps(scores, allow_nan=False)


def test_a_hit_whose_passage_is_of_another_document_is_refused():
    odd = {"q": [Hit("a", 2.0, Passage("a", 0, 0, 9)), Hit("a", 1.0, Passage("b", 0, 0, 9))]}
    with pytest.raises(InputError, match=r"run, query 'q', spans\[1\]: is a hit in 'a' with a passage of 'b'"):
        per_query({"q": [("a", 0, 9)]}, odd, "span_recall@2")


def test_an_empty_list_of_depths_is_named():
    with pytest.raises(InputError, match="k: is an empty list"):
        usual([])


def test_names_of_data_sets_are_plain():
    scores = score_spans([[], []], [[("a", 0, 9)], [("b", 0, 9)]], datasets=np.array(["x", "y"]), k=1)
    assert [type(label) for label in scores["by_dataset"]] == [str, str]


def test_more_pairs_than_a_table_may_have(monkeypatch):
    """Queries and documents whose pairs are renumbered score the same."""
    rng = np.random.default_rng(5)

    def some(n):
        return [("abcdef"[rng.integers(6)], int(s), int(s) + 9) for s in rng.integers(0, 60, n)]

    gold, run = ({f"q{i}": some(n) for i in range(30)} for n in (3, 12))
    names = [f"{name}@7" for name in SPAN]
    expected = per_query(gold, run, names)
    monkeypatch.setattr("canlegalrag.measures.span_coding._TABLE", 5)
    assert per_query(gold, run, names) == expected
