"""What is written about characters: hand-worked cells, the published row, charts of the best, silence elsewhere."""

import re
from typing import Any

import pytest

import canlegalrag
from canlegalrag import charts, experiment, report, span_report, submission, tables
from canlegalrag.benchmark import Benchmark
from canlegalrag.measures.retrieval import parse_all
from canlegalrag.measures.stats import Comparison
from canlegalrag.recipes import parse
from canlegalrag.types import Document, Hit, Passage, Query, Snippet

SETS = {"q1": "small", "q2": "large", "q3": "large"}


def bench(sets: dict[str, str] = SETS, name: str = "bench") -> Benchmark:
    """The gold of every query is the first ten of the hundred characters of a."""
    documents = {i: Document(i, "", "0123456789" * 10) for i in "abc"}
    queries = {q: Query(q, "x", dataset=d) for q, d in sets.items()}
    snippets = tuple(Snippet(q, "a", 0, 10, "0123456789") for q in queries)
    return Benchmark(name, documents, queries, {q: {"a": 1} for q in queries}, snippets=snippets)


def hits(*spans: tuple[str, int, int]) -> list[Hit]:
    return [Hit(d, -float(i), Passage(d, 0, start, end)) for i, (d, start, end) in enumerate(spans)]


def scored(run: Any, benchmark: Benchmark | None = None, depths: Any = (1, 2)) -> dict[str, Any]:
    return submission.score_run(run, parse_all("mrr"), benchmark=benchmark or bench(), depths=depths)[0]


RUN = {"q1": hits(("a", 0, 10), ("b", 0, 10)), "q2": hits(("b", 0, 10), ("a", 0, 5))}
DOUBLE = {"q1": hits(("a", 0, 10), ("a", 0, 10))}
WHOLE = {"q1": [Hit("a", 1.0)]}


def cells(text: str, caption: str) -> list[list[str]]:
    """The table under a heading that begins so."""
    (section,) = [part for part in text.split("## ") if part.startswith(caption)]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in (rows[0], *rows[2:])]


def test_cells_are_right_and_the_best_comes_first() -> None:
    """Of the run, q1: R@1 = R@2 = 1, P@2 = 10/20; q2: P@2 = 5/15, R@2 = 1/2, F1@2 = 10/25; q3 was forgotten."""
    text = span_report.markdown({"double": scored(DOUBLE), "run": scored(RUN)})
    heads = ["recipe", "P@1", "P@2", "R@1", "R@2", "F1@2", "wrong document@1", "characters@2"]
    assert cells(text, "small, n = 1") == [
        heads,
        ["run", "100.00", "50.00", "100.00", "100.00", "66.67", "0.00", "20"],
        ["double", "100.00", "100.00", "100.00", "100.00", "100.00", "0.00", "10"],
    ]
    assert cells(text, "large, n = 2")[1:] == [
        ["run", "0.00", "16.67", "0.00", "25.00", "20.00", "100.00", "8"],  # (15 + 0) / 2 characters
        ["double", "0.00", "0.00", "0.00", "0.00", "0.00", "–", "0"],  # nothing was retrieved: no document is wrong
    ]
    assert cells(text, "macro, n = 3")[1:] == [
        ["run", "50.00", "33.33", "50.00", "62.50", "43.33", "50.00", "14"],
        ["double", "50.00", "50.00", "50.00", "50.00", "50.00", "0.00", "5"],
    ]
    curve = cells(text, "Recall at equal retrieved characters, macro")
    assert curve[0] == ["recipe", "500", "1,000", "2,000", "4,000", "8,000", "16,000", "32,000"]
    assert curve[1] == ["run", *["62.50 (0.0)"] * 7]


def test_the_two_ways_of_counting_are_told_apart() -> None:
    """The reference counts q1's hit twice: recall 2 for small, 1 for macro."""
    text = span_report.markdown({"run": scored(RUN), "double": scored(DOUBLE)})
    assert "reference − strict: +100.00 (double, small, R@2)" in text
    assert "Here the two recalls are equal" in span_report.markdown({"run": scored(RUN)})
    strict = submission.score_run(RUN, parse_all("mrr span_recall@1"), benchmark=bench())[0]
    assert "reference −" not in span_report.markdown({"run": strict})  # only one is known
    assert cells(span_report.markdown({"run": strict}), "small")[1] == ["run", "–", "100.00", "–", "–", "–"]


@pytest.mark.parametrize(("name", "label"), [("", "all queries"), ("one", "one")])
def test_one_data_set_or_none_has_one_table(name: str, label: str) -> None:
    text = span_report.markdown({"run": scored(RUN, bench(dict.fromkeys(SETS, name)))})
    assert re.findall("## (.*)", text) == [f"{label}, n = 3", f"Recall at equal retrieved characters, {label}"]
    assert cells(text, label)[1][3:5] == ["33.33", "50.00"]
    assert cells(text, "Recall at equal")[1][1] == "50.00 (0.0)"
    assert "macro" not in text


def test_queries_without_gold_are_said() -> None:
    made = bench(dict.fromkeys(SETS, ""))
    partly = Benchmark("partly", made.documents, made.queries, made.qrels, snippets=made.snippets[:2])
    assert "## all queries, n = 2, 1 without gold span skipped" in span_report.markdown({"run": scored(RUN, partly)})


@pytest.mark.parametrize(
    ("filled", "cell"),
    [(1.0, "50.00"), (0.99999, "50.00 (99.9)"), (0.57, "50.00 (57.0)"), (0.0, "50.00 (0.0)"), (None, "50.00")],
)
def test_a_share_of_long_rankings_is_never_rounded_up_to_all(filled: float | None, cell: str) -> None:
    payload = scored(RUN)
    payload["spans"]["curve"] |= {"macro": [0.5] * 7, "filled": [filled] * 7}
    assert cells(span_report.markdown({"run": payload}), "Recall at equal")[1][1] == cell


FOUR = {"q1": "privacy_qa", "q2": "contractnli", "q3": "maud", "q4": "cuad"}


def test_published_figures_stand_last_where_they_belong() -> None:
    results = {"run": scored(RUN, bench(FOUR, "legalbenchrag-mini"), [1, 2, 64])}
    beside = span_report.published(results)
    assert beside is not None
    figures = list(beside.figures.values())
    for measure in ("precision@1", "recall@64"):  # the mean of the four, but for how it was rounded
        *four, mean = (row[measure] for row in figures)
        assert sum(four) / 4 == pytest.approx(mean, abs=0.006)
    text = span_report.markdown(results, beside)
    expected = {
        "privacy_qa": ("14.38", "84.19"),
        "contractnli": ("6.63", "61.72"),
        "maud": ("2.65", "28.28"),
        "cuad": ("1.97", "74.70"),
        "macro": ("6.41", "62.22"),
    }
    for label, (precision, recall) in expected.items():
        last = cells(text, f"{label}, ")[-1]
        name = "text-embedding-3-large (published, from secondary notes)"
        assert last == [name, precision, "", "", "", "", recall, "", "", ""]
    assert len(cells(text, "Recall at equal")) == 2
    assert "&lt;" not in text and text.count("published, from secondary notes") == 6


def test_a_published_mean_never_stands_beside_that_of_other_data_sets() -> None:
    part = {"q1": "privacy_qa", "q2": "maud"}
    results = {"run": scored(RUN, bench(part, "legalbenchrag/privacy_qa+maud"), [1])}
    text = span_report.markdown(results, span_report.published(results))
    assert [len(cells(text, label)) for label in ("privacy_qa, ", "maud, ", "macro, ")] == [3, 3, 2]


def test_other_benchmarks_have_no_published_figures() -> None:
    assert span_report.published({"run": scored(RUN)}) is None
    assert span_report.published({}) is None
    bare = submission.score_run(RUN, parse_all("mrr"), qrels=bench().qrels)[0]
    assert span_report.published({"run": bare}) is None


def test_nothing_is_said_where_nothing_is_counted() -> None:
    results = {"whole": scored(WHOLE), "none": scored(RUN, None, [])}
    for given in (results, {}):
        assert span_report.markdown(given) == span_report.html(given) == ""
    text = span_report.markdown({**results, "run": scored(RUN)})
    assert "Not here, since their hits have no offsets that can be used: whole, none." in text
    many = {f"whole {n}": scored(WHOLE) for n in range(7)}
    assert "whole 4 and 2 more." in span_report.markdown({**many, "run": scored(RUN)})


def test_a_page_draws_the_best_six_and_says_so() -> None:
    def part(n: int) -> dict[str, Any]:
        return scored({"q1": hits(("a", 0, n + 1))})

    page = span_report.html({f"run<{n}>": part(n) for n in range(8)})
    assert page.count("The best 6 of 8 by R@2; the tables have all.") == 2
    charts_of = re.findall("<svg.*?</svg>", page)
    assert len(charts_of) == 2
    for chart in charts_of:
        assert [n for n in range(8) if f"run&lt;{n}&gt;" in chart] == [2, 3, 4, 5, 6, 7]
    assert "run<" not in page
    assert page.count("<td class=text>run&lt;0&gt;</td>") == 4  # three tables of sections and the curve
    assert "The best" not in span_report.html({f"run {n}": part(n) for n in range(6)})
    for name in ("table", "figure", "svg", "p", "h2"):
        assert len(re.findall(f"<{name}[ >]", page)) == page.count(f"</{name}>")


def test_curves_are_the_means_that_the_tables_have() -> None:
    first, second = re.findall('<polyline points="(.*?)"', span_report.html({"run": scored(RUN)}))
    heights = [[float(point.split(",")[1]) for point in points.split()] for points in (first, second)]
    assert heights[0] == pytest.approx([12 + 260 * (1 - 0.5), 12 + 260 * (1 - 0.625)])
    assert heights[1] == pytest.approx([12 + 260 * (1 - 0.625)] * 7)


def test_the_report_has_characters_in_tables_of_their_own() -> None:
    results = {"run": scored(RUN), "whole": scored(WHOLE), "double": scored(DOUBLE)}
    for order in (["run", "whole", "double"], ["whole", "run", "double"]):
        page = report.html({name: results[name] for name in order}, [], title="t", main="mrr")
        assert page.count("<h2>Retrieved characters</h2>") == 1
        assert "<th>mrr</th><th>95 % interval</th><th>n</th>" in page
        assert "span_recall@1" not in page
    page = report.html({"whole": results["whole"]}, [], title="t", main="mrr")
    assert "characters" not in page.replace("<style>", "")


def test_an_experiment_counts_characters_where_it_can(tmp_path: Any) -> None:
    sample = canlegalrag.load("sample")
    rows = [parse(name) for name in ("bm25", "bm25l-1024")]
    outcome = experiment.run(sample, rows, tmp_path, k=9)
    assert "spans" not in outcome.results["bm25"]
    payload = outcome.results["bm25l-1024"]
    names = [name for name in payload["measures"] if payload["provenance"]["definitions"][name] == "span"]
    assert [n for n in names if n.startswith("span_recall")] == [f"span_recall@{k}" for k in (1, 2, 4, 8)]
    assert [n for n in names if n.endswith("@8")] == [
        "span_precision@8",
        "span_recall@8",
        "span_f1@8",
        "wrong_document_rate@8",
        "retrieved_characters@8",
        "reference_span_precision@8",
        "reference_span_recall@8",
    ]
    (row,) = cells((tmp_path / "spans.md").read_text(), "all queries")[1:]
    assert row[0] == "bm25l-1024"
    assert row[5:9] == [f"{100 * payload['measures'][f'span_recall@{k}']['mean']:.2f}" for k in (1, 2, 4, 8)]
    assert "Retrieved characters" in (tmp_path / "report.html").read_text()
    assert "span" not in (tmp_path / "table.md").read_text()
    assert "spans.md" in experiment.reading(outcome, tmp_path)[-1]
    # What an earlier job wrote doesn't stay beside results that it isn't about.
    outcome = experiment.run(sample, rows[:1], tmp_path, k=9)
    assert not (tmp_path / "spans.md").exists()
    assert "Retrieved characters" not in (tmp_path / "report.html").read_text()
    assert "spans.md" not in experiment.reading(outcome, tmp_path)[-1]


@pytest.mark.parametrize(("n", "said"), [(5, "r1, r2, r3, r4, r5"), (8, "r1, r2, r3, r4, r5 and 3 more")])
def test_the_first_five_that_tie_are_named(tmp_path: Any, n: int, said: str) -> None:
    results = {f"r{i}": {"measures": {experiment.MAIN: {"mean": 0.5}}} for i in range(n + 1)}
    pairs = [Comparison("r0", f"r{i}", 0.5, 0.5, 0.0, 0.0, 0.0, 1.0, 1.0, 4, 0, 40, False) for i in range(1, n + 1)]
    first = experiment.reading(experiment.Outcome(results, pairs, [], {}), tmp_path)[0]
    assert first == f"Best {experiment.MAIN}: r0; not shown to differ from it: {said}"


def test_tables_hold_what_they_are_given() -> None:
    assert tables.html(["a<"], [["<b>", "−1"]]) == (
        '<div class="wide"><table><thead><tr><th>a&lt;</th></tr></thead><tbody>'
        "<tr><td class=text>&lt;b&gt;</td><td>−1</td></tr></tbody></table></div>"
    )
    assert tables.markdown(["a", "b"], [["x|y\nz", "<i>"]]).splitlines()[-1] == "| x\\|y z | &lt;i&gt; |"


def test_a_legend_has_room_for_long_names() -> None:
    def width(name: str) -> int:
        (found,) = re.findall(r'<svg [^>]*width="(\d+)"', charts.lines({name: [("1", 0.5)]}, "x"))
        return int(found)

    assert width("short") == 820
    assert width("x" * 60) >= width("short") + 60 * 7 - 148
