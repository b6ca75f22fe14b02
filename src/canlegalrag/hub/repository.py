"""A repository on the Hub: looked at, read, and changed by one commit at a time; no token in any message."""

import os
import random
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import TYPE_CHECKING, Any, TypeVar

from canlegalrag.calls import seconds_asked
from canlegalrag.errors import InputError, MissingExtra
from canlegalrag.hub.contents import Blob, Change, Seen

if TYPE_CHECKING:
    from huggingface_hub import HfApi

__all__ = ["NAME", "Repository"]

TRIES = 8
"""How often a change is tried, since others may commit at the same time."""
LONGEST_WAIT = 60.0
"""Seconds: a Hub that asks for more isn't asked again."""

_T = TypeVar("_T")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
"""`owner/name` of a repository."""

_WIRE = {"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"}
"""Packages whose errors mean that the connection failed; which of them is used depends on the client's version."""


class _Again(Exception):
    """It may go well if it is tried once more."""

    def __init__(self, what: str, *, unsure: bool, wait: float | None = None) -> None:
        super().__init__(what)
        self.unsure = unsure
        self.wait = wait


class Repository:
    """A repository on the Hub that `$HF_ENDPOINT` names, else on huggingface.co.

    Args:
        name: `owner/name`.
        kind: `dataset` or `space`.
        token: None for `$HF_TOKEN`, else that of `hf auth login`.

    Raises:
        InputError: a name or token that can't be one, or the Hub's client is in offline mode.
        MissingExtra: huggingface_hub isn't installed.
    """

    def __init__(self, name: str, kind: str = "dataset", *, token: str | None = None) -> None:
        if not NAME.fullmatch(name):
            raise InputError(f"{name!r:.120}", "is no name of a repository", "write owner/name")
        self.name, self.kind = name, kind
        self._api, self._token = _client(name, token)

    @property
    def url(self) -> str:
        """Its page."""
        return f"{self._api.endpoint}/{self.kind}s/{self.name}"

    def look(self) -> Seen | None:
        """What is there now; None where there is no such repository, or none that may be seen.

        Raises:
            InputError: the Hub refuses or can't be reached.
        """
        return self._tried(self._look)

    def read(self, path: str, head: str) -> bytes:
        """The content of a file at a commit.

        Raises:
            InputError: the Hub refuses or can't be reached.
        """
        return self._tried(lambda: self._read(path, head), 1)  # the client tries again by itself

    def create(self, *, private: bool = False) -> None:
        """Create the repository, unless it is there.

        Raises:
            InputError: the Hub refuses or can't be reached.
        """
        self.require_token()
        sdk = "gradio" if self.kind == "space" else None

        def attempt() -> None:
            with self._faults():
                self._api.create_repo(self.name, repo_type=self.kind, private=private, exist_ok=True, space_sdk=sdk)

        self._tried(attempt)

    def change(self, decide: Callable[[Seen, bool], Change | None]) -> str | None:
        """Change the repository by one commit on top of what was looked at.

        Where somebody else commits in between, the commit is refused, and all begins again with another look.

        Args:
            decide: what to change, given what is there; None for nothing. Its second argument is whether an earlier
                commit was sent that nobody knows the fate of: it may be there.

        Returns:
            The commit; None where there was nothing to change.

        Raises:
            InputError: the Hub refuses or can't be reached, or there is no such repository.
        """
        self.require_token()
        unsure = False

        def attempt() -> str | None:
            nonlocal unsure
            seen = self._look()
            if seen is None:
                raise InputError(self.name, f"there is no such {self.kind} on the Hub", "create it, or mend the name")
            change = decide(seen, unsure)
            if change is None:
                return None
            try:
                return self._commit(change, seen.head)
            except _Again as again:
                unsure = unsure or again.unsure
                raise

        return self._tried(attempt)

    def require_token(self) -> None:
        """Say at once that nothing can be written.

        Raises:
            InputError: there is no token.
        """
        if self._token is None:
            raise InputError("HF_TOKEN", "isn't set, and the Hub takes nothing without it", "a token that may write")

    def _look(self) -> Seen | None:
        with self._faults():
            return _look(self._api, self.name, self.kind, bool(self._token))

    def _read(self, path: str, head: str) -> bytes:
        # A folder that goes again, not the client's cache: who reads decides what is worth keeping.
        with TemporaryDirectory() as folder, self._faults():
            file = self._api.hf_hub_download(self.name, path, repo_type=self.kind, revision=head, local_dir=folder)
            return Path(file).read_bytes()

    def _commit(self, change: Change, parent: str) -> str:
        with self._faults():
            return _commit(self._api, self.name, self.kind, change, parent)

    def _tried(self, attempt: Callable[[], _T], most: int = TRIES) -> _T:
        """Try until it goes well, waiting longer each time, or as long as the Hub asks."""
        what = ""
        for tries in range(most):
            try:
                return attempt()
            except _Again as again:
                what = str(again)
                wait = again.wait if again.wait is not None else random.uniform(0.5, 1) * min(8.0, 0.25 * 2**tries)
                if wait > LONGEST_WAIT:
                    raise InputError(self.name, what, f"try again in {wait:.0f} seconds") from None
                if tries + 1 < most:
                    sleep(wait)
        raise InputError(self.name, f"{what}, {most} times" if most > 1 else what, "try again later") from None

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Turn the client's errors, whose texts may hold anything, into ours."""
        try:
            yield
        except Exception as error:
            fault = self._read_fault(error)
            if fault is None:
                raise
            raise fault from None

    def _read_fault(self, error: Exception) -> BaseException | None:
        if isinstance(error, ValueError) and not isinstance(
            error, OSError
        ):  # said by the client itself: a card, a name
            return InputError(self.name, self._clean(str(error)), "mend it and try again")
        chain: list[BaseException] = [error]
        while chain[-1].__cause__ is not None:  # an upload in a thread, a look into an empty cache: why stands below
            chain.append(chain[-1].__cause__)
        for one in chain:
            response = getattr(one, "response", None)
            status = getattr(response, "status_code", None)
            if response is not None and isinstance(status, int):
                return self._refused(status, response.headers)
        for one in reversed(chain):
            if isinstance(one, OSError) and one.filename:  # a file of ours
                return one
            if isinstance(one, OSError) or type(one).__module__.partition(".")[0] in _WIRE:
                return _Again(f"the connection to the Hub failed ({type(one).__name__})", unsure=True)
        return None

    def _refused(self, status: int, headers: Mapping[str, Any]) -> Exception:
        said = self._clean(str(headers.get("x-error-message") or ""))
        said = f": {said}" if said else ""
        if status == 401:
            fix = "check HF_TOKEN: it must be whole, not expired, and allowed to write"
            return InputError(self.name, "the Hub doesn't accept the token (status 401)", fix)
        if status == 403:
            fix = "check that HF_TOKEN may write to this owner's repositories"
            return InputError(self.name, f"the Hub doesn't allow it (status 403{said})", fix)
        if status in (409, 412):
            return _Again("somebody else commits at the same time", unsure=False)
        if status == 429:
            wait = seconds_asked(headers.get("retry-after"))
            return _Again("the Hub is asked too often (status 429)", unsure=False, wait=wait)
        if status == 408 or status >= 500:
            return _Again(f"the Hub fails (status {status}{said})", unsure=True)
        return InputError(self.name, f"the Hub refuses (status {status}{said})", "check the name and the files")

    def _clean(self, text: str) -> str:
        """A server's words on one line, short, and without the token."""
        text = " ".join(text.split())
        return (text.replace(self._token, "…") if self._token else text)[:300]


def _client(name: str, token: str | None) -> tuple["HfApi", str | None]:
    """The Hub's client, with the token that it uses, if there is one."""
    try:
        import huggingface_hub
        from huggingface_hub import constants
    except ImportError:
        raise MissingExtra("huggingface_hub", "hub") from None
    if constants.HF_HUB_OFFLINE:
        fix = "unset HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE"
        raise InputError(name, "can't be reached: the Hub's client is in offline mode", fix)
    token = (token or os.environ.get("HF_TOKEN") or huggingface_hub.get_token() or "").strip() or None
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise InputError("HF_TOKEN", "holds characters that no token has", "copy it once more from the Hub")
    return huggingface_hub.HfApi(token=token or False), token  # False: else it would look for one by itself


def _look(api: "HfApi", name: str, kind: str, known: bool) -> Seen | None:
    """A repository as it is, in the client's words; `known` is whether the Hub is told who asks."""
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    try:
        info = api.repo_info(name, repo_type=kind, timeout=30)
    except RepositoryNotFoundError as error:
        if error.response.status_code == 401 and known:
            raise
        return None
    files: dict[str, Blob] = {}
    for row in api.list_repo_tree(name, recursive=True, revision=info.sha, repo_type=kind):
        if isinstance(row, RepoFile):  # else it is a folder
            files[row.path] = Blob(row.lfs.sha256 if row.lfs else row.blob_id, row.size, bool(row.lfs))
    return Seen(str(info.sha), bool(info.private), files)


def _commit(api: "HfApi", name: str, kind: str, change: Change, parent: str) -> str:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    added = [CommitOperationAdd(path, content) for path, content in change.add.items()]
    gone = [CommitOperationDelete(path) for path in change.delete]
    done = api.create_commit(name, [*added, *gone], commit_message=change.message, repo_type=kind, parent_commit=parent)
    return str(done.oid)
