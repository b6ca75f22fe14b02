"""Why claims fail: the categories of the paper, and which of them are wrong in kind."""

from dataclasses import dataclass

__all__ = ["CATEGORIES", "Category"]


@dataclass(frozen=True, slots=True)
class Category:
    """One reason for which evidence doesn't support a claim."""

    title: str
    """In a few words, for tables."""
    meaning: str
    """What belongs here, for people and for prompts."""
    wrong: bool
    """Whether such a claim is wrong, rather than only beyond what the evidence says: it counts in the lower bound of
    hallucination."""


CATEGORIES: dict[str, Category] = {
    "restates": Category("restates the question", "says again what the asker said of their own situation", wrong=False),
    "connective": Category(
        "connective or concluding",
        "links or sums up other statements and asserts no law or fact of its own",
        wrong=False,
    ),
    "synthesis": Category(
        "synthesis too far from the text",
        "may follow from several passages together, but none of them says it",
        wrong=False,
    ),
    "general-law": Category(
        "general law against a case-specific statement",
        "states a general rule where the evidence speaks of one case only, or the other way round",
        wrong=False,
    ),
    "misapplied-test": Category(
        "misapplied test",
        "names a legal test that the evidence has and applies it wrongly, or to what it doesn't govern",
        wrong=True,
    ),
    "attribution": Category(
        "wrong attribution", "says of one decision or statute what the evidence says of another", wrong=True
    ),
    "modality": Category(
        "scope or modality",
        "changes how far the law goes: shall for may, always for sometimes, all for some",
        wrong=True,
    ),
    "fact": Category("fact confusion", "mixes up facts: numbers, dates, parties, who did what", wrong=True),
    "unrelated": Category("unrelated", "has nothing to do with the evidence", wrong=True),
}
"""Key to category, in the order in which they are shown."""
