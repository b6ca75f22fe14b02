"""Canadian citations: find, parse and normalise them; the courts behind them. Stands alone.

>>> from canlegalrag.citations import find, normalise, parse
>>> normalise("2019  CSC 65")
'2019 SCC 65'
"""

from canlegalrag.citations.citation import KINDS, Citation, group
from canlegalrag.citations.court import Court, by_code, courts, sources
from canlegalrag.citations.finding import find, normalise, parse

__all__ = [
    "KINDS",
    "Citation",
    "Court",
    "by_code",
    "courts",
    "find",
    "group",
    "normalise",
    "parse",
    "sources",
]
