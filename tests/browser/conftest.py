"""The real Space in a process of its own on loopback, a real browser, and visitors whose pages must stay faultless."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PICTURES = HOME / "space" / "screenshots"
"""Written anew where CANLEGALRAG_SCREENSHOTS is set."""
SHOWN = {"compare", "decision", "answer", "check", "board", "plot"}
"""Pictures of the Space's card; the others are for whoever looks into the test's folder."""
SLOWLY = """
import time
from canlegalrag.exploring import Explorer
answer = Explorer.answer
def late(self, found, *rest):
    time.sleep(4 if "slowly" in found.query.text else 0)
    return answer(self, found, *rest)
Explorer.answer = late
from canlegalrag.cli import main
main()
"""
"""The command, but a question with the word `slowly` is answered as a slow model would."""
PATIENCE = 30_000
"""Milliseconds: the machine may be busy."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass
class Space:
    """A running Space."""

    url: str
    folder: Path
    """Of this run alone: submissions, cache, uploads, log."""

    @property
    def entries(self) -> list[Path]:
        """Stored submissions."""
        return sorted((self.folder / "submissions").glob("*.json"))

    @property
    def log(self) -> str:
        """All that the server said."""
        return (self.folder / "log").read_text(encoding="utf-8")

    def status(self, path: str) -> int:
        """What a request for a path is answered with."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=30) as response:
                return response.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code


@pytest.fixture(scope="session")
def space() -> Iterator[Space]:
    """The Space as `canlegalrag space` runs it, with the sample."""
    for package in ("gradio", "plotly", "pandas"):
        pytest.importorskip(package, reason="pip install 'canlegalrag[space]'")
    with tempfile.TemporaryDirectory(prefix="space-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            port = listening.getsockname()[1]
        env = {key: value for key, value in os.environ.items() if not key.startswith(("CANLEGALRAG_", "GRADIO_"))}
        env |= {"CANLEGALRAG_CACHE": str(folder / "cache"), "GRADIO_TEMP_DIR": str(folder / "uploads")}
        command = [sys.executable, "-c", SLOWLY, "space"]
        command += ["--port", str(port), "--submissions", str(folder / "submissions")]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True)
        running = Space(f"http://127.0.0.1:{port}/", folder)
        try:
            _wait(server, running)
            yield running
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _wait(server: subprocess.Popen, running: Space) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            running.status("")
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the Space didn't start:\n{running.log}")


# Not for the whole session: as long as Playwright runs, no other test of this thread can run an event loop.
@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, or another one on the path."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    if CHROMIUM is None:
        pytest.skip("no chromium on the path: apt-get install chromium")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        yield opened
        opened.close()


@dataclass
class Visitor:
    """Somebody with a page of the Space before them."""

    page: object
    space: Space
    faults: list[str] = field(default_factory=list)
    """Errors of the page, requests to other hosts, dialogs."""
    asked: int = 0
    """Streams of answers that were opened."""
    waiting: int = 0
    """Those that are still open."""

    def button(self, name: str):
        return self.page.get_by_role("button", name=name, exact=True)

    def tab(self, name: str) -> None:
        """Turn to a tab."""
        self.page.get_by_role("tab", name=name, exact=True).click()

    def choose(self, label: str, option: str | re.Pattern) -> None:
        """Choose from a list, of which the first that fits is taken."""
        box = self.page.get_by_label(label, exact=True)
        box.click()
        exact = isinstance(option, str)
        self.page.get_by_role("option", name=option, exact=exact).first.click()

    def ask(self, text: str) -> None:
        """Search for a question of one's own."""
        self.page.get_by_label("or your own question").fill(text)
        self.search()

    def search(self) -> None:
        """Press Search and wait until it is through."""
        self.does(lambda: self.button("Search").click())

    def does(self, action: Callable[[], object]) -> None:
        """An action, and whatever the server does upon it."""
        self.until(lambda: not self.waiting)
        before = self.asked
        action()
        self.until(lambda: self.asked > before and not self.waiting)
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    @contextmanager
    def held(self) -> Iterator[list[object]]:
        """Whatever the server is asked in here is answered afterwards; gives what waits."""
        waiting: list[object] = []
        self.idle()
        self.page.route("**/queue/data*", lambda route: waiting.append(route))
        yield waiting
        for route in waiting:
            route.continue_()
        self.page.unroute_all()

    def until(self, condition: Callable[[], object]) -> None:
        """Wait for something, and let the page go on meanwhile."""
        end = time.monotonic() + PATIENCE / 1000
        while not condition():
            assert time.monotonic() < end, "the server doesn't answer"
            self.page.wait_for_timeout(10)  # lets events in

    def idle(self) -> None:
        """Wait until the page has asked nothing for a second, and everything is answered."""
        quiet = time.monotonic()
        asked = self.asked

        def settled() -> bool:
            nonlocal quiet, asked
            if self.waiting or self.asked != asked:
                quiet, asked = time.monotonic(), self.asked
            return time.monotonic() > quiet + 1

        self.until(settled)

    def pick(self, start: str = "") -> None:
        """Choose a query of the benchmark, and wait until its text is there."""
        self.choose("A query of the benchmark", re.compile(re.escape(start)))
        self.page.wait_for_function("document.querySelector('#question textarea').value")

    def check(self, *files: object) -> str:
        """Upload files and check them; what is said of them."""
        self.tab("Check and submit")
        self.page.locator("#files input[type=file]").set_input_files(list(files))
        self.page.locator("#files .file-preview tr").nth(len(files) - 1).wait_for()
        self.does(lambda: self.button("Check").click())
        return self.said("check-status")

    def said(self, where: str) -> str:
        """A line of status, once there is one."""
        line = self.page.locator(f"#{where} .said:not(:empty)")
        line.wait_for()
        return line.inner_text()

    @property
    def table(self):
        """The leaderboard's cells."""
        return self.page.locator("#leaderboard [role=gridcell]:visible")


@pytest.fixture
def visit(space: Space, browser) -> Iterator[Callable[..., Visitor]]:
    """Open the Space, with a script `before` all others, in a browser `slowed` so many times; at the end no page may
    have had a fault or shown anything of this machine.
    """
    visitors: list[Visitor] = []

    def come(query: str = "", width: int = 1280, dark: bool = False, before: str = "", slowed: int = 1) -> Visitor:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE)
        visitor = Visitor(context.new_page(), space)
        visitors.append(visitor)
        _watch(visitor)
        if before:
            visitor.page.add_init_script(before)
        context.new_cdp_session(visitor.page).send("Emulation.setCPUThrottlingRate", {"rate": slowed})
        visitor.page.goto(space.url + query)
        visitor.page.get_by_role("tab", name="Try a query").wait_for()
        return visitor

    yield come
    for visitor in visitors:
        text = visitor.page.locator("body").inner_text()
        source = visitor.page.content()
        visitor.page.context.close()
        assert not visitor.faults
        assert str(HOME) not in source
        assert not re.search(r"(?<![\w.])/(tmp|home|work|root|usr|opt)/|site-packages", text)


def _watch(visitor: Visitor) -> None:
    page, faults = visitor.page, visitor.faults
    page.on("console", lambda message: message.type == "error" and faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))

    def asked(request) -> None:
        if "/queue/data" in request.url:
            visitor.asked, visitor.waiting = visitor.asked + 1, visitor.waiting + 1
        if not request.url.startswith((visitor.space.url, "data:", "blob:")):
            faults.append(f"another host: {request.url}")

    def answered(request) -> None:
        visitor.waiting -= "/queue/data" in request.url

    def dialog(shown) -> None:
        faults.append(f"a dialog: {shown.message}")
        shown.dismiss()

    page.on("request", asked)
    page.on("requestfinished", answered)
    page.on("requestfailed", answered)
    page.on("dialog", dialog)


@pytest.fixture
def picture(tmp_path: Path) -> Callable[..., None]:
    """Take a picture of what stands at a place of the page: for the Space's card where it is asked for."""

    def take(visitor: Visitor, name: str, at: str = "") -> None:
        folder = PICTURES if os.environ.get("CANLEGALRAG_SCREENSHOTS") and name in SHOWN else tmp_path
        folder.mkdir(exist_ok=True)
        if at:
            visitor.page.locator(at).first.evaluate("one => one.scrollIntoView({block: 'start'})")
        visitor.page.screenshot(path=folder / f"{name}.png", animations="disabled")

    return take
