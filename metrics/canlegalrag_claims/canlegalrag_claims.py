"""Measures of claims, as an `evaluate` module; all of the work is done by `canlegalrag`."""

import datasets
import evaluate

import canlegalrag
from canlegalrag.errors import InputError
from canlegalrag.submission import claim_lists

_DESCRIPTION = """\
Whether an answer is right and grounded, claim by claim: accuracy (its claims that the reference answer entails),
coverage (claims of the reference that it entails), groundedness (its claims that what the system was given entails),
contradictions, hallucination as an interval, abstentions, and how much the judge failed to score. A claim without a
verdict is unscored, never wrong and never right; bounds say what that leaves open.
"""

_INPUTS = """\
Args:
    predictions: answers, as texts.
    references: for each answer the reference answer; None where there is none. Optional.
    contexts: for each answer a list of the texts that the system had before it. Optional. Handed to `compute`.
    judge: who judges, as provider/model. Default: "offline/lexical", a stand-in that needs no model and is no measure
        of quality.
    decomposer: who takes texts apart into claims. Default: "offline/sentences", one claim a sentence.
    verdicts: instead of all of the above: the path of a verdicts.jsonl, or its lines, as objects or as JSON.
    benchmark: with `verdicts`: a benchmark ("sample", a folder, owner/name on the Hub) whose queries without an answer
        score zero.
    measures: names, such as "accuracy coverage". Default: all that can be computed.

Returns:
    The mean of each measure under its name (None where no answer has a value) with the number of answers behind it
    (`<name>_n`), `n`, the answers that have a value in each of accuracy, groundedness, coverage and
    reference_groundedness that was computed, `skipped`, the others, and `judge`, who judged.

Examples:
    >>> metric = evaluate.load("metrics/canlegalrag_claims")
    >>> answer, reference = "The landlord must return the deposit.", "The landlord must return the deposit."
    >>> metric.compute(predictions=[answer], references=[reference], measures="accuracy")["accuracy"]
    1.0
"""

_CITATION = """\
@software{canlegalrag,
  title = {canlegalrag: a benchmark kit for retrieval-augmented question answering over Canadian case law},
  author = {{The canlegalrag authors}},
  license = {MIT}
}
"""


class CanLegalRAGClaims(evaluate.Metric):
    """Claims of answers against reference answers and contexts, or recorded verdicts on them."""

    def _info(self) -> evaluate.MetricInfo:
        texts = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            # One schema, never a choice: evaluate would take the first that fits.
            features=datasets.Features({"predictions": texts, "references": texts}),
        )

    def compute(self, *, predictions=None, references=None, verdicts=None, **kwargs):
        """Score answers, or verdicts: these are rows of their own, which evaluate's table has no place for."""
        if verdicts is None:
            return super().compute(predictions=predictions, references=references, **kwargs)
        given = {"predictions": predictions, "references": references, **kwargs}
        also = [name for name in given if name not in ("benchmark", "measures") and given[name] is not None]
        if also or self.writer is not None:
            what = f"{', '.join(also) or 'answers'} can't be given beside them"
            raise InputError("verdicts", what, "give one or the other: verdicts are of answers that were judged")
        benchmark = kwargs.get("benchmark")
        if isinstance(benchmark, str):
            benchmark = canlegalrag.load(benchmark)
        return claim_lists.score_judged(verdicts, benchmark=benchmark, measures=kwargs.get("measures"))

    def add_batch(self, *, predictions=None, references=None, **kwargs):
        """Refuse what `evaluate` would bend to its schema: a mapping becomes its keys, a number its digits."""
        claim_lists.check_answers(predictions, references)
        texts = [""] * len(predictions) if references is None else [text or "" for text in references]
        super().add_batch(predictions=predictions, references=texts, **kwargs)

    def add(self, *, prediction=None, reference=None, **kwargs):
        """As `add_batch`, for one answer."""
        claim_lists.check_answers([prediction], [reference])
        super().add(prediction=prediction, reference=reference or "", **kwargs)

    def _compute(
        self, *, predictions, references, contexts=None, judge="offline/lexical", decomposer=None, measures=None
    ):
        return claim_lists.score_answers(
            predictions, references, contexts, judge=judge, decomposer=decomposer, measures=measures
        )
