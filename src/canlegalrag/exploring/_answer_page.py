"""An answer with its claims in the colours of their verdicts, and the evidence at a click."""

from canlegalrag import audit_page
from canlegalrag.exploring._html import e, wrapped
from canlegalrag.exploring.explorer import Explorer
from canlegalrag.exploring.nouns import Found
from canlegalrag.types import Answer, Judged

__all__ = ["answer"]


def answer(explorer: Explorer, found: Found, given: Answer, judged: Judged) -> str:
    """An answer to a question, as the audit of a run shows it.

    Args:
        explorer: gives documents and reference answers.
        found: the search that it was answered from.
        given: the answer.
        judged: what was said of it.
    """
    context = given.usage.get("context", {})
    read = len(context.get("whole", ())) + len(context.get("in_part", ()))
    cut = context.get("characters_cut", 0)
    rest = f"; {cut:,} characters of them didn't fit, and were left out" if cut else ""
    said = f"Written by {explorer.generator} from {read} decisions{rest}."
    fault = "The answer was cut off at its limit." if given.stop == "length" else ""
    return wrapped(
        f'<p class="note">{e(said)}</p>',
        f'<p class="notice">{fault}</p>' if fault else "",
        f'<div class="audit">{audit_page.article(judged, found.query, given, explorer.benchmark)}</div>',
    )
