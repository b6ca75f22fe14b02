"""The whole job on one benchmark: retrieve with several recipes, score, compare, report; then answer and judge."""

from canlegalrag.experiment.answering import Answered, answer
from canlegalrag.experiment.ranking import (
    MAIN,
    MEASURES,
    RECIPES,
    SWEEP_MEASURES,
    Outcome,
    best,
    folders_of,
    reading,
    run,
)

__all__ = [
    "MAIN",
    "MEASURES",
    "RECIPES",
    "SWEEP_MEASURES",
    "Answered",
    "Outcome",
    "answer",
    "best",
    "folders_of",
    "reading",
    "run",
]
