"""One-to-one folding of characters, so that offsets stay those of the original text."""

import unicodedata
from functools import lru_cache

__all__ = ["compact", "fold", "squeeze"]

_SPACES = "\t\v\f\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_QUOTES = "\u2018\u2019\u02bc\u2032"
_FOLDED = [*((c, " ") for c in _SPACES), *((c, "-") for c in _HYPHENS), *((c, "'") for c in _QUOTES)]
_TABLE = {ord(c): to for c, to in _FOLDED}


def fold(text: str) -> str:
    """Fold every kind of space to a space, hyphen to `-` and apostrophe to `'`, each one character for one.

    >>> fold("2019\u00a0ONSC\u00a01234 at paras 12\u201114")
    '2019 ONSC 1234 at paras 12-14'
    """
    if text.isascii():
        return text.replace("\t", " ")
    for written, to in _FOLDED:
        # Each replacement is a memory scan; str.translate looks every character up and is ten times slower.
        if written in text:
            text = text.replace(written, to)
    return text


def squeeze(text: str) -> str:
    """Put runs of white space to one space.

    >>> squeeze(" 2019   ONSC 1234 ")
    '2019 ONSC 1234'
    """
    return " ".join(text.split())


@lru_cache(maxsize=8192)
def compact(text: str) -> str:
    """Keep letters, figures and `&`, in upper case and without accents: the form in which names are looked up.

    >>> compact("R.C. de l'É"), compact("B. & Ad."), compact("On S.C.")
    ('RCDELE', 'B&AD', 'ONSC')
    """
    plain = unicodedata.normalize("NFD", text.replace(" and ", "&").replace(" et ", "&"))
    return "".join(c for c in plain if c.isalnum() or c == "&").upper()
