"""The audit of one answer for the terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from canlegalrag.audit_page._evidence import title
from canlegalrag.audit_page._view import (
    MARKS,
    WORDS,
    Ruling,
    Side,
    cost,
    notes,
    side,
    skeleton,
    stretches,
    tally,
    whose,
)
from canlegalrag.benchmark import Benchmark
from canlegalrag.files import dumps
from canlegalrag.tables import clean
from canlegalrag.types import Answer, Judged
from canlegalrag.wording import many

__all__ = ["text"]

_STYLES = {"supported": "green", "contradicted": "bold red", "unsupported": "yellow", None: "dim"}


def text(
    judged: Judged, benchmark: Benchmark, answer: Answer | None = None, made: Mapping[str, Any] | None = None
) -> Group:
    """An answer with its claims marked by verdict, and for each claim what decided, by whom and at what cost.

    Args:
        judged: the answer's line of `verdicts.jsonl`.
        benchmark: gives the question, the reference answer and the documents.
        answer: the answer; None where its text isn't at hand.
        made: what made the verdicts, for the record.
    """
    query = benchmark.queries.get(judged.query_id)
    about = [query.province, query.persona] if query else ["not in the benchmark"]
    about += [judged.condition, "" if judged.stop == "stop" else f"ended by {judged.stop}"]
    about += ["declines to answer"] if judged.abstained else []
    parts: list[RenderableType] = [
        _plain(" · ".join([judged.query_id, *filter(None, about)]), "bold"),
        Text.assemble(("Question  ", "bold"), _plain(query.text if query else "–")),
        # Also here: what the verdicts are worth must be known before they are read, and the end is pages away.
        *(_plain(line, "bold") for line in whose([judged])),
    ]
    answer_side = side(judged, "answer", benchmark, answer)
    reference_side = side(judged, "reference", benchmark, benchmark.answers.get(judged.query_id))
    for head, shown in (("Answer", answer_side), ("Reference answer", reference_side)):
        if shown.text is not None or shown.claims is not None or head == "Answer":
            parts += [Text(), Text(head, style="bold"), *_side(shown, benchmark)]
    parts += [Text(), *_last(judged, (answer_side, reference_side), made)]
    return Group(*parts)


def _plain(of: str, style: str = "") -> Text:
    """Text that is taken as it is: no markup, no control characters."""
    return Text(clean(of), style=style)


def _side(shown: Side, benchmark: Benchmark) -> Iterator[RenderableType]:
    if shown.text is None:
        yield Text("Its text isn't at hand.", style="dim")
    else:
        yield _marked(shown)
    if shown.warning:
        yield Text(f"{shown.warning} Nothing is marked.", style="bold")
    if shown.claims is None:
        yield Text("It wasn't taken apart into claims: unscored.", style="bold")
    for n, claim in enumerate(shown.claims or ()):
        yield Text.assemble("\n", (f"{shown.name(n)}  ", "bold"), _plain(claim.text))
        for ruling in shown.rulings[n]:
            yield Padding(Group(*_ruling(ruling, benchmark)), (0, 0, 0, 4))
    for purpose, counts in tally(shown).items():
        said = ", ".join(f"{counts[label]} {WORDS[label]}" for label in MARKS if counts[label])
        yield Text(f"\n{purpose}: {said}, of {many(counts.total(), 'claim')}", style="bold")


def _marked(shown: Side) -> Text:
    """The text, each stretch in the colour of its worst claim and followed by the names and signs of those ending."""
    whole = Text()
    for stretch in stretches(shown):
        whole.append_text(_plain(stretch.text, _STYLES[stretch.label] if stretch.claims else ""))
        for n in stretch.ending:
            found = shown.rulings[n]
            label = found[0].label if found else None
            whole.append(f" [{shown.name(n)}{MARKS[label] if found else ''}]", style=f"{_STYLES[label]} bold not dim")
    return whole


def _ruling(ruling: Ruling, benchmark: Benchmark) -> Iterator[Text]:
    """What was decided for one purpose, why, and by whom."""
    verdict, evidence = ruling.verdict, ruling.evidence
    head = Text(f"{ruling.mark} {WORDS[ruling.label]}", style=_STYLES[ruling.label])
    head.append(f"  {ruling.purpose}", style="default not bold not dim")
    if verdict is None or evidence is None:
        yield head.append("  no verdict was given")
        return
    if ruling.category:
        head.append_text(_plain(f"  {ruling.category}"))
    yield head
    if evidence.quote:
        yield _plain(f"“{evidence.quote}”", "italic")
    yield _plain("– " + ", ".join(filter(None, (evidence.name, evidence.place))))
    if evidence.doubt:
        yield Text(f"Beware: {evidence.doubt}", style="bold red")
    if verdict.reason:
        yield _plain(f"Reason: {verdict.reason}")
    who = [f"corrected by {verdict.judge or 'a person'}" if ruling.human else verdict.judge]
    who += [f"p {verdict.probability:.2f}"] if verdict.probability is not None else []
    who += [f"prompt {verdict.prompt}"] if verdict.prompt else []
    yield _plain("  ".join([*who, cost([verdict])]), "dim")
    if ruling.others:
        said = "; ".join(f"{MARKS[v.label]} {title(v.against, benchmark)}" for v in ruling.others[:5])
        more = f"; and {len(ruling.others) - 5} more" if len(ruling.others) > 5 else ""
        yield _plain(f"Other evidence: {said}{more}", "dim")


def _last(judged: Judged, sides: tuple[Side, Side], made: Mapping[str, Any] | None) -> Iterator[Text]:
    """Why something is unscored, how to correct a verdict, and what must be known of the judge."""
    for fault in judged.faults:
        yield _plain(f"Unscored: {fault}", "bold")
    first = next(((n, of[0]) for s in sides for n, of in enumerate(s.rulings) if of), None)
    if first:
        yield Text("To correct a verdict, put a line like this into corrections.jsonl (index counts from 0):")
        yield _plain(skeleton(judged, first[1], first[0]), "cyan")
    signs = ", ".join(f"{MARKS[label]} {WORDS[label]}" for label in MARKS)
    colour = "; the text has the marks and colours of " + " and ".join(s.main for s in sides if s.main) if first else ""
    yield Text(f"{signs}{colour}.", style="dim")
    if made:
        yield _plain(f"Made by: {dumps(dict(made))}", "dim")
    yield Text(f"Cost of the verdicts: {cost(judged.verdicts)}.", style="dim")
    for line in notes([judged]):
        yield _plain(line, "dim")
