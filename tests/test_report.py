"""Tables and the page: the figures that were given, nothing else, nothing unescaped."""

import re
from io import StringIO
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from canlegalrag import charts, report
from canlegalrag.measures.stats import Comparison


def payload(mean: float | None, chunk: str = "whole", name: str = "ndcg@10") -> dict[str, Any]:
    row = {"mean": mean, "n": 4, "skipped": 1, "low": None, "high": None}
    if mean is not None:
        row |= {"low": mean - 0.1, "high": mean + 0.1}
    return {
        "measures": {name: row},
        "per_query": {},
        "by": {"persona": {"lay": {name: row}}},
        "provenance": {
            "canlegalrag": "0",
            "definitions": {name: "standard"},
            "benchmark": {"name": "<b>", "fingerprint": "f"},
            "queries": 5,
            "blocks": 2,
            "bootstrap": {"unit": "block"},
            "run": {"recipe": {"variant": "bm25l", "chunk": chunk}},
        },
    }


RESULTS = {"low": payload(0.25), "<script>": payload(0.75), "none": payload(None)}
PAIR = Comparison("a", "<b>", 0.5, 0.25, 0.25, 0.1, 0.4, 0.01, 0.03, 4, 1, 2, True)


def text_of(table: Any) -> str:
    out = StringIO()
    Console(file=out, width=200).print(table)
    return out.getvalue()


def test_runs_come_best_first_with_interval_n_and_skipped() -> None:
    assert report.markdown(RESULTS, ["ndcg@10"], "ndcg@10") == (
        "| run | ndcg@10 | 95 % interval | n | skipped |\n"
        "| --- | --: | --: | --: | --: |\n"
        "| &lt;script&gt; | 0.750 | 0.650 … 0.850 | 4 | 1 |\n"
        "| low | 0.250 | 0.150 … 0.350 | 4 | 1 |\n"
        "| none | – | – | 4 | 1 |\n"
    )
    shown = text_of(report.runs_table(RESULTS, ["ndcg@10"], "ndcg@10"))
    assert shown.index("0.750") < shown.index("0.250")


def test_stand_ins_are_named_above_every_table() -> None:
    """A row carries the name of a model that didn't run: whoever reads its figures must know it first."""
    said = "Rows named (offline) ran with stand-ins in place of the models that they name"
    results = {"paper-gemini (offline)": payload(0.5), "bm25": payload(0.25)}
    assert report.markdown(results, ["ndcg@10"], "ndcg@10").startswith(said)
    shown = " ".join(text_of(report.runs_table(results, ["ndcg@10"], "ndcg@10")).split())
    assert shown.index(said) < shown.index("paper-gemini")
    page = report.html(results, [], title="t", main="ndcg@10")
    assert page.index(said) < page.index("<td class=text>paper-gemini")
    named = {"offline-hashing": payload(0.5), "bm25": payload(0.25)}  # claims no other model
    assert said not in report.html(named, [], title="t", main="ndcg@10")


def test_groups_of_few_blocks_are_counted() -> None:
    few = {"mrr": {"mean": 1.0, "n": 2, "skipped": 0, "low": None, "high": None}}
    many = {"mrr": {"mean": 0.5, "n": 9, "skipped": 0, "low": 0.4, "high": 0.6}}
    shown = " ".join(text_of(report.groups_table("persona", {"lay": few, "expert": many})).split())
    assert "no interval: fewer than 5 blocks (1 of 2 groups)" in shown
    assert "no interval" not in text_of(report.groups_table("persona", {"expert": many}))
    undefined = {"mrr": few["mrr"] | {"mean": None, "n": 0}}
    assert "no interval" not in text_of(report.groups_table("persona", {"none": undefined, "expert": many}))


def test_the_page_says_where_runs_end_before_a_measure_does() -> None:
    results = {name: payload(0.5, name="recall@100") for name in ("a", "b", "deep")}
    for name, depth in (("a", 10), ("b", 10), ("deep", 100)):
        results[name]["provenance"] |= {"depth": depth, "documents": 500}
    page = report.html(results, [], title="t", main="recall@100")
    assert page.count("the run lists at most") == 1
    assert "a, b: the run lists at most 10 documents a query: recall@100 counts what is in those." in page


def test_one_run() -> None:
    shown = text_of(report.scores_table(RESULTS["low"]))
    assert re.search(r"ndcg@10 .* 0\.2500 .* 0\.150 … 0\.350 .* 4 .* 1 .* standard", shown)
    assert "lay" in text_of(report.groups_table("persona", RESULTS["low"]["by"]["persona"]))


def test_pairs_say_who_is_better_or_that_nobody_is() -> None:
    assert report.verdict(PAIR) == "a is better"
    tied = Comparison("a", "b", 0.5, 0.25, 0.25, float("nan"), float("nan"), 0.5, 1.0, 4, 1, 2, False)
    assert report.verdict(tied) == "can't be told apart"
    assert "+0.2500" in text_of(report.comparison_table([PAIR, tied], "mrr"))
    assert report.pairs([tied])[0]["low"] is None


def test_the_page_escapes_what_it_is_given_and_is_well_formed() -> None:
    page = report.html(RESULTS, [PAIR], title="<title> & more", main="ndcg@10", fields=["persona"])
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;title&gt; &amp; more" in page
    for name in ("table", "figure", "svg", "p", "h2"):
        assert len(re.findall(f"<{name}[ >]", page)) == page.count(f"</{name}>")


def test_curves_over_chunk_sizes_ascend_to_whole() -> None:
    results = {
        "a": payload(0.3, "recursive:8192:128"),
        "b": payload(0.1, "recursive:1024:128"),
        "c": payload(0.4, "whole"),
        "d": payload(0.2, "paper:1024:128"),
    }
    assert report.by_chunk(results, ["ndcg@10", "mrr"]) == {
        "bm25l, legal tokens": {"ndcg@10": [("1024", 0.1), ("8192", 0.3), ("whole", 0.4)]}
    }


def test_curves_of_different_embedders_are_apart() -> None:
    def dense(mean: float, size: str, embedder: str) -> dict[str, Any]:
        made = {"recipe": {"name": "x", "retriever": "dense", "embedder": embedder, "chunk": f"recursive:{size}:128"}}
        return {"measures": {"mrr": {"mean": mean}}, "provenance": {"run": made}}

    sizes = ("1024", "2048", "4096")
    results = {f"{model}{size}": dense(len(model) / 10, size, model) for model in ("a", "bb") for size in sizes}
    assert report.by_chunk(results, ["mrr"]) == {
        model: {"mrr": [(size, len(model) / 10) for size in sizes]} for model in ("a", "bb")
    }


@pytest.mark.parametrize(
    "svg",
    [
        charts.forest([("a & b", {"mean": 0.5, "low": 0.4, "high": 0.6}), ("c", {"mean": None, "low": None})], "x<y"),
        charts.lines({"one": [("1024", 0.5), ("whole", 1.7)], "two": [("whole", 0.1)]}, "x & y"),
        charts.lines({}, "nothing"),
    ],
)
def test_charts_are_xml(svg: str) -> None:
    assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_chart_places_are_right() -> None:
    forest = charts.forest([("a", {"mean": 0.5, "low": 0.4, "high": 0.6})], "m")
    assert '<circle cx="540.0" cy="18"' in forest  # 230 + 620 x 0.5
    curve = charts.lines({"one": [("a", 0.0), ("b", 1.0)]}, "m")
    assert 'points="190.0,272.0 470.0,12.0"' in curve  # 50 + 560 x (1/4, 3/4); 12 + 260 x (1, 0)
