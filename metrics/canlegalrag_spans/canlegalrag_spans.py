"""Measures of retrieved characters, as an `evaluate` module; all of the work is done by `canlegalrag`."""

import datasets
import evaluate

from canlegalrag.measures import span_lists

_DESCRIPTION = """\
Precision, recall and F1 of the characters that were retrieved, the share of passages from wrong documents, and how much
text was retrieved, as in LegalBench-RAG. A character counts once, however many passages have it; `mode="reference"`
counts as the published scorer does, so that its tables can be compared.
"""

_INPUTS = """\
Args:
    predictions: for each query a list of {"doc_id", "start", "end"}, best first; `end` is one past the last character.
    references: for each query a list of the gold spans, in the same form.
    datasets: for each query the name of its data set, for `by_dataset` and `macro`. Handed to `compute`.
    k: how many spans count, a whole number or a list of them. Default: 1, 2, 4, 8, 16, 32, 64.
    mode: "strict" (default: retrieved spans are merged first) or "reference" (each counts as it is).

Returns:
    `precision@k`, `recall@k`, `f1@k`, `wrong_document_rate@k` and `retrieved_characters@k` for each k (None where no
    query has a value), `n`, the queries in the means of the first three, and `skipped`, those without gold. Under the
    plain names too where k is one number. A measure that runs over other than `n` queries has `<measure>_n` and
    `<measure>_skipped` of its own. With data sets, `by_dataset` and their mean with equal weight, `macro`.

Examples:
    >>> metric = evaluate.load("metrics/canlegalrag_spans")
    >>> gold, found = {"doc_id": "a", "start": 0, "end": 100}, {"doc_id": "a", "start": 0, "end": 80}
    >>> metric.compute(predictions=[[found]], references=[[gold]], k=1)["recall"]
    0.8
"""

_CITATION = """\
@software{canlegalrag,
  title = {canlegalrag: a benchmark kit for retrieval-augmented question answering over Canadian case law},
  author = {{The canlegalrag authors}},
  license = {MIT}
}
"""


class CanLegalRAGSpans(evaluate.Metric):
    """Retrieved spans against gold spans."""

    def _info(self) -> evaluate.MetricInfo:
        offset = datasets.Value("int64")
        # datasets.List keeps a list of rows; a bare list or a Sequence of a dict would become a dict of lists.
        spans = datasets.List({"doc_id": datasets.Value("string"), "start": offset, "end": offset})
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            # One schema, never a choice: evaluate would take the first that fits.
            features=datasets.Features({"predictions": spans, "references": spans}),
        )

    def add_batch(self, *, predictions=None, references=None, **kwargs):
        """Refuse what `evaluate` would bend to its schema (1.5 becomes 1, "7" becomes 7), and drop other keys."""
        predictions, references = span_lists.check_spans(predictions, references)
        super().add_batch(predictions=predictions, references=references, **kwargs)

    def add(self, *, prediction=None, reference=None, **kwargs):
        """As `add_batch`, for one query."""
        (prediction,), (reference,) = span_lists.check_spans([prediction], [reference])
        super().add(prediction=prediction, reference=reference, **kwargs)

    def _compute(self, *, predictions, references, datasets=None, k=None, mode="strict"):
        return span_lists.score_spans(predictions, references, datasets=datasets, k=k, mode=mode)
