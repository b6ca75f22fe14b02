"""Pieces of HTML for the Space: results, two rankings side by side, a decision in full, an answer with its evidence.

They hold no script and fetch nothing; every text in them is escaped. A link to a decision of the corpus has the address
`#doc=ID` and the id in `data-doc`. They stand on a page that has `STYLE`.
"""

from canlegalrag.exploring._answer_page import answer
from canlegalrag.exploring._document_page import document
from canlegalrag.exploring._html import hint
from canlegalrag.exploring._results_page import compared, results
from canlegalrag.exploring._style import STYLE

__all__ = ["STYLE", "answer", "compared", "document", "hint", "results"]
