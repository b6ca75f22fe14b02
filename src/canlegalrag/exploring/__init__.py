"""Exploring: try a query, compare retrievers, open a decision, read an answer; the logic behind the Space."""

from canlegalrag.exploring import pages
from canlegalrag.exploring.comparing import moved
from canlegalrag.exploring.explorer import CONDITIONS, DEPTH, LONGEST, Explorer
from canlegalrag.exploring.nouns import Excerpt, Found, Seen

__all__ = ["CONDITIONS", "DEPTH", "LONGEST", "Excerpt", "Explorer", "Found", "Seen", "moved", "pages"]
