"""Citation measures: does what an answer cites exist, under that name, and is it what should have been cited?

>>> registry = Registry.build([Document("a", "Okafor v. Lindqvist", "", citations=("2021 BCSC 90101",))])
>>> answers = {"q1": "See Okafor v. Lindqvist, 2021 BCSC 90101, and Roe v. Doe, 2020 BCSC 90999."}
>>> scores = score(check_answers(answers, registry, qrels={"q1": {"a": 1}}))
>>> scores.values["citation_precision"], scores.values["citation_recall"], scores.values["invented_rate"]
(0.5, 1.0, 0.5)

What is counted are *authorities*: parallel citations of one decision once, repeated citations once (`authorities`). A
query without an answer counts as one that cites nothing: its recall and F1 are 0, shares of what it cites are
undefined.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from canlegalrag.errors import InputError
from canlegalrag.measures.checking import STATUSES, Checked, Status, authorities, check
from canlegalrag.measures.cited import MEASURES, Cited
from canlegalrag.measures.registry import Entry, Registry
from canlegalrag.measures.shares import Share, choose, summarise, total
from canlegalrag.plain import HALF, is_whole, require_list, require_strings
from canlegalrag.types import Answer, Document, Hit, Qrels, Scores

__all__ = [
    "MEASURES",
    "STATUSES",
    "Checked",
    "Cited",
    "Entry",
    "Found",
    "Registry",
    "Status",
    "authorities",
    "check",
    "check_answers",
    "check_texts",
    "cited_documents",
    "documents_of",
    "first",
    "per_query",
    "score",
    "score_answers",
    "totals",
]

Found: TypeAlias = Mapping[str, Sequence[Hit] | Sequence[str]]
"""Query id -> what was found: hits as in a Run, or document ids; best first."""
_ROW = {"id", "title", "citations", "court", "year", "jurisdiction"}


def check_answers(
    answers: Mapping[str, Answer | str],
    registry: Registry,
    *,
    qrels: Qrels | None = None,
    retrieved: Found | None = None,
    k: int | None = None,
    queries: Iterable[str] | None = None,
) -> dict[str, Cited]:
    """Check the answers to many queries: what every measure reads.

    Args:
        answers: query id to answer; those of no query are left out.
        registry: what exists.
        qrels: which documents are gold (grade above 0).
        retrieved: what the system had before it; a query that it lacks had nothing.
        k: only the first k documents retrieved count, passages of one document counting once.
        queries: the queries that count; None for those of the qrels, or of the answers where there are no qrels.

    Returns:
        One a query, in order; a query without an answer cites nothing.

    Raises:
        InputError: an answer is no text; k is below 1.
    """
    if k is not None and k < 1:
        raise InputError("k", f"is {k}", "use at least 1, or leave it out")
    return {
        query: Cited(
            tuple(authorities(check(answers[query], registry))) if query in answers else (),
            None if qrels is None else frozenset(d for d, grade in qrels.get(query, {}).items() if grade > 0),
            None if retrieved is None else frozenset(first(retrieved.get(query, ()), k)),
        )
        for query in (queries if queries is not None else qrels if qrels is not None else answers)
    }


def per_query(checked: Mapping[str, Cited], measures: str | Sequence[str] | None = None) -> dict[str, dict[str, Share]]:
    """Part and whole of every measure for every query: the value is their quotient, undefined where the whole is 0.

    Args:
        checked: from `check_answers`.
        measures: names, as a sequence or with blanks between them; None for all that can be computed.

    Raises:
        InputError: an unknown measure; one that needs qrels or what was retrieved, where that was not given.

    >>> per_query(check_answers({"q": "2021 BCSC 90101"}, Registry.build([])), "coverage authorities")
    {'coverage': {'q': (0, 1)}, 'authorities': {'q': (1, 1)}}
    """
    given = {"qrels"} if all(of.gold is not None for of in checked.values()) else set()
    given |= {"retrieved"} if all(of.retrieved is not None for of in checked.values()) else set()
    wanted = choose(MEASURES, measures, given)
    return {name: {query: MEASURES[name].function(of) for query, of in checked.items()} for name in wanted}


def score(
    checked: Mapping[str, Cited],
    measures: str | Sequence[str] | None = None,
    *,
    blocks: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Scores:
    """Macro mean of every measure over the queries, with its 95 % block-bootstrap interval.

    Args:
        checked: from `check_answers`.
        measures: as in `per_query`.
        blocks: query id to its block of variations, as in `retrieval.score`.
        resamples: for the intervals.
        seed: of the draws.

    Returns:
        As `retrieval.score`; `retrieval.group` splits it.

    Raises:
        InputError: as `per_query`.
    """
    return summarise(per_query(checked, measures), blocks=blocks, resamples=resamples, seed=seed)


def totals(checked: Mapping[str, Cited], measures: str | Sequence[str] | None = None) -> dict[str, Share]:
    """Micro counts: parts and wholes summed over the queries, so that each authority weighs the same.

    >>> registry = Registry.build([Document("a", "", "", citations=("2021 BCSC 90101",))])
    >>> answers = {"q1": "2021 BCSC 90101, and [1932] AC 562", "q2": "[1932] AC 562"}
    >>> totals(check_answers(answers, registry), "coverage verified")
    {'coverage': (1, 3), 'verified': (1, 2)}
    """
    return total(per_query(checked, measures))


def cited_documents(checked: Mapping[str, Cited]) -> dict[str, list[str]]:
    """Documents that each answer cites, verified authorities only, one document each; `authority.score` takes it.

    >>> registry = Registry.build([Document("a", "", "", citations=("2021 BCSC 90101",))])
    >>> cited_documents(check_answers({"q": "2021 BCSC 90101 and 2021 BCSC 90999"}, registry))
    {'q': ['a']}
    """
    return {query: first([a.doc_ids[0] for a in of.authorities if a.doc_ids]) for query, of in checked.items()}


def first(found: Sequence[Hit] | Sequence[str], k: int | None = None) -> list[str]:
    """The first k distinct documents among hits or ids; all without k.

    >>> first([Hit("a", 3.0), Hit("a", 2.0), Hit("b", 1.0)], 2)
    ['a', 'b']
    """
    return list(dict.fromkeys(hit.doc_id if isinstance(hit, Hit) else hit for hit in found))[:k]


def score_answers(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    documents: Mapping[str, Document] | Iterable[Document | Mapping[str, Any]],
    retrieved: Sequence[Sequence[str]] | None = None,
    *,
    measures: str | Sequence[str] | None = None,
) -> dict[str, float | int | None]:
    """Means and counts from plain lists, as flat as a metric of the Hub.

    Args:
        predictions: answers, as texts.
        references: for each answer the gold, as document ids or as citations of documents; empty where there is none.
        documents: what exists: Documents, or rows with `id`, `citations`, `title` (`court`, `year`, `jurisdiction`).
        retrieved: for each answer the ids (or citations) of what the system had before it.
        measures: names; None for all.

    Returns:
        For a measure that is a share its mean (None where no answer has a value) and, as `<name>_n`, over how many
        answers; for one that is a count its total. `n` answers have a value in every share, `skipped` do not.

    Raises:
        InputError: lists of different lengths, a reference that is no document, rows that can't be read.

    >>> rows = [{"id": "a", "citations": ["2021 BCSC 90101"], "title": "Okafor v. Lindqvist"}]
    >>> score_answers(["See Doe v. Roe, 2021 BCSC 90101."], [["a"]], rows, measures="citation_recall name_mismatch")
    {'citation_recall': 0.0, 'citation_recall_n': 1, 'name_mismatch': 1, 'n': 1, 'skipped': 0}
    """
    check_texts(predictions, references)
    registry = Registry.build(documents_of(documents))
    numbered = [str(i) for i in range(len(predictions))]
    qrels = {str(i): dict.fromkeys(_resolved("references", i, row, registry), 1) for i, row in enumerate(references)}
    found = None
    if retrieved is not None:
        check_texts(predictions, retrieved, "retrieved")
        found = {i: _resolved("retrieved", int(i), row, registry) for i, row in zip(numbered, retrieved, strict=True)}
    answers = dict(zip(numbered, predictions, strict=True))
    shares = per_query(check_answers(answers, registry, qrels=qrels, retrieved=found, queries=numbered), measures)
    means = summarise(shares, resamples=1)
    result: dict[str, float | int | None] = {}
    for name, (part, _) in total(shares).items():
        if MEASURES[name].count:
            result[name] = part
        else:
            result[name] = means.values[name] if means.n[name] else None
            result[f"{name}_n"] = means.n[name]
    ratios = [of for name, of in shares.items() if not MEASURES[name].count]
    n = sum(all(of[i][1] for of in ratios) for i in numbered)
    return {**result, "n": n, "skipped": len(numbered) - n}


def check_texts(predictions: Sequence[str], references: Sequence[Sequence[str]], name: str = "references") -> None:
    """Make sure that predictions are strings and references (or what was retrieved) lists of strings, one each.

    Raises:
        InputError: they are not, or a string holds half a surrogate pair, which no file can.
    """
    require_list("predictions", predictions, "give a list of answers, as texts")
    for i, text in enumerate(predictions):
        if not isinstance(text, str):
            raise InputError(f"prediction {i}", f"is a {type(text).__name__}, not a string", "give the answer's text")
        if not is_whole(text):
            raise InputError(f"prediction {i}", HALF, "read the source as UTF-8")
    require_list(name, references, "give a list of lists of ids or citations, one a prediction")
    if len(predictions) != len(references):
        what = f"{len(references)} lists for {len(predictions)} predictions"
        raise InputError(name, what, "give one a prediction, empty where there is none")
    for i, row in enumerate(references):
        require_strings(f"{name} of query {i}", row, 'write ["2021 BCSC 90101"]')


def documents_of(
    given: Mapping[str, Document] | Iterable[Document | Mapping[str, Any]],
) -> Iterable[Document]:
    """Documents as they are, or made from rows with `id`, `citations` and `title`.

    Raises:
        InputError: a row without an id, citations that are no list of strings.

    >>> next(iter(documents_of([{"id": "a", "citations": ["2021 BCSC 90101"], "title": "Okafor"}]))).citations
    ('2021 BCSC 90101',)
    """
    if isinstance(given, str | bytes) or given is None:
        raise InputError("documents", f"is a {type(given).__name__}", "give rows with id, citations and title")
    for n, row in enumerate(given.values() if isinstance(given, Mapping) else given):
        if isinstance(row, Document):
            yield row
            continue
        if not isinstance(row, Mapping) or not isinstance(row.get("id"), str):
            raise InputError(f"document {n}", "is no row with a string `id`", "give id, citations and title")
        cites = row.get("citations") or ()
        if not isinstance(cites, list | tuple) or not all(isinstance(c, str) for c in cites):
            raise InputError(f"document {row['id']!r}", "has citations that are no list of strings", "write [...]")
        known = {name: row[name] for name in _ROW & row.keys() if row[name] is not None}
        for name, value in known.items():
            wanted = int if name == "year" else str
            if name != "citations" and not isinstance(value, wanted):
                raise InputError(f"document {row['id']!r}", f"{name} is {value!r}", f"give a {wanted.__name__}")
        yield Document(**{"title": "", **known, "text": "", "citations": tuple(cites)})


def _resolved(name: str, i: int, row: Sequence[str], registry: Registry) -> list[str]:
    ids: list[str] = []
    for written in row:
        found = registry.resolve(written)
        if not found and name == "references":
            what = f"{written!r} is neither the id nor a citation of a document"
            raise InputError(f"references of query {i}", what, "add the document, or mend the citation")
        ids += found
    return ids
