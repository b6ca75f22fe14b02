"""From a name to a benchmark: the sample, a folder in any layout, LegalBench-RAG, or a dataset on the Hub."""

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from canlegalrag import layouts
from canlegalrag.benchmark.benchmark import Benchmark
from canlegalrag.benchmark.checking import check
from canlegalrag.errors import BenchmarkError, InputError, MissingExtra
from canlegalrag.layouts import Content, legalbenchrag

__all__ = ["load"]

_HOW = "give `sample`, a folder, legalbenchrag:FOLDER, or a Hub id owner/name"


def load(
    source: str | Path = "sample",
    *,
    root: str | Path | None = None,
    subsets: Sequence[str] | None = None,
    revision: str | None = None,
    strict: bool = True,
) -> Benchmark:
    """Load a benchmark.

    Args:
        source: `sample` (embedded), a folder, or the id of a dataset repository on the Hub (`owner/name`). A folder may
            be in our layout, in MTEB's, in those of `UBC-VL/CanLegalRAGBench` and LegalBench-RAG, or hand-written like
            the sample. Also `legalbenchrag` and `legalbenchrag-mini`, whose folder is `root`, or stands behind them:
            `legalbenchrag:FOLDER`, `legalbenchrag-mini/maud+cuad:FOLDER`.
        root: the folder of `legalbenchrag` or `legalbenchrag-mini`.
        subsets: which data sets of LegalBench-RAG to ask queries of; None for all. The corpus stays whole.
        revision: branch, tag or commit on the Hub.
        strict: refuse a benchmark with fatal faults; else keep them in `problems`.

    Raises:
        InputError: the source can't be found or has an unknown layout.
        BenchmarkError: fatal faults, all of them listed.

    >>> load("sample").queries["b1-q1"].province
    'British Columbia'
    """
    by_name = legalbenchrag.named(str(source), root, subsets)
    if revision is not None and (by_name or str(source) == "sample" or _path(str(source)).is_dir()):
        raise InputError("revision", f"is for the Hub, and {str(source)!r} lies here", "leave it out")
    folder, revision = (_folder(by_name[0]), "") if by_name else _locate(str(source), revision)
    content = by_name[1](folder) if by_name else _read(folder)
    name = "canlegalrag-sample" if str(source) == "sample" else content.name
    found = Benchmark(
        name=name,
        documents=content.documents,
        queries=content.queries,
        qrels=content.qrels,
        answers=content.answers,
        snippets=content.snippets,
        claims=content.claims,
        pairs=content.pairs,
        revision=revision,
        recorded_fingerprint=content.fingerprint,
        checksums=content.checksums,
        problems=tuple(content.problems),
        about=content.about,
    )
    # A folder whose checksums hold was checked when it was built: its texts needn't be read again.
    problems = tuple(content.problems) + tuple(check(found, texts=not content.fingerprint))
    fatal = [p for p in problems if p.fatal]
    if fatal and strict:
        raise BenchmarkError(str(source), fatal)
    return replace(found, problems=problems)


def _locate(source: str, revision: str | None) -> tuple[Path, str]:
    """Folder and revision of a source."""
    if source == "sample":
        from canlegalrag import __version__

        return Path(str(files("canlegalrag") / "sample")), __version__
    folder = _path(source)
    if folder.is_dir():
        return folder, ""
    if source.count("/") != 1 or source.startswith((".", "/", "~")) or folder.exists():
        raise InputError(source, _absent(folder), _HOW)
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise MissingExtra("huggingface_hub", "hub") from None
    try:
        wanted = ["*.parquet", "*.json", "*.md", "*.toml", "claims.jsonl", "claims/*.jsonl", "pairs.jsonl"]
        path = snapshot_download(source, repo_type="dataset", revision=revision, allow_patterns=wanted)
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        what = f"neither a folder nor reachable on the Hub: {reason}"
        raise InputError(source, what, "check the name, the network and HF_TOKEN") from error
    return Path(path), Path(path).name


def _folder(source: str) -> Path:
    """The folder that a source names: of LegalBench-RAG only what lies here is read, nothing from the Hub."""
    folder = _path(source)
    if not folder.is_dir():
        raise InputError(source, _absent(folder), "give the folder that holds benchmarks/ and corpus/")
    return folder


def _path(source: str) -> Path:
    """The path that a source is, whether or not anything is there."""
    try:
        folder = Path(source).expanduser()
        folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # no such user, a name too long, a NUL
        raise InputError(source[:200], f"is no path: {error!s:.200}", _HOW) from None
    return folder


def _absent(folder: Path) -> str:
    return "is a file, not a folder" if folder.exists() else "no such folder"


def _read(folder: Path) -> Content:
    names = [m.name for m in pkgutil.iter_modules(layouts.__path__) if not m.name.startswith("_")]
    for name in sorted(names):
        layout: layouts.Layout = importlib.import_module(f"canlegalrag.layouts.{name}")
        if layout.matches(folder):
            return layout.read(folder)
    held = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
    what = f"not a benchmark: holds {held}"
    raise InputError(str(folder), what, "needs corpus, queries and qrels as Parquet, or documents and queries.json")
