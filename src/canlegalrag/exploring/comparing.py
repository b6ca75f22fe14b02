"""Two rankings side by side, and the rankings of a block's variations beside that of their seed."""

from collections.abc import Sequence

from canlegalrag.exploring.nouns import Found
from canlegalrag.tables import clean, figure
from canlegalrag.types import Query

__all__ = ["moved", "rows_of_block", "seed_of"]

Table = tuple[list[str], list[list[str]]]


def moved(a: Found, b: Found) -> Table:
    """What moved between two searches: every decision that either shows, by its better rank.

    A rank beyond what is shown is that in the whole ranking; a dash: it isn't among its first hundred.

    Returns:
        Heads and rows for a table.
    """
    names = [f"rank, {found.retriever}" for found in (a, b)]
    if a.retriever == b.retriever:
        names = [f"{name} ({found.query.id})" for name, found in zip(names, (a, b), strict=True)]
    names[1] += " (again)" if names[0] == names[1] else ""
    titles = {seen.document.id: seen.document.title for found in (a, b) for seen in found.hits}
    ranks = a.ranks, b.ranks
    far = len(ranks[0]) + len(ranks[1]) + 1
    order = sorted(titles, key=lambda d: (min(r.get(d, far) for r in ranks), ranks[0].get(d, far)))
    gold = {doc for found in (a, b) for doc in found.gold or ()}
    rows = [
        [
            clean(titles[d] or d),
            *(_rank(r.get(d)) for r in ranks),
            _change(*(r.get(d) for r in ranks)),
            "★" if d in gold else "",
        ]
        for d in order
    ]
    return ["decision", *names, "change", "gold"], rows


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _change(before: int | None, after: int | None) -> str:
    """A change by sign and number, so that it reads without colour.

    >>> _change(5, 2), _change(2, 5), _change(1, 1), _change(None, 3), _change(3, None)
    ('▲ 3', '▼ 3', '=', 'new', 'gone')
    """
    if before is None or after is None:
        return "new" if before is None else "gone"
    return "=" if before == after else f"{'▲' if after < before else '▼'} {abs(before - after)}"


def seed_of(queries: Sequence[Query]) -> Query:
    """The query that the others of a block vary: that of the variant `seed`, else the first."""
    return next((query for query in queries if query.variant == "seed"), queries[0])


def rows_of_block(founds: Sequence[Found], k: int) -> Table:
    """A row a variation: what it changes, the ranks of its gold, its scores, what its first k share with the seed's.

    The overlap is a plain count of decisions: of those that both rankings have among their first k.
    """
    seed = seed_of([found.query for found in founds])
    top = {found.query.id: [seen.document.id for seen in found.hits] for found in founds}
    measures = ("ndcg@10", "recall@10", "mrr")
    heads = [
        "query",
        "voice",
        "what it changes",
        "facts",
        "ranks of gold",
        *measures,
        f"shared with the seed's top {k}",
    ]
    rows = []
    for found in founds:
        query, gold, scores = found.query, found.gold or {}, found.scores or {}
        facts = "–" if query.same_facts is None else "same" if query.same_facts else "changed"
        shared = len(set(top[query.id]) & set(top[seed.id]))
        ranks = sorted(gold.values(), key=lambda rank: rank or 10**9)
        rows.append(
            [
                query.id,
                clean(query.persona) or "–",
                clean(query.variant) or "–",
                facts,
                ", ".join(map(_rank, ranks)) or "–",
                *(figure(scores.get(name), 3) for name in measures),
                "the seed" if query.id == seed.id else f"{shared} of {len(top[seed.id])}",
                clean(query.text),
            ]
        )
    return [*heads, "question"], rows
