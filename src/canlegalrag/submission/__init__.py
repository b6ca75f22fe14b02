"""Check, score and compare runs; score verdicts on answers."""

from canlegalrag.submission.characters import SPAN_DEPTHS, SPAN_MEASURES, lines_of
from canlegalrag.submission.claims import score_verdicts
from canlegalrag.submission.comparing import caveats, compare_runs, compare_values
from canlegalrag.submission.rows import RESAMPLES, number, scores_json
from canlegalrag.submission.scoring import DEFAULT_MEASURES, score_run

__all__ = [
    "DEFAULT_MEASURES",
    "RESAMPLES",
    "SPAN_DEPTHS",
    "SPAN_MEASURES",
    "caveats",
    "compare_runs",
    "compare_values",
    "lines_of",
    "number",
    "score_run",
    "score_verdicts",
    "scores_json",
]
