"""Local servers that speak the providers' wire formats, well and badly, as a script says."""

import json
import threading
import zlib
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Say:
    """One scripted reply; what is None is as it would be in a good one."""

    status: int = 200
    headers: dict = field(default_factory=dict)
    body: bytes | None = None
    change: object = None
    """Changes the good reply, a dict, in place or gives another."""
    cut: str = ""
    """`close`: half the body, then the connection ends; `stall`: half the body, then silence; `reset`: nothing."""


def vector(text, dim=4):
    """What the servers embed a text as: any three numbers that depend on it, and a 1."""
    code = zlib.crc32(text.encode())
    return ([1.0] + [float(code >> shift & 255) for shift in (0, 8, 16)] * dim)[:dim]


def score(query, text):
    return zlib.crc32(f"{query}|{text}".encode()) % 1000 / 1000


def answer(path, body):
    """A good reply to any provider's request."""
    if path.endswith(":batchEmbedContents"):
        rows = body["requests"]
        texts = [[part["text"] for part in row["content"]["parts"]] for row in rows]
        # As the real service does: one vector a content, whatever the number of its parts.
        vectors = [vector(" ".join(t), row.get("outputDimensionality", 4)) for t, row in zip(texts, rows, strict=True)]
        return {"embeddings": [{"values": v} for v in vectors]}
    if path.endswith(":generateContent"):
        text = body["contents"][0]["parts"][0]["text"]
        usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}
        parts = [{"text": "mulling", "thought": True}, {"text": f"Re: {text}"}]
        return {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "usageMetadata": usage}
    if path.endswith("/chat/completions"):
        text = body["messages"][-1]["content"]
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        message = {"role": "assistant", "content": f"Re: {text}"}
        return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    if path.endswith("/pipeline/feature-extraction"):
        return [vector(text) for text in body["inputs"]]
    if path.endswith("/rerankings"):
        scores = [score(body["query"], text) for text in body["texts"]]
        results = [{"index": i, "score": s} for i, s in enumerate(scores)]
        return {"results": sorted(results, key=lambda r: -r["score"]), "usage": {"input_tokens": 9}}
    if "texts" in body:
        rows = [{"index": i, "embedding": vector(t, body.get("dimensions", 4))} for i, t in enumerate(body["texts"])]
        return {"embeddings": rows[::-1], "usage": {"input_tokens": 5 * len(rows)}}
    rows = [{"index": i, "embedding": vector(t, body.get("dimensions", 4))} for i, t in enumerate(body["input"])]
    return {"data": rows[::-1], "usage": {"prompt_tokens": 5 * len(rows), "total_tokens": 5 * len(rows)}}


class Wire:
    """A server on loopback. `script` holds replies, used up in turn; the last one stays, and none means all is well."""

    say = Say

    def __init__(self):
        self.script = []
        self.requests = []
        """(path, headers, body) of each request, in the order of arrival."""
        self.barrier = None
        """A `threading.Barrier` that requests must meet at before they are answered, to show that they overlap."""
        self.flying = self.most_flying = 0
        self.over = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self):
        self.over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def bodies(self):
        return [body for _, _, body in self.requests]

    def arrived(self, path, headers, body):
        with self._lock:
            self.requests.append((path, headers, body))
            self.flying += 1
            self.most_flying = max(self.most_flying, self.flying)
            if not self.script:
                return Say()
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def left(self):
        with self._lock:
            self.flying -= 1


def _handler(wire):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 5

        def log_message(self, *args):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            say = wire.arrived(self.path, dict(self.headers), body)
            try:
                if wire.barrier is not None:
                    wire.barrier.wait(timeout=10)
                self.reply(say, body)
            except (BrokenPipeError, ConnectionResetError, threading.BrokenBarrierError):
                self.close_connection = True
            finally:
                wire.left()

        def reply(self, say, body):
            if say.cut == "reset":
                self.close_connection = True
                return
            sent = say.body
            if sent is None:
                good = answer(self.path, body) if say.status < 400 else {"error": {"message": "the server is unwell"}}
                if say.change is not None:
                    good = say.change(good) or good
                sent = json.dumps(good).encode()
            self.send_response(say.status)
            for name, value in ({"Content-Type": "application/json"} | say.headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent[: len(sent) // 2] if say.cut else sent)
            self.wfile.flush()
            if say.cut:
                self.close_connection = True
            if say.cut == "stall":
                wire.over.wait(10)

    return Handler
