"""The layout of LegalBench-RAG (arXiv 2408.10343): `benchmarks/*.json` with character spans, and `corpus/`.

The id of a document is its `file_path`, letter for letter (`||`, `:`, `%20`, spaces and accents too); offsets count its
characters after line ends became LF, with a byte order mark as one of them.

Ids of queries go by position, since a text may stand twice: `maud-0017` is the 18th test of the published `maud.json`,
in the whole and in a subset. `maud-mini-017` is the 18th of LegalBench-RAG-mini's: another query, so another name.
"""

import difflib
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from canlegalrag.errors import InputError
from canlegalrag.layouts import Content
from canlegalrag.layouts._contracts import nfc, original_name, read_texts, safe_name
from canlegalrag.layouts._questions import Span, Test, read_tests
from canlegalrag.near import Near
from canlegalrag.plain import require_strings
from canlegalrag.types import Document, Problem, Query, Snippet
from canlegalrag.wording import many

__all__ = ["DATASETS", "matches", "mini", "named", "original_name", "read", "safe_name"]


class _Published(NamedTuple):
    queries: int
    """How many the published file holds."""
    sha256: str
    """Of `benchmarks/<name>.json`."""
    mini_sha256: str
    """Of `mini/<name>.json`: the queries of LegalBench-RAG-mini, in their order."""


# The hash of the full `cuad.json` is not our own measurement: two public copies state it (one as a Git LFS pointer, of
# 5,331,921 bytes), and what they state of the other three is what we measured.
_PUBLISHED = {
    "privacy_qa": _Published(
        194,
        "12c7afcb0e6e84cdff59914495c3bce005d10bb4665cae12b64a9b57af8fb7b6",
        "12c7afcb0e6e84cdff59914495c3bce005d10bb4665cae12b64a9b57af8fb7b6",
    ),
    "contractnli": _Published(
        977,
        "bc60963c4880e3db3141e96f3a7b75e1dbe195cba8f10f0658872f43430fc77a",
        "9ad0e866005f4622365e0231662d91bdfea288650aa271994d5f41208cd21954",
    ),
    "maud": _Published(
        1676,
        "82ef159b87f73a9c68e7143fac88bf47ac212713b56617d7e87d6f1f0a781daf",
        "c019168c4a3cf96316f94e3ed8e8ae6db086efd6f8d4000630172040b44b70c1",
    ),
    "cuad": _Published(
        4042,
        "8e0405b15fb8869c631da424372b488e274f253a81634b78803b21c72c0601f9",
        "84ce6146f62fedfffb5c5c924d12f75fd23e502b0bf06269006db5273ed57033",
    ),
}
DATASETS = tuple(_PUBLISHED)
"""The data sets, in the order of the published runs."""

_MINI = 194  # queries of a data set in LegalBench-RAG-mini
_LICENCES = {"privacy_qa": "MIT", "contractnli": "CC BY 4.0", "maud": "CC BY 4.0", "cuad": "CC BY 4.0"}
_NAMED = re.compile(r"legalbenchrag(-mini)?(?:/([^:]*))?(?::(.*))?", re.DOTALL)
_HOW = "load('legalbenchrag', root=FOLDER), or legalbenchrag:FOLDER, legalbenchrag-mini/maud+cuad:FOLDER"
_ABOUT = {
    "title": "LegalBench-RAG",
    "licence": "other",
    "description": "LegalBench-RAG (Pipitone and Houir Alami, arXiv 2408.10343): questions about contracts and\n"
    "privacy policies, each answered by spans of characters that legal experts marked. It joins PrivacyQA (MIT),\n"
    "ContractNLI, MAUD and CUAD (all CC BY 4.0); `dataset` says which one a query is from.",
    "limits": "Most of the documents are American. Queries name their document, and many are about the same one: they\n"
    "share a block. Two documents stand in it under two ids each, and some questions are asked twice. Average over\n"
    "the data sets with equal weight: the mean over all queries is mostly CUAD's.",
}
_ABOUT_MINI = {
    **_ABOUT,
    "title": "LegalBench-RAG-mini",
    "limits": _ABOUT["limits"] + "\n\nThe corpus is cut to the documents that the queries are about: scores are higher "
    "than on the whole.",
}


def matches(folder: Path) -> bool:
    """Say whether the folder holds query files of LegalBench-RAG."""
    return any((folder / "benchmarks" / f"{name}.json").is_file() for name in DATASETS)


def named(
    source: str, root: str | Path | None, subsets: Sequence[str] | None
) -> tuple[str, Callable[[Path], Content]] | None:
    """Folder and reader of a source that names this benchmark; None for any other source.

    `legalbenchrag` and `legalbenchrag-mini`, with `/maud+cuad` for some of the data sets and with `:FOLDER` where there
    is no `root`. A folder that is called `legalbenchrag` is a folder.

    Raises:
        InputError: no folder, two of them, or an unknown data set.
    """
    found = _NAMED.fullmatch(source)
    if found is None:
        if root is not None or subsets is not None:
            given = "root" if root is not None else "subsets"
            raise InputError(given, f"is for legalbenchrag, not for {source!r}", _HOW)
        return None
    small, chosen, folder = found.groups()
    if root is None and folder is None:
        if os.path.isdir(source) or (chosen is not None and not set(chosen.split("+")) <= set(DATASETS)):  # noqa: PTH112
            return None
        raise InputError(source, "the folder where it lies is not said", _HOW)
    if None not in (root, folder) or None not in (subsets, chosen):
        raise InputError(source, "folder or data sets are said twice", _HOW)
    if chosen is not None:
        subsets = chosen.split("+")
    where = str(root if folder is None else folder)
    if not where:
        raise InputError(source, "the folder where it lies is not said", _HOW)
    return where, partial(mini if small else read, subsets=subsets)


def _known(subsets: Sequence[str]) -> Sequence[str]:
    require_strings("subsets", subsets, f"a list of {', '.join(DATASETS)}")
    if not len(subsets):
        raise InputError("subsets", "names no data set", f"some of {', '.join(DATASETS)}")
    for name in subsets:
        if name not in DATASETS:
            near = difflib.get_close_matches(name, DATASETS, 1, 0.5)
            fix = f"did you mean {near[0]!r}?" if near else f"some of {', '.join(DATASETS)}"
            fix = "write maud+cuad" if "," in name else fix
            raise InputError("subsets", f"{name!r} is no data set of LegalBench-RAG", fix)
    return [name for name in DATASETS if name in subsets]


def read(folder: Path, subsets: Sequence[str] | None = None) -> Content:
    """Read all that is there; with `subsets` the queries of these data sets only, over the same corpus.

    So the scores of a data set are those of its row in the whole. A query file that isn't there is a problem, and is
    fatal only where it was asked for.

    Raises:
        InputError: the folder holds no query file or no corpus.
    """
    return _content(folder, subsets, small=False)


def mini(folder: Path, subsets: Sequence[str] | None = None) -> Content:
    """Read LegalBench-RAG-mini: 194 queries a data set, over the 72 documents that they are about.

    The published rule: where a data set has more tests, sort them (ties stay in order) by the first number that
    Python's `random` gives when it is seeded with the path of the first snippet, and take 194; the corpus is what they
    name. So whole documents are taken, drawn at random. The caller's random state stays as it is. Where a full query
    file isn't there, `mini/<name>.json` takes its place. With `subsets` the corpus is that of all four still.

    Raises:
        InputError: the folder holds no query file or no corpus.
    """
    return _content(folder, subsets, small=True)


def _content(folder: Path, subsets: Sequence[str] | None, *, small: bool) -> Content:
    asked = DATASETS if subsets is None else _known(subsets)
    problems = list(_strangers(folder))
    tests = {
        name: (_small if small else _full)(folder, name, subsets is not None and name in asked, problems)
        for name in DATASETS
        if small or name in asked  # mini's corpus is what all four name
    }
    if not any(p.is_file() for name in tests for p in _files(folder, name, small)):
        what = f"holds none of {', '.join(f'benchmarks/{name}.json' for name in tests)}"
        raise InputError(str(folder), what, "give the folder that holds benchmarks/ and corpus/")
    ids: dict[str, str] = {}
    for span in (s for each in tests.values() for t in each for s in t.spans):
        ids.setdefault(nfc(span.path), span.path)
    texts = read_texts(folder, ids, problems, named_only=small)
    problems += _twins(texts)
    content = Content({i: _document(i, text) for i, text in texts.items()}, {}, {}, problems=problems)
    title = "legalbenchrag-mini" if small else "legalbenchrag"
    content.name = title if subsets is None else f"{title}/{'+'.join(asked)}"
    content.about = _ABOUT_MINI if small else _ABOUT
    _fill(content, {name: tests[name] for name in asked}, ids, "-mini" if small else "")
    return content


def _fill(content: Content, tests: Mapping[str, list[Test]], ids: Mapping[str, str], infix: str) -> None:
    """Make queries, judgments and snippets of the tests."""
    queries: dict[str, Query] = {}
    qrels: dict[str, dict[str, int]] = {}
    snippets: list[Snippet] = []
    near = Near(content.documents)
    for name, each in tests.items():
        most = _MINI if infix else _PUBLISHED[name].queries
        width = len(str(max(most, len(each)) - 1))
        for n, test in enumerate(each):
            id_ = f"{name}{infix}-{n:0{width}}"
            gold = {ids[nfc(span.path)]: 1 for span in test.spans}
            # Queries about one document aren't independent: they share a block.
            queries[id_] = Query(id_, test.query, block=next(iter(gold), ""), dataset=name)
            qrels[id_] = gold
            found = [s for span in test.spans if (s := _snippet(id_, ids[nfc(span.path)], span, content, near))]
            snippets += found
            content.problems += _overlaps(test.where, found)
        silent = sum(span.answer is None for test in each for span in test.spans)
        if silent:
            what = f"{many(silent, 'snippet')} without an answer: nobody can tell whether the offsets hold"
            content.problems.append(Problem(each[0].where.split(": ")[0], what, "download it again", fatal=False))
    content.queries, content.qrels, content.snippets = queries, qrels, tuple(snippets)


def _snippet(query: str, id_: str, span: Span, content: Content, near: Near) -> Snippet | None:
    """The characters that a span means; says so where they aren't the answer, or aren't there."""
    if span.place is None:
        return None
    start, end = span.place
    document = content.documents.get(id_)
    if document is None:  # stays gold: what nobody can find counts against recall
        content.problems.append(Problem(span.where, f"{id_!r} is not in the corpus", near(id_)))
        return Snippet(query, id_, start, end, span.answer or "")
    here = document.text[start:end]
    if end > len(document.text):
        what = f"{start} to {end} goes beyond the {len(document.text)} characters of {id_!r}"
        content.problems.append(Problem(span.where, what, "another version of the corpus?"))
        return None
    if span.answer is not None and here != span.answer:
        at = document.text.find(span.answer) if span.answer else -1
        what = f"characters {start} to {end} of {id_!r} are {here[:60]!r}, not the answer {span.answer[:60]!r}"
        fix = f"it stands at {at}" if at >= 0 else "another version of the corpus?"
        content.problems.append(Problem(span.where, what, fix))
    return Snippet(query, id_, start, end, here)


def _overlaps(where: str, snippets: list[Snippet]) -> Iterator[Problem]:
    last: dict[str, Snippet] = {}  # document -> the span so far that ends last
    for snippet in sorted(snippets, key=lambda s: (s.start, s.end)):
        one = last.setdefault(snippet.doc_id, snippet)
        if one is not snippet and snippet.start < one.end:
            what = f"spans {one.start} to {one.end} and {snippet.start} to {snippet.end} of {one.doc_id!r} overlap"
            yield Problem(where, what, "the published scorer counts what they share twice", fatal=False)
        if snippet.end > one.end:
            last[snippet.doc_id] = snippet


def _document(id_: str, text: str) -> Document:
    title = id_.rsplit("/", 1)[-1].removesuffix(".txt")
    return Document(id_, title, text, language="en", licence=_LICENCES.get(id_.split("/", 1)[0], ""))


def _twins(texts: Mapping[str, str]) -> Iterator[Problem]:
    """Name documents that are there under two ids: finding the other one earns nothing."""
    firsts: dict[str, str] = {}
    for id_, text in texts.items():
        first = firsts.setdefault(text, id_)
        if first != id_:
            yield Problem(f"document {id_!r}", f"has the text of {first!r}", "both are kept", fatal=False)


def _strangers(folder: Path) -> Iterator[Problem]:
    for path in sorted((folder / "benchmarks").glob("*.json")):
        if path.stem not in DATASETS and not path.name.startswith("."):
            what = "is no data set of LegalBench-RAG: not read"
            yield Problem(f"benchmarks/{path.name}", what, f"known are {', '.join(DATASETS)}", fatal=False)


def _files(folder: Path, name: str, small: bool) -> list[Path]:
    """Where a data set may lie, the first choice first."""
    return [folder / part / f"{name}.json" for part in (("benchmarks", "mini") if small else ("benchmarks",))]


def _full(folder: Path, name: str, asked: bool, problems: list[Problem]) -> list[Test]:
    path = _files(folder, name, False)[0]
    if path.is_file():
        return read_tests(path, _PUBLISHED[name].sha256, problems)
    problems.append(_absent(name, f"is not there: its {_PUBLISHED[name].queries:,} queries are left out", asked))
    return []


def _small(folder: Path, name: str, asked: bool, problems: list[Problem]) -> list[Test]:
    full, cut = _files(folder, name, True)
    if full.is_file():
        tests = read_tests(full, _PUBLISHED[name].sha256, problems)
        return sorted(tests, key=_draw)[:_MINI] if len(tests) > _MINI else tests
    if cut.is_file():
        problems.append(_absent(name, f"is not there: mini/{name}.json is used", False))
        return read_tests(cut, _PUBLISHED[name].mini_sha256, problems)
    what = f"is not there, nor is mini/{name}.json: its queries and their documents are left out"
    problems.append(_absent(name, what, asked))
    return []


def _absent(name: str, what: str, fatal: bool) -> Problem:
    return Problem(f"benchmarks/{name}.json", what, f"the published one has SHA-256 {_PUBLISHED[name].sha256}", fatal)


def _draw(test: Test) -> float:
    """What the published rule sorts by."""
    return random.Random(test.spans[0].path if test.spans else "").random()
