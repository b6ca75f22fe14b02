"""Two rankings side by side, and a block's variations beside their seed."""

from dataclasses import replace

from canlegalrag.exploring import Explorer, Found, moved
from canlegalrag.types import Hit, Query


def with_ranking(found: Found, *ids: str) -> Found:
    return replace(found, ranking=tuple(Hit(i, 1.0 / n) for n, i in enumerate(ids, 1)))


def test_what_moved(hand_made: Explorer) -> None:
    found = hand_made.search("", query_id="q1", k=4)  # shows d1 and d4
    a = with_ranking(found, "d1", "d2", "d4")
    b = with_ranking(replace(found, retriever="okapi"), "d4", "d1")
    heads, rows = moved(a, b)
    assert heads == ["decision", "rank, bm25", "rank, okapi", "change", "gold"]
    assert rows == [["Doe v. Roe", "1", "2", "▼ 1", "★"], ["Source", "3", "1", "▲ 2", ""]]
    assert moved(b, with_ranking(b, "d1"))[1] == [
        ["Source", "1", "–", "gone", ""],
        ["Doe v. Roe", "2", "1", "▲ 1", "★"],
    ]
    assert moved(with_ranking(b, "d1"), b)[1][1] == ["Source", "–", "1", "new", ""]
    assert [row[3] for row in moved(a, a)[1]] == ["=", "="]


def test_heads_differ_always(hand_made: Explorer) -> None:
    one, other = (hand_made.search("", query_id=q) for q in ("q1", "q2"))
    assert moved(one, other)[0][1:3] == ["rank, bm25 (q1)", "rank, bm25 (q2)"]
    assert len(set(moved(one, one)[0])) == 5


def test_nothing_beside_nothing(hand_made: Explorer) -> None:
    nothing = hand_made.search("")
    assert moved(nothing, nothing)[1] == []


def test_a_block_by_hand(hand_made: Explorer) -> None:
    heads, rows = hand_made.block("q2", k=4)
    assert heads[:5] == ["query", "voice", "what it changes", "facts", "ranks of gold"]
    assert [row[:5] for row in rows] == [
        ["q1", "lay", "seed", "same", "1, –"],
        ["q2", "expert", "focus", "changed", "1"],
    ]
    # q1 finds d1 and d4 ("the", "landlord" …); q2 finds d2 and d1, as d4 doesn't count for it: d1 is in both.
    assert [row[8] for row in rows] == ["the seed", "1 of 2"]
    assert rows[0][6] == "0.500"  # recall: d1 of d1 and d3
    assert len(heads) == len(rows[0])


def test_the_eight_variations_of_a_block(sample: Explorer) -> None:
    heads, rows = sample.block("b3-q4", "bm25", 10)
    assert [row[0] for row in rows] == [f"b3-q{n}" for n in range(1, 9)]
    assert [row[8] for row in rows].count("the seed") == 1
    assert heads[8] == "shared with the seed's top 10"
    own = sample.search("", query_id="b3-q4")
    assert rows[3][5] == f"{(own.scores or {})['ndcg@10']:.3f}"


def test_a_query_without_a_block_is_one(hand_made: Explorer) -> None:
    from canlegalrag.exploring.comparing import seed_of

    queries = [Query("a", "x", variant="focus"), Query("b", "x", variant="seed")]
    assert seed_of(queries).id == "b"
    assert seed_of(queries[:1]).id == "a"
