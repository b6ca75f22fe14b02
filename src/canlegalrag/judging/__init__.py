"""Judging: claims out of answers, verdicts out of claims and evidence, and who does it."""
