"""Entries of the leaderboard: submissions as they are stored, and the baselines' results in the same shape."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from canlegalrag.files import loads, read_text
from canlegalrag.recipes import baseline
from canlegalrag.tables import clean

__all__ = [
    "KINDS",
    "Entry",
    "Named",
    "amount",
    "baselines",
    "benchmarks",
    "judged_by_makers",
    "judges",
    "kind",
    "labels",
    "measures",
    "number",
    "part",
    "payload",
    "recipe",
    "seconds",
    "sound",
    "text",
]

Entry: TypeAlias = Mapping[str, Any]
"""One system's result: `id`, `received`, `system`, `benchmark`, `retrieval`, `claims`, `cost`, `seconds`, `kind`."""

KINDS = ("baseline", "submission", "stand-in")
"""What an entry is; a stand-in shows that a path works, and is never ranked."""

_MODELS = ("embedder", "reranker", "generator")
_LONGEST = 80  # characters of a name that a table shows
_LARGEST = 1e12  # number: nothing that is measured is larger, and sums and ranks of such stay exact enough


@dataclass(frozen=True, slots=True)
class Named:
    """A benchmark that entries are of."""

    fingerprint: str
    """SHA-256 over its content: what decides whether two entries can be compared."""
    name: str
    """What it calls itself."""
    revision: str
    """Commit or version, where one is known."""
    entries: int
    """How many systems there are."""


def baselines() -> list[dict[str, Any]]:
    """Results of `baselines/results/`, from the installed package or the clone; empty where neither has any."""
    return list(_baselines())


@cache
def _baselines() -> tuple[dict[str, Any], ...]:
    return tuple(_baseline(read_text(path)) for path in sorted(baseline("results").glob("*/*/scores.json")))


def _baseline(scores: str) -> dict[str, Any]:
    """A `scores.json` in the shape of a stored submission."""
    found = loads(scores)
    made = found["provenance"]["run"]
    digest = hashlib.sha256(scores.encode()).hexdigest()
    took = part(made, "seconds").get("search")
    entry = {
        "id": digest[:16],
        "digest": digest,
        "received": "",
        "system": {
            "name": made["recipe"]["name"],
            "authors": "canlegalrag",
            "licence": "",
            "url": "",
            "used": ", ".join(str(made["recipe"][m]) for m in _MODELS if m in made["recipe"]),
        },
        "benchmark": found["provenance"]["benchmark"],
        "retrieval": found,
        "claims": None,
        "citations": None,
        "cost": made.get("cost"),
        "seconds": None if took is None else took / max(1, found["provenance"]["queries"]),
        "canlegalrag": found["provenance"]["canlegalrag"],
        "kind": "baseline",
    }
    return entry | {"kind": kind(entry)}


def part(entry: Any, *keys: str) -> Mapping[str, Any]:
    """A mapping inside an entry; an empty one where there is none, since a stored file may hold anything."""
    for key in keys:
        entry = entry.get(key) if isinstance(entry, Mapping) else None
    return entry if isinstance(entry, Mapping) else {}


def number(value: Any) -> float | None:
    """A finite number that something can have; None for anything else.

    >>> number(0.5), number(float("nan")), number(True), number("0.5"), number(10**400)
    (0.5, None, None, None, None)
    """
    sound = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST
    return float(value) if sound else None


def text(value: Any, longest: int = 300) -> str:
    r"""Words for a reader, on one line: nothing that turns their order around, no formula, not too long.

    >>> text("=HYPERLINK(1)"), text(" a\n b"), text(None), text("x" * 9, 4)
    ("'=HYPERLINK(1)", 'a b', '', 'xxx…')
    """
    if not isinstance(value, str):
        value = ", ".join(map(str, value[:20])) if isinstance(value, list | tuple) else ""
    line = " ".join(clean(value[: 10 * longest]).split())
    line = line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line  # copied into a spreadsheet, these would run


def amount(value: Any) -> float | None:
    """A finite number from 0: a price or a time; None for anything else."""
    known = number(value)
    return known if known is not None and known >= 0 else None


def payload(entry: Entry, measure: str) -> Mapping[str, Any]:
    """The scores that hold a measure, of retrieval or of claims; empty where neither does."""
    for name in ("retrieval", "claims"):
        if measure in part(entry, name, "measures"):
            return part(entry, name)
    return {}


def measures(entries: Iterable[Entry]) -> list[str]:
    """Names of all measures of some entries, those of retrieval first."""
    entries = list(entries)
    found = [list(part(entry, name, "measures")) for name in ("retrieval", "claims") for entry in entries]
    return list(dict.fromkeys(name for names in found for name in names if isinstance(name, str)))


def recipe(entry: Entry) -> Mapping[str, Any]:
    """The settings of a run of ours; empty for a run from elsewhere."""
    return part(entry, "retrieval", "provenance", "run", "recipe")


def seconds(entry: Entry) -> float | None:
    """Seconds a query, where they are known."""
    took = entry.get("seconds")
    if not isinstance(took, Mapping):
        return amount(took)
    search, queries = amount(took.get("search")), amount(part(entry, "retrieval", "provenance").get("queries"))
    return search / queries if search is not None and queries else None


def kind(entry: Entry, measure: str = "") -> str:
    """What an entry is by a measure; a stand-in whatever it calls itself, where it names a model that is none.

    Stand-ins for embedders and rerankers, and random weights, make any measure one of plumbing; one that writes
    answers out of sentences, and one that judges them, do so for measures of claims only.

    >>> mine = {"system": {"name": "mine", "used": ["bm25", "offline/extractive"]}, "claims": {"measures": {"f1": {}}}}
    >>> kind(mine, "ndcg@10"), kind(mine, "f1")
    ('submission', 'stand-in')
    """
    system, settings = part(entry, "system"), recipe(entry)
    told = " ".join([text(system.get("name")), text(system.get("used"), 2000)])
    answers = measure in part(entry, "claims", "measures")
    stands_in = re.search(r"\boffline[/-]|tiny-random" if answers else r"\boffline[/-](?!extractive)|tiny-random", told)
    models = [text(settings.get(model)) for model in _MODELS] + (judges(entry) if answers else [])
    if stands_in or any(model.startswith("offline/") for model in models):
        return "stand-in"
    given = entry.get("kind")
    return given if given in KINDS else "submission"


def judges(entry: Entry) -> list[str]:
    """Who gave verdicts on the claims, those with the most first; empty where nobody did."""
    return [text(name, 80) for name in part(entry, "claims", "provenance", "verdicts", "judges")]


def judged_by_makers(entry: Entry) -> bool:
    """Whether a submission came with its verdicts, rather than being judged where it was checked."""
    claims = part(entry, "claims")
    return bool(claims) and entry.get("kind") != "baseline" and not part(claims, "provenance", "run").get("judged_here")


def sound(entries: Iterable[Any]) -> tuple[list[Entry], int]:
    """Entries that can be shown, each once, and how many can't: without a name, a benchmark or any scores.

    Those that a moderator hid are left out and not counted.
    """
    kept: dict[Any, Entry] = {}
    refused = 0
    for entry in entries:
        if part(entry).get("hidden"):
            continue
        named = bool(text(part(entry, "system").get("name")))
        of = part(entry, "benchmark").get("fingerprint")
        if named and isinstance(of, str) and of and measures([entry]):
            kept.setdefault(str(entry.get("id") or len(kept)), entry)
        else:
            refused += 1
    return list(kept.values()), refused


def benchmarks(entries: Iterable[Entry]) -> list[Named]:
    """The benchmarks that entries are of, those with the most systems first."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for entry in sound(entries)[0]:
        found.setdefault(entry["benchmark"]["fingerprint"], []).append(entry["benchmark"])
    named = [
        Named(of, text(all_[0].get("name")) or "(no name)", text(all_[0].get("revision")), len(all_))
        for of, all_ in found.items()
    ]
    return sorted(named, key=lambda b: (-b.entries, b.name, b.fingerprint))


def labels(entries: Sequence[Entry], measure: str = "") -> list[str]:
    """What to call each entry: its name, marked if it is a stand-in, and told apart from others of like name."""
    names = [text(part(entry, "system").get("name"), _LONGEST) for entry in entries]
    often = Counter(map(_folded, names))
    found: dict[str, None] = {}
    for entry, name in zip(entries, names, strict=True):
        marks = ["stand-in"] if kind(entry, measure) == "stand-in" else []
        marks += [text(entry.get("id"), 9) or "no id"] if often[_folded(name)] > 1 else []
        label = f"{name} ({', '.join(marks)})" if marks else name
        while label in found:  # somebody took a name that looks like one of ours
            label += "′"
        found[label] = None
    return list(found)


def _folded(name: str) -> str:
    """A name without what a reader can't see: case, normal form, and characters without width."""
    shown = [c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf"]
    return "".join(shown).casefold()
