"""A server on this machine that speaks as much of the Hub's API as its client and `datasets` use, with faults."""

import base64
import hashlib
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

WRITER = "hf_" + "w" * 34
READER = "hf_" + "r" * 34
KINDS = {"datasets": "dataset", "spaces": "space", "models": "model"}


def git_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass
class Repo:
    kind: str
    name: str
    private: bool = False
    sdk: str | None = None
    commits: list = field(default_factory=list)
    """(sha, message, {path: (content, whether it is a large file)})."""

    @property
    def head(self) -> str:
        return self.commits[-1][0]

    @property
    def files(self) -> dict[str, bytes]:
        return {path: data for path, (data, _) in self.commits[-1][2].items()}

    def commit(self, message: str, tree: dict) -> str:
        stamp = f"{self.kind} {self.name} {len(self.commits)} {message} {sorted(tree)}"
        self.commits.append((hashlib.sha1(stamp.encode()).hexdigest(), message, tree))
        return self.head

    def at(self, revision: str):
        for sha, _, tree in self.commits:
            if sha == revision:
                return sha, tree
        return (self.head, self.commits[-1][2]) if revision in ("main", "refs/heads/main") else (None, {})


@dataclass
class Fault:
    """What goes wrong with the next requests whose path holds a word."""

    word: str
    then: int | str
    """A status, or "drop" (before it is done), "lost" (done, but the answer never comes), "slow"."""
    times: int = 1
    headers: dict = field(default_factory=dict)
    seconds: float = 0.0
    method: str | None = None


class Hub:
    """The server; all state is open to tests."""

    def __init__(self, page: int = 1000) -> None:
        self.repos: dict[tuple[str, str], Repo] = {}
        self.large: dict[str, bytes] = {}
        self.faults: list[Fault] = []
        self.asked: list[tuple[str, str]] = []
        self.page = page
        """Files that one answer lists."""
        self.all_large = ("parquet",)
        self.before_commit = None
        """Called once, before the next commit is looked at: somebody else's doing."""
        self.lock = threading.RLock()
        hub = self

        class Bound(_Handler):
            pass

        Bound.hub = hub
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def add(self, name: str, kind: str = "dataset", *, private: bool = False, files: dict | None = None) -> Repo:
        repo = Repo(kind, name, private)
        tree = {".gitattributes": (b"*.parquet filter=lfs\n", False)}
        repo.commit("initial commit", tree | {path: (data, False) for path, data in (files or {}).items()})
        self.repos[kind, name] = repo
        return repo

    def put(self, repo: Repo, path: str, data: bytes) -> None:
        repo.commit(f"by hand: {path}", {**repo.commits[-1][2], path: (data, False)})

    def count(self, method: str, word: str) -> int:
        return sum(m == method and word in path for m, path in self.asked)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.serve()

    do_HEAD = do_POST = do_PUT = do_GET

    def serve(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(size)
        parts = urlsplit(self.path)
        self.query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        path = unquote(parts.path)
        with self.hub.lock:
            self.hub.asked.append((self.command, path))
            fault = next((f for f in self.hub.faults if f.word in path and f.method in (None, self.command)), None)
            if fault:
                fault.times -= 1
                if not fault.times:
                    self.hub.faults.remove(fault)
        self.lost = False
        if fault and fault.then == "slow":
            time.sleep(fault.seconds)
        elif fault and fault.then == "lost":
            self.lost = True
        elif fault and fault.then == "drop":
            self.close_connection = True
            return
        elif fault:
            self.send(fault.then, {"error": "asked for by a test"}, fault.headers)
            return
        with self.hub.lock:
            self.route(path)

    def send(self, status: int, value=None, headers: dict | None = None) -> None:
        if self.lost:
            self.close_connection = True
            return
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def refuse(self, status: int, code: str, message: str) -> None:
        self.send(status, {"error": message}, {"X-Error-Code": code, "X-Error-Message": message})

    @property
    def user(self) -> str | None:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        return {WRITER: "writer", READER: "reader", "": None}.get(token, "wrong")

    def route(self, path: str) -> None:
        parts = path.strip("/").split("/")
        if self.user == "wrong":
            self.refuse(401, "", "Invalid credentials in Authorization header")
        elif path == "/api/whoami-v2":
            self.send(200, {"name": self.user, "type": "user", "orgs": []})
        elif path == "/api/repos/create":
            self.create()
        elif path == "/api/validate-yaml":
            text = json.loads(self.body)["content"]
            good = text.startswith("---\n") and "BROKEN" not in text
            self.send(200 if good else 400, {"warnings": [], "errors": [] if good else [{"message": "broken YAML"}]})
        elif parts[0] == "lfs":
            self.upload(parts[1])
        elif parts[0] == "api" and len(parts) > 3 and parts[1] in KINDS:
            self.api(KINDS[parts[1]], "/".join(parts[2:4]), parts[4:])
        elif path.endswith(".git/info/lfs/objects/batch"):
            self.batch()
        elif "resolve" in parts and parts[0] in KINDS:
            self.resolve(KINDS[parts[0]], "/".join(parts[1:3]), parts[4], "/".join(parts[5:]))
        else:
            self.refuse(404, "", f"no such place: {path}")

    def repo(self, kind: str, name: str) -> Repo | None:
        found = self.hub.repos.get((kind, name))
        if found is None or (found.private and self.user is None):
            status = 404 if self.user else 401
            self.refuse(status, "RepoNotFound", "Repository not found")
            return None
        return found

    def may_write(self) -> bool:
        if self.user != "writer":
            self.refuse(403, "", "you don't have the rights")
        return self.user == "writer"

    def create(self) -> None:
        row = json.loads(self.body)
        kind, name = row.get("type") or "model", f"{row.get('organization') or 'writer'}/{row['name']}"
        if self.may_write():
            if (kind, name) in self.hub.repos:
                self.send(409, {"error": "You already created this repo", "url": f"{self.hub.url}/{kind}s/{name}"})
                return
            private = bool(row.get("private")) or row.get("visibility") == "private"
            repo = self.hub.add(name, kind, private=private, files={"README.md": b"---\nmade: by the Hub\n---\n"})
            repo.sdk = row.get("sdk")
            self.send(200, {"url": f"{self.hub.url}/{kind}s/{name}", "name": name})

    def api(self, kind: str, name: str, rest: list[str]) -> None:
        repo = self.repo(kind, name)
        if repo is None:
            return
        verb = rest[0] if rest else "revision"
        if verb == "refs":
            self.send(
                200,
                {
                    "branches": [{"name": "main", "ref": "refs/heads/main", "targetCommit": repo.head}],
                    "tags": [],
                    "converts": [],
                },
            )
            return
        sha, tree = repo.at(rest[1] if len(rest) > 1 else "main")
        if sha is None:
            self.refuse(404, "RevisionNotFound", f"no revision {rest[1]}")
        elif verb == "revision":
            siblings = [{"rfilename": path} for path in tree]
            self.send(
                200,
                {
                    "_id": name,
                    "id": name,
                    "sha": sha,
                    "private": repo.private,
                    "siblings": siblings,
                    "tags": [],
                    "downloads": 0,
                    "likes": 0,
                    "lastModified": "2026-01-01T00:00:00.000Z",
                    "createdAt": "2026-01-01T00:00:00.000Z",
                },
            )
        elif verb == "tree":
            self.tree(kind, name, sha, tree, "/".join(rest[2:]))
        elif verb == "paths-info":
            wanted = parse_qs(self.body.decode()).get("paths", [])
            if self.headers.get("Content-Type", "").startswith("application/json"):
                wanted = json.loads(self.body)["paths"]
            self.send(200, [row for row in _rows(tree) if row["path"] in {w.strip("/") for w in wanted}])
        elif verb == "preupload":
            files = json.loads(self.body)["files"]
            large = tuple(self.hub.all_large)
            self.send(
                200,
                {
                    "files": [
                        {
                            "path": f["path"],
                            "uploadMode": "lfs" if f["path"].endswith(large) else "regular",
                            "shouldIgnore": False,
                            "oid": _oid(tree[f["path"]]) if f["path"] in tree else None,
                        }
                        for f in files
                    ]
                },
            )
        elif verb == "commit" and self.may_write():
            self.commit(repo)

    def tree(self, kind: str, name: str, sha: str, tree: dict, under: str) -> None:
        deep = self.query.get("recursive", "").lower() in ("true", "1")
        prefix = f"{under}/" if under else ""
        rows = [row for row in _rows(tree) if row["path"].startswith(prefix)]
        rows = rows if deep else [row for row in rows if "/" not in row["path"][len(prefix) :]]
        if under and not rows:
            self.refuse(404, "EntryNotFound", f"no {under}")
            return
        start = int(self.query.get("cursor", 0))
        end = start + self.hub.page
        headers = {}
        if end < len(rows):
            where = f"{self.hub.url}/api/{kind}s/{name}/tree/{sha}?recursive={deep}&cursor={end}"
            headers["Link"] = f'<{where}>; rel="next"'
        self.send(200, rows[start:end], headers)

    def commit(self, repo: Repo) -> None:
        other, self.hub.before_commit = self.hub.before_commit, None
        if other:
            other()
        lines = [json.loads(line) for line in self.body.splitlines()]
        header = lines[0]["value"]
        if header.get("parentCommit") not in (None, repo.head):
            self.refuse(412, "", "A commit has happened since. Please refresh and try again.")
            return
        tree = dict(repo.commits[-1][2])
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                tree[value["path"]] = (base64.b64decode(value["content"]), False)
            elif line["key"] == "lfsFile":
                tree[value["path"]] = (self.hub.large[value["oid"]], True)
            elif line["key"] == "deletedFile":
                del tree[value["path"]]
        sha = repo.commit(header["summary"], tree)
        url = f"{self.hub.url}/{repo.kind}s/{repo.name}/commit/{sha}"
        self.send(200, {"success": True, "commitOid": sha, "commitUrl": url, "hookOutput": ""})

    def batch(self) -> None:
        rows = []
        for one in json.loads(self.body)["objects"]:
            there = one["oid"] in self.hub.large
            actions = {} if there else {"actions": {"upload": {"href": f"{self.hub.url}/lfs/{one['oid']}"}}}
            rows.append({"oid": one["oid"], "size": one["size"], **actions})
        self.send(200, {"transfer": "basic", "objects": rows})

    def upload(self, oid: str) -> None:
        data = self.body
        if self.headers.get("Transfer-Encoding") == "chunked":
            data = b""
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        good = hashlib.sha256(data).hexdigest() == oid
        if good:
            self.hub.large[oid] = data
        self.send(200 if good else 400, {})

    def resolve(self, kind: str, name: str, revision: str, path: str) -> None:
        repo = self.repo(kind, name)
        if repo is None:
            return
        sha, tree = repo.at(revision)
        if path not in tree:
            self.refuse(404, "EntryNotFound", f"no {path}")
            return
        data, large = tree[path]
        etag = hashlib.sha256(data).hexdigest() if large else git_oid(data)
        headers = {"X-Repo-Commit": sha, "ETag": f'"{etag}"', "Accept-Ranges": "bytes"}
        if given := self.headers.get("Range"):
            first, _, last = given.removeprefix("bytes=").partition("-")
            start, end = int(first), min(int(last or len(data) - 1), len(data) - 1)
            headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
            self.send(206, data[start : end + 1], headers)
        else:
            self.send(200, data, headers)


def _oid(held: tuple[bytes, bool]) -> str:
    data, large = held
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n"
    return git_oid(pointer % (hashlib.sha256(data).hexdigest().encode(), len(data)) if large else data)


def _rows(tree: dict) -> list[dict]:
    folders = {path.rsplit("/", n)[0] for path in tree for n in range(1, path.count("/") + 1)}
    rows = [
        {"type": "directory", "path": folder, "size": 0, "oid": hashlib.sha1(folder.encode()).hexdigest()}
        for folder in sorted(folders)
    ]
    for path, held in sorted(tree.items()):
        row = {"type": "file", "path": path, "size": len(held[0]), "oid": _oid(held)}
        if held[1]:
            row["lfs"] = {"oid": hashlib.sha256(held[0]).hexdigest(), "size": len(held[0]), "pointerSize": 130}
        rows.append(row)
    return rows
