"""Stores of submissions under many writers, full disks, kills, and a Hub that conflicts, fails, stalls and refuses."""

import errno
import hashlib
import importlib.util
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from canlegalrag.errors import InputError, MissingExtra
from canlegalrag.hub import repository as hub_module
from canlegalrag.submission import store as store_module
from canlegalrag.submission import stored
from canlegalrag.submission.store import HubStore, LocalStore, store

REPO = "writer/submissions"


def entry(n: int = 0, **more) -> dict:
    digest = hashlib.sha256(f"submission {n}".encode()).hexdigest()
    return {
        "id": digest[:16],
        "digest": digest,
        "received": f"2026-05-01T12:{n // 60 % 60:02}:{n % 60:02}Z",
        "system": {"name": f"système {n} <b>=HYPERLINK()</b> ⚖️", "authors": "A. Poulin"},
        "benchmark": {"name": "sample", "revision": "0.1.0", "fingerprint": "f" * 64},
        "retrieval": {"measures": {"ndcg@10": {"mean": n / 1000, "low": None}}},
        **more,
    }


def wait_for(true) -> None:
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


# A folder


def test_what_is_added_is_there_oldest_first(tmp_path: Path) -> None:
    kept = store(str(tmp_path / "new" / "folder"))
    assert kept.entries() == [] and kept.problems == ()
    assert kept.add(entry(2)) and kept.add(entry(1))
    assert kept.entries() == [entry(1), entry(2)]
    assert store(str(tmp_path / "new" / "folder")).entries() == [entry(1), entry(2)]
    assert kept.problems == ()


def test_a_resubmission_is_known_and_writes_nothing(tmp_path: Path) -> None:
    kept = LocalStore(tmp_path)
    assert kept.add(entry(1))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert not kept.add(entry(1, received="2027-01-01T00:00:00Z"))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    assert kept.entries() == [entry(1)]


def test_two_hashes_that_begin_alike_are_told_apart(tmp_path: Path) -> None:
    kept = LocalStore(tmp_path)
    kept.add(entry(1))
    other = entry(1)["id"] + "0" * 48
    with pytest.raises(InputError, match="that of another"):
        kept.add(entry(1, digest=other))
    assert kept.entries() == [entry(1)]


@pytest.mark.parametrize(
    "bad",
    [
        {"id": "../../etc/passwd"},
        {"id": "0" * 16},
        {"id": None},
        {"id": "x" * 7_000_000},
        {"digest": "A" * 64},
        {"digest": 7},
        {"received": None},
        {"system": "bm25"},
        {"system": {}},
        {"benchmark": {"name": "sample"}},
        {"retrieval": float("nan")},
        {"retrieval": {1, 2}},
        {"system": {"name": "half a pair \ud800"}},
        {"retrieval": "x" * stored.LARGEST},
    ],
    ids=lambda bad: f"{bad!r:.30}",
)
def test_what_is_no_entry_is_refused(bad: dict, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        LocalStore(tmp_path / "in").add(entry(1, **bad))
    assert len(str(caught.value)) < 600
    assert not (tmp_path / "in").exists()


def test_json_too_deep_is_refused(tmp_path: Path) -> None:
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError, match="can't be written as JSON"):
        LocalStore(tmp_path).add(entry(1, retrieval=deep))
    while deep:  # freed from the outside in, else the interpreter's stack would overflow
        deep = deep[0]


def test_what_is_damaged_or_not_ours_is_skipped_and_named(tmp_path: Path) -> None:
    kept = LocalStore(tmp_path)
    kept.add(entry(1))
    for n, data in enumerate(
        [b"", b'{"id": ', b"[]", b"\xff\xfe\x00", b"[" * 200_000, b'{"digest": NaN}', b"\x80\x04."]
    ):
        (tmp_path / f"{n:016x}.json").write_bytes(data)
    (tmp_path / f"{entry(2)['id']}.json").write_text(json.dumps(entry(3)))  # under another's name
    (tmp_path / f"{entry(4)['id']}.json").write_bytes(b" " * (stored.LARGEST + 1) + b"{}")
    (tmp_path / f"{entry(5)['id']}.json").mkdir()
    os.mkfifo(tmp_path / f"{entry(6)['id']}.json")
    (tmp_path / "notes.json").write_text("{}")
    (tmp_path / "README.md").write_text("hello")
    (tmp_path / f".{entry(7)['id']}.json.123.tmp").write_text("half")
    assert kept.entries() == [entry(1)]
    assert len(kept.problems) == 12
    assert not any(p.fatal or str(tmp_path) in str(p) for p in kept.problems)
    assert "notes.json: is no submission (take it away)" in map(str, kept.problems)


def test_a_damaged_file_is_mended_by_submitting_again(tmp_path: Path) -> None:
    kept = LocalStore(tmp_path)
    kept.add(entry(1))
    path = tmp_path / f"{entry(1)['id']}.json"
    path.write_bytes(path.read_bytes()[:50])
    assert kept.entries() == []
    assert kept.add(entry(1))
    assert kept.entries() == [entry(1)]


def test_a_moderator_hides(tmp_path: Path) -> None:
    kept = LocalStore(tmp_path)
    for n in range(3):
        kept.add(entry(n))
    (tmp_path / "hidden.json").write_text(json.dumps({"hidden": [entry(1)["id"].upper(), "0" * 16]}))
    assert kept.entries() == [entry(0), entry(2)]
    assert [str(p) for p in kept.problems] == [f"hidden.json: {'0' * 16} is no submission here (mend the id)"]
    assert not kept.add(entry(1)), "what is hidden stays known"
    assert kept.entries() == [entry(0), entry(2)]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"hidden": "all"}', '{"hidden": ["système 1"]}', '{"hidden": [1]}'])
def test_a_damaged_list_of_what_is_hidden_shows_nothing(text: str, tmp_path: Path) -> None:
    kept = LocalStore(tmp_path)
    kept.add(entry(1))
    (tmp_path / "hidden.json").write_text(text)
    assert kept.entries() == []
    assert kept.problems[0].fatal and "no submission is shown" in str(kept.problems[0])


def test_a_list_is_read_again_only_when_a_file_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A board is looked at more often than anything is submitted; what a moderator does shows at once all the same."""
    kept = LocalStore(tmp_path)
    for n in range(3):
        kept.add(entry(n))
    monkeypatch.setattr(store_module, "_MOMENT", -60.0)  # the files are old enough to be sure of
    assert len(kept.entries()) == 3
    read = []
    monkeypatch.setattr(store_module, "shown", lambda files: read.append(1) or stored.shown(files))
    assert len(kept.entries()) == 3 and not read
    kept.entries().clear()
    assert len(kept.entries()) == 3 and not read
    (tmp_path / "hidden.json").write_text(json.dumps({"hidden": [entry(1)["id"]]}))
    assert kept.entries() == [entry(0), entry(2)] and len(read) == 1
    (tmp_path / "hidden.json").unlink()
    (tmp_path / "gone.json").symlink_to(tmp_path / "nothing")
    assert len(kept.entries()) == 3 and [p.where for p in kept.problems] == ["gone.json"]
    LocalStore(tmp_path).add(entry(3))
    (tmp_path / "gone.json").unlink()
    assert len(kept.entries()) == 4 and kept.problems == () and len(read) == 3
    for path in tmp_path.glob("*.json"):
        path.unlink()
    assert kept.entries() == []


def test_a_store_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST", 2)
    kept = LocalStore(tmp_path)
    assert kept.add(entry(1)) and kept.add(entry(2))
    with pytest.raises(InputError, match="no more are taken"):
        kept.add(entry(3))
    assert not kept.add(entry(2))


def test_eight_threads_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        same = list(threads.map(lambda n: LocalStore(tmp_path).add(entry(1, received=f"2026-{n}")), range(8)))
        other = list(threads.map(lambda n: LocalStore(tmp_path).add(entry(n)), range(10, 90)))
    assert sum(same) == 1 and all(other)
    assert len(LocalStore(tmp_path).entries()) == 81
    assert not list(tmp_path.glob(".*.tmp"))


WRITER = """
import json, sys
from pathlib import Path
from canlegalrag.submission.store import LocalStore
kept = LocalStore(Path(sys.argv[1]))
print("ready", flush=True)
input()
print(sum(kept.add(json.loads(line)) for line in sys.stdin), flush=True)
"""


def writer(folder: Path, code: str = WRITER) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_two_processes_at_once(tmp_path: Path) -> None:
    both = [writer(tmp_path), writer(tmp_path)]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    lines = "\n" + "".join(json.dumps(entry(n)) + "\n" for n in range(60))
    for one in both:
        one.stdin.write(lines)
    for one in both:
        one.stdin.close()
    added = [int(one.stdout.read()) for one in both]
    for one in both:
        assert one.wait(60) == 0
        one.stdout.close()
    assert sum(added) == 60
    assert LocalStore(tmp_path).entries() == [entry(n) for n in range(60)]


SLOW = """
import os, sys, time
real = os.fsync
def slow(handle):
    print("writing", flush=True)
    time.sleep(600)
os.fsync = slow
""" + WRITER.replace("input()", "")


def test_a_kill_in_the_middle_of_a_write_leaves_nothing_half(tmp_path: Path) -> None:
    process = writer(tmp_path, SLOW)
    process.stdin.write(json.dumps(entry(1)) + "\n")
    process.stdin.close()
    assert process.stdout.readline() == "ready\n"
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    process.stdout.close()
    left = list(tmp_path.glob(".*.tmp"))
    assert len(left) == 1
    kept = LocalStore(tmp_path)
    assert kept.entries() == [] and kept.problems == ()
    assert kept.add(entry(1)), "the dead process holds no lock"
    assert left[0].exists(), "it may be somebody's"
    os.utime(left[0], (0, 0))
    assert kept.add(entry(2)) and not left[0].exists()
    assert kept.entries() == [entry(1), entry(2)]


def test_a_full_disk_says_so_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = LocalStore(tmp_path)
    kept.add(entry(1))

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="the disk is full; nothing was stored") as caught:
        kept.add(entry(2))
    assert str(tmp_path) not in str(caught.value) and caught.value.__suppress_context__
    monkeypatch.undo()
    assert kept.entries() == [entry(1)]
    assert sorted(p.name for p in tmp_path.iterdir()) == [".lock", f"{entry(1)['id']}.json"]
    assert kept.add(entry(2))


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("no right to mount a small disk")
    try:
        kept = LocalStore(disk)
        assert kept.add(entry(1))
        with pytest.raises(InputError, match="the disk is full"):
            kept.add(entry(2, retrieval="x" * 100_000))
        assert kept.entries() == [entry(1)] and kept.problems == ()
        assert not list(disk.glob(".*.tmp"))
        assert kept.add(entry(3))
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_place_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = LocalStore(tmp_path / "file")
    with pytest.raises(InputError, match="can't be written: ") as caught:
        kept.add(entry(1))
    assert str(tmp_path) not in str(caught.value)
    assert kept.entries() == [] and kept.problems[0].fatal
    with pytest.raises(InputError, match="nothing says where"):
        store(" ")


# The Hub


@pytest.fixture(scope="module")
def wire():
    pytest.importorskip("huggingface_hub", reason="the Hub's client comes with the extra hub")
    spec = importlib.util.spec_from_file_location("local_hub", Path(__file__).with_name("hub.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["local_hub"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hub(wire, monkeypatch: pytest.MonkeyPatch):
    from huggingface_hub import constants

    server = wire.Hub(page=3)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", server.url + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setenv("HF_TOKEN", wire.WRITER)
    yield server
    server.close()


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the store would have waited between tries."""
    found: list[float] = []
    monkeypatch.setattr(hub_module, "sleep", found.append)
    return found


@pytest.fixture
def opened(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Opens the store; each time like another process, but for the cache."""
    monkeypatch.setattr(store_module, "FRESH", 0.0)
    return lambda **more: HubStore(REPO, cache=tmp_path / "cache", **more)


def test_the_hub_keeps_submissions(hub, opened, naps) -> None:
    repo = hub.add(REPO, files={"README.md": b"---\n---\n"})
    kept = opened()
    assert kept.entries() == []
    for n in range(5):
        assert kept.add(entry(n))
    assert not kept.add(entry(3, received="later"))
    assert len(repo.commits) == 6, "one commit a submission, and none for what is known"
    assert kept.entries() == opened().entries() == [entry(n) for n in range(5)], "over several pages of the list"
    assert kept.problems == () and naps == []


def test_the_hub_is_read_once_a_file(hub, opened, tmp_path: Path) -> None:
    repo = hub.add(REPO)
    kept = opened()
    for n in range(3):
        kept.add(entry(n))
    assert len(kept.entries()) == 3
    asked = hub.count("GET", "/resolve/")
    assert len(kept.entries()) == len(opened().entries()) == 3
    assert hub.count("GET", "/resolve/") == asked
    damaged = next((tmp_path / "cache").iterdir())
    damaged.write_bytes(b"{}")
    assert len(kept.entries()) == 3, "a copy that isn't what the Hub says is fetched again"
    assert hub.count("GET", "/resolve/") == asked + 1
    hub.put(repo, "hidden.json", json.dumps({"hidden": [entry(1)["id"]]}).encode())
    hub.put(repo, f"{'0' * 16}.json", b"{")
    assert kept.entries() == [entry(0), entry(2)]
    assert [p.where for p in kept.problems] == [f"{'0' * 16}.json"]


def test_a_list_stays_fresh_for_a_while_and_a_submission_is_seen_at_once(hub, opened, monkeypatch) -> None:
    hub.add(REPO)
    kept = opened()
    monkeypatch.setattr(store_module, "FRESH", 600.0)
    assert kept.entries() == []
    asked = len(hub.asked)
    assert kept.entries() == [] and len(hub.asked) == asked
    kept.add(entry(1))
    assert kept.entries() == [entry(1)]


def test_somebody_else_commits_in_between(hub, opened, naps) -> None:
    repo = hub.add(REPO)
    hub.before_commit = lambda: hub.put(repo, "README.md", b"new")
    assert opened().add(entry(1))
    assert set(repo.files) == {".gitattributes", "README.md", f"{entry(1)['id']}.json"}
    assert len(naps) == 1


def test_somebody_else_commits_the_same(hub, opened, naps) -> None:
    repo = hub.add(REPO)
    name, data = stored.encode(entry(1))
    hub.before_commit = lambda: hub.put(repo, name, data)
    assert not opened().add(entry(1)), "the conflict says that ours was refused, so theirs it is"
    assert len(repo.commits) == 2


def test_conflicts_without_end_are_given_up(hub, wire, opened, naps) -> None:
    hub.add(REPO)
    hub.faults.append(wire.Fault("/commit/", 409, times=100))
    with pytest.raises(InputError, match="commits at the same time, 8 times"):
        opened().add(entry(1))
    assert len(naps) == 7 and naps[-1] > naps[0] and max(naps) <= 8
    assert hub.count("POST", "/commit/") == 8


@pytest.mark.parametrize("then", ["drop", "lost", 500, 503])
@pytest.mark.parametrize("word", ["/commit/", "/tree/", "/revision/", "/api/datasets/writer/submissions"])
def test_a_broken_connection_loses_and_doubles_nothing(hub, wire, opened, naps, then, word) -> None:
    repo = hub.add(REPO)
    hub.faults.append(wire.Fault(word, then, method="POST" if word == "/commit/" else None))
    assert opened().add(entry(1)), "that its answer got lost doesn't make it somebody else's"
    assert len(repo.commits) == 2
    assert opened().entries() == [entry(1)]


def test_the_hub_asks_for_patience(hub, wire, opened, naps) -> None:
    hub.add(REPO)
    hub.faults.append(wire.Fault("/commit/", 429, times=2, headers={"Retry-After": "7"}))
    assert opened().add(entry(1))
    assert naps == [7.0, 7.0]
    hub.faults.append(wire.Fault("/commit/", 429, headers={"Retry-After": "3600"}))
    with pytest.raises(InputError, match=r"asked too often.*try again in 3600 seconds"):
        opened().add(entry(2))
    assert len(naps) == 2


def test_a_hub_that_hangs_holds_nobody(hub, wire, opened, monkeypatch) -> None:
    hub.add(REPO)
    kept = opened()
    monkeypatch.setattr(store_module, "PATIENCE", 0.3)
    hub.faults.append(wire.Fault("/commit/", "slow", seconds=1.5))
    began = time.monotonic()
    with pytest.raises(InputError, match="hasn't answered"):
        kept.add(entry(1))
    assert time.monotonic() - began < 1.2
    monkeypatch.setattr(store_module, "PATIENCE", 60.0)
    assert kept.add(entry(2))
    wait_for(lambda: len(kept.entries()) == 2)
    assert not kept.add(entry(1)), "it arrived after all"


def test_eight_visitors_at_once_on_the_hub(hub, opened) -> None:
    repo = hub.add(REPO)
    replicas = [opened(), opened()]
    with ThreadPoolExecutor(8) as threads:
        same = list(threads.map(lambda n: replicas[n % 2].add(entry(1, received=f"2026-{n}")), range(8)))
        other = list(threads.map(lambda n: replicas[n % 2].add(entry(n)), range(10, 18)))
    assert sum(same) == 1 and all(other)
    assert len(repo.commits) == 10 and len(opened().entries()) == 9


def test_a_hub_out_of_reach_shows_the_last_known(hub, wire, opened, naps) -> None:
    hub.add(REPO)
    kept = opened()
    kept.add(entry(1))
    assert kept.entries() == [entry(1)]
    hub.faults.append(wire.Fault("/api/", "drop", times=1000))
    assert kept.entries() == [entry(1)]
    assert "the list may be old" in str(kept.problems[0]) and kept.problems[0].fatal
    assert opened().entries() == []
    hub.faults.clear()
    assert kept.entries() == [entry(1)] and kept.problems == ()


def test_no_such_repository(opened, naps) -> None:
    kept = opened()
    with pytest.raises(InputError, match="no such dataset on the Hub"):
        kept.add(entry(1))
    assert kept.entries() == []
    assert "no such dataset" in str(kept.problems[0])
    assert naps == []


@pytest.mark.parametrize("private", [False, True])
def test_the_token(hub, wire, opened, naps, private, monkeypatch, caplog) -> None:
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, logger="huggingface_hub")
    repo = hub.add(REPO, private=private)
    wrong = "hf_" + "x" * 34
    for token, fault in ((wrong, "check HF_TOKEN"), (wire.READER, "may write"), (f"{wrong}\nX", "no token has")):
        with pytest.raises(InputError, match=fault) as caught:
            opened(token=token).add(entry(1))
        assert wrong not in str(caught.value) and caught.value.__suppress_context__ | (caught.value.__context__ is None)
    monkeypatch.setenv("HF_TOKEN", f" {wire.WRITER}\n")
    assert opened().add(entry(1)), "white space around a secret is nobody's fault"
    assert len(repo.commits) == 2
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(InputError, match="HF_TOKEN: isn't set"):
        opened().add(entry(2))
    assert opened().entries() == ([] if private else [entry(1)])
    hub.faults.append(wire.Fault("/commit/", 500, times=8, headers={"X-Error-Message": f"token {wire.WRITER} failed"}))
    with pytest.raises(InputError, match="token … failed") as caught:
        opened(token=wire.WRITER).add(entry(3))
    for token in (wrong, wire.WRITER, wire.READER):
        assert token not in caplog.text and token not in repr(vars(opened(token=token)))


def test_what_is_refused_at_once(hub, monkeypatch) -> None:
    from huggingface_hub import constants

    for name in ("", "submissions", "a/b/c", "../x", "a/b?", "https://x/y"):
        with pytest.raises(InputError, match="is no name of a repository"):
            store(f"hub:{name}")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match=r"offline mode.*unset HF_HUB_OFFLINE"):
        store(f"hub:{REPO}")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"canlegalrag\[hub\]"):
        store(f"hub:{REPO}")


def test_threads_that_hang_dont_keep_the_process(hub) -> None:
    started = threading.Event()

    def hang() -> None:
        started.set()
        time.sleep(600)

    with pytest.raises(InputError, match="hasn't answered"):
        store_module._within(0.1, threading.Lock(), hang)
    assert started.is_set()
    assert all(one.daemon for one in threading.enumerate() if one is not threading.main_thread())
