"""Numbers of scores as JSON holds them: None where undefined, each mean with its n and its interval."""

from collections.abc import Mapping, Sequence
from typing import Any

from canlegalrag.files import dumps
from canlegalrag.types import Scores

__all__ = ["RESAMPLES", "number", "rows", "scores_json"]

RESAMPLES = 10_000
"""Bootstrap resamples behind each interval."""


def number(value: float) -> float | None:
    """A float for JSON: None where it is undefined.

    >>> number(float("nan")), number(0.5)
    (None, 0.5)
    """
    return None if value != value else float(value)


def scores_json(payload: Mapping[str, Any]) -> str:
    """What `scores.json` holds, indented, but with one line a query: small enough to commit and to diff."""
    queries = ",\n".join(f"  {dumps(q)}: {dumps(row)}" for q, row in payload["per_query"].items())
    whole = dumps({**payload, "per_query": {}}, indent=1)
    return whole.replace('"per_query": {}', f'"per_query": {{\n{queries}\n }}', 1) + "\n"


def rows(scores: Scores, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Each measure's mean with its interval, n and skipped."""
    return {
        name: {
            "mean": number(scores.values[name]),
            "n": scores.n[name],
            "skipped": scores.skipped[name],
            "low": number(scores.interval[name][0]),
            "high": number(scores.interval[name][1]),
        }
        for name in names
    }
