"""What quality costs: the right figures, the frontier, nothing where nothing is known."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from canlegalrag import charts, price_report


def payload(mean: float | None, search: float, cost: float | None = 0.0) -> dict[str, Any]:
    run = {"seconds": {"index": 2.0, "search": search}, "cost": cost}
    return {"measures": {"ndcg@10": {"mean": mean}}, "provenance": {"run": run, "queries": 50}}


RESULTS = {
    "slow": payload(0.7, 5.0, 0.4),
    "quick": payload(0.6, 0.5, 0.1),
    "beaten": payload(0.5, 1.0, 0.2),
    "unscored": payload(None, 1.0),
    "not ours": {"measures": {"ndcg@10": {"mean": 0.9}}, "provenance": {"run": {}, "queries": 50}},
}


def test_seconds_are_a_query_and_best_is_first() -> None:
    found = price_report.prices(RESULTS, "ndcg@10")
    assert [p.name for p in found] == ["slow", "quick", "beaten"]
    assert [p.search for p in found] == pytest.approx([100.0, 10.0, 20.0])  # 5 s for 50 queries are 100 ms each
    assert found[0].cost == 0.4 and found[0].indexing == 2.0


def test_the_frontier_leaves_out_what_is_beaten() -> None:
    points = [(p.name, p.search, p.score) for p in price_report.prices(RESULTS, "ndcg@10")]
    assert [name for name, *_ in charts.frontier(points)] == ["quick", "slow"]


def test_the_page_has_a_chart_a_price_and_a_table() -> None:
    page = price_report.html(RESULTS, "ndcg@10")
    root = ET.fromstring(f"<div>{page}</div>".replace(" class=text", ""))
    heads = [h.text for h in root.iter("h2")]
    assert heads == ["ndcg@10 against milliseconds a query", "ndcg@10 against US dollars for the run"]
    assert "<td>100.00</td>" in page and "<td>0.4000</td>" in page
    assert "unscored" not in page and "not ours" not in page


def test_nothing_is_shown_where_nothing_is_known() -> None:
    assert price_report.html({"not ours": RESULTS["not ours"]}, "ndcg@10") == ""
    free = {"a": payload(0.7, 5.0), "b": payload(0.6, 0.0)}
    page = price_report.html(free, "ndcg@10")
    assert "US dollars for the run" not in page and "milliseconds" in page


def test_names_are_escaped() -> None:
    hostile = {"<script>alert(1)</script>": payload(0.7, 5.0), "b": payload(0.6, 1.0)}
    assert "<script>" not in price_report.html(hostile, "ndcg@10")
