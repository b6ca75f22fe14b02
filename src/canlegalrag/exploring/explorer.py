"""The explorer of one benchmark: searches, answers and walks through variations, for many visitors at once."""

import time
from functools import cached_property
from pathlib import Path
from threading import Lock

from canlegalrag.benchmark import Benchmark
from canlegalrag.benchmark.checking import PROVINCES
from canlegalrag.errors import InputError
from canlegalrag.exploring.answering import CONDITIONS, Answering
from canlegalrag.exploring.comparing import rows_of_block
from canlegalrag.exploring.matching import best
from canlegalrag.exploring.nouns import Found, Seen
from canlegalrag.exploring.retrieving import Retrievers
from canlegalrag.measures import retrieval
from canlegalrag.measures.citations import Registry
from canlegalrag.measures.names import MEASURES, parse_all
from canlegalrag.near import Near
from canlegalrag.pipeline.retrieving import search
from canlegalrag.recipes import Models
from canlegalrag.submission import number
from canlegalrag.submission.scoring import counted
from canlegalrag.types import Answer, Document, Hit, Judged, Passage, Query

__all__ = ["CONDITIONS", "DEPTH", "LONGEST", "Explorer"]

DEPTH = 100
"""Depth of every search, as `canlegalrag retrieve` has it by default: a ranking doesn't depend on how much of it one
sees, and its scores are those of a run."""
LONGEST = 2_000
"""Characters of one's own question that are searched for."""
_MEASURES = "ndcg@10 recall@10 precision@10 hit@10 mrr paper_ndcg@10 paper_recall@10 paper_precision@10 paper_mrr"
_YOURS = "your-question"


class Explorer:
    """Searches and answers over one benchmark. Threads may share it."""

    def __init__(
        self,
        benchmark: Benchmark,
        *,
        cache: Path | None = None,
        generator: str = "offline/extractive",
        judge: str = "offline/lexical",
        models: Models | None = None,
    ) -> None:
        """Know the benchmark; nothing is indexed or loaded yet (see `prepare`).

        Args:
            benchmark: queries and documents.
            cache: folder of indexes; `recipes.cache_folder()` by default.
            generator: `provider/model` that answers.
            judge: `provider/model` that judges answers.
            models: where models are loaded once, with the paid calls and their budget.
        """
        self.benchmark = benchmark
        models = models or Models()
        self._retrievers = Retrievers(benchmark, cache, models)
        self._answering = Answering(benchmark, generator, judge, models.calls)
        self._lock = Lock()
        self.yours = _YOURS
        while self.yours in benchmark.queries or self.yours in benchmark.answers:
            self.yours += "_"

    @property
    def retrievers(self) -> list[str]:
        """Names of the recipes that run here, those that most people want first."""
        return list(self._retrievers.recipes)

    @property
    def generator(self) -> str:
        """`provider/model` that answers."""
        return self._answering.generator_name

    @cached_property
    def provinces(self) -> tuple[str, ...]:
        """What a question may be asked from."""
        return tuple(dict.fromkeys([*PROVINCES, *(q.province for q in self.benchmark.queries.values() if q.province)]))

    @cached_property
    def voices(self) -> tuple[str, ...]:
        """Who asks the benchmark's queries."""
        return tuple(dict.fromkeys(q.persona for q in self.benchmark.queries.values() if q.persona))

    def questions(self, province: str = "", voice: str = "") -> list[Query]:
        """The benchmark's queries from a province and in a voice; empty for all."""
        queries = self.benchmark.queries.values()
        return [q for q in queries if province in ("", q.province) and voice in ("", q.persona)]

    @property
    def registry(self) -> Registry:
        """The citations of the corpus, read once."""
        with self._lock:
            return self._registry

    @cached_property
    def _registry(self) -> Registry:
        return Registry.build(self.benchmark.documents)

    def document(self, doc_id: str) -> Document:
        """A decision by its id.

        Raises:
            InputError: there is none.
        """
        document = self.benchmark.documents.get(doc_id) if isinstance(doc_id, str) else None
        if document is None:
            hint = Near(self.benchmark.documents)(str(doc_id)[:200]) or "choose one of the results"
            raise InputError("decision", f"{str(doc_id)[:80]!r} is not in the corpus", hint)
        return document

    def prepare(self, *retrievers: str) -> None:
        """Make retrievers, and what every page needs, ready before the first visitor; only `bm25` by default."""
        for name in retrievers or ("bm25",):
            self._retrievers.get(name)
        self.registry  # noqa: B018

    def search(
        self, text: str, retriever: str = "bm25", k: int = 10, *, province: str = "", query_id: str | None = None
    ) -> Found:
        """Rank the decisions for a question.

        Args:
            text: the question; empty with a `query_id` for the benchmark's own text and province.
            retriever: one of `retrievers`.
            k: decisions to show, 1 to `DEPTH`.
            province: in words, put before the question as the benchmark does.
            query_id: the benchmark's query that this is. Where text or province aren't its own any more, the question
                is the visitor's: it has no gold and no scores, and a note says so.

        Returns:
            What was found; nothing, and why, for a question without a word.

        Raises:
            InputError: an unknown retriever, province or query, a text that is none, or `k` out of range.
            CallError: a model behind a network fails.
        """
        k = _depth(k)
        query, known, notes = self._query(text, province, query_id)
        composed = self._retrievers.get(retriever)
        ranking: list[Hit] = []
        begun = time.perf_counter()
        if any(c.isalnum() for c in query.text):
            (ranking,) = search(composed, [query], DEPTH)
            notes += [] if ranking else ["No decision shares a word with the question."]
        else:
            notes.append("There is nothing to search for: write a question in words.")
        seconds = time.perf_counter() - begun
        gold = self._gold(query, ranking) if known else None
        hits = self._seen(query, retriever, ranking, k, gold)
        if len({h.score for h in hits}) < len(hits):
            notes.append("Some decisions have equal scores: measures break such ties by id, the list as it was found.")
        scores = self._scores(query.id, ranking) if known else None
        return Found(query, retriever, k, hits, tuple(ranking), gold, scores, seconds, tuple(notes))

    def _query(self, text: str, province: str, query_id: str | None) -> tuple[Query, bool, list[str]]:
        """What is searched for, whether it is the benchmark's, and what to say of it."""
        if not isinstance(text, str) or not isinstance(province, str):
            raise InputError("question", "is no text", "write it in words")
        if province and province not in self.provinces:
            hint = Near(dict.fromkeys(self.provinces))(province[:200]) or "choose one of the list, or none"
            raise InputError("province", f"{province[:80]!r} is not known", hint)
        notes: list[str] = []
        if query_id:
            query = self.query(query_id)
            if not text or (text.strip(), province) == (query.text.strip(), query.province):
                return query, True, notes
            notes.append(f"The question is no longer {query_id} of the benchmark, so it has neither gold nor scores.")
        text = text.encode("utf-8", "replace").decode()  # half a surrogate pair is no text
        if len(text) > LONGEST:
            notes.append(f"Only the first {LONGEST:,} of {len(text):,} characters were searched for.")
        return Query(self.yours, text[:LONGEST], province=province), False, notes

    def query(self, query_id: str) -> Query:
        """A query of the benchmark.

        Raises:
            InputError: there is none of that id.
        """
        query = self.benchmark.queries.get(query_id) if isinstance(query_id, str) else None
        if query is None:
            hint = Near(self.benchmark.queries)(str(query_id)[:200])
            raise InputError(
                "query", f"{str(query_id)[:80]!r} is not in the benchmark", hint or "choose one of the list"
            )
        return query

    def _gold(self, query: Query, ranking: list[Hit]) -> dict[str, int | None]:
        ranks = {doc: n for n, doc in enumerate(dict.fromkeys(hit.doc_id for hit in ranking), 1)}
        judged = self.benchmark.qrels.get(query.id, {})
        return {doc: ranks.get(doc) for doc, grade in judged.items() if grade > 0 and doc not in query.excluded}

    def _scores(self, query_id: str, ranking: list[Hit]) -> dict[str, float | None]:
        """Scores of one query, as those of a run of this depth."""
        qrels = {query_id: self.benchmark.qrels.get(query_id, {})}
        values: dict[str, dict[str, float]] = {}
        wanted = parse_all(_MEASURES)
        for family in dict.fromkeys(MEASURES[m.name].family for m in wanted):
            run = counted(self.benchmark, {query_id: ranking}, family, DEPTH)
            values |= retrieval.per_query(qrels, run, [m for m in wanted if MEASURES[m.name].family == family])
        return {str(measure): number(values[str(measure)][query_id]) for measure in wanted}

    def _seen(
        self, query: Query, retriever: str, ranking: list[Hit], k: int, gold: dict[str, int | None] | None
    ) -> tuple[Seen, ...]:
        """The first k decisions, each with what matched."""
        tokenizer = self._retrievers.tokenizer(retriever)
        weights = self._retrievers.weights(query.asked, tokenizer) if ranking else {}
        of: dict[str, list[Hit]] = {}
        for hit in ranking:
            of.setdefault(hit.doc_id, []).append(hit)
        top = [(self.benchmark.documents[doc_id], hits) for doc_id, hits in list(of.items())[:k]]
        passages = [tuple(hit.passage for hit in hits if hit.passage is not None) for _, hits in top]
        stretches = [
            (document.text, found[0].start, found[0].end) if found else (document.text, 0, len(document.text))
            for (document, _), found in zip(top, passages, strict=True)
        ]
        excerpts = best(stretches, weights, tokenizer)
        seen = []
        for rank, ((document, hits), found, (excerpt, matched)) in enumerate(
            zip(top, passages, excerpts, strict=True), 1
        ):
            nearest = Passage(document.id, 0, excerpt.start, excerpt.end, excerpt.text)
            is_gold = document.id in gold if gold is not None else None
            passage = found[0] if found else nearest
            seen.append(Seen(rank, document, hits[0].score, passage, found, matched, excerpt, is_gold))
        return tuple(seen)

    def answer(self, found: Found, condition: str = "pipeline") -> tuple[Answer, Judged]:
        """Answer a question from what was found, or from its gold (`oracle`), and judge the answer.

        An answer to one's own question has no reference: only its groundedness is judged.

        Raises:
            InputError: an unknown condition, the oracle for one's own question, or a question without a word.
            CallError: a model behind a network fails.
            BudgetSpent: the answer would cost more than is left.
        """
        return self._answering.answer(found, condition)

    def block(self, query_id: str, retriever: str = "bm25", k: int = 10) -> tuple[list[str], list[list[str]]]:
        """The variations of a query's block: what changed, and what that does to the ranking, one a row.

        Returns:
            Heads and rows for a table.
        """
        block = self.benchmark.blocks[self.query(query_id).id]
        ids = [i for i, b in self.benchmark.blocks.items() if b == block]
        return rows_of_block([self.search("", retriever, k, query_id=i) for i in ids], k)


def _depth(k: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int | float) or not 1 <= k <= DEPTH or k != int(k):
        raise InputError("k", f"{k!r:.40} decisions can't be shown", f"a whole number from 1 to {DEPTH}")
    return int(k)
