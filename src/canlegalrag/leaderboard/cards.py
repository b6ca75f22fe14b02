"""A system's card in Markdown, in which nothing that its authors wrote is markup."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import quote, urlsplit

from canlegalrag.leaderboard.entries import (
    Entry,
    amount,
    judged_by_makers,
    judges,
    kind,
    number,
    part,
    recipe,
    seconds,
    text,
)
from canlegalrag.tables import figure

__all__ = ["card", "harmless", "web"]

_MOST = 40  # rows of a table, and settings

_NOTES = {
    "baseline": "A baseline, run by the makers of the benchmark.",
    "submission": "A submission: its makers ran it; the scores were computed here.",
    "stand-in": "**A stand-in without a real model: it shows that a path works, and is not ranked.**",
}


def card(entry: Entry) -> str:
    """All that is known of a system: who, what, what it cost, and its scores with intervals.

    Args:
        entry: of the baselines or of the store.
    """
    system, of = part(entry, "system"), part(entry, "benchmark")
    took, cost = seconds(entry), amount(entry.get("cost"))
    facts = {
        "Authors": harmless(system.get("authors")),
        "Web": web(system.get("url")),
        "Licence": harmless(system.get("licence")),
        "Used": harmless(system.get("used"), 1000),
        "Benchmark": harmless(f"{text(of.get('name'))} {text(of.get('revision'))} {text(of.get('fingerprint'), 13)}"),
        "Received": harmless(text(entry.get("received"))[:10]),
        "US dollars": "unknown" if cost is None else f"{cost:.4f}",
        "Seconds a query": "unknown" if took is None else f"{took:.4f}",
        "Claims judged by": harmless(", ".join(judges(entry)[:3])),
        "Settings": _settings(recipe(entry)),
        "Scored with canlegalrag": harmless(entry.get("canlegalrag"), 20),
        "Entry": harmless(entry.get("id"), 64),
    }
    lines = [f"### {harmless(system.get('name'), 200) or '(no name)'}", "", _NOTES[kind(entry)], ""]
    if judged_by_makers(entry):
        lines += ["The verdicts on its claims came with it: nobody here has judged its answers again.", ""]
    lines += [f"- {name}: {said}" for name, said in facts.items() if said]
    for name in ("retrieval", "claims"):
        lines += _scores(name, part(entry, name))
    return "\n".join(lines) + "\n"


def harmless(value: Any, longest: int = 300) -> str:
    """Text for Markdown in which nothing is markup: no HTML, link, picture, formula or address that links itself.

    >>> harmless("<b>[x](javascript:1) www.x.ca")
    '&lt;b&gt;&#91;x&#93;&#40;javascript&#58;1&#41; www&#46;x&#46;ca'
    """
    return re.sub(r"[\\`*_{}\[\]()#!|~$@:./]", lambda m: f"&#{ord(m[0])};", escape(text(value, longest), quote=False))


def web(url: Any) -> str:
    """A link to a page; empty for anything but a plain http or https address.

    >>> web("https://x.ca/a b"), web("javascript:alert(1)"), web("https://bank.ca@evil.ca")
    ('', '', '')
    >>> web("https://x.ca/a_b")
    '[https&#58;&#47;&#47;x&#46;ca&#47;a&#95;b](<https://x.ca/a_b>)'
    """
    if not isinstance(url, str) or not re.fullmatch(r"https?://[!-~]{1,300}", url):
        return ""
    try:
        found = urlsplit(url)
        sound = bool(found.hostname) and "@" not in found.netloc and (found.port or 1) > 0
    except ValueError:
        return ""
    return f"[{harmless(url)}](<{quote(url, safe=_SAFE)}>)" if sound else ""


_SAFE = ":/?#&=%+,;~@-_."  # everything else is written in hexadecimal, brackets and quotes among it


def _settings(settings: Mapping[str, Any]) -> str:
    shown = [
        f"{text(name, 40)} {text(str(value), 80)}" for name, value in list(settings.items())[:_MOST] if name != "name"
    ]
    return harmless(", ".join(shown), 1000)


def _scores(name: str, scores: Mapping[str, Any]) -> list[str]:
    """A table of a family of scores, each mean with its interval and what it runs over."""
    measures = part(scores, "measures")
    if not measures:
        return []
    lines = ["", f"| {name} | mean | 95 % interval | n | skipped |", "| --- | --: | --: | --: | --: |"]
    for measure in list(measures)[:_MOST]:
        row = part(measures, measure)
        mean, low, high, n, skipped = (number(row.get(key)) for key in ("mean", "low", "high", "n", "skipped"))
        interval = "–" if low is None or high is None else f"{low:.3f} … {high:.3f}"
        counts = " | ".join("–" if value is None else f"{value:.0f}" for value in (n, skipped))
        lines.append(f"| {harmless(measure, 60)} | {figure(mean)} | {interval} | {counts} |")
    return lines
