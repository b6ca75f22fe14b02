"""Problems as they are found: every one is counted, the first of each kind are kept, so that none hides another."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from canlegalrag.errors import InputError
from canlegalrag.submission.limits import Limits
from canlegalrag.types import Problem

__all__ = ["Faults", "plain_name", "shown"]


class Faults:
    """What is wrong with a submission, kind by kind."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._kept: dict[tuple[str, str], list[Problem]] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self.fatal = False
        """Whether one of them keeps the submission from being entered."""
        self.count = 0
        """All of them, kept or not."""

    def add(self, kind: str, where: str, what: str, fix: str = "", *, fatal: bool = False) -> None:
        """Note a problem.

        Args:
            kind: what many of them are called together (`lines that aren't JSON`).
            where: begins with the plain name of the file.
            what: what is wrong.
            fix: the next step.
            fatal: whether the submission can't be entered until it is mended.
        """
        key = (where.split(":")[0], kind)
        self.count += 1
        self.fatal |= fatal
        self._counts[key] = self._counts.get(key, 0) + 1
        kept = self._kept.setdefault(key, [])
        if len(kept) < self._limits.shown_of_kind:
            kept.append(Problem(where, what, fix, fatal))

    def of(self, kind: str, error: InputError, *, fatal: bool = False) -> None:
        """Note what one of the project's own readers said."""
        self.add(kind, error.problem.where, error.problem.what, error.problem.fix, fatal=fatal)

    def listed(self) -> tuple[Problem, ...]:
        """The problems to show: fatal ones first, of each kind the first ones and the number of the others."""
        most = self._limits.shown_of_kind
        while most > 1 and sum(map(len, self._cut(most))) > self._limits.shown:
            most -= 1
        found = [problem for part in self._cut(most) for problem in part]
        files = list(dict.fromkeys(file for file, _ in self._kept))
        return tuple(sorted(found, key=lambda problem: _order(problem, files))[: self._limits.shown])

    def _cut(self, most: int) -> list[list[Problem]]:
        parts = []
        for (file, kind), kept in self._kept.items():
            more = self._counts[file, kind] - min(most, len(kept))
            rest = [Problem(f"{file}: …", f"{more:,} more {kind}", fatal=kept[0].fatal)] if more else []
            parts.append(kept[:most] + rest)
        return parts


def _order(problem: Problem, files: Sequence[str]) -> tuple[bool, int, float]:
    """Fatal ones first, then file by file and line by line, what is said of many at the end."""
    file, _, rest = problem.where.partition(":")
    line = re.match("[0-9]+", rest)
    place = int(line[0]) if line else float("inf") if rest == " …" else 0
    return not problem.fatal, files.index(file), place


def plain_name(path: PurePath) -> str:
    r"""The name of a file alone, harmless on a page and in a terminal: no folder of the user's machine is shown.

    >>> plain_name(PurePath("/home/someone/run.jsonl")), plain_name(PurePath("a\\..\\b\x1b.jsonl"))
    ('run.jsonl', 'b\\x1b.jsonl')
    """
    name = re.split(r"[\\/]", str(path))[-1] or "file"
    cleaned = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name.replace(":", "_"))
    return cleaned if len(cleaned) <= 80 else f"{cleaned[:70]}…{path.suffix[-9:]}"


def shown(value: object) -> str:
    r"""A value of somebody else's as a message shows it: quoted, one line, 80 characters at most.

    >>> shown("q\n1"), shown("x" * 100)[-5:]
    ("'q\\n1'", 'xxxx…')
    """
    text = repr(value[:100] if isinstance(value, str) else value)
    return text if len(text) <= 80 else f"{text[:79]}…"
