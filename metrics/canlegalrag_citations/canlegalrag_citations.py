"""Citation measures for Canadian law, as an `evaluate` module; all of the work is done by `canlegalrag`."""

import datasets
import evaluate

import canlegalrag
from canlegalrag.measures import citations

_DESCRIPTION = """\
Whether the citations in an answer exist, under the case name given, and whether they are the decisions that should have
been cited: invented rate, coverage, citation precision, recall and F1, and the share that was retrieved. Parallel and
repeated citations of one decision count once; a real citation under an invented name is a mismatch, never a pass.
"""

_INPUTS = """\
Args:
    predictions: answers, as texts.
    references: for each answer a list of the gold documents, as ids or as citations; empty where there is none.
    documents: what exists: a list of {"id", "citations", "title"}, or the source of a benchmark ("sample", a folder,
        owner/name on the Hub). Handed to `compute`.
    retrieved: for each answer a list of the ids or citations of what the system had before it. Optional.
    measures: names, such as "invented_rate coverage". Default: all.

Returns:
    The mean of each share under its name (None where no answer has a value) with the number of answers behind it
    (`<name>_n`), the total of each count, `n`, the answers that have a value in every share, and `skipped`, the others.

Examples:
    >>> metric = evaluate.load("metrics/canlegalrag_citations")
    >>> rows = [{"id": "a", "citations": ["2021 BCSC 90101"], "title": "Okafor v. Lindqvist"}]
    >>> metric.compute(predictions=["Doe v. Roe, 2021 BCSC 90101"], references=[["a"]], documents=rows)["invented_rate"]
    1.0
"""

_CITATION = """\
@software{canlegalrag,
  title = {canlegalrag: a benchmark kit for retrieval-augmented question answering over Canadian case law},
  author = {{The canlegalrag authors}},
  license = {MIT}
}
"""


class CanLegalRAGCitations(evaluate.Metric):
    """Citations in answers against a registry and the gold."""

    def _info(self) -> evaluate.MetricInfo:
        texts = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            # One schema, never a choice: evaluate would take the first that fits, and a dict fits as its keys.
            features=datasets.Features({"predictions": texts, "references": datasets.List(texts)}),
        )

    def add_batch(self, *, predictions=None, references=None, **kwargs):
        """Refuse what `evaluate` would bend to its schema: a mapping becomes its keys, a number its digits."""
        citations.check_texts(predictions, references)
        super().add_batch(predictions=predictions, references=references, **kwargs)

    def add(self, *, prediction=None, reference=None, **kwargs):
        """As `add_batch`, for one answer."""
        citations.check_texts([prediction], [reference])
        super().add(prediction=prediction, reference=reference, **kwargs)

    def _compute(self, *, predictions, references, documents=None, retrieved=None, measures=None):
        if isinstance(documents, str):
            documents = canlegalrag.load(documents).documents
        return citations.score_answers(predictions, references, documents, retrieved, measures=measures)
