"""Publishing the clone's shop windows to the Hugging Face Hub: what would go, what keeps it from going, the push."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from canlegalrag import __version__
from canlegalrag.benchmark import load
from canlegalrag.errors import InputError
from canlegalrag.files import decode, loads, read_text
from canlegalrag.hub import NAME, Change, Repository, Seen

__all__ = ["WHAT", "Plan", "Pushed", "plan", "push"]

WHAT = {"space": "space", "dataset": "hf_dataset", "metrics": "metrics"}
"""What can be published, and its folder in the clone."""
LARGEST = 10_000_000
"""Bytes of a file that isn't Parquet."""

_SHOWN = 20  # faults that are listed
_BESIDE = ("README.md", "manifest.json")
_TOKENS = re.compile(
    rb"\bhf_[A-Za-z0-9]{30,}|\bsk-[A-Za-z0-9_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bAKIA[A-Z0-9]{16}\b"
    rb"|\bAIza[A-Za-z0-9_-]{30,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_SECRET_NAMES = re.compile(
    r"(.*\.)?env(\..*)?|\.?netrc|id_[a-z0-9]+|.*\.(pem|key|p12|pfx)|(secret|credential)s?(\..*)?", re.I
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one push would put into one repository."""

    repo: str
    """`owner/name`."""
    repo_type: str
    """`dataset` or `space`."""
    folder: Path
    """Where the files are."""
    files: tuple[tuple[str, int, str], ...]
    """Path in the repository, bytes, SHA-256."""
    message: str
    """Of the commit."""

    @property
    def total(self) -> int:
        """Bytes of all files."""
        return sum(size for _, size, _ in self.files)


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did."""

    url: str
    """The repository's page."""
    commit: str | None
    """None where everything was there already."""
    uploaded: tuple[str, ...]
    """Paths that are new or changed."""
    deleted: tuple[str, ...]
    """Paths that are gone."""
    left: tuple[str, ...]
    """Paths that are there still, though not in the clone; `prune` would delete them."""


def plan(what: str, root: Path, repo: str) -> list[Plan]:
    """Say what would be published; nothing is sent.

    Args:
        what: one of `WHAT`.
        root: the clone.
        repo: `owner/name`; for metrics the owner alone, since each folder there is a Space of its own name.

    Returns:
        One plan a repository.

    Raises:
        InputError: an unknown thing or name, no such folder, or files in it that mustn't be published; all are named.
        BenchmarkError: the dataset has faults.
    """
    if what not in WHAT:
        raise InputError(f"{what!r:.40}", "is nothing that can be published", f"one of {', '.join(WHAT)}")
    folder = root / WHAT[what]
    if not folder.is_dir():
        raise InputError(str(folder), "no such folder", "run this in a clone of the project, or give --root")
    if (repo.count("/") == 1) == (what == "metrics"):
        fix = "--repo owner" if what == "metrics" else "--repo owner/name"
        raise InputError(f"--repo {repo!r:.100}", f"isn't where {what} can go", fix)
    if what == "dataset":
        return [_dataset(folder, repo)]
    if what == "space":
        return [_space(folder, repo)]
    folders = sorted(one for one in folder.iterdir() if one.is_dir() and not _ignored(one.name))
    if not folders:
        raise InputError(str(folder), "holds no metric", "one folder a metric")
    return [_space(one, f"{repo}/{one.name}") for one in folders]


def push(plan: Plan, *, token: str | None = None, private: bool = False, prune: bool = False) -> Pushed:
    """Bring a repository to what a plan says, by one commit of what differs; create it where it is missing.

    Args:
        plan: from `plan`.
        token: None for `$HF_TOKEN`.
        private: create it so that only its owner sees it, and refuse one that others see.
        prune: delete what isn't in the plan, but for files whose name begins with a dot.

    Raises:
        InputError: the Hub refuses or can't be reached, or files have changed since they were planned.
        MissingExtra: huggingface_hub isn't installed.
    """
    repository = Repository(plan.repo, plan.repo_type, token=token)
    repository.require_token()
    seen = repository.look()
    if seen is None:
        repository.create(private=private)
    elif private and not seen.private:
        raise InputError(
            plan.repo, "is there already, and public", "make it private in its settings, or push without --private"
        )
    _unchanged(plan)
    uploaded: list[str] = []
    deleted: list[str] = []
    left: list[str] = []

    def decide(seen: Seen, unsure: bool) -> Change | None:
        differing = {path: file for path, file in _local(plan).items() if not _same(seen, path, file)}
        others = sorted(p for p in seen.files if p not in _local(plan) and not Path(p).name.startswith("."))
        gone = others if prune else []
        if not (unsure and not differing and not gone):  # else it was our own commit, whose answer got lost
            uploaded[:], deleted[:] = differing, gone
        left[:] = [] if prune else others
        return Change(plan.message, differing, gone) if differing or gone else None

    commit = repository.change(decide)
    return Pushed(repository.url, commit, tuple(uploaded), tuple(deleted), tuple(left))


def _local(plan: Plan) -> dict[str, bytes | Path]:
    return {path: plan.folder / path for path, _, _ in plan.files}


def _same(seen: Seen, path: str, file: bytes | Path) -> bool:
    return path in seen.files and seen.files[path].holds(file)


def _unchanged(plan: Plan) -> None:
    for path, size, digest in plan.files:
        file = plan.folder / path
        if not file.is_file() or file.stat().st_size != size or _sha256(file) != digest:
            raise InputError(str(file), "has changed since it was planned", "plan again")


def _dataset(folder: Path, repo: str) -> Plan:
    """The plan of a dataset: what its manifest lists, whose checksums hold, and its card."""
    found = load(folder)
    files = _files(folder)
    if not found.checksums:
        raise InputError(str(folder), "has no manifest whose checksums hold", "make it with `canlegalrag build`")
    listed = loads(read_text(folder / "manifest.json"))["files"]
    faults = [f"{path}: isn't in manifest.json" for path in files if path not in {*_BESIDE, *listed}]
    message = f"{found.name}, fingerprint {found.fingerprint[:16]} (canlegalrag {__version__})"
    return _planned(folder, repo, "dataset", files, faults, message)


def _space(folder: Path, repo: str) -> Plan:
    files = _files(folder)
    faults = [f"{name}: is missing" for name in ("app.py", "requirements.txt") if name not in files]
    if "README.md" in files and not re.search(
        r"(?m)^sdk:\s*gradio\s*$", _front_matter(files["README.md"]) or "sdk: gradio"
    ):
        faults.append("README.md: its front matter doesn't say `sdk: gradio`")
    return _planned(folder, repo, "space", files, faults, f"{folder.name} (canlegalrag {__version__})")


def _planned(
    folder: Path, repo: str, repo_type: str, files: Mapping[str, Path], faults: list[str], message: str
) -> Plan:
    if not NAME.fullmatch(repo):
        raise InputError(f"{repo!r:.120}", "is no name of a repository", "letters, digits, dots and dashes")
    if "README.md" not in files:
        faults.append("README.md: is missing: it is the card")
    elif _front_matter(files["README.md"]) is None:
        faults.append("README.md: doesn't begin with front matter between lines of ---")
    faults += [f"{path}: {fault}" for path, file in files.items() if (fault := _fault(folder, file))]
    if faults:
        more = [f"… and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
        listed = "".join(f"\n  {line}" for line in [*faults[:_SHOWN], *more])
        raise InputError(str(folder), f"can't be published:{listed}\n", "mend it, or take the files away")
    rows = tuple((path, file.stat().st_size, _sha256(file)) for path, file in files.items())
    return Plan(repo, repo_type, folder, rows, message)


def _files(folder: Path) -> dict[str, Path]:
    """Path in the repository to every file that would go, and to whatever can't: links to folders, pipes, secrets."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(_walk(folder))}


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_symlink() or not path.is_dir():
            if not _ignored(path.name) or _SECRET_NAMES.fullmatch(path.name):
                yield path
        elif not _ignored(path.name):
            yield from _walk(path)


def _ignored(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__" or name.endswith((".tmp", ".pyc"))


def _fault(folder: Path, path: Path) -> str | None:
    """What keeps one file from being published."""
    if not path.resolve().is_relative_to(folder.resolve()):
        return "is a link out of the folder"
    if not path.is_file():
        return "is no file"
    if _SECRET_NAMES.fullmatch(path.name):
        return "looks like a secret"
    if not path.name.isprintable() or "\\" in path.name:
        return "has a name that not every system can hold"
    if not os.access(path, os.R_OK):
        return "can't be read"
    if path.suffix == ".parquet":
        return None
    if path.stat().st_size > LARGEST:
        return f"has more than {LARGEST:,} bytes, and isn't Parquet"
    if _TOKENS.search(path.read_bytes().replace(b"\0", b"")):  # UTF-16 too
        return "holds what looks like a token or a private key"
    return None


def _front_matter(path: Path) -> str | None:
    """What stands between the lines of `---` at the top of a card; None where there are none."""
    if not path.is_file() or path.stat().st_size > LARGEST:
        return None
    found = re.match(r"---\n(.*?\n)---(\n|$)", decode(path.name, path.read_bytes()), re.DOTALL)
    return found.group(1) if found and found.group(1).strip() else None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
