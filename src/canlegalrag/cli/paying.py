"""What the commands that use models share: their options, paid calls, and what a stage took."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from canlegalrag.terminal import misuse, note

if TYPE_CHECKING:
    from canlegalrag.calls import Calls
    from canlegalrag.protocols import Decomposer, Judge

__all__ = ["Jobs", "JudgeName", "Settings", "models_of", "paid", "settings_of", "took"]

Jobs = Annotated[int, typer.Option(min=1, help="calls in flight at once")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="a provider's setting: base_url=…, price_in=…, price_out=…"),
]
JudgeName = Annotated[str, typer.Option(help="provider/model; offline/lexical is a stand-in that needs none")]


def settings_of(given: list[str] | None) -> dict[str, Any]:
    """Settings as values: numbers, true, false and objects as in JSON, all else as text."""
    from canlegalrag.errors import InputError

    found: dict[str, Any] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise InputError(f"--set {one!r}", "is not written NAME=VALUE", "--set price_in=0.15")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


@contextmanager
def paid(
    models: Mapping[str, str], options: Mapping[str, Any], cache: Path | None, budget: float | None, jobs: int
) -> Iterator["Calls"]:
    """Paid calls, once it is said what the models (role -> provider/model) cost."""
    from canlegalrag import backends
    from canlegalrag.calls import Calls
    from canlegalrag.recipes import cache_folder

    for name, role in {name: role for role, name in models.items()}.items():
        with misuse():
            needed = backends.needs(name, role)
        prices = [options.get(key, getattr(needed, key)) for key in ("price_in", "price_out")]
        if prices != [0, 0]:
            price = "at a price that isn't known: give it with --set price_in=… --set price_out=…"
            if None not in prices:
                price = f"at ${prices[0]} a million tokens read and ${prices[1]} written"
            limit = f"stops at ${budget:,.2f}" if budget is not None else "set a limit with --budget"
            note(f"{name} may cost money, {price}; {limit}")
    with Calls((cache or cache_folder()) / "calls", budget=budget, workers=jobs) as calls:
        yield calls


def took(meta: Mapping[str, Any]) -> str:
    """Seconds and cost of a stage, from its record."""
    cost = "cost unknown" if meta["cost"] is None else f"${meta['cost']:.4f}"
    return f"{sum(meta['seconds'].values()):.1f} s, {cost}"


def models_of(
    judge: str, decomposer: str | None, calls: "Calls", options: Mapping[str, Any]
) -> tuple["Judge", "Decomposer"]:
    """The judge, and what takes answers apart: where nothing is asked for, the judge itself if it can."""
    from canlegalrag import backends

    with misuse():
        made = backends.judge(judge, calls, **options)
        if decomposer is not None:
            return made, backends.decomposer(decomposer, calls, **(options if decomposer == judge else {}))
    return made, backends.decomposer_for(judge, calls, **options)
