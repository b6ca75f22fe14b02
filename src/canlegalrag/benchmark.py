"""A benchmark: documents, queries and judgments that belong together, loaded in one line and checked."""

import difflib
import hashlib
import importlib
import json
import pkgutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from canlegalrag import citations, layouts
from canlegalrag.errors import BenchmarkError, InputError, MissingExtra
from canlegalrag.layouts import Content
from canlegalrag.near import Near
from canlegalrag.types import Answer, Document, Hit, Problem, Qrels, Query, Run, Snippet

__all__ = ["PROVINCES", "Benchmark", "check", "check_run", "load", "missing"]

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

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over every record: equal for equal content, whatever the layout or the Parquet version."""
        return self.recorded_fingerprint or fingerprint(self)

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
            "judgments": sum(len(judged) for judged in self.qrels.values()),
            "gold_per_query_min_mean_max": [min(gold), sum(gold) / len(gold), max(gold)] if gold else [],
            "answers": len(self.answers),
            "snippets": len(self.snippets),
            "problems": [str(p) for p in self.problems],
        }


def load(source: str | Path = "sample", *, revision: str | None = None, strict: bool = True) -> Benchmark:
    """Load a benchmark.

    Args:
        source: `sample` (embedded), a folder, or the id of a dataset repository on the Hub (`owner/name`). A folder may
            be in our layout, in MTEB's, in that of `UBC-VL/CanLegalRAGBench`, or hand-written like the sample.
        revision: branch, tag or commit on the Hub.
        strict: refuse a benchmark with fatal faults; else keep them in `problems`.

    Raises:
        InputError: the source can't be found or has an unknown layout.
        BenchmarkError: fatal faults, all of them listed.

    >>> load("sample").queries["b1-q1"].province
    'British Columbia'
    """
    folder, revision = _locate(str(source), revision)
    content = _read(folder)
    name = "canlegalrag-sample" if str(source) == "sample" else content.name
    found = Benchmark(
        name=name,
        documents=content.documents,
        queries=content.queries,
        qrels=content.qrels,
        answers=content.answers,
        snippets=content.snippets,
        revision=revision,
        recorded_fingerprint=content.fingerprint,
        checksums=content.checksums,
        problems=tuple(content.problems),
        about=content.about,
    )
    # A folder whose checksums hold was checked when it was built: its texts needn't be read again.
    problems = tuple(content.problems) + tuple(check(found, texts=not content.fingerprint))
    fatal = [p for p in problems if p.fatal]
    if fatal and strict:
        raise BenchmarkError(str(source), fatal)
    return replace(found, problems=problems)


def _locate(source: str, revision: str | None) -> tuple[Path, str]:
    """Folder and revision of a source."""
    if source == "sample":
        from canlegalrag import __version__

        return Path(str(files("canlegalrag") / "sample")), __version__
    try:
        folder = Path(source).expanduser()
        held = folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # no such user, a name too long, a NUL
        fix = "give `sample`, a folder, or a Hub id owner/name"
        raise InputError(source[:200], f"is no path: {error}", fix) from None
    if held:
        return folder, ""
    if source.count("/") != 1 or source.startswith((".", "/", "~")) or folder.exists():
        what = "is a file, not a folder" if folder.exists() else "no such folder"
        raise InputError(source, what, "give `sample`, a folder, or a Hub id owner/name")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise MissingExtra("huggingface_hub", "hub") from None
    try:
        wanted = ["*.parquet", "*.json", "*.md", "*.toml"]
        path = snapshot_download(source, repo_type="dataset", revision=revision, allow_patterns=wanted)
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        what = f"neither a folder nor reachable on the Hub: {reason}"
        raise InputError(source, what, "check the name, the network and HF_TOKEN") from error
    return Path(path), Path(path).name


def _read(folder: Path) -> Content:
    names = [m.name for m in pkgutil.iter_modules(layouts.__path__) if not m.name.startswith("_")]
    for name in sorted(names):
        layout: layouts.Layout = importlib.import_module(f"canlegalrag.layouts.{name}")
        if layout.matches(folder):
            return layout.read(folder)
    held = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
    what = f"not a benchmark: holds {held}"
    raise InputError(str(folder), what, "needs corpus, queries and qrels as Parquet, or documents and queries.json")


def check(benchmark: Benchmark, *, texts: bool = True) -> Iterator[Problem]:
    """Name every fault in the records and in how they refer to each other.

    Args:
        benchmark: what to check.
        texts: also read every document, to check the texts and the snippets' places in them.
    """
    if not benchmark.documents:
        yield Problem("corpus", "holds no documents")
    if not benchmark.queries:
        yield Problem("queries", "holds no queries")
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


def _check_id(where: str, id_: str) -> Iterator[Problem]:
    if not id_:
        yield Problem(where, "id is blank")
    elif any(c.isspace() for c in id_):
        yield Problem(where, "id holds white space", "a TREC run can't carry it")


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


def check_run(benchmark: Benchmark, run: Run) -> list[Problem]:
    """Name what is odd in a run: unknown ids, forgotten queries, rankings whose scores rise.

    None of it is fatal to scoring: an unknown document counts as not relevant, a forgotten query as zero, an unknown
    query is left out; but each is more often a slip than intended.

    Args:
        benchmark: what the run claims to answer.
        run: the rankings.
    """
    problems: list[Problem] = []
    near_query, near_document = Near(benchmark.queries), Near(benchmark.documents)
    for id_ in run:
        if id_ not in benchmark.queries:
            fix = near_query(id_)
            problems.append(Problem(f"query {id_!r}", "is not in the benchmark: left out", fix, fatal=False))
    unknown: dict[str, str] = {}
    for id_, hits in run.items():
        for hit in hits:
            if hit.doc_id not in benchmark.documents and hit.doc_id not in unknown:
                unknown[hit.doc_id] = id_
        if _rises(hits):
            what = "scores rise along the list: the standard measures follow the scores, the paper's the list"
            problems.append(Problem(f"query {id_!r}", what, "write the best first", fatal=False))
    for document, id_ in unknown.items():
        fix = near_document(document)
        what = f"document {document!r} is not in the corpus: not relevant"
        problems.append(Problem(f"query {id_!r}", what, fix, fatal=False))
    return problems + missing(benchmark.queries, run)


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


def fingerprint(benchmark: Benchmark) -> str:
    """SHA-256 over the digests of all records, sorted: the order of rows and files doesn't matter."""
    records: list[Iterator[Any]] = [
        (asdict(r) for r in benchmark.documents.values()),
        (asdict(r) for r in benchmark.queries.values()),
        (asdict(r) for r in benchmark.answers.values()),
        (asdict(r) for r in benchmark.snippets),
        ([q, sorted(judged.items())] for q, judged in benchmark.qrels.items()),
    ]
    total = hashlib.sha256(b"canlegalrag 1\n")
    for part in records:
        digests = sorted(hashlib.sha256(json.dumps(r, sort_keys=True).encode()).digest() for r in part)
        total.update(b"".join(digests) + b"\n")
    return total.hexdigest()
