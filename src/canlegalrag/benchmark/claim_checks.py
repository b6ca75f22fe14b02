"""Faults in the claims of the reference answers and in the labelled pairs."""

from collections import Counter
from collections.abc import Iterator

from canlegalrag import layouts
from canlegalrag.benchmark.benchmark import Benchmark
from canlegalrag.measures.decided import LABELS
from canlegalrag.near import Near
from canlegalrag.plain import id_fault
from canlegalrag.types import Claim, Problem

__all__ = ["check_claims", "check_pairs"]


def check_claims(benchmark: Benchmark, near_query: Near) -> Iterator[Problem]:
    """Name the faults in the claims: each belongs to a reference answer, and its sentence stands in it."""
    for id_, claims in benchmark.claims.items():
        where = f"claims: {id_!r}"
        if id_ not in benchmark.queries:
            yield Problem(where, "is no query", near_query(id_))
        elif id_ not in benchmark.answers:
            yield Problem(where, "has no reference answer", "claims are what a reference answer says")
        if not claims:
            yield Problem(where, "is listed without a claim", "leave the query out")
        first: dict[str, int] = {}
        for n, claim in enumerate(claims):
            yield from _check_claim(f"claim {n} of {id_!r}", n, id_, claim, benchmark)
            if first.setdefault(claim.text, n) != n:
                what = f"says again what claim {first[claim.text]} says, and counts twice"
                yield Problem(f"claim {n} of {id_!r}", what, "keep one", fatal=False)
    without = [id_ for id_ in benchmark.answers if id_ not in benchmark.claims]
    if benchmark.claims and without:
        what = f"{len(without)} reference answers have none: {', '.join(map(repr, without[:5]))}"
        yield Problem("claims", what + (" …" if len(without) > 5 else ""), "take them apart too", fatal=False)


def _check_claim(where: str, n: int, query: str, claim: Claim, benchmark: Benchmark) -> Iterator[Problem]:
    yield from layouts.unwritable(where, claim)
    if (claim.query_id, claim.side) != (query, "reference"):
        yield Problem(where, f"is of the side {claim.side!r} of {claim.query_id!r}", "they are the reference's")
    if claim.index != n:
        yield Problem(where, f"has the index {claim.index}", "number them from 0, each once")
    if not claim.text.strip():
        yield Problem(where, "has no text")
    answer = benchmark.answers.get(query)
    if (claim.start is None) != (claim.end is None):
        yield Problem(where, f"{claim.start} to {claim.end} is half a place", "give both ends, or neither")
    elif claim.start is not None and claim.end is not None and answer is not None:
        length = len(answer.text)
        if not 0 <= claim.start < claim.end <= length:
            what = f"{claim.start} to {claim.end} is no stretch of the answer's {length} characters"
            yield Problem(where, what, "give the place of the sentence that it came from")


def check_pairs(benchmark: Benchmark, near_document: Near, *, texts: bool) -> Iterator[Problem]:
    """Name the faults in the labelled pairs: each has one of three labels, and evidence that stands in its document.

    Args:
        benchmark: what to check.
        near_document: knows which document was probably meant.
        texts: also read the documents, to compare the evidence with them.
    """
    for id_, n in Counter(pair.id for pair in benchmark.pairs).items():
        if n > 1:
            yield Problem(f"pair {id_!r}", f"id is used {n} times", "give each its own")
    for pair in sorted(benchmark.pairs, key=lambda p: p.doc_id):  # one read a document
        where = f"pair {pair.id!r}"
        yield from layouts.unwritable(where, pair)
        if fault := id_fault(pair.id):
            yield Problem(where, f"id {fault}", "of white space, ids may hold inner spaces only")
        if not pair.claim.strip():
            yield Problem(where, "has no claim")
        if pair.label not in LABELS:
            yield Problem(where, f"label {pair.label!r} is none", f"one of {', '.join(LABELS)}")
        if pair.doc_id not in benchmark.documents:
            yield Problem(where, f"document {pair.doc_id!r} is not in the corpus", near_document(pair.doc_id))
        elif texts:
            text = benchmark.documents[pair.doc_id].text
            if not 0 <= pair.start < pair.end <= len(text):
                yield Problem(where, f"{pair.start} to {pair.end} is no stretch of {len(text)} characters")
            elif text[pair.start : pair.end] != pair.evidence:
                yield Problem(where, f"characters {pair.start} to {pair.end} of its document are not its evidence")
