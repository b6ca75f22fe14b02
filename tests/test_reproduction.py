"""Our scores beside the paper's: which figure stands where, and what is said when the data are others."""

from typing import Any

import pytest

from canlegalrag.recipes import offline, published
from canlegalrag.reproduction import method, rows, warning


def result(recall: float | None, ndcg: float, standard: float) -> dict[str, Any]:
    means = {"paper_recall@10": recall, "paper_ndcg@10": ndcg, "recall@10": standard, "ndcg@10": standard / 2}
    return {"measures": {name: {"mean": value} for name, value in means.items()}}


def test_a_figure_of_the_paper_stands_beside_ours() -> None:
    recipe = published()["paper-gemini-embedding-2-4096-irg"]
    found = rows({recipe.name: result(0.5, 0.5, 0.4)}, [recipe])
    recall, ndcg, average = found
    assert (recall.measure, recall.ours, recall.paper, recall.standard) == ("paper_recall@10", 0.5, 0.456, 0.4)
    assert recall.difference == pytest.approx(0.044)
    assert (ndcg.paper, ndcg.difference, ndcg.standard) == (0.521, pytest.approx(-0.021), 0.2)
    assert (average.name, average.ours, average.paper) == ("average of irg (1 of 10)", 0.5, 0.4)
    assert average.difference is None  # over one row, where the paper's is over ten


def test_averages_run_over_the_rows_of_a_method_that_have_a_result() -> None:
    recipes = [published()[f"paper-bm25l-{size}"] for size in (1024, 2048, 4096)]
    found = rows({recipes[0].name: result(0.1, 0.1, 0.1), recipes[1].name: result(0.3, 0.1, 0.2)}, recipes)
    assert [row.name for row in found if "average" in row.name] == ["average of bm25 (2 of 4)"]
    average = found[-1]
    assert (average.ours, average.standard) == (pytest.approx(0.2), pytest.approx(0.15))
    assert average.difference is None
    recipes.append(published()["paper-bm25l-8192"])
    whole = rows({recipe.name: result(n / 10, 0.1, 0.1) for n, recipe in enumerate(recipes)}, recipes)[-1]
    assert (whole.name, whole.ours) == ("average of bm25 (4 of 4)", pytest.approx(0.15))
    assert whole.difference == pytest.approx(0.017)


def test_stand_ins_say_nothing_of_a_method() -> None:
    recipes = [offline(recipe) for recipe in published().values() if recipe.table == "paper"]
    found = rows({recipe.name: result(0.9, 0.9, 0.9) for recipe in recipes}, recipes)
    assert [row.name for row in found if "average" in row.name] == ["average of bm25 (4 of 4)"]
    assert all("offline" in row.name or "bm25" in row.name for row in found)
    assert all(row.paper is None for row in found if "offline" in row.name)


def test_an_undefined_score_is_not_averaged_away() -> None:
    recipes = [published()[f"paper-bm25l-{size}"] for size in (1024, 2048)]
    found = rows({recipes[0].name: result(None, 0.1, 0.1), recipes[1].name: result(0.3, 0.1, 0.2)}, recipes)
    assert found[0].ours is None and found[0].difference is None
    assert found[-1].ours is None and found[-1].difference is None


def test_the_46_rows_fall_into_the_papers_methods() -> None:
    counts: dict[str, int] = {}
    for recipe in published().values():
        if recipe.table == "paper":
            counts[method(recipe)] = counts.get(method(recipe), 0) + 1
    assert counts == {"bm25": 4, "dense": 20, "rerank": 11, "hybrid": 1, "irg": 10}


def test_other_data_are_said_to_be_other() -> None:
    assert warning("CanLegalRAGBench", 1000, 532) == ""
    assert "sample, 64 queries and 55 documents" in warning("sample", 55, 64)
