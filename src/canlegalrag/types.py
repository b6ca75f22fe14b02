"""The nouns: what the benchmark, the runs and the scores are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "Answer",
    "Claim",
    "Completion",
    "Document",
    "Failure",
    "Hit",
    "Judged",
    "LabelledPair",
    "Passage",
    "Problem",
    "Prompt",
    "Qrels",
    "Query",
    "Run",
    "Scores",
    "Snippet",
    "Task",
    "Verdict",
]


@dataclass(frozen=True, slots=True)
class Document:
    """A decision or an excerpt of legislation, in full."""

    id: str
    """Opaque, best without spaces (`2019-scc-65`): a TREC run can't carry those."""
    title: str
    """Style of cause, or the title of the statute."""
    text: str
    """The whole text; every offset in the project counts its characters (Unicode code points)."""
    court: str = ""
    """Code of the court or tribunal (`BCSC`); `STATUTE` for legislation; empty where unknown."""
    year: int | None = None
    """Year of the decision or of the enactment."""
    jurisdiction: str = ""
    """Two letters of the province or territory (`BC`), `CA` for federal; empty where unknown."""
    language: str = ""
    """`en` or `fr`; empty where unknown."""
    url: str = ""
    """Where the text was published."""
    licence: str = ""
    """Under which the text may be used."""
    citations: tuple[str, ...] = ()
    """Citations of the decision as written, the preferred one first."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question, with its place in the benchmark's design."""

    id: str
    """Opaque, best without spaces."""
    text: str
    """The question as the person wrote it, without the province."""
    province: str = ""
    """Province in words (`British Columbia`); empty where there is none."""
    persona: str = ""
    """Who asks: `lay` or `expert`."""
    block: str = ""
    """Queries that are variations of one seed share a block; intervals are resampled over blocks."""
    variant: str = ""
    """What the variation does to the seed (`seed`, `other-party`, `next-steps`, `changed-fact` …)."""
    same_facts: bool | None = None
    """Whether the facts are those of the seed; None where the benchmark doesn't say."""
    dataset: str = ""
    """Where a benchmark joins several data sets, the one that it is from."""
    excluded: tuple[str, ...] = ()
    """Documents that don't count for it, such as the one it was taken from: they leave the ranking before scoring."""

    @property
    def asked(self) -> str:
        """The text given to a system: with the province before it, as the paper asks it.

        >>> Query("q1", "Can I be evicted?", province="Manitoba").asked
        'I am in Manitoba. Can I be evicted?'
        """
        return f"I am in {self.province}. {self.text}" if self.province else self.text


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document."""

    doc_id: str
    """The document that it was cut from."""
    index: int
    """Position among the passages of that document, from 0."""
    start: int
    """First character."""
    end: int
    """One past the last character."""
    text: str | None = None
    """`document.text[start:end]`, always; None only where a run was read without its documents."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of a ranking."""

    doc_id: str
    """The document found."""
    score: float
    """Higher is better; comparable within one query of one run only."""
    passage: Passage | None = None
    """The passage that earned the score; None where whole documents were ranked."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A system's answer to a query, or the benchmark's reference answer."""

    query_id: str
    """The query that it answers."""
    text: str
    """The whole answer."""
    parts: tuple[str, ...] = ()
    """Where it was written in parts: opening, supporting arguments, conclusion; together they are the text."""
    passages: tuple[Passage, ...] = ()
    """What the system had before it."""
    citations: tuple[str, ...] = ()
    """Citations in the answer, as written."""
    stop: str = "stop"
    """Why it ended: as `Completion.stop`."""
    condition: str = ""
    """Where what it had came from: `pipeline` (a run), `oracle` (the gold documents alone); empty where nobody says."""
    usage: Mapping[str, Any] = field(default_factory=dict)
    """Tokens, cost, seconds, thinking, and what of the context was cut (`context`)."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """Characters of a gold document that answer a query."""

    query_id: str
    """The query answered."""
    doc_id: str
    """The gold document."""
    start: int
    """First character."""
    end: int
    """One past the last character."""
    text: str
    """`document.text[start:end]`, always."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent to a generator."""

    user: str
    """The message."""
    system: str = ""
    """Standing instructions; empty for none."""
    schema: Mapping[str, Any] | None = None
    """JSON schema that the reply must follow; None for text."""
    max_tokens: int = 1024
    """Tokens that the reply may have."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a generator replied."""

    text: str
    """The reply, without a thinking block; may be empty."""
    stop: str = "stop"
    """Why it ended: `stop`, `length` (cut off), `refusal` (declined or blocked), `empty` (nothing was said)."""
    thinking: str = ""
    """The thinking block that stood before the reply, where there was one."""
    usage: Mapping[str, Any] = field(default_factory=dict)
    """`input_tokens`, `output_tokens`, `cost` in US dollars, `seconds`, `cached`; what is unknown is absent."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One atomic statement of an answer."""

    query_id: str
    """The query whose answer it is from."""
    side: str
    """`answer` or `reference`."""
    index: int
    """Position among the claims of that answer, from 0."""
    text: str
    """The statement, which stands alone."""
    start: int | None = None
    """First character, in the answer, of the sentence that it came from; None where that isn't known."""
    end: int | None = None
    """One past the last character of that sentence."""


@dataclass(frozen=True, slots=True)
class Task:
    """Claims to be judged against one piece of evidence."""

    claims: tuple[Claim, ...]
    """What is judged."""
    against: str
    """Name of the evidence, as in `Verdict.against`."""
    evidence: str
    """Its text, or a window of it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One label that a judge gave to a claim against some evidence."""

    claim: Claim
    """What was judged."""
    against: str
    """Name of the evidence: `reference`, `answer`, a document's id, or `id:start-end` for a passage of it."""
    label: str | None
    """`supported`, `contradicted`, `unsupported`; None when the judge failed: unscored, never zero."""
    probability: float | None = None
    """Of `supported`, where the judge gives one."""
    reason: str = ""
    """The judge's reason, or why there is no label."""
    quote: str = ""
    """What of the evidence decided, where the judge says so."""
    judge: str = ""
    """`provider/model` of the judge, or `human`."""
    prompt: str = ""
    """Hash of the judge's prompt; empty for a judge without one."""
    cost: float | None = 0.0
    """US dollars that it cost; None where that isn't known."""
    category: str = ""
    """Why an unsupported claim fails (`measures.claims.CATEGORIES`); empty where nobody sorted it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A claim that the evidence doesn't support, to be sorted by why."""

    verdict: Verdict
    """What was said of it."""
    question: str
    """What was asked."""
    evidence: str
    """What of the evidence is nearest to it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer with its claims and what a judge said of them: one line of `verdicts.jsonl`."""

    query_id: str
    """The query answered."""
    asked: tuple[str, ...]
    """What was judged: of `accuracy`, `groundedness`, `coverage`, `reference_groundedness`."""
    claims: tuple[Claim, ...] | None
    """Claims of the answer; None where it couldn't be taken apart: unscored, not empty."""
    reference: tuple[Claim, ...] | None
    """Claims of the reference answer; None where there is none, or it couldn't be taken apart."""
    verdicts: tuple[Verdict, ...] = ()
    """One a claim and piece of evidence; a piece may be missing once another supports the claim."""
    stop: str = "stop"
    """Why the answer ended: as `Completion.stop`."""
    abstained: bool = False
    """Whether it declines to answer: a refusal, nothing at all, or a text that only says that it can't."""
    condition: str = ""
    """As `Answer.condition`."""
    chars: int = 0
    """Characters of the answer."""
    reference_chars: int | None = None
    """Characters of the reference answer; None where there is none."""
    faults: tuple[str, ...] = ()
    """Why something is unscored, where it isn't a verdict that says so."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A claim and evidence with the label that people gave: what judges are measured on."""

    id: str
    """Opaque."""
    claim: str
    """The statement."""
    doc_id: str
    """The document that the evidence is from."""
    start: int
    """First character of the evidence."""
    end: int
    """One past the last character."""
    evidence: str
    """`document.text[start:end]`, always."""
    label: str
    """`supported`, `contradicted` or `unsupported`."""
    kind: str = ""
    """What makes it hard: `plain`, `paraphrase`, `negation`, `number`, `role`, `modality`, `other-case` …"""
    note: str = ""
    """Why it has that label."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What a run earned; every mapping is keyed by the measure's name (`ndcg@10`)."""

    values: Mapping[str, float]
    """Means over the queries that count; NaN where none does."""
    n: Mapping[str, int]
    """How many queries the mean runs over."""
    skipped: Mapping[str, int]
    """How many queries had no defined value."""
    interval: Mapping[str, tuple[float, float]]
    """95 % bootstrap interval of the mean; NaN where it is undefined."""
    per_query: Mapping[str, Mapping[str, float]] = field(repr=False)
    """Value of each query; NaN where the measure is undefined."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault found in data, said so that its owner can mend it."""

    where: str
    """File, line and field, or the record's id."""
    what: str
    """What is wrong."""
    fix: str = ""
    """The next step."""
    fatal: bool = True
    """Whether the data can't be used until it is mended."""

    def __str__(self) -> str:
        """`where: what (fix)`."""
        return f"{self.where}: {self.what}" + (f" ({self.fix})" if self.fix else "")


Qrels = Mapping[str, Mapping[str, int]]
"""query id -> document id -> grade; a grade above 0 is relevant, 0 was judged and is not."""

Run = Mapping[str, Sequence[Hit]]
"""query id -> hits, best first."""
