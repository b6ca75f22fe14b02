"""How the Space bears visitors: start, searches a second and how long the slowest wait, memory over many searches.

    python benchmarks/space.py
    python benchmarks/prepare.py scc SHARED/data --out /tmp/scc && python benchmarks/space.py --benchmark /tmp/scc

Each visitor is a session that searches as the page does: it joins the app's queue and reads the stream of its answer,
one search after the other. Questions are the benchmark's, each asked from another place in the list. Memory is what
the server's process holds (VmRSS), so it is for Linux.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
import numpy as np

import canlegalrag

SEED = 20260101


class Server:
    """The Space in a process of its own."""

    def __init__(self, benchmark: str, folder: Path) -> None:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            port = listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        env = os.environ | {"CANLEGALRAG_CACHE": str(folder / "cache"), "GRADIO_TEMP_DIR": str(folder / "uploads")}
        command = [sys.executable, "-c", "from canlegalrag.cli import main; main()", "space", "--port", str(port)]
        command += ["--benchmark", benchmark, "--submissions", str(folder / "submissions")]
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, start_new_session=True)
        while True:
            try:
                httpx.get(f"{self.url}/", timeout=60).raise_for_status()
                break
            except httpx.HTTPError:
                if self.process.poll() is not None:
                    raise SystemExit("the Space doesn't start") from None
                time.sleep(0.05)
        self.page_after = time.perf_counter() - self.begun
        self.search = self._search()

    def _search(self) -> int:
        """The number of the callback of the button Search."""
        config = httpx.get(f"{self.url}/config", timeout=60).json()
        return next(one["id"] for one in config["dependencies"] if one["api_name"] == "search")

    @property
    def megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Visitor:
    """One session; `ask` gives the seconds until its answer is there."""

    def __init__(self, server: Server, name: str) -> None:
        self.server, self.name = server, name
        self.client = httpx.Client(base_url=server.url, timeout=120)

    def ask(self, question: str) -> float:
        begun = time.perf_counter()
        given = [None, question, "", "bm25", "", 10]
        joined = {"data": given, "fn_index": self.server.search, "session_hash": self.name}
        self.client.post("/gradio_api/queue/join", json=joined).raise_for_status()
        with self.client.stream("GET", "/gradio_api/queue/data", params={"session_hash": self.name}) as stream:
            for line in stream.iter_lines():
                if not line.startswith("data:"):
                    continue
                event = json.loads(line[5:])
                if event["msg"] == "process_completed":
                    text = json.dumps(event["output"])
                    if not event["success"] or "decisions found by bm25" not in text:
                        raise SystemExit(f"a search failed: {text[:300]}")
                if event["msg"] == "close_stream":
                    break
        return time.perf_counter() - begun


def load(server: Server, questions: list[str], visitors: int, searches: int) -> tuple[float, np.ndarray]:
    """Searches a second, and the seconds of each, with so many visitors at once."""
    took: list[float] = []
    shares = [searches // visitors + (n < searches % visitors) for n in range(visitors)]

    def visit(n: int) -> None:
        visitor = Visitor(server, f"v{visitors}-{n}-{random.random()}")
        at = n * len(questions) // visitors
        took.extend(visitor.ask(questions[(at + turn) % len(questions)]) for turn in range(shares[n]))
        visitor.client.close()

    threads = [threading.Thread(target=visit, args=(n,)) for n in range(visitors)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(took) != searches:
        raise SystemExit("a visitor failed")
    return searches / (time.perf_counter() - begun), np.array(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", default="sample")
    parser.add_argument("--visitors", default="1,8,32")
    parser.add_argument("--searches", type=int, default=400, help="for each number of visitors")
    parser.add_argument("--memory", default="1000,5000,10000", help="searches after which memory is read; '' for none")
    arguments = parser.parse_args()
    questions = [query.text[:2000] for query in canlegalrag.load(arguments.benchmark).queries.values()]
    random.Random(SEED).shuffle(questions)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = Server(arguments.benchmark, Path(folder))
        try:
            Visitor(server, "first").ask(questions[0])
            first = time.perf_counter() - server.begun
            print(
                f"start: page after {server.page_after:.1f} s, first answer after {first:.1f} s (no index kept before)"
            )
            print(
                "| visitors | searches a second | median ms | 95th percentile ms | slowest ms |\n|--:|--:|--:|--:|--:|"
            )
            done = 1
            for visitors in map(int, arguments.visitors.split(",")):
                rate, took = load(server, questions, visitors, arguments.searches)
                done += arguments.searches
                middle, late, worst = (1000 * np.quantile(took, at) for at in (0.5, 0.95, 1))
                print(f"| {visitors} | {rate:.1f} | {middle:.0f} | {late:.0f} | {worst:.0f} |", flush=True)
            print(f"\nmemory: {server.megabytes:.0f} MB after {done:,} searches")
            for after in map(int, filter(None, arguments.memory.split(","))):
                if after > done:
                    load(server, questions, 8, after - done)
                    done = after
                    print(f"memory: {server.megabytes:.0f} MB after {done:,} searches", flush=True)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
