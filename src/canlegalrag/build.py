"""The dataset repository out of a benchmark: Parquet, card and manifest, written whole or not at all."""

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import pyarrow as pa

from canlegalrag import __version__
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import dumps
from canlegalrag.layouts import parquet
from canlegalrag.layouts._manifest import confined, read_manifest
from canlegalrag.wording import many

__all__ = ["build"]

_STAGE = ".canlegalrag-"  # a folder of this name is an unfinished build
_CITATION = """@software{canlegalrag,
  title = {canlegalrag: a benchmark kit for retrieval-augmented question answering over Canadian case law},
  author = {{The canlegalrag authors}},
  year = {2026},
  license = {MIT}
}"""


def build(benchmark: Benchmark, out: Path, *, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Write `out` as a dataset repository that loads with `datasets`, `pandas`, MTEB and `canlegalrag.load`.

    The files are made beside their places and moved there when they are complete. In a folder that was built before,
    they replace those of that build; everything else in it stays.

    Args:
        benchmark: what to publish.
        out: a folder that doesn't exist, is empty, or was built before.
        progress: called with the number of documents written since the last call.

    Returns:
        The manifest: rows, lengths, checksums and fingerprint.

    Raises:
        InputError: `out` holds something else or can't be written, or a record can't be.
    """
    try:
        out = out.resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(str(out), f"leads nowhere: {error}", "choose another folder") from None
    try:
        old = _built_before(out)
        out.parent.mkdir(parents=True, exist_ok=True)
        new = not out.exists()
        # Inside a folder that is there: on its own file system, so that moving can't stop half-way.
        with tempfile.TemporaryDirectory(prefix=_STAGE, dir=out.parent if new else out) as made:
            folder = Path(made) / "new"
            manifest = _write(benchmark, folder, progress)
            files = {"README.md": card(benchmark, manifest), "manifest.json": dumps(manifest, indent=1) + "\n"}
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8", newline="\n")
            if new:
                folder.rename(out)
            else:
                _replace(out, Path(made), [*manifest["files"], *files], old)
    except OSError as error:
        raise InputError(str(out), f"can't be written: {error}", "choose another folder") from error
    except UnicodeEncodeError as error:
        raise InputError(benchmark.name, f"can't be written: {error}", "mend the text") from None
    return manifest


def _built_before(out: Path) -> list[str]:
    """Names of the data files of the build that lies in `out`.

    Raises:
        InputError: `out` holds something else.
    """
    if not out.exists() or (out.is_dir() and all(p.name.startswith(_STAGE) for p in out.iterdir())):
        return []
    try:
        manifest = read_manifest(out) if out.is_dir() else None
    except InputError:
        manifest = None
    if manifest is None or not manifest.maker:
        raise InputError(str(out), "exists and was not built by canlegalrag", "choose another folder")
    # A manifest can be written by anybody: only what a build may have written is taken away.
    return [n for n in manifest.files if n.startswith("data/") and n.endswith(".parquet") and confined(out, n)]


def _replace(out: Path, made: Path, names: list[str], old: list[str]) -> None:
    """Move the files of `made/new` into `out`, the manifest last; on any failure, those that were there come back."""
    moved: list[tuple[Path, Path, bool]] = []
    try:
        for n, name in enumerate([*(name for name in old if name not in names), *names]):
            target, kept = out / name, made / f"old-{n}"
            if target.is_dir() and not target.is_symlink():
                raise InputError(str(target), "is a folder where a file has to be", "take it away")
            target.parent.mkdir(parents=True, exist_ok=True)
            there = os.path.lexists(target)
            moved.append((target, kept, there))
            if there:
                target.replace(kept)
            if name in names:
                (made / "new" / name).replace(target)
    except BaseException:
        for target, kept, there in reversed(moved):
            if os.path.lexists(kept):
                kept.replace(target)
            elif not there:
                target.unlink(missing_ok=True)
        raise


def _write(benchmark: Benchmark, folder: Path, progress: Callable[[int], None] | None) -> dict[str, Any]:
    gold = benchmark.gold
    lengths: list[int] = []

    def corpus(relevant: bool) -> Iterator[dict[str, Any]]:
        for document in benchmark.documents.values():
            if (document.id in gold) == relevant:
                lengths.append(len(document.text))
                if progress:
                    progress(1)
                yield parquet.document_row(document)

    entries = {}
    rows = {"data/corpus/gold.parquet": corpus(True), "data/corpus/distractors.parquet": corpus(False)}
    for name, records in (rows | _rows(benchmark)).items():
        path = folder / name
        kind = "corpus" if "/corpus/" in name else path.stem
        n = parquet.write_table(path, kind, records)
        entries[name] = {"rows": n, "bytes": path.stat().st_size, "sha256": parquet.sha256(path)}
    lengths.sort()
    return {
        "name": benchmark.name,
        "about": dict(benchmark.about),
        "fingerprint": benchmark.fingerprint,
        "made_with": {"canlegalrag": __version__, "pyarrow": pa.__version__},
        "source_revision": benchmark.revision,
        "characters": sum(lengths),
        "length_min_median_max": [lengths[0], lengths[len(lengths) // 2], lengths[-1]] if lengths else [],
        "problems": [str(p) for p in benchmark.problems if p.fatal],
        "notes": [str(p) for p in benchmark.problems if not p.fatal],
        "files": entries,
    }


def _rows(benchmark: Benchmark) -> dict[str, Iterator[dict[str, Any]]]:
    """File name -> its rows, of all but the corpus."""
    rows: dict[str, Iterator[dict[str, Any]]] = {
        "data/queries.parquet": (parquet.query_row(q) for q in benchmark.queries.values()),
        "data/qrels.parquet": (
            {"query-id": q, "corpus-id": d, "score": grade}
            for q, judged in benchmark.qrels.items()
            for d, grade in judged.items()
        ),
        "data/answers.parquet": (
            {"query-id": a.query_id, "text": a.text, "parts": list(a.parts), "citations": list(a.citations)}
            for a in benchmark.answers.values()
        ),
        "data/snippets.parquet": (
            {"query-id": s.query_id, "corpus-id": s.doc_id, "start": s.start, "end": s.end, "text": s.text}
            for s in benchmark.snippets
        ),
    }
    if any(benchmark.claims.values()):
        rows["data/claims.parquet"] = (parquet.claim_row(c) for claims in benchmark.claims.values() for c in claims)
    if benchmark.pairs:
        rows["data/pairs.parquet"] = (asdict(pair) for pair in benchmark.pairs)
    return rows


def card(benchmark: Benchmark, manifest: dict[str, Any]) -> str:
    """The dataset card: `dataset_card.md` filled with what the benchmark holds."""
    about = benchmark.about
    summary = benchmark.summary()
    minimum, median, maximum = summary["length_min_median_max"] or [0, 0, 0]
    years = summary["years"]
    sizes = {
        "documents": f"{summary['documents']:,}, {summary['gold_documents']:,} of them gold",
        "characters": f"{summary['characters']:,} ({minimum:,} to {maximum:,} a document, median {median:,})",
        "years": f"{years[0]} to {years[1]}" if years else "unknown",
        "courts": _counts(dict(list(summary["courts"].items())[:20])),
        "languages": _counts(summary["languages"]),
        "queries": f"{summary['queries']:,} in {many(summary['blocks'], 'block')}",
        "provinces": _counts(summary["provinces"]),
        **({"data sets": _counts(summary["datasets"])} if set(summary["datasets"]) - {"(none)"} else {}),
        "judgments": f"{summary['judgments']:,}",
        "reference answers": f"{summary['answers']:,}",
        "snippets": f"{summary['snippets']:,}",
    }
    if summary["claims"]:
        sizes["claims of reference answers"] = f"{summary['claims']:,}"
    if summary["pairs"]:
        labels = _counts(dict(Counter(pair.label for pair in benchmark.pairs).most_common()))
        sizes["labelled pairs"] = f"{summary['pairs']:,} ({labels})"
    languages = [language for language in summary["languages"] if re.fullmatch("[a-z]{2}", language)] or ["en"]
    title = _line(about.get("title") or benchmark.name)
    template = Template(_template(_configs(manifest)))
    return template.substitute(
        configs=_configs_yaml(manifest),
        languages="\n".join(f"- {_quoted(language)}" for language in languages),
        pretty_name=_quoted(title),
        licence=_quoted(about.get("licence") or "other"),
        size_category=_size_category(summary["documents"]),
        title=title,
        description=about.get("description", "Built by `canlegalrag build` from a benchmark of another maker.").strip(),
        limits=about.get("limits", "Those of its source.").strip(),
        sizes="\n".join(f"| {key} | {value} |" for key, value in sizes.items()),
        fingerprint=manifest["fingerprint"],
        citation=_CITATION,
    )


def _line(text: str) -> str:
    r"""One line: no breaks, no control characters.

    >>> _line('A "b"\n c\x07')
    'A "b" c?'
    """
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))


def _quoted(text: str) -> str:
    """One line, quoted as YAML reads it."""
    return json.dumps(_line(text), ensure_ascii=False)


def _counts(counts: dict[str, int]) -> str:
    """Names and numbers, for a cell of the table."""
    return ", ".join(f"{_line(name)} {n}" for name, n in counts.items()).replace("|", "\\|")


def _template(configs: Iterable[str]) -> str:
    """`dataset_card.md`: in the wheel beside the package, in a checkout at its root.

    A line that begins with `[config]` stays, without that mark, where the benchmark has the config.
    """
    packaged = Path(str(files("canlegalrag"))) / "dataset_card.md"
    path = packaged if packaged.exists() else Path(__file__).parents[2] / "dataset_card.md"
    text = path.read_text(encoding="utf-8")
    marked = re.compile(r"^\[(\w+)\](?: (.*))?\n", re.MULTILINE)
    return marked.sub(lambda line: f"{line[2] or ''}\n" if line[1] in configs else "", text)


def _size_category(n: int) -> str:
    for bound, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if n < bound:
            return name
    return "100K<n<1M"


def _configs(manifest: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Config -> files, of those that were written: a config without its file can't be loaded."""
    return {config: names for config, names in parquet.CONFIGS.items() if set(names) <= manifest["files"].keys()}


def _configs_yaml(manifest: dict[str, Any]) -> str:
    """`configs` with explicit files and `dataset_info` with the features, as the Hub reads them."""
    configs, lines = _configs(manifest), ["configs:"]
    for config, names in configs.items():
        lines += [f"- config_name: {config}", *(["  default: true"] if config == "queries" else []), "  data_files:"]
        lines += ["  - split: test", "    path:", *(f"    - {name}" for name in names)]
    lines.append("dataset_info:")
    for config, names in configs.items():
        rows = sum(manifest["files"][name]["rows"] for name in names)
        size = sum(manifest["files"][name]["bytes"] for name in names)
        schema = parquet.SCHEMAS["corpus" if "/corpus/" in names[0] else config]
        lines += [f"- config_name: {config}", "  features:"]
        for field in schema:
            kind = "list: string" if pa.types.is_list(field.type) else f"dtype: {field.type}"
            lines += [f"  - name: {field.name}", f"    {kind}"]
        lines += ["  splits:", "  - name: test", f"    num_bytes: {size}", f"    num_examples: {rows}"]
    return "\n".join(lines)
