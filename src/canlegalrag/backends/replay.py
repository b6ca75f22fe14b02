"""Recorded verdicts as a judge: `replay/PATH` reads a `verdicts.jsonl` and judges nothing itself."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from canlegalrag.backends._counts import Counts
from canlegalrag.backends._needs import Needs
from canlegalrag.errors import InputError
from canlegalrag.judging.assessing import as_evidence
from canlegalrag.types import Claim, Task, Verdict

if TYPE_CHECKING:
    from canlegalrag.calls import Calls

__all__ = ["Recorded", "judge", "needs"]

_Key = tuple[str, str, str]


def judge(model: str, calls: "Calls | None" = None) -> "Recorded":
    """The verdicts of a file.

    Raises:
        InputError: there is no such file, or it holds no verdicts.
    """
    return Recorded(Path(model).expanduser())


def needs(model: str, role: str) -> Needs:
    """The file."""
    found = Path(model).expanduser().is_file()
    return Needs(note="reads recorded verdicts" if found else f"there is no file {model}")


class Recorded:
    """Gives the verdict that was recorded for a query, the text of a claim and the name of the evidence.

    The name stands for the evidence. A document's id is of the benchmark, and that its text is still the same is for
    the caller to see to; `reference` and `answer` are claims of the query, and where these are no longer those that
    were recorded, there is no verdict. A verdict keeps the name of who gave it; nothing is paid for it again. What
    isn't recorded has no label and says so.
    """

    def __init__(self, path: Path) -> None:
        from canlegalrag.records import read_verdicts

        if not path.is_file():
            raise InputError(f"replay/{path}", "there is no such file", "give the path of a verdicts.jsonl")
        self._name = f"replay/{path}"
        self._revision = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        self._found: dict[_Key, Verdict] = {}
        self._split: set[_Key] = set()
        self._texts: dict[tuple[str, str], str] = {}
        for judged in read_verdicts(path).values():
            for name, claims in (("answer", judged.claims), ("reference", judged.reference)):
                if claims:
                    self._texts[judged.query_id, name] = as_evidence(claims)
            for verdict in judged.verdicts:
                key = _key(verdict.claim, verdict.against)
                known = self._found.setdefault(key, verdict)
                if known.label is None:
                    self._found[key] = verdict  # the same claim may stand twice in an answer
                elif verdict.label not in (known.label, None):
                    self._split.add(key)
        self._counts = Counts("texts", "truncated", "missing")

    @property
    def identity(self) -> Mapping[str, Any]:
        """The file, and the hash of what is in it."""
        return {"model": self._name, "revision": self._revision}

    @property
    def counts(self) -> Mapping[str, int]:
        """Claims so far (`texts`), and those that no verdict was recorded for (`missing`)."""
        return self._counts.now()

    def judge(self, tasks: Sequence[Task]) -> list[list[Verdict]]:
        """Look each claim up."""
        return [[self._verdict(claim, task) for claim in task.claims] for task in tasks]

    def _verdict(self, claim: Claim, task: Task) -> Verdict:
        against, key = task.against, _key(claim, task.against)
        known = self._found.get(key)
        self._counts.add(texts=1, missing=known is None)
        if known is None:
            reason = f"no verdict is recorded for this claim against {against!r}"
            return Verdict(claim, against, None, reason=reason, judge=self._name)
        text = self._texts.get((claim.query_id, against))
        if text is not None and task.evidence not in text:
            reason = f"the verdict that is recorded is on another {against}, with other claims"
            return Verdict(claim, against, None, reason=reason, judge=self._name)
        if key in self._split:
            return Verdict(claim, against, None, reason="recorded with two different labels", judge=self._name)
        return replace(known, claim=claim, cost=0.0)


def _key(claim: Claim, against: str) -> _Key:
    return claim.query_id, claim.text, against
