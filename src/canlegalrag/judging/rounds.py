"""Claims held against pieces of evidence in turn, those of many answers in one call of the judge a round."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import fsum

from canlegalrag.errors import CallError
from canlegalrag.judging.windows import windows
from canlegalrag.measures.decided import LABELS, deciding
from canlegalrag.protocols import Judge
from canlegalrag.types import Claim, Task, Verdict

__all__ = ["Inquiry", "run"]


class Inquiry:
    """Claims held against pieces of evidence in turn, window by window, until each is supported."""

    def __init__(
        self, claims: Sequence[Claim], pieces: Sequence[tuple[str, str]], model: str, window: int, overlap: int
    ) -> None:
        """Set out what to ask.

        Args:
            claims: what is judged.
            pieces: name and text of each piece of evidence, best first; no name twice.
            model: under whose name blank evidence is said to support nothing.
            window: characters of evidence at once.
            overlap: characters that two windows share at least.
        """
        self._claims, self._pieces, self._model = claims, pieces, model
        self._open = list(claims)
        self._found: dict[tuple[int, str], list[Verdict]] = {}
        self._steps = self._windows(window, overlap)

    def _windows(self, window: int, overlap: int) -> Iterator[Task]:
        """What to ask next, for the claims that are open then."""
        for name, text in self._pieces:
            if not text.strip():
                blank = Verdict(self._claims[0], name, "unsupported", reason="the evidence is blank", judge=self._model)
                self.take([replace(blank, claim=claim) for claim in self._open])
                continue
            for start, end in windows(text, window, overlap):
                if not self._open:
                    return
                yield Task(tuple(self._open), name, text[start:end])

    def next(self) -> Task | None:
        """The next task; None when all is decided."""
        return next(self._steps, None)

    def take(self, verdicts: Sequence[Verdict]) -> None:
        """Read verdicts on the open claims; those that are supported are closed."""
        for verdict in verdicts:
            self._found.setdefault((verdict.claim.index, verdict.against), []).append(verdict)
        supported = {verdict.claim.index for verdict in verdicts if verdict.label == "supported"}
        self._open = [claim for claim in self._open if claim.index not in supported]

    def verdicts(self) -> list[Verdict]:
        """One verdict a claim and piece that was asked about."""
        keys = [(claim.index, name) for claim in self._claims for name, _ in self._pieces]
        return [_combined(self._found[key]) for key in keys if key in self._found]


def _combined(found: Sequence[Verdict]) -> Verdict:
    """A piece's verdict out of those of its windows: the one that decides, of equals the surest, with all costs."""
    best = deciding(sorted(found, key=_surety, reverse=True))
    assert best is not None, "a piece that was asked about has a verdict"
    costs = [verdict.cost for verdict in found]
    return replace(best, cost=None if None in costs else fsum(cost for cost in costs if cost is not None))


def _surety(verdict: Verdict) -> float:
    """How near to support; how far from it for a contradiction."""
    probability = verdict.probability if verdict.probability is not None else 0.0
    return -probability if verdict.label == "contradicted" else probability


def run(inquiries: Sequence[Inquiry], judge: Judge) -> None:
    """Ask the judge, round by round, for all inquiries together.

    Raises:
        CallError: it returns something other than a verdict with a known label for each claim, in order.
    """
    model = str(judge.identity.get("model", "judge"))
    open_now = list(inquiries)
    while True:
        asked = [(inquiry, task) for inquiry in open_now if (task := inquiry.next()) is not None]
        if not asked:
            return
        tasks = [task for _, task in asked]
        replies = judge.judge(tasks)
        if len(replies) != len(tasks):
            raise CallError(model, f"{len(replies)} lists of verdicts for {len(tasks)} tasks", "one list a task")
        for (inquiry, task), verdicts in zip(asked, replies, strict=True):
            inquiry.take(_checked(model, task, verdicts))
        open_now = [inquiry for inquiry, _ in asked]


def _checked(model: str, task: Task, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of a task, if they are on its claims."""
    where = f"query {task.claims[0].query_id!r} against {task.against!r}"
    if len(verdicts) != len(task.claims):
        raise CallError(model, f"{where}: {len(verdicts)} verdicts for {len(task.claims)} claims", "one a claim")
    for claim, verdict in zip(task.claims, verdicts, strict=True):
        if verdict.claim != claim:
            raise CallError(model, f"{where}: a verdict isn't on claim {claim.index}", "verdicts follow the claims")
        if verdict.label not in (*LABELS, None):
            raise CallError(
                model, f"{where}: label {verdict.label!r:.80} is not known", f"one of {', '.join(LABELS)}, or None"
            )
    return [replace(verdict, against=task.against) for verdict in verdicts]
