"""Judge and score answers given as plain lists, or recorded verdicts: as flat as a metric of the Hub."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from canlegalrag import backends
from canlegalrag.benchmark import Benchmark
from canlegalrag.calls import Calls
from canlegalrag.errors import InputError
from canlegalrag.judging.assessing import Item, assess
from canlegalrag.measures import claims
from canlegalrag.measures.decided import PURPOSES
from canlegalrag.measures.shares import summarise
from canlegalrag.plain import require_list, require_strings
from canlegalrag.protocols import Decomposer, Judge
from canlegalrag.records import judged_rows, read_verdicts
from canlegalrag.submission.claims import judges_of
from canlegalrag.types import Answer, Judged

__all__ = ["check_answers", "judge_answers", "score_answers", "score_judged"]

Flat: TypeAlias = dict[str, float | int | str | None]
"""Measure's name to mean, with counts and the judge's name."""


def judge_answers(
    predictions: Sequence[str],
    references: Sequence[str | None] | None = None,
    contexts: Sequence[Sequence[str]] | None = None,
    *,
    judge: str | Judge = "offline/lexical",
    decomposer: str | Decomposer | None = None,
    measures: str | Sequence[str] | None = None,
    calls: Calls | None = None,
) -> dict[str, Judged]:
    """Take answers apart into claims and judge these: what the pipeline does in stages, over plain lists.

    Args:
        predictions: answers, as texts.
        references: for each answer the reference answer; None, or a blank text, where there is none.
        contexts: for each answer the texts that the system had before it, best first.
        judge: `provider/model`, or a judge. `offline/lexical` is a stand-in, and no measure of quality.
        decomposer: `provider/model`, or a decomposer; None for `offline/sentences`, one claim a sentence.
        measures: what is to be scored: only what these need is judged; None for all that can be.
        calls: how paid replies are fetched, kept and counted; None keeps and limits nothing.

    Returns:
        Position of the answer, from "0", to its claims and verdicts.

    Raises:
        InputError: lists of different lengths, something other than texts in them, an unknown measure or model, a
            measure that needs references or contexts where there are none.
    """
    check_answers(predictions, references, contexts)
    texts = [None] * len(predictions) if references is None else [t if t and t.strip() else None for t in references]
    possible = _possible(references is not None and (any(texts) or not texts), contexts is not None)
    if not possible and predictions:
        raise InputError("answers", "there is nothing to judge them by", "give references, contexts or both")
    needed = {need for name in claims.known(measures, possible) for need in claims.MEASURES[name].needs}
    purposes = [purpose for purpose in possible if purpose in needed] or possible
    judging = _judge(judge, calls)
    taking = "offline/sentences" if decomposer is None else decomposer
    taking = backends.decomposer(taking, calls) if isinstance(taking, str) else _able(taking, "decompose")
    items = [
        Item(Answer(str(i), text), texts[i], None, None if contexts is None else _evidence(contexts[i]))
        for i, text in enumerate(predictions)
    ]
    return {of.query_id: of for of in assess(items, judging, taking, purposes)} if items else {}


def score_answers(
    predictions: Sequence[str],
    references: Sequence[str | None] | None = None,
    contexts: Sequence[Sequence[str]] | None = None,
    *,
    judge: str | Judge = "offline/lexical",
    decomposer: str | Decomposer | None = None,
    measures: str | Sequence[str] | None = None,
    calls: Calls | None = None,
) -> Flat:
    """Take answers apart into claims, judge these, and score.

    Args:
        predictions: as in `judge_answers`.
        references: as in `judge_answers`.
        contexts: as in `judge_answers`.
        judge: as in `judge_answers`.
        decomposer: as in `judge_answers`.
        measures: names, as a sequence or with blanks between them; None for all that can be computed.
        calls: as in `judge_answers`.

    Returns:
        As `score_judged`.

    Raises:
        InputError: as `judge_answers`.
    """
    judging = _judge(judge, calls)
    judged = judge_answers(
        predictions, references, contexts, judge=judging, decomposer=decomposer, measures=measures, calls=calls
    )
    return score_judged(judged, measures=measures) | {"judge": str(judging.identity["model"])}


def score_judged(
    verdicts: str | os.PathLike[str] | Sequence[Mapping[str, Any] | str] | Mapping[str, Judged],
    *,
    benchmark: Benchmark | None = None,
    measures: str | Sequence[str] | None = None,
) -> Flat:
    """Score recorded verdicts.

    Args:
        verdicts: the path of a `verdicts.jsonl`, its lines, as objects or as JSON, or what was read of them.
        benchmark: gives the queries that count, those without an answer scoring zero; None for those of the verdicts.
        measures: names, as a sequence or with blanks between them; None for all that was judged for.

    Returns:
        The mean of each measure (None where no answer has a value), as `<measure>_n` over how many answers; `judge`,
        who gave the verdicts; `n`, the answers that have a value in each of accuracy, groundedness, coverage and
        reference groundedness, as far as these were asked for (in each measure where none of them was), and `skipped`,
        the others.

    Raises:
        InputError: a line that can't be read, an unknown measure, one that needs what nobody judged.

    >>> line = {
    ...     "query_id": "q1",
    ...     "asked": ["accuracy"],
    ...     "claims": [{"text": "The tenancy ended."}, {"text": "No notice was given."}],
    ...     "reference": [{"text": "The tenancy ended without notice."}],
    ...     "verdicts": [
    ...         {"side": "answer", "index": 0, "against": "reference", "label": "supported", "judge": "human"},
    ...         {"side": "answer", "index": 1, "against": "reference", "label": None, "judge": "human"},
    ...     ],
    ... }
    >>> score_judged([line], measures="accuracy unscored_rate")
    {'accuracy': 1.0, 'accuracy_n': 1, 'unscored_rate': 0.5, 'unscored_rate_n': 1, 'n': 1, 'skipped': 0, \
'judge': 'human'}
    """
    if isinstance(verdicts, str | os.PathLike):
        judged = read_verdicts(os.fspath(verdicts))
    elif isinstance(verdicts, Mapping) and all(isinstance(of, Judged) for of in verdicts.values()):
        judged = dict(verdicts)
    else:
        require_list("verdicts", verdicts, "give the lines of a verdicts.jsonl, or its path")
        judged = judged_rows(verdicts)
    if benchmark is not None:
        judged = {query: of for query, of in judged.items() if query in benchmark.queries}
    queries = list(judged if benchmark is None else benchmark.queries)
    references = (benchmark.answers or None) if benchmark else None
    shares = claims.per_query(judged, measures, queries=queries, references=references)
    scores = summarise(shares, resamples=1)
    result: Flat = {}
    for name in shares:
        result |= {name: scores.values[name] if scores.n[name] else None, f"{name}_n": scores.n[name]}
    main = [name for name in shares if name in PURPOSES] or list(shares)
    n = sum(all(shares[name][query][1] for name in main) for query in queries)
    return result | {"n": n, "skipped": len(queries) - n, "judge": ", ".join(judges_of(judged)) or None}


def check_answers(
    predictions: Sequence[str],
    references: Sequence[str | None] | None = None,
    contexts: Sequence[Sequence[str]] | None = None,
) -> None:
    """Make sure that predictions are strings, references strings or None, contexts lists of strings, one each.

    Raises:
        InputError: they are not, or a string holds half a surrogate pair, which no file can.
    """
    require_strings("predictions", predictions, "give a list of answers, as texts")
    if references is not None:
        require_list("references", references, "give a list of reference answers, as texts")
        require_strings("references", [t for t in references if t is not None], "give the text, or None for none")
        _same_length("references", references, predictions)
    if contexts is not None:
        require_list("contexts", contexts, "give a list of lists of texts, one a prediction")
        _same_length("contexts", contexts, predictions)
        for i, pieces in enumerate(contexts):
            require_strings(f"contexts of query {i}", pieces, "give a list of texts, empty where there is none")


def _judge(judge: str | Judge, calls: Calls | None) -> Judge:
    return backends.judge(judge, calls) if isinstance(judge, str) else _able(judge, "judge")


_Able = TypeVar("_Able")


def _able(given: _Able, verb: str) -> _Able:
    """Refuse what isn't a model, such as None, before any work is done."""
    if not callable(getattr(given, verb, None)) or not hasattr(given, "identity"):
        raise InputError(f"{given!r:.80}", f"can't {verb}", "give provider/model, such as offline/lexical to judge")
    return given


def _same_length(name: str, given: Sequence[Any], predictions: Sequence[str]) -> None:
    if len(given) != len(predictions):
        what = f"{len(given)} for {len(predictions)} predictions"
        raise InputError(name, what, "give one a prediction")


def _evidence(pieces: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((f"context {n}", piece) for n, piece in enumerate(pieces))


def _possible(reference: bool, context: bool) -> list[str]:
    """What answers can be judged for, with what is given."""
    there = {"accuracy": reference, "coverage": reference, "groundedness": context}
    there["reference_groundedness"] = reference and context
    return [purpose for purpose in PURPOSES if there[purpose]]
