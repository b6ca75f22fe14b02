"""The lexical comparison of a claim with a text: the nearest sentences, and what in them agrees or disagrees."""

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import log2

from canlegalrag import citations, text
from canlegalrag.backends._lexical_faults import Faults, faults
from canlegalrag.backends._lexical_reading import Reading, flat, quashed, read
from canlegalrag.backends._lexical_stems import OPPOSITES, stem

__all__ = ["Comparison", "Evidence", "compare", "enough", "index"]

_LEAST = 0.25
_EACH_DOUBLING = 0.03
_CANDIDATES = 3
_WORDS = 2  # of a claim, whatever their share, that say that the same is spoken of
_NEAR = 0.8  # share of the most that any sentences have, from which others are read too
_TAKEN_BACK = re.compile(
    r"\b(?:not|no|never|nor|cannot|\w+n't|if|unless|whether|argue[sd]?|alleg\w+|contend\w*|submit\w*|assert\w*|claim(?:s|ed)|"
    r"ne|n'\w+|pas|si|sauf|pretend\w*|soutien\w*|allegu\w*|plaide\w*)\b"
)
"""What, before a claim in its sentence, takes it back."""


Kinds = tuple[tuple[str, str], ...]


def enough(sentences: int) -> float:
    """Share of a claim's words that one or two sentences must have to support or contradict it.

    0.25 + 0.03 log2 n among n sentences, at most 0.5: the more there are to choose from, the more likely one has them
    by chance. Set on the claims of the sample's reference answers against their gold snippets and whole decisions, and
    against those of other queries.

    >>> enough(1), enough(16), enough(1000)
    (0.25, 0.37, 0.5)
    """
    return min(0.5, _LEAST + _EACH_DOUBLING * log2(max(1, sentences)))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim against one or two sentences."""

    coverage: float
    """Share of the claim's stems that the sentences have."""
    conflicts: Kinds = ()
    """What the sentences say otherwise: kind (`polarity`, `number`, `role`, `modality`, `scope`) and words for it."""
    gaps: Kinds = ()
    """What the sentences don't say: kind (those, `citation`, `name`, `reported`) and words for it."""
    start: int = 0
    """First character of the sentences in the evidence."""
    end: int = 0
    """One past the last."""
    enough: float = _LEAST
    """Coverage from which the sentences speak of the same."""

    @property
    def label(self) -> str:
        """`supported`, `contradicted` or `unsupported`."""
        if self.coverage < self.enough:
            return "unsupported"
        if not self.conflicts and not self.gaps:
            return "supported"
        foreign = {"citation", "name", "reported"} & {kind for kind, _ in self.gaps}
        return "contradicted" if self.conflicts and not foreign else "unsupported"

    @property
    def score(self) -> float:
        """Coverage on a scale that has a half at `enough`; a third of it where anything disagrees or is missing."""
        if self.coverage < self.enough:
            half = self.coverage / self.enough
        else:
            half = 2 - (1 - self.coverage) / (1 - self.enough) if self.coverage < 1 else 2.0
        return half / (6 if self.conflicts or self.gaps else 2)

    @property
    def reason(self) -> str:
        """What agreed or failed."""
        words = f"{self.coverage:.0%} of its words"
        faults = "; ".join(what for _, what in (*self.conflicts, *self.gaps))
        if faults:
            return f"{words}; {faults}"
        return (
            f"{words}; nothing disagrees" if self.coverage >= self.enough else f"only {words} in the nearest sentences"
        )


class Evidence:
    """A text cut into sentences, each known by its stems."""

    def __init__(self, whole: str) -> None:
        from canlegalrag.judging.sentences import spans

        self.whole = whole
        self.spans = spans(whole)
        self.postings: dict[str, list[int]] = defaultdict(list)
        coded = text.encode([quashed(whole[a:b]) for a, b in self.spans])
        stems = [stem(term.partition("'")[0] or term) for term in coded.terms]
        codes, start = coded.codes.tolist(), 0
        for i, end in enumerate(coded.ends.tolist()):
            for base in {stems[code] for code in codes[start:end]} - {""}:
                self.postings[base].append(i)
            start = end
        self.enough = enough(len(self.spans))

    @cached_property
    def _flat(self) -> tuple[str, list[int]]:
        """The sentences in a plain form, one space between them, and where each starts in it."""
        plainly = [flat(self.whole[a:b]) for a, b in self.spans]
        return " ".join(plainly), list(accumulate((len(one) + 1 for one in plainly), initial=0))[:-1]

    def holds(self, number: str) -> bool:
        """Whether a number stands anywhere."""
        return re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", self.whole) is not None

    def verbatim(self, claim: str) -> tuple[int, int] | None:
        """The sentences in which a claim stands word for word, without what would take it back; None where none do."""
        wanted = flat(claim).rstrip(" .,;:")
        if not wanted:
            return None
        whole, starts = self._flat
        at = whole.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            first, last = bisect_right(starts, at) - 1, bisect_right(starts, end - 1) - 1
            inside = whole[at - 1 : at].isalnum() or whole[end : end + 1].isalnum()
            if not inside and not _TAKEN_BACK.search(whole[starts[first] : at]):
                return self.spans[first][0], self.spans[last][1]
            at = whole.find(wanted, end)
        return None

    def nearest(self, claim: Reading) -> list[tuple[int, int, int]]:
        """First and last of the one or two neighbouring sentences that have most of a claim's stems, and how many.

        Of equals the fewer and shorter, then the first; what has less than `_NEAR` of the most is left out.
        """
        bits = {base: 1 << n for n, base in enumerate(claim.content)}
        held: dict[int, int] = defaultdict(int)
        for base, bit in bits.items():
            for other in (base, *OPPOSITES.get(base, ())):
                for i in self.postings.get(other, ()):
                    held[i] |= bit
        if not held:
            return []
        counts = {i: mask.bit_count() for i, mask in held.items()}
        least = _NEAR * max(counts.values())
        near = [(count, i, i) for i, count in counts.items() if count >= least]
        for i, count in counts.items():
            after = counts.get(i + 1, 0)
            if after and count + after >= least and (both := (held[i] | held[i + 1]).bit_count()) > max(count, after):
                near.append((both, i, i + 1))
        least = _NEAR * max(shared for shared, *_ in near)
        near = [one for one in near if one[0] >= least]
        near.sort(key=lambda one: (-one[0], one[2] - one[1], self.spans[one[2]][1] - self.spans[one[1]][0], one[1]))
        return [(first, last, shared) for shared, first, last in near[:_CANDIDATES]]

    def decide(self, claim: Reading, name: str = "") -> Comparison | None:
        """Compare a claim with its nearest sentences: what supports it, else what the nearest says.

        None where nothing is shared.
        """
        near = self.nearest(claim)
        if not near:
            return None
        size = len(claim.content)
        needed = min(1.0, max(self.enough, _WORDS / size))
        people = len(claim.people.intersection(claim.content))
        found = []
        for first, last, shared in near:
            start, end = self.spans[first][0], self.spans[last][1]
            if shared < needed * (size - people):  # it can't have enough of the words, whatever else it says
                found.append(Comparison(shared / size, start=start, end=end, enough=needed))
            else:
                of = compare(claim, read(self.whole[start:end]), self, name)
                found.append(Comparison(*of, start, end, needed))
            if found[-1].label == "supported":
                break
        return max(found, key=lambda c: (c.label == "supported", c.coverage))


@lru_cache(maxsize=256)
def index(whole: str) -> Evidence:
    """Cut a text up, once for all claims against it."""
    return Evidence(whole)


def compare(claim: Reading, given: Reading, evidence: Evidence, name: str) -> tuple[float, Kinds, Kinds]:
    """Coverage, conflicts and gaps of a claim and sentences of evidence, whose name may be the slug of a citation."""
    elsewhere = evidence.postings
    referred = "pronoun" in given.scope or bool(given.roles)
    opposed = {
        base: other
        for base in claim.stems
        for other in sorted(OPPOSITES.get(base, ()))
        if base not in given.stems and other in given.stems and other not in claim.stems
    }
    shared = set(claim.stems) & set(given.stems)
    called = {b for b in claim.people if b not in shared and referred and (b in elsewhere or b.startswith("="))}
    # Whom a pronoun stands for is checked for itself and says nothing of the rest.
    content = set(claim.content) - called
    coverage = (
        len(content & (shared | set(opposed))) / len(content) if content else float(bool(shared or claim.numbers))
    )
    conflicts, gaps = faults(claim, given, shared, opposed, evidence.holds)
    _sources(claim, given, evidence, name, gaps)
    return coverage, tuple(conflicts), tuple(gaps)


def _sources(claim: Reading, given: Reading, evidence: Evidence, name: str, gaps: Faults) -> None:
    """What the claim cites must be cited in the evidence, or be the evidence; its names must stand in it somewhere."""
    there = {key for c in given.citations for key in (c.key, *c.aliases)}
    document = name.rpartition(":")[0] or name
    for citation in claim.citations:
        keys = {citation.key, *citation.aliases}
        if citation.slug == document or document.startswith(f"{citation.slug}-") or not there.isdisjoint(keys):
            continue
        mark = citation.number or citation.page
        if (not mark or mark in evidence.whole) and not _keys(evidence.whole).isdisjoint(keys):
            continue
        gaps.append(("citation", f"the evidence doesn't cite {citation.key}"))
    elsewhere = evidence.postings
    missing = sorted(n for n in claim.names.intersection(claim.content) - set(given.stems) if n not in elsewhere)
    if missing and (given.names - claim.names or "pronoun" in given.scope):  # it speaks of someone else
        gaps.append(("name", f"no {missing[0]}… there"))


@lru_cache(maxsize=256)
def _keys(whole: str) -> frozenset[str]:
    return frozenset(key for c in citations.find(whole) for key in (c.key, *c.aliases))
