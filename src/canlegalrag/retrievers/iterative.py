"""Iter-RetGen: an answer out of what was found is added to the query, which is then searched again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from canlegalrag.errors import CallError, InputError
from canlegalrag.protocols import Generator, Retriever
from canlegalrag.retrievers._passages import check_search, text_of
from canlegalrag.types import Document, Hit, Prompt

__all__ = ["Iterative", "prompt"]

_COUNTS = ("queries", "answers", "length", "empty", "refusal", "cut")


def prompt() -> str:
    """The standing instructions that the generator gets, from `prompts/iterative.md`; part of what a run depends on."""
    return (files("canlegalrag") / "prompts" / "iterative.md").read_text(encoding="utf-8").strip()


@dataclass(frozen=True, slots=True)
class Iterative:
    r"""Search, answer, and search again for the question with its answer; the last round's ranking comes back.

    The first round searches the query. After each round but the last the generator answers the original query from
    what was found, and the next round searches `query + "\n" + answer`. Each round asks the inner retriever as it is:
    one that reranks does so in every round, reading the same text that it searched with (the published code of
    CanLegalRAGBench searches without its reranker here). A completion that is empty or refused leaves the text as it
    was; one that was cut off for length is used.

    Source: Shao et al., Enhancing Retrieval-Augmented Large Language Models with Iterative Retrieval-Generation Synergy
    (Findings of EMNLP 2023), section 3.
    """

    inner: Retriever
    """Searches in every round."""
    generator: Generator
    """Answers between the rounds."""
    documents: Mapping[str, Document]
    """Where the text of what was found is read."""
    rounds: int = 3
    """Rounds of search, from 1, which only searches."""
    context: int = 25
    """How many hits the generator reads at most; the published code gives it all k."""
    max_chars: int = 100_000
    """How many characters of them; the hit that goes beyond is cut there, and the rest is left out."""
    max_tokens: int = 1024
    """Tokens that an answer may have."""
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0), compare=False)
    """`queries` searched; `answers` used, of which cut off for `length`; `empty` ones and refusals (`refusal`), which
    left a query as it was; prompts whose passages were `cut` for their length."""

    def __post_init__(self) -> None:
        for name in ("rounds", "context", "max_chars", "max_tokens"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise InputError(name, f"{value!r} is out of range", "a whole number, at least 1")

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank for each query as the inner retriever does in the last round; all queries go together in each.

        Raises:
            InputError: `queries` is one text, `k` is below 1, or the documents lack a hit.
            CallError: the generator gave another number of completions than prompts.
        """
        k = check_search(queries, k)
        self.counts["queries"] += len(queries)
        asked = list(queries)
        found = self.inner.search(asked, k)
        for _ in range(self.rounds - 1):
            if not asked:
                break
            asked = self._augmented(queries, asked, found)
            found = self.inner.search(asked, k)
        return found

    def _augmented(self, queries: Sequence[str], asked: list[str], found: Sequence[Sequence[Hit]]) -> list[str]:
        """What the next round searches for."""
        prompts = [self._prompt(query, hits) for query, hits in zip(queries, found, strict=True)]
        completions = self.generator.generate(prompts)
        if len(completions) != len(prompts):
            model = str(self.generator.identity.get("model", "generator"))
            raise CallError(model, f"gave {len(completions)} completions for {len(prompts)} prompts", "one a prompt")
        texts = []
        for query, before, completion in zip(queries, asked, completions, strict=True):
            answer = completion.text.strip()
            if completion.stop == "refusal" or completion.stop == "empty" or not answer:
                self.counts["refusal" if completion.stop == "refusal" else "empty"] += 1
                texts.append(before)
                continue
            self.counts["answers"] += 1
            self.counts["length"] += completion.stop == "length"
            texts.append(f"{query}\n{answer}")
        return texts

    def _prompt(self, query: str, hits: Sequence[Hit]) -> Prompt:
        """The question, and the passages under their documents' titles, best first."""
        parts: list[str] = []
        left = self.max_chars
        for n, hit in enumerate(hits[: self.context], 1):
            text = text_of(hit, self.documents)
            document = self.documents.get(hit.doc_id)
            title = document.title if document is not None and document.title else hit.doc_id
            parts.append(f"[{n}] {title}\n{text[:left].strip()}")
            left -= len(text)
            if left < 0:
                self.counts["cut"] += 1
            if left <= 0:
                break
        passages = "\n\n".join(parts) or "(none)"
        user = f"Question:\n{query}\n\nPassages:\n\n{passages}\n\nQuestion again:\n{query}"
        return Prompt(user, system=prompt(), max_tokens=self.max_tokens)
