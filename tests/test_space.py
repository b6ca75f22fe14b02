"""The Space's app without a browser: what is wired, what callbacks give, what a fault becomes."""

import gc
import importlib
import json
import logging
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

pytest.importorskip("gradio", reason="the Space's app needs the extra `space`")
pytest.importorskip("plotly", reason="the Space's plots need the extra `space`")

# Gradio leaves event loops to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
ROOT = Path(__file__).parents[1]
SPACE = ROOT / "space"
EXAMPLES = SPACE / "examples"
NAMES = [path.stem for path in SPACE.glob("*.py")]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of gradio's own imports
        patch.setenv("CANLEGALRAG_SUBMISSIONS", str(tmp_path_factory.mktemp("submissions")))
        patch.setenv("CANLEGALRAG_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("gradio")))
        for name in ("CANLEGALRAG_BENCHMARK", "CANLEGALRAG_CHAT"):
            patch.delenv(name, raising=False)
        patch.syspath_prepend(str(SPACE))
        yield importlib.import_module("app")
        for name in NAMES:
            sys.modules.pop(name, None)
        gc.collect()


def given(name: str) -> list[str]:
    return [str(path) for path in sorted((EXAMPLES / name).iterdir())]


def test_no_callback_is_an_api_and_each_has_a_queue(app: ModuleType) -> None:
    calls = [fn for fn in app.demo.fns.values() if fn.fn is not None]
    assert len(calls) > 15
    assert {fn.api_visibility for fn in app.demo.fns.values()} == {"private"}
    assert {fn.concurrency_id for fn in calls} == {"search", "answer", "check", "board"}
    assert not app.demo.get_api_info()["named_endpoints"]
    assert app.demo.analytics_enabled is False


def test_a_search_ranks_and_opens_what_it_found(app: ModuleType) -> None:
    tab = sys.modules["try_view"]
    query = next(iter(tab.BENCHMARK.queries.values()))
    found, html, *_ = tab.search(query.id, query.text, query.province, "bm25", "bm25l", 5)
    assert len(found.hits) == 5 and found.gold
    assert html.count("<li>") == 10
    page, _ = tab.arrive(found.hits[0].document.id, found)
    assert '<div class="whole"' in page
    assert len(tab._block(found)) == 8


@pytest.mark.parametrize("text", ["", "🙂", "x" * 100_000, "<script>alert(1)</script> ${1} {{value}}", None])
def test_any_text_can_be_asked(app: ModuleType, text: str | None) -> None:
    found, html, *_ = sys.modules["try_view"].search(None, text, "", "bm25", "", 3)
    assert "<script" not in html
    assert found.gold is None and len(found.query.text) <= 2_000


def test_ones_own_question_has_no_oracle_and_no_variations(app: ModuleType) -> None:
    tab = sys.modules["try_view"]
    _, _, line, _, decision, _, reads, about, block, lay, _ = tab.search(None, "the deposit", "", "bm25", "", 3)
    assert "oracle" not in f"{reads.info}{reads.choices}" and "your own" in about
    assert not block.visible and not lay.visible and "No decision is open yet" in decision
    assert line == "3 decisions found by bm25."
    assert "write a question in words" in tab.search(None, " ", "", "bm25", "bm25l", 3)[2]
    query = next(iter(tab.BENCHMARK.queries))
    assert "oracle" in tab.search(query, "", "", "bm25", "", 3)[6].info


def test_the_link_of_a_decision_opens_it(app: ModuleType) -> None:
    tab = sys.modules["try_view"]
    decision = next(iter(tab.BENCHMARK.documents))
    assert '<div class="whole"' in tab.arrive(decision)[0]
    assert tab.arrive("")[0] == tab.gr.skip()
    with pytest.raises(tab.InputError, match="not in the corpus"):
        tab.arrive("<script>")


def test_the_examples_are_checked_and_the_good_one_is_entered_once(app: ModuleType) -> None:
    tab = sys.modules["tab_check"]
    (files, entry), line, *_ = tab.check(given("good"))
    assert files == sorted(given("good")) and line == "No problems: it can be entered."
    assert "contact" not in entry["system"]
    with pytest.raises(tab.InputError, match="other files were checked"):
        tab.submit((files, entry), given("flawed"))
    assert "is entered as" in tab.submit((files, entry), given("good"))[0]
    assert "was entered before" in tab.submit((files, json.loads(json.dumps(entry))), given("good"))[0]
    assert [e["id"] for e in sys.modules["place"].STORE.entries()] == [entry["id"]]
    hopeless = tab.check(given("hopeless"))[0]
    assert hopeless[1] is None
    for nothing in (hopeless, None):
        with pytest.raises(tab.InputError, match="nothing was checked"):
            tab.submit(nothing, given("hopeless"))
    (_, entry), line, problems, *_ = tab.check(given("flawed"))
    assert entry is not None and len(problems["data"]) > 10


def test_the_board_shows_what_was_run_and_nothing_else(app: ModuleType) -> None:
    view = sys.modules["board_view"]
    state = view.boards.state("benchmark=409e5c53&measure=mrr&text=bm25l&plot=ranks")
    shown = view.shown(state, False)
    assert len(shown) == view.OUTPUTS
    table = shown[8].value["data"] if not isinstance(shown[8], dict) else shown[8]["value"]["data"]
    assert table and all("bm25l" in str(row) for row in table)
    assert shown[-1] == "benchmark=409e5c53&measure=mrr&text=bm25l&plot=ranks"


def test_a_measure_of_claims_shows_who_has_it(app: ModuleType) -> None:
    """The good example, which was entered above; its answers and verdicts are those of stand-ins."""
    view = sys.modules["board_view"]
    shown = view.shown(view.boards.state("measure=accuracy"), False)
    measure, table = shown[1], shown[8].value["data"]
    assert measure["value"] == "accuracy" and shown[-1] == "measure=accuracy"
    assert [name for name, _ in measure["choices"]][:3] == ["ndcg@10", "recall@10", "recall@100"]
    assert [(row[0], row[2]) for row in table] == [("–", "stand-in")]
    assert "nobody judged answers of theirs" in shown[9] and "stand-in" in shown[9]
    assert view.shown(view.boards.state("measure=bpref"), False)[-1] == ""


def test_a_fault_becomes_a_message_without_secrets(app: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    listening = sys.modules["listening"]
    from canlegalrag.errors import InputError

    def ours() -> None:
        raise InputError("run.jsonl", "is <b>bad</b>")

    def theirs() -> None:
        raise RuntimeError("/secret/path token hf_abc")

    with pytest.warns(UserWarning, match="&lt;b&gt;bad"):
        assert len(listening.guarded(ours, [1, 2, 3])()) == 3
    with caplog.at_level(logging.ERROR), pytest.warns(UserWarning, match="Something went wrong here"):
        listening.guarded(theirs, None)()
    assert "RuntimeError in theirs" in caplog.text and "hf_abc" not in caplog.text


def test_the_card_is_that_of_a_gradio_space() -> None:
    front = (SPACE / "README.md").read_text(encoding="utf-8").split("---")[1]
    version = next(line.split()[1] for line in front.splitlines() if line.startswith("sdk_version:"))
    assert "sdk: gradio\n" in front and "app_file: app.py\n" in front
    assert f"gradio=={version}" in (SPACE / "requirements.txt").read_text()
    assert tuple(map(int, version.split("."))) >= (6, 16)


def test_the_wheel_holds_the_space_and_the_baselines() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["sources"]["space"] == "canlegalrag/space"
    assert wheel["sources"]["baselines"] == "canlegalrag/baselines"


def test_without_gradio_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from canlegalrag.cli import app as commands

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = CliRunner().invoke(commands, ["space"])
    assert done.exit_code == 2
    assert "pip install 'canlegalrag[space]'" in done.output
