"""Answers, verdicts, corrections and categories to and from JSON Lines; every error says file, line and field."""

from canlegalrag.records._fields import Row
from canlegalrag.records.answers import STOPS, answer_line, read_answers
from canlegalrag.records.categorised import Sorted, categorised, read_categories, sorted_line
from canlegalrag.records.corrections import Correction, corrected, read_corrections
from canlegalrag.records.verdicts import judged_line, judged_rows, read_verdicts

__all__ = [
    "STOPS",
    "Correction",
    "Row",
    "Sorted",
    "answer_line",
    "categorised",
    "corrected",
    "judged_line",
    "judged_rows",
    "read_answers",
    "read_categories",
    "read_corrections",
    "read_verdicts",
    "sorted_line",
]
