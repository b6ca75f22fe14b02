"""What the remote backends share below the models: keys, addresses, and their clients' errors read as faults."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from canlegalrag.calls import Fault, seconds_asked
from canlegalrag.errors import CanLegalRAGError, InputError

__all__ = ["address", "faults", "in_order", "key", "reported"]

# The clients stand on httpx, httpx2 or their own classes, which share these names.
_TIMEOUTS = {"APITimeoutError", "InferenceTimeoutError", "TimeoutError", "TimeoutException"}
_CONNECTIONS = {"APIConnectionError", "ConnectionError", "TransportError"}
_UNREADABLE = {
    "APIResponseValidationError",
    "DecodingError",
    "JSONDecodeError",
    "RecursionError",
    "UnicodeDecodeError",
    "UnknownApiResponseError",
    "ValidationError",
}


def key(names: Sequence[str], source: str) -> tuple[str, str]:
    """Find a provider's key in the environment.

    Args:
        names: variables that may hold it, the preferred one first.
        source: where to get one.

    Returns:
        The variable's name, and the key.

    Raises:
        InputError: none is set, or it can't be a key.
    """
    for name in names:
        value = os.environ.get(name, "").strip()
        if value:
            if not value.isascii() or not value.isprintable() or " " in value:
                raise InputError(name, "holds something that can't be a key", f"copy the key again from {source}")
            return name, value
    raise InputError(" or ".join(names), "is not set", f"export {names[0]}=… (get a key at {source})")


def address(url: str) -> str:
    """A server's address without a last slash, checked.

    >>> address("http://127.0.0.1:8080/v1/")
    'http://127.0.0.1:8080/v1'

    Raises:
        InputError: it is none, or holds a password or a query, which would end up in records.
    """
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        sound = False
    if not sound:
        raise InputError("base_url", f"{url!r:.80} is not an address", "such as http://127.0.0.1:8080/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError("base_url", "holds more than an address", "put the key into CANLEGALRAG_API_KEY")
    return url.rstrip("/")


@contextmanager
def faults() -> Iterator[None]:
    """Turn whatever a provider's client raises into a `Fault`.

    Raises:
        Fault: in place of the client's error, whose text may hold anything.
    """
    try:
        yield
    except (Fault, CanLegalRAGError):
        raise
    except Exception as error:
        fault = _read(error)
        if fault is None:
            raise
        raise fault from None


def _read(error: BaseException) -> Fault | None:
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    if response is not None and isinstance(status, int) and status >= 400:
        wait = seconds_asked(response.headers.get("retry-after"))
        return reported(f"status {status}", _message(response), status, wait)
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain:
        chain.append(one)
        one = one.__cause__
    names = {kind.__name__ for one in chain for kind in type(one).__mro__}
    if "OfflineModeIsEnabled" in names:
        return Fault("Hugging Face's client is in offline mode: unset HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE")
    if names & _TIMEOUTS:
        return Fault("timed out", again=True)
    if any("without sending complete" in str(one) for one in chain):
        return Fault("the reply broke off", bad=True)
    if names & _CONNECTIONS:
        return Fault(f"the connection failed ({type(chain[-1]).__name__})", again=True)
    if names & _UNREADABLE:
        return Fault("the reply is not the JSON that it should be", bad=True)
    if isinstance(error, ValueError | OSError):
        return Fault(str(error))
    return None


def reported(what: str, message: str, status: int | None, wait: float | None = None) -> Fault:
    """What a server reports as a fault; its words are left out where they may hold a key."""
    said = Fault(f"{what}: {message}" if message else what, status=status, wait=wait, bad=status is None)
    if status in (401, 403) and not said.about_text:
        return Fault(what, status=status, wait=wait)
    return said


def _message(response: Any) -> str:
    """What a server says of its error, out of JSON; nothing where it sends a page."""
    try:
        body = json.loads(response.text)
    except Exception:  # not read, not text, not JSON: then it says nothing
        return ""
    for _ in range(3):
        if isinstance(body, list) and body:
            body = body[0]
        if isinstance(body, dict):
            body = next((body[name] for name in ("error", "message", "detail", "msg") if body.get(name)), "")
    return body if isinstance(body, str) else ""


def in_order(rows: Any, name: str, count: int) -> list[Any]:
    """Field `name` of rows, each with the `index` of its item, in the order of the items.

    >>> in_order([{"index": 1, "score": 0.2}, {"index": 0, "score": 0.9}], "score", 2)
    [0.9, 0.2]

    Raises:
        Fault: a row is missing, twice there or of another shape.
    """
    if not isinstance(rows, list) or not all(isinstance(row, dict) and name in row for row in rows):
        raise Fault(f"the reply has no list of {name}s", bad=True)
    if len(rows) != count:
        raise Fault(f"{len(rows)} {name}s came back for {count} texts", bad=True)
    places = [row.get("index") for row in rows]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        raise Fault(f"the {name}s aren't numbered as the texts are", bad=True)
    return [row[name] for _, row in sorted(zip(places, rows, strict=True), key=lambda pair: pair[0])]
