"""The audit of one or many answers as one page that needs no network and no script."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from canlegalrag.audit_page._evidence import Evidence, title
from canlegalrag.audit_page._style import STYLE
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
)
from canlegalrag.benchmark import Benchmark
from canlegalrag.files import dumps
from canlegalrag.tables import clean
from canlegalrag.types import Answer, Judged, Query, Verdict
from canlegalrag.wording import many

__all__ = ["article", "html"]

_PIECES = 40
"""Pieces of evidence that are listed for a claim beside the one that decided."""


def html(
    judgeds: Iterable[Judged],
    benchmark: Benchmark,
    answers: Mapping[str, Answer] | None = None,
    made: Mapping[str, Any] | None = None,
) -> str:
    """A page on judged answers: each with its claims marked by verdict, the evidence that decided, reason and judge.

    Args:
        judgeds: lines of `verdicts.jsonl`, one or all.
        benchmark: gives the questions, the reference answers and the documents.
        answers: query id -> answer; an answer that is missing is shown by its claims alone.
        made: what made the verdicts, for the record.
    """
    shown = [
        (
            judged,
            side(judged, "answer", benchmark, (answers or {}).get(judged.query_id)),
            side(judged, "reference", benchmark, benchmark.answers.get(judged.query_id)),
        )
        for judged in judgeds
    ]
    name = f"Audit of {benchmark.name}"
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{_e(name)}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style>'
        f'<body class="audit"><h1>{_e(name)}</h1>',
        *(f'<p class="note">{_e(line)}</p>' for line in notes(judged for judged, *_ in shown)),
        _legend([sides for _, *sides in shown]),
        _contents(shown) if len(shown) > 1 else "",
    ]
    for n, (judged, answer, reference) in enumerate(shown, 1):
        given = (answers or {}).get(judged.query_id)
        query = benchmark.queries.get(judged.query_id)
        parts += _article(n, judged, query, (answer, reference), benchmark, given)
    if made:
        record = _e(dumps(dict(made), indent=1))
        parts.append(f"<details><summary>What made these verdicts</summary><pre>{record}</pre></details>")
    return "".join([*parts, "</body></html>\n"])


def article(judged: Judged, query: Query, answer: Answer, benchmark: Benchmark) -> str:
    """One answer as a piece of another page: evidence opens at a click, there is nothing to correct.

    It wants `PIECES` in the sheet of that page, and an element of class `audit` around it.

    Args:
        judged: what was said of the answer.
        query: the question, of the benchmark or not.
        answer: its text.
        benchmark: gives the reference answer and the documents.
    """
    sides = (
        side(judged, "answer", benchmark, answer),
        side(judged, "reference", benchmark, benchmark.answers.get(judged.query_id)),
    )
    parts = [f'<p class="note">{_e(line)}</p>' for line in notes([judged])]
    return "".join([*parts, _legend([sides]), *_article(0, judged, query, sides, benchmark, answer, folded=True)])


def _e(text: str) -> str:
    """Text made harmless."""
    return escape(clean(text))


def _class(label: str | None) -> str:
    return label if label in MARKS and label else "unscored"


def _chip(label: str | None) -> str:
    """A label by sign, word and colour."""
    return f'<b class="chip {_class(label)}">{MARKS[label]} {WORDS[label]}</b>'


def _legend(sides: Sequence[Sequence[Side]]) -> str:
    colours = sorted({s.main for pair in sides for s in pair if s.main})
    chips = " ".join(_chip(label) for label in MARKS)
    said = (
        f"A1 is the first claim of the answer, R1 of the reference answer. A text has the signs and colours of "
        f"{' and '.join(colours) or 'no measure, since nothing was judged'}; a sentence of several claims has the "
        "colour of the worst, its signs tell each. Not scored: the judge gave no label; this counts neither for the "
        "answer nor against it."
    )
    return f'<p class="legend">{chips}</p><p class="note">{_e(said)}</p>'


def _contents(shown: Sequence[tuple[Judged, Side, Side]]) -> str:
    """A line a query, with what was decided."""
    rows = []
    for n, (judged, answer, reference) in enumerate(shown, 1):
        counts = {**tally(answer), **tally(reference)}
        said = " ".join(f'<span class="count">{_e(p)} {_signs(c)}</span>' for p, c in counts.items())
        rows.append(f'<li><a href="#q{n}">{_e(judged.query_id)}</a> {said}')
    return f"<nav><ol>{''.join(rows)}</ol></nav>"


def _signs(counts: Mapping[str | None, int]) -> str:
    return " ".join(f'<b class="{_class(k)}">{counts[k]}{MARKS[k]}</b>' for k in MARKS if counts.get(k))


def _article(
    n: int,
    judged: Judged,
    query: Query | None,
    sides: tuple[Side, Side],
    benchmark: Benchmark,
    given: Answer | None,
    folded: bool = False,
) -> Iterator[str]:
    """One answer."""
    answer, reference = sides
    facts = [query.province, query.persona, query.variant] if query else ["not in the benchmark"]
    facts += [judged.condition and f"condition: {judged.condition}"]
    facts += [f"ended by {judged.stop}"] if judged.stop != "stop" else []
    facts += ["declines to answer"] if judged.abstained else []
    facts += [f"verdicts: {cost(judged.verdicts)}"]
    yield f'<article id="q{n}"><h2>{_e(judged.query_id)}</h2>'
    yield f'<p class="facts">{" · ".join(_e(fact) for fact in facts if fact)}</p>'
    yield f'<p class="question" dir="auto">{_e(query.text if query else "The question is not known.")}</p>'
    yield from (f'<p class="fault">Unscored: {_e(fault)}</p>' for fault in judged.faults)
    yield '<div class="sides"><section><h3>Answer</h3>'
    yield from _side(n, answer, judged, benchmark, folded)
    if given is not None and given.passages:
        items = "".join(f"<li>{_e(title(f'{p.doc_id}:{p.start}-{p.end}', benchmark))}" for p in given.passages)
        yield f"<details><summary>What it had before it ({len(given.passages)})</summary><ol>{items}</ol></details>"
    yield "</section>"
    if not folded or reference.text is not None:
        yield "<section><h3>Reference answer</h3>"
        yield from _side(n, reference, judged, benchmark, folded)
        yield "</section>"
    yield "</div></article>"


def _side(n: int, shown: Side, judged: Judged, benchmark: Benchmark, folded: bool) -> Iterator[str]:
    """A text with its claims marked, the counts, then a card a claim, which opens at a click where it is folded."""
    if shown.text is None:
        yield '<p class="note">Its text isn\'t at hand.</p>'
    else:
        yield f'<div class="text" dir="auto">{_marked(n, shown) or "<i>(empty)</i>"}</div>'
    if shown.warning:
        yield f'<p class="fault">{_e(shown.warning)} Nothing is marked.</p>'
    if shown.claims is None and (shown.letter == "A" or shown.text is not None):
        yield '<p class="fault">It wasn\'t taken apart into claims.</p>'
    for purpose, counts in tally(shown).items():
        yield f'<p class="count">{_e(purpose)}: {_signs(counts)} of {many(counts.total(), "claim")}</p>'
    for k, claim in enumerate(shown.claims or ()):
        name, rulings = shown.name(k), shown.rulings[k]
        said = f'<b class="name">{name}</b> {_e(claim.text)}'
        if folded:
            chip = f" {_chip(rulings[0].label)}" if rulings else ""
            yield f'<details class="claim"><summary dir="auto">{said}{chip}</summary><div id="q{n}{name}">'
            yield from (piece for ruling in rulings for piece in _ruling(ruling, benchmark))
            yield "</div></details>"
        else:
            yield f'<div class="claim" id="q{n}{name}"><p dir="auto">{said}</p>'
            yield from (piece for r in rulings for piece in _ruling(r, benchmark, skeleton(judged, r, k)))
            yield "</div>"


def _marked(n: int, shown: Side) -> str:
    """The text, each stretch in the colour of its worst claim and followed by the names and signs of those ending."""
    parts = []
    for stretch in stretches(shown):
        inner = _e(stretch.text)
        parts.append(f'<mark class="{_class(stretch.label)}">{inner}</mark>' if stretch.claims else inner)
        for k in stretch.ending:
            found = shown.rulings[k]
            label, sign = (found[0].label, found[0].mark) if found else (None, "")
            parts.append(f'<a class="tag {_class(label)}" href="#q{n}{shown.name(k)}">{shown.name(k)}{sign}</a>')
    return "".join(parts)


def _ruling(ruling: Ruling, benchmark: Benchmark, correction: str = "") -> Iterator[str]:
    """What was decided for one purpose, why, and by whom, and a line to correct it by, where there is one."""
    yield f'<div class="ruling {_class(ruling.label)}"><p>{_chip(ruling.label)} {_e(ruling.purpose)}'
    verdict = ruling.verdict
    if verdict is None or ruling.evidence is None:
        yield " <i>no verdict was given</i></p>"
    else:
        yield f" <i>{_e(ruling.category)}</i>" if ruling.category else ""
        yield ' <b class="human">corrected by a person</b></p>' if ruling.human else "</p>"
        yield from _evidence(ruling.evidence)
        yield f'<p dir="auto">{_e(verdict.reason)}</p>' if verdict.reason else ""
        yield f'<p class="who">{_who(verdict)}</p>'
    if ruling.others:
        items = "".join(_other(v, benchmark) for v in ruling.others[:_PIECES])
        more = f"<li>… and {len(ruling.others) - _PIECES} more" if len(ruling.others) > _PIECES else ""
        yield f"<details><summary>Other evidence ({len(ruling.others)})</summary><ul>{items}{more}</ul></details>"
    yield f"<details><summary>Correct this</summary><pre>{_e(correction)}</pre></details>" if correction else ""
    yield "</div>"


def _other(verdict: Verdict, benchmark: Benchmark) -> str:
    reason = f": {_e(verdict.reason)}" if verdict.reason else ""
    return f"<li>{_chip(verdict.label)} {_e(title(verdict.against, benchmark))}{reason}"


def _evidence(evidence: Evidence) -> Iterator[str]:
    """The quote, then where it is from; a quote that isn't there is said so."""
    name = _e(evidence.name)
    if evidence.url:
        name = f'<a href="{_e(evidence.url)}" rel="noreferrer noopener">{name}</a>'
    yield f'<blockquote dir="auto">{_e(evidence.quote)}</blockquote>' if evidence.quote else ""
    yield f'<p class="source">{name}{_e(", " + evidence.place) if evidence.place else ""}</p>'
    yield f'<p class="fault">Beware: {_e(evidence.doubt)}.</p>' if evidence.doubt else ""


def _who(verdict: Verdict) -> str:
    """Judge, probability, prompt, cost."""
    parts = [_e(verdict.judge or "unnamed judge")]
    parts += [f"p {verdict.probability:.2f}"] if verdict.probability is not None else []
    parts += [f"prompt <code>{_e(verdict.prompt)}</code>"] if verdict.prompt else []
    return " · ".join([*parts, _e(cost([verdict]))])
