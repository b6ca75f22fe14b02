"""How fast and how right `offline/lexical` is, beside two judges that hardly judge.

    python benchmarks/judging.py [--benchmark sample] [--repeat 5]

Reads the benchmark's labelled pairs, each claim against its quote. `always supported` says so of everything; `word
overlap` calls a claim supported whose words stand in the quote to a share of at least t, with the t that is best on
these very pairs (so it is flattered; the lexical judge is not fitted to them). Speed is the best of the repeats, all
in one run: short, each claim against its quote; long, against the whole decision, which is cut up anew each time.
Prints a Markdown table.
"""

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence

import canlegalrag
from canlegalrag import backends
from canlegalrag.backends import _lexical, _lexical_reading
from canlegalrag.types import Claim, Task

LABELS = ("supported", "contradicted", "unsupported")
Judging = Callable[[Sequence[tuple[str, str, str]]], list[str | None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", default="sample")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    benchmark = canlegalrag.load(arguments.benchmark)
    gold = [pair.label for pair in benchmark.pairs]
    short = [(pair.claim, pair.doc_id, pair.evidence) for pair in benchmark.pairs]
    long = [(pair.claim, pair.doc_id, benchmark.documents[pair.doc_id].text) for pair in benchmark.pairs]
    shares = [overlap(claim, quote) for claim, _, quote in short]
    t = max(sorted(set(shares)), key=lambda t: kappa(said(gold), [share >= t for share in shares]))
    judges: dict[str, Judging] = {
        "always supported": lambda given: ["supported" for _ in given],
        f"word overlap ≥ {t:.2f}": lambda given: [
            "supported" if overlap(claim, text) >= t else "unsupported" for claim, _, text in given
        ],
        "offline/lexical": lexical,
    }
    print("| judge | accuracy | kappa | supported or not | kappa | claims/s, quote | claims/s, decision |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, judge in judges.items():
        found = judge(short)
        figures = (
            right(gold, found),
            kappa(gold, found),
            right(said(gold), said(found)),
            kappa(said(gold), said(found)),
        )
        speeds = (len(gold) / best(judge, given, arguments.repeat) for given in (short, long))
        print(f"| {name} | " + " | ".join([f"{f:.3f}" for f in figures] + [f"{s:,.0f}" for s in speeds]) + " |")
    print("\n| offline/lexical on | " + " | ".join(LABELS) + " |\n|---|" + "--:|" * len(LABELS))
    counts = Counter(zip(gold, lexical(short), strict=True))
    for label in LABELS:
        print(f"| {label} | " + " | ".join(str(counts[label, other]) for other in LABELS) + " |")


def lexical(given: Sequence[tuple[str, str, str]]) -> list[str | None]:
    """The judge, with nothing remembered from before."""
    _lexical.index.cache_clear()
    _lexical_reading.read.cache_clear()
    tasks = [Task((Claim("q", "answer", 0, claim),), doc_id, text) for claim, doc_id, text in given]
    return [verdicts[0].label for verdicts in backends.judge("offline/lexical").judge(tasks)]


def overlap(claim: str, text: str) -> float:
    """Share of a claim's words that stand in a text."""
    words = set(re.findall(r"\w+", claim.casefold()))
    return len(words & set(re.findall(r"\w+", text.casefold()))) / max(1, len(words))


def said(labels: Sequence[str | None]) -> list[bool]:
    """Which are supported."""
    return [label == "supported" for label in labels]


def right(gold: Sequence[object], found: Sequence[object]) -> float:
    """Share that agrees."""
    return sum(a == b for a, b in zip(gold, found, strict=True)) / len(gold)


def kappa(gold: Sequence[object], found: Sequence[object]) -> float:
    """Cohen's: agreement beyond what the two rates give by chance."""
    one, other = Counter(gold), Counter(found)
    chance = sum(one[label] * other[label] for label in one) / len(gold) ** 2
    return (right(gold, found) - chance) / (1 - chance) if chance < 1 else 0.0


def best(judge: Judging, given: Sequence[tuple[str, str, str]], repeat: int) -> float:
    """Seconds of the quickest of some runs."""
    seconds = []
    for _ in range(max(1, repeat)):
        start = time.perf_counter()
        judge(given)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
