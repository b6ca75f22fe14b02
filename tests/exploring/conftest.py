"""What the tests of exploring share: the sample, and a small benchmark made by hand."""

from pathlib import Path

import pytest

import canlegalrag
from canlegalrag.benchmark import Benchmark
from canlegalrag.exploring import Explorer
from canlegalrag.types import Answer, Document, Query, Snippet

LEASE = (
    "[1] A landlord must return the deposit.\n\n[2] See Roe v. Doe, 2020 BCSC 90102, on interest.\n\n[3] Costs follow."
)

HAND = Benchmark(
    "hand",
    {
        "d1": Document("d1", "Doe v. Roe", LEASE, "BCSC", 2021, "BC", citations=("2021 BCSC 90101",)),
        "d2": Document(
            "d2", "Roe v. Doe", "[1] Interest is owed on rent.", "BCSC", 2020, citations=("2020 BCSC 90102",)
        ),
        "d3": Document("d3", "Poe v. Coe", "[1] A dog was lost.", "ONCA", 2019, citations=("2019 ONCA 90103",)),
        "d4": Document("d4", "Source", "The deposit of the landlord, asked about.", url="javascript:alert(1)"),
    },
    {
        "q1": Query("q1", "Must the landlord return my deposit?", "Manitoba", "lay", "b", "seed", True),
        "q2": Query(
            "q2", "Is interest owed on a deposit?", "Manitoba", "expert", "b", "focus", False, excluded=("d4",)
        ),
    },
    {"q1": {"d1": 1, "d3": 1, "d2": 0}, "q2": {"d2": 1}},
    {"q1": Answer("q1", "Yes. The landlord must return the deposit.")},
    (Snippet("q1", "d1", 4, 39, LEASE[4:39]), Snippet("q1", "d1", 20, 60, LEASE[20:60])),
)


@pytest.fixture(scope="session")
def hand_made(tmp_path_factory: pytest.TempPathFactory) -> Explorer:
    """Four documents and two queries, whose every rank follows from the words."""
    return Explorer(HAND, cache=tmp_path_factory.mktemp("hand"))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of indexes."""
    return tmp_path_factory.mktemp("indexes")


@pytest.fixture(scope="session")
def sample(cache: Path) -> Explorer:
    """The sample."""
    return Explorer(canlegalrag.load("sample"), cache=cache)
