"""Judge: what each answer claims, and whether reference, evidence and answer entail it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from canlegalrag import __version__
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.judging.assessing import Item, assess, item_of
from canlegalrag.judging.evidence import evidence_of, has_evidence
from canlegalrag.measures.decided import LABELS, PURPOSES
from canlegalrag.near import Near
from canlegalrag.pipeline._output import Output, batches, checksum, counted_since, opened, spending, trusting
from canlegalrag.protocols import Decomposer, Judge
from canlegalrag.records import answer_line, judged_line
from canlegalrag.types import Answer, Judged, Problem

if TYPE_CHECKING:
    from canlegalrag.calls import Calls

__all__ = ["judge"]

_ON_EVIDENCE = ("groundedness", "reference_groundedness")
_ON_REFERENCE = ("accuracy", "coverage", "reference_groundedness")
_NAMED = 3  # answers of one kind of fault that are named one by one


def judge(
    benchmark: Benchmark,
    answers: Mapping[str, Answer],
    judge: Judge,
    decomposer: Decomposer,
    out: Path,
    *,
    measures: Sequence[str] = ("accuracy", "groundedness", "coverage"),
    window: int = 12_000,
    overlap: int = 1_000,
    calls: "Calls | None" = None,
    made: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[dict[str, Any], list[Problem]]:
    """Take answers apart and judge their claims into `out`, one line an answer; resumes where it was interrupted.

    Args:
        benchmark: queries, reference answers with their claims, documents.
        answers: query id -> answer, as `read_answers` gives them.
        judge: says whether evidence entails claims.
        decomposer: takes answers apart, and reference answers whose claims the benchmark doesn't have.
        out: `verdicts.jsonl`; what made it is written beside it.
        measures: what to judge for, of `measures.decided.PURPOSES`; only what these need is judged. What needs
            reference answers is left out where the benchmark has none at all.
        window: characters of evidence that a claim is held against at once.
        overlap: characters that two windows share.
        calls: how paid replies are counted.
        made: what made the answers (`read_meta`), for the record.
        progress: called with answers judged since the last call.

    Returns:
        What made the verdicts: judge, decomposer, measures, answers, benchmark, seconds, cost, verdicts by label, what
        each model did, queries without an answer (`missing`), checksum; and the answers' faults: those to unknown
        queries, and those of which nobody knows what they were taken from, so that groundedness isn't judged.

    Raises:
        InputError: `out` was made with something else, or is being written; no answer is to a query of the benchmark;
            a passage isn't in its documents.
        BudgetSpent: the next call would cost more than is left; what was judged so far is in `out`.
        CallError: a model's provider fails; likewise.
    """
    known, asked = _checked(benchmark, answers, measures)
    record = {
        "judge": dict(judge.identity),
        "decomposer": dict(decomposer.identity),
        "measures": list(asked),
        "window": window,
        "overlap": overlap,
        "answers": checksum(_decides(answer) for answer in answers.values()),
        "benchmark": benchmark.identity,
        "canlegalrag": __version__,
    }
    job = _Job(benchmark, judge, decomposer, asked, window, overlap)
    with opened(out, "judged answer", _known) as output:
        by = {key: (made or {}).get(key) for key in ("model", "prompt", "condition", "recipe", "k")}
        output.start(record, ("judge",), answered_by=by, missing=[], labels={}, counts={})
        output.meta["missing"] = [query for query in benchmark.queries if query not in answers]
        if progress and output.found:
            progress(len(output.found))
        try:
            job.run(known, output, calls, progress)
        finally:
            _record(output)  # what was paid for is booked, whatever happened
    return output.meta, _problems(benchmark, answers, measures, asked)


def _decides(answer: Answer) -> str:
    """What of an answer decides its verdicts: not what it cost, but whether it is known what it was taken from."""
    return answer_line(replace(answer, usage={"context": None} if "context" in answer.usage else {}))


def _record(output: Output) -> None:
    """Write what is known so far; counted from the lines, as a kill may have come between a line and its record."""
    output.meta["labels"] = dict(sum(output.found.values(), Counter()))
    output.record()


def _checked(
    benchmark: Benchmark, answers: Mapping[str, Answer], measures: Sequence[str]
) -> tuple[list[Answer], tuple[str, ...]]:
    """The answers to queries of the benchmark, in its order, and what they can be judged for, in the usual order."""
    for name in measures:
        if name not in PURPOSES:
            raise InputError(f"measure {name!r}", "is not judged", f"one or more of: {', '.join(PURPOSES)}")
    if not measures:
        raise InputError("measures", "none is named", f"one or more of: {', '.join(PURPOSES)}")
    known = [answers[query] for query in benchmark.queries if query in answers]
    if not known:
        raise InputError("answers", f"none is to a query of {benchmark.name}", "answer the queries of this benchmark")
    without = () if benchmark.answers or benchmark.claims else _ON_REFERENCE
    asked = tuple(name for name in PURPOSES if name in measures and name not in without)
    if not asked:
        what = f"{benchmark.name} has no reference answers, which {' and '.join(measures)} need"
        raise InputError("measures", what, "--for groundedness judges what needs none")
    return known, asked


def _known(row: dict[str, Any]) -> tuple[str, Counter[str]]:
    """Query id, and how many verdicts have which label."""
    return row["query_id"], Counter(_label(verdict["label"]) for verdict in row["verdicts"])


def _label(label: str | None) -> str:
    if label is not None and label not in LABELS:
        raise ValueError
    return label or "unscored"


@dataclass(frozen=True, slots=True)
class _Job:
    """Verdicts on their way."""

    benchmark: Benchmark
    """Where reference answers and evidence are read."""
    judge: Judge
    """Judges claims."""
    decomposer: Decomposer
    """Takes texts apart."""
    measures: tuple[str, ...]
    """What is judged for."""
    window: int
    """Characters of evidence at once."""
    overlap: int
    """Characters that two windows share."""

    def run(
        self, answers: Sequence[Answer], output: Output, calls: "Calls | None", progress: Callable[[int], None] | None
    ) -> None:
        """Judge what is missing, batch by batch."""
        models = {"judge": self.judge, "decomposer": self.decomposer}
        begun = {role: dict(model.counts) for role, model in models.items()}
        earlier = dict(output.meta["counts"])
        trusting(output, calls, *models.values())
        for batch in batches(answers):
            todo = [answer for answer in batch if answer.query_id not in output.found]
            if not todo:
                continue
            with output.booked("judge", spending(calls)):
                found = self.judged(batch)
            for judged in found:
                if judged.query_id not in output.found:
                    labels = Counter(_label(verdict.label) for verdict in judged.verdicts)
                    output.append(judged_line(judged), judged.query_id, labels)
            output.meta["counts"] = {
                role: counted_since(model.counts, begun[role], earlier.get(role, {})) for role, model in models.items()
            }
            output.sync()
            _record(output)
            if progress:
                progress(len(todo))

    def judged(self, answers: Sequence[Answer]) -> list[Judged]:
        """Judge answers; what rests on evidence isn't asked of those of which nobody knows the evidence."""
        items = [self.item(answer) for answer in answers]
        found = assess(items, self.judge, self.decomposer, self.measures, window=self.window, overlap=self.overlap)
        return [
            one if has_evidence(answer) else replace(one, asked=tuple(m for m in one.asked if m not in _ON_EVIDENCE))
            for answer, one in zip(answers, found, strict=True)
        ]

    def item(self, answer: Answer) -> Item:
        """An answer with what it is held against."""
        evidence = None
        if set(self.measures) & set(_ON_EVIDENCE):
            evidence = evidence_of(answer, self.benchmark.documents)
        return item_of(answer, self.benchmark.answers, self.benchmark.claims, evidence)


def _problems(
    benchmark: Benchmark, answers: Mapping[str, Answer], measures: Sequence[str], asked: Sequence[str]
) -> list[Problem]:
    """What of the answers can't be judged; a fault that many share is told once, with how many have it."""
    problems = []
    if left := [name for name in PURPOSES if name in measures and name not in asked]:
        what = f"has no reference answers, so that {' and '.join(left)} can't be judged"
        problems.append(Problem(benchmark.name, what, "--for groundedness judges what needs none"))
    strangers = [query for query in answers if query not in benchmark.queries]
    near = Near(benchmark.queries)
    for query in strangers[:_NAMED]:
        where = f"answer to {query!r}"
        problems.append(Problem(where, f"is to no query of {benchmark.name}, and isn't judged", near(query)))
    if more := strangers[_NAMED:]:
        what = f"{len(more)} more are to no query of {benchmark.name}, and aren't judged"
        problems.append(Problem("answers", what, "were they made for another?"))
    on_evidence = " and ".join(name for name in asked if name in _ON_EVIDENCE)
    bare = [query for query, of in answers.items() if query in benchmark.queries and not has_evidence(of)]
    fix = 'add "passages": [{"doc_id": …, "start": …, "end": …}]'
    if on_evidence and len(bare) > _NAMED:
        shown = f"{', '.join(bare[:_NAMED])} …"
        what = f"{len(bare)} name no passages ({shown}), so that their {on_evidence} can't be judged"
        problems.append(Problem("answers", what, fix))
    elif on_evidence:
        what = f"names no passages, so that {on_evidence} can't be judged"
        problems += [Problem(f"answer to {query!r}", what, fix) for query in bare]
    return problems
