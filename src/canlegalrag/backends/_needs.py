"""Needs: what a model takes before it can be used, known without loading or paying for it."""

from dataclasses import dataclass

__all__ = ["Needs"]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a model takes."""

    extra: str = ""
    """Extra to install (`pip install 'canlegalrag[…]'`); empty for none."""
    key: str = ""
    """Environment variable that holds the key, the one that is set where there are several; empty for none."""
    gigabytes: float | None = 0.0
    """Memory that the weights take on this machine, in 10^9 bytes; None where it is unknown."""
    gpu: bool = False
    """Whether it is sensible only with a GPU."""
    price_in: float | None = 0.0
    """US dollars per million tokens read; None where it is unknown."""
    price_out: float | None = 0.0
    """US dollars per million tokens written; None where it is unknown."""
    thinking: int = 0
    """Tokens that it may write besides those of a reply, and is paid for."""
    window: int | None = None
    """Tokens that it reads of one text; None where there is no limit, or none is known."""
    note: str = ""
    """What else to know, such as where a price is from."""
