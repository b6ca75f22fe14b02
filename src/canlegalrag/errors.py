"""The errors that a caller may want to catch; each says what is wrong, where, and the next step."""

from collections.abc import Sequence

from canlegalrag.types import Problem

__all__ = ["BenchmarkError", "CanLegalRAGError", "InputError", "MissingExtra"]


class CanLegalRAGError(Exception):
    """Root of the project's errors: catch this to catch them all."""


class InputError(CanLegalRAGError, ValueError):
    r"""Something given to the library can't be used.

    >>> str(InputError("run.jsonl:17", "score is not a number", "write 0.5, not \"high\""))
    'run.jsonl:17: score is not a number (write 0.5, not "high")'
    """

    def __init__(self, where: str, what: str, fix: str = "") -> None:
        self.problem = Problem(where, what, fix)
        super().__init__(str(self.problem))


class BenchmarkError(CanLegalRAGError, ValueError):
    """A benchmark with fatal faults; `problems` lists them all."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        shown = "\n".join(f"  {p}" for p in self.problems[:20])
        more = f"\n  … and {len(self.problems) - 20} more" if len(self.problems) > 20 else ""
        super().__init__(f"{source}: {len(self.problems)} problem(s)\n{shown}{more}")


class MissingExtra(CanLegalRAGError, ImportError):
    """An optional dependency isn't installed.

    >>> str(MissingExtra("datasets", "metrics"))
    "datasets is not installed: pip install 'canlegalrag[metrics]'"
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'canlegalrag[{extra}]'", name=package)
