"""Explain: why claims aren't grounded, sorted into the paper's categories."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from canlegalrag import __version__, text
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import CallError, InputError
from canlegalrag.judging.sentences import spans
from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.measures.decided import decided, purpose_of
from canlegalrag.pipeline._output import Output, batches, checksum, counted_since, opened, spending, trusting
from canlegalrag.protocols import Sorter
from canlegalrag.records import Sorted, judged_line, sorted_line
from canlegalrag.types import Document, Failure, Judged, Verdict

if TYPE_CHECKING:
    from canlegalrag.calls import Calls

__all__ = ["explain", "failures"]


def explain(
    benchmark: Benchmark,
    judged: Mapping[str, Judged],
    sorter: Sorter,
    out: Path,
    *,
    calls: "Calls | None" = None,
    made: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Sort each claim that its evidence doesn't support into `out`, one line a claim; resumes where it was interrupted.

    Args:
        benchmark: queries and documents.
        judged: what was judged, as `read_verdicts` gives it, with a person's corrections where there are some.
        sorter: says why a claim fails.
        out: `categories.jsonl`; what made it is written beside it. `records.categorised` puts it to the verdicts.
        calls: how paid replies are counted.
        made: what made the verdicts (`read_meta`), for the record.
        progress: called with answers done since the last call.

    Returns:
        What made the categories: sorter, verdicts, benchmark, seconds, cost, claims by category, what the sorter did,
        checksum.

    Raises:
        InputError: `out` was made with something else, or is being written; no answer is to a query of the benchmark,
            or none was judged for groundedness.
        BudgetSpent: the next call would cost more than is left; what was sorted so far is in `out`.
        CallError: the provider fails; likewise.
    """
    known = [judged[query] for query in benchmark.queries if query in judged]
    if not known:
        raise InputError(
            "verdicts", f"none is about a query of {benchmark.name}", "give the benchmark that was answered"
        )
    if not any("groundedness" in one.asked for one in known):
        what = "were not judged for groundedness, so that nobody knows which claims fail"
        raise InputError("verdicts", what, "canlegalrag judge --for groundedness")
    record = {
        "sorter": dict(sorter.identity),
        "verdicts": checksum(judged_line(one) for one in judged.values()),
        "benchmark": benchmark.identity,
        "canlegalrag": __version__,
    }
    with opened(out, "sorted claim", _known) as output:
        by = {key: (made or {}).get(key) for key in ("judge", "measures", "answered_by")}
        output.start(record, ("explain",), judged_by=by, categories={}, counts={})
        try:
            _run(benchmark, known, sorter, output, calls, progress)
        finally:
            _record(output)  # what was paid for is booked, whatever happened
    return output.meta


def _record(output: Output) -> None:
    """Write what is known so far; counted from the lines, as a kill may have come between a line and its record."""
    output.meta["categories"] = dict(Counter(category or "unsorted" for category in output.found.values()))
    output.record()


def _known(row: dict[str, Any]) -> tuple[tuple[str, int], str]:
    """Which claim, and its category."""
    if type(row["index"]) is not int or row["category"] not in ("", *CATEGORIES):
        raise ValueError
    return (row["query_id"], row["index"]), row["category"]


def _run(
    benchmark: Benchmark,
    judged: Sequence[Judged],
    sorter: Sorter,
    output: Output,
    calls: "Calls | None",
    progress: Callable[[int], None] | None,
) -> None:
    """Sort what is missing, batch by batch."""
    begun, earlier = dict(sorter.counts), dict(output.meta["counts"])
    trusting(output, calls, sorter)
    for batch in batches(judged):
        found = [failure for one in batch for failure in failures(benchmark, one)]
        places = [(failure.verdict.claim.query_id, failure.verdict.claim.index) for failure in found]
        if any(place not in output.found for place in places):
            with output.booked("explain", spending(calls)):
                categories = _sorted(sorter, found)
            name = str(sorter.identity.get("model", ""))
            for failure, place, (category, reason) in zip(found, places, categories, strict=True):
                if place not in output.found:
                    claim = failure.verdict.claim.text
                    output.append(sorted_line(Sorted(*place, category, reason, name, claim)), place, category)
            output.meta["counts"] = counted_since(sorter.counts, begun, earlier)
            output.sync()
            _record(output)
        if progress:
            progress(len(batch))


def _sorted(sorter: Sorter, found: Sequence[Failure]) -> list[tuple[str, str]]:
    """One category a failure, each known."""
    categories = sorter.sort(found)
    model = str(sorter.identity.get("model", "sorter"))
    if len(categories) != len(found):
        raise CallError(model, f"gave {len(categories)} categories for {len(found)} claims", "one a claim")
    for category, _ in categories:
        if category and category not in CATEGORIES:
            raise CallError(model, f"category {category!r} is not known", f"one of: {', '.join(CATEGORIES)}")
    return categories


def failures(benchmark: Benchmark, judged: Judged) -> list[Failure]:
    """The claims of an answer that its evidence contradicts or doesn't support, each with what is nearest to it.

    That is what the judge quotes, from the verdict that decides or else from another; where it quotes nothing, the
    sentence of the evidence that shares most words with the claim.
    """
    if "groundedness" not in judged.asked:
        return []
    evidence, found = _Evidence(benchmark.documents), []
    for verdict in decided(judged, "groundedness") or ():
        if verdict is None or verdict.label in ("supported", None):
            continue
        others = [v for v in judged.verdicts if v.claim == verdict.claim and purpose_of(v) == "groundedness"]
        quote = verdict.quote or next((v.quote for v in others if v.quote), "")
        nearest = quote or evidence.nearest(verdict.claim.text, others)
        found.append(Failure(verdict, benchmark.queries[judged.query_id].asked, nearest))
    return found


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Sentences of what an answer was taken from."""

    documents: Mapping[str, Document]
    """Where they are read."""
    known: dict[str, list[str]] = field(default_factory=dict)
    """Name of a piece -> its sentences."""

    def nearest(self, claim: str, verdicts: Sequence[Verdict]) -> str:
        """The sentence that shares most words with a claim, for its length; empty where none shares any."""
        sentences = [sentence for verdict in verdicts for sentence in self.sentences(verdict.against)]
        asked = set(text.terms(claim))
        best, most = "", 0.0
        for sentence in dict.fromkeys(sentences):
            words = set(text.terms(sentence))
            shared = len(asked & words) / max(1, len(words)) ** 0.5
            if shared > most:
                best, most = sentence, shared
        return best

    def sentences(self, name: str) -> list[str]:
        """The sentences of a piece of evidence; none where it isn't in the documents, as a replayed judge's may be."""
        if name not in self.known:
            document, start, end = self.documents.get(name), 0, None
            if document is None:
                doc_id, _, place = name.rpartition(":")
                first, _, last = place.partition("-")
                document = self.documents.get(doc_id)
                if first.isdecimal() and last.isdecimal():
                    start, end = int(first), int(last)
            whole = document.text[start:end] if document is not None else ""
            self.known[name] = [whole[a:b] for a, b in spans(whole)]
        return self.known[name]
