"""The errors that a caller may want to catch; each says what is wrong, where, and the next step."""

from collections.abc import Sequence

from canlegalrag.types import Problem

__all__ = ["BenchmarkError", "BudgetSpent", "CallError", "CanLegalRAGError", "InputError", "MissingExtra"]


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


class CallError(CanLegalRAGError, RuntimeError):
    """A model's provider gave no usable reply, though it was asked as often as is sensible.

    >>> str(CallError("isaacus/kanon-2-embedder", "status 500 five times", "try later: what was paid for is kept"))
    'isaacus/kanon-2-embedder: status 500 five times (try later: what was paid for is kept)'
    """

    def __init__(self, model: str, what: str, fix: str = "") -> None:
        self.problem = Problem(model, what, fix)
        super().__init__(str(self.problem))


class BudgetSpent(CanLegalRAGError, RuntimeError):
    """The next call would cost more than is left of the budget; everything paid for so far is kept.

    >>> str(BudgetSpent(spent=1.98, budget=2.0, next_call=0.05))
    'budget: $1.98 of $2.00 is spent and the next call may cost $0.05 (raise --budget; what is paid for is kept)'
    """

    def __init__(self, *, spent: float, budget: float, next_call: float) -> None:
        what = f"${spent:.2f} of ${budget:.2f} is spent and the next call may cost ${next_call:.2f}"
        self.problem = Problem("budget", what, "raise --budget; what is paid for is kept")
        super().__init__(str(self.problem))
