"""Retrieval measures for Canadian case law, as an `evaluate` module; all of the work is done by `canlegalrag`."""

import datasets
import evaluate

from canlegalrag.measures import lists

_DESCRIPTION = """\
nDCG, recall, precision, hit, MRR and MAP of ranked document ids against relevant ones, equal to trec_eval's: a
document that is found by several passages counts once, before the cut at k. `family="paper"` counts passages as the
published code of CanLegalRAGBench does, so that its tables can be compared.
"""

_INPUTS = """\
Args:
    predictions: for each query a list of document ids, best first; an id may be repeated (one a passage).
    references: for each query a list of the ids of the relevant documents.
    grades: for each query a list of whole numbers, one a reference (0: judged, not relevant; below 0: not judged).
        Default: all 1.
    k: cut-off of the usual measures. Default: 10. Not together with `measures`.
    measures: names, such as "ndcg@5 recall@20 map". Default: the usual ones of the family.
    family: "standard" (default) or "paper".

Returns:
    The mean of each measure under its name (None where no query has a value), `n`, the queries in that mean, and
    `skipped`, those without a relevant document. A measure that runs over more queries than `n` (`judged@k`) has
    `<measure>_n` and `<measure>_skipped` of its own.

Examples:
    >>> metric = evaluate.load("metrics/canlegalrag_retrieval")
    >>> metric.compute(predictions=[["2019-scc-65", "2003-scc-24"]], references=[["2003-scc-24"]], k=10)["mrr"]
    0.5
"""

_CITATION = """\
@software{canlegalrag,
  title = {canlegalrag: a benchmark kit for retrieval-augmented question answering over Canadian case law},
  author = {{The canlegalrag authors}},
  license = {MIT}
}
"""


class CanLegalRAGRetrieval(evaluate.Metric):
    """Ranked ids against relevant ids."""

    def _info(self) -> evaluate.MetricInfo:
        ids = datasets.List(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            # One schema, never a choice: evaluate would take the first that fits, and a dict fits as its keys.
            features=datasets.Features({"predictions": ids, "references": ids}),
        )

    def add_batch(self, *, predictions=None, references=None, **kwargs):
        """Refuse what `evaluate` would trip over (None) or bend to its schema: a mapping becomes its keys."""
        lists.check_lists(predictions, references)
        super().add_batch(predictions=predictions, references=references, **kwargs)

    def add(self, *, prediction=None, reference=None, **kwargs):
        """As `add_batch`, for one query."""
        lists.check_lists([prediction], [reference])
        super().add(prediction=prediction, reference=reference, **kwargs)

    def _compute(self, *, predictions, references, grades=None, k=None, measures=None, family=None):
        return lists.score_lists(predictions, references, grades, k=k, measures=measures, family=family)
