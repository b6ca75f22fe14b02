"""Generate: an answer to each query, out of what was retrieved or of the gold documents alone."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from canlegalrag import __version__, contexts
from canlegalrag.benchmark import Benchmark
from canlegalrag.citations import find
from canlegalrag.contexts import Context
from canlegalrag.errors import CallError, InputError
from canlegalrag.files import dumps, loads, run_line
from canlegalrag.pipeline._output import Output, batches, checksum, counted_since, opened, spending, trusting
from canlegalrag.protocols import Generator
from canlegalrag.records import STOPS, answer_line
from canlegalrag.types import Answer, Completion, Hit, Prompt, Query, Run

if TYPE_CHECKING:
    from canlegalrag.calls import Calls

__all__ = ["CONDITIONS", "answer_one", "generate", "oracle", "prompt"]

CONDITIONS = ("pipeline", "oracle")
"""Where the documents come from: a run, or what the benchmark says is relevant."""

_BYTES = 3
"""Bytes of UTF-8 a token where a model's tokenizer isn't at hand: fewer than any has on such text, so that the budget
holds."""
_STOPPED = {("stop", False): "empty", ("empty", True): "stop"}
"""Why an answer ended, where its text says otherwise than the model."""
_MARGIN = 64
"""Tokens that a chat template may add to a prompt."""


def prompt() -> str:
    """The standing instructions that the generator gets, from `prompts/answer.md`; part of what answers depend on."""
    return (files("canlegalrag") / "prompts" / "answer.md").read_text(encoding="utf-8").strip()


def oracle(benchmark: Benchmark, run: Run) -> dict[str, list[Hit]]:
    """A run confined to the gold documents of each query, as retrieval without a fault would find them.

    Of the run stay the hits on gold documents, in its order. Gold documents that it lacks follow as a whole, the higher
    grade first, so that every query has all of its gold; those that the benchmark doesn't hold are left out. A query
    without gold gets an empty list.
    """
    confined: dict[str, list[Hit]] = {}
    for query, found in _counted(benchmark, run).items():
        gold = {d: grade for d, grade in benchmark.qrels.get(query, {}).items() if grade > 0}
        gold = {d: grade for d, grade in gold.items() if d not in benchmark.queries[query].excluded}
        kept = [hit for hit in found if hit.doc_id in gold]
        there = {hit.doc_id for hit in kept}
        lowest = min((hit.score for hit in kept), default=0.0)
        missing = sorted((-grade, d) for d, grade in gold.items() if d not in there and d in benchmark.documents)
        confined[query] = kept + [Hit(d, lowest) for _, d in missing]
    return confined


def _counted(benchmark: Benchmark, run: Run) -> dict[str, Sequence[Hit]]:
    """Query -> its hits that count, for each query of the benchmark."""
    counted = benchmark.counted(run)
    return {query: counted.get(query, ()) for query in benchmark.queries}


def generate(
    benchmark: Benchmark,
    run: Run,
    generator: Generator,
    out: Path,
    *,
    condition: str = "pipeline",
    k: int = 10,
    tokens: int = 115_000,
    max_tokens: int = 2048,
    calls: "Calls | None" = None,
    made: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Answer each query of a benchmark into `out`, one line a query; resumes where it was interrupted.

    Args:
        benchmark: queries (asked with their province) and documents.
        run: what was retrieved; a query that it lacks is asked all the same, and told that nothing was found.
        generator: the model.
        out: `answers.jsonl`; what made it is written beside it.
        condition: `pipeline` for the run, `oracle` for the gold documents alone (see `oracle`).
        k: how many of a query's best hits are read, by their whole documents where those fit; the oracle reads all of
            its gold.
        tokens: what the documents may take, headers included; less where the model's window is smaller.
        max_tokens: tokens that an answer may have.
        calls: how paid replies are counted.
        made: what made the run (`read_meta`), for the record.
        progress: called with queries answered since the last call.

    Returns:
        What made the answers: model, prompt, run, benchmark, condition, depth, budgets, how tokens were counted,
        seconds, cost, answers by why they ended (`stops`), how many were given less than the whole documents (`cut`),
        checksum.

    Raises:
        InputError: `out` was made with something else, or is being written; the run is of another benchmark.
        BudgetSpent: the next call would cost more than is left; what was answered so far is in `out`.
        CallError: the provider fails; likewise.
    """
    hits = _read(benchmark, run, condition, k)
    job = _Job(benchmark, generator, hits, _Counter(generator), tokens, max_tokens, condition)
    record = {
        "model": dict(generator.identity),
        "prompt": hashlib.sha256(prompt().encode()).hexdigest()[:12],
        "run": checksum(run_line(query, found) for query, found in run.items()),
        "benchmark": benchmark.identity,
        "condition": condition,
        "k": k,
        "tokens": tokens,
        "max_tokens": max_tokens,
        "counted": job.counter.how,
        "canlegalrag": __version__,
    }
    with opened(out, "answer", _known) as output:
        output.start(record, ("context", "generate"), recipe=(made or {}).get("recipe"), counts={}, stops={}, cut=0)
        if progress and output.found:
            progress(len(output.found))
        try:
            job.run(output, calls, progress)
        finally:
            _record(output)  # what was paid for is booked, whatever happened
    return output.meta


def answer_one(
    benchmark: Benchmark,
    query: Query,
    hits: Sequence[Hit],
    generator: Generator,
    *,
    condition: str,
    tokens: int,
    max_tokens: int,
) -> Answer:
    """One answer as `generate` gives it, to a query that needn't be the benchmark's.

    Args:
        benchmark: documents.
        query: what is asked.
        hits: what is read.
        generator: the model.
        condition: for the record.
        tokens: as for `generate`.
        max_tokens: as for `generate`.

    Raises:
        BudgetSpent: the answer would cost more than is left.
        CallError: the provider fails.
    """
    job = _Job(benchmark, generator, {query.id: hits}, _Counter(generator), tokens, max_tokens, condition)
    context = job.context(query)
    (completion,) = job.ask([_prompt(query, context, max_tokens)])
    return job.answer(query, context, completion)


def _record(output: Output) -> None:
    """Write what is known so far; counted from the lines, as a kill may have come between a line and its record."""
    output.meta["stops"] = dict(Counter(stop for stop, _ in output.found.values()))
    output.meta["cut"] = sum(cut for _, cut in output.found.values())
    output.record()


def _known(row: dict[str, Any]) -> tuple[str, tuple[str, bool]]:
    """Query id, why the answer ended, and whether its documents were cut."""
    if row["stop"] not in STOPS or not isinstance(row["text"], str):
        raise ValueError
    return row["query_id"], (row["stop"], bool(row["usage"]["context"]["characters_cut"]))


def _read(benchmark: Benchmark, run: Run, condition: str, k: int) -> dict[str, Sequence[Hit]]:
    """What each query is answered from, once it is sure that the run is about this benchmark."""
    if condition not in CONDITIONS:
        raise InputError("condition", f"{condition!r} is not known", f"one of: {', '.join(CONDITIONS)}")
    if type(k) is not int or k < 1:
        raise InputError("k", f"{k!r} is not a depth", "a whole number, at least 1")
    if not run.keys() & benchmark.queries.keys():
        what = f"has none of the queries of {benchmark.name}"
        raise InputError("run", what, "retrieve with this benchmark")
    if condition == "oracle":
        return dict(oracle(benchmark, run))
    return {query: found[:k] for query, found in _counted(benchmark, run).items()}


class _Counter:
    """Counts tokens as the model does where that is known."""

    def __init__(self, generator: Generator) -> None:
        own: Callable[[str], int] | None = getattr(generator, "tokens", None)
        self.count = own or (lambda text: -(-len(text.encode("utf-8", "replace")) // _BYTES))
        self.how = "by the model" if own else f"estimated: {_BYTES} bytes a token"


@dataclass(frozen=True, slots=True)
class _Job:
    """Answers on their way."""

    benchmark: Benchmark
    """Whose queries are answered."""
    generator: Generator
    """Answers."""
    hits: Mapping[str, Sequence[Hit]]
    """Query -> what it is answered from."""
    counter: _Counter
    """Counts what is read."""
    tokens: int
    """What the documents may take."""
    max_tokens: int
    """What an answer may take."""
    condition: str
    """For the record."""

    def run(self, output: Output, calls: "Calls | None", progress: Callable[[int], None] | None) -> None:
        """Answer what is missing, batch by batch."""
        begun, earlier = dict(self.generator.counts), dict(output.meta["counts"])
        trusting(output, calls, self.generator)
        for batch in batches(list(self.benchmark.queries.values())):
            todo = [query.id not in output.found for query in batch]
            if not any(todo):
                continue
            with output.booked("context", spending(None)):
                read = [self.context(query) for query in batch]
            with output.booked("generate", spending(calls)):
                completions = self.ask([_prompt(q, c, self.max_tokens) for q, c in zip(batch, read, strict=True)])
            for query, context, completion, new in zip(batch, read, completions, todo, strict=True):
                if new:
                    answer = self.answer(query, context, completion)
                    output.append(answer_line(answer), query.id, (answer.stop, bool(context.cut["characters_cut"])))
            output.meta["counts"] = counted_since(self.generator.counts, begun, earlier)
            output.sync()
            _record(output)
            if progress:
                progress(sum(todo))

    def context(self, query: Query) -> Context:
        """What a query's answer may be taken from, in what the budget and the model's window leave."""
        budget, window = self.tokens, self.generator.identity.get("window")
        if isinstance(window, int):
            rest = _prompt(query, Context((), "", 0, {}), self.max_tokens)
            left = window - self.max_tokens - self.counter.count(f"{rest.system}\n{rest.user}") - _MARGIN
            if left < 1:
                model = str(self.generator.identity.get("model", "generator"))
                what = f"max_tokens {self.max_tokens} and the question fill its window of {window} tokens"
                raise InputError(model, what, "lower max_tokens, or choose a model with a longer window")
            budget = min(budget, left)
        documents = self.benchmark.documents
        return contexts.build(self.hits[query.id], documents, self.counter.count, budget, counted=self.counter.how)

    def ask(self, prompts: list[Prompt]) -> list[Completion]:
        """One completion a prompt, each of a kind that is known."""
        completions = self.generator.generate(prompts)
        model = str(self.generator.identity.get("model", "generator"))
        if len(completions) != len(prompts):
            raise CallError(model, f"gave {len(completions)} completions for {len(prompts)} prompts", "one a prompt")
        for completion in completions:
            if completion.stop not in STOPS:
                raise CallError(model, f"says it ended by {completion.stop!r}", f"one of: {', '.join(STOPS)}")
        return completions

    def answer(self, query: Query, context: Context, completion: Completion) -> Answer:
        """An answer with all that is known of it."""
        text, stop = completion.text, completion.stop
        usage = loads(dumps(dict(completion.usage)))
        if completion.thinking:
            usage["thinking"] = completion.thinking
        return Answer(
            query.id,
            text,
            passages=context.passages,
            citations=tuple(dict.fromkeys(citation.text for citation in find(text))),
            stop=_STOPPED.get((stop, bool(text.strip())), stop),
            condition=self.condition,
            usage=usage | {"context": dict(context.cut)},
        )


def _prompt(query: Query, context: Context, max_tokens: int) -> Prompt:
    """The question, the documents, and the question again, which a model that has read much may have lost."""
    question = f"Question:\n{query.asked}"
    given = context.text or "(none)"
    return Prompt(f"{question}\n\nPassages:\n\n{given}\n\n{question}", system=prompt(), max_tokens=max_tokens)
