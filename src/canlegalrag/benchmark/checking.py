"""Faults in a benchmark, and what is odd in a run: every one is named."""

import difflib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from canlegalrag import citations, layouts
from canlegalrag.benchmark.benchmark import Benchmark
from canlegalrag.benchmark.claim_checks import check_claims, check_pairs
from canlegalrag.measures.span_faults import Place
from canlegalrag.near import Near
from canlegalrag.plain import id_fault
from canlegalrag.types import Hit, Problem, Run
from canlegalrag.wording import many

__all__ = ["PROVINCES", "check", "check_run", "missing"]

PROVINCES = (
    "Alberta",
    "British Columbia",
    "Manitoba",
    "New Brunswick",
    "Newfoundland and Labrador",
    "Northwest Territories",
    "Nova Scotia",
    "Nunavut",
    "Ontario",
    "Prince Edward Island",
    "Quebec",
    "Saskatchewan",
    "Yukon",
)
"""Provinces and territories as `Query.province` spells them."""

_SHOWN = 5  # problems of a kind that are named one by one


def check(benchmark: Benchmark, *, texts: bool = True) -> Iterator[Problem]:
    """Name every fault in the records and in how they refer to each other.

    Args:
        benchmark: what to check.
        texts: also read every document, to check the texts, and the places of snippets and labelled pairs in them.
    """
    if not benchmark.documents:
        yield Problem("corpus", "holds no documents")
    if not benchmark.queries:
        yield Problem("queries", "holds no queries")
    spaced = sum(" " in id_ for ids in (benchmark.documents, benchmark.queries) for id_ in ids)
    if spaced:
        fix = "write runs as JSON Lines: a TREC run can't carry them"
        yield Problem("ids", f"{spaced} hold spaces", fix, fatal=False)
    if texts:
        yield from _check_documents(benchmark)
        yield from _check_citations(benchmark)
        yield from _check_snippets(benchmark)
    near_query, near_document = Near(benchmark.queries), Near(benchmark.documents)
    for id_, query in benchmark.queries.items():
        where = f"query {id_!r}"
        yield from _check_id(where, id_)
        yield from layouts.unwritable(where, query)
        if not query.text.strip():
            yield Problem(where, "has no text")
        if query.province and query.province not in PROVINCES:
            near = difflib.get_close_matches(query.province, PROVINCES, 1, 0.5)
            yield Problem(where, f"unknown province {query.province!r}", f"did you mean {near[0]!r}?" if near else "")
        gold = {document for document, grade in benchmark.qrels.get(id_, {}).items() if grade > 0}
        if not gold:
            yield Problem(where, "has no gold document", "judge one, or leave the query out")
        for document in query.excluded:
            if document in gold:
                yield Problem(where, f"document {document!r} is gold and excluded", "it can't be both")
            elif document not in benchmark.documents:
                yield Problem(where, f"excluded document {document!r} is not in the corpus", fatal=False)
    for id_, judged in benchmark.qrels.items():
        if id_ not in benchmark.queries:
            yield Problem(f"qrels: {id_!r}", "is no query", near_query(id_))
        for document in judged:
            if document not in benchmark.documents:
                what = f"gold document {document!r} is not in the corpus"
                yield Problem(f"qrels: {id_ if id_.isprintable() else repr(id_)}", what, near_document(document))
    for id_, answer in benchmark.answers.items():
        if id_ not in benchmark.queries:
            yield Problem(f"answers: {id_!r}", "answers no query", near_query(id_))
        yield from layouts.unwritable(f"answers: {id_!r}", answer)
        if not answer.text.strip():
            yield Problem(f"answers: {id_!r}", "has no text")
    yield from check_claims(benchmark, near_query)
    yield from check_pairs(benchmark, near_document, texts=texts)


def _check_id(where: str, id_: str) -> Iterator[Problem]:
    fault = id_fault(id_)
    if fault:
        yield Problem(where, f"id {fault}", "of white space, ids may hold inner spaces only")


def _check_documents(benchmark: Benchmark) -> Iterator[Problem]:
    for document in benchmark.documents.values():
        where = f"document {document.id!r}"
        yield from _check_id(where, document.id)
        yield from layouts.unwritable(where, document)
        if not document.text.strip():
            yield Problem(where, "has no text")


def _check_citations(benchmark: Benchmark) -> Iterator[Problem]:
    """Find one decision under two ids: by the keys of their citations, whatever the language or the spelling."""
    owners: dict[str, str] = {}
    for document in benchmark.documents.values():
        for parsed in filter(None, map(citations.parse, document.citations)):
            if parsed.kind in ("neutral", "canlii", "reporter"):
                owner = owners.setdefault(parsed.key, document.id)
                if owner != document.id:
                    what = f"has the citation {parsed.key} of {owner!r}"
                    yield Problem(f"document {document.id!r}", what, "one decision twice?", fatal=False)


def _check_snippets(benchmark: Benchmark) -> Iterator[Problem]:
    by_document = sorted(benchmark.snippets, key=lambda s: s.doc_id)  # one read a document
    for snippet in by_document:
        where = f"snippet of {snippet.query_id!r} in {snippet.doc_id!r}"
        yield from layouts.unwritable(where, snippet)
        if snippet.doc_id not in benchmark.qrels.get(snippet.query_id, {}):
            yield Problem(where, "the document is not judged for the query")
        elif snippet.doc_id in benchmark.documents:
            text = benchmark.documents[snippet.doc_id].text
            if not 0 <= snippet.start < snippet.end <= len(text):
                yield Problem(where, f"{snippet.start} to {snippet.end} is no stretch of its {len(text)} characters")
            elif text[snippet.start : snippet.end] != snippet.text:
                yield Problem(where, f"characters {snippet.start} to {snippet.end} are not its text")


def check_run(benchmark: Benchmark, run: Run, place: Place | None = None) -> list[Problem]:
    """Name what is odd in a run: unknown ids, forgotten queries, rankings whose scores rise; of many alike, the first.

    None of it is fatal to scoring: an unknown document counts as not relevant, a forgotten query as zero, an unknown
    query is left out; but each is more often a slip than intended.

    Args:
        benchmark: what the run claims to answer.
        run: the rankings.
        place: how to name a hit; None: by its query.
    """
    none = bool(run) and run.keys().isdisjoint(benchmark.queries)
    another = Problem("run", "answers no query of the benchmark", "was it made for another, or for part of it?", False)
    # Where none is known, a like id is another query's.
    near_query = Near(benchmark.queries, 0 if none else 50)
    near_document = Near(benchmark.documents)
    strangers = (
        Problem(f"query {id_!r}", "is not in the benchmark: left out", near_query(id_), fatal=False)
        for id_ in run
        if id_ not in benchmark.queries
    )
    rising = (
        Problem(
            f"query {id_!r}",
            "scores rise along the list: the standard measures follow the scores, the paper's the list",
            "write the best first",
            fatal=False,
        )
        for id_, hits in run.items()
        if _rises(hits)
    )
    first: dict[str, tuple[str, int]] = {}  # unknown document -> where it is met first
    for id_, hits in run.items():
        for i, hit in enumerate(hits):
            if hit.doc_id not in benchmark.documents:
                first.setdefault(hit.doc_id, (id_, i))
    unknown = (
        Problem(
            f"query {id_!r}" if place is None else place(id_, i, document),
            f"document {document!r} is not in the corpus: not relevant",
            near_document(document),
            fatal=False,
        )
        for document, (id_, i) in first.items()
    )
    return [
        *([another] if none else []),
        *_few(strangers, "more query", "not in the benchmark: left out"),
        *_few(rising, "more ranking", "with scores that rise along the list"),
        *_few(unknown, "more document", "not in the corpus: not relevant"),
        *missing(benchmark.queries, run),
    ]


def _few(problems: Iterator[Problem], noun: str, what: str) -> list[Problem]:
    """The first problems, and one with the number of the others, so as not to bury those of another kind."""
    found = list(islice(problems, _SHOWN))
    more = sum(1 for _ in problems)
    return found + ([Problem("run", f"{many(more, noun)} {what}", fatal=False)] if more else [])


def missing(queries: Iterable[str], run: Run) -> list[Problem]:
    """Name the queries without a ranking; many are one problem with their number, so as not to bury the others."""
    ids = [id_ for id_ in queries if not run.get(id_)]
    if len(ids) <= 3:
        return [Problem(f"query {id_!r}", "has no ranking: scores zero", fatal=False) for id_ in ids]
    shown = ", ".join(ids[:5])
    return [Problem("run", f"{len(ids)} queries have no ranking: they score zero", f"{shown} …", fatal=False)]


def _rises(hits: Any) -> bool:
    previous: Hit | None = None
    for hit in hits:
        if previous is not None and hit.score > previous.score:
            return True
        previous = hit
    return False
