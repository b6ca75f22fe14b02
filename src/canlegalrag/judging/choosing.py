"""Asking a chat model to label many items about one text in a call, matched by id, with one repair."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from canlegalrag.errors import CallError, InputError
from canlegalrag.files import dumps
from canlegalrag.judging.replies import FAILURES, Choice, choices
from canlegalrag.protocols import Generator
from canlegalrag.types import Completion, Prompt

__all__ = ["Chooser", "Form", "Question", "Talk", "fenced", "instructions", "rows_of"]


@dataclass(frozen=True, slots=True)
class Form:
    """What is asked for, and in which form."""

    prompt: str
    """Standing instructions."""
    name: str
    """Of the list in the reply."""
    field: str
    """Of a row, where the label stands."""
    texts: tuple[str, ...]
    """Other fields of a row, each a text; they come before the label, so that it follows from them."""
    labels: Mapping[str, str]
    """What a model may say, in lower case with `_` between words, to the label that is meant."""

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the reply."""
        row: dict[str, Any] = {name: {"type": "string"} for name in ("id", *self.texts)}
        row[self.field] = {"type": "string", "enum": list(dict.fromkeys(self.labels.values()))}
        return rows_of(self.name, row)


@dataclass(frozen=True, slots=True)
class Question:
    """Items about one text: one call."""

    head: str
    """The text, as the message shows it."""
    items: Sequence[Mapping[str, str]]
    """What is shown of each item, besides its id; `claim` is the item itself."""


def rows_of(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of an object that holds one list of objects; strict servers want each field and no other."""
    item = {"type": "object", "properties": dict(row), "required": list(row), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {name: {"type": "array", "items": item}},
        "required": [name],
        "additionalProperties": False,
    }


def fenced(kind: str, text: str) -> str:
    """A text between two lines that it can't hold itself: they carry its hash.

    >>> print(fenced("evidence", "The appeal is dismissed."))
    <evidence d612e428>
    The appeal is dismissed.
    </evidence d612e428>
    """
    mark = f"{kind} {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return f"<{mark}>\n{text}\n</{mark}>"


def instructions(file: str) -> str:
    """Standing instructions, from `prompts/`."""
    return (files("canlegalrag") / "prompts" / file).read_text(encoding="utf-8").strip()


class Talk:
    """A generator with standing instructions and a schema; what it depends on, and what it was asked."""

    def __init__(self, generator: Generator, prompt: str, schema: Mapping[str, Any], per_call: int) -> None:
        if type(per_call) is not int or not 1 <= per_call <= 200:
            raise InputError("per_call", f"{per_call!r} is out of range", "a whole number from 1 to 200")
        self._generator, self._system, self._schema = generator, prompt, dict(schema)
        self.per_call = per_call
        self.prompt = hashlib.sha256(f"{prompt}\n{dumps(self._schema)}".encode()).hexdigest()[:12]
        self.model = str(generator.identity.get("model", ""))
        self.counted: Counter[str] = Counter()

    @property
    def identity(self) -> Mapping[str, Any]:
        """The generator's, with the hash of the prompt and the schema, and how much goes into a call."""
        return {**self._generator.identity, "prompt": self.prompt, "per_call": self.per_call}

    @property
    def counts(self) -> Mapping[str, int]:
        """What was counted so far, and the prompts that the generator had to cut."""
        return {**self.counted, "truncated": self._generator.counts.get("truncated", 0)}

    def complete(self, asked: Sequence[tuple[str, int]]) -> list[Completion]:
        """Send messages, each with the tokens that its reply may have, all at once, so that calls overlap.

        Raises:
            CallError: the generator has no usable reply, or another number of them.
            BudgetSpent: the budget doesn't hold the next call.
        """
        if not asked:
            return []
        prompts = [Prompt(user, self._system, self._schema, most) for user, most in asked]
        completions = self._generator.generate(prompts)
        if len(completions) != len(prompts):
            what = f"gave {len(completions)} completions for {len(prompts)} prompts"
            raise CallError(self.model, what, "one a prompt")
        self.counted["calls"] += len(prompts)
        return completions


class Chooser:
    """Labels items. What a first reply leaves without a label is asked for once more; then it has none.

    An empty reply is asked for again: nothing was decided, and the reason mostly passes. A refusal isn't: it is the
    model's decision, and at temperature 0 it would be paid for twice.
    """

    def __init__(self, generator: Generator, form: Form, *, per_call: int, tokens: int) -> None:
        """Describe the chooser.

        Args:
            generator: is asked.
            form: what for.
            per_call: items in a call at most.
            tokens: that the row of one item may take.
        """
        self.talk = Talk(generator, form.prompt, form.schema, per_call)
        self._form, self._tokens = form, tokens
        self.talk.counted.update(dict.fromkeys(("tasks", "calls", "repairs", "repaired"), 0))
        self.talk.counted.update(dict.fromkeys((f"failed_{kind}" for kind in FAILURES), 0))

    def choose(self, questions: Sequence[Question]) -> list[list[Choice]]:
        """Label the items of each question, in order.

        Raises:
            CallError: the generator has no usable reply.
            BudgetSpent: the budget doesn't hold the next call.
        """
        named = [dict(zip(_ids(one.items), one.items, strict=True)) for one in questions]
        found = self._round([(q.head, items, "") for q, items in zip(questions, named, strict=True)], 1)
        again = []
        for question, items, chosen in zip(questions, named, found, strict=True):
            faults = {k: c.reason for k, c in chosen.items() if c.label is None and c.failure != "refusal"}
            again.append((question.head, {k: items[k] for k in faults}, _complaint(faults)))
        which = [n for n, (_, items, _) in enumerate(again) if items]
        for n, second in zip(which, self._round([again[n] for n in which], 2), strict=True):
            for id_, new in second.items():
                old = found[n][id_]
                cost = None if old.cost is None or new.cost is None else old.cost + new.cost
                found[n][id_] = replace(new, cost=cost)
                self.talk.counted["repaired"] += new.label is not None
        self.talk.counted["repairs"] += len(which)
        for chosen in found:
            self.talk.counted.update(f"failed_{c.failure}" for c in chosen.values() if c.label is None)
        return [list(chosen.values()) for chosen in found]

    def _round(
        self, asked: Sequence[tuple[str, Mapping[str, Mapping[str, str]], str]], generous: int
    ) -> list[dict[str, Choice]]:
        """Ask for the labels of items about texts; the repair may take more tokens, lest it be cut off again."""
        form = self._form
        sent = []
        for head, items, complaint in asked:
            rows = "\n".join(dumps({"id": id_, **item}) for id_, item in items.items())
            ids = ", ".join(items)  # weak models count on by themselves, and don't stop
            user = f"{head}\n\nClaims, one a line:\n{rows}{complaint}\n\nIds, each once, and no others: {ids}"
            sent.append((user, 100 + generous * self._tokens * len(items)))
        found = []
        for (_, items, _), completion in zip(asked, self.talk.complete(sent), strict=True):
            chosen = choices(completion, list(items), name=form.name, field=form.field, labels=form.labels)
            whole = completion.usage.get("cost")
            share = None if whole is None else whole / len(items)
            found.append({id_: replace(choice, cost=share) for id_, choice in chosen.items()})
        return found


def _ids(items: Sequence[Mapping[str, str]]) -> list[str]:
    """Numbers that follow from what the items say, rather than 1, 2, 3.

    A model that counts by itself, from 0 or after joining two claims, then names an id that wasn't sent, and not the id
    of another claim.
    """
    ids: dict[str, None] = {}
    for item in items:
        number = int.from_bytes(hashlib.sha256(item["claim"].encode("utf-8", "replace")).digest()[:4], "big") % 900
        while str(100 + number) in ids:
            number = (number + 1) % 900
        ids[str(100 + number)] = None
    return list(ids)


def _complaint(faults: Mapping[str, str]) -> str:
    """What was wrong with the first reply, for the second."""
    by_fault: dict[str, list[str]] = {}
    for id_, fault in faults.items():
        by_fault.setdefault(fault, []).append(id_)
    lines = [f"- {', '.join(ids)}: {fault}" for fault, ids in by_fault.items()]
    return "\n\nAn earlier reply was of no use for these claims:\n" + "\n".join(lines) + "\nReply as you were asked to."
