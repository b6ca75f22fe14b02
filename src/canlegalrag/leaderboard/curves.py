"""Configurations that were run at several sizes of passages, for curves over the size."""

from collections.abc import Mapping, Sequence
from typing import Any

from canlegalrag.leaderboard.entries import recipe, text
from canlegalrag.leaderboard.rows import Row

__all__ = ["curves", "in_order"]


def in_order(size: str) -> tuple[bool, int, str]:
    """Sorts sizes by their characters; whole documents come last."""
    return not size.isdecimal(), int(size) if size.isdecimal() else 0, size


def curves(rows: Sequence[Row]) -> dict[str, dict[str, tuple[float, Row]]]:
    """Configuration without its size -> size -> mean and system, of those run at two sizes or more.

    Whole documents end the curve of each way of cutting.
    """
    cut: dict[str, dict[str, tuple[float, Row]]] = {}
    whole: dict[str, tuple[float, Row]] = {}
    ends: dict[str, str] = {}
    for row in rows:
        settings = recipe(row.entry)
        if row.mean is None or not row.chunk:
            continue
        method, _, overlap = (text(settings.get("chunk"), 40).split(":") + ["", ""])[:3]
        name = _configuration(settings)
        if method == "whole":
            whole.setdefault(name, (row.mean, row))
            continue
        label = name if method == "recursive" else f"{name}, {method} passages"
        if row.chunk in cut.get(label, {}):  # the same size with another overlap is another curve
            label = f"{label}, overlap {overlap}"
        ends[label] = name
        cut.setdefault(label, {}).setdefault(row.chunk, (row.mean, row))
    for label, name in ends.items():
        if name in whole:
            cut[label]["whole"] = whole[name]
    return {label: points for label, points in cut.items() if len(points) > 1}


def _configuration(settings: Mapping[str, Any]) -> str:
    """A configuration without its name and size."""
    kept = {k: v for k, v in settings.items() if k not in ("name", "chunk", "retriever")}
    said = [
        text(str(v), 60) if k in ("variant", "embedder") else f"{text(k, 20)} {text(str(v), 60)}"
        for k, v in kept.items()
    ]
    return ", ".join([text(settings.get("retriever"), 20), *said])
