"""Check a submission: what is sound of its files, and every problem with its place and how to mend it."""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import loads
from canlegalrag.submission import belonging, contradicting
from canlegalrag.submission.answering import read_answers, read_verdicts
from canlegalrag.submission.faults import Faults, plain_name
from canlegalrag.submission.limits import LIMITS, Clock, Limits, size
from canlegalrag.submission.ranking import TREC, read_ranking
from canlegalrag.submission.system_card import TEMPLATE, System, read_system
from canlegalrag.submission.tolerant import Source
from canlegalrag.types import Answer, Hit, Judged, Problem

__all__ = ["PARTS", "Checked", "check", "parts"]

PARTS = {
    "system": ("system.json",),
    "run": ("run.jsonl", *(f"run{ending}" for ending in TREC)),
    "answers": ("answers.jsonl",),
    "verdicts": ("verdicts.jsonl",),
}
"""What a submission is made of, and what each part may be called."""

RECORD = "verdicts.jsonl.meta.json"
"""What `canlegalrag judge` writes beside its verdicts: no part, but it knows their SHA-256."""

_IGNORED = ("readme", "licence", "license")


@dataclass(frozen=True, slots=True)
class Checked:
    """What is sound of a submission, and what isn't."""

    system: System | None
    """Its card; None without a usable name."""
    run: Mapping[str, list[Hit]] = field(repr=False)
    """Query id -> hits that can be scored; empty where there are none."""
    answers: Mapping[str, Answer] | None = field(repr=False)
    """Query id -> answer; None where there is no such file."""
    judged: Mapping[str, Judged] | None = field(repr=False)
    """Query id -> what was judged of these answers; None where there is no such file."""
    problems: tuple[Problem, ...]
    """What is wrong: all of it, or of many the first of each kind."""
    count: int
    """How many problems there are."""
    fatal: bool
    """Whether it can't be entered until something is mended; what is sound can be scored all the same."""
    digest: str
    """SHA-256 over the contents of all parts; empty where they weren't read."""
    made: Mapping[str, Any] = field(default_factory=dict)
    """Of each part its name, bytes and SHA-256."""
    notes: tuple[Problem, ...] = ()
    """What is worth knowing and no fault: ties, what became of citations, answers that nobody judged."""


def parts(given: Path | Iterable[Path]) -> dict[str, Path]:
    """Which file is what.

    Args:
        given: a folder, or the files themselves; names decide, in any case of letters.

    Returns:
        `system`, `run`, `answers`, `verdicts`, as far as they are there, and the `RECORD` of the verdicts; a file that
        is none of these under its own name, so that `check` can say so. Passed over are hidden files, README, LICENCE,
        and what our own stages write about other files.

    Raises:
        InputError: there is no such folder.
    """
    if isinstance(given, Path):
        if not given.is_dir():
            what = "is a file" if given.exists() else "no such folder"
            raise InputError(str(given), what, "give the folder that holds system.json and run.jsonl")
        given = (path for path in given.iterdir() if path.is_file() or path.is_symlink())
    found: dict[str, Path] = {}
    order = {name: n for n, name in enumerate(name for names in PARTS.values() for name in names)}
    roles = {name: role for role, names in PARTS.items() for name in names}
    files = sorted(given, key=lambda path: (order.get(path.name.lower(), len(order)), path.name))
    for path in files:
        name = path.name.lower()
        if name != RECORD and (name.startswith((".", *_IGNORED)) or name.endswith(".meta.json")):
            continue
        role = RECORD if name == RECORD else roles.get(name)
        key = role if role and role not in found else path.name
        while key in found or (key in PARTS and key != role):  # a file called `system` is no `system.json`
            key += "′"
        found[key] = path
    return found


def check(files: Mapping[str, Path], benchmark: Benchmark, limits: Limits = LIMITS) -> Checked:
    """Check a submission, and keep what is sound of it. Nothing is unpacked, run or fetched.

    Args:
        files: part -> file, as `parts` gives them.
        benchmark: what it claims to answer.
        limits: what it may weigh.

    Returns:
        Every problem: where (the file's plain name, the line, the field), what, how to mend it. Many of one kind are
        counted, and the first of them named.
    """
    job = _Checking(files, benchmark, limits, Faults(limits), Faults(limits), Clock(limits.seconds))
    return job.checked()


@dataclass(slots=True)
class _Checking:
    """A submission while it is checked."""

    files: Mapping[str, Path]
    """Part -> file."""
    benchmark: Benchmark
    """What it claims to answer."""
    limits: Limits
    """What it may weigh."""
    faults: Faults
    """What is wrong."""
    notes: Faults
    """What is worth knowing."""
    clock: Clock
    """When to stop."""

    def checked(self) -> Checked:
        sources = self._sources()
        made, digest = _digest(sources)
        system = read_system(sources["system"]) if "system" in sources else None
        run = read_ranking(sources["run"], self.benchmark) if "run" in sources else {}
        answers, lines = None, {}
        if "answers" in sources:
            reading = read_answers(sources["answers"], self.benchmark)
            answers, lines = reading.found, reading.lines
        judged = None
        if "verdicts" in sources:
            self._record(sources["verdicts"].name, made)
            given, places = read_verdicts(sources["verdicts"], self.benchmark)
            given = belonging.to_answers(given, places, answers, self.benchmark, self.faults, self.notes)
            judged = contradicting.consistent(given, places, answers, self.benchmark, self.faults, self.clock)
        if answers is not None:
            name = sources["answers"].name
            self._coverage(name, len(answers))
            belonging.cited(name, answers, lines, self.benchmark, self.notes, self.clock)
        problems, notes = self.faults.listed(), self.notes.listed()
        return Checked(
            system, run, answers, judged, problems, self.faults.count, self.faults.fatal, digest, made, notes
        )

    def _sources(self) -> dict[str, Source]:
        """The parts that may be read; what is missing, unknown, or too large is said."""
        for role in ("system", "run"):
            if role not in self.files:
                names = " or ".join(PARTS[role][:2])
                fix = TEMPLATE if role == "system" else '{"query_id": …, "hits": […]}, one line a query'
                self.faults.add("parts that are missing", names, "is missing", fix, fatal=True)
        for role, path in self.files.items():
            if role not in PARTS and role != RECORD:
                self._stranger(path)
        given = {role: path for role, path in self.files.items() if role in PARTS}
        sources = {role: Source(path, self.faults, self.notes, self.limits, self.clock) for role, path in given.items()}
        sources = {role: source for role, source in sources.items() if not source.too_large(self.limits.file_bytes)}
        total = sum(source.path.stat().st_size for source in sources.values())
        if total > self.limits.total_bytes:
            what = f"are {size(total)} together, more than {size(self.limits.total_bytes)}: not read"
            self.faults.add("files that can't be used", "files", what, "send less", fatal=True)
            return {}
        return sources

    def _record(self, name: str, made: Mapping[str, Any]) -> None:
        """Say where the verdicts aren't the file that what lies beside them was written about."""
        if RECORD not in self.files or "verdicts" not in made:
            return
        record = Source(self.files[RECORD], self.faults, self.notes, self.limits, self.clock)
        if record.too_large(self.limits.file_bytes):
            return
        known: Any = None
        with suppress(OSError, ValueError, RecursionError):
            known = loads(record.path.read_text(encoding="utf-8"))
        if not isinstance(known, dict) or not isinstance(known.get("sha256"), str):
            self.notes.add("records that can't be read", record.name, "holds no SHA-256 of the verdicts: not used")
        elif known["sha256"] != made["verdicts"]["sha256"]:
            what = f"was changed since it was made: {record.name} has another SHA-256 of it"
            fix = "send the verdicts as `canlegalrag judge` wrote them"
            self.faults.add("verdicts that were changed", name, what, fix)

    def _stranger(self, path: Path) -> None:
        name, known = plain_name(path), ", ".join(names[0] for names in PARTS.values())
        role = next((role for role, names in PARTS.items() if path.name.lower() in names), None)
        if role:
            what, fix = f"is a second file of {role}: not read", f"keep one file of {role}"
            self.faults.add("parts given twice", name, what, fix, fatal=True)
        else:
            self.notes.add(
                "files that are no part", name, "is no part of a submission: not read", f"its parts: {known}"
            )

    def _coverage(self, name: str, answers: int) -> None:
        queries = len(self.benchmark.queries)
        if 0 < answers < queries:
            rest = f"the other {queries - answers:,} score{'s' * (queries - answers == 1)} zero"
            what = f"answers {answers:,} of {queries:,} queries: {rest} in measures of answers"
            self.notes.add("queries without an answer", name, what)


def _digest(sources: Mapping[str, Source]) -> tuple[dict[str, Any], str]:
    """Of each part its name, bytes and SHA-256, and one SHA-256 over all, whatever the files are called."""
    made: dict[str, Any] = {}
    total = hashlib.sha256(b"canlegalrag submission 1\n")
    for role in PARTS:
        if role not in sources:
            continue
        try:
            with sources[role].path.open("rb") as file:
                content = hashlib.sha256()
                length = 0
                while chunk := file.read(1 << 20):
                    content.update(chunk)
                    length += len(chunk)
        except OSError:
            continue  # said when it is read
        made[role] = {"name": sources[role].name, "bytes": length, "sha256": content.hexdigest()}
        total.update(f"{role} {content.hexdigest()}\n".encode())
    return made, total.hexdigest() if made else ""
