"""The board: right ranks, ties and intervals on a hand-made one; nothing that nobody ran; strangers kept harmless."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag import leaderboard, submission
from canlegalrag.benchmark import Benchmark, load
from canlegalrag.errors import InputError
from canlegalrag.leaderboard.comparing import pairs, rank_intervals, ranks
from canlegalrag.leaderboard.designs import design
from canlegalrag.leaderboard.directions import _LOWER, better
from canlegalrag.measures import claims, retrieval, stats
from canlegalrag.recipes import baseline
from canlegalrag.types import Document, Hit, Query

RTL = "‮"
HOSTILE = ["<script>alert(1)</script>", '=HYPERLINK("http://x.ca")', "n" * 10_000, f"a{RTL}b", "👩‍⚖️ 🍁", "a\nb\0c|d"]


def entry(name: str, values: list[float | None], measure: str = "ndcg@10", **more: Any) -> dict[str, Any]:
    """A stored submission whose queries q0, q1 … have these values."""
    known = [v for v in values if v is not None]
    mean = sum(known) / len(known) if known else None
    row = {"mean": mean, "n": len(known), "skipped": len(values) - len(known), "low": mean, "high": mean}
    per_query = {f"q{i}": {measure: v} for i, v in enumerate(values)}
    scores = {"measures": {measure: row}, "per_query": per_query, "by": {}, "provenance": {"queries": len(values)}}
    return {
        "id": f"{abs(hash((name, str(values)))):016x}"[:16],
        "received": "2026-07-01T10:00:00+00:00",
        "system": {"name": name, "authors": ["A. Author"], "used": ["a model"], "licence": "MIT", "url": ""},
        "benchmark": {"name": "hand", "revision": "1", "fingerprint": "f" * 64},
        "retrieval": scores,
        "claims": None,
        "cost": None,
        "seconds": None,
        "kind": "submission",
    } | more


# Eight queries, each on its own: 2^8 = 256 signs are all tried, so p is exact.
#   best against worst: every difference is 0.5, so only the signs that are all alike reach the sum seen: p = 2/256.
#   best against near: seven differences are 0 and one is 0.125, so every sign reaches it: p = 1; near against worst:
#   seven differences of 0.5 and one of 0.375: only all alike reach the sum: p = 2/256.
#   Holm over three pairs: 3 x 2/256 and 2 x 2/256, made monotone: 6/256 = 0.0234 < 0.05; apart.
BEST = [1.0] * 8
NEAR = [1.0] * 7 + [0.875]
WORST = [0.5] * 8
THREE = [entry("worst", WORST, cost=0.5), entry("best", BEST, cost=2.0, seconds=0.25), entry("near", NEAR)]


def test_ranks_ties_and_intervals_of_three_systems() -> None:
    board = leaderboard.board(THREE)
    assert [(row.label, row.rank, row.tied) for row in board.rows] == [
        ("best", 1, ("near",)),
        ("near", 2, ("best",)),
        ("worst", 3, ()),
    ]
    # "near" loses to "best" wherever its one lower query is drawn, else they share the first rank: 1 … 2. "worst" is
    # last in every resample.
    assert [row.ranks for row in board.rows] == [(1, 1), (1, 2), (3, 3)]
    assert [row.mean for row in board.rows] == [1.0, 7.875 / 8, 0.5]
    heads, rows = board.table()
    assert heads == [
        "rank",
        "system",
        "kind",
        "ndcg@10",
        "95 % interval",
        "queries",
        "skipped",
        "rank interval",
        "not told apart from",
        "US $",
        "seconds a query",
    ]
    assert rows[0] == [1, "best", "submission", 1.0, "1.000 … 1.000", 8, 0, "1 … 1", "near", 2.0, 0.25]
    assert rows[1][-2:] == ["–", "–"]
    assert rows[2][8] == "none"
    assert board.table(["date", "nonsense", "retriever"]) == (["received", "retriever"], [["2026-07-01", "other"]] * 3)
    assert any("8 queries" in note and "3 pairs" in note for note in board.notes)
    assert any("isn't known" in note for note in board.notes)  # no blocks are known of this benchmark


def test_equal_means_share_a_rank() -> None:
    board = leaderboard.board([entry("a", [1.0, 0.0]), entry("b", [0.0, 1.0]), entry("c", [0.0, 0.0])])
    assert [(row.label, row.rank) for row in board.rows] == [("a", 1), ("b", 1), ("c", 3)]


def test_an_empty_board_says_so_and_shows_nobody() -> None:
    board = leaderboard.board([])
    assert board.rows == () and board.notes[0] == "No system has been entered yet."
    assert board.table()[1] == []
    for name in leaderboard.PLOTS:
        plot = leaderboard.plot(board, name)
        assert plot.rows == [] and plot.data == ()
    sample = load("sample")
    board = leaderboard.board([], loaded=sample)
    assert board.benchmark is not None and board.benchmark.name == "canlegalrag-sample" and board.rows == ()


def test_one_entry_is_first_and_compared_with_nobody() -> None:
    (row,) = leaderboard.board([entry("alone", BEST)]).rows
    assert (row.rank, row.ranks, row.tied) == (1, (1, 1), ())


def test_undefined_values_are_last_and_no_zeros() -> None:
    nan = entry("nan", BEST)
    nan["retrieval"]["measures"]["ndcg@10"] |= {"mean": math.nan, "low": None, "high": math.inf}
    board = leaderboard.board([entry("none", [None] * 8), nan, *THREE])
    assert [(row.label, row.rank) for row in board.rows[-2:]] == [("nan", None), ("none", None)]
    assert board.table(["rank", "score", "interval", "tied", "ranks"])[1][-1] == ["–"] * 5
    assert board.rows[0].tied == ("near",)


def test_one_who_answers_little_does_not_empty_the_comparison_of_others() -> None:
    """`stats.compare` would leave seven of the eight queries out for all."""
    few = entry("few", [1.0, *[None] * 7])
    board = leaderboard.board([*THREE, few])
    tied = {row.label: row.tied for row in board.rows}
    assert tied["worst"] is not None and "best" not in tied["worst"]
    assert any("different numbers of queries, 1 to 8" in note for note in board.notes)


def test_tests_agree_with_those_of_the_library_where_nothing_is_undefined() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((5, 60)).round(1) + np.arange(5)[:, None] * 0.05
    blocks = [str(i // 3) for i in range(60)]
    ours = pairs(list("abcde"), values, blocks, 1000, 0)
    theirs = stats.compare(dict(zip("abcde", values, strict=True)), blocks, resamples=1000)
    for a, b in zip(ours, theirs, strict=True):
        assert (a.a, a.b, a.n, a.blocks, a.apart) == (b.a, b.b, b.n, b.blocks, b.apart)
        assert (a.p, a.p_holm, a.difference) == pytest.approx((b.p, b.p_holm, b.difference))
    # One who lacks a query changes nothing between the others, though the sums are then taken pair by pair.
    lacking = np.vstack([values, np.where(np.arange(60) == 7, np.nan, 0.5)])
    again = {(c.a, c.b): c for c in pairs(list("abcdef"), lacking, blocks, 1000, 0)}
    for a in ours:
        assert again[a.a, a.b].p == a.p


def test_pairs_keep_the_queries_that_both_have() -> None:
    values = np.array([[1.0, 1.0, np.nan], [0.0, np.nan, 0.5], [np.nan, 1.0, 1.0]])
    found = {(c.a, c.b): c for c in pairs(list("abc"), values, list("xyz"), 100, 0)}
    assert [found[pair].n for pair in (("a", "b"), ("a", "c"), ("b", "c"))] == [1, 1, 1]
    assert found["a", "c"].p == 1.0 and found["a", "c"].difference == 0.0
    assert found["a", "b"].p == stats.paired_test([1.0], [0.0])
    (none,) = pairs(["a", "b"], np.array([[1.0, np.nan], [np.nan, 1.0]]), list("xy"), 100, 0)
    assert math.isnan(none.p) and not none.apart and none.n == 0


@given(st.lists(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=5, max_size=5), min_size=1, max_size=5))
def test_ranks_are_those_counted_one_by_one(values: list[list[float]]) -> None:
    table = np.array(values)
    expected = [[1 + sum(other[j] > row[j] for other in values) for j in range(5)] for row in values]
    assert ranks(table).tolist() == expected
    low_high = rank_intervals(table, list("vwxyz"), 200, 0)
    drawn = stats.drawn_means(table, list("vwxyz"), 200, 0)
    for row, found in zip(ranks(drawn), low_high, strict=True):
        assert found is not None
        assert np.mean((row >= found[0]) & (row <= found[1])) >= 0.95
    assert rank_intervals(table, list("wwxyz"), 200, 0) == [None] * len(values)  # too few blocks


def test_names_are_told_apart_and_harmless() -> None:
    board = leaderboard.board([*(entry(name, BEST) for name in HOSTILE), entry("BEST", BEST), entry("be​st", NEAR)])
    labels = [row.label for row in board.rows]
    assert len(set(labels)) == len(labels) == 8
    assert not any(RTL in label or "\n" in label or "\0" in label or label.startswith("=") for label in labels)
    assert max(map(len, labels)) <= 81
    assert sum("(" in label for label in labels if label.casefold().startswith("be")) == 2
    for name in leaderboard.PLOTS:
        told = json.dumps(leaderboard.plot(board, name).data)
        assert "<script" not in told


def test_a_name_that_looks_like_one_of_ours_gets_a_mark() -> None:
    first, second = entry("a", BEST), entry("a", NEAR)
    third = entry(f"a ({first['id'][:8]}…)", WORST)
    assert len({row.label for row in leaderboard.board([first, second, third]).rows}) == 3


def test_benchmarks_are_never_mixed() -> None:
    other = entry("other", BEST, benchmark={"name": "hand", "revision": "2", "fingerprint": "e" * 64})
    assert [(b.fingerprint[0], b.entries) for b in leaderboard.benchmarks([other, *THREE])] == [("f", 3), ("e", 1)]
    with pytest.raises(InputError, match="2 benchmarks"):
        leaderboard.board([other, *THREE])
    (row,) = leaderboard.board([other, *THREE], fingerprint="e" * 64).rows
    assert row.label == "other"


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        "x",
        {},
        {"system": "x"},
        entry("", BEST),
        entry("x", BEST, benchmark=None),
        entry("x", BEST, retrieval=None),
        entry("x", BEST, retrieval={"measures": []}),
        entry("x", BEST, system={"name": 5}),
    ],
)
def test_damaged_entries_are_left_out_and_counted(damaged: Any) -> None:
    board = leaderboard.board([damaged, *THREE])
    assert len(board.rows) == 3 and "Entries left out because they can't be read: 1." in board.notes


@pytest.mark.parametrize(
    "value", [1e299, -1e299, 10**400, 1e13, "0.5", [0.5], True, {}, math.nan, math.inf], ids=lambda v: f"{v!r:.9}"
)
def test_a_number_that_nothing_has_is_no_number(value: Any) -> None:
    """Neither as a mean nor in a query: sums and ranks of the others must not overflow."""
    odd = entry("odd", [0.25] * 8)
    odd["retrieval"]["measures"]["ndcg@10"] = dict.fromkeys(("mean", "low", "high", "n", "skipped"), value)
    other = entry("other", [0.75] + [0.25] * 7)
    other["retrieval"]["per_query"]["q0"]["ndcg@10"] = value
    board = leaderboard.board([*THREE, odd | {"cost": value, "seconds": value}, other])
    found = {row.label: (row.mean, row.rank) for row in board.rows}
    assert found["odd"] == (None, None) and found["best"][1] == 1 and found["worst"][1] == 3
    assert next(row.tied for row in board.rows if row.label == "other") is None, "its mean isn't that of its queries"
    for name in leaderboard.PLOTS:
        leaderboard.plot(board, name)


def test_queries_that_the_benchmark_lacks_do_not_count() -> None:
    sample = load("sample")
    of = {"benchmark": {"name": sample.name, "revision": "", "fingerprint": sample.fingerprint}}
    honest, long = (entry(name, [0.5] * 8, **of) for name in ("honest", "long"))
    scores = honest["retrieval"]
    scores["per_query"] = {query: {"ndcg@10": 0.5} for query in sample.queries}
    board = leaderboard.board([honest, long], loaded=sample)
    assert {row.label: row.tied for row in board.rows} == {"honest": (), "long": None}


def test_no_crowd_can_stall_the_board() -> None:
    """The work grows with the square of the systems, and past a hundred no pair could be told apart."""
    crowd = [entry(f"s{n:03}", [n / 256] * 7 + [0.0]) for n in range(120)]
    board = leaderboard.board(crowd, resamples=100)
    assert [row.rank for row in board.rows] == list(range(1, 121))
    assert [row.tied is not None for row in board.rows] == [True] * 100 + [False] * 20
    assert all(row.ranks is not None for row in board.rows)
    assert "Only the best 100 of 120 systems are compared." in board.notes


def test_whose_verdicts_they_are_is_said() -> None:
    verdicts = {"verdicts": {"judges": {f"x/{n}": 1 for n in range(9)}, "conditions": {"(none)": 8}}}
    scores = entry("a", BEST, "accuracy")["retrieval"]
    mine, here = (scores | {"provenance": verdicts | {"run": {"judged_here": here}}} for here in (False, True))
    said = "Verdicts that came with a submission are its makers': nobody here has judged its answers again."
    for claims_, told in ((mine, True), (here, False)):
        one = entry("one", BEST) | {"claims": claims_}
        board = leaderboard.board([one], "accuracy")
        assert (said in board.notes) is told
        assert ("nobody here has judged" in leaderboard.card(one)) is told
        assert said not in leaderboard.board([one], "ndcg@10").notes
        assert board.rows[0].judge == "x/0, x/1, x/2 and 6 more; (none)"


def test_hidden_entries_leave_no_trace() -> None:
    board = leaderboard.board([entry("hidden", BEST, hidden=True), *THREE])
    assert board == leaderboard.board(THREE)


def test_an_entry_counts_once() -> None:
    assert len(leaderboard.board([*THREE, *THREE]).rows) == 3


def test_a_mean_that_its_queries_do_not_have_is_not_tested() -> None:
    forged = entry("forged", WORST)
    forged["retrieval"]["measures"]["ndcg@10"]["mean"] = 0.99
    board = leaderboard.board([forged, *THREE])
    row = next(row for row in board.rows if row.label == "forged")
    assert row.tied is None and row.ranks is None
    assert any("1 of 4 ranked systems lack" in note for note in board.notes)


def test_stand_ins_are_marked_and_never_ranked() -> None:
    board = leaderboard.board([entry("offline-hashing", BEST), entry("x", NEAR, kind="stand-in"), *THREE])
    assert [(row.label, row.rank) for row in board.rows[3:]] == [
        ("offline-hashing (stand-in)", None),
        ("x (stand-in)", None),
    ]
    assert board.rows[0].tied == ("near",)
    recipe = {"name": "r", "retriever": "bm25", "chunk": "recursive:1024:128", "reranker": "offline/overlap"}
    made = entry("mine", BEST)
    made["retrieval"]["provenance"]["run"] = {"recipe": recipe}
    (row,) = leaderboard.board([made]).rows
    assert (row.kind, row.retriever, row.chunk) == ("stand-in", "bm25 + reranker", "1024")


def judged(name: str, values: list[float | None], judge: str, measure: str = "groundedness") -> dict[str, Any]:
    found = entry(name, values, measure)
    scores = found["retrieval"] | {"provenance": {"verdicts": {"judges": {judge: 9}, "conditions": {"pipeline": 8}}}}
    return found | {"retrieval": None, "claims": scores}


def test_claims_of_different_judges_are_not_ranked_together() -> None:
    entries = [judged("a", NEAR, "x/one"), judged("b", WORST, "x/one"), judged("c", BEST, "x/two")]
    board = leaderboard.board(entries, "groundedness")
    assert [(row.label, row.rank) for row in board.rows] == [("a", 1), ("b", 2), ("c", None)]
    assert any("x/one; pipeline" in note for note in board.notes)


def test_what_a_stand_in_or_nobody_judged_is_shown_and_not_ranked() -> None:
    entries = [judged("a", NEAR, "offline/lexical"), judged("b", WORST, "x/one"), *THREE]
    nobody = judged("c", BEST, "x/one")
    nobody["claims"]["provenance"]["verdicts"]["judges"] = {}
    board = leaderboard.board([*entries, nobody], "groundedness")
    assert [(row.label, row.kind, row.rank) for row in board.rows] == [
        ("b", "submission", 1),
        ("c", "submission", None),
        ("a (stand-in)", "stand-in", None),
    ]
    assert [row.judge for row in board.rows] == ["x/one; pipeline", "nobody; pipeline", "offline/lexical; pipeline"]
    for said in (
        "is a stand-in: its figures",
        "no verdict of anybody",
        "as nobody judged answers of theirs for it: 3.",
    ):
        assert any(said in note for note in board.notes), said
    assert board.measures == ("ndcg@10", "groundedness")


def test_measures_are_offered_where_somebody_has_a_value_the_usual_ones_first() -> None:
    names = ["span_f1@8", "paper_mrr", "rprec", "span_f1@2", "hit@10", "ndcg@10", "mrr", "what_is_this"]
    scores = [entry("a", BEST, name) for name in names] + [entry("b", [None], "map")]
    scores += [judged("c", BEST, "x/y", name) for name in ("factscore", "f1", "accuracy")]
    wanted = ["ndcg@10", "mrr", "accuracy", "f1", "rprec", "hit@10", "paper_mrr", "span_f1@2", "span_f1@8"]
    assert leaderboard.offered(iter(scores)) == [*wanted, "factscore", "what_is_this"]
    assert "accuracy" in leaderboard.measures(iter(scores))


def test_where_nobody_has_the_measure_another_is_shown_and_that_is_said() -> None:
    board = leaderboard.view(THREE, leaderboard.State(measure="f1"))
    assert (board.measure, len(board.rows)) == ("ndcg@10", 3)
    assert board.notes[0] == "No system here has a value of f1: ndcg@10 is shown instead."


def test_whom_one_is_not_told_apart_from_is_said_in_few_words() -> None:
    tied = leaderboard.board([entry(f"s{n}", [n / 8, *BEST]) for n in range(5)])
    assert [row[0] for row in tied.table(["tied"])[1]] == ["all"] * 5
    assert [row[0] for row in tied.shown(words="s1").table(["tied"])[1]] == ["all"]
    assert tied.notes[0] == "No two of these 5 systems can be told apart."
    rng = np.random.default_rng(0)
    close = [entry(f"s{n}", (0.9 + 0.01 * rng.random(40)).tolist()) for n in range(5)]
    board = leaderboard.board([*close, entry("far", [0.1] * 40)], resamples=2000)
    cells = {row[0]: row[1] for row in board.table(["system", "tied"])[1]}
    assert cells == {**{f"s{n}": "all but far" for n in range(5)}, "far": "none"}
    assert not any("No two" in note for note in board.notes)


def test_the_lowest_is_best_where_lower_is_better_and_length_ranks_nobody() -> None:
    board = leaderboard.board([judged(n, v, "x/y", "contradiction_rate") for n, v in (("a", BEST), ("b", WORST))],
                              "contradiction_rate")  # fmt: skip
    assert [(row.label, row.rank, row.ranks) for row in board.rows] == [("b", 1, (1, 1)), ("a", 2, (2, 2))]
    board = leaderboard.board([judged("a", BEST, "x/y", "answer_chars")], "answer_chars")
    assert [row.rank for row in board.rows] == [None]


def test_directions_are_those_of_the_docstrings() -> None:
    told = {name for name, of in claims.MEASURES.items() if "lower is better" in (of.function.__doc__ or "")}
    told |= {name for name, of in retrieval.MEASURES.items() if "lower is better" in (of.function.__doc__ or "")}
    assert told - {"unscored_rate"} == set(_LOWER)  # that one is of the judge
    assert better("unscored_rate") == 0


def test_filters_leave_ranks_as_they_are() -> None:
    board = leaderboard.board([*THREE, entry("base", WORST, kind="baseline")])
    shown = board.shown(kinds=["submission"], words="NEAR model")
    assert [(row.label, row.rank) for row in shown.rows] == [("near", 2)]
    assert shown.notes[0].startswith("1 of 4 systems")
    assert board.shown() is board


def hand() -> Benchmark:
    documents = {i: Document(i, "", i) for i in "ab"}
    queries = {f"q{i}": Query(f"q{i}", "x", persona="lay" if i % 2 else "expert", block=str(i // 2)) for i in range(8)}
    return Benchmark("hand", documents, queries, {q: {"a": 1} for q in queries})


def test_a_group_is_ranked_by_its_queries_alone() -> None:
    """From real scores: one run finds the gold for lay people only, the other for experts only."""
    benchmark = hand()
    entries = []
    for name, persona in (("for lay", "lay"), ("for experts", "expert")):
        run = {q: [Hit("a" if of.persona == persona else "b", 1.0)] for q, of in benchmark.queries.items()}
        scores, _ = submission.score_run(run, benchmark=benchmark, by=["persona"])
        entries.append(entry(name, BEST, retrieval=scores, benchmark=scores["provenance"]["benchmark"]))
    board = leaderboard.board(entries, field="persona", group="expert", loaded=benchmark)
    assert [(row.label, row.rank, row.mean, row.n) for row in board.rows] == [
        ("for experts", 1, 1.0, 4),
        ("for lay", 2, 0.0, 4),
    ]
    assert [row.ranks for row in board.rows] == [None, None]  # of four blocks
    assert any("4 blocks of queries" in note for note in board.notes)
    assert not any("isn't known" in note for note in board.notes)
    # 2^4 signs: p is at least 2/16, and the board says that nothing can be told apart.
    assert board.rows[0].tied == ("for lay",) and any("nothing can be told apart" in note for note in board.notes)
    unknown = leaderboard.board(entries, field="persona", group="expert")
    assert unknown.rows[0].tied is None and any("isn't known" in note for note in unknown.notes)
    plot = leaderboard.plot(leaderboard.board(entries, loaded=benchmark), "groups", field="persona")
    # Four blocks: no interval.
    assert plot.rows[0] == ["for experts", "expert", 1.0, "–", "–", 4.0]


def test_the_baselines_are_those_of_the_results_and_their_tests_are_those_published() -> None:
    entries = leaderboard.baselines()
    if not entries:
        pytest.skip("baselines/results is not here")
    for named in leaderboard.benchmarks(entries):
        board = leaderboard.board(entries, fingerprint=named.fingerprint, resamples=200)
        assert not any("isn't known" in note for note in board.notes), "benchmarks/blocks.py keeps blocks"
        published = json.loads(
            (baseline("results") / named.name.removeprefix("canlegalrag-") / "comparisons.json").read_text(
                encoding="utf-8"
            )
        )
        means = {c["a"]: c["mean_a"] for c in published} | {c["b"]: c["mean_b"] for c in published}
        assert {row.entry["system"]["name"]: row.mean for row in board.rows} == pytest.approx(means)
        assert all((row.kind == "stand-in") == (row.rank is None) for row in board.rows)
    contracts = [e for e in entries if e["benchmark"]["name"] == "legalbenchrag-mini"]
    blocks = design(leaderboard.benchmarks(contracts)[0]).blocks
    names = [e["system"]["name"] for e in contracts]
    table = np.array([[e["retrieval"]["per_query"][q]["ndcg@10"] for q in blocks] for e in contracts])
    found = {frozenset((c.a, c.b)): c for c in pairs(names, table, list(blocks.values()), 10_000, 0)}
    published = json.loads(
        (baseline("results") / "legalbenchrag-mini" / "comparisons.json").read_text(encoding="utf-8")
    )
    assert len(found) == len(published) == 153
    for c in published:
        ours = found[frozenset((c["a"], c["b"]))]
        assert (ours.p, ours.p_holm, ours.blocks, ours.apart) == (c["p"], c["p_holm"], c["blocks"], c["apart"])


def test_fifty_systems_can_be_told_apart() -> None:
    """10,000 signs over 1,225 pairs give no corrected p below 0.12: `draws` leaves room."""
    rng = np.random.default_rng(1)
    values = np.clip(rng.random((50, 200)) * 0.1 + np.linspace(0, 0.9, 50)[:, None], 0, 1)
    board = leaderboard.board([entry(f"s{i:02}", row.tolist()) for i, row in enumerate(values)], resamples=500)
    assert [row.label for row in board.rows] == [f"s{i:02}" for i in reversed(range(50))]
    assert board.rows[0].tied is not None and "s00" not in board.rows[0].tied
    assert not any("can tell nothing" in note for note in board.notes)


@pytest.mark.parametrize("dark", [False, True])
def test_plots_are_plotlys(dark: bool) -> None:
    pytest.importorskip("plotly", reason="the extra `space`")
    board = leaderboard.board(THREE)
    for name in leaderboard.PLOTS:
        figure = leaderboard.plot(board, name, dark=dark).figure()
        assert "http" not in figure.to_json()


def test_prices_have_a_frontier_and_name_what_they_leave_out() -> None:
    plot = leaderboard.plot(leaderboard.board(THREE), "cost")
    assert plot.rows == [["worst", "submission", 0.5, 0.5, "yes"], ["best", "submission", 1.0, 2.0, "yes"]]
    assert plot.note == "Systems left out because what they took isn't known: 1."
    free = leaderboard.plot(
        leaderboard.board([*THREE, entry("free", NEAR, cost=0), entry("owed", NEAR, cost=-1)]), "cost"
    )
    assert free.rows[0] == ["free", "submission", 0.9844, 0.0, "yes"]
    assert [row[-1] for row in free.rows] == ["yes", "no", "yes"]
    assert free.layout["xaxis"]["ticktext"] == ["0", "0.1", "1", "10"]
    assert free.data[0]["x"] == [-2.0, math.log10(2.0)]  # nought stands a power below the cheapest


def test_the_plot_to_open_with_tells_the_systems_apart() -> None:
    same = [entry("a", BEST, cost=0, seconds=1), entry("b", NEAR, cost=0, seconds=2), entry("c", WORST)]
    board = leaderboard.board(same)
    assert leaderboard.usual(board) == "seconds"
    plot = leaderboard.plot(board, "")
    assert plot.title == "ndcg@10 against seconds a query"
    assert plot.note.startswith("Quality and cost says nothing here: all known costs are $0. Systems left out")
    assert leaderboard.usual(leaderboard.board(THREE)) == "cost"
    assert leaderboard.usual(leaderboard.board([entry("a", BEST)])) == "ranks"
    assert leaderboard.plot(leaderboard.board(THREE), "seconds").note.startswith("Systems left out")


def sized(name: str, chunk: str, mean: float, **settings: str) -> dict[str, Any]:
    found = entry(name, [mean] * 4)
    found["retrieval"]["provenance"]["run"] = {
        "recipe": {"name": name, "retriever": "bm25", "chunk": chunk, **settings}
    }
    return found


def test_curves_over_sizes_end_in_whole_documents_of_the_same_settings() -> None:
    entries = [
        sized("a", "recursive:1024:128", 0.25, variant="okapi"),
        sized("b", "recursive:8192:128", 0.5, variant="okapi"),
        sized("c", "whole", 0.75, variant="okapi"),
        sized("d", "whole", 0.1, variant="okapi", tokenizer="ascii"),
        sized("e", "recursive:1024:0", 0.2, variant="okapi"),
        sized("f", "recursive:1024:128", 0.3),
    ]
    plot = leaderboard.plot(leaderboard.board(entries), "chunks")
    curve = [row for row in plot.rows if row[0] == "bm25, okapi"]
    assert curve == [
        ["bm25, okapi", 1024, "a", 0.25],
        ["bm25, okapi", 8192, "b", 0.5],
        ["bm25, okapi", "whole", "c", 0.75],
    ]
    assert [row[2] for row in plot.rows if row not in curve] == ["e", "c"]


def test_a_card_holds_no_markup_of_its_authors() -> None:
    hostile = entry(
        "<img src=x onerror=1> [a](javascript:1) ![b](https://t.ca/p.png) `c` **d** www.e.ca f@g.ca $$h$$",
        BEST,
        received="<b>",
        system={"name": "<img src=x> [a](javascript:1) ![b](//t.ca/p) www.e.ca f@g.ca $$h$$", "url": "javascript:1"},
    )
    text = leaderboard.card(hostile)
    for bad in ("<img", "[a]", "![", "](", "www.", "f@g", "$$", "javascript:", "<b>"):
        assert bad not in text
    assert "| ndcg&#64;10 | 1.0000 | 1.000 … 1.000 | 8 | 0 |" in text
    assert "contact" not in leaderboard.card(entry("a", BEST, contact="a@b.ca", system={"name": "a", "contact": "a@b"}))
    linked = leaderboard.card(entry("a", BEST, system={"name": "a", "url": "https://x.ca/p?q=1"}))
    assert "](<https://x.ca/p?q=1>)" in linked
    assert leaderboard.card({}).startswith("### (no name)")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "ftp://x.ca",
        "https://a@x.ca",
        "https://",
        "https://[",
        5,
        "http://x.ca:99999",
        "https://x.ca/ y",
    ],
)
def test_only_web_addresses_are_links(url: Any) -> None:
    assert "](" not in leaderboard.card(entry("a", BEST, system={"name": "a", "url": url}))


@given(
    st.builds(
        leaderboard.State,
        benchmark=st.text("0123456789abcdef", max_size=16),
        measure=st.sampled_from(["ndcg@10", "mrr", "groundedness", "paper_recall@5"]),
        columns=st.lists(st.sampled_from([*leaderboard.COLUMNS, "mrr"]), min_size=1, unique=True).map(tuple),
        kinds=st.lists(st.sampled_from(leaderboard.KINDS), min_size=1, unique=True).map(tuple),
        retrievers=st.lists(st.sampled_from(["bm25", "dense + reranker", "other"]), unique=True).map(tuple),
        text=st.sampled_from(["", "élan & co", "=1+1", "a#b%"]),
        plot=st.sampled_from(["", *leaderboard.PLOTS]),
    )
)
def test_a_link_reproduces_a_view(of: leaderboard.State) -> None:
    assert leaderboard.state(leaderboard.link(of)) == of
    group = leaderboard.State(field="province", group="Québec")
    assert leaderboard.state("?" + leaderboard.link(group)) == group


@given(st.text(max_size=200) | st.text("&=%;?abcmeasurecolumns0", max_size=400))
def test_any_query_string_gives_a_view(query: str) -> None:
    of = leaderboard.state(query)
    assert leaderboard.view(THREE, of, resamples=10).rows is not None


@pytest.mark.parametrize(
    "query",
    [
        "&".join(f"kinds={i}" for i in range(500)),
        "measure=" + "x" * 100_000,
        "measure=drop%20table&plot=x&field=id&group=1",
        "columns=__class__&kinds=<script>&benchmark=../../etc",
        "group=x",
        "field=persona",
        "%ff%fe=%00",
        "\ud800",
    ],
)
def test_hostile_links_fall_back(query: str) -> None:
    assert leaderboard.state(query) == leaderboard.State()


def test_a_view_falls_back_to_what_is_there() -> None:
    asked = leaderboard.State(benchmark="e" * 16, field="province", group="Atlantis", retrievers=("none",))
    assert leaderboard.view(THREE, asked) == leaderboard.board(THREE)
    loaded = hand()
    assert leaderboard.view(THREE, leaderboard.State(), loaded=loaded).rows == ()
    found = leaderboard.view(THREE, leaderboard.State(benchmark="f" * 16, text="best"), loaded=loaded)
    assert [row.label for row in found.rows] == ["best"]
