"""What a check found, as tables: problems, scores, groups of queries, the worst queries."""

from collections.abc import Mapping
from typing import Any

from canlegalrag import submission
from canlegalrag.tables import figure

Table = dict[str, list[Any]]
"""`headers` and `data`, as `gr.Dataframe` takes them."""


def _table(heads: list[str], rows: list[list[Any]]) -> Table:
    return {"headers": heads, "data": rows}


def problems(checked: submission.Checked) -> Table:
    """Problems, then notes."""
    rows = [["fatal" if p.fatal else "problem", p.where, p.what, p.fix] for p in checked.problems]
    rows += [["note", p.where, p.what, p.fix] for p in checked.notes]
    return _table(["kind", "where", "what", "how to mend it"], rows)


def scores_table(scores: Mapping[str, Any]) -> Table:
    """Measures of rankings, claims and citations, each with its interval."""
    rows = []
    for family in ("retrieval", "claims", "citations"):
        for name, row in ((scores[family] or {}).get("measures") or {}).items():
            cells = [figure(row.get(of), 3) for of in ("mean", "low", "high")]
            rows.append([family, name, *cells, row.get("n"), row.get("skipped")])
    return _table(["of", "measure", "mean", "low", "high", "n", "skipped"], rows)


def groups(scores: Mapping[str, Any]) -> Table:
    """The main measures by group of queries."""
    kept = {"retrieval": ("ndcg@10", "recall@10", "paper_recall@10", "mrr"), "claims": ("accuracy", "groundedness")}
    rows = []
    for family, names in kept.items():
        for field, groups in ((scores[family] or {}).get("by") or {}).items():
            for label, of in groups.items():
                for name in names:
                    if name in of:
                        cells = [figure(of[name].get(end), 3) for end in ("mean", "low", "high")]
                        rows.append([field, label, name, *cells, of[name].get("n")])
    return _table(["by", "group", "measure", "mean", "low", "high", "n"], rows)


def worst(scores: Mapping[str, Any]) -> Table:
    """The queries that went worst; all of them are in the CSV."""
    rows = scores["worst"]
    heads = list(rows[0]) if rows else []
    return _table(heads, [[round(v, 4) if isinstance(v, float) else v for v in row.values()] for row in rows[:200]])
