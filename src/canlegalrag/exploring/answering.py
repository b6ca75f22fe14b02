"""Answer a visitor's question and judge the answer, with the prompt, the context and the judging of the pipeline."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from canlegalrag import backends
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.exploring.nouns import Found
from canlegalrag.judging.assessing import assess, item_of
from canlegalrag.judging.evidence import evidence_of
from canlegalrag.pipeline import CONDITIONS, oracle
from canlegalrag.pipeline.generating import answer_one
from canlegalrag.protocols import Decomposer, Generator, Judge
from canlegalrag.types import Answer, Hit, Judged, Query

if TYPE_CHECKING:
    from canlegalrag.calls import Calls

__all__ = ["CONDITIONS", "Answering"]

_K = 10
"""Hits that an answer reads, as `canlegalrag generate` has it by default."""
_TOKENS = 24_000
"""Tokens of context: less than a run has, as a visitor waits, and somebody may pay."""
_MAX_TOKENS = 1_024
"""Tokens that an answer may have."""
_SAFE = ("offline", "google", "inference", "isaacus", "replay")
"""Providers whose models several threads may use at once; any other is asked by one at a time."""


class Answering:
    """The models that answer and judge, loaded at the first answer. Threads may share it."""

    def __init__(self, benchmark: Benchmark, generator: str, judge: str, calls: "Calls | None") -> None:
        self.benchmark, self.generator_name, self.judge_name, self.calls = benchmark, generator, judge, calls
        self._made: tuple[Generator, Judge, Decomposer] | None = None
        self._making = Lock()
        alone = {name.partition("/")[0] for name in (generator, judge)} - set(_SAFE)
        self._asking: AbstractContextManager[object] = Lock() if alone else nullcontext()

    def answer(self, found: Found, condition: str) -> tuple[Answer, Judged]:
        """As `Explorer.answer` says."""
        query, hits = found.query, self._hits(found, condition)
        benchmark = self.benchmark
        generator, judge, decomposer = self._models()
        with self._asking:
            answer = answer_one(
                benchmark, query, hits, generator, condition=condition, tokens=_TOKENS, max_tokens=_MAX_TOKENS
            )
            item = item_of(answer, benchmark.answers, benchmark.claims, evidence_of(answer, benchmark.documents))
            (judged,) = assess([item], judge, decomposer, self._purposes(query))
        return answer, judged

    def _purposes(self, query: Query) -> tuple[str, ...]:
        known = query.id in self.benchmark.answers or self.benchmark.claims.get(query.id)
        return ("accuracy", "groundedness", "coverage") if known else ("groundedness",)

    def _hits(self, found: Found, condition: str) -> list[Hit]:
        """What an answer is taken from."""
        if condition not in CONDITIONS:
            raise InputError("condition", f"{str(condition)[:40]!r} is not known", f"one of: {', '.join(CONDITIONS)}")
        if not any(c.isalnum() for c in found.query.text):
            raise InputError("question", "has no word", "write a question, and search first")
        if condition == "pipeline":
            return list(found.ranking[: min(found.k, _K)])
        if found.gold is None:
            what = "the oracle reads the gold decisions, which only the benchmark's queries have"
            raise InputError("condition", what, "choose pipeline, or a query of the benchmark")
        query: Query = found.query
        one = replace(self.benchmark, queries={query.id: query})
        return oracle(one, {query.id: found.ranking})[query.id]

    def _models(self) -> tuple[Generator, Judge, Decomposer]:
        with self._making:
            if self._made is None:
                generator = backends.generator(self.generator_name, self.calls)
                judge = backends.judge(self.judge_name, self.calls)
                self._made = generator, judge, backends.decomposer_for(self.judge_name, self.calls)
            return self._made
