"""Answers to a benchmark's queries, from the gold and from what was retrieved, judged and scored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from canlegalrag import audit_page, claim_report, pipeline, report, submission
from canlegalrag.benchmark import Benchmark
from canlegalrag.files import read_run, write_atomic
from canlegalrag.protocols import Decomposer, Generator, Judge, Sorter
from canlegalrag.records import categorised, read_answers, read_categories, read_verdicts
from canlegalrag.types import Judged, Problem

if TYPE_CHECKING:
    from canlegalrag.calls import Calls

__all__ = ["Answered", "answer"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of the answers."""

    results: Mapping[str, dict[str, Any]] = field(repr=False)
    """System and condition -> what its `scores.json` holds."""
    judged: Mapping[str, Mapping[str, Judged]] = field(repr=False)
    """The same -> query id -> its claims with their verdicts."""
    problems: tuple[Problem, ...]
    """Of the answers and verdicts, each with its system's name."""


def answer(
    benchmark: Benchmark,
    run: Path,
    out: Path,
    generator: Generator,
    judge: Judge,
    decomposer: Decomposer,
    sorter: Sorter,
    *,
    name: str,
    k: int = 10,
    calls: "Calls | None" = None,
    progress: Callable[[int], None] | None = None,
) -> Answered:
    """Answer, judge, sort what fails and score, once from what a run found and once from the gold documents alone.

    Writes into `out` a folder a condition with `answers.jsonl`, `verdicts.jsonl`, `categories.jsonl`, `scores.json`,
    `audit.html`, and beside them `answers.md` and `answers.html`. What is there already is gone on with.

    Args:
        benchmark: queries, reference answers, documents.
        run: `run.jsonl`.
        out: folder.
        generator: answers.
        judge: judges the claims.
        decomposer: takes answers apart.
        sorter: says why claims fail.
        name: of the run, for the tables.
        k: hits that are read, by their whole documents where these fit.
        calls: how paid replies are counted.
        progress: called with answers generated or judged since the last call: 2 for each query and condition.
    """
    found = read_run(run, benchmark.documents)
    made = pipeline.read_meta(run)
    measures = ["groundedness"]
    if benchmark.answers:
        measures = ["accuracy", "groundedness", "coverage", "reference_groundedness"]
    results: dict[str, dict[str, Any]] = {}
    judged: dict[str, Mapping[str, Judged]] = {}
    problems: list[Problem] = []
    for condition in pipeline.CONDITIONS:
        system, folder = f"{name} + {generator.identity['model']}, {condition}", out / condition
        answers, verdicts, categories = (folder / f"{part}.jsonl" for part in ("answers", "verdicts", "categories"))
        options: dict[str, Any] = {"calls": calls, "progress": progress}
        meta = pipeline.generate(benchmark, found, generator, answers, condition=condition, k=k, made=made, **options)
        texts = read_answers(answers, benchmark.documents)
        meta, faults = pipeline.judge(
            benchmark, texts, judge, decomposer, verdicts, measures=measures, made=meta, **options
        )
        pipeline.explain(benchmark, read_verdicts(verdicts), sorter, categories, calls=calls, made=meta)
        judged[system] = categorised(read_verdicts(verdicts), read_categories(categories))
        fields = [f for f in ("province", "persona", "variant") if set(benchmark.labels(f).values()) - {"(none)"}]
        payload, more = submission.score_verdicts(judged[system], benchmark=benchmark, by=fields, made=meta)
        results[system] = payload
        problems += [Problem(f"{system}: {p.where}", p.what, p.fix, p.fatal) for p in (*faults, *more)]
        write_atomic(folder / "scores.json", submission.scores_json(payload))
        write_atomic(folder / "audit.html", audit_page.html(judged[system].values(), benchmark, texts, meta))
    write_atomic(out / "answers.md", claim_report.markdown(results, judged))
    page = report.page(f"Answers on {benchmark.name}", claim_report.html(results, judged))
    write_atomic(out / "answers.html", page)
    return Answered(results, judged, tuple(problems))
