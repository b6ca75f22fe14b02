"""Check, score and compare runs; score verdicts on answers; check and score what a stranger submits."""

from canlegalrag.submission.characters import SPAN_DEPTHS, SPAN_MEASURES, lines_of
from canlegalrag.submission.claims import score_verdicts
from canlegalrag.submission.comparing import caveats, compare_runs, compare_values
from canlegalrag.submission.entering import PARTS, Checked, check, parts
from canlegalrag.submission.evaluating import entry, evaluate
from canlegalrag.submission.limits import LIMITS, Limits
from canlegalrag.submission.rows import RESAMPLES, number, scores_json
from canlegalrag.submission.scoring import DEFAULT_MEASURES, score_run, shallow
from canlegalrag.submission.spreadsheet import csv
from canlegalrag.submission.system_card import System

__all__ = [
    "DEFAULT_MEASURES",
    "LIMITS",
    "PARTS",
    "RESAMPLES",
    "SPAN_DEPTHS",
    "SPAN_MEASURES",
    "Checked",
    "Limits",
    "System",
    "caveats",
    "check",
    "compare_runs",
    "compare_values",
    "csv",
    "entry",
    "evaluate",
    "lines_of",
    "number",
    "parts",
    "score_run",
    "score_verdicts",
    "scores_json",
    "shallow",
]
