"""The answers and verdicts of a submission, read line by line; what is sound of each line is kept."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.near import Near
from canlegalrag.records import STOPS, Row, judged_rows
from canlegalrag.submission.faults import shown
from canlegalrag.submission.known import Queries, lengths
from canlegalrag.submission.tolerant import Source
from canlegalrag.types import Answer, Judged, Passage

__all__ = ["Answers", "read_answers", "read_verdicts"]

T = TypeVar("T")
D = TypeVar("D")
_WHOLE = -1  # the end of a passage that is its whole document, until the length is known


@dataclass(slots=True)
class Answers:
    """Answers while they are read."""

    source: Source
    """The file, and where its faults go."""
    benchmark: Benchmark
    """What they claim to answer."""
    near: Near
    """Knows which document was probably meant."""
    found: dict[str, Answer] = field(default_factory=dict)
    """What is sound."""
    lines: dict[str, str] = field(default_factory=dict)
    """Query -> where its answer stands."""

    def read(self) -> None:
        """Read `{"query_id": …, "text": …}`, one a line."""
        queries = Queries(self.source, self.benchmark)
        for where, values in self.source.objects():
            row = Row(where, values)
            query = queries.known(where, values, self.lines)
            text = self._tried(partial(row.text, "text"), None, "answers without a usable text")
            if query is None or text is None:
                continue
            most = self.source.limits.answer_chars
            if len(text) > most:
                what = f"has {len(text):,} characters, more than {most:,}: left out"
                self._add("answers that are too long", f"{where}: text", what, "an answer, not its sources")
                continue
            self.lines[query] = where
            self.found[query] = self._answer(row, query, text)
        queries.say(bool(self.found))
        self._ends()

    def _answer(self, row: Row, query: str, text: str) -> Answer:
        """An answer; a field that can't be used is named and left out."""
        stop, kind = "stop" if text.strip() else "empty", "fields of answers that can't be used"
        return Answer(
            query,
            text,
            passages=self._passages(row),
            citations=self._tried(lambda: row.strings("citations"), (), kind),
            stop=self._tried(lambda: row.choice("stop", STOPS, stop), stop, kind),
            condition=self._tried(lambda: row.text("condition", ""), "", kind)[: self.source.limits.id_chars],
            usage=self._tried(lambda: row.object("usage"), {}, kind),
        )

    def _passages(self, row: Row) -> tuple[Passage, ...]:
        kind = "passages that can't be used"
        rows = self._tried(lambda: row.rows("passages"), [], kind)
        most = self.source.limits.passages
        if len(rows) > most:
            what = f"lists {len(rows):,}, more than {most:,}: the rest is left out"
            self._add(kind, f"{row.where}: passages", what, "what the answer was written from")
        found = [self._tried(partial(self._passage, one, n), None, kind) for n, one in enumerate(rows[:most])]
        return tuple(passage for passage in found if passage)

    def _passage(self, row: Row, n: int) -> Passage:
        doc_id, index = row.id("doc_id"), row.whole("index", n)
        if doc_id not in self.benchmark.documents:
            hint = self.near(doc_id) or "answers and benchmark must be of one corpus"
            raise row.fault("doc_id", f"document {shown(doc_id)} is not in the corpus: left out", hint)
        if not row.has("start") and not row.has("end"):
            return Passage(doc_id, index, 0, _WHOLE)
        start, end = row.whole("start"), row.whole("end")
        if end < start:
            raise row.fault("end", f"{end} is before the start, {start}: left out", "0 <= start <= end")
        return Passage(doc_id, index, start, end)

    def _ends(self) -> None:
        """Fill in where whole documents end, and leave out what ends beyond one."""
        named = {passage.doc_id for answer in self.found.values() for passage in answer.passages}
        ends = lengths(self.benchmark, named)
        for query, answer in self.found.items():
            kept = []
            for passage in answer.passages:
                end = ends[passage.doc_id]
                if passage.end <= end:
                    kept.append(replace(passage, end=end if passage.end == _WHOLE else passage.end))
                    continue
                what = f"passage ends at {passage.end:,}, but {passage.doc_id} has {end:,} characters: left out"
                fix = "were the answers made on another version of the corpus?"
                self._add("passages that can't be used", f"{self.lines[query]}: passages", what, fix)
            self.found[query] = replace(answer, passages=tuple(kept))

    def _tried(self, read: Callable[[], T], default: D, kind: str) -> T | D:
        try:
            return read()
        except InputError as error:
            self.source.faults.of(kind, error)
            return default

    def _add(self, kind: str, where: str, what: str, fix: str) -> None:
        self.source.faults.add(kind, where, what, fix)


def read_answers(source: Source, benchmark: Benchmark) -> Answers:
    """Read `answers.jsonl` as `records.read_answers` would, but for what it would refuse."""
    answers = Answers(source, benchmark, Near(benchmark.documents))
    answers.read()
    _nothing(source, "answers", bool(answers.found), '{"query_id": …, "text": …}')
    return answers


def read_verdicts(source: Source, benchmark: Benchmark) -> tuple[dict[str, Judged], dict[str, str]]:
    """Read `verdicts.jsonl` as `records.read_verdicts` would; a line that it would refuse is named and left out.

    Returns:
        Query id -> what was judged, and where its line is.
    """
    found: dict[str, Judged] = {}
    lines: dict[str, str] = {}
    queries = Queries(source, benchmark)
    for where, values in source.objects():
        query = queries.known(where, values, lines)
        if query is None:
            continue
        given = values.get("verdicts")
        if isinstance(given, list) and len(given) > source.limits.verdicts:
            what = f"has {len(given):,} verdicts, more than {source.limits.verdicts:,}: left out"
            source.faults.add("judgements that are too long", f"{where}: verdicts", what, "one a claim and piece")
            continue
        try:
            one = judged_rows([values])
            if any(len(name) > source.limits.id_chars for v in one[query].verdicts for name in (v.judge, v.prompt)):
                what = f"names a judge or prompt by more than {source.limits.id_chars} characters: left out"
                source.faults.add("judgements that are too long", where, what, "provider/model; a hash of the prompt")
                continue
            found |= one
            lines[query] = where
        except InputError as error:
            place = error.problem.where.removeprefix("verdicts[0]")
            what = f"{error.problem.what}: the line is left out"
            source.faults.add("lines that are no judgement", where + place, what, error.problem.fix)
    queries.say(bool(found))
    _nothing(source, "verdicts", bool(found), '{"query_id": …, "asked": […], "claims": […], "verdicts": […]}')
    return found, lines


def _nothing(source: Source, what: str, found: bool, line: str) -> None:
    if not found and not source.refused:
        fix = f"its lines are {line}"
        source.faults.add(
            "files that can't be used", source.name, f"holds no {what} to this benchmark", fix, fatal=True
        )
