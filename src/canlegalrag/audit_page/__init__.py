"""Audit: an answer with its claims, what was said of each, and the evidence that decided, as text and as HTML."""

from canlegalrag.audit_page._html import article, html
from canlegalrag.audit_page._style import DARK, LIGHT, PIECES
from canlegalrag.audit_page._terminal import text

__all__ = ["DARK", "LIGHT", "PIECES", "article", "html", "text"]
