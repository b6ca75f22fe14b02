"""The run of a submission: JSON Lines or TREC, each hit checked against the benchmark, what is sound kept."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from canlegalrag.benchmark import Benchmark, missing
from canlegalrag.files import finite, trec_fault
from canlegalrag.measures import retrieval
from canlegalrag.near import Near
from canlegalrag.submission.faults import shown
from canlegalrag.submission.known import Queries, id_problem, lengths
from canlegalrag.submission.tolerant import Source
from canlegalrag.types import Hit, Passage
from canlegalrag.wording import many

__all__ = ["TREC", "Ranking", "read_ranking"]

TREC = (".trec", ".txt", ".run", ".tsv")
"""Endings of files that hold a TREC run."""

_INFINITY = float("inf")
_LONGEST = 2**31 - 1  # characters: measures of spans count no further


def read_ranking(source: Source, benchmark: Benchmark) -> dict[str, list[Hit]]:
    """Read a run as `files.read_run` would, but for what it would refuse: that is named and left out."""
    ranking = Ranking(source, benchmark, Queries(source, benchmark))
    if source.path.suffix.lower() in TREC:
        ranking.read_trec()
    else:
        ranking.read_jsonl()
    ranking.check()
    return ranking.run


@dataclass(slots=True)
class Ranking:
    """A run while it is read."""

    source: Source
    """The file, and where its faults go."""
    benchmark: Benchmark
    """What it claims to answer."""
    queries: Queries
    """Knows the benchmark's queries."""
    run: dict[str, list[Hit]] = field(default_factory=dict)
    """What is sound of it."""
    unknown: dict[str, str] = field(default_factory=dict)
    """Documents that the corpus lacks -> where each is met first."""
    names: dict[str, str] = field(default_factory=dict)
    """Documents met, each by one string."""
    places: dict[str, tuple[str, list[int]]] = field(default_factory=dict)
    """Query -> its line, and where in the line each hit stands that was kept."""

    def read_jsonl(self) -> None:
        """Read `{"query_id": …, "hits": […]}`, one a line."""
        for where, row in self.source.objects():
            query = self.queries.known(where, row, self.run)
            if query is not None and not isinstance(row.get("hits"), list):
                fix = '{"query_id": "q1", "hits": [{"doc_id": "…", "score": 1.5}]}'
                self._add("lines without hits", f"{where}: hits", "is missing, or no list: left out", fix)
            elif query is not None:
                self._ranking(where, query, row["hits"])

    def _ranking(self, where: str, query: str, rows: list[Any]) -> None:
        most = self.source.limits.hits
        if len(rows) > most:
            what = f"has {len(rows):,} hits: those after the first {most:,} are left out"
            self._add("rankings that are too long", where, what, f"{most:,} a query")
        hits: list[Hit] = []
        places: list[int] = []
        seen: set[object] = set()
        for n, row in enumerate(rows[:most]):
            hit = self._hit(f"{where}: hits[{n}]", row)
            if hit and self._first(f"{where}: hits[{n}]", hit, seen):
                hits.append(hit)
                places.append(n)
        self.run[query] = hits
        self.places[query] = (where, places)
        if any(after.score > before.score for before, after in pairwise(hits)):
            what = "scores rise along the list: the standard measures follow the scores, the paper's the list"
            self._add("rankings whose scores rise", where, what, "write the best first, with the highest score")

    def read_trec(self) -> None:
        """Read `query Q0 document rank score tag`, a hit a line; the order is that of the scores, as in trec_eval."""
        ranks: dict[str, list[tuple[float, str, str]]] = {}
        seen: dict[str, set[object]] = {}
        for number, line in self.source.lines():
            where, cells = f"{self.source.name}:{number}", line.split()
            if line.lstrip().startswith("{"):
                fix = "name it run.jsonl" if not ranks else "one shape a file"
                self._add("lines of JSON in a TREC run", where, "is JSON, not a line of a TREC run: left out", fix)
            elif len(cells) not in (5, 6) or (len(cells) == 5 and finite(cells[4]) is None):
                self._add("lines with too few or too many columns", where, *trec_fault(line))
            elif cells[0] not in self.benchmark.queries:
                self.queries.strangers.setdefault(cells[0], where)
            else:
                hit = self._hit(where, {"doc_id": cells[2], "score": cells[4]})
                if hit and self._first(where, hit, seen.setdefault(cells[0], set())):
                    self.run.setdefault(cells[0], []).append(hit)
                    ranks.setdefault(cells[0], []).append((hit.score, cells[3], where))
        for query, hits in self.run.items():
            hits.sort(key=lambda hit: -hit.score)
            if len(hits) > self.source.limits.hits:
                del hits[self.source.limits.hits :]
                what = f"query {shown(query)} has more than {self.source.limits.hits:,} hits: the lowest are left out"
                self._add("rankings that are too long", ranks[query][0][2], what)
            self._ranks(query, ranks[query])

    def _ranks(self, query: str, lines: list[tuple[float, str, str]]) -> None:
        """Say where the rank column has another order than the scores, which alone count."""
        if not all(rank.isascii() and rank.isdigit() and len(rank) < 10 for _, rank, _ in lines):
            return
        ordered = sorted(lines, key=lambda line: int(line[1]))
        for before, after in pairwise(ordered):
            if int(before[1]) < int(after[1]) and before[0] < after[0]:
                what = f"query {shown(query)}: rank {after[1]} has a higher score than rank {before[1]}: scores count"
                self._add("rankings whose ranks and scores disagree", after[2], what, "the best has the highest score")
                return

    def _hit(self, where: str, row: Any) -> Hit | None:
        """A hit; None, and said why, where it is none."""
        if not isinstance(row, dict):
            what = f"a {type(row).__name__}, not an object: left out"
            self._add("hits that aren't objects", where, what, '{"doc_id": "…", "score": 1.5}')
            return None
        doc_id = self._document(where, row.get("doc_id"))
        score = finite(row.get("score"))
        if score is None:
            what = f"{shown(row.get('score'))} is not a finite number: left out"
            self._add("hits without a finite score", f"{where}: score", what, "a ranking needs finite scores")
        if doc_id is None or score is None:
            return None
        if "start" not in row and "end" not in row:
            return Hit(doc_id, score)
        start, end, index = row.get("start"), row.get("end"), row.get("index", 0)
        if not (type(start) is type(end) is type(index) is int and 0 <= start <= end <= _LONGEST):
            what = f"{shown(start)} to {shown(end)} is not a stretch of text: left out"
            self._add("hits with offsets that can't be", where, what, "0 <= start <= end, in characters")
            return None
        # Without its text: a thousand hits on whole decisions would hold them all a thousand times.
        return Hit(doc_id, score, Passage(doc_id, index, start, end))

    def _document(self, where: str, doc_id: Any) -> str | None:
        """The document of a hit, by one string for all its hits; None, and said why, where it can't be one."""
        if not isinstance(doc_id, str) or doc_id not in self.benchmark.documents:
            fault = id_problem(doc_id, self.source.limits.id_chars)
            if fault:
                kind = "hits without a usable doc_id"
                self._add(kind, f"{where}: doc_id", f"{fault}: left out", '"doc_id": "…"')
                return None
            self.unknown.setdefault(str(doc_id), where)
        return self.names.setdefault(doc_id, str(doc_id))

    def _ends(self) -> None:
        """Leave out passages that end beyond their document; each is read once, as the corpus may lie on disk."""
        named = {hit.doc_id for hits in self.run.values() for hit in hits if hit.passage}
        ends = lengths(self.benchmark, named)
        for query, (where, places) in self.places.items():
            kept = []
            for n, hit in zip(places, self.run[query], strict=True):
                if hit.passage is None or hit.passage.end <= ends.get(hit.doc_id, hit.passage.end):
                    kept.append(hit)
                    continue
                what = f"passage ends at {hit.passage.end:,}, but {hit.doc_id} has {ends[hit.doc_id]:,} characters"
                fix = "was the run made on another version of the corpus?"
                self._add("hits beyond the end of their document", f"{where}: hits[{n}]", f"{what}: left out", fix)
            self.run[query] = kept

    def _first(self, where: str, hit: Hit, seen: set[object]) -> bool:
        """Whether this hit wasn't there before: a document found whole once, a passage once."""
        passage = hit.passage
        place = hit.doc_id if passage is None else (hit.doc_id, passage.start, passage.end)
        if place in seen:
            which = "document" if passage is None else f"characters {passage.start} to {passage.end} of"
            what = f"{which} {shown(hit.doc_id)} a second time: the first counts"
            self._add("hits given twice", where, what, "each once")
            return False
        seen.add(place)
        return True

    def _add(self, kind: str, where: str, what: str, fix: str = "") -> None:
        self.source.faults.add(kind, where, what, fix)

    def check(self) -> None:
        """Say what shows once the whole run is read: strangers, forgotten queries, ties."""
        self._ends()
        faults, name, known = self.source.faults, self.source.name, bool(self.run)
        if not known and (self.queries.strangers or not self.source.refused):
            what = f"answers no query of {self.benchmark.name}" if self.queries.strangers else "holds no ranking"
            fix = "was it made for another benchmark?" if self.queries.strangers else '{"query_id": …, "hits": […]}'
            faults.add("runs that can't be scored", name, what, fix, fatal=True)
        self.queries.say(known)
        near_document = Near(self.benchmark.documents)
        for document, where in self.unknown.items():
            what = f"document {shown(document)} is not in the corpus: not relevant"
            self._add("documents that aren't in the corpus", where, what, near_document(document))
        for problem in missing(self.benchmark.queries, self.run) if known else ():
            what = problem.what if problem.where == "run" else f"{problem.where} {problem.what}"
            self._add("queries without a ranking", name, what, problem.fix)
        if known:
            found = retrieval.audit(self.benchmark.qrels, self.benchmark.counted(self.run))
            if found.ties:
                pairs, rankings = many(found.ties, "pair"), many(found.tied_queries, "ranking")
                what = f"{pairs} of neighbours with equal scores, in {rankings}"
                fix = "they are ordered by document id, descending, as trec_eval does"
                self.source.notes.add("ties", name, what, fix)
