"""Any chat model as a judge of claims, as one who takes answers apart, and as a sorter of claims that fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from canlegalrag.judging.choosing import Chooser, Form, Question, Talk, fenced, instructions, rows_of
from canlegalrag.judging.quotes import quoted
from canlegalrag.judging.replies import SYNONYMS, Choice, Unusable, stated
from canlegalrag.judging.sentences import spans
from canlegalrag.measures.categories import CATEGORIES
from canlegalrag.protocols import Generator
from canlegalrag.types import Claim, Failure, Task, Verdict

__all__ = ["ChatDecomposer", "ChatJudge", "ChatSorter"]

_NONE = "none"
"""What a sorter says where no category fits."""
_BEFORE, _AFTER = 40, 5
"""Sentences shown around those that are taken apart."""
_COUNTS = ("tasks", "sentences", "claims", "calls", "repairs", "repaired", "failed", "unplaced")


class ChatJudge:
    """Says whether evidence entails claims, many claims against one piece of evidence in a call."""

    def __init__(self, generator: Generator, *, per_call: int = 20) -> None:
        """Make a judge.

        Args:
            generator: is asked.
            per_call: claims in a call at most.

        Raises:
            InputError: `per_call` isn't from 1 to 200.
        """
        labels = {word: label for label, words in SYNONYMS.items() for word in words.split()}
        form = Form(instructions("verdicts.md"), "verdicts", "label", ("quote", "reason"), labels)
        self._chooser = Chooser(generator, form, per_call=per_call, tokens=150)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The generator's, with the hash of prompt and schema (`prompt`) and claims in a call (`per_call`)."""
        return self._chooser.talk.identity

    @property
    def counts(self) -> Mapping[str, int]:
        """`tasks`; `calls`, of which second tries (`repairs`), and the claims that these labelled (`repaired`); claims
        without a label by why (`failed_cut` …, of `replies.FAILURES`); `misquoted`: quotes that the evidence doesn't
        hold, left out; `truncated`: prompts that the generator cut.
        """
        return {"misquoted": 0, **self._chooser.talk.counts}

    def judge(self, tasks: Sequence[Task]) -> list[list[Verdict]]:
        """Judge each task: one verdict a claim, in the order of its claims, `label` None where there is none.

        Blank evidence isn't judged: whether nothing was found, or a text was lost, isn't for a judge to say.

        Raises:
            CallError: the generator has no usable reply.
            BudgetSpent: the budget doesn't hold the next call.
        """
        counted, per_call = self._chooser.talk.counted, self._chooser.talk.per_call
        counted["tasks"] += len(tasks)
        questions, owners = [], []
        for n, task in enumerate(tasks):
            if not task.evidence.strip():
                counted["failed_blank"] += len(task.claims)
                continue
            for start in range(0, len(task.claims), per_call):
                shown = [{"claim": claim.text} for claim in task.claims[start : start + per_call]]
                questions.append(Question(fenced("evidence", task.evidence), shown))
                owners.append(n)
        found: list[list[Choice]] = [[] for _ in tasks]
        for n, chosen in zip(owners, self._chooser.choose(questions), strict=True):
            found[n] += chosen
        return [self._verdicts(task, chosen) for task, chosen in zip(tasks, found, strict=True)]

    def _verdicts(self, task: Task, chosen: Sequence[Choice]) -> list[Verdict]:
        talk = self._chooser.talk
        if not chosen:
            chosen = [Choice(None, "blank", "the evidence is blank")] * len(task.claims)
        verdicts = []
        for claim, choice in zip(task.claims, chosen, strict=True):
            quote = quoted(choice.quote, task.evidence)
            talk.counted["misquoted"] += bool(choice.quote) and not quote
            verdicts.append(
                Verdict(
                    claim,
                    task.against,
                    choice.label,
                    reason=choice.reason,
                    quote=quote,
                    judge=talk.model,
                    prompt=talk.prompt,
                    cost=choice.cost,
                )
            )
        return verdicts


class ChatSorter:
    """Says why claims fail, those of one question and evidence in a call."""

    def __init__(self, generator: Generator, *, per_call: int = 20) -> None:
        """Make a sorter; arguments and errors are those of `ChatJudge`."""
        listed = "\n".join(f'- "{key}": {category.title}. {category.meaning}.' for key, category in CATEGORIES.items())
        labels = {key.replace("-", "_"): key for key in (*CATEGORIES, _NONE)}
        prompt = instructions("categories.md").replace("{categories}", listed)
        form = Form(prompt, "categories", "category", ("reason",), labels)
        self._chooser = Chooser(generator, form, per_call=per_call, tokens=80)

    @property
    def identity(self) -> Mapping[str, Any]:
        """As a judge's; the prompt names the categories, so that its hash changes with them."""
        return self._chooser.talk.identity

    @property
    def counts(self) -> Mapping[str, int]:
        """As a judge's, without `misquoted`; a task is a failure, and `none` counts those that fit no category."""
        return {"none": 0, **self._chooser.talk.counts}

    def sort(self, failures: Sequence[Failure]) -> list[tuple[str, str]]:
        """Sort each failure: the key of its category, or "" where none fits or there is no usable reply; the reason.

        Raises:
            CallError: the generator has no usable reply.
            BudgetSpent: the budget doesn't hold the next call.
        """
        counted, per_call = self._chooser.talk.counted, self._chooser.talk.per_call
        counted["tasks"] += len(failures)
        groups: dict[tuple[str, str], list[int]] = {}
        for n, failure in enumerate(failures):
            groups.setdefault((failure.question, failure.evidence), []).append(n)
        questions, owners = [], []
        for (question, evidence), members in groups.items():
            head = f"{fenced('question', question)}\n\n{fenced('evidence', evidence)}"
            for start in range(0, len(members), per_call):
                part = members[start : start + per_call]
                verdicts = [failures[n].verdict for n in part]
                shown = [{"claim": v.claim.text, "verdict": v.label or "", "because": v.reason} for v in verdicts]
                questions.append(Question(head, shown))
                owners.append(part)
        found: dict[int, Choice] = {}
        for part, chosen in zip(owners, self._chooser.choose(questions), strict=True):
            found.update(zip(part, chosen, strict=True))
        counted["none"] += sum(choice.label == _NONE for choice in found.values())
        sorted_ = [found[n] for n in range(len(failures))]
        return [("" if one.label in (None, _NONE) else str(one.label), one.reason) for one in sorted_]


@dataclass(frozen=True, slots=True)
class _Part:
    """Sentences of one text that are taken apart in one call."""

    owner: int
    """Which text."""
    lines: Sequence[str]
    """All sentences of the text."""
    first: int
    """The first sentence asked for, from 0."""
    last: int
    """One past the last."""

    def message(self, complaint: str) -> str:
        """What is sent: the sentences, with some before and after so that what they refer to is known."""
        low, high = max(0, self.first - _BEFORE), min(len(self.lines), self.last + _AFTER)
        shown = "\n".join(f"[{n}] {self.lines[n - 1]}" for n in range(low + 1, high + 1))
        which = f"sentences {self.first + 1} to {self.last}" if self.last - self.first > 1 else f"sentence {self.last}"
        return f"{fenced('text', shown)}\n\nTake apart {which}.{complaint}"

    def tokens(self) -> int:
        """That the reply may have: claims repeat what their sentences share."""
        asked = self.lines[self.first : self.last]
        return 300 + 40 * len(asked) + sum(map(len, asked)) // 2


class ChatDecomposer:
    """Takes texts apart into atomic claims.

    A text counts only as a whole: claims of half an answer would move every share of them. So a reply that breaks off,
    or holds anything that is no claim, is asked for once more (as `Chooser` does it), and then the text isn't taken
    apart.
    """

    def __init__(self, generator: Generator, *, per_call: int = 40) -> None:
        """Make a decomposer.

        Args:
            generator: is asked.
            per_call: sentences in a call at most.

        Raises:
            InputError: `per_call` isn't from 1 to 200.
        """
        schema = rows_of("claims", {"sentence": {"type": "integer"}, "claim": {"type": "string"}})
        self._talk = Talk(generator, instructions("claims.md"), schema, per_call)
        self._talk.counted.update(dict.fromkeys(_COUNTS, 0))

    @property
    def identity(self) -> Mapping[str, Any]:
        """The generator's, with the hash of prompt and schema (`prompt`) and sentences in a call (`per_call`)."""
        return self._talk.identity

    @property
    def counts(self) -> Mapping[str, int]:
        """`tasks` (texts), `sentences`, `claims`; `calls`, of which second tries (`repairs`), and those that helped
        (`repaired`); `failed` texts; claims `unplaced`, whose sentence isn't known; `truncated` prompts.
        """
        return self._talk.counts

    def decompose(self, texts: Sequence[tuple[str, str, str]]) -> list[list[Claim] | str]:
        """Take each text apart: its claims, or why it couldn't be done.

        Args:
            texts: query id, side (`answer` or `reference`), text.

        Raises:
            CallError: the generator has no usable reply.
            BudgetSpent: the budget doesn't hold the next call.
        """
        counted = self._talk.counted
        places = [spans(text) for _, _, text in texts]
        parts: list[_Part] = []
        for n, ((_, _, text), found) in enumerate(zip(texts, places, strict=True)):
            lines = [" ".join(text[a:b].split()) for a, b in found]
            step = self._talk.per_call
            parts += [_Part(n, lines, low, min(low + step, len(lines))) for low in range(0, len(lines), step)]
        counted.update(tasks=len(texts), sentences=sum(map(len, places)))
        said: list[list[list[tuple[int | None, str]] | Unusable]] = [[] for _ in texts]
        for part, one in zip(parts, self._said(parts), strict=True):
            said[part.owner].append(one)
        results: list[list[Claim] | str] = []
        for (query_id, side, _), found, own in zip(texts, places, said, strict=True):
            fault = next((str(one) for one in own if isinstance(one, Unusable)), "")
            rows = [row for one in own if not isinstance(one, Unusable) for row in one]
            counted.update(failed=bool(fault), claims=0 if fault else len(rows))
            results.append(fault or [_claim(query_id, side, i, row, found) for i, row in enumerate(rows)])
        return results

    def _said(self, parts: Sequence[_Part]) -> "list[list[tuple[int | None, str]] | Unusable]":
        """What was said of each part, after one repair."""
        counted = self._talk.counted
        replies = self._talk.complete([(part.message(""), part.tokens()) for part in parts])
        said = [stated(one, part.first, part.last) for part, one in zip(parts, replies, strict=True)]
        again = [n for n, one in enumerate(said) if isinstance(one, Unusable) and replies[n].stop != "refusal"]
        sent = [
            (parts[n].message(f"\n\nAn earlier reply was of no use: {said[n]}."), 2 * parts[n].tokens()) for n in again
        ]
        for n, reply in zip(again, self._talk.complete(sent), strict=True):
            part = parts[n]
            # A number out of range can be borne where the whole text was asked for: only the place is lost.
            said[n] = stated(reply, part.first, part.last, unplaced=part.last - part.first == len(part.lines))
            counted["repaired"] += not isinstance(said[n], Unusable)
        counted["repairs"] += len(again)
        counted["unplaced"] += sum(at is None for one in said if not isinstance(one, Unusable) for at, _ in one)
        return said


def _claim(
    query_id: str, side: str, index: int, row: tuple[int | None, str], places: Sequence[tuple[int, int]]
) -> Claim:
    at, text = row
    start, end = (None, None) if at is None else places[at]
    return Claim(query_id, side, index, text, start, end)
