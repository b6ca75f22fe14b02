"""The models that are none: the same everywhere, right by hand, fast enough to try everything with."""

import subprocess
import sys
from itertools import pairwise
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag import backends, text
from canlegalrag.backends import offline
from canlegalrag.backends._checks import unit_rows
from canlegalrag.errors import InputError
from canlegalrag.types import Prompt

TEXTS = ["The tenant's deposit was kept.", "Le dépôt du locataire", "", "deposit deposit", "§ 7 of the Act", "  \n"]


def hashing_by_hand(words: list[str], dim: int) -> np.ndarray:
    """The formula in plain Python: each distinct word and pair adds sign (1 + ln tf) at its place."""
    mask = (1 << 64) - 1
    hashed = [offline._hash(word) for word in words]

    def mixed(value: int) -> int:
        value = ((value ^ (value >> 33)) * 0xFF51AFD7ED558CCD) & mask
        value = ((value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53) & mask
        return value ^ (value >> 33)

    pairs = [mixed((a * 0x9E3779B97F4A7C15 + b) & mask) for a, b in pairwise(hashed)]
    features = hashed + pairs
    row = np.zeros(dim)
    for feature in dict.fromkeys(features):
        row[feature % dim] += (1 if feature >> 63 else -1) * (1 + log(features.count(feature)))
    return row


@given(st.lists(st.text(alphabet="ab é.§7\n", max_size=30), max_size=6), st.sampled_from([1, 3, 512]))
def test_hashing_is_its_formula(texts: list[str], dim: int) -> None:
    expected = np.array([hashing_by_hand(text.terms(t), dim) for t in texts]).reshape(len(texts), dim)
    found = backends.embedder("offline/hashing", dim=dim).embed(texts, kind="document")
    np.testing.assert_allclose(found, unit_rows("m", texts, expected), atol=1e-6)


def test_hashing_knows_words_and_their_order() -> None:
    embed = backends.embedder("offline/hashing").embed
    ab, ba, like, other = embed(["rent due", "due rent", "rent is due now", "custody of a child"], kind="query")
    assert ab @ ba > ab @ other
    assert ab @ ba < 0.999
    assert ab @ like > ab @ other


def test_hashing_gives_the_same_alone_in_any_company_and_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = backends.embedder("offline/hashing")
    together = embedder.embed(TEXTS, kind="document")
    alone = np.concatenate([embedder.embed([t], kind="query") for t in TEXTS])
    assert (together == alone).all()
    assert not together[2].any() and not together[5].any()
    monkeypatch.setattr(offline, "_BLOCK", 8)
    assert (embedder.embed(TEXTS, kind="document") == together).all()
    assert embedder.counts == {"texts": 3 * len(TEXTS), "truncated": 0}
    assert embedder.embed([], kind="query").shape == (0, 512)


def test_hashing_is_the_same_in_every_process() -> None:
    code = (
        "from canlegalrag import backends as b;"
        "print(b.embedder('offline/hashing').embed(['a deposit §7'], kind='query').tobytes().hex())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = backends.embedder("offline/hashing").embed(["a deposit §7"], kind="query")
    assert done.stdout.strip() == here.tobytes().hex()
    # Written down once, so that a change of the formula is seen: then the revision in the identity must change too.
    assert offline._hash("deposit") == 13953630222658666900
    row = backends.embedder("offline/hashing").embed(["deposit"], kind="query")[0]
    assert (int(row.argmax()), row.sum()) == (13953630222658666900 % 512, 1.0)


def test_overlap_is_its_formula() -> None:
    # Query: the, deposit, was, kept (4 distinct). Texts by distinct words, shared words:
    texts = ["deposit", "the the deposit of a child", "nothing here", "", "Kept was the deposit"]
    expected = [1 / sqrt(4 * 1), 2 / sqrt(4 * 5), 0.0, 0.0, 1.0]
    found = backends.reranker("offline/overlap").rerank("The deposit was kept", texts)
    assert found == pytest.approx(expected, abs=1e-12)


def test_overlap_withstands_length() -> None:
    rerank = backends.reranker("offline/overlap").rerank
    filler = " ".join(f"word{i}" for i in range(20))
    long, short, repeated = rerank("deposit kept", [f"deposit kept {filler}", "deposit of a child", "deposit " * 500])
    assert long == pytest.approx(2 / sqrt(2 * 22))
    assert repeated == rerank("deposit kept", ["deposit"])[0]  # repeating a word gains nothing
    assert short == pytest.approx(1 / sqrt(2 * 4))


def test_overlap_of_nothing() -> None:
    reranker = backends.reranker("offline/overlap")
    assert reranker.rerank("deposit", []) == []
    assert reranker.rerank("", ["deposit", ""]) == [0.0, 0.0]
    assert reranker.counts["texts"] == 2


PROMPT = """Answer from the passages.

Question: Who keeps the deposit?
Passages:
[1] The weather was fine. The landlord keeps the deposit until the lease ends.
[2] Custody was joint. The deposit is held in trust!
"""


def test_extractive_picks_sentences_in_reading_order() -> None:
    (answer,) = backends.generator("offline/extractive").generate([Prompt(PROMPT)])
    assert answer.text.startswith(("The weather was fine. The landlord keeps", "The landlord keeps"))
    assert answer.text.index("The landlord keeps the deposit") < answer.text.index("The deposit is held in trust!")
    assert "Custody" not in answer.text
    assert answer.stop == "stop"
    assert answer.usage["output_tokens"] == len(answer.text.split())
    assert answer.usage["cost"] == 0.0


def test_extractive_reads_either_order_and_plain_text() -> None:
    generate = backends.generator("offline/extractive").generate
    swapped = "Passages:\nRent is due. Custody was joint.\nQUESTION:\nWhen is rent due?"
    plain = "rent rent rent"
    found = generate([Prompt(swapped), Prompt(plain), Prompt("Question: rent?\nPassages: Nothing shared."), Prompt("")])
    assert [c.text for c in found] == ["Rent is due.", "rent rent rent", "", ""]
    assert [c.stop for c in found] == ["stop", "stop", "empty", "empty"]


def test_extractive_stops_at_its_length() -> None:
    (answer,) = backends.generator("offline/extractive").generate([Prompt(PROMPT, max_tokens=4)])
    assert (len(answer.text.split()), answer.stop) == (4, "length")


def test_extractive_says_what_it_cannot_do() -> None:
    generate = backends.generator("offline/extractive").generate
    with pytest.raises(InputError, match="can't follow a JSON schema"):
        generate([Prompt("x", schema={"type": "object"})])
    with pytest.raises(InputError, match="max_tokens 0"):
        generate([Prompt("x", max_tokens=0)])
    assert generate([]) == []


@given(st.text(max_size=200))
def test_extractive_takes_any_prompt(prompt: str) -> None:
    (answer,) = backends.generator("offline/extractive").generate([Prompt(prompt)])
    assert (answer.stop == "empty") == (answer.text == "")
