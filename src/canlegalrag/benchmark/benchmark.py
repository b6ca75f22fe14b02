"""The noun: queries, the documents to search, and which of them are relevant."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.types import Answer, Claim, Document, Hit, LabelledPair, Problem, Qrels, Query, Run, Snippet
from canlegalrag.wording import many

__all__ = ["Benchmark", "fingerprint"]


@dataclass(frozen=True)
class Benchmark:
    """Queries, the documents to search, and which of them are relevant.

    `documents` may lie on disk: use it as a mapping, and iterate over `values()` once rather than look up at random.
    """

    name: str
    """What it calls itself."""
    documents: Mapping[str, Document]
    """Document id -> document."""
    queries: Mapping[str, Query]
    """Query id -> query."""
    qrels: Qrels
    """Query id -> document id -> grade."""
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """Query id -> reference answer."""
    snippets: tuple[Snippet, ...] = ()
    """Characters of gold documents that answer queries."""
    claims: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)
    """Query id -> the claims of its reference answer, in order."""
    pairs: tuple[LabelledPair, ...] = ()
    """Claims and evidence with the labels that people gave: what judges are measured on."""
    revision: str = ""
    """Commit on the Hub, or version of the package for the sample; empty for a folder."""
    problems: tuple[Problem, ...] = ()
    """Faults that were found and let pass."""
    about: Mapping[str, str] = field(default_factory=dict)
    """What its makers say of it: `title`, `licence`, `description`, `limits`."""
    recorded_fingerprint: str = field(default="", repr=False)
    """The fingerprint in the folder's manifest, whose checksums were verified."""

    checksums: str = field(default="", repr=False)
    """SHA-256 over the verified checksums of the files that it was read from; empty where there are none."""

    def __repr__(self) -> str:
        """A line: all that it holds would fill a notebook. The fingerprint is told where it needn't be computed."""
        judged = sum(map(len, self.qrels.values()))
        held = ((len(self.documents), "document"), (len(self.queries), "query"), (judged, "judgment"))
        known = self.recorded_fingerprint or vars(self).get("fingerprint", "")
        said = [many(count, noun) for count, noun in held] + ([f"content {known[:16]}"] if known else [])
        return f"<Benchmark {self.name!r}: {', '.join(said)}>"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over every record: equal for equal content, whatever the layout or the Parquet version."""
        return self.recorded_fingerprint or fingerprint(self)

    @property
    def identity(self) -> dict[str, str]:
        """What records say of it: name, revision, fingerprint."""
        return {"name": self.name, "revision": self.revision, "fingerprint": self.fingerprint}

    @property
    def gold(self) -> frozenset[str]:
        """Ids of the documents that are relevant to at least one query."""
        return frozenset(d for judged in self.qrels.values() for d, grade in judged.items() if grade > 0)

    @property
    def blocks(self) -> dict[str, str]:
        """Query id -> block; a query without a block is its own."""
        return {i: q.block or i for i, q in self.queries.items()}

    def counted(self, run: Run) -> dict[str, Sequence[Hit]]:
        """The run without the documents that don't count for their query (`Query.excluded`)."""
        return {
            i: [hit for hit in hits if hit.doc_id not in q.excluded]
            if (q := self.queries.get(i)) and q.excluded
            else hits
            for i, hits in run.items()
        }

    def labels(self, name: str) -> dict[str, str]:
        """Query id -> value of one of the query's fields, to group scores by.

        Raises:
            InputError: queries have no such field.
        """
        known = [f for f in Query.__dataclass_fields__ if f not in ("id", "text", "excluded")]
        if name not in known:
            raise InputError(f"--by {name}", "is not a field of the queries", f"one of {', '.join(known)}")
        return {i: str(v) if (v := getattr(q, name)) not in (None, "") else "(none)" for i, q in self.queries.items()}

    def summary(self) -> dict[str, Any]:
        """Counts for `canlegalrag info`: what the benchmark holds."""
        lengths, courts, languages, years = [], Counter[str](), Counter[str](), []
        for document in self.documents.values():
            lengths.append(len(document.text))
            courts[document.court or "(unknown)"] += 1
            languages[document.language or "(unknown)"] += 1
            if document.year is not None:
                years.append(document.year)
        lengths.sort()
        gold = [sum(g > 0 for g in judged.values()) for judged in self.qrels.values()]
        return {
            "name": self.name,
            "revision": self.revision,
            "fingerprint": self.fingerprint,
            "documents": len(self.documents),
            "gold_documents": len(self.gold & self.documents.keys()),
            "characters": sum(lengths),
            "length_min_median_max": [lengths[0], lengths[len(lengths) // 2], lengths[-1]] if lengths else [],
            "years": [min(years), max(years)] if years else [],
            "courts": dict(courts.most_common()),
            "languages": dict(languages.most_common()),
            "queries": len(self.queries),
            "blocks": len(set(self.blocks.values())),
            "provinces": dict(Counter(self.labels("province").values()).most_common()),
            "personas": dict(Counter(self.labels("persona").values()).most_common()),
            "datasets": dict(Counter(self.labels("dataset").values()).most_common()),
            "judgments": sum(len(judged) for judged in self.qrels.values()),
            "gold_per_query_min_mean_max": [min(gold), sum(gold) / len(gold), max(gold)] if gold else [],
            "answers": len(self.answers),
            "snippets": len(self.snippets),
            "claims": sum(len(claims) for claims in self.claims.values()),
            "pairs": len(self.pairs),
            "problems": [str(p) for p in self.problems],
        }


def fingerprint(benchmark: Benchmark) -> str:
    """SHA-256 over the digests of all records, sorted: the order of rows and files doesn't matter."""
    records: list[Iterator[Any]] = [
        (asdict(r) for r in benchmark.documents.values()),
        # Without what came later, where it says nothing: older benchmarks keep their fingerprints.
        (_without(asdict(r), dataset="") for r in benchmark.queries.values()),
        (_without(asdict(r), stop="stop", condition="") for r in benchmark.answers.values()),
        (asdict(r) for r in benchmark.snippets),
        ([q, sorted(judged.items())] for q, judged in benchmark.qrels.items()),
    ]
    if any(benchmark.claims.values()):
        records.append(asdict(c) for claims in benchmark.claims.values() for c in claims)
    if benchmark.pairs:
        records.append(asdict(r) for r in benchmark.pairs)
    total = hashlib.sha256(b"canlegalrag 1\n")
    for part in records:
        digests = sorted(hashlib.sha256(json.dumps(r, sort_keys=True).encode()).digest() for r in part)
        total.update(b"".join(digests) + b"\n")
    return total.hexdigest()


def _without(record: dict[str, Any], **defaults: str) -> dict[str, Any]:
    """A record without the fields that hold their defaults."""
    return {k: v for k, v in record.items() if k not in defaults or v != defaults[k]}
